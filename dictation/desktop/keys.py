"""Key combinations as people write them: "F9", "Ctrl+Alt+Space", "Right Ctrl". Every back-end translates from here."""

from __future__ import annotations

from dataclasses import dataclass

from dictation.desktop.contract import HotkeyError

MODIFIER_ORDER = ("Ctrl", "Alt", "Shift", "Super")
_MODIFIER_WORDS = {
    "ctrl": "Ctrl",
    "control": "Ctrl",
    "alt": "Alt",
    "option": "Alt",
    "shift": "Shift",
    "super": "Super",
    "win": "Super",
    "cmd": "Super",
    "command": "Super",
    "meta": "Super",
}
_KEY_WORDS = {
    "space": "Space",
    "escape": "Escape",
    "esc": "Escape",
    "return": "Return",
    "enter": "Return",
    "tab": "Tab",
    "backspace": "BackSpace",
    "delete": "Delete",
    "insert": "Insert",
    "home": "Home",
    "end": "End",
    "page up": "Page_Up",
    "page down": "Page_Down",
    "up": "Up",
    "down": "Down",
    "left": "Left",
    "right": "Right",
    "pause": "Pause",
    "print": "Print",
    "menu": "Menu",
    "scroll lock": "Scroll_Lock",
    "caps lock": "Caps_Lock",
    "fn": "Fn",
    "altgr": "AltGr",
    "plus": "plus",
    "minus": "minus",
    "comma": "comma",
    "period": "period",
    "grave": "grave",
    "`": "grave",
    "-": "minus",
    "=": "equal",
    ",": "comma",
    ".": "period",
    "/": "slash",
    ";": "semicolon",
    "'": "apostrophe",
    "\\": "backslash",
    "[": "bracketleft",
    "]": "bracketright",
}
BARE_MODIFIERS = {f"{side} {name}": (side, name) for side in ("Left", "Right") for name in MODIFIER_ORDER}


@dataclass(frozen=True)
class Chord:
    """A combination. `key` is a name of `_KEY_WORDS`, a single character or F1 to F24.

    A modifier alone has `key` "" and `side` "Left" or "Right"; "AltGr" and "Fn" alone are keys of their own.
    """

    modifiers: frozenset[str]
    key: str = ""
    side: str = ""

    @property
    def is_bare_modifier(self) -> bool:
        return not self.key or self.key in ("AltGr", "Fn")

    def __str__(self) -> str:
        if self.side:
            return f"{self.side} {next(iter(self.modifiers))}"
        names = [name for name in MODIFIER_ORDER if name in self.modifiers]
        return "+".join([*names, self.key.replace("_", " ")])


def parse(keys: str) -> Chord:
    """A combination from text. Raises HotkeyError with a sentence when it can't be one."""
    text = " ".join(keys.split())
    title = text.title()
    if title in BARE_MODIFIERS:
        side, name = BARE_MODIFIERS[title]
        return Chord(frozenset({name}), "", side)
    words = [word.strip() for word in text.split("+")]
    if text.endswith("++") or text == "+":
        words = [word for word in words[:-2] if word] + ["plus"]
    if not text or not all(words):
        raise HotkeyError(f"{keys!r} is no key combination. Write it like F9, Right Ctrl or Ctrl+Alt+Space.")
    modifiers = set()
    for word in words[:-1]:
        modifier = _MODIFIER_WORDS.get(word.lower())
        if modifier is None:
            raise HotkeyError(f"{word!r} in {keys!r} is no modifier; there are Ctrl, Alt, Shift and Super.")
        modifiers.add(modifier)
    return Chord(frozenset(modifiers), _key(words[-1], keys))


def _key(word: str, keys: str) -> str:
    lower = word.lower().replace("_", " ")
    if lower in _MODIFIER_WORDS:
        raise HotkeyError(f"{keys!r} has modifiers only. For a modifier alone say which: Right Ctrl, Left Alt.")
    if lower in _KEY_WORDS:
        return _KEY_WORDS[lower]
    if lower[:1] == "f" and lower[1:].isdigit() and 1 <= int(lower[1:]) <= 24:
        return lower.upper()
    if len(word) == 1 and word.isprintable():
        return word.lower()
    raise HotkeyError(f"There is no key {word!r}. Write it like F9, Right Ctrl or Ctrl+Alt+Space.")
