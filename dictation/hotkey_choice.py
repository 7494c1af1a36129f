"""Which keys make a good hotkey, and why the others do not. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from dictation.desktop.contract import HotkeyError
from dictation.desktop.keys import Chord, parse

_TYPING = ("Return", "Tab", "BackSpace", "Delete", "Home", "End", "Page_Up", "Page_Down", "Up", "Down", "Left", "Right")
_SHORTCUTS = {
    "Ctrl+C": "copies",
    "Ctrl+X": "cuts",
    "Ctrl+V": "pastes",
    "Ctrl+Z": "undoes",
    "Ctrl+Y": "repeats",
    "Ctrl+A": "selects everything",
    "Ctrl+S": "saves",
    "Ctrl+F": "searches",
    "Ctrl+P": "prints",
    "Ctrl+N": "opens something new",
    "Ctrl+O": "opens a file",
    "Ctrl+T": "opens a tab",
    "Ctrl+W": "closes a tab",
    "Ctrl+Q": "quits the program",
    "Alt+F4": "closes the window",
    "Alt+Tab": "switches windows",
    "Ctrl+Tab": "switches tabs",
}


def why_not(keys: str, others: Mapping[str, str] | None = None, while_dictating: bool = False) -> str:
    """The reason why `keys` makes a bad hotkey, as a sentence that says what to take instead; "" when it is good.

    others: what the other hotkeys do, and their keys. while_dictating: bound only then, so that typing keys are free.
    """
    try:
        chord = parse(keys)
    except HotkeyError as error:
        return str(error)
    for label, taken in (others or {}).items():
        if taken and _same(chord, taken):
            return f"{keys} is already taken by “{label}”. Choose another key, or change that one first."
    if while_dictating:
        return ""
    return _alone(chord, keys) or _with_modifiers(chord, keys)


def _same(chord: Chord, keys: str) -> bool:
    try:
        return parse(keys) == chord
    except HotkeyError:
        return False


def _alone(chord: Chord, keys: str) -> str:
    if chord.side:
        if chord.modifiers == {"Shift"}:
            return "Shift alone is needed for capital letters. Right Ctrl or a function key works well."
        if chord.modifiers == {"Super"}:
            return f"{keys} opens the menu of many desktops. Right Ctrl or a function key works well."
        return ""
    if chord.modifiers - {"Shift"}:
        return ""
    if chord.key == "Space" or len(chord.key) == 1 or chord.key[0].islower():
        return f"{keys} types into the text. Add Ctrl or Alt, or take a function key."
    if chord.key == "Caps_Lock":
        return "Caps Lock switches capital letters. Right Ctrl or a function key works well."
    if chord.key == "Escape":
        return "Escape closes dialogs and menus in other programs. Add Ctrl or Alt, or take a function key."
    if chord.key in _TYPING:
        return f"{keys} is needed for writing. Add Ctrl or Alt, or take a function key."
    return ""


def _with_modifiers(chord: Chord, keys: str) -> str:
    for shortcut, does in _SHORTCUTS.items():
        if parse(shortcut) == chord:
            return f"{keys} {does} in nearly every program. Add Alt or Shift, or take a function key."
    return ""
