"""Word times: OpenAI's on the same weights, the runtimes against each other, and what holds for any text."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
import whisper
from hypothesis import given
from hypothesis import strategies as st
from whisper import timing

import engine
from engine import word_times
from engine.audio import N_SAMPLES, read_clip
from engine.cpu.native import NativeRuntime
from engine.cpu.reference import NumpyRuntime
from engine.decode import DecodingOptions
from engine.gguf import bundle
from engine.mlx_runtime import MlxRuntime
from engine.runtime import F32, N_AUDIO_CTX
from engine.tokenizer import Tokenizer
from engine.transcript import Word
from engine.word_times import Timed
from tests.conftest import make_random_checkpoint, starter_bundle
from tests.engine.openai_model import openai_model

SPEECH = Path(__file__).parents[1] / "data" / "speech"
# Two float32 sums that differ in their last bits part in a pause, where nothing is looked at, by a step or two
MEDIAN_S, WORST_S = 0.0, 0.06
# Eight-bit keys and queries move a word's border by a step or two; by more only where it lies in a pause
NATIVE_MEDIAN_S, NATIVE_WORST_S = 0.02, 0.30


@cache
def tokenizer() -> Tokenizer:
    return Tokenizer.of(bundle.load(starter_bundle("base", "Q8_0")))


def clip(name: str, padded: bool = False) -> F32:
    """padded: to a whole window, since OpenAI pads the end of a recording as mel and we pad it as audio."""
    samples = read_clip(SPEECH / name)
    return np.pad(samples, (0, N_SAMPLES - len(samples))) if padded else samples


def spoken(name: str, model: Path, device: str, padded: bool = False, **options: object) -> list[Word]:
    with_words = DecodingOptions(word_times=True, **{"temperatures": (0.0,), **options})
    transcriber = engine.load(model, device=device)
    try:
        transcript = transcriber.transcribe(clip(name, padded), with_words)
    finally:
        transcriber.close()
    assert "".join(word.text for word in transcript.segments[0].words).strip() in transcript.text
    return [word for segment in transcript.segments for word in segment.words]


@pytest.mark.parametrize(
    ("model", "name", "language"),
    [("tiny.en", "en/jfk.flac", "en"), ("base", "en/lj001-0008.flac", "en"), ("base", "de/leopard-de.flac", "de")],
)
def test_words_and_their_times_are_openais(
    model: str, name: str, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for function in ("dtw_cpu", "backtrace"):  # without the minute that compiling takes
        monkeypatch.setattr(timing, function, getattr(timing, function).py_func)
    path = starter_bundle(model, "Q8_0")
    ours = spoken(name, path, "numpy", padded=True, language=language, timestamps=True)
    checkpoint = bundle.load(path)
    reference = openai_model(checkpoint)
    heads = np.zeros((checkpoint.dims.n_text_layer, checkpoint.dims.n_text_head), bool)
    heads[tuple(np.array(word_times.alignment_heads(checkpoint)).T)] = True
    reference.register_buffer("alignment_heads", torch.tensor(heads).to_sparse(), persistent=False)
    segments = whisper.transcribe(
        reference, clip(name, padded=True), language=language, temperature=0.0, word_timestamps=True, fp16=False,
        condition_on_previous_text=False,
    )["segments"]  # fmt: skip
    theirs = [word for segment in segments for word in segment["words"]]
    assert [word.text for word in ours] == [word["word"] for word in theirs]
    mine = np.array([(word.start_s, word.end_s) for word in ours])
    other = np.array([(word["start"], word["end"]) for word in theirs])
    apart = np.abs(mine - other)
    assert np.median(apart) <= MEDIAN_S + 1e-6 and apart.max() <= WORST_S + 1e-6, apart
    probabilities = np.array([word.probability for word in ours]) - [word["probability"] for word in theirs]
    assert np.abs(probabilities).max() < 0.01


@pytest.mark.parametrize("model", ["tiny.en", "base"])
def test_the_native_runtime_hears_words_when_numpy_does_also_without_timestamps(model: str) -> None:
    path = starter_bundle(model, "Q8_0")
    native, oracle = (
        spoken("en/lj001-0008.flac", path, device, language="en", timestamps=timestamps)
        for device, timestamps in [("cpu", False), ("numpy", True)]
    )
    assert [word.text for word in native] == [word.text for word in oracle]
    apart = [abs(a.start_s - b.start_s) for a, b in zip(native, oracle, strict=True)]
    assert np.median(apart) <= NATIVE_MEDIAN_S + 1e-6 and max(apart) <= NATIVE_WORST_S, apart


@pytest.mark.parametrize("runtime", [NativeRuntime, lambda checkpoint: MlxRuntime(checkpoint, "mlx-cpu")])
def test_what_the_heads_look_at_is_what_numpy_sees(runtime) -> None:
    checkpoint = make_random_checkpoint(preset="Q8_0")
    mel = np.random.default_rng(0).normal(0, 0.5, (3000, 80)).astype(np.float32)
    tokens = [50258, 50259, 50359, 50363, *range(300, 340), 50257]
    heads = [(0, 1), (1, 0)]
    results = []
    for one in (runtime(checkpoint), NumpyRuntime(checkpoint)):
        decoder = one.decoder(one.encode(mel))
        weights, logprobs = decoder.align(tokens, heads, 50257)
        assert weights.shape == (2, len(tokens), N_AUDIO_CTX) and logprobs.shape == (len(tokens) - 1,)
        np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-3)
        assert logprobs[-1] == -np.inf and np.isfinite(logprobs[3:-1]).all(), "end of text is no word"
        assert decoder.length == 0
        results.append((weights, logprobs[3:-1]))
        one.close()
    (mine, my_logprobs), (theirs, their_logprobs) = results
    assert np.abs(mine - theirs).sum(-1).mean() < 0.1, "of 2, were nothing in common"
    assert np.abs(my_logprobs - their_logprobs).mean() < 0.1


def test_chinese_is_parted_into_characters(base_q8: Path) -> None:
    words = spoken("zh/aishell-BAC009S0724W0121.flac", base_q8, "cpu", language="zh")
    assert len(words) > 5 and all(len(word.text.strip("，。、？！")) <= 2 for word in words), words
    assert all(a.start_s <= a.end_s <= b.end_s for a, b in pairwise(words))


def test_words_lie_in_the_recording_and_in_their_order_beyond_the_first_window(tiny_en_q8: Path) -> None:
    clips = [read_clip(SPEECH / "en" / f"lj001-000{n}.flac") for n in (1, 3, 5, 8)]
    samples = np.concatenate([part for clip in clips for part in (clip, np.zeros(16000, np.float32))])
    assert len(samples) > 30 * 16000
    transcriber = engine.load(tiny_en_q8, device="cpu")
    transcript = transcriber.transcribe(samples, DecodingOptions(word_times=True))
    assert len(transcript.segments) > 1
    words = [word for segment in transcript.segments for word in segment.words]
    assert "".join(word.text for word in words).split() == transcript.text.split()
    assert all(word.start_s <= word.end_s for word in words)
    assert all(a.end_s <= b.end_s + 1e-6 for a, b in pairwise(words))
    assert words[-1].end_s <= transcript.duration_s
    for segment in transcript.segments:
        assert segment.start_s == pytest.approx(segment.words[0].start_s, abs=0.01)
        assert segment.end_s == pytest.approx(segment.words[-1].end_s, abs=0.01)
    # the second sentence begins after a pause of a second
    second = next(word for word in words if word.start_s > len(clips[0]) / 16000 + 0.5)
    assert second.start_s == pytest.approx(len(clips[0]) / 16000 + 1, abs=0.4)


def test_a_silent_recording_has_no_words(tiny_en_q8: Path) -> None:
    transcript = engine.load(tiny_en_q8, device="cpu").transcribe(
        np.zeros(48_000, np.float32), DecodingOptions(word_times=True)
    )
    assert transcript.segments == ()


# ------------------------------------------------------------------------------------------------- pure parts


def test_the_steps_are_openais_for_any_attention(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "backtrace", timing.backtrace.py_func)
    random = np.random.default_rng(0)
    for n_tokens, n_steps in [(1, 3), (5, 2), (9, 40), (30, 200)]:
        weights = random.dirichlet(np.full(n_steps, 0.3), (3, n_tokens)).astype(np.float32)
        theirs = torch.tensor(weights)
        deviation, mean = torch.std_mean(theirs, dim=-2, keepdim=True, unbiased=False)
        matrix = timing.median_filter((theirs - mean) / deviation.clamp(min=1e-12), 7).mean(axis=0)
        rows, steps = timing.dtw_cpu.py_func(-matrix.double().numpy())
        begins = steps[np.pad(np.diff(rows), (1, 0), constant_values=1).astype(bool)]
        assert word_times.token_steps(weights, n_steps).tolist() == begins.tolist()


def cheapest(cost: np.ndarray) -> float:
    """By the definition, cell after cell."""
    total = np.full((cost.shape[0] + 1, cost.shape[1] + 1), np.inf)
    total[0, 0] = 0
    for i in range(1, total.shape[0]):
        for j in range(1, total.shape[1]):
            total[i, j] = cost[i - 1, j - 1] + min(total[i - 1, j - 1], total[i - 1, j], total[i, j - 1])
    return float(total[-1, -1])


@given(st.integers(1, 7), st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_the_path_is_the_cheapest_that_never_goes_back(n: int, m: int, seed: int) -> None:
    cost = np.random.default_rng(seed).normal(size=(n, m)).astype(np.float32)
    first = word_times._first_steps(cost)
    assert first[0] == 0 and (np.diff(first) >= 0).all() and first[-1] < m
    # a row is left where the next begins, or one step before, whichever is cheaper: the sum of the best of these
    best = np.inf
    for ends in np.ndindex(*[2] * (n - 1)):
        last = [*(first[1:] - np.array(ends, int)), m - 1]
        if all(a <= b for a, b in zip(first, last, strict=True)):
            best = min(best, sum(cost[i, first[i] : last[i] + 1].sum() for i in range(n)))
    assert best == pytest.approx(cheapest(cost), abs=1e-4)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40), st.sampled_from(["en", "zh", "de", "ja"]))
def test_words_are_the_text_and_all_of_its_tokens(text: str, language: str) -> None:
    tokens = tokenizer().encode(text)
    words = word_times.split_words(tokens, tokenizer(), language)
    assert "".join(word for word, _ in words) == text
    assert sum(n for _, n in words) == len(tokens)
    joined = word_times.with_marks_joined([Timed(word, n, 0, 0, 0) for word, n in words])
    assert "".join(word.text for word in joined) == text
    assert sum(word.n_tokens for word in joined) == len(tokens)


def test_marks_belong_to_the_words_that_they_touch() -> None:
    words = word_times.split_words(tokenizer().encode(' He said: "yes", (and left).'), tokenizer(), "en")
    joined = word_times.with_marks_joined([Timed(word, n, i, i + 1, 1) for i, (word, n) in enumerate(words)])
    assert [word.text for word in joined] == [" He", " said:", ' "yes",', " (and", " left)."]


def test_heads_are_the_files_or_the_published_or_the_upper_half() -> None:
    checkpoint = make_random_checkpoint(n_state=128, n_text_layer=4)
    assert word_times.alignment_heads(replace(checkpoint, alignment_heads=((1, 1),))) == ((1, 1),)
    assert word_times.alignment_heads(checkpoint) == ((2, 0), (2, 1), (3, 0), (3, 1))
    for name in ("tiny.en", "base"):
        from_file = bundle.load(starter_bundle(name, "Q8_0"))
        assert set(word_times.alignment_heads(replace(from_file, alignment_heads=None))) == set(
            from_file.alignment_heads or ()
        )
