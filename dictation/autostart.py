"""Starting with the computer: the one entry in the system's own list of what a user's login starts.

Linux: a desktop file in the user's autostart folder. macOS: a launch agent. Windows: a value under the user's Run key.
The entry is Sayso's own and is written whole; switching off removes it and nothing else.
"""

from __future__ import annotations

import os
import plistlib
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

AGENT = "org.sayso.Sayso"
RUN_KEY = r"Software\Microsoft\Windows\CurrentVersion\Run"
_PROGRAM = "sayso-app"


def program() -> list[str]:
    """The command that starts this Sayso's tray program again, at a path that outlives an update."""
    if image := os.environ.get("APPIMAGE"):
        return [image]
    if folder := os.environ.get("APPDIR"):
        return [str(Path(folder) / "AppRun")]
    beside = Path(sys.executable).with_name(_PROGRAM + (".exe" if sys.platform == "win32" else ""))
    found = shutil.which(_PROGRAM)
    if found and beside.exists() and Path(found).resolve() == beside.resolve():
        return [found]  # /usr/bin/sayso-app, where a package put it
    if beside.exists():
        return [str(beside)]
    return [sys.executable, "-m", "ui.main"]


def change(wanted: bool) -> None:
    """Make the entry, or remove it; does nothing where all is as wanted. Raises OSError where it can't be written."""
    if sys.platform == "win32":
        _change_registry(wanted)
        return
    file = entry()
    if not wanted:
        file.unlink(missing_ok=True)
        return
    text = _agent() if sys.platform == "darwin" else _desktop_file()
    if file.is_file() and file.read_bytes() == text:
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, part = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    with os.fdopen(handle, "wb") as out:
        out.write(text)
    Path(part).replace(file)


def entry() -> Path:
    """The file of the entry, on Linux and macOS."""
    if sys.platform == "darwin":
        return Path.home() / "Library/LaunchAgents" / f"{AGENT}.plist"
    folder = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    return folder / "autostart" / "sayso.desktop"


def _desktop_file() -> bytes:
    lines = ["[Desktop Entry]", "Type=Application", "Name=Sayso", "Icon=sayso", "Terminal=false"]
    words = program()
    if home := os.environ.get("SAYSO_HOME"):  # the same profile again
        words = ["env", f"SAYSO_HOME={Path(home).expanduser().absolute()}", *words]
    lines.append("Exec=" + " ".join(map(_quoted, words)))
    lines.append("X-GNOME-Autostart-enabled=true")
    return ("\n".join(lines) + "\n").encode("utf-8", "surrogateescape")


def _quoted(word: str) -> str:
    """A word of an Exec line, by the rules of the Desktop Entry Specification."""
    if word and shlex.quote(word) == word and "%" not in word:
        return word
    for character in '\\"`$':
        word = word.replace(character, f"\\{character}")
    # the backslashes are themselves escaped once, as in every string of a desktop file
    return '"' + word.replace("%", "%%").replace("\\", "\\\\").replace("\n", "\\n") + '"'


def _agent() -> bytes:
    return plistlib.dumps(
        {"Label": AGENT, "ProgramArguments": program(), "RunAtLoad": True, "ProcessType": "Interactive"}
    )


def _change_registry(wanted: bool) -> None:
    if sys.platform == "win32":
        import winreg

        with winreg.CreateKey(winreg.HKEY_CURRENT_USER, RUN_KEY) as key:
            if wanted:
                winreg.SetValueEx(key, "Sayso", 0, winreg.REG_SZ, subprocess.list2cmdline(program()))
                return
            try:
                winreg.DeleteValue(key, "Sayso")
            except FileNotFoundError:
                return
