"""Quantizers for ggml's K types (Q4_K, Q5_K, Q6_K), which the `gguf` package can read but not make.

A super-block is 256 values of one row. Q4_K and Q5_K cut it into 8 sub-blocks of 32, each with a 6-bit scale and a
6-bit minimum; Q6_K into 16 of 16 with an 8-bit scale. Each sub-block's scale is searched: a range of first guesses,
for each the least-squares fit to the rounded values, the best kept. ggml weighs large values higher in that search;
here all count alike, which makes the RMS error smaller (tests/engine/gguf/test_kquants.py compares).
Layouts: ggml-org/ggml, src/ggml-common.h `block_q4_K` and its neighbours.
"""

from __future__ import annotations

import numpy as np
from gguf import GGMLQuantizationType as TensorType
from numpy.typing import NDArray

from engine.runtime import F32

U8 = NDArray[np.uint8]

SUPER_BLOCK = 256
_CHUNK_BLOCKS = 512  # super-blocks at a time: 0.5 MB of f32, so that the search stays in the cache
_TINY = np.float32(1e-15)  # all smaller values become zero, as in ggml


def quantize(values: F32, kind: TensorType) -> U8:
    """(rows, width) f32, width a multiple of 256 -> (rows, bytes per row) in Q4_K, Q5_K or Q6_K."""
    pack = {TensorType.Q4_K: _pack_q4_k, TensorType.Q5_K: _pack_q5_k, TensorType.Q6_K: _pack_q6_k}[kind]
    rows = values.shape[0]
    blocks = np.ascontiguousarray(values, np.float32).reshape(-1, SUPER_BLOCK)
    packed = [pack(blocks[i : i + _CHUNK_BLOCKS]) for i in range(0, len(blocks), _CHUNK_BLOCKS)]
    return np.concatenate(packed).reshape(rows, -1)


def _pack_q4_k(blocks: F32) -> U8:
    q, head = _with_minimum(blocks, n_levels=15, first=-1.0, n_steps=20)
    return np.concatenate([head, _nibbles(q)], axis=1)


def _pack_q5_k(blocks: F32) -> U8:
    q, head = _with_minimum(blocks, n_levels=31, first=-0.5, n_steps=15)
    high = np.packbits(q >> 4, axis=1, bitorder="little").reshape(len(q), 32)  # bit s of byte i: sub-block s
    return np.concatenate([head, high, _nibbles(q & np.uint8(15))], axis=1)


def _nibbles(q: U8) -> U8:
    """(n, 8, 32) of 4 bits -> (n, 128): run k holds sub-block 2k in the low halves and 2k + 1 in the high ones."""
    return (q[:, 0::2] | (q[:, 1::2] << np.uint8(4))).reshape(len(q), 128)


def _with_minimum(blocks: F32, n_levels: int, first: float, n_steps: int) -> tuple[U8, U8]:
    """Levels q (n, 8, 32) and the 16 bytes before them (d, dmin, packed scales) for value = d*s*q - dmin*m."""
    x = blocks.reshape(-1, 32)
    scale, minimum = _search_affine(x, n_levels, first, n_steps)
    scale, minimum = scale.reshape(-1, 8), minimum.reshape(-1, 8)
    d, s = _six_bits(scale)
    dmin, m = _six_bits(minimum)
    step = (d.astype(np.float32)[:, None] * s).reshape(-1, 1)
    offset = (dmin.astype(np.float32)[:, None] * m).reshape(-1, 1)
    q = np.rint((x + offset) / np.where(step > 0, step, np.float32(np.inf)))
    levels = np.clip(q, 0, n_levels).astype(np.uint8).reshape(-1, 8, 32)
    head = np.concatenate([d[:, None].view(np.uint8), dmin[:, None].view(np.uint8), _pack_six_bits(s, m)], axis=1)
    return levels, head


