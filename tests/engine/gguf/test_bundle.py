"""Bundles: what was exported is what is loaded."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from gguf import GGMLQuantizationType as TensorType

from engine import store
from engine.checkpoint import Checkpoint
from engine.export import export
from engine.formats import ctranslate2
from engine.gguf import bundle
from engine.runtime import Dims


def _original() -> Checkpoint:
    starter = store.STARTERS[1]
    return ctranslate2.load(store.package_folder(starter.packages[0]) / starter.folder, name=starter.name)


def test_the_f16_bundle_of_tiny_en_holds_the_original_weights_bit_for_bit(tiny_en_f16: Path) -> None:
    original, loaded = _original(), bundle.load(tiny_en_f16)
    assert loaded.dims == original.dims == Dims(80, 1500, 384, 6, 4, 51864, 448, 384, 6, 4)
    assert set(loaded.tensors) == set(original.tensors)
    for name, tensor in original.tensors.items():
        np.testing.assert_array_equal(loaded[name].f32(), tensor.f32(), err_msg=name)
    assert loaded.vocabulary == original.vocabulary
    assert loaded.suppress_tokens == original.suppress_tokens
    assert loaded.begin_suppress_tokens == original.begin_suppress_tokens == (220, 50256)
    assert loaded.alignment_heads == original.alignment_heads
    assert (loaded.name, loaded.quant, loaded.is_multilingual) == ("tiny.en", "F16", False)


def test_the_q8_0_bundle_of_base_is_close_to_the_f16_one(base_q8: Path, base_f16: Path) -> None:
    small, large = bundle.load(base_q8), bundle.load(base_f16)
    name = "decoder.layers.5.fc2.weight"
    assert (small[name].type, large[name].type) == (TensorType.Q8_0, TensorType.F16)
    assert small[name].data.base is not None  # a view of the file, not a copy
    difference = np.abs(small[name].f32() - large[name].f32()).max()
    assert 0 < difference <= np.abs(large[name].f32()).max() / 127
    assert (small.n_languages, small.licence, small.vocabulary[262]) == (99, "mit", large.vocabulary[262])


def test_a_128_mel_model_of_random_weights_survives_export(
    random_checkpoint: Callable[..., Checkpoint], tmp_path: Path
) -> None:
    made = random_checkpoint(n_mels=128, n_vocab=51866)
    export(made, "F32", tmp_path / "random.gguf")
    loaded = bundle.load(tmp_path / "random.gguf")
    assert (loaded.dims, loaded.n_languages) == (made.dims, 100)
    for name, tensor in made.tensors.items():
        np.testing.assert_array_equal(loaded[name].f32(), tensor.f32(), err_msg=name)
