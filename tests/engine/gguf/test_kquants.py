"""Block types: bit for bit as gguf-py reads and makes them; our K quantizers as accurate as ggml's own."""

from __future__ import annotations

import ctypes
import importlib.util
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from gguf import GGML_QUANT_SIZES, quants
from gguf import GGMLQuantizationType as TensorType
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from engine.checkpoint import Tensor
from engine.export import packed
from engine.formats.assemble import READABLE, dense
from engine.gguf import bundle, kquants

K_TYPES = [TensorType.Q4_K, TensorType.Q5_K, TensorType.Q6_K]
MADE_BY_GGUF_PY = [
    TensorType.F16, TensorType.BF16, TensorType.Q8_0,
    TensorType.Q4_0, TensorType.Q4_1, TensorType.Q5_0, TensorType.Q5_1,
]  # fmt: skip
Quantizer = Callable[[np.ndarray, TensorType], np.ndarray]


@pytest.fixture(scope="session")
def ggml() -> Quantizer:
    """ggml's own quantizer, from the library that whisper.cpp's Python package brings."""
    found = importlib.util.find_spec("_pywhispercpp")
    assert found is not None and found.origin is not None
    folder = Path(found.origin).parent / "pywhispercpp.libs"
    library = ctypes.CDLL(str(next(folder.glob("libggml-base*"))))  # not global: other tests load another ggml
    quantize_chunk = library.ggml_quantize_chunk
    quantize_chunk.restype = ctypes.c_size_t
    quantize_chunk.argtypes = [ctypes.c_int, *[ctypes.c_void_p] * 2, *[ctypes.c_int64] * 3, ctypes.c_void_p]

    def quantize(values: np.ndarray, kind: TensorType) -> np.ndarray:
        n_values, n_bytes = GGML_QUANT_SIZES[kind]
        out = np.empty((len(values), values.shape[1] // n_values * n_bytes), np.uint8)
        written = quantize_chunk(int(kind), values.ctypes.data, out.ctypes.data, 0, *values.shape, None)
        assert written == out.nbytes
        return out

    return quantize


def rms_error(values: np.ndarray, packed_rows: np.ndarray, kind: TensorType) -> float:
    return float(np.sqrt(np.mean((quants.dequantize(packed_rows, kind) - values) ** 2)))


@pytest.mark.parametrize("kind", sorted(READABLE), ids=lambda kind: kind.name)
def test_values_are_those_that_gguf_py_reads(kind: TensorType) -> None:
    """On random bytes, which reach every code a block can hold."""
    n_bytes = GGML_QUANT_SIZES[kind][1] * 512 // GGML_QUANT_SIZES[kind][0]
    rows = np.frombuffer(np.random.default_rng(kind).bytes(16 * n_bytes), np.uint8).reshape(16, n_bytes)
    with np.errstate(all="ignore"):
        expected = quants.dequantize(rows, kind)
        values = Tensor("t", (4, 4, 512), kind, rows).f32()
    np.testing.assert_array_equal(values, expected.reshape(4, 4, 512))


@pytest.mark.parametrize("kind", MADE_BY_GGUF_PY, ids=lambda kind: kind.name)
def test_blocks_are_those_that_gguf_py_and_ggml_make(kind: TensorType, ggml: Quantizer) -> None:
    values = np.random.default_rng(7).standard_normal((8, 512)).astype(np.float32)
    ours = packed(dense("t", values), kind)
    np.testing.assert_array_equal(ours, quants.quantize(values, kind).view(np.uint8))
    if kind not in (TensorType.F16, TensorType.BF16):
        assert rms_error(values, ours, kind) <= 1.0001 * rms_error(values, ggml(values, kind), kind)


@pytest.mark.parametrize("kind", K_TYPES, ids=lambda kind: kind.name)
def test_k_quantizers_err_no_more_than_ggml_on_real_weights(kind: TensorType, ggml: Quantizer, base_f16: Path) -> None:
    base = bundle.load(base_f16)
    for name in ("layers.0.fc1", "layers.3.fc2", "layers.5.self_attn.q_proj", "layers.2.encoder_attn.out_proj"):
        values = base[f"decoder.{name}.weight"].f32()
        ours = rms_error(values, kquants.quantize(values, kind), kind)
        assert ours <= 1.02 * rms_error(values, ggml(values, kind), kind), name


@pytest.mark.parametrize("kind", K_TYPES, ids=lambda kind: kind.name)
@settings(max_examples=50)
@given(
    values=hnp.arrays(
        np.float32, (2, 256), elements=st.floats(-1e4, 1e4, width=32) | st.sampled_from([0.0, 1e-30, -1e-8, 5.0])
    )
)
@example(values=np.full((2, 256), 1e-5, np.float32))
def test_k_quantizers_stay_within_a_step_of_any_block(kind: TensorType, values: np.ndarray) -> None:
    restored = quants.dequantize(kquants.quantize(values, kind), kind)
    levels = {TensorType.Q4_K: 15, TensorType.Q5_K: 31, TensorType.Q6_K: 31}[kind]
    # a step of the sub-block, and the rounding of its scale and minimum to 6 (8) bits of the largest in the block
    spread = values.max(axis=1) - values.min(axis=1) + np.abs(values).max(axis=1)
    assert np.isfinite(restored).all()
    # the block's own scale is an F16, whose least step counts up to 128 * 32 times in a value
    least = 2**-25 * 128 * 32
    assert (np.abs(restored - values).max(axis=1) <= spread / levels + spread / 63 + least).all()


@pytest.mark.parametrize("kind", K_TYPES, ids=lambda kind: kind.name)
def test_zeros_and_constants_survive_k_quantizers(kind: TensorType) -> None:
    values = np.zeros((3, 256), np.float32)
    values[1], values[2] = 0.5, -0.25
    restored = quants.dequantize(kquants.quantize(values, kind), kind)
    np.testing.assert_allclose(restored, values, rtol=0.02)
