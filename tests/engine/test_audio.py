"""Clip reading, and log-mel against OpenAI's."""

from __future__ import annotations

import os
import tomllib
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import soundfile
import whisper
from hypothesis import given
from hypothesis import strategies as st

from engine.audio import (
    N_FRAMES,
    N_SAMPLES,
    SAMPLE_RATE_HZ,
    Clip,
    LogPowerStream,
    clean,
    log_mel,
    log_power,
    mel_filters,
    n_audible_frames,
    read_clip,
)
from engine.errors import AudioError

DATA = Path(__file__).parents[1] / "data" / "speech"
TOLERANCES = tomllib.loads((Path(__file__).parents[1] / "tolerances" / "audio.toml").read_text("utf-8"))


@pytest.fixture(scope="module")
def jfk() -> np.ndarray:
    return read_clip(DATA / "en" / "jfk.flac")


@pytest.mark.parametrize("n_mels", [80, 128])
def test_filters_are_openais(n_mels: int) -> None:
    theirs = whisper.audio.mel_filters("cpu", n_mels).numpy()
    assert np.abs(mel_filters(n_mels) - theirs).max() <= TOLERANCES["filters"]["difference"]


@pytest.mark.parametrize("n_mels", [80, 128])
@pytest.mark.parametrize("clip", ["en/jfk.flac", "en/gcp-today.flac", "zh/aishell-BAC009S0724W0121.flac"])
def test_log_mel_is_openais(clip: str, n_mels: int) -> None:
    samples = read_clip(DATA / clip)
    theirs = whisper.log_mel_spectrogram(whisper.pad_or_trim(samples), n_mels).numpy().T
    ours = log_mel(samples, mel_filters(n_mels))
    assert ours.shape == (N_FRAMES, n_mels) and ours.dtype == np.float32
    assert np.abs(ours - theirs).max() <= TOLERANCES["mel"]["difference"]


def test_a_window_inside_a_recording_has_the_frames_of_the_whole(jfk: np.ndarray) -> None:
    whole = log_power(jfk, mel_filters(80))
    start = 100 * 160
    part = log_power(jfk[start:], mel_filters(80), before=jfk[start - 200 : start])
    np.testing.assert_allclose(part, whole[100:], atol=1e-5)


@given(sizes=st.lists(st.integers(0, 5000), max_size=12), offset=st.integers(0, 100_000))
def test_a_stream_in_any_pieces_gives_the_frames_of_the_whole(sizes: list[int], offset: int) -> None:
    samples = read_clip(DATA / "en" / "jfk.flac")[offset : offset + sum(sizes)]
    stream = LogPowerStream(mel_filters(80))
    parts = np.split(samples, np.cumsum(sizes)[:-1]) if sizes else []
    frames = [stream.append(part) for part in parts]
    heard = np.concatenate([*frames, stream.rest()])
    assert len(heard) == n_audible_frames(len(samples))
    np.testing.assert_allclose(heard, log_power(samples, mel_filters(80)), atol=1e-4)


@given(st.lists(st.floats(width=32, allow_nan=True, allow_infinity=True), max_size=2000))
def test_any_numbers_give_a_finite_mel(values: list[float]) -> None:
    mel = log_mel(clean(np.array(values, np.float32)), mel_filters(80))
    assert np.isfinite(mel).all()


@pytest.mark.parametrize("values", [np.zeros((2, 100), np.float32), np.array(["a"]), np.array([1j])])
def test_what_is_not_one_channel_of_numbers_is_refused(values: np.ndarray) -> None:
    with pytest.raises(AudioError):
        clean(values)


