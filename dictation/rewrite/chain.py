"""The order of the rewrite rules, their settings, and what they may know of the world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from dictation.rewrite.commands import apply_commands
from dictation.rewrite.fillers import remove_fillers
from dictation.rewrite.replacements import Replacement, RuleError, apply_replacements
from dictation.rewrite.style import Casing, apply_casing, apply_numbers, leading_space

LANGUAGE_EVIDENCE = 0.6  # probability of the language from which its word lists are trusted


@dataclass(frozen=True)
class RewriteOptions:
    """One field per setting; the settings table uses the same names."""

    remove_fillers: bool = True
    spoken_commands: bool = True  # "new line", "new paragraph", "scratch that", "all caps …"
    spoken_punctuation: bool = False  # "comma", "question mark", …: Whisper sets its own marks, so this is a choice
    numbers: Literal["as_recognised", "digits"] = "as_recognised"
    replacements: tuple[Replacement, ...] = ()
    casing: Casing = "as_recognised"
    final_stop: bool = True  # False drops the full stop of a text of one sentence, as in chats
    smart_leading_space: bool = True
    trailing_text: str = ""

    @classmethod
    def of(cls, page: Mapping[str, Any]) -> tuple[RewriteOptions, tuple[str, ...]]:
        """Options from the settings page "rewrite", and a sentence for each replacement that can't work."""
        values = dict(page)
        rules, problems = [], []
        for row in values.pop("replacements", ()):
            try:
                rules.append(Replacement(**row))
            except RuleError as error:
                problems.append(str(error))
            except TypeError:
                problems.append(f"A replacement needs “find” and “replace”, and not {', '.join(map(str, row))}.")
        return cls(replacements=tuple(rules), **values), tuple(problems)


@dataclass(frozen=True)
class Situation:
    """What the rules may know besides the text."""

    language: str  # ISO code of the text
    language_probability: float | None = None  # None: the user chose it, or the model has only one
    # The end of what Sayso inserted just before, when the caret is known to be still there; None when not.
    previous: str | None = None


@dataclass(frozen=True)
class Rewritten:
    text: str
    undo_previous: bool = False  # "scratch that" was said first: the insertion before this one is meant
    notices: tuple[str, ...] = ()  # one sentence per rule that could not be applied


def rewrite(text: str, options: RewriteOptions, situation: Situation) -> Rewritten:
    """Apply every rule that is switched on, in order. Never raises: a rule that fails is left out and said so."""
    text = text.strip()
    known = situation.language_probability is None or situation.language_probability >= LANGUAGE_EVIDENCE
    language = situation.language if known else ""
    undo_previous = False
    notices: Sequence[str] = ()
    if options.remove_fillers:
        text = remove_fillers(text, language)
    if options.spoken_commands or options.spoken_punctuation:
        text, undo_previous = apply_commands(text, language, options.spoken_commands, options.spoken_punctuation)
    if options.numbers == "digits":
        text = apply_numbers(text, language)
    text, notices = apply_replacements(text, options.replacements)
    text = apply_casing(text, options.casing, options.final_stop)
    if not text:
        return Rewritten("", undo_previous, tuple(notices))
    if options.smart_leading_space and not undo_previous:
        text = leading_space(text, situation.previous) + text
    return Rewritten(text + _trailing(text, options.trailing_text), undo_previous, tuple(notices))


def _trailing(text: str, trailing: str) -> str:
    """The trailing text, without a space after a line break."""
    return "" if trailing.isspace() and text[-1:].isspace() else trailing
