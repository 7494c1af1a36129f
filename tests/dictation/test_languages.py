"""The language policy: fixed, heard, heard among mine; English is never made of another language unasked."""

import pytest

from dictation.languages import LanguagePolicy, LanguageRequest, mismatch_notice, policy, request


@pytest.mark.parametrize(
    ("chosen", "last", "asked"),
    [
        (LanguagePolicy("fixed", "fr"), "de", LanguageRequest("fr", (), None, "transcribe")),
        (LanguagePolicy("auto"), None, LanguageRequest(None, (), None, "transcribe")),
        (LanguagePolicy("auto"), "de", LanguageRequest(None, (), "de", "transcribe")),
        (LanguagePolicy("mine", mine=("de", "en")), None, LanguageRequest(None, ("de", "en"), "de", "transcribe")),
        (LanguagePolicy("mine", mine=("de", "en")), "en", LanguageRequest(None, ("de", "en"), "en", "transcribe")),
        (LanguagePolicy("mine", mine=("de", "en")), "ru", LanguageRequest(None, ("de", "en"), "de", "transcribe")),
        (LanguagePolicy("mine", mine=("it",)), "en", LanguageRequest("it", (), None, "transcribe")),
        (LanguagePolicy("fixed", "fr", translate=True), None, LanguageRequest("fr", (), None, "translate")),
    ],
)
def test_request(chosen, last, asked):
    assert request(chosen, last) == asked


def test_a_clear_mismatch_with_the_chosen_language_is_said():
    french = LanguagePolicy("fixed", "fr")
    said = mismatch_notice(french, "en", 0.95) or ""
    assert "English" in said and "French" in said
    assert mismatch_notice(french, "en", 0.5) is None
    assert mismatch_notice(french, "fr", 0.99) is None
    assert mismatch_notice(LanguagePolicy("fixed", "fr", translate=True), "en", 0.95) is None


def test_a_language_that_is_none_of_mine_is_said():
    mine = LanguagePolicy("mine", mine=("de", "en"))
    said = mismatch_notice(mine, "fr", 0.95) or ""
    assert "French" in said and "German, English" in said
    assert mismatch_notice(mine, "en", 0.95) is None
    assert mismatch_notice(LanguagePolicy("auto"), "fr", 0.95) is None


def test_settings_become_a_policy():
    assert policy("de", ["en"], "transcribe") == LanguagePolicy("fixed", "de")
    assert policy("auto", ["en", "de"], "transcribe") == LanguagePolicy("mine", mine=("en", "de"))
    assert policy("auto", [], "translate") == LanguagePolicy("auto", translate=True)
