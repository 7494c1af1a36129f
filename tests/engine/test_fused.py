"""The fused step against the plain reference decoder, and the slabs it writes in place. Random weights."""

import re
from itertools import islice

import mlx.core as mx
import numpy as np
import pytest
from gguf import GGMLQuantizationType as TensorType

from engine.filters import Filters
from engine.fused import Chooser, Pending, state_row
from engine.mlx_runtime import MlxDecoder, MlxRuntime
from engine.runtime import Choice, Rules
from tests.conftest import make_random_checkpoint
from tests.engine.blocks import checkpoint_of
from tests.engine.greedy import reference_choices

SOT = [50258, 50259, 50359, 50363]
RULES = Rules(suppress=(1, 2, 7), suppress_first=(220, 50257), eot=50257, no_timestamps=50363, timestamp_begin=50364)
TIMED = Rules((1, 2, 7), (220, 50257), 50257, 50363, 50364, timestamps=True)
TYPES = [TensorType[name] for name in ("Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q4_K", "Q5_K", "Q6_K")]


@pytest.fixture(scope="module", params=["F32", "F16", *TYPES], ids=lambda t: getattr(t, "name", t))
def runtime(request):
    """A one-layer decoder of each type; K types need a width of 256."""
    if isinstance(request.param, str):
        checkpoint = make_random_checkpoint(preset=request.param, n_audio_layer=1, n_text_layer=1)
    else:
        checkpoint = checkpoint_of(request.param, n_state=256, n_audio_layer=1, n_text_layer=1)
    return MlxRuntime(checkpoint, "mlx-cpu")


@pytest.fixture(scope="module")
def q8():
    return MlxRuntime(make_random_checkpoint(preset="Q8_0", n_audio_layer=1), "mlx-cpu")


def decoder(runtime: MlxRuntime, seed: int = 0, prompt: list[int] = SOT) -> MlxDecoder:
    mel = np.random.default_rng(seed).normal(0, 0.5, (3000, runtime.dims.n_mels)).astype(np.float32)
    made = runtime.decoder(runtime.encode(mel, audio_context=20))
    made.prefill(prompt)
    return made


def take(decoder: MlxDecoder, n: int, rules: Rules = RULES, **options) -> list[Choice]:
    return list(islice(decoder.generate(rules, **options), n))


def addresses(decoder: MlxDecoder) -> list[int]:
    return [np.array(slab, copy=False).__array_interface__["data"][0] for slab in decoder.slabs.layers]


def test_fused_step_chooses_what_the_reference_step_chooses(runtime):
    fused = decoder(runtime)
    expected, _ = reference_choices(runtime, fused._cross, SOT, RULES, 6)
    got = take(fused, 6)
    assert [c.token for c in got] == [c.token for c in expected]
    np.testing.assert_allclose([c.logprob for c in got], [c.logprob for c in expected], atol=1e-3)


def test_logits_after_a_prompt_block_equal_the_reference(runtime):
    fused = decoder(runtime)
    plain = runtime.model.decoder.reference(SOT, [None] * runtime.dims.n_text_layer, fused._cross)
    np.testing.assert_allclose(fused.logits(), np.array(plain[-1]), atol=1e-3)  # sums in another order


def test_slabs_stay_at_their_address_from_prompt_to_last_token(q8):
    made = decoder(q8)
    before = addresses(made)
    for _ in islice(made.generate(RULES), 20):
        assert addresses(made) == before
    made.rewind(2)
    made.prefill([50359, 50363, 11])
    assert addresses(made) == before


def test_compiled_step_gives_the_same_tokens_and_keeps_the_slabs_in_place(q8):
    compiled = MlxRuntime(make_random_checkpoint(preset="Q8_0", n_audio_layer=1), "mlx-cpu", compiled=True)
    made = decoder(compiled)
    before = addresses(made)
    assert [c.token for c in take(made, 8)] == [c.token for c in take(decoder(q8), 8)]
    assert addresses(made) == before


def test_a_step_writes_its_own_slab_row_and_leaves_the_neighbours(q8):
    made = decoder(q8)
    before = [np.array(slab) for slab in made.slabs.layers]
    take(made, 1)
    row = len(SOT)
    for old, slab in zip(before, made.slabs.layers, strict=True):
        new = np.array(slab)
        assert np.abs(new[:, :, row]).min(axis=-1).max() > 0
        np.testing.assert_array_equal(np.delete(new, row, axis=2), np.delete(old, row, axis=2))


