"""Attention kernels, run on the CPU, against NumPy."""

import numpy as np
import pytest

from engine.kernels import attention
from tests.engine.kernels.emulator import run
from tests.engine.kernels.test_matvec import matrix, normed

HEADS = 2


def normal(*shape: int, seed: int, dtype=np.float16) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, 1, shape).astype(dtype)


def query_keys_values(keys):
    shape = (1, HEADS, keys, 64)
    return normal(HEADS * 64, seed=1, dtype=np.float32), normal(*shape, seed=2), normal(*shape, seed=3)


def attended(q, keys, values):
    scores = np.einsum("he,hje->hj", q.reshape(HEADS, 64) / 8, keys[0].astype(np.float32))
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return np.einsum("hj,hje->he", weights / weights.sum(-1, keepdims=True), values[0].astype(np.float32))


def joined(parts, stats):
    top, sums = stats[..., 0], stats[..., 1]
    weights = np.exp(top - top.max(0))
    total = (weights[..., None] * parts.reshape(len(parts), HEADS, 64)).sum(0)
    return total / (weights * sums).sum(0)[:, None]


@pytest.mark.parametrize(("keys", "splits"), [(100, 1), (100, 3), (33, 8), (5, 8)])
def test_attention_split_over_the_keys_equals_softmax(keys, splits):
    q, k, v = (
        normal(HEADS * 64, seed=1, dtype=np.float32),
        normal(1, HEADS, keys, 64, seed=2),
        normal(1, HEADS, keys, 64, seed=3),
    )
    kernel = attention.attend(HEADS, keys, splits, from_state=False)
    outputs = [((splits, HEADS * 64), np.float32), ((splits, HEADS, 2), np.float32)]
    parts, stats = run(kernel, [q, k, v, np.zeros(8, np.int32)], HEADS * splits, outputs)
    np.testing.assert_allclose(joined(parts, stats), attended(q, k, v), atol=1e-5)


@pytest.mark.parametrize("position", [0, 1, 40, 47])
def test_attention_over_a_slab_sees_the_rows_up_to_the_position_only(position):
    q, k, v = (
        normal(HEADS * 64, seed=1, dtype=np.float32),
        normal(1, HEADS, 48, 64, seed=2),
        normal(1, HEADS, 48, 64, seed=3),
    )
    k[:, :, position + 1 :] = v[:, :, position + 1 :] = np.nan
    kernel = attention.attend(HEADS, 48, 1, from_state=True)
    state = np.array([position, 0, 0, 0, 0, 0, 0, 0], np.int32)
    outputs = [((1, HEADS * 64), np.float32), ((1, HEADS, 2), np.float32)]
    parts, stats = run(kernel, [q, k, v, state], HEADS, outputs)
    seen = slice(0, position + 1)
    np.testing.assert_allclose(joined(parts, stats), attended(q, k[:, :, seen], v[:, :, seen]), atol=1e-5)


def test_a_block_of_tokens_is_written_into_its_slab_rows_and_nowhere_else():
    tokens, context, d = 3, 10, HEADS * 64
    qkv = normal(tokens, 3 * d, seed=1)
    keys, values = normal(1, HEADS, context, 64, seed=2), normal(1, HEADS, context, 64, seed=3)
    expected = keys.copy(), values.copy()
    for i, slab in enumerate(expected, start=1):
        slab[0, :, 4:7] = qkv[:, i * d : (i + 1) * d].reshape(tokens, HEADS, 64).swapaxes(0, 1)
    state = np.array([4, 0, 0, 0, 0, tokens, 0, 0], np.int32)
    groups = -(-qkv.size // attention.THREADS)
    kernel = attention.write_rows(d, context)
    (q,) = run(kernel, [qkv, state, keys, values], groups, [((1, HEADS, tokens, 64), np.float16)])
    np.testing.assert_array_equal(q[0], qkv[:, :d].reshape(tokens, HEADS, 64).swapaxes(0, 1))
    np.testing.assert_array_equal(keys, expected[0])
    np.testing.assert_array_equal(values, expected[1])


@pytest.mark.parametrize("type", ["F16", "Q8_0", "Q5_0"])
def test_attention_that_makes_its_query_equals_norm_product_and_softmax(type):
    d, keys, splits = HEADS * 64, 70, 3
    format, arrays, values = matrix(type, d, d)
    x, gamma, beta, bias = normal(d, seed=4, dtype=np.float32), normal(d, seed=5), normal(d, seed=6), normal(d, seed=7)
    _, k, v = query_keys_values(keys)
    kernel = attention.norm_attend(format, HEADS, keys, splits, from_state=False)
    outputs = [((splits, d), np.float32), ((splits, HEADS, 2), np.float32)]
    inputs = [x, gamma, beta, *arrays, bias, k, v, np.zeros(8, np.int32)]
    parts, stats = run(kernel, inputs, HEADS * splits, outputs)
    q = values @ normed(x, gamma, beta) + bias.astype(np.float32)
    np.testing.assert_allclose(joined(parts, stats), attended(q, k, v), atol=1e-4)


@pytest.mark.parametrize("position", [0, 40])
def test_attention_that_makes_its_own_row_writes_it_and_sees_it(position):
    d, context = HEADS * 64, 48
    format, arrays, values = matrix("Q8_0", 3 * d, d)
    x, gamma, beta = normal(d, seed=4, dtype=np.float32), normal(d, seed=5), normal(d, seed=6)
    bias = normal(3 * d, seed=7)
    _, k, v = query_keys_values(context)
    k[:, :, position:] = v[:, :, position:] = np.nan
    expected = values @ normed(x, gamma, beta) + bias.astype(np.float32)
    kernel = attention.norm_attend(format, HEADS, context, 1, from_state=True)
    state = np.array([position, 0, 0, 0, 0, 0, 0, 0], np.int32)
    outputs = [((1, d), np.float32), ((1, HEADS, 2), np.float32)]
    parts, stats = run(kernel, [x, gamma, beta, *arrays, bias, k, v, state], HEADS, outputs)
    for slab, row in ((k, expected[d : 2 * d]), (v, expected[2 * d :])):
        np.testing.assert_allclose(slab[0, :, position].reshape(-1).astype(np.float32), row, atol=4e-3)
        assert np.isnan(slab[:, :, position + 1 :]).all()
    seen = slice(0, position + 1)
    np.testing.assert_allclose(joined(parts, stats), attended(expected[:d], k[:, :, seen], v[:, :, seen]), atol=1e-4)
