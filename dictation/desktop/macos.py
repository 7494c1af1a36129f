"""The macOS back-end: paste through a promised pasteboard item, or Unicode key events; hotkeys from an event tap.

Never run on a real Mac (docs/platforms.md). What the system does is behind `MacCalls`, so that everything here is
tested with a fake that models the documented behaviour. `insert` must be called on the main thread: keyboard-layout
calls trap elsewhere, and promised data is fetched through the main run loop.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from dictation.desktop.contract import Binding, Capability, HotkeyError, Hotkeys, KeyEvent, Role, Target
from dictation.desktop.keys import Chord
from dictation.desktop.native import NativeCalls, NativeDesktop, NativeHotkeys

UNICODE_UNITS = 20  # CGEventKeyboardSetUnicodeString delivers no more of one event
RETURN_KEY, ANSI_V = 36, 9
_TERMINALS = """
    com.apple.terminal com.googlecode.iterm2 net.kovidgoyal.kitty org.alacritty com.github.wez.wezterm
    com.mitchellh.ghostty co.zeit.hyper dev.warp.warp-stable
"""
TERMINALS = frozenset(_TERMINALS.split())

# event types and flags, from CGEventTypes.h and IOLLEvent.h
KEY_DOWN, KEY_UP, FLAGS_CHANGED = 10, 11, 12
MOUSE_DOWN = (1, 3, 25)  # left, right, other
TAP_DISABLED_BY_TIMEOUT, TAP_DISABLED_BY_USER = 0xFFFFFFFE, 0xFFFFFFFF
FLAG_MASKS = {"Shift": 0x20000, "Ctrl": 0x40000, "Alt": 0x80000, "Super": 0x100000}
SIDE_KEYS = {  # keycode and device-dependent flag of each modifier key
    ("Left", "Ctrl"): (59, 0x1),
    ("Left", "Shift"): (56, 0x2),
    ("Right", "Shift"): (60, 0x4),
    ("Left", "Super"): (55, 0x8),
    ("Right", "Super"): (54, 0x10),
    ("Left", "Alt"): (58, 0x20),
    ("Right", "Alt"): (61, 0x40),
    ("Right", "Ctrl"): (62, 0x2000),
}
FN_KEY, FN_FLAG = 63, 0x800000
FLAG_OF = dict(SIDE_KEYS.values()) | {FN_KEY: FN_FLAG}
KEYCODES = {"Space": 49, "Escape": 53, "Return": 36, "Tab": 48, "BackSpace": 51, "Delete": 117, "Home": 115}
KEYCODES |= {"End": 119, "Page_Up": 116, "Page_Down": 121, "Left": 123, "Right": 124, "Down": 125, "Up": 126}
KEYCODES |= {"F1": 122, "F2": 120, "F3": 99, "F4": 118, "F5": 96, "F6": 97, "F7": 98, "F8": 100, "F9": 101}
KEYCODES |= {"F10": 109, "F11": 103, "F12": 111, "F13": 105, "F14": 107, "F15": 113, "F16": 106, "F17": 64}
KEYCODES |= {"F18": 79, "F19": 80, "F20": 90}


@dataclass(frozen=True)
class FrontApp:
    pid: int
    bundle_id: str
    window: str  # the focused window's number or title hash; "" where it is not told


class MacCalls(NativeCalls, Protocol):
    """All that is asked of macOS."""

    def frontmost(self) -> FrontApp | None: ...
    def focused_role(self) -> str:
        """The accessibility subrole or role of the focused element, "" if not told."""
        ...

    def secure_input_owner(self) -> str | None:
        """Name of the program that has switched secure input on, "" if unknown; None when it is off."""
        ...

    def may_post_events(self) -> bool: ...
    def may_listen(self) -> bool: ...
    def may_record(self) -> bool: ...
    def post_key(self, keycode: int, flags: int) -> None: ...
    def post_text(self, chunk: str) -> None: ...
    def flags_down(self) -> int: ...
    def start_tap(self, on_event: Callable[[int, int, int, bool], bool]) -> Tap:
        """Listen on a thread of its own; the callback gets type, keycode, flags, auto-repeat and says whether to keep
        the event from the program. Events that we posted ourselves are left out. Raises OSError where macOS gives
        no tap."""
        ...


class Tap(Protocol):
    def enable(self) -> None: ...
    def close(self) -> None: ...


class MacDesktop(NativeDesktop):
    """The Mac's desktop through `MacCalls`."""

    name = "macos"
    system = "macOS"

    def __init__(self, calls: MacCalls) -> None:
        super().__init__(calls)
        self._calls = calls

    def capabilities(self) -> list[Capability]:
        owner = self._calls.secure_input_owner()
        privacy = "System Settings, Privacy & Security"
        return [
            _permission("typing", self._calls.may_post_events(), f"Allow Sayso in {privacy}, Accessibility."),
            _permission("hotkeys", self._calls.may_listen(), f"Allow Sayso in {privacy}, Accessibility."),
            _permission("microphone", self._calls.may_record(), f"Allow Sayso in {privacy}, Microphone."),
            Capability(
                "secure input",
                owner is None,
                "off" if owner is None else f"on, by {owner or 'an unknown program'}: no hotkey arrives",
                "" if owner is None else "Leave the password field or quit that program.",
            ),
        ]

    def target(self) -> Target | None:
        app = self._calls.frontmost()
        if app is None:
            return None
        is_terminal = app.bundle_id.lower() in TERMINALS
        role = Role.TERMINAL if is_terminal else Role.UNKNOWN
        if self._calls.focused_role() == "AXSecureTextField":
            role = Role.PASSWORD
        return Target(app.window, app.pid, app.bundle_id, role)

    def held_modifiers(self) -> frozenset[str]:
        flags = self._calls.flags_down()
        return frozenset(name for name, mask in FLAG_MASKS.items() if flags & mask)

    def _refusal(self) -> str:
        if not self._calls.may_post_events():
            return "macOS does not let Sayso type yet: System Settings, Privacy & Security, Accessibility."
        if self._calls.secure_input_owner() is not None:
            return "A program has switched secure input on."
        return ""

    def _press_paste(self) -> bool:
        # the key that gives v, which is not the same on every layout; some layouts have none, there Command-V is ANSI's
        keycode = self._calls.key_for("v")
        self._calls.post_key(ANSI_V if keycode is None else keycode, FLAG_MASKS["Super"])
        return True

    def _press_return(self, shift: bool = False) -> None:
        self._calls.post_key(RETURN_KEY, FLAG_MASKS["Shift"] if shift else 0)

    def _type_line(self, line: str) -> str:
        for chunk in utf16_chunks(line, UNICODE_UNITS):
            self._calls.post_text(chunk)
        return ""

    def hotkeys(self, bindings: list[Binding], on_event: Callable[[KeyEvent], None]) -> Hotkeys:
        return MacHotkeys(self._calls, bindings, on_event)


