"""The rewrite chain: the order of the rules, what each switch does, and what never happens."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dictation import settings
from dictation.rewrite import Replacement, RewriteOptions, Situation, rewrite

ENGLISH = Situation("en")
DEFAULTS = RewriteOptions()
PLAIN = RewriteOptions(remove_fillers=False, spoken_commands=False, smart_leading_space=False)


def text(said: str, options: RewriteOptions = DEFAULTS, situation: Situation = ENGLISH) -> str:
    return rewrite(said, options, situation).text


@given(st.text(max_size=200))
def test_with_every_rule_off_the_text_stays_as_it_was_recognised(said):
    assert text(said, PLAIN) == said.strip()


@given(st.text(max_size=200), st.sampled_from(["en", "de", "fr", "es", "it", "pt", "zh"]), st.text(max_size=5))
def test_no_text_breaks_the_rules(said, language, previous):
    everything = RewriteOptions(
        spoken_punctuation=True, numbers="digits", casing="lower_case", final_stop=False, trailing_text=" "
    )
    rewrite(said, everything, Situation(language, previous=previous or None))


@given(
    st.lists(
        st.sampled_from(["the", "cat", "umbrella", "sat,", "under.", "On", "hummus", "Line", "period", "newer"]),
        max_size=12,
    )
)
def test_ordinary_english_words_pass_through_fillers_and_commands(words):
    said = " ".join(words)
    assert text(said, RewriteOptions(spoken_punctuation=False)) == said


def test_a_word_list_is_used_only_with_evidence_of_its_language():
    unsure = Situation("en", language_probability=0.4)
    assert text("Um, hello new line world", situation=unsure) == "Um, hello new line world"
    assert text("Um, hello new line world", situation=Situation("en", 0.9)) == "Hello\nWorld"


def test_the_users_replacement_has_the_last_word_over_numbers_and_commands():
    options = RewriteOptions(
        numbers="digits", replacements=(Replacement("25", "a quarter"), Replacement("snl", "new line"))
    )
    assert text("twenty-five snl", options) == "a quarter new line"


def test_the_leading_space_joins_insertions_only_where_words_meet():
    def joined(said, previous):
        return text(said, situation=Situation("en", previous=previous))

    assert joined("Hello.", None) == "Hello."
    assert joined("And more.", "Hello.") == " And more."
    assert joined("And more.", "Hello.\n") == "And more."
    assert joined("And more.", "(") == "And more."
    assert joined("...and more", "Hello") == "...and more"
    assert text("你好", situation=Situation("zh", previous="早上好。")) == "你好"


def test_trailing_text_follows_words_but_not_a_line_break():
    assert text("Hello.", RewriteOptions(trailing_text=" ")) == "Hello. "
    assert text("Hello new line", RewriteOptions(trailing_text=" ")) == "Hello\n"
    assert text("", RewriteOptions(trailing_text=" ")) == ""


@pytest.mark.parametrize(
    ("said", "options", "typed"),
    [
        ("I have twenty-five apples.", RewriteOptions(numbers="digits"), "I have 25 apples."),
        ("One of us.", RewriteOptions(numbers="digits"), "One of us."),
        ("Hello There.", RewriteOptions(casing="lower_case"), "hello there."),
        ("See you soon.", RewriteOptions(final_stop=False), "See you soon"),
        ("See you. Soon.", RewriteOptions(final_stop=False), "See you. Soon."),
        ("Really?", RewriteOptions(final_stop=False), "Really?"),
    ],
)
def test_style_settings(said, options, typed):
    assert text(said, options) == typed


def test_digits_are_known_in_each_of_the_number_languages():
    said = {
        "en": "twenty-five", "de": "fünfundzwanzig", "fr": "vingt-cinq", "es": "veinticinco", "it": "venticinque",
        "pt": "vinte e cinco", "nl": "vijfentwintig",
    }  # fmt: skip
    for language, words in said.items():
        assert text(words, RewriteOptions(numbers="digits"), Situation(language)) == "25"


def test_scratch_that_said_first_asks_for_the_previous_insertion_back():
    result = rewrite("Scratch that.", RewriteOptions(trailing_text=" "), Situation("en", previous="Hello."))
    assert (result.text, result.undo_previous) == ("", True)


def test_the_settings_page_has_exactly_the_fields_of_the_options():
    assert RewriteOptions.of(settings.Settings().page("rewrite")) == (DEFAULTS, ())


def test_a_replacement_that_cannot_work_is_left_out_and_the_others_stay():
    rows = ({"find": "a", "replace": "b"}, {"find": "(", "replace": "", "is_pattern": True}, {"fnid": "x"})
    options, problems = RewriteOptions.of({"replacements": rows})
    assert options.replacements == (Replacement("a", "b"),) and len(problems) == 2
