"""The keyboard as X11 sees it: which keys make which characters, which modifiers are down, keys pressed by XTEST."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from Xlib import XK, X
from Xlib.ext import xtest

from dictation.desktop.x11.connection import Connection

XK.load_keysym_group("xf86")
XK.load_keysym_group("xkb")

# evdev's everyday keys lie below; above are media keys, whose neighbours may be rewritten without losing their types
FIRST_RARE_KEYCODE = 149
ENOUGH_SPARES = 8
MODIFIER_NAMES = {
    "Control_L": "Ctrl",
    "Control_R": "Ctrl",
    "Shift_L": "Shift",
    "Shift_R": "Shift",
    "Alt_L": "Alt",
    "Alt_R": "Alt",
    "Meta_L": "Alt",
    "Meta_R": "Alt",
    "Super_L": "Super",
    "Super_R": "Super",
    "Hyper_L": "Super",
    "Hyper_R": "Super",
    "ISO_Level3_Shift": "AltGr",
    "Mode_switch": "AltGr",
    "ISO_Level5_Shift": "AltGr",
}
MODIFIERS = {XK.string_to_keysym(name): label for name, label in MODIFIER_NAMES.items()}
LEGACY_CONTROLS = {"\n": XK.XK_Return, "\t": XK.XK_Tab}


def keysym_of(character: str) -> int:
    """The keysym of a character: Latin-1 stands for itself, the rest is Unicode's range."""
    code = ord(character)
    if character in LEGACY_CONTROLS:
        return int(LEGACY_CONTROLS[character])
    return code if 0x20 <= code <= 0x7E or 0xA0 <= code <= 0xFF else 0x01000000 | code


@dataclass(frozen=True)
class Stroke:
    """One key to press for a character."""

    keycode: int
    shift: bool = False


class Keyboard:
    """Presses keys on the XTEST keyboard and knows the layout. One thread at a time."""

    def __init__(self, connection: Connection) -> None:
        self._x = connection
        self._display = connection.display
        self.reload()

    def reload(self) -> None:
        """Read the layout afresh; cheap, and the user may have switched it since the last time."""
        info = self._display.display.info
        self.first = int(info.min_keycode)
        self.rows = [
            list(row) for row in self._display.get_keyboard_mapping(self.first, info.max_keycode - self.first + 1)
        ]
        self.modifier_rows = [list(row) for row in self._display.get_modifier_mapping()]

    # what is where

    def keycode(self, keysym: int) -> int:
        """A key that gives this keysym in any group or level, lowest level first; 0 if none."""
        best = (99, 0)
        for i, row in enumerate(self.rows):
            if keysym in row:
                best = min(best, (row.index(keysym), self.first + i))
        return best[1]

    def spare_keycodes(self) -> list[int]:
        """Keys with nothing on them, of the rare ones if there are enough."""
        spare = [self.first + i for i, row in enumerate(self.rows) if not any(row)]
        rare = [code for code in spare if code >= FIRST_RARE_KEYCODE]
        return rare if len(rare) >= ENOUGH_SPARES else spare

    def strokes(self) -> dict[int, Stroke]:
        """Keysym -> key, for what the active layout gives without or with Shift."""
        column = 2 * self.group()
        found: dict[int, Stroke] = {}
        for i, row in enumerate(self.rows):
            for level in (1, 0):
                if column + level < len(row) and row[column + level]:
                    stroke = Stroke(self.first + i, level == 1)
                    held = found.get(row[column + level])
                    if held is None or (held.shift and not stroke.shift):
                        found[row[column + level]] = stroke
        return found

    def group(self) -> int:
        """The layout in use now, of those that are set up; it travels in bits 13 and 14 of the key state."""
        return (int(self._x.root.query_pointer().mask) >> 13) & 3

    def lock_masks(self) -> list[int]:
        """Every combination of Caps, Num and Scroll Lock as modifier masks, none included."""
        locks = [X.LockMask]
        for keysym in (XK.XK_Num_Lock, XK.XK_Scroll_Lock):
            mask = self.mask_of(keysym)
            if mask and mask not in locks:
                locks.append(mask)
        masks = [0]
        for lock in locks:
            masks += [mask | lock for mask in masks]
        return masks

    def mask_of(self, keysym: int) -> int:
        """The modifier bit that a modifier's keysym drives on this layout; 0 if none."""
        for bit, row in enumerate(self.modifier_rows):
            for code in row:
                if code and keysym in self.rows[code - self.first]:
                    return 1 << bit
        return 0

    # what is down

    def keys_down(self) -> list[int]:
        bits = self._display.query_keymap()
        return [8 * i + bit for i, byte in enumerate(bits) for bit in range(8) if byte >> bit & 1]

    def modifiers_down(self) -> dict[int, str]:
        """Keycode -> name for every modifier key that is down now (locks are not among them)."""
        down = {}
        for code in self.keys_down():
            if code < self.first:
                continue
            names = [MODIFIERS[k] for k in self.rows[code - self.first] if k in MODIFIERS]
            if names:
                down[code] = names[0]
        return down

    def caps_lock_on(self) -> bool:
        return bool(self._x.root.query_pointer().mask & X.LockMask)

    # pressing

    def press(self, keycode: int) -> None:
        xtest.fake_input(self._display, X.KeyPress, keycode)

    def release(self, keycode: int) -> None:
        xtest.fake_input(self._display, X.KeyRelease, keycode)

    def tap(self, keycode: int, shift: bool = False) -> None:
        shift_code = self.keycode(XK.XK_Shift_L) if shift else 0
        if shift_code:
            self.press(shift_code)
        self.press(keycode)
        self.release(keycode)
        if shift_code:
            self.release(shift_code)

    def tap_keysym(self, keysym: int, shift: bool = False) -> bool:
        code = self.keycode(keysym)
        if code:
            self.tap(code, shift)
        return bool(code)

    def lift(self, others: list[int]) -> list[str]:
        """Release every modifier that is down and the `others`, whoever holds them, and never press them again: a
        second press would stay stuck if the person has let go meanwhile."""
        down = self.modifiers_down()
        if any(name in ("Alt", "Super") for name in down.values()):
            # Alt or Super going up alone opens a menu or an overview; a key without meaning in between prevents it
            spares = self.spare_keycodes()
            if spares:
                self.tap(
                    spares[-1]
                )  # never filled by typing: a window that reads it late must still find nothing on it
        for code in {*down, *others}:
            self.release(code)
        self._display.sync()
        return sorted(set(down.values()))

    def toggle_caps_lock(self) -> None:
        self.tap_keysym(XK.XK_Caps_Lock)
        self._display.sync()

    def fill(self, keysyms: dict[int, int]) -> None:
        """Put keysyms on spare keycodes in one request: several would make every client re-read its map as often."""
        if not keysyms:
            return
        low, high = min(keysyms), max(keysyms)
        width = len(self.rows[0])
        rows: list[Any] = []
        for code in range(low, high + 1):
            keysym = keysyms.get(code)
            # the same on every level and in every group, so that neither Shift nor the layout in use matters
            rows.append(self.rows[code - self.first] if keysym is None else [keysym] * min(4, width))
        rows = [row + [0] * (width - len(row)) for row in rows]
        self._display.change_keyboard_mapping(low, rows)
        self._display.sync()
