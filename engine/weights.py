"""A Checkpoint's tensors as MLX arrays, dense or in MLX's quantized layout, and linear layers made of them.

Nothing here is lazy when it is handed out, and nothing lives at module level: an MLX array belongs to its thread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import mlx.core as mx
import numpy as np
from gguf import GGMLQuantizationType as TensorType

from engine.checkpoint import Checkpoint, Tensor
from engine.repack import GROUP, SYMMETRIC, affine, is_affine


@dataclass(frozen=True)
class Dense:
    """A matrix (rows, columns) in the dtype of the activations."""

    weight: mx.array

    @property
    def n_rows(self) -> int:
        return int(self.weight.shape[0])

    @property
    def n_columns(self) -> int:
        return int(self.weight.shape[1])

    def product(self, x: mx.array) -> mx.array:
        """x (..., columns) times the matrix transposed: (..., rows)."""
        return x @ self.weight.T

    def take(self, rows: mx.array) -> mx.array:
        """Rows by index, (n,) -> (n, columns)."""
        return self.weight[rows]

    def part(self, start: int, end: int) -> Dense:
        """Rows start to end, a view."""
        return Dense(self.weight[start:end])

    def dense(self) -> Dense:
        return self

    def arrays(self) -> list[mx.array]:
        return [self.weight]

    def over(self, arrays: list[mx.array]) -> Dense:
        """The same matrix in other arrays: the first of `arrays()`, moved."""
        (weight,) = arrays
        return Dense(weight)


@dataclass(frozen=True)
class Quantized:
    """A matrix in MLX's affine layout, groups of 32; scales and biases in the dtype of the activations.

    (Mixed dtypes would make MLX convert the scales in every product.)
    """

    packed: mx.array
    scales: mx.array
    biases: mx.array
    bits: int
    is_symmetric: bool = False  # biases are -scales * 2 ** (bits - 1)
    multiply: Multiply | None = None  # None: MLX's own, which each process compiles on CUDA, 5 to 17 s each

    @property
    def n_rows(self) -> int:
        return int(self.packed.shape[0])

    @property
    def n_columns(self) -> int:
        return int(self.scales.shape[1]) * GROUP

    def product(self, x: mx.array) -> mx.array:
        if self.multiply is not None:
            return self.multiply(self, x) if x.shape[0] <= FEW else self.dense().product(x)
        return mx.quantized_matmul(
            x, self.packed, self.scales, self.biases, transpose=True, group_size=GROUP, bits=self.bits
        )

    def take(self, rows: mx.array) -> mx.array:
        return self._values(self.packed[rows], self.scales[rows], self.biases[rows])

    def part(self, start: int, end: int) -> Quantized:
        return self.over([array[start:end] for array in self.arrays()])

    def dense(self) -> Dense:
        return Dense(self._values(self.packed, self.scales, self.biases))

    def _values(self, packed: mx.array, scales: mx.array, biases: mx.array) -> mx.array:
        if self.multiply is None:
            return mx.dequantize(packed, scales, biases, group_size=GROUP, bits=self.bits)
        return affine_values(packed, scales, biases, self.bits)

    def arrays(self) -> list[mx.array]:
        return [self.packed, self.scales, self.biases]

    def over(self, arrays: list[mx.array]) -> Quantized:
        packed, scales, biases = [*arrays, *self.arrays()[len(arrays) :]]
        return Quantized(packed, scales, biases, self.bits, self.is_symmetric, self.multiply)


@dataclass(frozen=True)
class PackedQ6K:
    """A Q6_K matrix as it lies in the file, for kernels of ours: uint8 (rows, columns / 256 * 210)."""

    blocks: mx.array
    dtype: mx.Dtype
    multiply: Multiply

    @property
    def n_rows(self) -> int:
        return int(self.blocks.shape[0])

    @property
    def n_columns(self) -> int:
        return int(self.blocks.shape[1]) // 210 * 256

    def product(self, x: mx.array) -> mx.array:
        return self.multiply(self, x) if x.shape[0] <= FEW else self.dense().product(x)

    def take(self, rows: mx.array) -> mx.array:
        return q6_k_values(self.blocks[rows], self.dtype)

    def part(self, start: int, end: int) -> PackedQ6K:
        return PackedQ6K(self.blocks[start:end], self.dtype, self.multiply)

    def dense(self) -> Dense:
        return Dense(q6_k_values(self.blocks, self.dtype))

    def arrays(self) -> list[mx.array]:
        return [self.blocks]

    def over(self, arrays: list[mx.array]) -> PackedQ6K:
        (blocks,) = arrays
        return PackedQ6K(blocks, self.dtype, self.multiply)


def affine_values(packed: mx.array, scales: mx.array, biases: mx.array, bits: int) -> mx.array:
    """Rows of the affine layout dequantized in plain MLX: (n, columns) in the dtype of the scales."""
    n = packed.shape[0]
    octets = packed.view(mx.uint8).reshape(n, -1, bits)  # 8 values fill `bits` bytes
    if bits == 8:
        q = octets
    else:
        word = sum(
            (octets[:, :, i].astype(mx.uint64) << (8 * i) for i in range(1, bits)), octets[:, :, 0].astype(mx.uint64)
        )
        q = mx.stack([(word >> (bits * i)) & ((1 << bits) - 1) for i in range(8)], axis=-1)
    groups = q.reshape(n, -1, GROUP).astype(mx.float32)
    values = groups * scales[..., None].astype(mx.float32) + biases[..., None].astype(mx.float32)
    return values.reshape(n, -1).astype(scales.dtype)


def q6_k_values(blocks: mx.array, dtype: mx.Dtype) -> mx.array:
    """Q6_K rows dequantized in plain MLX: uint8 (n, columns / 256 * 210) -> (n, columns)."""
    n = blocks.shape[0]
    block = blocks.reshape(n, -1, 210)
    low = block[:, :, :128].reshape(n, -1, 2, 1, 2, 32)  # half, -, run, element
    high = block[:, :, 128:192].reshape(n, -1, 2, 1, 32)
    nibbles = mx.concatenate([low & 15, low >> 4], axis=3).reshape(n, -1, 2, 4, 32)
    two = mx.concatenate([(high >> shift) & 3 for shift in (0, 2, 4, 6)], axis=3)
    q = (nibbles | (two << 4)).astype(mx.float32) - 32
    scales = mx.contiguous(block[:, :, 192:208]).view(mx.int8).astype(mx.float32)
    d = mx.contiguous(block[:, :, 208:210]).view(mx.float16).astype(mx.float32)
    values = q.reshape(n, -1, 16, 16) * (scales * d)[..., None]
    return values.reshape(n, -1).astype(dtype)


Matrix = Dense | Quantized | PackedQ6K
Multiply = Callable[[Matrix, mx.array], mx.array]  # a kernel's product with a few vectors: (n, columns) -> (n, rows)
FEW = 8  # vectors; for more, a matrix is made dense on the way


@dataclass(frozen=True)
class Linear:
    """matrix (rows, columns) and bias (rows,)."""

    matrix: Matrix
    bias: mx.array | None

    def __call__(self, x: mx.array) -> mx.array:
        """x (n, columns) -> (n, rows)."""
        if self.bias is not None and isinstance(self.matrix, Dense) and x.shape[0] > 1:
            return mx.addmm(self.bias, x, self.matrix.weight.T)  # on a GPU the bias costs nothing there
        y = self.matrix.product(x)
        return y if self.bias is None else y + self.bias

    def added_to(self, residual: mx.array, x: mx.array) -> mx.array:
        """residual (n, rows) + the product without the bias: one operation where the matrix is dense."""
        if isinstance(self.matrix, Dense):
            return mx.addmm(residual, x, self.matrix.weight.T)
        return residual + self.matrix.product(x)

    def part(self, start: int, end: int) -> Linear:
        return Linear(self.matrix.part(start, end), None if self.bias is None else self.bias[start:end])


@dataclass(frozen=True)
class Norm:
    weight: mx.array
    bias: mx.array

    def __call__(self, x: mx.array) -> mx.array:
        return mx.fast.layer_norm(x, self.weight, self.bias, 1e-5)


class Loader:
    """Turns a checkpoint's tensors into MLX arrays one after the other, so that little more than the result is held."""

    def __init__(
        self,
        checkpoint: Checkpoint,
        dtype: mx.Dtype,
        multiply_q6_k: Multiply | None = None,
        multiply_affine: Multiply | None = None,
    ) -> None:
        """multiply_q6_k: the kernel for Q6_K products; None makes Q6_K matrices dense.

        multiply_affine: the same for MLX's layout; None uses MLX's own operations.
        """
        self.checkpoint = checkpoint
        self.dtype = dtype
        self.multiply_q6_k = multiply_q6_k
        self.multiply_affine = multiply_affine

    def array(self, name: str) -> mx.array:
        """A norm, bias or table, dense."""
        return self._ready(mx.array(self.checkpoint[name].f32()).astype(self.dtype))

    def norm(self, name: str) -> Norm:
        return Norm(self.array(f"{name}.weight"), self.array(f"{name}.bias"))

    def linear(self, *names: str, widen: bool = False) -> Linear:
        """One layer, or several stacked row-wise into one product; a missing bias counts as zeros."""
        matrix = self.matrix([f"{name}.weight" for name in names], widen=widen)
        return Linear(matrix, self._bias(names))

    def matrix(self, names: Sequence[str], widen: bool = False, pad_rows_to: int = 1) -> Matrix:
        """Tensors stacked row-wise. Quantized where MLX has the layout and all are of one type, else dense.

        pad_rows_to: rows of zeros are added up to a multiple of this.
        """
        tensors = [self.checkpoint[name] for name in names]
        rows = sum(tensor.shape[0] for tensor in tensors)
        pad = -rows % pad_rows_to
        kinds = {tensor.type for tensor in tensors}
        matrix: Matrix
        if len(kinds) == 1 and is_affine(tensors[0].type):
            matrix = self._quantized(tensors, pad)
            if widen:
                matrix = matrix.dense()
        elif kinds == {TensorType.Q6_K} and self.multiply_q6_k is not None and not widen:
            blocks = _stack([mx.array(tensor.data) for tensor in tensors], pad)
            matrix = PackedQ6K(blocks, self.dtype, self.multiply_q6_k)
        else:
            matrix = Dense(_stack([self._dense(tensor) for tensor in tensors], pad))
        self._ready(*matrix.arrays())
        return matrix

    def _quantized(self, tensors: Sequence[Tensor], pad: int) -> Quantized:
        parts = [affine(tensor) for tensor in tensors]

        def column(get: Callable[[int], mx.array]) -> mx.array:
            return _stack([get(i) for i in range(len(parts))], pad)

        return Quantized(
            column(lambda i: mx.array(parts[i].packed)),
            column(lambda i: mx.array(parts[i].scales).astype(self.dtype)),
            column(lambda i: mx.array(parts[i].biases).astype(self.dtype)),
            parts[0].bits,
            tensors[0].type in SYMMETRIC,
            self.multiply_affine,
        )

    def _dense(self, tensor: Tensor) -> mx.array:
        if tensor.type == TensorType.F16:
            return mx.array(tensor.data.view(np.float16).reshape(tensor.shape)).astype(self.dtype)
        return mx.array(tensor.f32()).astype(self.dtype)

    def _bias(self, names: Sequence[str]) -> mx.array | None:
        found = [f"{name}.bias" in self.checkpoint.tensors for name in names]
        if not any(found):
            return None
        parts = [
            self.array(f"{name}.bias") if has else mx.zeros(self.checkpoint[f"{name}.weight"].shape[0], self.dtype)
            for name, has in zip(names, found, strict=True)
        ]
        return self._ready(mx.concatenate(parts))

    @staticmethod
    def _ready(*arrays: mx.array) -> mx.array:
        mx.eval(*arrays)
        return arrays[0]


def _stack(parts: list[mx.array], pad: int) -> mx.array:
    if pad:
        parts = [*parts, mx.zeros((pad, parts[0].shape[1]), parts[0].dtype)]
    return mx.concatenate(parts) if len(parts) > 1 else parts[0]
