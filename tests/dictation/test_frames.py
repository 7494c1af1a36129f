"""Blocks of any rate and channel layout become the same 16 kHz speech."""

import numpy as np
import pytest
import soxr
from hypothesis import given
from hypothesis import strategies as st

from dictation.frames import Framer, peak_dbfs, rms_dbfs
from tests.fakes import sounds


def through(framer, samples, size=512):
    return np.concatenate([framer.push(block) for block in sounds.blocks(samples, size)] + [framer.flush()])


def correlation(a, b):
    n = min(len(a), len(b))
    return float(np.corrcoef(a[:n], b[:n])[0, 1])


@pytest.mark.parametrize("rate", [8000, 16000, 22050, 44100, 48000, 96000])
@pytest.mark.parametrize("size", [64, 512, 1000])
def test_every_native_rate_gives_the_same_speech_in_time(rate, size):
    speech = sounds.clip("en/gcp-today")
    native = soxr.resample(speech, 16000, rate)[:, None]
    out = through(Framer(rate, 1), native, size)
    assert abs(len(out) - len(speech)) <= 2
    assert correlation(out, speech) > (0.999 if rate >= 16000 else 0.93)


@given(st.lists(st.integers(1, 900), min_size=1, max_size=40))
def test_block_sizes_do_not_change_the_frames(sizes):
    tone = np.sin(np.arange(sum(sizes)) * 0.05).astype(np.float32)[:, None]
    whole = through(Framer(48000, 1), tone, len(tone))
    framer, parts, at = Framer(48000, 1), [], 0
    for n in sizes:
        parts.append(framer.push(tone[at : at + n]))
        at += n
    assert np.allclose(np.concatenate([*parts, framer.flush()]), whole, atol=1e-6)


def test_the_voice_on_one_of_four_channels_is_found_from_its_first_block():
    speech = sounds.clip("en/jfk")
    channels = np.random.default_rng(0).normal(0, 0.0005, (len(speech), 4)).astype(np.float32)
    channels[:, 2] += speech
    out = through(Framer(16000, 4), channels)
    assert correlation(out, speech) > 0.99
    onset = int(np.argmax(np.abs(speech) > 0.02))
    assert np.allclose(out[onset : onset + 1600], channels[onset : onset + 1600, 2])


def test_channels_are_not_averaged():
    speech = sounds.clip("en/gcp-today")
    stereo = np.stack([speech, np.zeros_like(speech)], axis=1)
    assert abs(rms_dbfs(through(Framer(16000, 2), stereo)) - rms_dbfs(speech)) < 0.1


def test_a_chosen_channel_is_kept_even_when_another_is_louder():
    speech = sounds.clip("en/gcp-today")
    stereo = np.stack([speech, 2 * np.roll(speech, 4000)], axis=1)
    assert np.array_equal(through(Framer(16000, 2, channel=1), stereo), speech)


def test_a_channel_number_the_device_does_not_have_means_its_last():
    assert Framer(16000, 2, channel=7).channel == 1


@pytest.mark.parametrize("rate", [16000, 48000])
def test_what_is_no_number_is_silence_and_spoils_nothing_after_it(rate):
    speech = sounds.clip("en/gcp-today")
    native = np.repeat(soxr.resample(speech, 16000, rate)[:, None], 2, axis=1) * np.float32([0.01, 1])
    native[:200] = np.nan
    native[250:260] = np.inf
    out = through(Framer(rate, 2), native)
    assert np.isfinite(out).all() and np.abs(out).max() <= 1.2
    assert correlation(out[1000:], speech[1000:]) > 0.99


def test_levels():
    assert rms_dbfs(np.zeros(100, np.float32)) == -120.0
    assert rms_dbfs(np.full(100, 0.5, np.float32)) == pytest.approx(-6.02, abs=0.01)
    assert peak_dbfs(np.array([0.0, -1.0], np.float32)) == 0.0
