"""What works on this computer, what does not, and the one thing to do about it.

Each check answers with one `Finding`. Checks open no window, record nothing and send nothing; together they take
about a second. `sayso doctor` prints them, the tray's first start and `make run` ask for some of them by name.
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


def typing() -> Finding:
    """Which back-end types, and which of its ways work here."""
    from dictation.desktop import back_end_name, open_desktop

    if display().status == "problem":
        return Finding("typing", "problem", "there is no display to type into", "See “display”.")
    name = back_end_name()
    try:
        desktop = open_desktop(name)
    except (OSError, ValueError, ImportError) as error:
        return Finding("typing", "problem", f"{name}: {error}")
    try:
        capabilities = desktop.capabilities()
    finally:
        desktop.close()
    ways = [f"{c.name}: {c.detail}" if c.works else f"{c.name} does not work: {c.detail}" for c in capabilities]
    advice = next((c.advice for c in capabilities if not c.works and c.advice), "")
    works = sum(c.works for c in capabilities)
    status: Status = "problem" if not works else "ok" if works == len(capabilities) else "warning"
    return Finding("typing", status, f"{name}; {'; '.join(ways)}", advice)


def runtime() -> Finding:
    """What computes."""
    from engine import devices

    device = devices.best_device()
    if device != "cpu":
        return Finding("runtime", "ok", f"{device}, through MLX")
    reason = devices.why_not_native()
    if reason is None:
        return Finding("runtime", "ok", "processor, native library")
    return Finding(
        "runtime",
        "warning",
        f"processor, NumPy only, which is several times slower ({reason})",
        "Install a C++ compiler (Debian, Ubuntu: sudo apt-get install g++) and run `make setup`.",
    )


def models() -> Finding:
    from dictation.models import active_model
    from engine import store
    from engine.errors import EngineError

    name = active_model()
    try:
        file = store.find(name)
    except EngineError:
        return Finding("models", "problem", f"{name} is not installed", f"Run `{store.first_model()}`.")
    others = sorted({model.label for model in store.installed() if model.path != file})
    return Finding("models", "ok", f"{name} ({file})" + (f"; also {', '.join(others)}" if others else ""))


def settings() -> Finding:
    from dictation import paths
    from dictation import settings as table

    file = paths.settings_file()
    problems = table.load(file).problems
    if problems:
        return Finding("settings", "warning", " ".join(problems), f"Look at {file}, or save the settings once.")
    return Finding("settings", "ok", str(file) if file.exists() else "all as they come")


def _installed(package: str) -> str | None:
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


CHECKS: dict[str, Callable[[], Finding]] = {
    "display": display,
    "typing": typing,
    "microphone": microphone,
    "runtime": runtime,
    "models": models,
    "settings": settings,
    "versions": versions,
}
