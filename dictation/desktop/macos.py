"""The macOS back-end: paste through a promised pasteboard item, or Unicode key events; hotkeys from an event tap.

Never run on a real Mac (docs/platforms.md). What the system does is behind `MacCalls`, so that everything here is
tested with a fake that models the documented behaviour. `insert` must be called on the main thread: keyboard-layout
calls trap elsewhere, and promised data is fetched through the main run loop.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from dictation.desktop.contract import (
    Binding,
    Capability,
    Clipboard,
    Delivery,
    HotkeyError,
    Hotkeys,
    How,
    KeyAction,
    KeyEvent,
    Method,
    Outcome,
    Role,
    Target,
    forbidden_character,
)
from dictation.desktop.keys import Chord, parse

RECEIPT_TIMEOUT_S = 2.0
UNICODE_UNITS = 20  # CGEventKeyboardSetUnicodeString delivers no more of one event
WATCH_S = 1.0
RETURN_KEY, ANSI_V = 36, 9
_TERMINALS = """
    com.apple.terminal com.googlecode.iterm2 net.kovidgoyal.kitty org.alacritty com.github.wez.wezterm
    com.mitchellh.ghostty co.zeit.hyper dev.warp.warp-stable
"""
TERMINALS = frozenset(_TERMINALS.split())

# event types and flags, from CGEventTypes.h and IOLLEvent.h
KEY_DOWN, KEY_UP, FLAGS_CHANGED, MOUSE_DOWN = 10, 11, 12, 1
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


class Promise(Protocol):
    """Text on the pasteboard that is handed over when somebody asks."""

    def wait_taken(self, timeout_s: float) -> bool:
        """Run the main loop until the text was fetched."""
        ...

    def give_back(self, after_s: float) -> None:
        """Put the old contents back, unless the pasteboard has changed meanwhile."""
        ...

    def keep(self) -> None:
        """Leave the text there as plain data."""
        ...


class MacCalls(Protocol):
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
    def promise_text(self, text: str) -> Promise: ...
    def read_text(self) -> str | None: ...
    def write_text(self, text: str, secret: bool = False) -> None: ...
    def keycode_for(self, character: str) -> int | None:
        """The key that gives a character in the active layout."""
        ...

    def post_key(self, keycode: int, flags: int) -> None: ...
    def post_text(self, chunk: str) -> None: ...
    def flags_down(self) -> int: ...
    def key_is_down(self, keycode: int) -> bool: ...
    def start_tap(self, on_event: Callable[[int, int, int, bool], bool]) -> Tap:
        """Listen on a thread of its own; the callback gets type, keycode, flags, auto-repeat and says whether to keep
        the event from the program."""
        ...


class Tap(Protocol):
    def enable(self) -> None: ...
    def close(self) -> None: ...


class MacDesktop:
    """The Mac's desktop through `MacCalls`."""

    name = "macos"
    tells_target = True

    def __init__(self, calls: MacCalls) -> None:
        self._calls = calls
        self.clipboard: Clipboard = calls

    def capabilities(self) -> list[Capability]:
        owner = self._calls.secure_input_owner()
        privacy = "System Settings, Privacy & Security"
        return [
            _permission("typing", self._calls.may_post_events(), f"Allow Sayso in {privacy}, Accessibility."),
            _permission("hotkeys", self._calls.may_listen(), f"Allow Sayso in {privacy}, Input Monitoring."),
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

    def insert(self, text: str, target: Target | None, how: How = How()) -> Delivery:  # noqa: B008 - frozen
        started_s = time.monotonic()
        reason = self._objection(text, target)
        if reason:
            return self._held(text, how.method, started_s, reason)
        if how.method is Method.COPY:
            self._calls.write_text(text, False)
            return Delivery(Outcome.COPIED, Method.COPY, "on the clipboard", _ms(started_s))
        delivery = self._type(text, how, started_s) if how.method is Method.TYPE else self._paste(text, how, started_s)
        if how.submit and delivery.outcome is Outcome.DELIVERED:
            self._calls.post_key(RETURN_KEY, 0)
        return delivery

    def _objection(self, text: str, target: Target | None) -> str:
        if forbidden_character(text):
            return "The text holds a control character."
        if not self._calls.may_post_events():
            return "macOS does not let Sayso type yet: System Settings, Privacy & Security, Accessibility."
        if self._calls.secure_input_owner() is not None:
            return "A program has switched secure input on."
        now = self.target()
        if now is None:
            return "No window has the keyboard."
        if target is not None and not target.same_place(now):
            return "Another window has the keyboard now."
        return ""

    def _paste(self, text: str, how: How, started_s: float) -> Delivery:
        promise = self._calls.promise_text(text)
        # the key that gives v, which is not the same on every layout; some layouts have none, there Command-V is ANSI's
        self._calls.post_key(self._calls.keycode_for("v") or ANSI_V, FLAG_MASKS["Super"])
        if not promise.wait_taken(RECEIPT_TIMEOUT_S):
            promise.keep()
            reason = "The window did not take the text in time."
            return Delivery(Outcome.HELD, Method.PASTE, "no fetch seen", _ms(started_s), reason)
        promise.give_back(how.linger_s)
        return Delivery(Outcome.DELIVERED, Method.PASTE, "the text was fetched from the clipboard", _ms(started_s))

    def _type(self, text: str, how: How, started_s: float) -> Delivery:
        lines = text.replace("\t", " ").split("\n") if how.typed_newline else [" ".join(text.split("\n"))]
        for i, line in enumerate(lines):
            if i:
                self._calls.post_key(RETURN_KEY, FLAG_MASKS["Shift"] if how.typed_newline.startswith("Shift") else 0)
            for chunk in utf16_chunks(line.replace("\t", " "), UNICODE_UNITS):
                self._calls.post_text(chunk)
        return Delivery(Outcome.DELIVERED, Method.TYPE, "every key was sent", _ms(started_s))

    def _held(self, text: str, method: Method, started_s: float, reason: str) -> Delivery:
        self._calls.write_text(text, False)
        return Delivery(Outcome.HELD, method, "on the clipboard", _ms(started_s), reason)

    def take_back(self, text: str, target: Target) -> Delivery:
        reason = "Sayso can't check on macOS whether the text is still there; use the program's own undo."
        return Delivery(Outcome.HELD, Method.AUTO, "nothing was changed", 0.0, reason)

    def hotkeys(self, bindings: list[Binding], on_event: Callable[[KeyEvent], None]) -> Hotkeys:
        return MacHotkeys(self._calls, bindings, on_event)

    def close(self) -> None:
        pass


def _permission(name: str, granted: bool, advice: str) -> Capability:
    return Capability(name, granted, "allowed" if granted else "not allowed yet", "" if granted else advice)


def _ms(started_s: float) -> float:
    return round((time.monotonic() - started_s) * 1000, 1)


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


@dataclass
class _Bound:
    binding: Binding
    chord: Chord
    keycode: int
    flag: int  # device flag of a bare modifier, else 0
    down: bool = False


class MacHotkeys:
    """Bindings on an event tap. The tap is re-armed when macOS disables it, and a lost release is noticed by asking."""

    def __init__(self, calls: MacCalls, bindings: list[Binding], on_event: Callable[[KeyEvent], None]) -> None:
        self._calls = calls
        self._on_event = on_event
        self._lock = threading.Lock()
        self._bound: list[_Bound] = []
        self.refused: dict[str, str] = {}
        self.bind(bindings)
        self._tap: Tap = calls.start_tap(self._event)
        self._closing = threading.Event()
        self._watch = threading.Thread(target=self._watch_releases, name="hotkey-watch", daemon=True)
        self._watch.start()

    def bind(self, bindings: list[Binding]) -> None:
        bound, refused = [], {}
        before = {b.binding: b for b in self._bound}
        for binding in bindings:
            try:
                bound.append(before.get(binding) or self._place(binding))
            except HotkeyError as failure:
                refused[binding.action] = str(failure)
        with self._lock:
            self._bound, self.refused = bound, refused

    def rearm(self) -> None:
        """After sleep, unlock or a switch of users the old tap may be deaf: make a new one."""
        self._tap.close()
        self._tap = self._calls.start_tap(self._event)

    def close(self) -> None:
        self._closing.set()
        self._tap.close()

    def _place(self, binding: Binding) -> _Bound:
        chord = parse(binding.keys)
        if chord.key == "Fn":
            return _Bound(binding, chord, FN_KEY, FN_FLAG)
        if chord.side:
            keycode, flag = SIDE_KEYS[chord.side, next(iter(chord.modifiers))]
            return _Bound(binding, chord, keycode, flag)
        found = KEYCODES.get(chord.key) or (self._calls.keycode_for(chord.key) if len(chord.key) == 1 else None)
        if found is None:
            raise HotkeyError(f"This keyboard has no key for {binding.keys}; choose another in the settings.")
        return _Bound(binding, chord, found, 0)

    def _event(self, kind: int, keycode: int, flags: int, repeat: bool) -> bool:
        """One event of the tap, on its thread; True keeps it from the program."""
        if kind in (TAP_DISABLED_BY_TIMEOUT, TAP_DISABLED_BY_USER):
            self._tap.enable()
            return False
        with self._lock:
            if kind == FLAGS_CHANGED:
                return self._flags_changed(keycode, flags)
            if kind in (KEY_DOWN, MOUSE_DOWN):
                for bound in self._bound:
                    if bound.flag and bound.down:
                        self._tell(bound, KeyAction.OTHER)
            if kind == KEY_DOWN:
                return self._key_down(keycode, flags, repeat)
            if kind == KEY_UP:
                return self._key_up(keycode)
        return False

    def _flags_changed(self, keycode: int, flags: int) -> bool:
        for bound in self._bound:
            if bound.flag and bound.keycode == keycode:
                self._set_down(bound, bool(flags & bound.flag))
            elif bound.flag and bound.down:
                self._tell(bound, KeyAction.OTHER)
        return False  # the program needs its modifiers

    def _key_down(self, keycode: int, flags: int, repeat: bool) -> bool:
        held = frozenset(name for name, mask in FLAG_MASKS.items() if flags & mask)
        ours = False
        for bound in self._bound:
            if bound.flag or bound.keycode != keycode:
                continue
            if bound.down or bound.binding.any_modifiers or held == bound.chord.modifiers:
                ours = True
                if not repeat:
                    self._set_down(bound, True)
        return ours

    def _key_up(self, keycode: int) -> bool:
        """The modifiers may have gone first, so only the key counts."""
        ours = False
        for bound in self._bound:
            if not bound.flag and bound.keycode == keycode and bound.down:
                ours = True
                self._set_down(bound, False)
        return ours

    def _set_down(self, bound: _Bound, down: bool) -> None:
        if bound.down != down:
            bound.down = down
            self._tell(bound, KeyAction.PRESS if down else KeyAction.RELEASE)

    def _tell(self, bound: _Bound, kind: KeyAction) -> None:
        self._on_event(KeyEvent(bound.binding.action, kind, time.monotonic()))

    def _watch_releases(self) -> None:
        while not self._closing.wait(WATCH_S):
            self.check_releases()

    def check_releases(self) -> None:
        """A tap that was disabled in the wrong moment misses a release: ask for the key's real state."""
        with self._lock:
            for bound in self._bound:
                if bound.down and not self._calls.key_is_down(bound.keycode):
                    self._set_down(bound, False)
