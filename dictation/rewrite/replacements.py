"""Replacements: the user's own spellings. Words and phrases in one pass, then regular expressions in order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import regex

PATTERN_TIMEOUT_S = 0.25  # a pattern that backtracks without end is dropped, not waited for


class RuleError(ValueError):
    """A replacement that can't work; the message says what to change."""


@dataclass(frozen=True)
class Replacement:
    r"""One rule. `find` is a word or phrase, matched whole, or a regular expression, whose groups `replace` may use.

    A phrase is put in literally; its first letter follows the text where `find` and `replace` begin in lower case
    ("gonna" -> "going to", "Gonna" -> "Going to"). Raises RuleError when it can never match or does not compile.
    """

    find: str
    replace: str
    is_pattern: bool = False
    match_case: bool = False
    enabled: bool = True

    def __post_init__(self) -> None:
        if not self.find.strip():
            raise RuleError("A replacement needs something to look for.")
        if self.is_pattern:
            try:
                # The empty branch always matches, so that the groups in `replace` are looked up.
                regex.sub(f"(?:{self.find})|", self.replace, "", flags=self._flags)
            except (regex.error, IndexError) as error:
                raise RuleError(f"The pattern “{self.find}” is not a regular expression: {error}.") from error

    @property
    def _flags(self) -> int:
        return int(regex.VERSION0 | (0 if self.match_case else regex.IGNORECASE))


def apply_replacements(text: str, rules: Iterable[Replacement]) -> tuple[str, list[str]]:
    """The text with all rules applied, and a sentence for each pattern that had to be left out.

    All words and phrases are looked for in one pass, the longest first, so that no rule sees another one's result;
    patterns follow in the user's order.
    """
    rules = [rule for rule in rules if rule.enabled]
    text = _phrases(text, [rule for rule in rules if not rule.is_pattern])
    notices = []
    for rule in rules:
        if not rule.is_pattern:
            continue
        try:
            text = regex.sub(rule.find, rule.replace, text, flags=rule._flags, timeout=PATTERN_TIMEOUT_S)
        except (TimeoutError, regex.error, IndexError):
            notices.append(f"The pattern “{rule.find}” took too long or failed and was left out.")
    return text, notices


def _phrases(text: str, rules: list[Replacement]) -> str:
    if not rules:
        return text
    rules = sorted(rules, key=lambda rule: len(rule.find), reverse=True)
    found = regex.compile("|".join(f"({_whole(rule)})" for rule in rules))

    def spelled(match: Any) -> str:  # regex.Match
        rule: Replacement = rules[int(match.lastindex) - 1]
        said: str = match.group()
        begins_low = rule.find.strip()[0].islower() and rule.replace[:1].islower()
        if begins_low and said[0].isupper() and not rule.match_case:
            return rule.replace[0].upper() + rule.replace[1:]
        return rule.replace

    return str(found.sub(spelled, text))


def _whole(rule: Replacement) -> str:
    """A pattern that finds the phrase only as whole words, with any white space between them."""
    words = r"\s+".join(regex.escape(word, special_only=True) for word in rule.find.split())
    left = r"(?<!\w)" if _is_word(rule.find.strip()[0]) else ""
    right = r"(?!\w)" if _is_word(rule.find.strip()[-1]) else ""
    return f"{left}{words}{right}" if rule.match_case else f"(?i:{left}{words}{right})"


def _is_word(character: str) -> bool:
    """Letters of scripts that put spaces between words; a Chinese or Thai phrase is found anywhere."""
    return bool(
        regex.match(
            r"[\w&&[^\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]]",
            character,
            flags=regex.VERSION1,
        )
    )
