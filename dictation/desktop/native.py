"""What the Mac's and Windows' back-ends have in common: paste through a promise that tells when it was fetched, typing,
everything that stands against either, and hotkeys. What the system does lies in a subclass and its calls.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from dictation.desktop.contract import (
    Binding,
    Clipboard,
    Delivery,
    HotkeyError,
    How,
    KeyEvent,
    Method,
    Outcome,
    Target,
    elapsed_ms,
    forbidden_character,
)
from dictation.desktop.key_stream import ReleaseWatch, StreamHotkeys
from dictation.desktop.keys import Chord

RECEIPT_TIMEOUT_S = 2.0


class Promise(Protocol):
    """Text on the clipboard that is handed over when somebody asks for it."""

    def wait_taken(self, timeout_s: float) -> bool:
        """Wait until the text was fetched."""
        ...

    def give_back(self, after_s: float) -> None:
        """Put the old contents back, unless the clipboard has changed meanwhile."""
        ...

    def keep(self) -> None:
        """Leave the text there."""
        ...


class NativeCalls(Clipboard, Protocol):
    """What both systems are asked for."""

    def promise_text(self, text: str) -> Promise:
        """Offer text, marked so that clipboard histories leave it out."""
        ...

    def key_is_down(self, key: int) -> bool: ...
    def key_for(self, character: str) -> int | None:
        """The key that gives a character in the active layout without modifiers."""
        ...

    def on_wake(self, rearm: Callable[[], None]) -> None:
        """Call `rearm` after sleep, unlock and, where there is such a thing, a switch of users."""
        ...


class NativeDesktop:
    """`Desktop.insert` and `take_back`; a subclass presses the keys."""

    tells_target = True
    system = ""  # its name in sentences

    def __init__(self, calls: NativeCalls) -> None:
        self._native = calls
        self.clipboard: Clipboard = calls

    # the system's part

    def target(self) -> Target | None:
        raise NotImplementedError

    def _refusal(self) -> str:
        """Why this system would not let us type now; "" when it would."""
        return ""

    def _clear_keyboard(self) -> None:
        """Lift what the person holds, and never press it again."""

    def _press_paste(self) -> bool:
        raise NotImplementedError

    def _press_return(self, shift: bool = False) -> None:
        raise NotImplementedError

    def _type_line(self, line: str) -> str:
        """Type text without line breaks; why it did not get through, or ""."""
        raise NotImplementedError

    # what is common

    def insert(self, text: str, target: Target | None, how: How = How()) -> Delivery:  # noqa: B008 - frozen
        started_s = time.monotonic()
        reason = self._objection(text, target)
        if reason:
            return self._held(text, how.method, started_s, reason)
        if how.method is Method.COPY:
            self.clipboard.write_text(text)
            return Delivery(Outcome.COPIED, Method.COPY, "on the clipboard", elapsed_ms(started_s))
        self._clear_keyboard()
        delivery = self._type(text, how, started_s) if how.method is Method.TYPE else self._paste(text, how, started_s)
        if how.submit and delivery.outcome is Outcome.DELIVERED:
            self._press_return()
        return delivery

    def _objection(self, text: str, target: Target | None) -> str:
        if forbidden_character(text):
            return "The text holds a control character."
        if refusal := self._refusal():
            return refusal
        now = self.target()
        if now is None:
            return "No window has the keyboard."
        if target is not None and not target.same_place(now):
            return "Another window has the keyboard now."
        return ""

    def _paste(self, text: str, how: How, started_s: float) -> Delivery:
        if not text:
            return Delivery(Outcome.DELIVERED, Method.PASTE, "nothing to insert", elapsed_ms(started_s))
        promise = self._native.promise_text(text)
        pressed = self._press_paste()
        if not pressed or not promise.wait_taken(RECEIPT_TIMEOUT_S):
            promise.keep()
            reason = "The window did not take the text in time." if pressed else f"{self.system} let no key through."
            return Delivery(Outcome.HELD, Method.PASTE, "no fetch seen", elapsed_ms(started_s), reason)
        promise.give_back(how.linger_s)
        return Delivery(
            Outcome.DELIVERED, Method.PASTE, "the text was fetched from the clipboard", elapsed_ms(started_s)
        )

    def _type(self, text: str, how: How, started_s: float) -> Delivery:
        text = text.replace("\t", " ")
        for i, line in enumerate(text.split("\n") if how.typed_newline else [text.replace("\n", " ")]):
            if i:
                self._press_return(how.typed_newline.startswith("Shift"))
            if reason := self._type_line(line):
                return self._held(text, Method.TYPE, started_s, reason)
        return Delivery(Outcome.DELIVERED, Method.TYPE, "every key was sent", elapsed_ms(started_s))

    def _held(self, text: str, method: Method, started_s: float, reason: str) -> Delivery:
        self.clipboard.write_text(text)
        return Delivery(Outcome.HELD, method, "on the clipboard", elapsed_ms(started_s), reason)

    def take_back(self, text: str, target: Target) -> Delivery:
        reason = f"Sayso can't check on {self.system} whether the text is still there; use the program's own undo."
        return Delivery(Outcome.HELD, Method.AUTO, "nothing was changed", 0.0, reason)

    def close(self) -> None:
        pass


class NativeHotkeys(StreamHotkeys):
    """Hotkeys of a system that hands over every key, loses a release now and then, and stops after sleep or unlock."""

    def __init__(self, calls: NativeCalls, bindings: list[Binding], on_event: Callable[[KeyEvent], None]) -> None:
        self._native = calls
        super().__init__(bindings, on_event)
        self._listen()
        self._watch = ReleaseWatch(self._stream, calls.key_is_down)
        calls.on_wake(self.rearm)

    # the system's part

    def _listen(self) -> None:
        """Begin to listen. Raises HotkeyError where the system does not allow it."""
        raise NotImplementedError

    def _listen_again(self) -> None:
        """The system may have stopped telling: begin anew, and end the holds that are over."""
        raise NotImplementedError

    def _own_key(self, chord: Chord) -> int | None:
        """The key of a combination where no layout has a say in it; else None."""
        raise NotImplementedError

    # what is common

    def rearm(self) -> None:
        if not self._closed:
            self._listen_again()

    def close(self) -> None:
        if not self._closed:
            self._watch.close()
        super().close()

    def _feed(self, key: int, down: bool, modifiers: frozenset[str], repeat: bool) -> bool:
        """One key, on the system's thread; True keeps it from the program."""
        ours = self._stream.feed(key, down, modifiers, repeat)
        self._watch.look()
        return ours

    def _place(self, chord: Chord, keys: str) -> frozenset[int]:
        key = self._own_key(chord)
        if key is None and len(chord.key) == 1:
            key = self._native.key_for(chord.key)
        if key is None:
            raise HotkeyError(f"This keyboard has no key for {keys}; choose another in the settings.")
        return frozenset({key})
