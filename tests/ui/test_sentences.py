"""Sentences of the core in another language: fixed ones, and ones with values in them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication

from dictation.glance import Phrase
from ui.sentences import language, say
from ui.translations import Translations


@pytest.fixture
def german(qapp: QApplication) -> Iterator[None]:
    translations = Translations(qapp)
    translations.speak("de")
    yield
    translations.speak("en")


def test_without_a_translation_a_sentence_stays_as_it_is(qapp: QApplication) -> None:
    assert language() == "en"
    assert say("The microphone failed (OSError).") == "The microphone failed (OSError)."
    assert say(Phrase("Loading {model}", {"model": "a{b}"})) == "Loading a{b}"


def test_values_come_through_the_translation_whatever_stands_in_them(german: None) -> None:
    assert language() == "de"
    assert say(Phrase("Loading {model}", {"model": "a{b}"})) == "a{b} wird geladen"
    assert say("The microphone failed (a{0}b).") == "Das Mikrofon versagte (a{0}b)."
    assert say("base:Q8_0 is not installed any more.") == "base:Q8_0 ist nicht mehr installiert."


def test_a_sentence_inside_another_one_is_translated_too(german: None) -> None:
    reason = "A password field has the keyboard."
    assert say(Phrase("Not typed: {reason}", {"reason": reason})) == (
        "Nicht geschrieben: Ein Passwortfeld hat die Tastatur."
    )
    assert say("Ctrl+C copies in nearly every program. Add Alt or Shift, or take a function key.") == (
        "Ctrl+C kopiert in fast jedem Programm. Nehmen Sie Alt oder Umschalt dazu, oder eine Funktionstaste."
    )


def test_what_nobody_translated_stays_and_does_no_harm(german: None) -> None:
    for text in ("", "{", "{0}", "Nobody wrote this ({0}).", "a" * 100_000, "(.+?)"):
        assert say(text) == text


def test_an_unknown_language_is_english_all_through(qapp: QApplication) -> None:
    translations = Translations(qapp)
    translations.speak("tlh")
    assert language() == "en" and say("Nothing was said.") == "Nothing was said."
    translations.speak("en")
