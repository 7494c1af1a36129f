"""The Windows back-end: paste by delayed rendering, which tells when it was fetched, or Unicode input; hotkeys.

Never run on a real Windows (docs/platforms.md). What the system does is behind `WindowsCalls`, so that everything here
is tested with a fake that models the documented behaviour.
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
VK_SHIFT, VK_CONTROL, VK_MENU, VK_RETURN, VK_INSERT = 0x10, 0x11, 0x12, 0x0D, 0x2D
VK_LCONTROL, VK_RMENU = 0xA2, 0xA5
KEYEVENTF_KEYUP, KEYEVENTF_UNICODE = 2, 4
MODIFIER_KEYS = {"Shift": (0xA0, 0xA1), "Ctrl": (0xA2, 0xA3), "Alt": (0xA4, 0xA5), "Super": (0x5B, 0x5C)}
KEYS = {"Space": 0x20, "Escape": 0x1B, "Return": 0x0D, "Tab": 0x09, "BackSpace": 0x08, "Delete": 0x2E, "Insert": 0x2D}
KEYS |= {"Home": 0x24, "End": 0x23, "Page_Up": 0x21, "Page_Down": 0x22, "Left": 0x25, "Up": 0x26, "Right": 0x27}
KEYS |= {"Down": 0x28, "Pause": 0x13, "Print": 0x2C, "Menu": 0x5D, "Scroll_Lock": 0x91, "Caps_Lock": 0x14}
KEYS |= {f"F{n}": 0x6F + n for n in range(1, 25)}
TERMINALS = frozenset(
    ("cascadia_hosting_window_class", "consolewindowclass", "mintty", "putty", "org.wezfurlong.wezterm")
)


@dataclass(frozen=True)
class Input:
    """One entry of SendInput's array: a virtual key, or a UTF-16 unit when `unicode`."""

    code: int
    up: bool = False
    unicode: bool = False


class Promise(Protocol):
    """Text on the clipboard by delayed rendering."""

    def wait_taken(self, timeout_s: float) -> bool: ...
    def give_back(self, after_s: float) -> None:
        """Put the old formats back, unless the clipboard has changed meanwhile."""
        ...

    def keep(self) -> None: ...


@dataclass(frozen=True)
class Foreground:
    window: int
    pid: int
    window_class: str
    is_password: bool = False
    is_elevated: bool = False


class WindowsCalls(Protocol):
    """All that is asked of Windows."""

    def foreground(self) -> Foreground | None: ...
    def is_elevated(self) -> bool:
        """Whether Sayso itself runs as administrator."""
        ...

    def send_input(self, inputs: list[Input]) -> int:
        """How many were taken."""
        ...

    def promise_text(self, text: str) -> Promise:
        """Offer text, marked so that clipboard history, cloud clipboard and monitors leave it out."""
        ...

    def read_text(self) -> str | None: ...
    def write_text(self, text: str, secret: bool = False) -> None: ...
    def key_is_down(self, virtual_key: int) -> bool: ...
    def key_for(self, character: str) -> int | None:
        """The virtual key that gives a character in the active layout without modifiers."""
        ...

    def hook(self, on_key: Callable[[int, bool], bool]) -> Hook:
        """A low-level keyboard hook on its own thread; the callback gets virtual key and up, and says whether to keep
        the key from the program. Injected events are left out."""
        ...


class Hook(Protocol):
    def rearm(self) -> None: ...
    def close(self) -> None: ...


