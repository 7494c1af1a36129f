"""One window into tokens, against openai-whisper's `decode`; drafts, fallback, guards."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
import whisper
from hypothesis import given, settings
from hypothesis import strategies as st
from whisper.utils import compression_ratio as openai_compression_ratio

import engine
from engine.audio import log_mel, log_power, read_clip
from engine.decode import (
    Decoded,
    DecodingOptions,
    WindowDecoder,
    compression_ratio,
    is_loop,
    language_probabilities,
    text_before,
    token_cap,
)
from engine.errors import OptionError
from engine.gguf import bundle
from engine.transcriber import Transcriber
from tests.engine.openai_model import openai_model

SPEECH = Path(__file__).parents[1] / "data" / "speech"


@pytest.fixture(scope="module")
def tiny_en(tiny_en_q8: Path) -> Transcriber:
    return engine.load(tiny_en_q8, device="numpy")


@pytest.fixture(scope="module")
def openai_tiny_en(tiny_en_q8: Path) -> whisper.model.Whisper:
    return openai_model(bundle.load(tiny_en_q8))


def window(model: Transcriber, clip: str, options: DecodingOptions) -> WindowDecoder:
    samples = read_clip(SPEECH / clip)
    return model.encode_window(log_power(samples, model.mel_filters), len(samples) / 16_000, options)


@pytest.mark.parametrize(
    "wish",
    [
        {},
        {"timestamps": True},
        {"prompt": "Ask not, my fellow Americans!"},
        {"prompt": "Kennedy", "timestamps": True},
    ],
    ids=["plain", "times", "prompt", "prompt and times"],
)
def test_a_window_is_decoded_as_by_openai(
    tiny_en: Transcriber, openai_tiny_en: whisper.model.Whisper, wish: dict[str, object]
) -> None:
    decoded = window(tiny_en, "en/jfk.flac", DecodingOptions(**wish)).decode()
    mel = torch.tensor(log_mel(read_clip(SPEECH / "en/jfk.flac"), tiny_en.mel_filters).T)
    options = whisper.DecodingOptions(
        fp16=False, language="en", prompt=wish.get("prompt"), without_timestamps="timestamps" not in wish
    )
    theirs = whisper.decode(openai_tiny_en, mel, options)
    assert list(decoded.tokens) == theirs.tokens
    assert decoded.text.strip() == theirs.text
    assert decoded.avg_logprob == pytest.approx(theirs.avg_logprob, abs=1e-3)
    assert decoded.no_speech_prob == pytest.approx(theirs.no_speech_prob, rel=1e-2)
    assert decoded.compression_ratio == pytest.approx(theirs.compression_ratio)


def decoded_to(*tokens: int, **what: object) -> Decoded:
    return Decoded(
        tokens, "", "en", None, **{"temperature": 0.0, **what}, avg_logprob=0, compression_ratio=1, no_speech_prob=0
    )


def test_the_end_of_a_text_that_can_be_trusted_goes_before_the_next_window() -> None:
    options, eot = DecodingOptions(n_previous=3), 50256
    assert text_before((), decoded_to(1, 2, eot + 200), options, eot) == (1, 2)
    assert text_before((1, 2), decoded_to(3, 4), options, eot) == (2, 3, 4)
    assert text_before((1, 2), decoded_to(3), DecodingOptions(n_previous=0), eot) == ()
    assert text_before((1, 2), decoded_to(3, temperature=0.6), options, eot) == ()
    assert text_before((1, 2), decoded_to(3, 3, ended=False), options, eot) == ()


def test_the_text_goes_on_from_a_prefix(tiny_en: Transcriber) -> None:
    decoded = window(tiny_en, "en/jfk.flac", DecodingOptions(prefix="And so my fellow Americans")).decode()
    assert decoded.text.lower().lstrip(" ,").startswith("ask not")


def test_language_probabilities_are_openais(base_q8: Path) -> None:
    model = engine.load(base_q8, device="numpy")
    mel = log_mel(read_clip(SPEECH / "de" / "leopard-de.flac"), model.mel_filters)
    _, theirs = whisper.detect_language(openai_model(bundle.load(base_q8)), torch.tensor(mel.T))
    ours = model.detect_language(read_clip(SPEECH / "de" / "leopard-de.flac"))
    assert set(ours) == set(theirs) and max(ours, key=ours.__getitem__) == "de"
    for code, probability in theirs.items():
        assert ours[code] == pytest.approx(probability, abs=1e-4)


def test_detection_among_no_known_language_is_refused(tiny_en: Transcriber) -> None:
    with pytest.raises(OptionError, match="none of the chosen"):
        language_probabilities(np.zeros(51864, np.float32), tiny_en.tokenizer, ["de"])


@pytest.fixture(scope="module")
def hello(tiny_en: Transcriber) -> tuple[WindowDecoder, Decoded]:
    clip = window(tiny_en, "en/gcp-hello-gemini.flac", DecodingOptions())
    return clip, clip.decode()


@settings(max_examples=12)
@given(data=st.data())
def test_a_draft_never_changes_the_text(data: st.DataObject, hello: tuple[WindowDecoder, Decoded]) -> None:
    clip, plain = hello
    cut = data.draw(st.integers(0, len(plain.tokens)))
    noise = data.draw(st.lists(st.integers(0, 50_000), max_size=40))
    drafted = clip.decode(draft=[*plain.tokens[:cut], *noise])
    assert drafted.tokens == plain.tokens
    assert drafted.avg_logprob == pytest.approx(plain.avg_logprob, abs=1e-4)


def test_a_right_draft_is_counted_as_accepted(tiny_en: Transcriber) -> None:
    clip = window(tiny_en, "en/gcp-today.flac", DecodingOptions())
    tokens = clip.decode().tokens
    clip.decode(draft=tokens)
    assert clip.timings.draft_tokens == clip.timings.draft_accepted == len(tokens)


def test_a_text_that_is_not_trusted_goes_up_the_whole_ladder(tiny_en: Transcriber) -> None:
    options = DecodingOptions(logprob_threshold=0.0, no_speech_threshold=None, temperatures=(0.0, 0.2, 0.4), best_of=2)
    clip = window(tiny_en, "en/gcp-today.flac", options)
    assert clip.decode_with_fallback().temperature == 0.4
    assert clip.timings.fallbacks == 2


def test_a_trusted_text_is_taken_at_once(tiny_en: Transcriber) -> None:
    clip = window(tiny_en, "en/jfk.flac", DecodingOptions())
    assert clip.decode_with_fallback().temperature == 0.0 and clip.timings.fallbacks == 0


def test_sampling_draws_again_after_the_same_prompt(tiny_en: Transcriber) -> None:
    clip = window(tiny_en, "en/jfk.flac", DecodingOptions(best_of=1))
    first, _, again = clip.decode(0.8), clip.decode(0.0), clip.decode(0.8)
    assert first.tokens == again.tokens


def test_probable_silence_is_not_decoded_again(tiny_en: Transcriber) -> None:
    options = DecodingOptions(no_speech_threshold=0.0, logprob_threshold=0.0)
    clip = window(tiny_en, "en/gcp-today.flac", options)
    decoded = clip.decode_with_fallback()
    assert decoded.is_silence(options) and clip.timings.fallbacks == 0


def test_a_short_window_that_does_not_end_is_decoded_again_with_the_full_one(tiny_en: Transcriber) -> None:
    samples = read_clip(SPEECH / "en" / "gcp-hello-gemini.flac")
    transcript = tiny_en.transcribe(samples, DecodingOptions(sample_len=3))
    assert transcript.timings.full_window_redos == 1
    assert tiny_en.transcribe(samples, DecodingOptions(sample_len=3, audio_context="full")).text == transcript.text


@given(st.text())
def test_compression_ratio_is_openais(text: str) -> None:
    if text:
        assert compression_ratio(text) == openai_compression_ratio(text)


@given(phrase=st.lists(st.integers(0, 50_000), min_size=1, max_size=8), lead=st.lists(st.integers(0, 50_000)))
def test_a_phrase_that_goes_round_is_a_loop(phrase: list[int], lead: list[int]) -> None:
    assert is_loop([*lead, *phrase * 32])


def test_text_that_repeats_a_little_is_no_loop() -> None:
    assert not is_loop([1, 2, 3] * 8)
    assert not is_loop(list(range(100)))
    assert not is_loop([5] * 20 + list(range(12)))


def test_short_audio_holds_few_tokens() -> None:
    assert token_cap(0.5, 224) == 32 and token_cap(30, 224) == 224


@pytest.mark.parametrize(
    "wish",
    [
        {"temperatures": ()},
        {"temperatures": (-1.0,)},
        {"best_of": 0},
        {"sample_len": 0},
        {"audio_context": "short"},
        {"audio_context": 0.0},
        {"audio_context": 0.001},
        {"audio_context": None},
        {"temperatures": 0.2},
        {"best_of": "5"},
        {"timestamps": "yes"},
        {"language": 7},
        {"audio_context": float("nan")},
    ],
)
def test_impossible_options_are_refused(wish: dict[str, object]) -> None:
    with pytest.raises(OptionError):
        DecodingOptions(**wish)
