"""Whether a password field has the keyboard, and where its text cursor is, by AT-SPI, where the desktop runs it.

Only asks what is there already: neither the accessibility bus nor any program's support is switched on for it. A
program that doesn't tell is taken for an ordinary one. Bounded in time, since it is asked for before every insertion.
"""

from __future__ import annotations

import time
from typing import Any

from jeepney import DBusAddress, new_method_call
from jeepney.io.blocking import DBusConnection, open_dbus_connection
from jeepney.wrappers import DBusErrorResponse, unwrap_msg

from dictation.desktop.contract import Role

BUDGET_S = 0.12
MOST_NODES = 400
ROLE_PASSWORD_TEXT = 40
STATE_FOCUSED = 1 << 12
ON_SCREEN = 0  # coordinates of the whole screen
ACCESSIBLE = "org.a11y.atspi.Accessible"
ROOT = "/org/a11y/atspi/accessible/root"
DBUS = DBusAddress("/org/freedesktop/DBus", "org.freedesktop.DBus", "org.freedesktop.DBus")


Box = tuple[int, int, int, int]  # left, top, width, height


class Accessibility:
    """Asks the accessibility bus. Connects when first needed, and again after it went away."""

    def __init__(self) -> None:
        self._bus: DBusConnection | None = None
        self._names: dict[int, str] = {}  # process -> its name on the bus

    def field(self, pid: int) -> tuple[Role, Box | None]:
        """The role of the focused field in a process, and where its text cursor is on screen."""
        self._deadline_s = time.monotonic() + BUDGET_S
        try:
            if self._bus is None:
                self._bus = self._connect()
            if self._bus is None:
                return Role.UNKNOWN, None
            name = self._name_of(pid)
            return self._search(name) if name else (Role.UNKNOWN, None)
        except (OSError, EOFError, TimeoutError, DBusErrorResponse, KeyError, ValueError):
            self.close()
            return Role.UNKNOWN, None

    def close(self) -> None:
        if self._bus is not None:
            self._bus.close()
        self._bus = None
        self._names.clear()

    def _connect(self) -> DBusConnection | None:
        session = open_dbus_connection("SESSION")
        try:
            owned = self._ask(session, new_method_call(DBUS, "NameHasOwner", "s", ("org.a11y.Bus",)))
            if not owned:
                return None
            launcher = DBusAddress("/org/a11y/bus", "org.a11y.Bus", "org.a11y.Bus")
            return open_dbus_connection(self._ask(session, new_method_call(launcher, "GetAddress")))
        finally:
            session.close()

    def _name_of(self, pid: int) -> str:
        if pid not in self._names:
            for name in self._ask(self._bus, new_method_call(DBUS, "ListNames")):
                if name.startswith(":"):
                    owner = self._ask(self._bus, new_method_call(DBUS, "GetConnectionUnixProcessID", "s", (name,)))
                    self._names[owner] = name
        return self._names.get(pid, "")

    def _search(self, name: str) -> tuple[Role, Box | None]:
        """Breadth first for the focused object: fields lie near the window in the programs that ask for passwords."""
        waiting = [(name, ROOT)]
        for _ in range(MOST_NODES):
            if not waiting:
                break
            bus_name, path = waiting.pop(0)
            address = DBusAddress(path, bus_name, ACCESSIBLE)
            states = self._ask(self._bus, new_method_call(address, "GetState"))
            if states and states[0] & STATE_FOCUSED:
                role = self._ask(self._bus, new_method_call(address, "GetRole"))
                if role == ROLE_PASSWORD_TEXT:
                    return Role.PASSWORD, None
                if (box := self._caret(bus_name, path)) is not None:
                    return Role.UNKNOWN, box
            waiting += [(n, p) for n, p in self._ask(self._bus, new_method_call(address, "GetChildren"))]
        return Role.UNKNOWN, None

    def _caret(self, bus_name: str, path: str) -> Box | None:
        """Where the text cursor of a field is; the field itself where only that is known; None for what is no text."""
        text = DBusAddress(path, bus_name, "org.a11y.atspi.Text")
        properties = DBusAddress(path, bus_name, "org.freedesktop.DBus.Properties")
        try:
            _, offset = self._ask(self._bus, new_method_call(properties, "Get", "ss", (text.interface, "CaretOffset")))
            at = max(0, offset - 1)  # behind the last character there is nothing to measure
            box = self._reply(self._bus, new_method_call(text, "GetCharacterExtents", "iu", (at, ON_SCREEN)))
            if box[3] > 0:
                return int(box[0] + (box[2] if offset else 0)), int(box[1]), 1, int(box[3])
            component = DBusAddress(path, bus_name, "org.a11y.atspi.Component")
            box = self._ask(self._bus, new_method_call(component, "GetExtents", "u", (ON_SCREEN,)))
        except DBusErrorResponse:
            return None
        left, top, width, height = (int(value) for value in box)
        return (left, top, width, height) if height > 0 else None

    def _ask(self, bus: Any, message: Any) -> Any:
        return self._reply(bus, message)[0]

    def _reply(self, bus: Any, message: Any) -> Any:
        left_s = self._deadline_s - time.monotonic()
        if left_s <= 0:
            raise TimeoutError
        return unwrap_msg(bus.send_and_get_reply(message, timeout=left_s))
