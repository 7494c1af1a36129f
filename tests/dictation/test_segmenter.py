"""What goes to the recogniser: all speech, in order, once, in pieces that fit the window."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dictation.segmenter import MAX_PIECE_S, Cut, Feed, Segmenter
from dictation.vad import CHUNK, SpeechDetector
from tests.fakes import sounds

RATE = 16_000


def pieces_of(segmenter, samples, size=512):
    """Runs a take; the pieces as (start, samples), after the cuts have been applied."""
    pieces = []
    is_open = False
    for block in sounds.blocks(samples, size):
        for step in segmenter.push(block):
            if isinstance(step, Cut):
                start, parts = pieces[-1]
                pieces[-1] = (start, [np.concatenate(parts)[: step.at - start]])
                is_open = False
            else:
                assert isinstance(step, Feed)
                if not is_open:
                    pieces.append((step.start, []))
                    is_open = True
                start, parts = pieces[-1]
                assert step.start == start + sum(map(len, parts)), "fed in one stretch"
                parts.append(step.samples)
    heard = segmenter.finish()
    return [(start, np.concatenate(parts)) for start, parts in pieces], heard


class Loudness:
    """A detector for made-up sounds: speech is whatever is loud."""

    def __call__(self, samples):
        return 0.9 if np.max(np.abs(samples)) > 0.1 else 0.05


@settings(max_examples=30)
@given(
    st.lists(st.tuples(st.floats(0.1, 40), st.floats(0.04, 6)), min_size=1, max_size=5),
    st.integers(400, 3000),
)
def test_pieces_are_in_order_fit_the_window_and_hold_all_speech_once(turns, block):
    parts, speech = [np.zeros(RATE, np.float32)], np.zeros(0, bool)
    for talk_s, pause_s in turns:
        parts += [np.full(int(talk_s * RATE), 0.5, np.float32), np.zeros(int(pause_s * RATE), np.float32)]
    samples = np.concatenate(parts)
    samples += np.linspace(0, 0.01, len(samples), dtype=np.float32)  # each sample tells its place
    speech = samples > 0.1
    pieces, heard = pieces_of(Segmenter(SpeechDetector(Loudness())), samples, block)
    times = np.zeros(len(samples), int)
    before = 0
    for start, piece in pieces:
        assert start >= before
        assert len(piece) <= (MAX_PIECE_S + 0.5) * RATE
        assert np.array_equal(piece, samples[start : start + len(piece)])
        before = start
        times[start : start + len(piece)] += 1
    assert not np.any(times[speech] > 1), "no speech is given twice"
    missed = speech & (times == 0)
    # a stretch shorter than the onset (two chunks) may go unseen; nothing longer
    runs = np.diff(np.flatnonzero(np.diff(np.concatenate([[0], missed.astype(np.int8), [0]]))))[::2]
    assert not len(runs) or runs.max() <= 3 * CHUNK
    assert heard.audio_s == pytest.approx(len(samples) / RATE)


def test_real_speech_keeps_its_first_and_last_words_and_loses_the_silence():
    speech = sounds.clip("en/jfk")
    samples = np.concatenate([sounds.silence(3), speech, sounds.silence(2)])
    pieces, heard = pieces_of(Segmenter(), samples)
    assert len(pieces) == 1
    start, piece = pieces[0]
    voice = np.flatnonzero(np.abs(samples) > 0.03)
    assert 2.5 * RATE < start <= voice[0]
    assert start + len(piece) >= voice[-1]
    assert not heard.decode_everything and heard.speech_s > 7


def test_a_long_reading_is_cut_at_pauses_only():
    names = [f"en/lj001-{i:04d}" for i in range(1, 13)]
    samples = np.concatenate([part for n in names for part in (sounds.clip(n), sounds.fan(0.35, level=0.001))])
    pieces, heard = pieces_of(Segmenter(), samples)
    assert len(pieces) >= 3
    for start, piece in pieces[:-1]:
        edge = samples[start + len(piece) - 2400 : start + len(piece)]
        assert np.sqrt(np.mean(edge**2)) < 0.02, "cut in a quiet place"
    assert not heard.decode_everything


def test_half_a_minute_without_a_breath_is_cut_at_its_quietest_place():
    loud = np.random.default_rng(1).normal(0, 0.2, 40 * RATE).astype(np.float32)
    dip = int(25.5 * RATE)
    loud[dip - 1600 : dip + 1600] *= 0.6
    pieces, _ = pieces_of(Segmenter(SpeechDetector(Loudness())), loud)
    cut = pieces[1][0]
    assert abs(cut - dip) < 2400
    assert pieces[0][0] + len(pieces[0][1]) == cut


def test_a_two_minute_pause_feeds_nothing():
    speech = sounds.clip("en/gcp-today")
    samples = np.concatenate([speech, sounds.fan(120, level=0.002), speech])
    pieces, heard = pieces_of(Segmenter(), samples)
    assert len(pieces) == 2
    assert sum(len(p) for _, p in pieces) < (2 * len(speech)) + 4 * RATE
    assert not heard.decode_everything


def test_digital_silence_is_told_from_a_quiet_room():
    _, muted = pieces_of(Segmenter(), sounds.silence(3))
    _, quiet = pieces_of(Segmenter(), sounds.fan(3, level=0.0005))
    assert muted.muted and muted.silent
    assert quiet.silent and not quiet.muted


def test_when_the_detector_keeps_little_while_there_is_sound_everything_is_decoded():
    class Deaf:
        def __call__(self, samples):
            return 0.1

    speech = sounds.clip("en/jfk")
    pieces, heard = pieces_of(Segmenter(SpeechDetector(Deaf())), speech)
    assert not pieces
    assert heard.decode_everything and not heard.silent


def test_a_single_click_is_no_speech():
    samples = sounds.silence(2)
    samples[31 * CHUNK : 31 * CHUNK + 400] = 0.5
    pieces, _ = pieces_of(Segmenter(SpeechDetector(Loudness())), samples)
    assert pieces == []
