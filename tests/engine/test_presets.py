"""The quantization policy on real weights: which tensor gets which type under each format."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from gguf import GGMLQuantizationType as TensorType

from engine.checkpoint import Checkpoint
from engine.errors import OptionError
from engine.gguf import bundle
from engine.presets import PRESETS, SAME, PlannedTensor, plan, worth_making

DENSE = {TensorType.F32, TensorType.F16}


@pytest.fixture(scope="session")
def base(base_f16: Path) -> Checkpoint:
    return bundle.load(base_f16)


@pytest.fixture(scope="session")
def tiny_en(tiny_en_f16: Path) -> Checkpoint:
    return bundle.load(tiny_en_f16)


def by_name(planned: list[PlannedTensor]) -> dict[str, TensorType]:
    return {tensor.name: tensor.type for tensor in planned}


@pytest.mark.parametrize("preset", PRESETS)
def test_positions_norms_biases_and_convolutions_stay_dense_under_every_format(base: Checkpoint, preset: str) -> None:
    for tensor in plan(base, preset):
        if len(tensor.shape) != 2 or "embed_positions" in tensor.name:
            assert tensor.type in DENSE and tensor.reason.startswith("dense: "), tensor


@pytest.mark.parametrize(
    ("preset", "encoder", "table", "linear", "attention_out"),
    [
        ("F32", "F32", "F32", "F32", "F32"),
        ("F16", "F16", "F16", "F16", "F16"),
        ("Q8_0", "Q8_0", "Q8_0", "Q8_0", "Q8_0"),
        ("Q6_K", "Q8_0", "Q8_0", "Q6_K", "Q6_K"),
        ("Q5_K_M", "Q8_0", "Q8_0", "Q5_K", "Q8_0"),
        ("Q4_K_M", "Q8_0", "Q8_0", "Q4_K", "Q8_0"),
        ("Q5_K", "Q8_0", "Q8_0", "Q5_K", "Q5_K"),
        ("Q4_K", "Q8_0", "Q8_0", "Q4_K", "Q4_K"),
        ("Q5_1", "Q8_0", "Q8_0", "Q5_1", "Q5_1"),
        ("Q5_0", "Q8_0", "Q8_0", "Q5_0", "Q5_0"),
        ("Q4_1", "Q8_0", "Q8_0", "Q4_1", "Q4_1"),
        ("Q4_0", "Q8_0", "Q8_0", "Q4_0", "Q4_0"),
    ],
)
def test_matrices_of_base(
    base: Checkpoint, preset: str, encoder: str, table: str, linear: str, attention_out: str
) -> None:
    types = by_name(plan(base, preset))
    for n in range(6):
        for name in ("self_attn.q_proj", "self_attn.k_proj", "self_attn.out_proj", "fc1", "fc2"):
            assert types[f"encoder.layers.{n}.{name}.weight"].name == encoder
        for name in ("self_attn.q_proj", "encoder_attn.k_proj", "encoder_attn.v_proj", "fc1", "fc2"):
            assert types[f"decoder.layers.{n}.{name}.weight"].name == linear
        for name in ("self_attn.out_proj", "encoder_attn.out_proj"):
            assert types[f"decoder.layers.{n}.{name}.weight"].name == attention_out
    assert types["decoder.embed_tokens.weight"].name == table


def test_rows_of_384_fall_back_to_q8_0_under_k_formats_and_say_so(tiny_en: Checkpoint) -> None:
    planned = {tensor.name: tensor for tensor in plan(tiny_en, "Q4_K")}
    narrow, wide = planned["decoder.layers.0.fc1.weight"], planned["decoder.layers.0.fc2.weight"]
    assert (narrow.type, narrow.reason) == (TensorType.Q8_0, "Q8_0: rows of 384 do not fit Q4_K")
    assert (wide.type, wide.reason) == (TensorType.Q4_K, "as asked")


def test_include_and_exclude_take_prefixes_with_and_without_model(base: Checkpoint) -> None:
    types = by_name(
        plan(base, "Q4_0", include=["model.decoder.layers.0.", "decoder.layers.1."], exclude=["decoder.layers.1.fc"])
    )
    assert types["decoder.layers.0.fc1.weight"] == types["decoder.layers.1.self_attn.q_proj.weight"] == TensorType.Q4_0
    assert types["decoder.layers.1.fc1.weight"] == types["decoder.layers.2.fc1.weight"] == TensorType.F16
    assert types["decoder.embed_tokens.weight"] == types["encoder.layers.0.fc1.weight"] == TensorType.F16
    with pytest.raises(OptionError, match=r"begins with 'decoder\.blocks'"):
        plan(base, "Q4_0", exclude=["decoder.blocks"])


def test_an_unknown_format_names_the_known_ones(base: Checkpoint) -> None:
    with pytest.raises(OptionError, match=r"'Q3_K'; choose one of F32, F16, Q8_0"):
        plan(base, "Q3_K")


def test_same_changes_no_type(base_q8: Path) -> None:
    source = bundle.load(base_q8)
    assert Counter(t.type for t in plan(source, SAME)) == Counter(t.type for t in source.tensors.values())


def test_formats_that_would_not_shrink_the_source_are_not_worth_making(base: Checkpoint, base_q8: Path) -> None:
    assert worth_making(base) == ["Q8_0", "Q6_K", "Q5_K_M", "Q4_K_M"]
    assert worth_making(bundle.load(base_q8)) == ["Q6_K", "Q5_K_M", "Q4_K_M"]
