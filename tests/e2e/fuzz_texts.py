"""Texts that no program should act on: random Unicode mixed with control characters and words of line protocols."""

from __future__ import annotations

import random
import unicodedata

PROTOCOL_WORDS = (
    "key ctrl+alt+Delete\nclick 1\n",
    "type x\nkeydown shift",
    "-k Return -M ctrl",
    "--help",
    "-",
    "\x1b]52;c;aGVsbG8=\x07",
    "\x1b[200~ls\x1b[201~",
    "\\n\\t\\x1b",
    "$(touch /tmp/x) `id` ; rm -rf ~",
    "%s%n {0} ${HOME}",
    "\u202ereversed\u202c",
    "\u2066isolated\u2069",
    "a\u200b\u200d\ufeffb",
    "\ud83d",
    "a\x00b",
    "line one\r\nline two",
    "\x7f\x08\x08",
    "\x9b31m",
)
# what a program may well drop or change on its own account: unassigned, private and newline-like characters
LEFT_ALONE = {"Cn", "Co", "Zl", "Zp"}


def fuzz_texts(count: int, seed: int) -> list[str]:
    """The protocol words, then random texts that mix them with characters of every plane."""
    chance = random.Random(seed)
    texts = list(PROTOCOL_WORDS)
    while len(texts) < count:
        parts = [_character(chance) for _ in range(chance.randint(1, 40))]
        if chance.random() < 0.3:
            parts.insert(chance.randrange(len(parts)), chance.choice(PROTOCOL_WORDS))
        texts.append("".join(parts))
    return texts


def _character(chance: random.Random) -> str:
    while True:
        limit = chance.choice((0x80, 0x250, 0x3000, 0x10000, 0x20000))
        character = chr(chance.randrange(0x20, limit))
        if unicodedata.category(character) not in LEFT_ALONE:
            return character
