"""Typing into the focused X11 window key by key, for windows that do not paste.

Characters that no key of the layout gives go through spare keycodes. A client reads the key map as it is when it gets
to it, not as it was when the key was pressed; so a keycode is filled, waited for, used, and waited for again before it
is used for another character. The wait is a `_NET_WM_PING`: the window answers when it has read all before it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from Xlib import XK, X
from Xlib.protocol import event as xevent

from dictation.desktop.contract import How
from dictation.desktop.x11.connection import Connection
from dictation.desktop.x11.keyboard import Keyboard, Stroke, keysym_of
from dictation.desktop.x11.windows import Windows

PING_TIMEOUT_S = 2.0
NO_PING_SETTLE_S = 0.15


@dataclass(frozen=True)
class TypeResult:
    """`typed` counts characters that were sent before the window changed, if it did; `confirmed`: the window said that
    it has read the last key."""

    typed: int
    complete: bool
    confirmed: bool


class Pinger:
    """Asks a window whether it has read everything sent to it so far. Use as a context manager."""

    def __init__(self, connection: Connection, window_id: int) -> None:
        self._x = connection
        self._window = connection.display.create_resource_object("window", window_id)
        self.supported = Windows(connection).answers_ping(window_id)
        self._count = 0

    def __enter__(self) -> Pinger:
        # GTK, VTE and Chromium answer by the substructure mask, Qt by the structure mask
        self._x.root.change_attributes(event_mask=X.SubstructureNotifyMask | X.StructureNotifyMask)
        return self

    def __exit__(self, *_: object) -> None:
        self._x.root.change_attributes(event_mask=X.NoEventMask)
        self._x.display.sync()
        self._x.forget_events()

    def read_everything(self, timeout_s: float = PING_TIMEOUT_S) -> bool:
        """Wait until the window has read all events so far; False if it can't tell or doesn't answer."""
        self._x.display.sync()
        if not self.supported:
            time.sleep(min(NO_PING_SETTLE_S, timeout_s))  # nothing can be awaited: xterm and the like
            return False
        self._count += 1
        protocols, ping = self._x.atom("WM_PROTOCOLS"), self._x.atom("_NET_WM_PING")
        # Qt takes the time of a ping as that of an event, so it must be a true one
        data = [ping, self._x.server_time(), self._window.id, self._count, 0]
        message = xevent.ClientMessage(window=self._window, client_type=protocols, data=(32, data))
        self._window.send_event(message)
        self._x.display.flush()
        answer = self._x.wait_for(self._is_answer, timeout_s)
        self._x.kept_events()
        return answer is not None

    def _is_answer(self, event: Any) -> bool:
        return bool(
            event.type == X.ClientMessage
            and event.client_type == self._x.atom("WM_PROTOCOLS")
            and event.data[0] == 32
            and event.data[1][0] == self._x.atom("_NET_WM_PING")
            and event.data[1][2] == self._window.id
            and event.data[1][3] == self._count
            and event.window == self._x.root
        )


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
                    pinger.read_everything()
                for character in text[typed : typed + count]:
                    self._tap(character, strokes, how)
                confirmed = pinger.read_everything()
                typed += count
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
