"""Where two texts differ, word by word. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from difflib import SequenceMatcher

_WORD = re.compile(r"\S+\s*|\s+")


@dataclass(frozen=True)
class Piece:
    """A stretch of one of the texts. The pieces of a text, joined, are the text."""

    text: str = field(repr=False)
    differs: bool


def differences(first: str, second: str) -> tuple[list[Piece], list[Piece]]:
    """Both texts in pieces, marked where the other one has something else, or nothing."""
    words: tuple[list[str], list[str]] = (_WORD.findall(first), _WORD.findall(second))
    here, there = ([word.strip() for word in side] for side in words)
    pieces: tuple[list[Piece], list[Piece]] = ([], [])
    for kind, a, b, c, d in SequenceMatcher(None, here, there, autojunk=False).get_opcodes():
        for side, text in enumerate(("".join(words[0][a:b]), "".join(words[1][c:d]))):
            if text:
                pieces[side].append(Piece(text, kind != "equal"))
    return pieces
