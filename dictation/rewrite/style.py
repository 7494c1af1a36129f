"""How the text looks: numbers, letter case, the final stop, and the space that joins it to what stands before it."""

from __future__ import annotations

import re
from typing import Literal

import text_to_num

Casing = Literal["as_recognised", "lower_case", "upper_case"]

NUMBER_LANGUAGES = frozenset({"en", "fr", "es", "pt", "de", "nl", "it"})
_CLOSING = frozenset(".,;:!?%)]}»”’…。，、！？：；）】」』")
_OPENING = frozenset("([{«“‘¿¡/\\@#-—–_\u00a0（【「『")
# Scripts that are written without spaces between words.
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")


def apply_numbers(text: str, language: str) -> str:
    """Number words as digits ("twenty-five" -> "25"); a lone one, two or three stays a word."""
    if language not in NUMBER_LANGUAGES:
        return text
    lines = text.split("\n")
    return "\n".join(str(text_to_num.alpha2digit(line, language)) if line.strip() else line for line in lines)


def apply_casing(text: str, casing: Casing, final_stop: bool) -> str:
    """Letter case as wanted; without `final_stop`, a text of one sentence loses its full stop."""
    if casing == "lower_case":
        text = text.lower()
    elif casing == "upper_case":
        text = text.upper()
    if not final_stop and re.fullmatch(r"[^.!?。！？\n]+[.。]", text):
        text = text[:-1]
    return text


def leading_space(text: str, previous: str | None) -> str:
    """The space wanted between the insertion before this one and this text: one or none."""
    if not previous or not text:
        return ""
    last, first = previous[-1], text[0]
    if last.isspace() or first.isspace() or last in _OPENING or first in _CLOSING:
        return ""
    return "" if _UNSPACED.match(last) or _UNSPACED.match(first) else " "