@pytest.mark.parametrize("suffix", ["wav", "flac", "ogg", "mp3"])
@pytest.mark.parametrize(("rate_hz", "channels"), [(16_000, 1), (44_100, 2), (48_000, 4), (8_000, 1)])
def test_clips_of_every_kind_become_mono_at_16_khz(tmp_path: Path, suffix: str, rate_hz: int, channels: int) -> None:
    if suffix == "mp3" and channels > 2:
        channels = 2
    tone = 0.5 * np.sin(2 * np.pi * 440 * np.arange(2 * rate_hz) / rate_hz)
    path = tmp_path / f"tone.{suffix}"
    soundfile.write(path, np.repeat(tone[:, None], channels, axis=1), rate_hz)
    samples = read_clip(path)
    assert samples.dtype == np.float32 and abs(len(samples) - 2 * SAMPLE_RATE_HZ) < 0.1 * SAMPLE_RATE_HZ
    middle = samples[SAMPLE_RATE_HZ // 2 : SAMPLE_RATE_HZ // 2 + SAMPLE_RATE_HZ]
    assert np.abs(np.fft.rfft(middle)).argmax() == 440
    assert np.sqrt(np.square(middle).mean()) == pytest.approx(0.5 / 2**0.5, rel=0.02)


def test_windows_of_a_clip_are_slices_of_the_whole(tmp_path: Path, jfk: np.ndarray) -> None:
    path = tmp_path / "clip.wav"
    soundfile.write(path, np.tile(jfk, 4), SAMPLE_RATE_HZ, subtype="FLOAT")
    whole = read_clip(path)
    with Clip(path) as clip:
        for start in (0, 1000, 200_000, 200_000, 650_000, 10_000_000):
            np.testing.assert_array_equal(clip.window(start, N_SAMPLES), whole[start : start + N_SAMPLES])


def test_a_three_hour_file_is_read_in_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / "long.flac"
    minute = (np.random.default_rng(0).normal(0, 0.05, 60 * 8000) * 32767).astype(np.int16)
    with soundfile.SoundFile(path, "w", 8000, 1, subtype="PCM_16") as file:
        for _ in range(180):
            file.write(minute)
    tracemalloc.start()
    with Clip(path) as clip:
        assert clip.duration_s == 3 * 3600
        seek = 0
        while len(window := clip.window(seek, N_SAMPLES)):
            seek += len(window)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert abs(seek - 3 * 3600 * SAMPLE_RATE_HZ) <= 1
    assert peak < 16e6  # two windows and a few blocks of 10 s; the whole file would be 691 MB


def test_unusable_files_get_a_sentence_of_their_own(tmp_path: Path) -> None:
    empty, text, cut = tmp_path / "empty.wav", tmp_path / "text.wav", tmp_path / "cut.flac"
    empty.touch()
    text.write_text("not a sound")
    cut.write_bytes((DATA / "en" / "jfk.flac").read_bytes()[:30])
    for path, words in (
        (tmp_path / "nowhere.wav", "not there"),
        (tmp_path, "folder"),
        (empty, "empty"),
        (text, "not audio"),
        (cut, "not audio"),
    ):
        with pytest.raises(AudioError, match=words) as raised:
            read_clip(path)
        assert str(path) in str(raised.value)


def test_a_file_without_read_permission_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "private.wav"
    soundfile.write(path, np.zeros(100), SAMPLE_RATE_HZ)
    path.chmod(0)
    if os.access(path, os.R_OK):  # root may read everything: the refusal has to come from elsewhere

        def refuse(*_: object, **__: object) -> None:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(AudioError, match="may not be read"):
        read_clip(path)


def test_a_clip_with_the_wrong_suffix_is_read_for_what_it_is(tmp_path: Path, jfk: np.ndarray) -> None:
    path = tmp_path / "clip.mp3"
    path.write_bytes((DATA / "en" / "jfk.flac").read_bytes())
    np.testing.assert_array_equal(read_clip(path), jfk)


def test_a_damaged_file_gives_its_readable_part_or_a_sentence(tmp_path: Path, jfk: np.ndarray) -> None:
    whole = (DATA / "en" / "jfk.flac").read_bytes()
    path = tmp_path / "half.flac"
    path.write_bytes(whole[: len(whole) // 2])
    try:
        samples = read_clip(path)
    except AudioError as error:
        assert "damaged" in str(error)
    else:
        assert 0 < len(samples) < len(jfk)
