"""The X11 back-end: paste with a receipt, else typing that waits for the window to keep up.

Ordinary windows get CLIPBOARD and Shift+Insert, which every layout has; terminals get PRIMARY and the same keys. The
target's own fetch of the text is the proof of delivery. Measured reasons for each choice: docs/platforms.md.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from Xlib import XK

from dictation.desktop.contract import (
    Binding,
    Capability,
    Delivery,
    Hotkeys,
    How,
    KeyEvent,
    Method,
    Outcome,
    Role,
    Target,
    elapsed_ms,
    forbidden_character,
)
from dictation.desktop.x11.accessibility import Accessibility
from dictation.desktop.x11.clipboard import Loan, LoanState, X11Clipboard
from dictation.desktop.x11.connection import Connection
from dictation.desktop.x11.hotkeys import X11Hotkeys
from dictation.desktop.x11.input_method import InputMethod, input_method
from dictation.desktop.x11.keeper import hand_over
from dictation.desktop.x11.keyboard import Keyboard, keysym_of
from dictation.desktop.x11.ping import Pinger
from dictation.desktop.x11.selections import SelectionUnreadable
from dictation.desktop.x11.typing import Typing
from dictation.desktop.x11.undo import take_back
from dictation.desktop.x11.windows import WindowInfo, Windows, as_target

# A busy page fetches late; a window that has read the keys and still not fetched by then does not paste.
RECEIPT_TIMEOUT_S = 4.0
OWN_TYPING_TAIL_S = 0.05


class X11Desktop:
    """One X server. Calls come from any thread and are taken one at a time."""

    name = "x11"
    tells_target = True

    def __init__(self, display_name: str | None = None) -> None:
        self._display_name = display_name
        self._lock = threading.RLock()
        self._x = Connection(display_name)
        self._windows = Windows(self._x)
        self._keyboard = Keyboard(self._x)
        self._typing = Typing(self._x, self._keyboard, self._windows)
        self._accessibility = Accessibility()
        self.clipboard = X11Clipboard(display_name, partial(hand_over, display_name))
        self._loan: Loan | None = None
        self._hotkeys: list[X11Hotkeys] = []
        self._never_paste: set[str] = set()  # window classes that answered but did not fetch

    def capabilities(self) -> list[Capability]:
        with self._lock:
            self._keyboard.reload()
            xtest = self._x.display.has_extension("XTEST")
            insert_key = bool(self._keyboard.keycode(XK.XK_Insert))
            spares = len(self._keyboard.spare_keycodes())
        return [
            Capability(
                "paste", xtest and insert_key, "CLIPBOARD or PRIMARY and Shift+Insert, with the fetch as receipt"
            )
            if insert_key
            else Capability("paste", False, "this layout has no Insert key", "text is typed key by key instead"),
            Capability("typing", xtest, f"XTEST, {spares} spare keys for characters that the layout lacks"),
        ]

    def target(self) -> Target | None:
        with self._lock:
            info = self._windows.focused()
            if info is None:
                return None
            if info.is_terminal or not info.pid:
                return as_target(info, Role.UNKNOWN)
            role, caret = self._accessibility.field(info.pid)
            return replace(as_target(info, role), caret=caret)

    def held_modifiers(self) -> frozenset[str]:
        with self._lock:
            self._keyboard.reload()
            return frozenset(self._keyboard.modifiers_down().values())

    def insert(self, text: str, target: Target | None, how: How = How()) -> Delivery:  # noqa: B008 - frozen
        started_s = time.monotonic()
        if forbidden_character(text):
            return self._held(text, how.method, started_s, "The text holds a control character.")
        if how.method is Method.COPY:
            self.clipboard.write_text(text)
            return Delivery(Outcome.COPIED, Method.COPY, "on the clipboard", elapsed_ms(started_s))
        with self._lock:
            info = self._windows.focused()
            if info is None:
                return self._held(text, how.method, started_s, "No window has the keyboard.")
            if target is not None and not as_target(info).same_place(target):
                return self._held(text, how.method, started_s, "Another window has the keyboard now.")
            with self._own_typing():
                self._clear_keyboard()
                delivery = self._paste_or_type(text, info, how, started_s)
            if how.submit and delivery.outcome is Outcome.DELIVERED:
                with self._own_typing():
                    self._keyboard.tap_keysym(XK.XK_Return)
                    self._x.display.sync()
            return delivery

    @contextmanager
    def _own_typing(self) -> Iterator[None]:
        """Hotkeys must not take our own keys for the person's."""
        for hotkeys in self._hotkeys:
            hotkeys.ignore_own_typing(float("inf"))
        try:
            yield
        finally:
            self._x.display.sync()
            self._x.forget_events()
            for hotkeys in self._hotkeys:
                hotkeys.ignore_own_typing(time.monotonic() + OWN_TYPING_TAIL_S)

    def _paste_or_type(self, text: str, info: WindowInfo, how: How, started_s: float) -> Delivery:
        if not text:  # a line break that is to be a Return
            return Delivery(Outcome.DELIVERED, how.method, "nothing to insert", elapsed_ms(started_s))
        class_name = info.names[-1] if info.names else ""
        wants_paste = how.method is Method.PASTE or (how.method is Method.AUTO and class_name not in self._never_paste)
        if wants_paste and self._keyboard.keycode(XK.XK_Insert):
            delivery = self._paste(text, info, how, started_s)
            if delivery is not None:
                return delivery
        between = input_method(self._x.display.get_display_name())
        if between is InputMethod.COMPOSES or (between is InputMethod.PASSES and not self._is_on_layout(text)):
            # it would lose what we type: paste instead, whatever the rule says
            may_paste = how.method is Method.TYPE and self._keyboard.keycode(XK.XK_Insert)
            delivery = self._paste(text, info, how, started_s) if may_paste else None
            if delivery is not None:
                return delivery
            if between is InputMethod.COMPOSES:
                reason = "An input method is composing, and the window does not paste."
                return self._held(text, how.method, started_s, reason)
        return self._type(text, info, how, started_s)

    def _is_on_layout(self, text: str) -> bool:
        strokes = self._keyboard.strokes()
        return all(keysym_of(character) in strokes or character in "\n\t" for character in text)

    def _paste(self, text: str, info: WindowInfo, how: How, started_s: float) -> Delivery | None:
        """Paste; None when typing is safe instead: what the clipboard holds can't be saved now, or it is sure that this
        window did not and will not take the text."""
        selection = self.clipboard.primary if info.is_terminal else self.clipboard.clipboard
        if self._loan is not None:
            # Chromium drops a paste whose clipboard changes while it is at it: two in a row keep their distance
            self._loan.over.wait(how.linger_s + RECEIPT_TIMEOUT_S)
        try:
            loan = self._loan = self.clipboard.lend(
                selection, text, self._x.client_of(info.window_id), info.pid, how.linger_s
            )
        except SelectionUnreadable:
            return None
        self.clipboard.expect(loan)
        self._keyboard.tap_keysym(XK.XK_Insert, shift=True)
        self._x.display.sync()
        if not loan.taken.wait(RECEIPT_TIMEOUT_S):
            return self._not_taken(loan, text, info, how, started_s)
        self.clipboard.settle(loan)
        return Delivery(Outcome.DELIVERED, Method.PASTE, "the window fetched the text", elapsed_ms(started_s))

    def _wait_for_loan(self) -> None:
        """Chromium drops a paste whose clipboard changes while it is at it: two in a row keep their distance."""
        if self._loan is not None and self._loan.state is LoanState.SETTLING:
            self._loan.over.wait(self._loan.linger_s + RECEIPT_TIMEOUT_S)

    def _not_taken(self, loan: Loan, text: str, info: WindowInfo, how: How, started_s: float) -> Delivery | None:
        with Pinger(self._x, info.window_id) as pinger:
            has_read_keys = pinger.read_everything()
        if loan.taken.is_set():
            self.clipboard.settle(loan)
            return Delivery(Outcome.DELIVERED, Method.PASTE, "the window fetched the text late", elapsed_ms(started_s))
        if has_read_keys and not loan.others_took and how.method is Method.AUTO:
            self.clipboard.withdraw(loan)
            self._never_paste.add(info.names[-1] if info.names else "")
            return None
        if info.is_terminal:
            self.clipboard.settle(loan)
            return self._held(text, Method.PASTE, started_s, "The window did not take the text.")
        self.clipboard.keep(loan)
        return Delivery(
            Outcome.HELD,
            Method.PASTE,
            "no fetch seen",
            elapsed_ms(started_s),
            "The window did not take the text in time.",
        )

    def _type(self, text: str, info: WindowInfo, how: How, started_s: float) -> Delivery:
        result = self._typing.type(text, info.window_id, how)
        if not result.complete:
            return self._held(
                text[result.typed :], Method.TYPE, started_s, f"Stopped after {result.typed} of {len(text)} characters."
            )
        evidence = "the window has read every key" if result.confirmed else "every key was sent"
        return Delivery(Outcome.DELIVERED, Method.TYPE, evidence, elapsed_ms(started_s))

    def _held(self, text: str, method: Method, started_s: float, reason: str) -> Delivery:
        self.clipboard.write_text(text)
        return Delivery(Outcome.HELD, method, "on the clipboard", elapsed_ms(started_s), reason)

    def take_back(self, text: str, target: Target) -> Delivery:
        started_s = time.monotonic()
        with self._lock:
            info = self._windows.focused()
            if info is None or not as_target(info).same_place(target):
                return _not_taken_back("Another window has the keyboard now.", started_s)
            if info.is_terminal:
                return _not_taken_back("What stands in a terminal can't be checked or taken back.", started_s)
            with self._own_typing():
                self._clear_keyboard()
                self._wait_for_loan()
                done = take_back(self._x, self._keyboard, self.clipboard, text, info.window_id)
        if not done:
            return _not_taken_back("The text is not right before the cursor any more.", started_s)
        return Delivery(Outcome.DELIVERED, Method.TYPE, "it was selected, compared and deleted", elapsed_ms(started_s))

    def hotkeys(self, bindings: list[Binding], on_event: Callable[[KeyEvent], None]) -> Hotkeys:
        hotkeys = X11Hotkeys(self._display_name, bindings, on_event)
        with self._lock:
            self._hotkeys = [h for h in self._hotkeys if not h.closed] + [hotkeys]
        return hotkeys

    def _clear_keyboard(self) -> None:
        """Lift what the person holds, hotkeys included: modifiers would change our keys, a grab would swallow them."""
        self._keyboard.reload()
        self._keyboard.lift([code for hotkeys in self._hotkeys for code in hotkeys.keys_down()])

    def close(self) -> None:
        self.clipboard.close()
        with self._lock:
            self._accessibility.close()
            self._x.close()


def _not_taken_back(reason: str, started_s: float) -> Delivery:
    return Delivery(Outcome.HELD, Method.TYPE, "nothing was changed", elapsed_ms(started_s), reason)
