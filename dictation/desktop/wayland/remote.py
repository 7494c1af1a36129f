"""Keys through org.freedesktop.portal.RemoteDesktop, the way of GNOME and KDE: the user allows it once, in a dialog.

From version 2 on the keys go over a socket of their own (`ei.py`), before that by D-Bus. The permission is remembered
by a token that the desktop gives out; it changes each time.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from typing import Any

from dictation import paths
from dictation.desktop.wayland.ei import EiFailed, EmulatedKeyboard
from dictation.desktop.wayland.portal import REPLY_TIMEOUT_S, USER_TIMEOUT_S, Portal, PortalMissing, offered
from dictation.desktop.wayland.tools import ToolFailed
from engine.files import write_text

REMOTE_DESKTOP = "RemoteDesktop"
KEYBOARD, UNTIL_REVOKED = 1, 2
SOON_S = 2.0  # an open permission is given in less; after that a dialog is waiting for the user
ASKING = "Your desktop asks whether Sayso may type. Allow it, then insert the text again."


def portal_offers_keys() -> bool:
    """Whether this session's portal would let a program press keys."""
    return offered(REMOTE_DESKTOP) > 0


class RemoteKeyboard:
    """Presses keys. Opens its session with the first of them, and again after the desktop has ended it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._opening: threading.Thread | None = None
        self._portal: Portal | None = None
        self._session = ""
        self._keys: EmulatedKeyboard | None = None
        self._refused = ""

    def press(self, codes: tuple[int, ...]) -> None:
        """Press keys (evdev codes) in order and release them in reverse. Raises ToolFailed where the desktop does not
        let us, and while it asks the user."""
        with self._lock:
            if self._portal is None:
                self._open()
            try:
                self._press(codes)
            except (EiFailed, PortalMissing) as failure:
                self._drop()
                raise ToolFailed("The desktop let no key through; insert the text again.") from failure

    def _open(self) -> None:
        """Until the session stands. While the user is asked, the text must wait: a dialog has the keyboard now."""
        if self._opening is None:
            self._refused = ""
            self._opening = threading.Thread(target=self._ask, name="remote-desktop", daemon=True)
            self._opening.start()
        self._opening.join(SOON_S)
        if self._opening.is_alive():
            raise ToolFailed(ASKING)
        self._opening = None
        if self._portal is None:
            raise ToolFailed(self._refused or "The desktop does not let Sayso press keys.")

    def _ask(self) -> None:
        try:
            portal = Portal(REMOTE_DESKTOP)
        except PortalMissing as missing:
            self._refused = str(missing)
            return
        try:
            session = portal.create_session()
            wishes: dict[str, Any] = {"types": ("u", KEYBOARD)}
            if portal.version >= 2:
                wishes |= {"persist_mode": ("u", UNTIL_REVOKED)} | _remembered()
            portal.request("SelectDevices", "oa{sv}", (session, wishes), REPLY_TIMEOUT_S)
            granted = portal.request("Start", "osa{sv}", (session, "", {}), USER_TIMEOUT_S)
            if not granted.get("devices", ("u", KEYBOARD))[1] & KEYBOARD:
                raise PortalMissing("The desktop does not let Sayso press keys.")
            _remember(granted.get("restore_token", ("s", ""))[1])
            if portal.version >= 2:
                self._keys = EmulatedKeyboard(_connect(portal, session))
        except (PortalMissing, EiFailed) as failure:
            portal.bus.close()
            self._refused = str(failure)
            return
        self._session, self._portal = session, portal

    def _press(self, codes: tuple[int, ...]) -> None:
        assert self._portal is not None
        if self._keys is not None:
            self._keys.press(*codes)
            return
        for code, down in [*((code, 1) for code in codes), *((code, 0) for code in reversed(codes))]:
            self._portal.call("NotifyKeyboardKeycode", "oa{sv}iu", (self._session, {}, code, down))

    def _drop(self) -> None:
        if self._keys is not None:
            self._keys.close()
        if self._portal is not None:
            self._portal.bus.close()  # the session ends with its connection
        self._keys = self._portal = None

    def close(self) -> None:
        with self._lock:
            self._drop()


def _connect(portal: Portal, session: str) -> socket.socket:
    (handle,) = portal.call("ConnectToEIS", "oa{sv}", (session, {}))
    return socket.socket(fileno=handle.to_raw_fd())


def _remembered() -> dict[str, Any]:
    """The token of the last permission, as an option of SelectDevices."""
    try:
        token = paths.remote_desktop_file().read_text("utf-8").strip()
    except (OSError, ValueError):
        return {}
    return {"restore_token": ("s", token)} if token else {}


def _remember(token: str) -> None:
    """Each token works once: the new one takes its place, and none where there is none."""
    with contextlib.suppress(OSError):
        if token:
            write_text(paths.remote_desktop_file(), token + "\n", private=True)
        else:
            os.unlink(paths.remote_desktop_file())
