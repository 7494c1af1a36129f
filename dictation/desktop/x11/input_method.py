"""Whether an input method (IBus, Fcitx) stands between the keys and the window.

Keys by XTEST pass through it like a person's; a paste does not. One that composes takes the letters; one that does not
still loses characters that the layout lacks, because it reads the key map at its own pace (seen with IBus in xterm).
Only asks what runs already, and not for long.
"""

from __future__ import annotations

import os
from enum import Enum
from pathlib import Path
from typing import Any

from jeepney import DBusAddress, new_method_call
from jeepney.io.blocking import DBusConnection, open_dbus_connection
from jeepney.wrappers import DBusErrorResponse, unwrap_msg

BUDGET_S = 0.2
FCITX_ACTIVE = 2
FCITX = DBusAddress("/controller", "org.fcitx.Fcitx5", "org.fcitx.Fcitx.Controller1")
IBUS = DBusAddress("/org/freedesktop/IBus", "org.freedesktop.IBus", "org.freedesktop.DBus.Properties")
BUS = DBusAddress("/org/freedesktop/DBus", "org.freedesktop.DBus", "org.freedesktop.DBus")
_FAILURES = (OSError, EOFError, TimeoutError, DBusErrorResponse, KeyError, ValueError, IndexError, TypeError)


class InputMethod(Enum):
    NONE = "none"
    PASSES = "passes keys on"
    COMPOSES = "composes"


def input_method(display_name: str) -> InputMethod:
    """What is active on this display; NONE where nobody tells."""
    found = {_ibus(display_name), _fcitx()}
    return next((one for one in (InputMethod.COMPOSES, InputMethod.PASSES) if one in found), InputMethod.NONE)


def _ibus(display_name: str) -> InputMethod:
    """IBus has a bus of its own. Its engines called xkb:… are plain keyboard layouts."""
    try:
        address = os.environ.get("IBUS_ADDRESS") or _ibus_address(display_name)
        bus = open_dbus_connection(address)
    except _FAILURES:
        return InputMethod.NONE
    try:
        ask = new_method_call(IBUS, "Get", "ss", ("org.freedesktop.IBus", "GlobalEngine"))
        (_, (_, description)) = _ask(bus, ask)
        return InputMethod.PASSES if str(description[2]).startswith("xkb:") else InputMethod.COMPOSES
    except _FAILURES:
        return InputMethod.PASSES  # none was chosen yet
    finally:
        bus.close()


def _ibus_address(display_name: str) -> str:
    """From the file that the daemon of this display has written. Raises OSError, ValueError or KeyError without one."""
    config = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    number = display_name.rpartition(":")[2].partition(".")[0]
    newest = max((config / "ibus" / "bus").glob(f"*-{number}"), key=lambda path: path.stat().st_mtime)
    lines = dict(line.partition("=")[::2] for line in newest.read_text("utf-8", "replace").splitlines())
    return lines["IBUS_ADDRESS"]


def _fcitx() -> InputMethod:
    try:
        bus = open_dbus_connection("SESSION")
    except (*_FAILURES, RuntimeError):
        return InputMethod.NONE
    try:
        if not _ask(bus, new_method_call(BUS, "NameHasOwner", "s", (FCITX.bus_name,))):
            return InputMethod.NONE
        is_active = _ask(bus, new_method_call(FCITX, "State")) == FCITX_ACTIVE
        return InputMethod.COMPOSES if is_active else InputMethod.PASSES
    except _FAILURES:
        return InputMethod.NONE
    finally:
        bus.close()


def _ask(bus: DBusConnection, message: Any) -> Any:
    return unwrap_msg(bus.send_and_get_reply(message, timeout=BUDGET_S))[0]
