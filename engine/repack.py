"""GGUF blocks to MLX's affine layout: value = scale * q + bias per group of 32, q a bit stream in uint32 words.

Bit-exact in f32 for Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q4_K and Q5_K; the first five also with f16 scales. Q6_K has groups
of 16, which MLX's layout cannot hold: it stays packed for the kernel in `kernels/`, or becomes dense. Everything here
is NumPy, vectorised, on views into the memory-mapped file; block layouts are those of ggml's `ggml-common.h`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from gguf import GGMLQuantizationType as TensorType
from numpy.typing import NDArray

from engine.checkpoint import Tensor
from engine.runtime import F32

U8 = NDArray[np.uint8]
GROUP = 32  # values that share a scale and a bias


SYMMETRIC = (TensorType.Q8_0, TensorType.Q5_0, TensorType.Q4_0)  # whose biases are -scales * 2 ** (bits - 1)


@dataclass(frozen=True)
class Affine:
    """A matrix (rows, columns): packed uint32 (rows, columns * bits / 32), scales and biases (rows, columns / 32)."""

    packed: NDArray[np.uint32]
    scales: F32
    biases: F32
    bits: int


def is_affine(type: TensorType) -> bool:
    """Whether `affine` takes tensors of this type."""
    return type in _UNPACK


def affine(tensor: Tensor) -> Affine:
    """Repack a matrix whose type is_affine. Raises KeyError for another type."""
    unpack, bits = _UNPACK[tensor.type]
    q, scales, biases = unpack(tensor.data)
    rows = tensor.data.shape[0]
    return Affine(_pack(q.reshape(rows, -1), bits), scales.reshape(rows, -1), biases.reshape(rows, -1), bits)


def _pack(q: U8, bits: int) -> NDArray[np.uint32]:
    """Values (rows, columns) below 2**bits -> the bit stream MLX reads, uint32 (rows, columns * bits / 32)."""
    if bits == 8:
        return np.ascontiguousarray(q).view(np.uint32)
    if bits == 4:
        return np.ascontiguousarray(q[:, 0::2] | (q[:, 1::2] << 4)).view(np.uint32)
    # 8 values fill `bits` bytes exactly
    rows = q.shape[0]
    octets = q.reshape(rows, -1, 8)
    word = np.zeros(octets.shape[:2], np.uint64)
    for i in range(8):
        word |= octets[:, :, i].astype(np.uint64) << np.uint64(bits * i)
    stream = word.view(np.uint8).reshape(rows, -1, 8)[:, :, :bits]
    return np.ascontiguousarray(stream).reshape(rows, -1).view(np.uint32)


def _half(blocks: U8, at: int) -> F32:
    """The f16 at byte `at` of each block (..., bytes), as f32 (..., 1)."""
    return np.ascontiguousarray(blocks[..., at : at + 2]).view(np.float16).astype(np.float32)


def _nibbles(packed: U8) -> U8:
    """(..., n) bytes -> (..., 2n): all low nibbles, then all high ones."""
    return np.concatenate([packed & 15, packed >> 4], axis=-1)


def _high_bits(packed: U8) -> U8:
    """The 32 bits of a Q5 block's `qh` (..., 4) as 0 or 16, (..., 32)."""
    bits: U8 = np.unpackbits(packed, axis=-1, bitorder="little")
    return bits << np.uint8(4)


def _q8_0(data: U8) -> tuple[U8, F32, F32]:
    blocks = data.reshape(-1, 34)
    d = _half(blocks, 0)
    return blocks[:, 2:] ^ np.uint8(0x80), d, d * -128


def _q4_0(data: U8) -> tuple[U8, F32, F32]:
    blocks = data.reshape(-1, 18)
    d = _half(blocks, 0)
    return _nibbles(blocks[:, 2:]), d, d * -8


def _q4_1(data: U8) -> tuple[U8, F32, F32]:
    blocks = data.reshape(-1, 20)
    return _nibbles(blocks[:, 4:]), _half(blocks, 0), _half(blocks, 2)


def _q5_0(data: U8) -> tuple[U8, F32, F32]:
    blocks = data.reshape(-1, 22)
    d = _half(blocks, 0)
    return _nibbles(blocks[:, 6:]) | _high_bits(blocks[:, 2:6]), d, d * -16


def _q5_1(data: U8) -> tuple[U8, F32, F32]:
    blocks = data.reshape(-1, 24)
    return _nibbles(blocks[:, 8:]) | _high_bits(blocks[:, 4:8]), _half(blocks, 0), _half(blocks, 2)


def _k_scales(blocks: U8) -> tuple[F32, F32]:
    """Scale and bias of the 8 sub-blocks of a Q4_K or Q5_K block, (n, 8) each: d * sc and -(dmin * mn)."""
    b = blocks[:, 4:16]
    low, high = b[:, 0:4], b[:, 4:8]
    sc = np.concatenate([low & 63, (b[:, 8:] & 15) | ((low >> 6) << 4)], axis=1)
    mn = np.concatenate([high & 63, (b[:, 8:] >> 4) | ((high >> 6) << 4)], axis=1)
    return _half(blocks, 0) * sc.astype(np.float32), -(_half(blocks, 2) * mn.astype(np.float32))


def _k_nibbles(packed: U8) -> U8:
    """Four runs of 32 bytes; a run's low nibbles are one sub-block, its high ones the next: (n, 128) -> (n, 8, 32)."""
    runs = packed.reshape(-1, 4, 32)
    return np.stack([runs & 15, runs >> 4], axis=2).reshape(-1, 8, 32)


def _q4_k(data: U8) -> tuple[U8, F32, F32]:
    blocks = data.reshape(-1, 144)
    return (_k_nibbles(blocks[:, 16:]), *_k_scales(blocks))


def _q5_k(data: U8) -> tuple[U8, F32, F32]:
    blocks = data.reshape(-1, 176)
    bit = np.arange(8, dtype=np.uint8)[None, :, None]  # bit s of qh[i] belongs to element i of sub-block s
    high: U8 = ((blocks[:, None, 16:48] >> bit) & np.uint8(1)) << np.uint8(4)
    return (_k_nibbles(blocks[:, 48:]) | high, *_k_scales(blocks))


_UNPACK: dict[TensorType, tuple[Callable[[U8], tuple[U8, F32, F32]], int]] = {
    TensorType.Q8_0: (_q8_0, 8),
    TensorType.Q4_0: (_q4_0, 4),
    TensorType.Q4_1: (_q4_1, 4),
    TensorType.Q5_0: (_q5_0, 5),
    TensorType.Q5_1: (_q5_1, 5),
    TensorType.Q4_K: (_q4_k, 4),
    TensorType.Q5_K: (_q5_k, 5),
}