def _search_affine(x: F32, n_levels: int, first: float, n_steps: int) -> tuple[F32, F32]:
    """Scale and minimum (both >= 0) of each row of x, (n, 32), that make scale*q - minimum closest to x."""
    low = np.minimum(x.min(axis=1, keepdims=True), 0)
    spread = x.max(axis=1, keepdims=True) - low
    flat = spread <= _TINY
    safe_spread = np.where(flat, np.float32(1), spread)
    n = np.float32(x.shape[1])
    sum_x = x.sum(axis=1)
    best_scale: F32 = np.true_divide(safe_spread[:, 0], n_levels, dtype=np.float32)
    best_low = low[:, 0].copy()
    best_error = _affine_error(x, np.rint((x - low) / best_scale[:, None]), best_scale, best_low)
    for i in range(n_steps + 1):
        q = np.rint((x - low) * (np.float32(n_levels + first + 0.1 * i) / safe_spread))
        np.clip(q, 0, n_levels, out=q)
        sum_q, sum_qq, sum_xq = q.sum(axis=1), np.einsum("ij,ij->i", q, q), np.einsum("ij,ij->i", x, q)
        determinant = n * sum_qq - sum_q * sum_q
        usable = np.where(determinant > 0, determinant, np.float32(1))
        scale = (n * sum_xq - sum_x * sum_q) / usable
        bottom = (sum_qq * sum_x - sum_q * sum_xq) / usable
        positive = bottom > 0  # the minimum has no sign in the file
        bottom[positive] = 0
        scale[positive] = sum_xq[positive] / np.maximum(sum_qq[positive], 1)
        error = _affine_error(x, q, scale, bottom)
        better = (error < best_error) & (determinant > 0) & (scale > 0)
        best_scale = np.where(better, scale, best_scale)
        best_low = np.where(better, bottom, best_low)
        best_error = np.where(better, error, best_error)
    return np.where(flat[:, 0], np.float32(0), best_scale), -best_low


def _affine_error(x: F32, q: F32, scale: F32, low: F32) -> F32:
    difference = q * scale[:, None]
    difference += low[:, None]
    difference -= x
    error: F32 = np.einsum("ij,ij->i", difference, difference)
    return error


def _six_bits(values: F32) -> tuple[NDArray[np.float16], U8]:
    """Non-negative values (n, 8) as an f16 factor (n,) and 6-bit multiples (n, 8)."""
    factor = (values.max(axis=1) / 63).astype(np.float16)
    wide = factor.astype(np.float32)[:, None]
    multiples = np.rint(values / np.where(wide > 0, wide, np.float32(np.inf)))
    return factor, np.clip(multiples, 0, 63).astype(np.uint8)


def _pack_six_bits(s: U8, m: U8) -> U8:
    """Eight scales and eight minima in 12 bytes: the first four whole, the upper two bits of the others above them."""
    return np.concatenate(
        [
            s[:, :4] | (s[:, 4:] >> 4 << 6),
            m[:, :4] | (m[:, 4:] >> 4 << 6),
            (s[:, 4:] & 15) | (m[:, 4:] & 15) << 4,
        ],
        axis=1,
    )


def _pack_q6_k(blocks: F32) -> U8:
    x = blocks.reshape(-1, 16)
    scale = _search_symmetric(x, 32).reshape(-1, 16)
    at = np.abs(scale).argmax(axis=1)
    largest = scale[np.arange(len(scale)), at]
    d = (largest / -128).astype(np.float16)  # the largest scale becomes -128, the only value without a positive twin
    wide = d.astype(np.float32)[:, None]
    s = np.clip(np.rint(scale / np.where(wide != 0, wide, np.float32(np.inf))), -128, 127).astype(np.int8)
    step = (wide * s).reshape(-1, 1)
    q = np.rint(x / np.where(step != 0, step, np.float32(np.inf)))
    q = (np.clip(q, -32, 31) + 32).astype(np.uint8).reshape(-1, 2, 4, 32)  # half, quarter, element
    low = (q[:, :, :2] & 15) | (q[:, :, 2:] & 15) << 4
    high = (q >> 4) << np.array([0, 2, 4, 6], np.uint8)[:, None]
    n = len(q)
    high = np.bitwise_or.reduce(high, axis=2)
    return np.concatenate(
        [low.reshape(n, 128), high.reshape(n, 64), s.view(np.uint8), d[:, None].view(np.uint8)], axis=1
    )


def _search_symmetric(x: F32, n_levels: int) -> F32:
    """Signed scale of each row of x, (n, 16), that makes scale*q closest to x, q in -n_levels..n_levels-1."""
    at = np.abs(x).argmax(axis=1)
    extreme = x[np.arange(len(x)), at]
    flat = np.abs(extreme) <= _TINY
    safe = np.where(flat, np.float32(1), extreme)[:, None]
    best_scale = np.zeros(len(x), np.float32)
    best_gain = np.full(len(x), -1, np.float32)  # what the fit takes off the squared error
    for i in range(-9, 10):
        q = np.rint(x * (np.float32(-(n_levels + 0.1 * i)) / safe))
        np.clip(q, -n_levels, n_levels - 1, out=q)
        sum_qq = np.maximum(np.einsum("ij,ij->i", q, q), 1)
        sum_xq = np.einsum("ij,ij->i", x, q)
        gain = sum_xq * sum_xq / sum_qq
        better = gain > best_gain
        best_scale = np.where(better, sum_xq / sum_qq, best_scale)
        best_gain = np.where(better, gain, best_gain)
    return np.where(flat, np.float32(0), best_scale)