class WindowsDesktop:
    """Windows' desktop through `WindowsCalls`."""

    name = "windows"
    tells_target = True

    def __init__(self, calls: WindowsCalls) -> None:
        self._calls = calls
        self.clipboard: Clipboard = calls

    def capabilities(self) -> list[Capability]:
        elevated = self._calls.is_elevated()
        return [
            Capability("paste", True, "delayed rendering tells when the text was fetched"),
            Capability("typing", True, "SendInput with Unicode"),
            Capability(
                "programs run as administrator",
                elevated,
                "can be typed into" if elevated else "Windows keeps other programs' keys from them",
                "" if elevated else "Text for them is held on the clipboard; paste it yourself.",
            ),
        ]

    def target(self) -> Target | None:
        window = self._calls.foreground()
        if window is None:
            return None
        role = Role.TERMINAL if window.window_class.lower() in TERMINALS else Role.UNKNOWN
        role = Role.PASSWORD if window.is_password else role
        return Target(f"0x{window.window:x}", window.pid, window.window_class, role)

    def held_modifiers(self) -> frozenset[str]:
        down = {n for n, keys in MODIFIER_KEYS.items() if any(self._calls.key_is_down(key) for key in keys)}
        return frozenset(down)

    def insert(self, text: str, target: Target | None, how: How = How()) -> Delivery:  # noqa: B008 - frozen
        started_s = time.monotonic()
        reason = self._objection(text, target)
        if reason:
            return self._held(text, how.method, started_s, reason)
        if how.method is Method.COPY:
            self._calls.write_text(text, False)
            return Delivery(Outcome.COPIED, Method.COPY, "on the clipboard", _ms(started_s))
        self._lift_modifiers()
        delivery = self._type(text, how, started_s) if how.method is Method.TYPE else self._paste(text, how, started_s)
        if how.submit and delivery.outcome is Outcome.DELIVERED:
            self._calls.send_input(tap(VK_RETURN))
        return delivery

    def _objection(self, text: str, target: Target | None) -> str:
        if forbidden_character(text):
            return "The text holds a control character."
        now, window = self.target(), self._calls.foreground()
        if now is None or window is None:
            return "No window has the keyboard."
        if target is not None and not target.same_place(now):
            return "Another window has the keyboard now."
        if window.is_elevated and not self._calls.is_elevated():
            return "The window belongs to a program that runs as administrator, which Windows lets nobody type into."
        return ""

    def _lift_modifiers(self) -> None:
        """Release what is held, and never press it again. Alt alone would open a menu, so Ctrl goes in between."""
        down = [key for keys in MODIFIER_KEYS.values() for key in keys if self._calls.key_is_down(key)]
        inputs = [Input(key, up=True) for key in down]
        if any(key in (*MODIFIER_KEYS["Alt"], *MODIFIER_KEYS["Super"]) for key in down):
            inputs = tap(VK_LCONTROL) + inputs
        if inputs:
            self._calls.send_input(inputs)

    def _paste(self, text: str, how: How, started_s: float) -> Delivery:
        promise = self._calls.promise_text(text)
        chord = [Input(VK_SHIFT), Input(VK_INSERT), Input(VK_INSERT, up=True), Input(VK_SHIFT, up=True)]
        sent = self._calls.send_input(chord) == len(chord)
        if not sent or not promise.wait_taken(RECEIPT_TIMEOUT_S):
            promise.keep()
            reason = "The window did not take the text in time." if sent else "Windows did not let Sayso press keys."
            return Delivery(Outcome.HELD, Method.PASTE, "no fetch seen", _ms(started_s), reason)
        promise.give_back(how.linger_s)
        return Delivery(Outcome.DELIVERED, Method.PASTE, "the text was fetched from the clipboard", _ms(started_s))

    def _type(self, text: str, how: How, started_s: float) -> Delivery:
        inputs: list[Input] = []
        for character in text:
            if character == "\n" and how.typed_newline:
                shift = how.typed_newline.startswith("Shift")
                inputs += [Input(VK_SHIFT)] * shift + tap(VK_RETURN) + [Input(VK_SHIFT, up=True)] * shift
            else:
                inputs += unicode_inputs(" " if character in "\n\t" else character)
        taken = self._calls.send_input(inputs)
        if taken < len(inputs):
            return self._held(text, Method.TYPE, started_s, f"Windows took only {taken} of {len(inputs)} key events.")
        return Delivery(Outcome.DELIVERED, Method.TYPE, "every key was sent", _ms(started_s))

    def _held(self, text: str, method: Method, started_s: float, reason: str) -> Delivery:
        self._calls.write_text(text, False)
        return Delivery(Outcome.HELD, method, "on the clipboard", _ms(started_s), reason)

    def take_back(self, text: str, target: Target) -> Delivery:
        reason = "Sayso can't check on Windows whether the text is still there; use the program's own undo."
        return Delivery(Outcome.HELD, Method.AUTO, "nothing was changed", 0.0, reason)

    def hotkeys(self, bindings: list[Binding], on_event: Callable[[KeyEvent], None]) -> Hotkeys:
        return WindowsHotkeys(self._calls, bindings, on_event)

    def close(self) -> None:
        pass


