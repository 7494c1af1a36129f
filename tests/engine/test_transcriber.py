"""Whole path on real weights: clips to text, silence, bad input, long audio, seek."""

from __future__ import annotations

import re
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import soundfile
import whisper

import engine
from engine.audio import SAMPLE_RATE_HZ, Clip, read_clip
from engine.decode import DecodingOptions
from engine.errors import AudioError, Cancelled, EngineError, OptionError
from engine.gguf import bundle
from engine.transcriber import Transcriber, quietest_cut
from tests.engine.openai_model import openai_model

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


def test_segments_of_long_audio_are_openais(tiny_en: Transcriber, tiny_en_q8: Path) -> None:
    clip = np.concatenate([read_clip(SPEECH / "en" / f"lj001-000{i}.flac") for i in range(1, 6)])
    theirs = whisper.transcribe(
        openai_model(bundle.load(tiny_en_q8)),
        clip,
        fp16=False,
        temperature=0.0,
        condition_on_previous_text=False,
        language="en",
    )
    ours = tiny_en.transcribe(clip, DecodingOptions(timestamps=True, temperatures=(0.0,), n_previous=0))
    assert [segment.text for segment in ours.segments] == [segment["text"] for segment in theirs["segments"]]
    for mine, their in zip(ours.segments, theirs["segments"], strict=True):
        # In its last window OpenAI pads the mel with zeros, we pad the audio: a time may move by a few steps of 20 ms
        assert mine.start_s == pytest.approx(their["start"], abs=0.1)
        assert mine.end_s == pytest.approx(min(their["end"], ours.duration_s), abs=0.1)


@pytest.mark.parametrize(
    "clip", ["de/leopard-de", "fr/leopard-fr", "it/leopard-it", "pt/leopard-pt", "zh/aishell-BAC009S0724W0121"]
)
def test_the_language_of_short_windows_is_that_of_whole_ones(base: Transcriber, clip: str) -> None:
    samples = read_clip(SPEECH / f"{clip}.flac")
    assert base.transcribe(samples, DecodingOptions(sample_len=24)).language == clip[:2]


def test_three_hours_of_silence_take_bounded_memory(tiny_en: Transcriber, tmp_path: Path) -> None:
    path = tmp_path / "silence.flac"
    with soundfile.SoundFile(path, "w", SAMPLE_RATE_HZ, 1, subtype="PCM_16") as file:
        for _ in range(180):
            file.write(np.zeros(60 * SAMPLE_RATE_HZ, np.int16))
    done = []
    tracemalloc.start()
    with Clip(path) as clip:
        transcript = tiny_en.transcribe(clip, progress=lambda seconds, total: done.append((seconds, total)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert transcript.text == "" and transcript.duration_s == 3 * 3600
    assert done == sorted(done) and done[-1] == (3 * 3600, 3 * 3600)
    assert peak < 60e6


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


def test_a_window_that_was_given_up_is_done_again_and_the_text_is_the_same(tiny_en: Transcriber) -> None:
    clip = read_clip(SPEECH / "en" / "gcp-mountain-view.flac")
    job, asked = tiny_en.begin(clip), iter(range(7))
    with pytest.raises(Cancelled):
        job.step(lambda: next(asked, None) is None)
    while job.step():
        pass
    whole = tiny_en.transcribe(clip)
    assert (job.transcript().text, job.segments) == (whole.text, list(whole.segments))


@pytest.mark.parametrize("device", ["cpu", "numpy", "mlx-cpu"])
def test_a_closed_model_says_so(device: str, tiny_en_q8: Path) -> None:
    model = engine.load(tiny_en_q8, device)
    model.close()
    model.close()
    with pytest.raises(EngineError, match="closed"):
        model.transcribe(np.zeros(SAMPLE_RATE_HZ, np.float32) + 0.1)


@pytest.mark.parametrize("threads", [0, -5, 257, 10**12])
def test_an_impossible_number_of_threads_is_refused(threads: int, tiny_en_q8: Path) -> None:
    with pytest.raises(OptionError, match="threads"):
        engine.load(tiny_en_q8, "cpu", threads)


def test_arguments_of_the_wrong_type_get_a_sentence(tiny_en: Transcriber, tiny_en_q8: Path) -> None:
    for arguments in ((123,), (None,), (tiny_en_q8, 5), (tiny_en_q8, "cpu", "4")):
        with pytest.raises(OptionError, match=r"must be|is named by"):
            engine.load(*arguments)
    with pytest.raises(OptionError, match="must be DecodingOptions"):
        tiny_en.transcribe(np.zeros(SAMPLE_RATE_HZ, np.float32), {"language": "en"})  # type: ignore[arg-type]


def test_a_context_shorter_than_the_audio_costs_no_words(tiny_en: Transcriber) -> None:
    clip = read_clip(SPEECH / "en" / "jfk.flac")
    wishes = (None, DecodingOptions(audio_context=1.0))
    words = [re.findall(r"\w+", tiny_en.transcribe(clip, wish).text.lower()) for wish in wishes]
    assert len(words[0]) == 22 and words[0] == words[1]


@pytest.mark.parametrize("samples", [np.ones(16_000, np.int16), "speech", None, np.float32(1), np.ones((2, 8))])
def test_what_is_no_mono_float_audio_is_refused(samples: object, tiny_en: Transcriber) -> None:
    with pytest.raises(AudioError, match="one channel of floats"):
        tiny_en.transcribe(samples)  # type: ignore[arg-type]
