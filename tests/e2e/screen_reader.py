"""Reads and operates a program's windows as assistive technology does: over the accessibility bus (AT-SPI)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from jeepney import DBusAddress, new_method_call
from jeepney.io.blocking import DBusConnection, open_dbus_connection
from jeepney.wrappers import DBusErrorResponse, unwrap_msg

from tests.e2e.processes import until

REGISTRY = "org.a11y.atspi.Registry"
ROOT = "/org/a11y/atspi/accessible/root"
DBUS = DBusAddress("/org/freedesktop/DBus", "org.freedesktop.DBus", "org.freedesktop.DBus")
FOCUSED, SHOWING = 1 << 12, 1 << 25


@dataclass(frozen=True)
class Node:
    """One thing on screen."""

    bus_name: str
    path: str


class ScreenReader:
    """The windows of one process."""

    def __init__(self, session_bus: str, pid: int) -> None:
        session = open_dbus_connection(session_bus)
        address = unwrap_msg(
            session.send_and_get_reply(
                new_method_call(DBusAddress("/org/a11y/bus", "org.a11y.Bus", "org.a11y.Bus"), "GetAddress")
            )
        )[0]
        session.close()
        self._bus: DBusConnection = open_dbus_connection(address)
        self._app = until("the program on the accessibility bus", lambda: self._find_app(pid))

    def close(self) -> None:
        self._bus.close()

    def find(self, name: str, role: str, timeout_s: float = 15.0) -> Node:
        """The first thing on screen of this name and role."""
        return until(f"{role} “{name}”", lambda: next(self._all(name, role), None), timeout_s)

    def description(self, node: Node) -> str:
        return str(self._property(node, "Accessible", "Description"))

    def press(self, node: Node) -> None:
        """The first action of a button."""
        assert self._call(node, "Action", "DoAction", "i", (0,)), "it can't be pressed"

    def focus(self, node: Node) -> None:
        assert self._call(node, "Component", "GrabFocus"), "it can't take the focus"
        until("the focus", lambda: self._call(node, "Accessible", "GetState")[0] & FOCUSED)

    def is_showing(self, node: Node) -> bool:
        low = self._call(node, "Accessible", "GetState")[0]
        return bool(low & SHOWING)

    # inside

    def _find_app(self, pid: int) -> Node | None:
        for bus_name, path in self._call(Node(REGISTRY, ROOT), "Accessible", "GetChildren"):
            ask = new_method_call(DBUS, "GetConnectionUnixProcessID", "s", (bus_name,))
            if unwrap_msg(self._bus.send_and_get_reply(ask, timeout=5))[0] == pid:
                return Node(bus_name, path)
        return None

    def _all(self, name: str, role: str) -> Iterator[Node]:
        waiting = [self._app]
        while waiting:
            node = waiting.pop(0)
            try:
                if (
                    self._property(node, "Accessible", "Name") == name
                    and self._call(node, "Accessible", "GetRoleName") == role
                    and self.is_showing(node)
                ):
                    yield node
                waiting += [Node(*child) for child in self._call(node, "Accessible", "GetChildren")]
            except DBusErrorResponse:
                continue  # it went while we looked

    def _call(self, node: Node, interface: str, method: str, signature: str = "", body: tuple[Any, ...] = ()) -> Any:
        address = DBusAddress(node.path, node.bus_name, f"org.a11y.atspi.{interface}")
        return unwrap_msg(self._bus.send_and_get_reply(new_method_call(address, method, signature, body), timeout=10))[
            0
        ]

    def _property(self, node: Node, interface: str, name: str) -> Any:
        address = DBusAddress(node.path, node.bus_name, "org.freedesktop.DBus.Properties")
        ask = new_method_call(address, "Get", "ss", (f"org.a11y.atspi.{interface}", name))
        return unwrap_msg(self._bus.send_and_get_reply(ask, timeout=10))[0][1]
