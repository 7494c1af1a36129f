"""The NumPy runtime: openai-whisper on the same weights, and its own promises (verify, rewind, slabs, stream)."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch

from engine.audio import FRAMES_PER_POSITION, log_mel, log_power, mel_filters, read_clip
from engine.checkpoint import Checkpoint
from engine.cpu.reference import MAX_SILENCES, NumpyDecoder, NumpyRuntime, gelu
from engine.errors import Cancelled
from engine.gguf import bundle
from engine.runtime import MARGIN_POSITIONS, N_AUDIO_CTX
from engine.tokenizer import Tokenizer
from tests.engine.openai_model import openai_model

TESTS = Path(__file__).parents[2]
CLIP = TESTS / "data" / "speech" / "en" / "gcp-hello-gemini.flac"  # 3 s
TOLERANCES = tomllib.loads((TESTS / "tolerances" / "reference.toml").read_text("utf-8"))


@pytest.fixture(scope="module")
def checkpoint(tiny_en_q8: Path) -> Checkpoint:
    return bundle.load(tiny_en_q8)


@pytest.fixture(scope="module")
def runtime(checkpoint: Checkpoint) -> NumpyRuntime:
    return NumpyRuntime(checkpoint)


@pytest.fixture(scope="module")
def tokenizer(checkpoint: Checkpoint) -> Tokenizer:
    return Tokenizer.of(checkpoint)


@pytest.fixture(scope="module")
def power() -> np.ndarray:
    return log_power(read_clip(CLIP), mel_filters(80))


@pytest.fixture
def decoder(runtime: NumpyRuntime, tokenizer: Tokenizer) -> NumpyDecoder:
    audio = runtime.encode(log_mel(read_clip(CLIP), mel_filters(80)), audio_context=200)
    decoder = runtime.decoder(audio)
    decoder.prefill(tokenizer.sot_sequence("en", "transcribe", timestamps=False))
    return decoder


def greedy(decoder: NumpyDecoder, tokenizer: Tokenizer, n_tokens: int = 10) -> list[int]:
    return [choice.token for choice in islice(decoder.generate(tokenizer.rules(False)), n_tokens)]


def test_gelu_is_exact_to_float32() -> None:
    x = np.linspace(-10, 10, 20_001, dtype=np.float32)
    exact = torch.nn.functional.gelu(torch.tensor(x)).numpy()
    assert np.abs(gelu(x) - exact).max() <= TOLERANCES["gelu"]["difference"]


@pytest.mark.parametrize("name", ["tiny_en_q8", "base_q8"])
def test_states_and_the_logits_of_twenty_steps_are_openais(name: str, request: pytest.FixtureRequest) -> None:
    checkpoint = bundle.load(request.getfixturevalue(name))
    tokenizer, runtime, theirs = Tokenizer.of(checkpoint), NumpyRuntime(checkpoint), openai_model(checkpoint)
    mel = log_mel(read_clip(TESTS / "data" / "speech" / "en" / "jfk.flac"), mel_filters(80))
    prompt = tokenizer.sot_sequence("en", "transcribe", timestamps=False)

    audio = runtime.encode(mel)
    decoder = runtime.decoder(audio)
    decoder.prefill(prompt)
    rows, tokens = [], list(prompt)
    for choice in islice(decoder.generate(tokenizer.rules(False)), 20):
        rows.append(decoder.logits())
        tokens.append(choice.token)

    with torch.no_grad():
        states = theirs.embed_audio(torch.tensor(mel.T[None]))
        logits = theirs.logits(torch.tensor([tokens]), states)[0].numpy()
    assert np.abs(audio.states() - states[0].numpy()).max() <= TOLERANCES["states"]["difference"]
    assert np.abs(np.array(rows) - logits[len(prompt) - 1 : -1]).max() <= TOLERANCES["logits"]["difference"]


def test_a_random_model_of_128_mels_runs(random_checkpoint: Callable[..., Checkpoint]) -> None:
    checkpoint = random_checkpoint(n_mels=128, n_vocab=51866)
    runtime, tokenizer = NumpyRuntime(checkpoint), Tokenizer.of(checkpoint)
    mel = log_mel(read_clip(CLIP), mel_filters(128))
    decoder = runtime.decoder(runtime.encode(mel, audio_context=100))
    decoder.prefill(tokenizer.sot_sequence("yue", "transcribe", timestamps=True))
    choices = list(islice(decoder.generate(tokenizer.rules(timestamps=True)), 5))
    assert choices[0].token >= tokenizer.timestamp_begin
    assert all(np.isfinite(choice.logprob) for choice in choices)


def test_a_right_draft_is_accepted_whole_and_decoding_goes_on(decoder: NumpyDecoder, tokenizer: Tokenizer) -> None:
    rules, start = tokenizer.rules(False), decoder.length
    tokens = greedy(decoder, tokenizer)
    decoder.rewind(start - 1)
    decoder.prefill([tokenizer.no_timestamps])
    choices = decoder.verify(tokens[:6], rules)
    assert [choice.token for choice in choices] == tokens[:7]
    assert decoder.length == start + 6
    rest = [choice.token for choice in islice(decoder.generate(rules, sampled=tokens[:6]), 4)]
    assert rest == tokens[6:10]


@pytest.mark.parametrize("wrong_at", [0, 1, 4])
def test_a_draft_is_accepted_up_to_its_first_wrong_token(
    decoder: NumpyDecoder, tokenizer: Tokenizer, wrong_at: int
) -> None:
    rules, start = tokenizer.rules(False), decoder.length
    tokens = greedy(decoder, tokenizer)
    decoder.rewind(start - 1)
    decoder.prefill([tokenizer.no_timestamps])
    draft = tokens[:6]
    draft[wrong_at] = 1000
    choices = decoder.verify(draft, rules)
    assert [choice.token for choice in choices] == tokens[: wrong_at + 1]
    assert decoder.length == start + wrong_at
    again = [choice.token for choice in islice(decoder.generate(rules, sampled=tokens[:wrong_at]), 3)]
    assert again == tokens[wrong_at : wrong_at + 3]


def test_rewinding_and_filling_again_gives_the_same_logits(decoder: NumpyDecoder, tokenizer: Tokenizer) -> None:
    before, start = decoder.logits(), decoder.length
    greedy(decoder, tokenizer, 5)
    decoder.rewind(start - 1)
    decoder.prefill([tokenizer.no_timestamps])
    assert np.abs(decoder.logits() - before).max() <= TOLERANCES["rewind"]["difference"]


def test_decoding_ends_when_the_context_is_full(decoder: NumpyDecoder, tokenizer: Tokenizer) -> None:
    decoder.rewind(0)
    decoder.prefill([tokenizer.sot] * 440)
    assert len(list(decoder.generate(tokenizer.rules(False)))) == 9  # 8 fit in, the ninth needs no place
    assert decoder.length == 448


def test_a_seed_repeats_its_draws(decoder: NumpyDecoder, tokenizer: Tokenizer) -> None:
    def draw(seed: int) -> list[int]:
        decoder.rewind(1)
        decoder.prefill([tokenizer.no_timestamps])
        return [choice.token for choice in islice(decoder.generate(tokenizer.rules(False), 2.0, seed), 8)]

    assert draw(1) == draw(1) != draw(2)


def test_encoding_leaves_the_silence_cache_as_it_was_and_keeps_few(
    random_checkpoint: Callable[..., Checkpoint],
) -> None:
    runtime, mel = NumpyRuntime(random_checkpoint()), log_mel(read_clip(CLIP), mel_filters(80))
    silence = runtime.silence(float(mel[-1, 0]))
    before = silence.states.copy(), silence.keys[0].copy()
    runtime.encode(mel, audio_context=100)
    np.testing.assert_array_equal(silence.states, before[0])
    np.testing.assert_array_equal(silence.keys[0], before[1])
    assert runtime.silence(float(mel[-1, 0])) is silence
    for level in (-2.0, -1.5, -1.0, -0.5, 0.0, 0.5):
        runtime.silence(level)
    assert len(runtime._silences) == MAX_SILENCES


def test_a_stream_heard_at_once_is_the_window_with_the_silence_cache(runtime: NumpyRuntime, power: np.ndarray) -> None:
    stream = runtime.encoder_stream()
    stream.append(power)
    streamed = stream.state()
    assert streamed.n_encoded == stream.n_encoded == stream.n_heard + MARGIN_POSITIONS < N_AUDIO_CTX
    whole = runtime.encode(log_mel(read_clip(CLIP), mel_filters(80)), audio_context=streamed.n_encoded)
    np.testing.assert_array_equal(streamed.states(), whole.states())


def test_kept_positions_stay_and_the_others_see_them(runtime: NumpyRuntime, power: np.ndarray) -> None:
    stream = runtime.encoder_stream()
    stream.append(power[:200])
    first = stream.state().states()
    stream.append(power[200:])
    second = stream.state(keep=60).states()
    np.testing.assert_array_equal(second[:60], first[:60])
    assert np.abs(second[60:100] - first[60:100]).max() > 0.01, "nothing was encoded again"
    alone = runtime.encoder_stream()
    alone.append(power)
    difference = np.abs(second[60:] - alone.state().states()[60:]).mean()
    assert difference < 0.1 * np.abs(second).mean(), "the kept past was not attended to"


def test_keeping_all_of_an_unchanged_stream_computes_the_rest_as_before(
    runtime: NumpyRuntime, power: np.ndarray
) -> None:
    stream = runtime.encoder_stream()
    stream.append(power)
    whole = stream.state().states()
    again = stream.state(keep=100).states()
    assert np.abs(again - whole).max() <= TOLERANCES["stream"]["difference"]


def test_a_cut_stream_forgets_what_lay_behind_the_cut(runtime: NumpyRuntime, power: np.ndarray) -> None:
    stream, short = runtime.encoder_stream(), runtime.encoder_stream()
    stream.append(power)
    stream.state()
    stream.truncate(150)
    assert stream.n_heard == stream.n_encoded == 150 // FRAMES_PER_POSITION
    short.append(power[:150])
    np.testing.assert_array_equal(stream.state().states(), short.state().states())


def test_a_stream_holds_30_seconds_at_most(runtime: NumpyRuntime, power: np.ndarray) -> None:
    stream = runtime.encoder_stream()
    for _ in range(12):
        stream.append(power)
    assert stream.n_heard == N_AUDIO_CTX


def test_a_cancelled_pass_keeps_what_was_kept(runtime: NumpyRuntime, power: np.ndarray) -> None:
    stream = runtime.encoder_stream()
    stream.append(power)
    first = stream.state().states()
    runtime.set_cancel(lambda: True)
    try:
        with pytest.raises(Cancelled):
            stream.state(keep=50)
    finally:
        runtime.set_cancel(None)
    assert stream.n_encoded == 50
    np.testing.assert_array_equal(stream.state(keep=50).states()[:50], first[:50])
