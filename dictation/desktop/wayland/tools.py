"""The programs that put text into Wayland windows: wl-copy and wl-paste, wtype, ydotool.

None of them gets text on a command line that it might read as options or commands, and line-protocol tools never get a
raw newline or control character. Limits, measured: wtype's own key map reaches foot intact and Chromium not, so
Chromium and unknown programs get a paste; its first key is lost while the seat has no keyboard.
"""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass

TIMEOUT_S = 5.0
# evdev codes: Shift+Insert, which every layout has, and Return
PASTE, RETURN = (42, 110), (28,)
WTYPE_NAMES = {42: "shift", 110: "Insert", 28: "Return"}


class ToolFailed(Exception):
    """A helper program is missing, refused or did not end in time; the message is for the user."""


@dataclass(frozen=True)
class Tools:
    """Which helpers are installed."""

    wl_copy: bool
    wtype: bool
    ydotool: bool

    @staticmethod
    def installed() -> Tools:
        return Tools(
            shutil.which("wl-copy") is not None and shutil.which("wl-paste") is not None,
            shutil.which("wtype") is not None,
            shutil.which("ydotool") is not None,
        )


def run(*command: str, text: bytes | None = None) -> bytes:
    """Run a helper; raises ToolFailed when it does not succeed in time."""
    try:
        done = subprocess.run(command, input=text, capture_output=True, timeout=TIMEOUT_S, check=False)
    except FileNotFoundError as failure:
        raise ToolFailed(f"The program {command[0]} is not installed.") from failure
    except subprocess.TimeoutExpired as failure:
        raise ToolFailed(f"The program {command[0]} does not answer.") from failure
    if done.returncode:
        raise ToolFailed(f"The program {command[0]} failed.")
    return done.stdout


class WaylandClipboard:
    """Clipboard and primary selection through wl-clipboard."""

    def read_text(self, primary: bool = False) -> str | None:
        try:
            return run("wl-paste", *_which(primary), "--no-newline", "--type", "text").decode("utf-8", "replace")
        except ToolFailed:
            return None

    def write_text(self, text: str, secret: bool = False, primary: bool = False) -> None:
        """Own the selection with this text. wl-copy stays in the background; its output must not be waited for."""
        hint = ["--sensitive"] if secret and _knows_sensitive() else []
        command = ["wl-copy", *_which(primary), *hint, "--type", "text/plain;charset=utf-8"]
        self.offer(command, text.encode("utf-8", "replace"))

    def save(self, primary: bool) -> tuple[str, bytes] | None:
        """The richest format and its bytes; None when the selection is empty. wl-copy can give back only one format."""
        try:
            types = run("wl-paste", *_which(primary), "--list-types").decode("utf-8", "replace").splitlines()
        except ToolFailed:
            return None
        wanted = next((t for t in types if t.startswith("image/")), None)
        if wanted is None:
            wanted = next((t for t in types if t.startswith("text/plain")), types[0] if types else None)
        if wanted is None:
            return None
        try:
            return wanted, run("wl-paste", *_which(primary), "--no-newline", "--type", wanted)
        except ToolFailed:
            return None

    def restore(self, saved: tuple[str, bytes] | None, primary: bool) -> None:
        if saved is None:
            run("wl-copy", *_which(primary), "--clear")
        else:
            self.offer(["wl-copy", *_which(primary), "--type", saved[0]], saved[1])

    def offer(self, command: list[str], data: bytes) -> None:
        try:
            done = subprocess.run(
                command,
                input=data,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=TIMEOUT_S,
                check=False,
            )
        except (FileNotFoundError, subprocess.TimeoutExpired) as failure:
            raise ToolFailed("The clipboard can't be reached; install wl-clipboard.") from failure
        if done.returncode:
            raise ToolFailed("The clipboard can't be reached: the compositor offers no data control.")


def _which(primary: bool) -> list[str]:
    return ["--primary"] if primary else []


def _knows_sensitive() -> bool:
    try:
        return b"--sensitive" in run("wl-copy", "--help")
    except ToolFailed:
        return False


def press_by_wtype(codes: tuple[int, ...]) -> None:
    """Press keys of WTYPE_NAMES through the compositor's virtual keyboard (sway, Hyprland and their kind)."""
    *modifiers, key = (WTYPE_NAMES[code] for code in codes)
    down = [part for name in modifiers for part in ("-M", name)]
    up = [part for name in reversed(modifiers) for part in ("-m", name)]
    run("wtype", *down, "-k", key, *up)


def press_by_ydotool(codes: tuple[int, ...]) -> None:
    """Press keys through the kernel's uinput."""
    run("ydotool", "key", *(f"{code}:1" for code in codes), *(f"{code}:0" for code in reversed(codes)))


def type_text(tools: Tools, text: str) -> None:
    """Type one line of text. It goes through standard input, so that no tool takes it for options; newlines and tabs
    must have been replaced before."""
    if any(ord(character) < 0x20 for character in text):
        raise ToolFailed("A line break can't be typed here.")
    if tools.wtype:
        run("wtype", "-", text=text.encode("utf-8"))
    elif tools.ydotool and text.isascii():
        run("ydotool", "type", "--file", "-", text=text.encode("ascii"))
    else:
        raise ToolFailed("ydotool can only type plain English letters; install wtype or let Sayso paste.")
