"""Typing into the focused X11 window key by key, for windows that do not paste.

Characters that no key of the layout gives go through spare keycodes. A client reads the key map as it is when it gets
to it, not as it was when the key was pressed; so a keycode is filled, waited for, used, and waited for again before it
is used for another character (`ping.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

from Xlib import XK

from dictation.desktop.contract import How
from dictation.desktop.x11.connection import Connection
from dictation.desktop.x11.keyboard import Keyboard, Stroke, keysym_of
from dictation.desktop.x11.ping import Pinger
from dictation.desktop.x11.windows import Windows

PATIENCE_S = (
    10.0  # with a window that does answer: filling its keys again too early would make other characters of them
)


@dataclass(frozen=True)
class TypeResult:
    """`typed` counts characters that were sent before the window changed, if it did; `confirmed`: the window said that
    it has read the last key."""

    typed: int
    complete: bool
    confirmed: bool


class Typing:
    """Types text; the caller has checked the target and lifted the modifiers."""

    def __init__(self, connection: Connection, keyboard: Keyboard, windows: Windows) -> None:
        self._x = connection
        self._keyboard = keyboard
        self._windows = windows

    def type(self, text: str, window_id: int, how: How) -> TypeResult:
        """Type `text` into the focused window, which must stay `window_id` all the time."""
        self._keyboard.reload()
        caps = self._keyboard.caps_lock_on()
        if caps:
            self._keyboard.toggle_caps_lock()
        spares = self._keyboard.spare_keycodes()[:-1]  # the last is `Keyboard.lift`'s
        try:
            with Pinger(self._x, window_id) as pinger:
                return self._batches(text, window_id, how, pinger, spares)
        finally:
            if caps and not self._keyboard.caps_lock_on():
                self._keyboard.toggle_caps_lock()

    def _batches(self, text: str, window_id: int, how: How, pinger: Pinger, spares: list[int]) -> TypeResult:
        layout = self._keyboard.strokes()
        typed, filled, confirmed = 0, False, False
        try:
            while typed < len(text):
                focused = self._windows.focused()
                if focused is None or focused.window_id != window_id:
                    return TypeResult(typed, False, confirmed)
                count, extra = _next_batch(text, typed, layout, len(spares))
                if count == 0:
                    return TypeResult(typed, False, confirmed)  # no spare key for what the layout lacks
                strokes = dict(layout)
                if extra:
                    placed = dict(zip(spares, extra, strict=False))
                    self._keyboard.fill(placed)
                    filled = True
                    strokes.update({keysym: Stroke(code) for code, keysym in placed.items()})
                    if not pinger.read_everything(PATIENCE_S) and pinger.can_tell:
                        return TypeResult(typed, False, confirmed)  # it hangs: later it would read other characters
                for character in text[typed : typed + count]:
                    self._tap(character, strokes, how)
                confirmed = pinger.read_everything(PATIENCE_S)
                typed += count
                if pinger.can_tell and not confirmed and typed < len(text):
                    return TypeResult(typed, False, confirmed)
            return TypeResult(typed, True, confirmed)
        finally:
            if filled:
                self._keyboard.fill(dict.fromkeys(spares, 0))

    def _tap(self, character: str, strokes: dict[int, Stroke], how: How) -> None:
        if character == "\n" and how.typed_newline:
            # the real Return key: programs do not take one from a borrowed keycode for a Return
            self._keyboard.tap_keysym(XK.XK_Return, how.typed_newline.startswith("Shift"))
            return
        if character == "\t" and how.typed_tab:
            self._keyboard.tap_keysym(XK.XK_Tab)
            return
        stroke = strokes[keysym_of(" " if character in "\n\t" else character)]
        self._keyboard.tap(stroke.keycode, stroke.shift)


def _next_batch(text: str, start: int, layout: dict[int, Stroke], n_spares: int) -> tuple[int, list[int]]:
    """How many characters can be typed with one filling of the spare keys, and which keysyms they need."""
    extra: dict[int, None] = {}
    count = 0
    for character in text[start:]:
        keysym = keysym_of(" " if character in "\n\t" else character)
        if keysym not in layout and keysym not in extra:
            if len(extra) == n_spares:
                break
            extra[keysym] = None
        count += 1
    return count, list(extra)
