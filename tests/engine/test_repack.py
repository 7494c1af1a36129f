"""MLX's dequantized value of each repacked block equals gguf-py's, bit for bit."""

import mlx.core as mx
import numpy as np
import pytest
from gguf import GGML_QUANT_SIZES
from gguf import GGMLQuantizationType as TensorType
from gguf.quants import dequantize
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.checkpoint import Tensor
from engine.repack import affine, is_affine
from tests.engine.blocks import random_blocks

LEGACY = [TensorType.Q8_0, TensorType.Q4_0, TensorType.Q4_1, TensorType.Q5_0, TensorType.Q5_1]
K_TYPES = [TensorType.Q4_K, TensorType.Q5_K]


def mlx_values(tensor: Tensor, dtype: mx.Dtype) -> np.ndarray:
    a = affine(tensor)
    scales, biases = mx.array(a.scales).astype(dtype), mx.array(a.biases).astype(dtype)
    dense = mx.dequantize(
        mx.array(a.packed), scales.astype(mx.float32), biases.astype(mx.float32), group_size=32, bits=a.bits
    )
    return np.array(dense)


@pytest.mark.parametrize("type", LEGACY + K_TYPES, ids=lambda t: t.name)
@settings(max_examples=10, deadline=None)
@given(rows=st.integers(1, 9), blocks=st.integers(1, 5), seed=st.integers(0, 2**31))
def test_values_equal_ggufs_bit_for_bit_with_f32_scales(type, rows, blocks, seed):
    tensor = random_blocks(type, rows, blocks * GGML_QUANT_SIZES[type][0], seed)
    np.testing.assert_array_equal(mlx_values(tensor, mx.float32), dequantize(tensor.data, type))


@pytest.mark.parametrize("type", LEGACY, ids=lambda t: t.name)
def test_f16_scales_lose_nothing_of_the_32_wide_types(type):
    tensor = random_blocks(type, 16, 384, 1)
    np.testing.assert_array_equal(mlx_values(tensor, mx.float16), dequantize(tensor.data, type))


@pytest.mark.parametrize("type", K_TYPES, ids=lambda t: t.name)
def test_f16_scales_round_k_types_by_less_than_one_f16_step(type):
    tensor = random_blocks(type, 16, 512, 1)
    exact = dequantize(tensor.data, type)
    assert np.abs(mlx_values(tensor, mx.float16) - exact).max() < np.abs(exact).max() * 2**-10


def test_q6_k_has_no_affine_form():
    assert not is_affine(TensorType.Q6_K)
