"""Replacements: whole words, one pass, and nothing that was not asked for changes."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dictation.rewrite.replacements import Replacement, RuleError, apply_replacements

OTHER_WORDS = ["river", "Über", "it's", "42", "naïve", "co-op", "雨", "end."]
FINDS = ["cube control", "say so", "cube", "sayso", "größe"]


def replaced(text, *rules):
    return apply_replacements(text, rules)[0]


@given(
    st.lists(st.sampled_from(OTHER_WORDS + FINDS), max_size=15), st.lists(st.text(max_size=8), min_size=5, max_size=5)
)
def test_words_outside_a_match_survive_in_order_whatever_the_replacement_is(words, puts):
    rules = [Replacement(find, put, match_case=True) for find, put in zip(FINDS, puts, strict=True)]
    expected, rest = [], " ".join(words).split(" ")
    finds = sorted(((find.split(" "), put) for find, put in zip(FINDS, puts, strict=True)), key=lambda r: -len(r[0]))
    while rest and rest != [""]:
        found = next(((find, put) for find, put in finds if rest[: len(find)] == find), ([rest[0]], rest[0]))
        expected.append(found[1])
        rest = rest[len(found[0]) :]
    assert replaced(" ".join(words), *rules) == " ".join(expected)


@given(st.text(max_size=100))
def test_a_text_without_the_word_is_untouched(text):
    rule = Replacement("qzx", "something else")
    if "qzx" not in text.lower():
        assert replaced(text, rule) == text


@given(st.text(alphabet="ab(.*+?[]{}|^$\\", min_size=1, max_size=6).filter(str.strip))
def test_a_phrase_is_taken_literally_whatever_signs_are_in_it(find):
    assert replaced(f"x {find} y", Replacement(find, r"\1$0")) == r"x \1$0 y"


def test_only_whole_words_match():
    assert replaced("cat catalog concat cat's cat", Replacement("cat", "dog")) == "dog catalog concat dog's dog"


def test_rules_do_not_see_each_others_result():
    assert replaced("left right", Replacement("left", "right"), Replacement("right", "left")) == "right left"


def test_the_longer_phrase_wins():
    rules = Replacement("new york", "NY"), Replacement("new york times", "NYT")
    assert replaced("the new  york times in New York", *rules) == "the NYT in NY"


def test_a_capital_at_the_start_is_kept_for_lower_case_rules_only():
    assert replaced("Gonna go", Replacement("gonna", "going to")) == "Going to go"
    assert replaced("Sayso", Replacement("sayso", "SaySo")) == "SaySo"
    assert replaced("Iphone", Replacement("iphone", "iPhone", match_case=True)) == "Iphone"


def test_chinese_is_found_inside_a_text_without_spaces():
    assert replaced("我在北京市工作", Replacement("北京市", "北京")) == "我在北京工作"


def test_patterns_may_use_their_groups_and_come_in_the_users_order():
    rules = Replacement(r"(\d+) dollars", r"$\1", is_pattern=True), Replacement(r"\$5\b", "five bucks", is_pattern=True)
    assert replaced("5 dollars and 7 DOLLARS", *rules) == "five bucks and $7"


def test_a_switched_off_rule_does_nothing():
    assert replaced("cat", Replacement("cat", "dog", enabled=False)) == "cat"


@pytest.mark.parametrize("bad", [("  ", "x", False), ("(", "", True), ("a", r"\2", True)])
def test_a_rule_that_cannot_work_is_refused_with_a_sentence(bad):
    with pytest.raises(RuleError, match=r"\.$"):
        Replacement(*bad)


def test_a_pattern_that_never_ends_is_left_out_and_said_so():
    started = time.monotonic()
    text, notices = apply_replacements("a" * 60 + "!", [Replacement(r"(a|aa|aaa)+$", "", is_pattern=True)])
    assert text == "a" * 60 + "!" and len(notices) == 1
    assert time.monotonic() - started < 5
