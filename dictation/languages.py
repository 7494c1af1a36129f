"""Which language is spoken: chosen by the user, heard by the model, or heard among the user's own languages.

The engine listens (`engine/language.py`); here is what the user decided, and what is remembered between dictations.
Translation into English happens only when it is asked for, never because a language was guessed wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from engine.languages import LANGUAGES

MISMATCH_PROBABILITY = 0.8  # from which a language that is not the chosen one is worth a notice


@dataclass(frozen=True)
class LanguagePolicy:
    mode: Literal["fixed", "auto", "mine"] = "auto"
    language: str = "en"  # of mode "fixed"
    mine: tuple[str, ...] = ()  # of mode "mine": ISO codes, the most used first
    translate: bool = False  # into English


def policy(language: str, my_languages: Sequence[str], task: Literal["transcribe", "translate"]) -> LanguagePolicy:
    """The policy that the settings `recognition.language`, `.my_languages` and `.task` stand for."""
    if language != "auto":
        return LanguagePolicy("fixed", language, translate=task == "translate")
    return LanguagePolicy("mine" if my_languages else "auto", mine=tuple(my_languages), translate=task == "translate")


@dataclass(frozen=True)
class LanguageRequest:
    """What the engine is asked for; the fields are those of its options."""

    language: str | None  # None: to be heard
    among: tuple[str, ...]  # languages to choose from; empty: all
    last: str | None  # taken when the audio is too short to tell
    task: Literal["transcribe", "translate"]


def request(policy: LanguagePolicy, last: str | None) -> LanguageRequest:
    """The request for the next dictation; `last` is the language of the one before, if any."""
    task: Literal["transcribe", "translate"] = "translate" if policy.translate else "transcribe"
    if policy.mode == "fixed":
        return LanguageRequest(policy.language, (), None, task)
    among = policy.mine if policy.mode == "mine" else ()
    if len(among) == 1:
        return LanguageRequest(among[0], (), None, task)
    if among and last not in among:
        last = among[0]
    return LanguageRequest(None, among, last, task)


def mismatch_notice(policy: LanguagePolicy, heard: str, probability: float) -> str | None:
    """A sentence when the speech is clearly in a language that was not chosen: its text would be a guess."""
    chosen = (policy.language,) if policy.mode == "fixed" else policy.mine
    if policy.translate or not chosen or heard in chosen or probability < MISMATCH_PROBABILITY:
        return None
    if policy.mode == "fixed":
        return (
            f"This sounded like {_name(heard)}, but the language is set to {_name(policy.language)}. "
            "Choose it in the language menu, or choose “my languages” there."
        )
    return (
        f"This sounded like {_name(heard)}, which is none of your languages ({', '.join(map(_name, chosen))}). "
        "Add it to them in the settings if you speak it."
    )


def _name(code: str) -> str:
    return LANGUAGES.get(code, code)
