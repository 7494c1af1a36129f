"""Vocabulary: the prompt stays within Whisper's budget and gives way at the longest-unused end."""

from hypothesis import given
from hypothesis import strategies as st

from dictation.vocabulary import PROMPT_TOKENS, Term, Vocabulary, mark_used, prompt


def count_tokens(text: str) -> int:
    return len(text.encode()) // 3 + 1


@given(st.lists(st.builds(Term, st.text(max_size=40), st.floats(0, 1e9)), max_size=80))
def test_the_prompt_never_exceeds_the_budget(terms):
    assert count_tokens(prompt(terms, count_tokens)) <= PROMPT_TOKENS


def test_terms_stand_in_order_of_use_and_the_longest_unused_gives_way():
    terms = [Term("Kubernetes", 3), Term("Zażółć", 1), Term("Sayso", 2)]
    assert prompt(terms, count_tokens) == " Zażółć, Sayso, Kubernetes."
    assert prompt(terms, count_tokens, budget=count_tokens(" Sayso, Kubernetes.")) == " Sayso, Kubernetes."


def test_no_terms_no_prompt():
    assert prompt([], count_tokens) == "" and prompt([Term(" , ")], count_tokens) == ""


def test_a_term_that_was_dictated_counts_as_used():
    terms = [Term("Sayso"), Term("New York"), Term("say")]
    used = mark_used(terms, "I use SAYSO in new\nyork.", 7.0)
    assert [term.last_used_s for term in used] == [7.0, 7.0, 0.0]


def test_the_times_of_use_outlive_the_program_and_words_that_were_struck_out_are_forgotten(tmp_path):
    file = tmp_path / "data" / "vocabulary.json"
    Vocabulary(file, clock=lambda: 5.0).note("Sayso writes Kubernetes.", ["Kubernetes", "Sayso", "Zażółć"])
    again = Vocabulary(file, clock=lambda: 9.0)
    assert again.terms(["Zażółć", "Sayso"]) == (Term("Zażółć"), Term("Sayso", 5.0))
    again.note("zażółć", ["Zażółć", "Sayso"])
    assert Vocabulary(file).terms(["Kubernetes", "Sayso", "Zażółć"]) == (
        Term("Kubernetes"),
        Term("Sayso", 5.0),
        Term("Zażółć", 9.0),
    )


def test_who_keeps_no_history_leaves_no_times_behind(tmp_path):
    file = tmp_path / "vocabulary.json"
    vocabulary = Vocabulary(file, clock=lambda: 5.0)
    vocabulary.note("Sayso", ["Sayso"], keep=False)
    assert vocabulary.terms(["Sayso"]) == (Term("Sayso", 5.0),) and not file.exists()


@given(junk=st.binary() | st.sampled_from([b"[" * 100_000, b'{"a": NaN}', b'{"a": true}', b'{"a": 1e999}', b"[1]"]))
def test_a_damaged_file_of_times_is_as_none(tmp_path_factory, junk):
    file = tmp_path_factory.mktemp("v") / "vocabulary.json"
    file.write_bytes(junk)
    assert Vocabulary(file).terms(["a"]) == (Term("a"),)
