"""LocalAgreement-2: what two hypotheses share is firm, and firm text never changes once it was shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.agreement import Agreement, words


def shown(agreement, *hypotheses):
    """(firm, tentative) after each hypothesis."""
    out = []
    for text in hypotheses:
        tentative = agreement.update(text)
        out.append((agreement.firm, tentative))
    return out


def test_words_agreed_by_two_hypotheses_in_a_row_become_firm():
    assert shown(Agreement(), "The quick", "The quick brown fix", "The quick brown fox jumps") == [
        ("", "The quick"),
        ("The quick", " brown fix"),
        ("The quick brown", " fox jumps"),
    ]


def test_case_and_punctuation_do_not_undo_agreement_and_stay_as_they_were_shown():
    said = shown(Agreement(), "hello, world", "Hello world. How", "HELLO, World! how are", "Hello world, how are you")
    assert said == [
        ("", "hello, world"),
        ("Hello world", ". How"),
        ("Hello world! how", " are"),
        ("Hello world! how are", " you"),
    ]


def test_the_end_of_a_sentence_is_firm_only_when_both_hypotheses_go_on_behind_it():
    assert shown(Agreement(), "So it ends.", "So it ends. And", "So it ends. And") == [
        ("", "So it ends."),
        ("So it ends", ". And"),
        ("So it ends. And", ""),
    ]
    assert shown(Agreement(), "So it ends.", "So it ends here", "So it ends here.")[1:] == [
        ("So it ends", " here"),
        ("So it ends here", "."),
    ]


def test_chinese_agrees_character_by_character():
    assert shown(Agreement(), "广州市房", "广州市房地产，中介")[1] == ("广州市房", "地产，中介")


def test_words_that_differ_in_a_vowel_sign_do_not_agree():
    assert shown(Agreement(), "उसकी", "उसका")[1] == ("", "उसका")


@pytest.mark.parametrize(
    ("other", "tail"),
    [
        ("Ice cream is cold", " is cold"),  # heard otherwise
        ("Yes a scream is cold", " is cold"),  # the last word says where
        ("scream is cold", " is cold"),  # a word less
        ("Oh I scream is cold", " is cold"),  # a word more
    ],
)
def test_a_hypothesis_that_reads_firm_words_otherwise_goes_on_behind_them(other, tail):
    agreement = Agreement()
    shown(agreement, "I scream", "I scream")
    assert shown(agreement, other) == [("I scream", tail)]


def test_the_final_text_of_a_piece_is_firm_behind_what_was_and_the_next_piece_follows_it():
    agreement = Agreement()
    shown(agreement, "I scream is", "I scream is cold")
    agreement.end_piece("Ice cream is cold today.")
    assert (agreement.firm, agreement.n_wrong) == ("I scream is cold today.", 2)
    assert shown(agreement, "It", "It melts") == [
        ("I scream is cold today.", " It"),
        ("I scream is cold today. It", " melts"),
    ]


def test_words_shown_from_beyond_a_cut_are_not_shown_twice():
    agreement = Agreement()
    shown(agreement, "one two three four", "one two three four five")
    agreement.end_piece("One, two.", heard_beyond=True)
    assert agreement.n_wrong == 0
    assert shown(agreement, "Three", "Three four five six", "Three four five six")[1:] == [
        ("one two three four", " five six"),
        ("one two three four five six", ""),
    ]


texts = st.text(max_size=30) | st.lists(st.sampled_from(["a", "b.", "c,", "B", "-", "广", "州，", "é"])).map(" ".join)


@given(st.lists(st.tuples(st.sampled_from(["update", "end", "cut"]), texts), max_size=12))
def test_firm_text_is_only_ever_appended_to(steps):
    agreement, before = Agreement(), ""
    for kind, text in steps:
        if kind == "update":
            agreement.update(text)
        else:
            agreement.end_piece(text, heard_beyond=kind == "cut")
        assert agreement.firm.startswith(before)
        before = agreement.firm


@given(st.lists(texts.map(str.strip), min_size=1, max_size=6))
def test_of_growing_hypotheses_everything_is_shown_once(parts):
    agreement = Agreement()
    for n in range(1, len(parts) + 1):
        text = " ".join(parts[:n])
        assert agreement.firm + agreement.update(text) != "" or not text
    text = " ".join(parts)
    tentative = agreement.update(text)
    assert [w.key for w in words(agreement.firm + tentative)] == [w.key for w in words(text)]
