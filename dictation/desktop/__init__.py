"""Desktop back-ends: which window has the keyboard, how text gets into it, hotkeys, clipboard (see `contract`)."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from importlib import import_module

from dictation.desktop.contract import Desktop

BACK_ENDS = ("x11", "wayland", "macos", "windows", "dummy")


def back_end_name(platform: str = sys.platform, environment: Mapping[str, str] | None = None) -> str:
    """The back-end that fits this session: a Wayland session gets `wayland` even where an X server for old programs
    runs beside it, because that server does not see the other windows. No display at all: `dummy`."""
    environment = os.environ if environment is None else environment
    if platform == "darwin":
        return "macos"
    if platform == "win32":
        return "windows"
    if environment.get("WAYLAND_DISPLAY"):
        return "wayland"
    if environment.get("DISPLAY"):
        return "x11"
    return "dummy"


def open_desktop(name: str | None = None) -> Desktop:
    """Open the named back-end, or the one that fits. Raises what the back-end raises when its desktop is not there."""
    name = name or back_end_name()
    if name == "x11":
        from dictation.desktop.linux_x11 import X11Desktop

        return X11Desktop()
    if name == "wayland":
        from dictation.desktop.linux_wayland import WaylandDesktop

        return WaylandDesktop()
    if name == "macos":
        from dictation.desktop.macos import MacDesktop

        return MacDesktop(import_module("dictation.desktop.macos_calls").QuartzCalls())
    if name == "windows":
        from dictation.desktop.windows import WindowsDesktop

        return WindowsDesktop(import_module("dictation.desktop.windows_calls").Win32Calls())
    if name == "dummy":
        from dictation.desktop.dummy import DummyDesktop

        return DummyDesktop()
    raise ValueError(f"There is no desktop back-end named {name!r}; there are {', '.join(BACK_ENDS)}.")
