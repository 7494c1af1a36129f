"""The desktop's portal (org.freedesktop.portal): how it is asked, and hotkeys through its GlobalShortcuts.

With those the desktop asks the user, keeps the keys and tells us; it may give other keys than those asked for. They run
on a D-Bus connection and a thread of their own.
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
from jeepney.io.blocking import open_dbus_connection
from jeepney.wrappers import DBusErrorResponse, unwrap_msg

from dictation.desktop.contract import Binding, HotkeyError, KeyAction, KeyEvent
from dictation.desktop.keys import parse

PATH, NAME, INTERFACES = "/org/freedesktop/portal/desktop", "org.freedesktop.portal.Desktop", "org.freedesktop.portal"
SHORTCUTS = "GlobalShortcuts"
REPLY_TIMEOUT_S = 5.0
USER_TIMEOUT_S = 120.0  # binding may show a dialog


class PortalMissing(Exception):
    """No session bus, no portal, a portal without the interface, or one that refused."""


def portal_offers_shortcuts() -> bool:
    """Whether this session's portal has global shortcuts."""
    return offered(SHORTCUTS) > 0


def offered(interface: str) -> int:
    """The version in which this session's portal has an interface; 0 if it has not."""
    try:
        with Portal.opened(interface) as portal:
            return portal.version
    except PortalMissing:
        return 0


class Portal:
    """One interface of the portal on a connection of its own. Raises PortalMissing when made."""

    def __init__(self, interface: str) -> None:
        try:
            self.bus = open_dbus_connection("SESSION", enable_fds=True)
        except (OSError, KeyError, ValueError, RuntimeError) as failure:
            raise PortalMissing("There is no session bus.") from failure
        self.address = DBusAddress(PATH, NAME, f"{INTERFACES}.{interface}")
        properties = DBusAddress(PATH, NAME, "org.freedesktop.DBus.Properties")
        ask = new_method_call(properties, "Get", "ss", (self.address.interface, "version"))
        try:
            ((_, version),) = unwrap_msg(self.bus.send_and_get_reply(ask, timeout=REPLY_TIMEOUT_S))
        except (DBusErrorResponse, TimeoutError, OSError) as failure:
            self.bus.close()
            raise PortalMissing(f"The desktop's portal offers no {interface}.") from failure
        self.version = int(version)

    @staticmethod
    @contextmanager
    def opened(interface: str) -> Iterator[Portal]:
        portal = Portal(interface)
        try:
            yield portal
        finally:
            portal.bus.close()

    def call(self, method: str, signature: str, body: tuple[Any, ...]) -> Any:
        """A method that answers at once. Raises PortalMissing."""
        call = new_method_call(self.address, method, signature, body)
        try:
            return unwrap_msg(self.bus.send_and_get_reply(call, timeout=REPLY_TIMEOUT_S))
        except (DBusErrorResponse, TimeoutError, OSError) as failure:
            raise PortalMissing(f"The desktop's portal refused {method}.") from failure

    def create_session(self) -> str:
        options = {"session_handle_token": ("s", f"sayso{secrets.token_hex(4)}")}
        return str(self.request("CreateSession", "a{sv}", (options,), REPLY_TIMEOUT_S)["session_handle"][1])

    def request(self, method: str, signature: str, body: tuple[Any, ...], timeout_s: float) -> dict[str, Any]:
        """A request that may ask the user: its answer comes as a signal of a Request object. The options come last in
        `body`. Raises PortalMissing."""
        token = f"sayso{secrets.token_hex(4)}"
        sender = (self.bus.unique_name or "")[1:].replace(".", "_")
        path = f"{PATH}/request/{sender}/{token}"  # known beforehand, so that no answer is missed
        rule = MatchRule(type="signal", interface=f"{INTERFACES}.Request", member="Response", path=path)
        try:
            unwrap_msg(self.bus.send_and_get_reply(message_bus.AddMatch(rule), timeout=REPLY_TIMEOUT_S))
            with self.bus.filter(rule) as answers:
                *arguments, options = body
                self.call(method, signature, (*arguments, options | {"handle_token": ("s", token)}))
                answer = self.bus.recv_until_filtered(answers, timeout=timeout_s)
        except (DBusErrorResponse, TimeoutError, OSError) as failure:
            raise PortalMissing(f"The desktop's portal did not answer {method}.") from failure
        response, results = answer.body
        if response != 0:
            raise PortalMissing(f"{method} was refused ({response}).")
        return dict(results)

    def watch(self, signal: str) -> None:
        """Have a signal of the interface sent to this connection. Raises PortalMissing."""
        rule = MatchRule(type="signal", interface=self.address.interface, member=signal, path=PATH)
        try:
            unwrap_msg(self.bus.send_and_get_reply(message_bus.AddMatch(rule), timeout=REPLY_TIMEOUT_S))
        except (DBusErrorResponse, TimeoutError, OSError) as failure:
            raise PortalMissing("The session bus refused.") from failure


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
        self._portal = Portal(SHORTCUTS)
        self._bus = self._portal.bus
        self._down: set[str] = set()
        try:
            self._session = self._portal.create_session()
            self._portal.watch("Activated")
            self._portal.watch("Deactivated")
            self._bind(bindings)
        except PortalMissing:
            self._bus.close()
            raise
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
        results = self._portal.request("BindShortcuts", "oa(sa{sv})sa{sv}", body, USER_TIMEOUT_S)
        given = {action for action, _ in results.get("shortcuts", ("", []))[1]}
        for action, _ in shortcuts:
            if action not in given:
                self.refused[action] = "The desktop did not give this key to Sayso; see its shortcut settings."

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
