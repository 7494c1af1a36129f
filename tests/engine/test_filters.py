"""Logit filters against openai-whisper's own, on any logits and any history; what the grammar lets through."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import whisper.decoding
import whisper.tokenizer
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.filters import Filters, choose
from engine.runtime import Rules
from tests.engine.test_tokenizer import ours

TOKENIZER = ours(51864)
THEIRS = whisper.tokenizer.get_tokenizer(False)
TIME = TOKENIZER.timestamp_begin
N_VOCAB = TOKENIZER.n_vocab

tokens = st.one_of(st.integers(0, 1000), st.integers(TIME, TIME + 1500))
histories = st.lists(tokens, max_size=6)
seeds = st.integers(0, 2**32 - 1)


def random_logits(seed: int, spread: float = 3.0) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, spread, N_VOCAB).astype(np.float32)


def openais(logits: np.ndarray, sampled: list[int], rules: Rules) -> np.ndarray:
    """The same through openai-whisper's filters, after a prompt of one token."""
    tensor = torch.tensor(logits)[None]
    history = torch.tensor([[TOKENIZER.sot, *sampled]])
    filters = [
        whisper.decoding.SuppressBlank(THEIRS, sample_begin=1),
        whisper.decoding.SuppressTokens(rules.suppress),
        whisper.decoding.ApplyTimestampRules(THEIRS, 1, rules.max_initial_timestamp),
    ]
    for rule in filters:
        rule.apply(tensor, history)
    return tensor[0].numpy()


@settings(max_examples=50)
@given(seed=seeds, sampled=histories, tilt=st.floats(-8, 8))
def test_filters_with_times_are_openais(seed: int, sampled: list[int], tilt: float) -> None:
    rules = TOKENIZER.rules(timestamps=True)
    logits = random_logits(seed)
    logits[TIME:] += np.float32(tilt)  # so that times are now likelier than text, now not
    np.testing.assert_array_equal(Filters(rules, N_VOCAB).apply(logits, sampled), openais(logits, sampled, rules))


@settings(max_examples=30)
@given(seed=seeds, n_tokens=st.integers(1, 60))
def test_sampling_under_the_grammar_gives_rising_pairs_of_times(seed: int, n_tokens: int) -> None:
    filters, rng, sampled = Filters(TOKENIZER.rules(timestamps=True), N_VOCAB), np.random.default_rng(seed), []
    for i in range(n_tokens):
        sampled.append(choose(filters.apply(random_logits(seed + i), sampled), 1.0, rng).token)
        if sampled[-1] == TOKENIZER.eot:
            break
    assert TIME <= sampled[0] <= TIME + 50
    times = [token for token in sampled if token >= TIME]
    assert times == sorted(times)
    for before, token, after in zip(sampled, sampled[1:], sampled[2:], strict=False):
        assert not (before >= TIME and token >= TIME and after >= TIME), "three times in a row"
        if before < TIME <= token:
            assert after >= TOKENIZER.eot, "text right behind a closing time"


@given(seed=seeds, sampled=st.lists(st.integers(0, 1000), max_size=3), temperature=st.sampled_from([0.0, 0.4, 1.0]))
def test_without_times_no_time_and_nothing_suppressed_is_ever_chosen(
    seed: int, sampled: list[int], temperature: float
) -> None:
    rules = TOKENIZER.rules(timestamps=False)
    logits = random_logits(seed)
    logits[TIME:] += 50
    logits[list(rules.suppress)] += 50
    chosen = choose(Filters(rules, N_VOCAB).apply(logits, sampled), temperature, np.random.default_rng(seed)).token
    assert chosen < TOKENIZER.no_timestamps and chosen not in rules.suppress
    assert sampled or chosen not in rules.suppress_first


def test_log_probabilities_are_of_the_filtered_distribution() -> None:
    logits = np.full(N_VOCAB, -np.inf, np.float32)
    logits[[5, 6]] = np.log(np.array([0.75, 0.25], np.float32))
    choice = choose(logits, 0.0, np.random.default_rng(0))
    assert choice.token == 5 and choice.logprob == pytest.approx(np.log(0.75), abs=1e-6)


def test_sampling_follows_the_temperature() -> None:
    logits = np.full(N_VOCAB, -np.inf, np.float32)
    logits[[5, 6]] = np.log(np.array([0.8, 0.2], np.float32))
    rng = np.random.default_rng(0)
    share = np.mean([choose(logits, 0.5, rng).token == 5 for _ in range(1000)])
    assert share == pytest.approx(0.8**2 / (0.8**2 + 0.2**2), abs=0.03)
