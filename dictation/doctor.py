"""What works on this computer, what does not, and the one thing to do about it.

Each check answers with one `Finding`. Checks open no window, record nothing and send nothing; they take well under a
second together. `sayso doctor` prints them, the tray's first start and `make run` ask for some of them by name.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

Status = Literal["ok", "warning", "problem"]


@dataclass(frozen=True)
class Finding:
    check: str  # the key in `CHECKS`
    status: Status  # "problem": dictation can't work; "warning": it works, with less
    found: str  # what is there, in a few words
    advice: str = ""  # the one thing to do; empty when there is nothing to do


def examine(checks: Iterable[str] = ()) -> list[Finding]:
    """Run the named checks, or all of them, in the order of `CHECKS`."""
    wanted = set(checks) or set(CHECKS)
    return [check() for name, check in CHECKS.items() if name in wanted]


def versions() -> Finding:
    from dictation.version import version

    libraries = [
        f"{name} {library_version}"
        for name in ("numpy", "mlx", "PySide6-Essentials", "gguf", "huggingface_hub")
        if (library_version := _installed(name))
    ]
    python = f"Python {platform.python_version()}"
    system = f"{platform.system()} {platform.release()} {platform.machine()}"
    return Finding("versions", "ok", "; ".join([f"Sayso {version()}", python, system, ", ".join(libraries)]))


def display() -> Finding:
    """Whether there is a desktop to type into."""
    if sys.platform in ("darwin", "win32"):
        return Finding("display", "ok", "the system's own")
    wayland, x11 = os.environ.get("WAYLAND_DISPLAY"), os.environ.get("DISPLAY")
    if wayland and os.path.exists(os.path.join(os.environ.get("XDG_RUNTIME_DIR", ""), wayland)):
        return Finding("display", "ok", f"Wayland ({wayland})" + (f", X11 programs on {x11}" if x11 else ""))
    if not x11:
        return Finding("display", "problem", "none", "Start Sayso from a terminal of your desktop, not over SSH.")
    from Xlib.display import Display
    from Xlib.error import DisplayError

    try:
        Display(x11).close()
    except (DisplayError, OSError):
        return Finding(
            "display", "problem", f"{x11} does not answer", "Start Sayso from a terminal of the desktop you are using."
        )
    return Finding("display", "ok", f"X11 ({x11})")


def microphone() -> Finding:
    try:
        import sounddevice
    except OSError:
        return Finding(
            "microphone",
            "problem",
            "the library PortAudio is missing",
            "Install it (Debian, Ubuntu: sudo apt-get install libportaudio2; Fedora: sudo dnf install portaudio).",
        )
    try:
        default = sounddevice.query_devices(kind="input")
    except (sounddevice.PortAudioError, ValueError):
        return Finding(
            "microphone", "problem", "none", "Plug a microphone in, or allow one in the system's sound settings."
        )
    return Finding("microphone", "ok", f"{default['name']} ({default['default_samplerate']:.0f} Hz)")


def _installed(package: str) -> str | None:
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


CHECKS: dict[str, Callable[[], Finding]] = {
    "display": display,
    "microphone": microphone,
    "versions": versions,
}
