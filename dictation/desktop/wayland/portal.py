"""Hotkeys through org.freedesktop.portal.GlobalShortcuts: the desktop asks the user, keeps the keys and tells us.

Runs on a D-Bus connection and a thread of its own. The desktop may give other keys than those asked for.
"""

from __future__ import annotations

import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from jeepney import DBusAddress, MatchRule, message_bus, new_method_call
from jeepney.io.blocking import DBusConnection, open_dbus_connection
from jeepney.wrappers import DBusErrorResponse, unwrap_msg

from dictation.desktop.contract import Binding, HotkeyError, KeyAction, KeyEvent
from dictation.desktop.keys import parse

PORTAL = DBusAddress(
    "/org/freedesktop/portal/desktop", "org.freedesktop.portal.Desktop", "org.freedesktop.portal.GlobalShortcuts"
)
PROPERTIES = DBusAddress(
    "/org/freedesktop/portal/desktop", "org.freedesktop.portal.Desktop", "org.freedesktop.DBus.Properties"
)
REPLY_TIMEOUT_S = 5.0
USER_TIMEOUT_S = 120.0  # binding may show a dialog


class PortalMissing(Exception):
    """No session bus, no portal, or a portal without global shortcuts."""


def portal_offers_shortcuts() -> bool:
    """Whether this session's portal has the interface."""
    try:
        with _bus() as bus:
            return _version(bus) > 0
    except PortalMissing:
        return False


@contextmanager
def _bus() -> Iterator[DBusConnection]:
    try:
        bus = open_dbus_connection("SESSION")
    except (OSError, KeyError, ValueError, RuntimeError) as failure:
        raise PortalMissing("There is no session bus.") from failure
    try:
        yield bus
    finally:
        bus.close()


def _version(bus: DBusConnection) -> int:
    ask = new_method_call(PROPERTIES, "Get", "ss", (PORTAL.interface, "version"))
    try:
        ((_, version),) = unwrap_msg(bus.send_and_get_reply(ask, timeout=REPLY_TIMEOUT_S))
    except (DBusErrorResponse, TimeoutError, OSError) as failure:
        raise PortalMissing("The desktop's portal offers no global shortcuts.") from failure
    return int(version)


def trigger(keys: str) -> str:
    """A combination in the portal's notation (freedesktop shortcuts specification): CTRL+ALT+space."""
    chord = parse(keys)
    if chord.is_bare_modifier:
        raise HotkeyError(f"The desktop does not take a modifier alone ({keys}); choose a combination like Ctrl+F9.")
    names = {"Ctrl": "CTRL", "Alt": "ALT", "Shift": "SHIFT", "Super": "LOGO"}
    key = {"Space": "space"}.get(chord.key, chord.key)
    return "+".join([*(names[m] for m in ("Ctrl", "Alt", "Shift", "Super") if m in chord.modifiers), key])


class PortalHotkeys:
    """Bindings in one portal session."""

    def __init__(self, bindings: list[Binding], on_event: Callable[[KeyEvent], None]) -> None:
        self._on_event = on_event
        self.refused: dict[str, str] = {}
        self._closing = threading.Event()
        self._open(bindings)

    def _open(self, bindings: list[Binding]) -> None:
        with _bus() as bus:
            _version(bus)
        try:
            self._bus = open_dbus_connection("SESSION")
        except (OSError, KeyError, ValueError, RuntimeError) as failure:
            raise PortalMissing("There is no session bus.") from failure
        self._session = ""
        self._down: set[str] = set()
        try:
            self._session = self._create_session()
            self._watch("Activated")
            self._watch("Deactivated")
            self._bind(bindings)
        except (DBusErrorResponse, TimeoutError, OSError, KeyError) as failure:
            self._bus.close()
            raise PortalMissing("The desktop's portal refused the shortcuts.") from failure
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, args=[self._closing], name="portal-hotkeys", daemon=True)
        self._thread.start()

    def bind(self, bindings: list[Binding]) -> None:
        """A session binds once, so new bindings mean a new session."""
        self.close()
        self.refused = {}
        self._open(bindings)

    def close(self) -> None:
        if self._closing.is_set():
            return
        self._closing.set()
        self._bus.sock.shutdown(socket.SHUT_RDWR)  # wakes the thread
        self._thread.join(REPLY_TIMEOUT_S)

    def _create_session(self) -> str:
        options = {"session_handle_token": ("s", f"sayso{secrets.token_hex(4)}")}
        results = self._request("CreateSession", "a{sv}", (options,), REPLY_TIMEOUT_S)
        return str(results["session_handle"][1])

    def _bind(self, bindings: list[Binding]) -> None:
        shortcuts = []
        for binding in bindings:
            try:
                wanted = trigger(binding.keys)
            except HotkeyError as failure:
                self.refused[binding.action] = str(failure)
                continue
            description = binding.action.replace("_", " ").capitalize()
            shortcuts.append((binding.action, {"description": ("s", description), "preferred_trigger": ("s", wanted)}))
        if not shortcuts:
            return
        body: tuple[Any, ...] = (self._session, shortcuts, "", {})
        results = self._request("BindShortcuts", "oa(sa{sv})sa{sv}", body, USER_TIMEOUT_S)
        given = {action for action, _ in results.get("shortcuts", ("", []))[1]}
        for action, _ in shortcuts:
            if action not in given:
                self.refused[action] = "The desktop did not give this key to Sayso; see its shortcut settings."

    def _request(self, method: str, signature: str, body: tuple[Any, ...], timeout_s: float) -> dict[str, Any]:
        """A portal request: its answer comes as a signal of a Request object whose path is known beforehand."""
        token = f"sayso{secrets.token_hex(4)}"
        sender = (self._bus.unique_name or "")[1:].replace(".", "_")
        path = f"/org/freedesktop/portal/desktop/request/{sender}/{token}"
        rule = MatchRule(type="signal", interface="org.freedesktop.portal.Request", member="Response", path=path)
        unwrap_msg(self._bus.send_and_get_reply(message_bus.AddMatch(rule), timeout=REPLY_TIMEOUT_S))
        with self._bus.filter(rule) as answers:
            *arguments, options = body
            full = (*arguments, options | {"handle_token": ("s", token)})
            call = new_method_call(PORTAL, method, signature, full)
            unwrap_msg(self._bus.send_and_get_reply(call, timeout=REPLY_TIMEOUT_S))
            answer = self._bus.recv_until_filtered(answers, timeout=timeout_s)
        response, results = answer.body
        if response != 0:
            raise KeyError(f"{method} was refused ({response})")
        return dict(results)

    def _watch(self, signal: str) -> None:
        rule = MatchRule(type="signal", interface=PORTAL.interface, member=signal, path=PORTAL.object_path)
        unwrap_msg(self._bus.send_and_get_reply(message_bus.AddMatch(rule), timeout=REPLY_TIMEOUT_S))

    def _run(self, closing: threading.Event) -> None:
        while not closing.is_set():
            try:
                message = self._bus.receive(timeout=None)
            except (OSError, EOFError):
                break  # closed by us, or the session bus went away with the desktop
            member = message.header.fields.get(3)
            if member in ("Activated", "Deactivated") and message.body[0] == self._session:
                self._tell(message.body[1], member == "Activated")
        self._bus.close()

    def _tell(self, action: str, down: bool) -> None:
        if down == (action in self._down):
            return  # some desktops repeat while a key is held
        (self._down.add if down else self._down.discard)(action)
        kind = KeyAction.PRESS if down else KeyAction.RELEASE
        self._on_event(KeyEvent(action, kind, time.monotonic()))
