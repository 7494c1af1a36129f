"""Ids, languages, suppress lists and text against openai-whisper's tokenizer; no half characters."""

from __future__ import annotations

from functools import cache

import pytest
import whisper.tokenizer
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import OptionError
from engine.languages import LANGUAGES, language_code
from engine.tokenizer import Detokenizer, Tokenizer

VOCABULARIES = {51864: ("gpt2", 99), 51865: ("multilingual", 99), 51866: ("multilingual", 100)}


@cache
def theirs(n_vocab: int) -> whisper.tokenizer.Tokenizer:
    return whisper.tokenizer.get_tokenizer(n_vocab > 51864, num_languages=VOCABULARIES[n_vocab][1])


@cache
def ours(n_vocab: int) -> Tokenizer:
    encoding = theirs(n_vocab).encoding
    vocabulary = [encoding.decode_single_token_bytes(token) for token in range(theirs(n_vocab).eot)]
    return Tokenizer(vocabulary, n_vocab)


@pytest.mark.parametrize("n_vocab", VOCABULARIES)
def test_special_ids_follow_from_the_vocabulary_size(n_vocab: int) -> None:
    mine, openai = ours(n_vocab), theirs(n_vocab)
    for name in ("eot", "sot", "translate", "transcribe", "sot_lm", "sot_prev", "no_speech", "no_timestamps"):
        assert getattr(mine, name) == getattr(openai, name), name
    assert mine.timestamp_begin == openai.timestamp_begin
    if mine.is_multilingual:
        assert set(mine.languages) == set(openai.all_language_codes)
        for code in mine.languages:
            assert mine.language_token(code) == openai.to_language_token(code)


@pytest.mark.parametrize("n_vocab", VOCABULARIES)
def test_the_suppress_list_is_openais(n_vocab: int) -> None:
    mine = ours(n_vocab)
    assert mine.non_speech == theirs(n_vocab).non_speech_tokens
    assert len(mine.non_speech) == (84 if n_vocab == 51864 else 82)
    extra = {mine.sot, mine.sot_prev, mine.sot_lm, mine.transcribe, mine.translate, mine.no_speech}
    assert set(mine.suppressed) == set(mine.non_speech) | extra
    assert mine.rules(False).suppress_first == (220, mine.eot)


def test_sot_sequences_are_openais() -> None:
    assert ours(51864).sot_sequence("en", "transcribe", timestamps=False) == [50257, 50362]
    assert ours(51864).sot_sequence("en", "transcribe", timestamps=True) == [50257]
    assert ours(51865).sot_sequence("de", "transcribe", timestamps=False) == [50258, 50261, 50359, 50363]
    assert ours(51865).sot_sequence("de", "translate", timestamps=True) == [50258, 50261, 50358]
    assert ours(51866).sot_sequence("yue", "transcribe", timestamps=False) == [50258, 50358, 50360, 50364]


def test_what_a_model_does_not_know_is_refused_by_name() -> None:
    with pytest.raises(OptionError, match="Cantonese"):
        ours(51865).sot_sequence("yue", "transcribe", timestamps=False)
    with pytest.raises(OptionError, match="German"):
        ours(51864).sot_sequence("de", "transcribe", timestamps=False)
    with pytest.raises(OptionError, match="klingon"):
        language_code("klingon")
    with pytest.raises(OptionError, match="51800"):
        Tokenizer([], 51800)


@pytest.mark.parametrize("word", ["de", "DE", " German ", "german"])
def test_a_language_is_known_by_code_and_by_name(word: str) -> None:
    assert language_code(word) == "de"


def test_every_language_of_openai_is_known_under_its_names() -> None:
    assert tuple(LANGUAGES) == tuple(whisper.tokenizer.LANGUAGES)
    for name, code in whisper.tokenizer.TO_LANGUAGE_CODE.items():
        assert language_code(name) == code


@given(st.text())
def test_text_survives_and_is_split_as_by_openai(text: str) -> None:
    for n_vocab in (51864, 51865):
        tokens = ours(n_vocab).encode(text)
        assert ours(n_vocab).decode(tokens) == text
        assert tokens == theirs(n_vocab).encoding.encode(text, disallowed_special=())


def test_what_looks_like_a_special_token_is_plain_text() -> None:
    tokens = ours(51865).encode("<|endoftext|><|0.00|>")
    assert max(tokens) < ours(51865).eot


@given(st.text())
def test_pieces_add_up_to_the_text_and_hold_whole_characters(text: str) -> None:
    detokenizer = Detokenizer(ours(51865))
    pieces = [detokenizer.push(token) for token in ours(51865).encode(text)]
    assert "".join(pieces) + detokenizer.rest() == text
    if "�" not in text:
        assert not any("�" in piece for piece in pieces)


def test_a_prompt_keeps_its_last_223_tokens_and_no_special_ones() -> None:
    tokenizer = ours(51865)
    prompt = tokenizer.prompt([*range(300), tokenizer.timestamp_begin + 3])
    assert prompt == [tokenizer.sot_prev, *range(77, 300)]
    assert tokenizer.prompt([]) == []
