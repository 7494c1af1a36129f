"""Attention kernels, run on the CPU, against NumPy."""

import numpy as np
import pytest

from engine.kernels import attention
from tests.engine.kernels.emulator import run
from tests.engine.kernels.test_matvec import matrix, normed

HEADS = 2


def normal(*shape: int, seed: int, dtype=np.float16) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, 1, shape).astype(dtype)


def query_and_kv(keys):
    return normal(HEADS * 64, seed=1, dtype=np.float32), normal(2, HEADS, keys, 64, seed=2)


def attended(q, kv):
    keys, values = kv.astype(np.float32)
    scores = np.einsum("he,hje->hj", q.reshape(HEADS, 64) / 8, keys)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return np.einsum("hj,hje->he", weights / weights.sum(-1, keepdims=True), values)


def outputs(splits):
    return [((attention.parts_size(HEADS, splits),), np.float32)]


def joined(out, splits):
    parts, stats = np.split(out, [splits * HEADS * 64])
    top, sums = np.moveaxis(stats.reshape(splits, HEADS, 2), -1, 0)
    weights = np.exp(top - top.max(0))
    total = (weights[..., None] * parts.reshape(splits, HEADS, 64)).sum(0)
    return total / (weights * sums).sum(0)[:, None]


@pytest.mark.parametrize(("keys", "splits"), [(100, 1), (100, 3), (33, 8), (5, 8)])
def test_attention_split_over_the_keys_equals_softmax(keys, splits):
    q, kv = query_and_kv(keys)
    kernel = attention.attend(HEADS, keys, splits, from_state=False)
    (out,) = run(kernel, [q, kv], HEADS * splits, outputs(splits))
    np.testing.assert_allclose(joined(out, splits), attended(q, kv), atol=1e-5)


@pytest.mark.parametrize("position", [0, 1, 40, 47])
def test_attention_over_a_slab_sees_the_rows_up_to_the_position_only(position):
    q, kv = query_and_kv(48)
    kv[:, :, position + 1 :] = np.nan
    kernel = attention.attend(HEADS, 48, 1, from_state=True)
    state = np.array([position, 0, 0, 0, 0, 0, 0, 0], np.int32)
    (out,) = run(kernel, [q, kv, state], HEADS, outputs(1))
    np.testing.assert_allclose(joined(out, 1), attended(q, kv[:, :, : position + 1]), atol=1e-5)


def test_a_block_of_tokens_is_written_into_its_slab_rows_and_nowhere_else():
    tokens, context, d = 3, 10, HEADS * 64
    qkv = normal(tokens, 3 * d, seed=1)
    slab = normal(2, HEADS, context, 64, seed=2)
    expected = slab.copy()
    expected[:, :, 4:7] = qkv[:, d:].reshape(tokens, 2, HEADS, 64).transpose(1, 2, 0, 3)
    state = np.array([4, 0, 0, 0, 0, tokens, 0, 0], np.int32)
    groups = -(-qkv.size // attention.THREADS)
    kernel = attention.write_rows(d, context)
    (q,) = run(kernel, [qkv, state, slab], groups, [((1, HEADS, tokens, 64), np.float16)])
    np.testing.assert_array_equal(q[0], qkv[:, :d].reshape(tokens, HEADS, 64).swapaxes(0, 1))
    np.testing.assert_array_equal(slab, expected)


@pytest.mark.parametrize("type", ["F16", "Q8_0", "Q5_0"])
def test_attention_that_makes_its_query_equals_norm_product_and_softmax(type):
    d, keys, splits = HEADS * 64, 70, 3
    format, arrays, values = matrix(type, d, d)
    x, gamma, beta, bias = normal(d, seed=4, dtype=np.float32), normal(d, seed=5), normal(d, seed=6), normal(d, seed=7)
    _, kv = query_and_kv(keys)
    kernel = attention.norm_attend(format, HEADS, keys, splits, from_state=False)
    (out,) = run(kernel, [x, gamma, beta, *arrays, bias, kv], HEADS * splits, outputs(splits))
    q = values @ normed(x, gamma, beta) + bias.astype(np.float32)
    np.testing.assert_allclose(joined(out, splits), attended(q, kv), atol=1e-4)


@pytest.mark.parametrize("position", [0, 40])
def test_attention_that_makes_its_own_row_writes_it_and_sees_it(position):
    d, context = HEADS * 64, 48
    format, arrays, values = matrix("Q8_0", 3 * d, d)
    x, gamma, beta = normal(d, seed=4, dtype=np.float32), normal(d, seed=5), normal(d, seed=6)
    bias = normal(3 * d, seed=7)
    _, kv = query_and_kv(context)
    kv[:, :, position:] = np.nan
    expected = values @ normed(x, gamma, beta) + bias.astype(np.float32)
    kernel = attention.norm_attend(format, HEADS, context, 1, from_state=True)
    state = np.array([position, 0, 0, 0, 0, 0, 0, 0], np.int32)
    (out,) = run(kernel, [x, gamma, beta, *arrays, bias, kv, state], HEADS, outputs(1))
    np.testing.assert_allclose(kv[:, :, position].reshape(-1).astype(np.float32), expected[d:], atol=4e-3)
    assert np.isnan(kv[:, :, position + 1 :]).all()
    np.testing.assert_allclose(joined(out, 1), attended(expected[:d], kv[:, :, : position + 1]), atol=1e-4)