def _permission(name: str, granted: bool, advice: str) -> Capability:
    return Capability(name, granted, "allowed" if granted else "not allowed yet", "" if granted else advice)


def utf16_chunks(text: str, units: int) -> list[str]:
    """Text in pieces of at most so many UTF-16 units that cut no character, and no accent or joiner from its letter
    where that can be avoided."""
    chunks, chunk, used = [], "", 0
    for character in text:
        width = 2 if ord(character) > 0xFFFF else 1
        if used + width > units:
            chunks.append(chunk)
            chunk, used = "", 0
        chunk += character
        used += width
    return [*chunks, chunk] if chunk else chunks


class MacHotkeys(NativeHotkeys):
    """Bindings on an event tap, which macOS may disable at any time."""

    def __init__(self, calls: MacCalls, bindings: list[Binding], on_event: Callable[[KeyEvent], None]) -> None:
        self._calls = calls
        super().__init__(calls, bindings, on_event)

    def _listen(self) -> None:
        try:
            self._tap: Tap = self._calls.start_tap(self._event)
        except OSError as error:
            raise HotkeyError(f"{error}.") from error

    def _listen_again(self) -> None:
        """After sleep, unlock or a switch of users the old tap may be deaf: make a new one."""
        self._tap.close()
        with contextlib.suppress(HotkeyError):  # the permission is gone: the doctor says so
            self._listen()
        self.check_releases()

    def _stop_listening(self) -> None:
        self._tap.close()

    def check_releases(self) -> None:
        """A tap that was disabled in the wrong moment misses a release: ask for the keys' real state."""
        self._stream.release_lost(self._calls.key_is_down)

    def _own_key(self, chord: Chord) -> int | None:
        if chord.key == "Fn":
            return FN_KEY
        if chord.side:
            return SIDE_KEYS[chord.side, next(iter(chord.modifiers))][0]
        return KEYCODES.get(chord.key)

    def _event(self, kind: int, keycode: int, flags: int, repeat: bool) -> bool:
        """One event of the tap, on its thread; True keeps it from the program."""
        if kind in (TAP_DISABLED_BY_TIMEOUT, TAP_DISABLED_BY_USER):
            self._tap.enable()
            return False
        if kind in MOUSE_DOWN:
            self._stream.button()
            return False
        # a modifier's own flag says whether it is down; of Caps Lock, which has none, every change is a press
        down = kind == KEY_DOWN or (kind == FLAGS_CHANGED and bool(flags & FLAG_OF.get(keycode, flags | 1)))
        held = frozenset(name for name, mask in FLAG_MASKS.items() if flags & mask)
        return self._feed(keycode, down, held, repeat)