def test_graph_of_a_step_updates_slabs_directly_and_copies_none(q8, tmp_path):
    compiled = MlxRuntime(make_random_checkpoint(preset="Q8_0", n_audio_layer=1), "mlx-cpu", compiled=True)
    made = decoder(compiled)
    pending = Pending(made._logits, mx.array(state_row(4, [], RULES), mx.int32), mx.random.key(0))
    record = compiled.fused.step(pending, made.slabs, made._cross, RULES, 0.0)
    path = tmp_path / "step.dot"
    mx.export_to_dot(str(path), record, pending.logits, *made.slabs.layers)
    dot = path.read_text()
    updates = re.findall(r'label ="(\w*SliceUpdate)"', dot)
    assert len(updates) == compiled.dims.n_text_layer
    assert not re.search(r'label ="(Copy|Contiguous|Full|SliceUpdateCopy)"', dot)


def test_generation_goes_to_the_end_of_the_context_and_stops(q8):
    made = decoder(q8)
    made.prefill(list(range(300, 300 + 440)))
    assert made.length == 444
    assert len(list(made.generate(RULES))) == 5  # the last is chosen but no longer fits
    assert made.length == 448
    assert len(list(made.generate(RULES))) == 1


def test_rewinding_and_prompting_again_gives_the_same_logits(q8):
    made = decoder(q8)
    first = made.logits()
    take(made, 5)
    made.rewind(0)
    made.prefill(SOT)
    np.testing.assert_array_equal(made.logits(), first)


def test_sampling_repeats_for_a_seed_and_differs_between_seeds(q8):
    def sampled(seed):
        return [c.token for c in take(decoder(q8), 10, temperature=1.0, seed=seed)]

    assert sampled(3) == sampled(3)
    assert sampled(3) != sampled(4)


@pytest.mark.parametrize("wrong_at", [0, 1, 4, 9, None])
def test_verifying_a_draft_accepts_what_greedy_decoding_chooses(q8, wrong_at):
    greedy = take(decoder(q8), 14)
    draft = [c.token for c in greedy[:10]]
    if wrong_at is not None:
        draft[wrong_at] = 999
    agreed = 10 if wrong_at is None else wrong_at
    made = decoder(q8)
    choices = made.verify(draft, RULES)
    assert [c.token for c in choices] == [c.token for c in greedy[: agreed + 1]]
    np.testing.assert_allclose([c.logprob for c in choices], [c.logprob for c in greedy[: agreed + 1]], atol=2e-4)
    assert made.length == len(SOT) + agreed
    rest = take(made, 14 - agreed, sampled=draft[:agreed])
    assert [c.token for c in rest] == [c.token for c in greedy[agreed:]]


@pytest.mark.parametrize(
    "sampled",
    [[], [50364], [50364, 400], [50364, 400, 50400], [50364, 400, 50400, 50400], [50364, 400, 50400, 50400, 500]],
    ids=["first", "opened", "text", "closed", "reopened", "text again"],
)
@pytest.mark.parametrize("boost", [-3.0, 0.0, 3.0])
@pytest.mark.parametrize("rules", [RULES, TIMED], ids=["plain", "timed"])
def test_device_filters_forbid_what_the_numpy_filters_forbid(rules, sampled, boost):
    logits = np.random.default_rng(len(sampled)).normal(0, 1, 51872).astype(np.float32)
    logits[rules.timestamp_begin :] += boost
    got = Chooser(rules, 51865, 51872).filtered(
        mx.array(logits)[None], mx.array([state_row(9, sampled, rules)], mx.int32)
    )
    np.testing.assert_array_equal(np.array(got[0, :51865]), Filters(rules, 51865).apply(logits[:51865], sampled))
    assert np.isinf(np.array(got[0, 51865:])).all()


def test_rule_state_on_the_device_follows_the_sampled_tokens():
    chooser, state = Chooser(TIMED, 51865, 51872), mx.array(state_row(4, [], TIMED), mx.int32)
    sampled = [50364, 400, 401, 50400, 50400, 17]
    for i, token in enumerate(sampled):
        state = chooser.next_state(state, mx.array([token], mx.int32))
        assert state.tolist() == state_row(5 + i, sampled[: i + 1], TIMED)
