"""Matrix-vector kernels, run on the CPU, against gguf-py's values and NumPy."""

import math

import mlx.core as mx
import numpy as np
import pytest
from gguf import GGMLQuantizationType as TensorType
from gguf.quants import dequantize

from engine.kernels import formats, matvec
from engine.kernels.pack import Pack
from engine.repack import SYMMETRIC, affine
from tests.engine.blocks import random_blocks
from tests.engine.kernels.emulator import run

TYPES = ["F16", "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q4_K", "Q5_K", "Q6_K"]
N, K = 40, 512
erf = np.vectorize(math.erf)


def matrix(type: str, n: int = N, k: int = K, seed: int = 0):
    """Format, arrays as a kernel gets them, and the values (n, k) by gguf-py."""
    if type == "F16":
        values = (np.random.default_rng(seed).normal(0, k**-0.5, (n, k))).astype(np.float16)
        return formats.F16, [values], values.astype(np.float32)
    tensor = random_blocks(TensorType[type], n, k, seed, scale=k**-0.5)
    values = dequantize(tensor.data, tensor.type)
    if type == "Q6_K":
        return formats.Q6_K, [tensor.data], values
    a = affine(tensor)
    arrays = [a.packed, a.scales.astype(np.float16), a.biases.astype(np.float16)]
    if tensor.type in SYMMETRIC:
        return formats.SYMMETRIC[a.bits], arrays[:2], values
    return formats.AFFINE[a.bits], arrays, values


def normal(*shape: int, seed: int = 5) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, 1, shape).astype(np.float32)


def halves(*shape: int, seed: int = 5) -> np.ndarray:
    return normal(*shape, seed=seed).astype(np.float16)


def normed(x: np.ndarray, gamma: np.ndarray, beta: np.ndarray) -> np.ndarray:
    return (x - x.mean()) / np.sqrt(x.var() + 1e-5) * gamma.astype(np.float32) + beta.astype(np.float32)


@pytest.mark.parametrize("type", TYPES)
def test_product_with_several_vectors_equals_ggufs(type):
    format, arrays, values = matrix(type)
    x = normal(3, K)
    kernel = matvec.matvec(matvec.COPY, format, matvec.PLAIN, N, K, rows=2)
    (y,) = run(kernel, [x, *arrays], 3 * matvec.groups_for(N, 2), [((3, N), np.float32)])
    np.testing.assert_allclose(
        y, x @ values.T, atol=3e-3 if type in ("Q4_K", "Q5_K") else 2e-5
    )  # f16 scales of K types


@pytest.mark.parametrize("type", TYPES)
def test_rows_that_a_group_takes_at_once_may_outnumber_those_left(type):
    format, arrays, values = matrix(type, 37)
    x = normal(1, K)
    kernel = matvec.matvec(matvec.COPY, format, matvec.PLAIN, 37, K, rows=4)
    (y,) = run(kernel, [x, *arrays], matvec.groups_for(37, 4), [((1, 37), np.float32)])
    np.testing.assert_allclose(y, x @ values.T, atol=3e-3 if type in ("Q4_K", "Q5_K") else 2e-5)


@pytest.mark.parametrize("type", ["F16", "Q8_0", "Q5_1", "Q6_K"])
def test_a_kernel_reads_its_arrays_from_one_buffer_as_it_does_apart(type):
    format, arrays, _ = matrix(type)
    gamma, beta, bias, x = halves(K, seed=1), halves(K, seed=2), halves(N, seed=3), normal(K)
    apart = matvec.matvec(matvec.NORM, format, matvec.BIAS, N, K)
    output = [((N,), np.float32)]
    (expected,) = run(apart, [x, gamma, beta, *arrays, bias], matvec.groups_for(N, 1), output)
    named = {"gamma": gamma, "beta": beta, **dict(zip(format.inputs, arrays, strict=True)), "bias": bias}
    pack = Pack.of({name: mx.array(array) for name, array in named.items()})
    kernel = pack.kernel(apart)
    assert kernel.inputs == ("x", "pack")
    (got,) = run(kernel, [x, np.array(pack.buffer)], matvec.groups_for(N, 1), output)
    np.testing.assert_array_equal(got, expected)
    for name, array in named.items():
        np.testing.assert_array_equal(np.array(pack.views[name]), array)


