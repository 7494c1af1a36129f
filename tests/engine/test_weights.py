"""Weights as MLX arrays."""

import mlx.core as mx
import numpy as np
import pytest
from gguf import GGMLQuantizationType as TensorType
from gguf.quants import dequantize

from engine.repack import affine
from engine.weights import affine_values
from tests.engine.blocks import random_blocks


@pytest.mark.parametrize("type", ["Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q4_K", "Q5_K"])
def test_values_unpacked_in_plain_mlx_are_ggufs(type):
    tensor = random_blocks(TensorType[type], 6, 512, seed=1)
    a = affine(tensor)
    values = affine_values(mx.array(a.packed), mx.array(a.scales), mx.array(a.biases), a.bits)
    np.testing.assert_allclose(np.array(values), dequantize(tensor.data, tensor.type), rtol=1e-6, atol=1e-6)
