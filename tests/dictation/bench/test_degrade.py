"""Degradations: each does what it says, the same for the same seed."""

import numpy as np
import pytest

from dictation.bench import degrade
from dictation.bench.errors import ClipError
from dictation.frames import rms_dbfs
from tests.fakes import sounds

RATE = 16_000


@pytest.fixture(scope="module")
def voice():
    return sounds.clip("en/wyoming-lamp")[:, None]


def applied(voice, text, clip="a", seed=0):
    return degrade.apply(voice, RATE, degrade.parse(text), clip, seed)


@pytest.mark.parametrize("text", [*degrade.FAMILY, "cut:0.5", "noise:10+telephone+loss:20"])
def test_the_same_seed_gives_the_same_sound_and_another_clip_another_one(voice, text):
    samples, rate_hz = applied(voice, text)
    again, _ = applied(voice, text)
    assert np.array_equal(samples, again) and samples.dtype == np.float32 and np.isfinite(samples).all()
    assert np.abs(samples).max() <= 1.5 and rate_hz > 0
    if any(kind in text for kind in ("noise", "echo", "loss")):
        assert not np.array_equal(samples, applied(voice, text, clip="b")[0])
        assert not np.array_equal(samples, applied(voice, text, seed=1)[0])


def test_noise_lies_as_many_db_below_the_voice_as_it_says(voice):
    noisy, _ = applied(voice, "noise:6")
    assert rms_dbfs(voice) - rms_dbfs(noisy - voice) == pytest.approx(6, abs=0.2)


def test_gain_and_clipping_change_the_level(voice):
    quiet, _ = applied(voice, "gain:-20")
    assert rms_dbfs(voice) - rms_dbfs(quiet) == pytest.approx(20, abs=0.1)
    driven, _ = applied(voice, "clip:12")
    assert np.mean(np.abs(driven) >= 1.0) > 0.001


def test_a_telephone_has_a_narrow_band_at_8_khz(voice):
    samples, rate_hz = applied(voice, "telephone")
    power = np.abs(np.fft.rfft(samples[:, 0])) ** 2
    hz = np.fft.rfftfreq(len(samples), 1 / rate_hz)
    assert rate_hz == 8_000
    assert power[hz < 150].sum() < 0.01 * power.sum()


def test_packets_are_lost_at_about_the_rate_and_in_bursts(voice):
    long = np.tile(np.full_like(voice, 0.1), (40, 1))
    samples, _ = degrade.apply(long, RATE, degrade.parse("loss:10"), "a", 0)
    packets = samples[: len(samples) // 320 * 320, 0].reshape(-1, 320)
    lost = ~packets.any(axis=1)
    runs = np.diff(np.flatnonzero(np.diff(np.concatenate([[0], lost, [0]]))))[::2]
    assert lost.mean() == pytest.approx(0.1, abs=0.03) and 1.5 < runs.mean() < 2.6


def test_zeros_come_first_and_silence_is_never_exact_zeros(voice):
    zeros, _ = applied(voice, "zeros:1")
    assert not zeros[:RATE].any() and np.array_equal(zeros[RATE:], voice)
    for text in ("before:1", "after:1", "between:1"):
        samples, _ = applied(voice, text)
        assert len(samples) == len(voice) + RATE
    before, _ = applied(voice, "before:1")
    assert before[:RATE].all() and rms_dbfs(before[:RATE]) < -75


def test_layouts_keep_the_voice_in_the_channel_they_say(voice):
    for text, n, place in (("stereo", 2, 0), ("left", 2, 0), ("right", 2, 1), ("8", 8, 7)):
        samples, _ = applied(voice, f"channels:{text}")
        assert samples.shape == (len(voice), n) and np.array_equal(samples[:, place], voice[:, 0])
    left, _ = applied(voice, "channels:left")
    assert not left[:, 1].any()


def test_rates_and_cuts(voice):
    assert applied(voice, "rate:44100")[1] == 44_100
    assert len(applied(voice, "cut:1")[0]) == len(voice) - RATE
    assert len(applied(voice, "cut:100")[0]) == 0


@pytest.mark.parametrize("text", [*degrade.FAMILY, "cut:0.5"])
def test_nothing_at_all_can_be_degraded(text):
    samples, _ = applied(np.zeros((0, 1), np.float32), text)
    assert np.isfinite(samples).all()


@pytest.mark.parametrize(
    "text", ["noise:", "loud", "noise:x", "noise:1000", "gain:nan", "cut", "channels:7", "noise:10++loss", "rate:1"]
)
def test_what_is_no_degradation_is_a_sentence(text):
    if text == "noise:":
        assert degrade.parse(text) == degrade.parse("noise:10")
        return
    with pytest.raises(ClipError):
        degrade.parse(text)


@pytest.mark.parametrize("text", ["", "none", "noise:10", "telephone", "noise:10+telephone+channels:8"])
def test_steps_are_written_as_they_are_read(text):
    assert degrade.written(degrade.parse(text)) == text.replace("none", "")
