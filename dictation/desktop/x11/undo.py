"""Taking an insertion back on X11, only when it is seen to be there: select as much before the caret, compare, delete.

A selection made with Shift+Left shows up as the primary selection, which any program may read; Qt's does not, and is
copied with Ctrl+Insert instead. If it is not the inserted text, the selection is dropped and nothing has changed.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import regex
from Xlib import XK

from dictation.desktop.x11.clipboard import X11Clipboard
from dictation.desktop.x11.connection import Connection
from dictation.desktop.x11.keyboard import Keyboard
from dictation.desktop.x11.ping import Pinger

LONGEST = 5000
CORRECTIONS = 40
SELECTION_TIMEOUT_S = 0.25
POLL_S = 0.02


def take_back(x: Connection, keyboard: Keyboard, clipboard: X11Clipboard, text: str, window_id: int) -> bool:
    """Delete `text` if it stands right before the caret of the focused window; False when it does not."""
    if len(text) > LONGEST:
        return False
    primary, copied = clipboard.save(clipboard.primary), clipboard.save(clipboard.clipboard)
    keyboard.reload()
    try:
        with Pinger(x, window_id) as pinger:
            _extend(keyboard, XK.XK_Left, len(regex.findall(r"\X", text)))
            found = _matches(keyboard, pinger, text, clipboard.read_primary) or _matches(
                keyboard, pinger, text, lambda: _copy(keyboard, pinger, clipboard)
            )
            # Right drops the selection and puts the caret where it was
            keyboard.tap_keysym(XK.XK_BackSpace if found else XK.XK_Right)
            pinger.read_everything()
            return found
    finally:
        clipboard.restore(clipboard.primary, primary)
        clipboard.restore(clipboard.clipboard, copied)


def _matches(keyboard: Keyboard, pinger: Pinger, text: str, read: Callable[[], str | None]) -> bool:
    """Whether the selection is `text`, after growing or shrinking it where the program counts characters otherwise."""
    for _ in range(CORRECTIONS):
        pinger.read_everything()
        selected = _wait_for(text, read)
        if selected == text:
            return True
        if selected and text.endswith(selected):
            _extend(keyboard, XK.XK_Left, 1)
        elif selected.endswith(text):
            _extend(keyboard, XK.XK_Right, 1)
        else:
            return False
    return False


def _copy(keyboard: Keyboard, pinger: Pinger, clipboard: X11Clipboard) -> str | None:
    """Copy the selection. The clipboard is emptied first, so that what is read is nobody else's."""
    clipboard.write_text("", secret=True)
    control = keyboard.keycode(XK.XK_Control_L)
    keyboard.press(control)
    keyboard.tap_keysym(XK.XK_Insert)
    keyboard.release(control)
    pinger.read_everything()
    return clipboard.read_text()


def _extend(keyboard: Keyboard, keysym: int, count: int) -> None:
    shift = keyboard.keycode(XK.XK_Shift_L)
    keyboard.press(shift)
    for _ in range(count):
        keyboard.tap_keysym(keysym)
    keyboard.release(shift)


def _wait_for(expected: str, read: Callable[[], str | None]) -> str:
    """What is selected, giving the window a moment to announce it."""
    deadline = time.monotonic() + SELECTION_TIMEOUT_S
    while True:
        selected = read() or ""
        if selected == expected or time.monotonic() > deadline:
            return selected
        time.sleep(POLL_S)