@pytest.mark.parametrize("columns", [384, 768, 1280])
@pytest.mark.parametrize("type", ["F16", "Q8_0", "Q4_0", "Q5_0"])
def test_widths_that_leave_lanes_without_work_are_summed_whole(type, columns):
    format, arrays, values = matrix(type, 9, columns)
    x = normal(1, columns)
    kernel = matvec.matvec(matvec.COPY, format, matvec.PLAIN, 9, columns)
    (y,) = run(kernel, [x, *arrays], matvec.groups_for(9, 1), [((1, 9), np.float32)])
    np.testing.assert_allclose(y, x @ values.T, atol=2e-5)


def test_norm_comes_before_the_product_and_gelu_after_it():
    format, arrays, values = matrix("Q8_0")
    x, gamma, beta, bias = (
        normal(K) * 3 + 1,
        halves(K),
        halves(K),
        halves(N),
    )
    kernel = matvec.matvec(matvec.NORM, format, matvec.GELU, N, K)
    (y,) = run(kernel, [x, gamma, beta, *arrays, bias], matvec.groups_for(N, 1), [((N,), np.float32)])
    before = values @ normed(x, gamma, beta) + bias.astype(np.float32)
    np.testing.assert_allclose(y, before * 0.5 * (1 + erf(before / math.sqrt(2))), atol=2e-5)


def test_k_and_v_rows_land_in_their_slab_row_and_nowhere_else():
    d, context, position = 128, 12, 7
    format, arrays, values = matrix("Q8_0", 3 * d, d)
    x, gamma, beta, bias = (
        normal(d),
        halves(d),
        halves(d),
        halves(3 * d),
    )
    slab = halves(2, 2, context, 64, seed=1)
    old = slab.copy()
    state = np.array([position, 0, 0, 0, 0, 0, 0, 0], np.int32)
    kernel = matvec.matvec(matvec.NORM, format, matvec.SLAB, 3 * d, d, constants={"CONTEXT": context})
    inputs = [x, gamma, beta, *arrays, bias, state, slab]
    (q,) = run(kernel, inputs, matvec.groups_for(3 * d, 1), [((d,), np.float32)])
    expected = values @ normed(x, gamma, beta) + bias.astype(np.float32)
    np.testing.assert_allclose(q, expected[:d], atol=2e-5)
    np.testing.assert_allclose(slab[:, :, position].reshape(-1).astype(np.float32), expected[d:], atol=2e-3)
    np.testing.assert_array_equal(np.delete(slab, position, axis=2), np.delete(old, position, axis=2))


@pytest.mark.parametrize("splits", [1, 3])
def test_partial_attention_is_joined_projected_and_added_to_the_residual(splits):
    heads, k = 4, 256
    format, arrays, values = matrix("F16", N, k)
    parts, tops = normal(splits, k), normal(splits, heads, seed=6) * 4
    sums = np.random.default_rng(7).uniform(1, 9, (splits, heads)).astype(np.float32)
    bias, before = halves(N), normal(N, seed=8)
    kernel = matvec.matvec(matvec.JOIN, format, matvec.RESIDUAL, N, k, constants={"HEADS": heads, "SPLITS": splits})
    stats = np.stack([tops, sums], axis=-1)
    parts_and_stats = np.concatenate([parts.ravel(), stats.ravel()])
    (y,) = run(kernel, [parts_and_stats, *arrays, bias, before], matvec.groups_for(N, 1), [((N,), np.float32)])
    weights = np.exp(tops - tops.max(0))
    joined = (weights[..., None] * parts.reshape(splits, heads, 64)).sum(0) / (weights * sums).sum(0)[:, None]
    np.testing.assert_allclose(y, before + values @ joined.reshape(-1) + bias.astype(np.float32), atol=2e-5)
