"""Whole path on real weights: clips to text, silence, bad input, long audio, seek."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import engine
from engine.audio import SAMPLE_RATE_HZ, read_clip
from engine.decode import DecodingOptions
from engine.errors import Cancelled, OptionError
from engine.transcriber import Transcriber, quietest_cut

SPEECH = Path(__file__).parents[1] / "data" / "speech"


@pytest.fixture(scope="module")
def tiny_en(tiny_en_q8: Path) -> Transcriber:
    return engine.load(tiny_en_q8, device="numpy")


@pytest.fixture(scope="module")
def base(base_q8: Path) -> Transcriber:
    return engine.load(base_q8, device="numpy")


def test_a_sentence_is_written_down(tiny_en: Transcriber) -> None:
    transcript = tiny_en.transcribe(read_clip(SPEECH / "en" / "jfk.flac"))
    assert transcript.text.lower().replace(",", "") == (
        "and so my fellow americans ask not what your country can do for you ask what you can do for your country."
    )
    assert transcript.language == "en" and transcript.language_probability is None
    assert transcript.timings.windows == 1 and transcript.timings.full_window_redos == 0


def test_a_multilingual_model_finds_the_language(base: Transcriber) -> None:
    transcript = base.transcribe(read_clip(SPEECH / "de" / "leopard-de.flac"))
    assert transcript.language == "de" and (transcript.language_probability or 0) > 0.9
    assert transcript.text.startswith("Der hinter diesem")


def test_detection_can_be_kept_to_the_users_own_languages(base: Transcriber) -> None:
    clip = read_clip(SPEECH / "de" / "leopard-de.flac")
    assert set(base.detect_language(clip, among=("en", "French"))) == {"en", "fr"}
    assert base.transcribe(clip, DecodingOptions(languages=("en", "fr"))).language in ("en", "fr")


@pytest.mark.parametrize(
    "samples",
    [
        np.zeros(0, np.float32),
        np.full(800, 0.1, np.float32),
        np.zeros(3 * SAMPLE_RATE_HZ, np.float32),
        np.full(SAMPLE_RATE_HZ, np.nan, np.float32),
    ],
    ids=["nothing", "50 ms", "digital silence", "NaN"],
)
def test_what_holds_no_speech_gives_no_text(tiny_en: Transcriber, samples: np.ndarray) -> None:
    assert tiny_en.transcribe(samples).text == ""


def test_infinite_samples_do_no_harm_to_the_rest(tiny_en: Transcriber) -> None:
    clip = read_clip(SPEECH / "en" / "gcp-mountain-view.flac")
    clip[200:210] = np.inf
    assert isinstance(tiny_en.transcribe(clip).text, str)


def test_times_part_long_audio_into_segments_that_cover_it(tiny_en: Transcriber) -> None:
    clip = np.concatenate([read_clip(SPEECH / "en" / f"lj001-000{i}.flac") for i in range(1, 6)])
    transcript = tiny_en.transcribe(clip, DecodingOptions(timestamps=True))
    times = [t for segment in transcript.segments for t in (segment.start_s, segment.end_s)]
    assert times == sorted(times) and times[-1] <= transcript.duration_s
    assert transcript.timings.windows >= 2
    for words in ("differs from most", "impressions from", "true printed book", "metal letters"):
        assert words in transcript.text


def test_long_audio_without_times_is_cut_in_a_pause() -> None:
    noise = np.random.default_rng(0).normal(0, 0.1, 30 * SAMPLE_RATE_HZ).astype(np.float32)
    noise[int(24.0 * SAMPLE_RATE_HZ) : int(24.4 * SAMPLE_RATE_HZ)] *= 0.01
    assert 24.0 < quietest_cut(noise) / SAMPLE_RATE_HZ < 24.4


def test_an_english_model_refuses_what_it_can_not_do(tiny_en: Transcriber) -> None:
    clip = np.zeros(SAMPLE_RATE_HZ, np.float32)
    with pytest.raises(OptionError, match="English only"):
        tiny_en.transcribe(clip, DecodingOptions(language="de"))
    with pytest.raises(OptionError, match="translate"):
        tiny_en.transcribe(clip, DecodingOptions(task="translate"))


def test_a_cancelled_job_stops_and_the_next_one_runs(tiny_en: Transcriber) -> None:
    clip = read_clip(SPEECH / "en" / "gcp-mountain-view.flac")
    with pytest.raises(Cancelled):
        tiny_en.transcribe(clip, cancelled=lambda: True)
    assert tiny_en.transcribe(clip).text.lower().startswith("mountain view")
