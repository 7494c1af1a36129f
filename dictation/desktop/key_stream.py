"""Hotkeys out of a stream of plain key events (macOS, Windows, evdev): one press and one release per hold.

A back-end (`StreamHotkeys`) feeds what its system tells, key by key, and says where each binding lies on its keyboard.
A release that got lost is found by asking for the key's real state.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from dictation.desktop.contract import Binding, HotkeyError, KeyAction, KeyEvent
from dictation.desktop.keys import Chord, parse

WATCH_S = 1.0


@dataclass
class Bound:
    """A binding with the keys of this keyboard that may be it."""

    binding: Binding
    chord: Chord
    keys: frozenset[int]
    down: bool = False
    told_other: bool = False


class KeyStream:
    """Bindings over a stream of keys. `feed` and `release_lost` may come from any thread."""

    def __init__(self, on_event: Callable[[KeyEvent], None], place: Callable[[Chord, str], frozenset[int]]) -> None:
        """place: the keys that a combination may be, of this keyboard; raises HotkeyError with a sentence."""
        self._on_event = on_event
        self._place = place
        self._lock = threading.RLock()
        self._bound: list[Bound] = []
        self.refused: dict[str, str] = {}

    def bind(self, bindings: list[Binding]) -> None:
        """Replace the bindings; those that stay are not interrupted."""
        with self._lock:
            before = {bound.binding: bound for bound in self._bound}
            self._bound, self.refused = [], {}
            for binding in bindings:
                try:
                    chord = parse(binding.keys)
                    self._bound.append(before.get(binding) or Bound(binding, chord, self._place(chord, binding.keys)))
                except HotkeyError as failure:
                    self.refused[binding.action] = str(failure)

    @property
    def any_down(self) -> bool:
        with self._lock:
            return any(bound.down for bound in self._bound)

    def feed(self, key: int, down: bool, modifiers: frozenset[str], repeat: bool = False) -> bool:
        """One key went down or up, with these modifiers held; whether it belongs to a combination of ours, which the
        program in front should not get. A modifier alone is never kept from it: it is part of its shortcuts."""
        with self._lock:
            ours = False
            for bound in self._bound:
                if bound.chord.is_bare_modifier:
                    if key in bound.keys:
                        self._set_down(bound, down)
                    elif down:
                        self._other(bound)
                elif key in bound.keys:
                    ours = self._key_of(bound, down, modifiers, repeat) or ours
            return ours

    def _key_of(self, bound: Bound, down: bool, modifiers: frozenset[str], repeat: bool) -> bool:
        if not down:  # the modifiers may have gone first: only the key counts
            was_down = bound.down
            self._set_down(bound, False)
            return was_down
        fits = bound.binding.any_modifiers or modifiers == bound.chord.modifiers
        if not bound.down and (repeat or not fits):
            return False
        self._set_down(bound, True)
        return True

    def button(self) -> None:
        """A mouse button went down: a modifier that is held belongs to it."""
        with self._lock:
            for bound in self._bound:
                if bound.chord.is_bare_modifier:
                    self._other(bound)

    def release_lost(self, is_down: Callable[[int], bool]) -> None:
        """End the holds whose keys are up in truth."""
        with self._lock:
            for bound in self._bound:
                if bound.down and not any(is_down(key) for key in bound.keys):
                    self._set_down(bound, False)

    def _set_down(self, bound: Bound, down: bool) -> None:
        if bound.down != down:
            bound.down, bound.told_other = down, False
            self._tell(bound, KeyAction.PRESS if down else KeyAction.RELEASE)

    def _other(self, bound: Bound) -> None:
        if bound.down and not bound.told_other:
            bound.told_other = True
            self._tell(bound, KeyAction.OTHER)

    def _tell(self, bound: Bound, kind: KeyAction) -> None:
        self._on_event(KeyEvent(bound.binding.action, kind, time.monotonic()))


class StreamHotkeys:
    """`Hotkeys` over a stream of keys: a subclass listens, and says where combinations lie."""

    def __init__(self, bindings: list[Binding], on_event: Callable[[KeyEvent], None]) -> None:
        self._stream = KeyStream(on_event, self._place)
        self._stream.bind(bindings)
        self._closed = False

    @property
    def refused(self) -> dict[str, str]:
        return self._stream.refused

    def bind(self, bindings: list[Binding]) -> None:
        self._stream.bind(bindings)

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._stop_listening()

    def _place(self, chord: Chord, keys: str) -> frozenset[int]:
        """The keys that a combination may be; raises HotkeyError."""
        raise NotImplementedError

    def _stop_listening(self) -> None:
        raise NotImplementedError


class ReleaseWatch:
    """Looks for lost releases while a key is held; sleeps at all other times."""

    def __init__(self, stream: KeyStream, is_down: Callable[[int], bool]) -> None:
        self._stream = stream
        self._is_down = is_down
        self._wake = threading.Event()
        self._closing = threading.Event()
        threading.Thread(target=self._run, name="hotkey-watch", daemon=True).start()

    def look(self) -> None:
        """A key may have gone down."""
        if self._stream.any_down:
            self._wake.set()

    def close(self) -> None:
        self._closing.set()
        self._wake.set()

    def _run(self) -> None:
        while not self._closing.is_set():
            self._wake.wait()
            self._wake.clear()
            while self._stream.any_down and not self._closing.wait(WATCH_S):
                self._stream.release_lost(self._is_down)
