"""The native CPU runtime against NumPy: every instruction set of this processor, every weight type, every call."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from gguf import GGMLQuantizationType as TensorType
from gguf import quants
from hypothesis import given, settings
from hypothesis import strategies as st

import engine
from engine.audio import log_mel, mel_filters, read_clip
from engine.checkpoint import Checkpoint, Tensor
from engine.cpu import native
from engine.cpu.native import NativeRuntime
from engine.cpu.reference import NumpyRuntime
from engine.decode import DecodingOptions
from engine.errors import Cancelled
from engine.filters import Filters, choose
from engine.gguf import bundle
from engine.runtime import F32, Decoder, Rules

SPEECH = Path(__file__).parents[2] / "data" / "speech"
PROMPT = [50258, 50259, 50359, 50363]
RULES = Rules(suppress=(1, 2, 7), suppress_first=(220, 50257), eot=50257, no_timestamps=50363, timestamp_begin=50364)
# Eight-bit weights and activations against float32: the mean difference, relative to the mean value. Random weights
# are the worst case; two layers give about 0.015.
STATES_TOLERANCE = 0.03
LOGITS_TOLERANCE = 0.03

RandomCheckpoint = Callable[..., Checkpoint]


def difference(mine: F32, theirs: F32) -> float:
    return float(np.abs(mine - theirs).mean() / np.abs(theirs).mean())


@pytest.fixture(scope="module")
def mel() -> F32:
    """A voice at the start of a silent window."""
    return log_mel(read_clip(SPEECH / "en" / "lj001-0008.flac"), mel_filters(80))


@pytest.fixture(scope="module")
def oracle(random_checkpoint: RandomCheckpoint) -> NumpyRuntime:
    return NumpyRuntime(random_checkpoint(preset="Q8_0"))


def prefilled(decoder: Decoder) -> Decoder:
    decoder.prefill(PROMPT)
    return decoder


@pytest.mark.parametrize("instruction_set", native.instruction_sets())
@pytest.mark.parametrize("audio_context", [None, 133], ids=["full window", "cut window"])
def test_every_instruction_set_computes_what_numpy_does(
    oracle: NumpyRuntime,
    random_checkpoint: RandomCheckpoint,
    mel: F32,
    instruction_set: str,
    audio_context: int | None,
) -> None:
    runtime = NativeRuntime(random_checkpoint(preset="Q8_0"), threads=2, instruction_set=instruction_set)
    assert runtime.instruction_set == instruction_set
    mine, theirs = runtime.encode(mel, audio_context), oracle.encode(mel, audio_context)
    assert mine.n_encoded == theirs.n_encoded
    assert difference(mine.states(), theirs.states()) < STATES_TOLERANCE
    logits, expected = prefilled(runtime.decoder(mine)).logits(), prefilled(oracle.decoder(theirs)).logits()
    assert difference(logits, expected) < LOGITS_TOLERANCE


def retyped(checkpoint: Checkpoint, kind: TensorType) -> Checkpoint:
    """All matrices of a dense checkpoint in one block type."""

    def tensor(old: Tensor) -> Tensor:
        if len(old.shape) != 2 or "embed_positions" in old.name:
            return old
        return Tensor(old.name, old.shape, kind, quants.quantize(old.f32(), kind).view(np.uint8))

    return replace(checkpoint, tensors={name: tensor(old) for name, old in checkpoint.tensors.items()})


@pytest.mark.parametrize(
    "kind", [TensorType.Q8_0, TensorType.Q4_0, TensorType.Q5_1, TensorType.F16], ids=lambda kind: kind.name
)
@pytest.mark.parametrize("instruction_set", native.instruction_sets())
def test_every_weight_type_gives_the_logits_of_its_values(
    random_checkpoint: RandomCheckpoint, mel: F32, kind: TensorType, instruction_set: str
) -> None:
    checkpoint = retyped(random_checkpoint(n_audio_layer=1), kind)
    runtime, numpy = NativeRuntime(checkpoint, 2, instruction_set), NumpyRuntime(checkpoint)
    logits = prefilled(runtime.decoder(runtime.encode(mel, 64))).logits()
    expected = prefilled(numpy.decoder(numpy.encode(mel, 64))).logits()
    assert difference(logits, expected) < LOGITS_TOLERANCE


def test_models_of_128_mels_and_a_hundred_languages_run(random_checkpoint: RandomCheckpoint) -> None:
    checkpoint = random_checkpoint(preset="Q8_0", n_mels=128, n_vocab=51866)
    runtime, numpy = NativeRuntime(checkpoint), NumpyRuntime(checkpoint)
    mel = log_mel(read_clip(SPEECH / "en" / "lj001-0008.flac"), mel_filters(128))
    assert difference(runtime.encode(mel, 100).states(), numpy.encode(mel, 100).states()) < STATES_TOLERANCE


def test_blocks_behind_a_kept_past_are_those_of_numpy(
    oracle: NumpyRuntime, random_checkpoint: RandomCheckpoint
) -> None:
    runtime = NativeRuntime(random_checkpoint(preset="Q8_0"))
    log_power = np.random.default_rng(0).normal(-3, 2, (700, 80)).astype(np.float32)
    mine, theirs = runtime.encoder_stream(), oracle.encoder_stream()
    # keeps that end inside a block of 32 positions as well as at its edge
    for first, end, keep in [(0, 301, 0), (301, 500, 77), (500, 700, 192)]:
        for stream in (mine, theirs):
            stream.append(log_power[first:end])
        state, expected = mine.state(keep), theirs.state(keep)
        assert (mine.n_heard, mine.n_encoded) == (theirs.n_heard, theirs.n_encoded)
        assert difference(state.states(), expected.states()) < STATES_TOLERANCE
        logits, wanted = prefilled(runtime.decoder(state)).logits(), prefilled(oracle.decoder(expected)).logits()
        assert difference(logits, wanted) < LOGITS_TOLERANCE


# ---------------------------------------------------------------------------------------------------------- decoding


@pytest.fixture(scope="module")
def runtime(random_checkpoint: RandomCheckpoint) -> NativeRuntime:
    return NativeRuntime(random_checkpoint(preset="Q8_0"))


@pytest.fixture(scope="module")
def decoder(runtime: NativeRuntime, mel: F32) -> Decoder:
    return runtime.decoder(runtime.encode(mel, 100))


@given(
    times=st.booleans(),
    limit=st.sampled_from([None, 0, 50]),
    sampled=st.lists(st.sampled_from([5, 900, 50364, 50365, 50400, 51864]), max_size=5),
)
@settings(max_examples=60)
def test_rules_choose_what_the_numpy_filters_choose(
    decoder: Decoder, times: bool, limit: int | None, sampled: list[int]
) -> None:
    rules = Rules((1, 2, 7), (220, 50257), 50257, 50363, 50364, times, limit)
    decoder.rewind(0)
    decoder.prefill(PROMPT)
    filtered = Filters(rules, 51865).apply(decoder.logits(), sampled)
    if not np.isfinite(filtered).any():
        return
    expected = choose(filtered, 0.0, np.random.default_rng(0))
    choice = next(iter(decoder.generate(rules, sampled=sampled)))
    assert choice.token == expected.token
    assert choice.logprob == pytest.approx(expected.logprob, abs=1e-3)


def test_drawn_tokens_follow_the_distribution(decoder: Decoder) -> None:
    decoder.rewind(0)
    decoder.prefill(PROMPT)
    logits = Filters(RULES, 51865).apply(decoder.logits(), []).astype(np.float64)
    temperature = 0.2
    p = np.exp((logits - logits.max()) / temperature)
    p /= p.sum()
    drawn = [next(iter(decoder.generate(RULES, temperature, seed))).token for seed in range(300)]
    likeliest = np.argsort(p)[-20:]
    share = np.mean([token in likeliest for token in drawn])
    assert share == pytest.approx(p[likeliest].sum(), abs=0.1)
    assert len(set(drawn)) > 10
    assert drawn[:5] == [next(iter(decoder.generate(RULES, temperature, seed))).token for seed in range(5)]


def greedy(decoder: Decoder, n: int) -> list[int]:
    decoder.rewind(0)
    decoder.prefill(PROMPT)
    generated = decoder.generate(RULES)
    return [next(generated).token for _ in range(n)]


@pytest.mark.parametrize("agreeing", [0, 1, 9, 20])
def test_a_draft_is_accepted_as_far_as_greedy_decoding_agrees(decoder: Decoder, agreeing: int) -> None:
    expected = greedy(decoder, 24)
    draft = expected[:agreeing] + [expected[agreeing] + 1] * (20 - agreeing)
    decoder.rewind(0)
    decoder.prefill(PROMPT)
    choices = decoder.verify(draft, RULES)
    assert [c.token for c in choices] == expected[: agreeing + 1]
    assert decoder.length == len(PROMPT) + agreeing
    rest = decoder.generate(RULES, sampled=expected[:agreeing])
    assert [next(rest).token for _ in range(24 - agreeing)] == expected[agreeing:]


def test_a_long_prompt_is_the_same_in_one_call_and_token_by_token(decoder: Decoder) -> None:
    tokens = list(range(1000, 1100))
    decoder.rewind(0)
    decoder.prefill(tokens)
    at_once = decoder.logits()
    decoder.rewind(0)
    for token in tokens:
        decoder.prefill([token])
    assert np.array_equal(at_once, decoder.logits())


def test_generation_ends_when_the_context_is_full(decoder: Decoder) -> None:
    decoder.rewind(0)
    decoder.prefill([1] * 446)
    assert len(list(decoder.generate(RULES))) == 3  # into the last two places, and what follows them
    assert decoder.length == 448


# ------------------------------------------------------------------------------------------------------------- texts


@pytest.mark.parametrize("audio_context", ["full", "auto"])
def test_texts_are_those_of_numpy(tiny_en_q8: Path, audio_context: str) -> None:
    options = DecodingOptions(audio_context=audio_context)
    mine, theirs = engine.load(tiny_en_q8, device="cpu"), engine.load(tiny_en_q8, device="numpy")
    assert (mine.device, theirs.device) == ("cpu", "numpy")
    for clip in ("jfk", "lj001-0008", "gcp-mountain-view"):
        samples = read_clip(SPEECH / "en" / f"{clip}.flac")
        assert mine.transcribe(samples, options).text == theirs.transcribe(samples, options).text


def test_languages_are_found(base_q8: Path) -> None:
    transcriber = engine.load(base_q8, device="cpu")
    for language, clip in [("de", "leopard-de"), ("fr", "leopard-fr"), ("it", "leopard-it"), ("pt", "leopard-pt")]:
        samples = read_clip(SPEECH / language / f"{clip}.flac")
        probabilities = transcriber.detect_language(samples)
        assert max(probabilities, key=lambda code: probabilities[code]) == language


# ----------------------------------------------------------------------------------------------- threads and manners


def test_two_models_at_once_and_two_calls_on_one_do_not_mix(random_checkpoint: RandomCheckpoint, mel: F32) -> None:
    runtimes = [NativeRuntime(random_checkpoint(seed=seed, preset="Q8_0"), threads=3) for seed in (1, 2)]

    def work(runtime: NativeRuntime) -> F32:
        return prefilled(runtime.decoder(runtime.encode(mel, 200))).logits()

    alone = [work(runtime) for runtime in runtimes]
    results: dict[int, list[F32]] = {}

    def thread(index: int) -> None:
        results[index] = [work(runtimes[index % 2]) for _ in range(4)]

    threads = [threading.Thread(target=thread, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(results) == 4
    for index, logits in results.items():
        assert all(np.array_equal(one, alone[index % 2]) for one in logits)


def test_cancelling_stops_within_one_layer_and_leaves_the_runtime_usable(
    random_checkpoint: RandomCheckpoint, mel: F32
) -> None:
    runtime = NativeRuntime(random_checkpoint(preset="Q8_0", n_audio_layer=6))
    asked = 0

    def cancelled() -> bool:
        nonlocal asked
        asked += 1
        return asked == 3

    runtime.set_cancel(cancelled)
    with pytest.raises(Cancelled):
        runtime.encode(mel)
    assert asked == 3
    runtime.set_cancel(lambda: True)
    with pytest.raises(Cancelled):
        runtime.encode(mel)
    runtime.set_cancel(None)
    decoder = prefilled(runtime.decoder(runtime.encode(mel, 64)))
    runtime.set_cancel(lambda: True)
    with pytest.raises(Cancelled):
        next(iter(decoder.generate(RULES)))


def test_an_idle_model_uses_no_processor_time(random_checkpoint: RandomCheckpoint, mel: F32) -> None:
    runtime = NativeRuntime(random_checkpoint(preset="Q8_0"), threads=4)
    runtime.encode(mel, 100)
    time.sleep(0.05)  # threads spin for microseconds
    before = time.process_time()
    time.sleep(0.5)  # the time over which nothing may happen
    assert time.process_time() - before < 0.02


def resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


@pytest.mark.parametrize("n", [40, pytest.param(1000, marks=pytest.mark.slow)])
def test_memory_stays_flat_over_utterances_of_mixed_length(
    random_checkpoint: RandomCheckpoint, mel: F32, n: int
) -> None:
    runtime = NativeRuntime(random_checkpoint(preset="Q8_0"))
    lengths = np.random.default_rng(0).integers(20, 1501, n)

    def utter(length: int) -> None:
        generated = prefilled(runtime.decoder(runtime.encode(mel, length))).generate(RULES)
        for _ in range(5):
            next(generated)

    for length in (1500, 100, 1500, 700):
        utter(length)
    before = resident_mb()
    for length in lengths:
        utter(int(length))
    assert resident_mb() - before < 10


def test_weights_of_a_bundle_are_held_once(base_q8: Path) -> None:
    before = resident_mb()
    runtime = NativeRuntime(bundle.load(base_q8))
    assert resident_mb() - before < 1.25 * base_q8.stat().st_size / 1e6
    runtime.close()


def test_an_unknown_instruction_set_is_named(random_checkpoint: RandomCheckpoint) -> None:
    with pytest.raises(ValueError, match=r"has no altivec; it has .*portable"):
        NativeRuntime(random_checkpoint(), instruction_set="altivec")


def test_silence_is_computed_once_per_model_file_and_a_damaged_cache_is_ignored(
    tiny_en_q8: Path, mel: F32, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    asked = 0

    def count() -> bool:
        nonlocal asked
        asked += 1
        return False

    def encoded() -> F32:
        nonlocal asked
        runtime = NativeRuntime(bundle.load(tiny_en_q8))
        runtime.set_cancel(count)
        asked = 0
        return runtime.encode(mel, 100).states()

    encoded()
    assert asked == 8  # four layers of silence, four of the clip
    computed = encoded()
    assert asked == 4
    (file,) = (tmp_path / "sayso" / "silence").iterdir()
    damaged = bytearray(file.read_bytes())
    damaged[1000] ^= 1
    file.write_bytes(damaged)
    again = encoded()
    assert asked == 8
    assert np.array_equal(computed, again)
