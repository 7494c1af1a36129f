"""The user's own words: names and terms that Whisper is told of before it listens, within its prompt budget.

Whisper reads at most 223 prompt tokens and is swayed most by the last ones. So the terms stand in the order of their
last use, longest-unused first: these are the first to give way when the budget is spent.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from engine.files import write_text

PROMPT_TOKENS = 223  # 448 / 2 - 1, Whisper's own limit


@dataclass(frozen=True)
class Term:
    text: str
    last_used_s: float = 0.0  # seconds since 1970; 0: not yet


class Vocabulary:
    """The user's words with the times of their last use, which outlive the program in `file` (None: they do not)."""

    def __init__(self, file: Path | None = None, clock: Callable[[], float] = time.time) -> None:
        self._file = file
        self._clock = clock
        self._last_used_s = _read_times(file) if file is not None else {}

    def terms(self, words: Iterable[str]) -> tuple[Term, ...]:
        return tuple(Term(word, self._last_used_s.get(word, 0.0)) for word in words)

    def note(self, text: str, words: Sequence[str], keep: bool = True) -> None:
        """A text was dictated: the words that stand in it were used now. keep: in the file too. Raises OSError."""
        before = self.terms(words)
        after = mark_used(before, text, self._clock())
        if after == list(before):
            return
        self._last_used_s = {term.text: term.last_used_s for term in after if term.last_used_s}  # words of now only
        if keep and self._file is not None:
            text = json.dumps(self._last_used_s, ensure_ascii=False)
            write_text(self._file, text, private=True, durable=False)  # the session loop does not wait for the disk


def _read_times(file: Path) -> dict[str, float]:
    """What `note` wrote. They only order the words, so a damaged file just means that none was used yet."""
    try:
        read = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(read, dict):
        return {}
    return {word: float(at) for word, at in read.items() if type(at) in (int, float) and 0 < at < 1e12}


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
