"""Cutting long speech: in pauses, at most 28 s, every sample in exactly one piece."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.audio import SAMPLE_RATE_HZ
from engine.pieces import KEPT_SILENCE_S, LONGEST_S, Piece, find_cut, silence_to_drop


def sound(*parts: tuple[float, float], seed: int = 0) -> np.ndarray:
    """(seconds, level in dB) one after the other, as noise."""
    rng = np.random.default_rng(seed)
    return np.concatenate(
        [rng.standard_normal(round(s * SAMPLE_RATE_HZ)) * 10 ** (db / 20) for s, db in parts] + [np.zeros(0)]
    ).astype(np.float32)


def piece_of(samples: np.ndarray) -> Piece:
    piece = Piece()
    piece.append(samples)
    return piece


def cut_s(*parts: tuple[float, float]) -> float | None:
    at = find_cut(piece_of(sound(*parts)))
    return None if at is None else at / SAMPLE_RATE_HZ


def test_short_speech_is_not_cut_at_its_pauses():
    assert cut_s((4, -20), (1.5, -60), (4, -20)) is None


def test_a_long_pause_ends_a_short_piece_soon_after_its_last_word():
    assert cut_s((3, -20), (3.2, -60)) == pytest.approx(3 + KEPT_SILENCE_S, abs=0.1)


def test_a_long_piece_is_cut_in_the_middle_of_a_short_pause():
    assert cut_s((12, -20), (0.6, -55), (6, -20)) == pytest.approx(12.3, abs=0.1)


def test_speech_without_a_pause_is_cut_at_its_quietest_moment_when_it_has_to_be():
    assert cut_s((20, -20), (0.08, -32), (7, -20)) is None
    assert cut_s((20, -20), (0.08, -32), (LONGEST_S - 20, -20)) == pytest.approx(20.04, abs=0.1)


def test_a_pause_over_a_loud_fan_is_still_a_pause():
    assert cut_s((13, -18), (0.8, -38), (4, -18)) == pytest.approx(13.4, abs=0.15)


def test_silence_before_the_first_word_is_dropped_but_for_a_second():
    piece = piece_of(sound((60, -80)))
    piece = piece.split(silence_to_drop(piece))
    assert piece.seconds == pytest.approx(2 * KEPT_SILENCE_S)
    assert piece.end == 60 * SAMPLE_RATE_HZ
    assert silence_to_drop(piece_of(sound((5, -80), (0.2, -20)))) == 0


@given(st.lists(st.tuples(st.floats(0.1, 12), st.sampled_from([-80, -55, -30, -15])), max_size=6), st.integers(0, 9))
@settings(max_examples=25)
def test_every_sample_lands_in_exactly_one_piece_of_at_most_28_s(parts, seed):
    samples = sound(*parts, seed=seed)
    done, open_piece = [], Piece()
    for block in np.split(samples, range(8000, len(samples), 8000)):
        open_piece.append(block)
        while (at := find_cut(open_piece)) is not None:
            rest = open_piece.split(at)
            done.append(open_piece)
            open_piece = rest
    done.append(open_piece)
    assert np.array_equal(np.concatenate([piece.samples for piece in done]), samples)
    assert [piece.start for piece in done[1:]] == [piece.end for piece in done[:-1]]
    assert max(piece.seconds for piece in done) <= LONGEST_S + 0.5
