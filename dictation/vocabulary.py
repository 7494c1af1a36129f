"""The user's own words: names and terms that Whisper is told of before it listens, within its prompt budget.

Whisper reads at most 223 prompt tokens and is swayed most by the last ones. So the terms stand in the order of their
last use, longest-unused first: these are the first to give way when the budget is spent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

PROMPT_TOKENS = 223  # 448 / 2 - 1, Whisper's own limit


@dataclass(frozen=True)
class Term:
    text: str
    last_used_s: float = 0.0  # seconds since 1970; 0: not yet


def prompt(terms: Iterable[Term], count_tokens: Callable[[str], int], budget: int = PROMPT_TOKENS) -> str:
    """The prompt that carries as many terms as fit, the longest-unused dropped first; "" when there is none.

    count_tokens: tokens of a text as Whisper's tokenizer makes them, leading space included.
    """
    kept: list[str] = []
    seen: set[str] = set()
    for term in sorted(terms, key=lambda term: term.last_used_s, reverse=True):
        text = " ".join(term.text.split()).strip(" ,.;")
        if not text or text.casefold() in seen:
            continue
        seen.add(text.casefold())
        if count_tokens(_sentence([text, *kept])) <= budget:
            kept.insert(0, text)
    return _sentence(kept) if kept else ""


def mark_used(terms: Sequence[Term], text: str, now_s: float) -> list[Term]:
    """The terms, those that stand in a dictated text with the time of this use. Letter case is not looked at."""
    said = text.casefold()
    return [replace(term, last_used_s=now_s) if _stands_in(term.text, said) else term for term in terms]


def _stands_in(term: str, said: str) -> bool:
    words = r"\s+".join(re.escape(word) for word in term.casefold().split())
    return bool(words) and re.search(rf"(?<!\w){words}(?!\w)", said) is not None


def _sentence(terms: Sequence[str]) -> str:
    """A sentence like those that Whisper saw before a transcript; the engine puts the leading space."""
    return " " + ", ".join(terms) + "."
