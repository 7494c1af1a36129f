"""LocalAgreement-2: what two hypotheses share is firm."""

from hypothesis import given
from hypothesis import strategies as st

from engine.agreement import Agreement, words


def test_words_agreed_by_two_hypotheses_in_a_row_become_firm():
    agreement = Agreement()
    assert agreement.update("The quick") == ("", "The quick")
    assert agreement.update("The quick brown fix") == ("The quick", " brown fix")
    assert agreement.update("The quick brown fox jumps") == ("The quick brown", " fox jumps")


def test_case_and_punctuation_do_not_undo_agreement_and_the_newest_spelling_is_shown():
    agreement = Agreement()
    agreement.update("hello, world")
    assert agreement.update("Hello world. How") == ("Hello world.", " How")


def test_chinese_agrees_character_by_character():
    agreement = Agreement()
    agreement.update("广州市房")
    assert agreement.update("广州市房地产，中介") == ("广州市房", "地产，中介")


def test_a_firm_word_that_a_later_hypothesis_lacks_is_counted():
    agreement = Agreement()
    for text in ("I scream", "I scream", "Ice cream is"):
        agreement.update(text)
    assert (agreement.n_firm, agreement.n_taken_back) == (0, 2)


@given(st.lists(st.text(max_size=30), max_size=6))
def test_firm_and_tentative_are_always_the_hypothesis_in_two(hypotheses):
    agreement = Agreement()
    for text in hypotheses:
        firm, tentative = agreement.update(text)
        assert firm + tentative == text
        assert len(words(firm)) == agreement.n_firm