def tap(virtual_key: int) -> list[Input]:
    return [Input(virtual_key), Input(virtual_key, up=True)]


def unicode_inputs(character: str) -> list[Input]:
    """Down and up of each UTF-16 unit; both halves of a surrogate pair go down before they go up."""
    data = character.encode("utf-16-le", "surrogatepass")
    units = [int.from_bytes(data[i : i + 2], "little") for i in range(0, len(data), 2)]
    return [Input(unit, unicode=True) for unit in units] + [Input(unit, up=True, unicode=True) for unit in units]


def _ms(started_s: float) -> float:
    return round((time.monotonic() - started_s) * 1000, 1)


@dataclass
class _Bound:
    binding: Binding
    chord: Chord
    keys: tuple[int, ...]  # virtual keys that may be it
    down: bool = False


class WindowsHotkeys:
    """Bindings on a low-level hook. AltGr is a Ctrl and an Alt to Windows; it is never taken for Ctrl+Alt here."""

    def __init__(self, calls: WindowsCalls, bindings: list[Binding], on_event: Callable[[KeyEvent], None]) -> None:
        self._calls = calls
        self._on_event = on_event
        self._lock = threading.Lock()
        self._bound: list[_Bound] = []
        self._held: set[int] = set()
        self.refused: dict[str, str] = {}
        self.bind(bindings)
        self._hook = calls.hook(self._key)

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
        """Windows drops a hook that was slow once, and after unlock: set it again and forget what was down."""
        with self._lock:
            self._held.clear()
            for bound in self._bound:
                self._set_down(bound, False)
        self._hook.rearm()

    def close(self) -> None:
        self._hook.close()

    def _place(self, binding: Binding) -> _Bound:
        chord = parse(binding.keys)
        if chord.side:
            left, right = MODIFIER_KEYS[next(iter(chord.modifiers))]
            return _Bound(binding, chord, (left if chord.side == "Left" else right,))
        if chord.key == "AltGr":
            return _Bound(binding, chord, (VK_RMENU,))
        key = KEYS.get(chord.key) or (self._calls.key_for(chord.key) if len(chord.key) == 1 else None)
        if key is None:
            raise HotkeyError(f"This keyboard has no key for {binding.keys}; choose another in the settings.")
        return _Bound(binding, chord, (key,))

    def _key(self, virtual_key: int, up: bool) -> bool:
        with self._lock:
            repeat = not up and virtual_key in self._held
            (self._held.discard if up else self._held.add)(virtual_key)
            ours = False
            for bound in self._bound:
                if bound.chord.is_bare_modifier:
                    self._bare(bound, virtual_key, up)
                elif virtual_key in bound.keys:
                    ours = self._chord(bound, up, repeat) or ours
            return ours

    def _bare(self, bound: _Bound, virtual_key: int, up: bool) -> None:
        if virtual_key in bound.keys:
            self._set_down(bound, not up)
        elif bound.down and not up:
            self._tell(bound, KeyAction.OTHER)

    def _chord(self, bound: _Bound, up: bool, repeat: bool) -> bool:
        if up:
            was_down = bound.down
            self._set_down(bound, False)
            return was_down
        if bound.down or (not repeat and (bound.binding.any_modifiers or self._modifiers() == bound.chord.modifiers)):
            self._set_down(bound, True)
            return True
        return False

    def _modifiers(self) -> frozenset[str]:
        """Modifiers that are down. Windows presses a left Ctrl along with AltGr; both together are AltGr."""
        held = set(self._held)
        if VK_RMENU in held and VK_LCONTROL in held:
            held -= {VK_RMENU, VK_LCONTROL}
            return frozenset({"AltGr", *(n for n, keys in MODIFIER_KEYS.items() if held.intersection(keys))})
        return frozenset(n for n, keys in MODIFIER_KEYS.items() if held.intersection(keys))

    def _set_down(self, bound: _Bound, down: bool) -> None:
        if bound.down != down:
            bound.down = down
            self._tell(bound, KeyAction.PRESS if down else KeyAction.RELEASE)

    def _tell(self, bound: _Bound, kind: KeyAction) -> None:
        self._on_event(KeyEvent(bound.binding.action, kind, time.monotonic()))
