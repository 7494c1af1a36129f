"""The one-token step on kernels of ours: eight a layer (six where merged), and four for the token table at both ends.

Each is one node of the compiled graph; the slabs are written by the first kernel of a layer, in place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import mlx.core as mx
import numpy as np

from engine.cache import CrossKV, Slabs
from engine.kernels import attention, choose, matvec
from engine.kernels.dialect import Launch
from engine.kernels.formats import Q6_K, format_of
from engine.kernels.matvec import BIAS, COPY, GELU, JOIN, NORM, PLAIN, RESIDUAL, SLAB, Epilogue, Prologue
from engine.model import Decoder, DecoderLayer
from engine.runtime import N_AUDIO_CTX, Dims, Rules
from engine.weights import Linear, Matrix, Norm, PackedQ6K

STATE_SIZE = 8
TABLE_ROWS = 4  # rows of the token table for each SIMD group: fewer groups, so fewer norms of the same vector
CROSS_GROUPS = 128  # thread groups that cross-attention is spread over, about


@dataclass(frozen=True)
class Product:
    """A matrix-vector kernel with its own arrays: `(before, after)` are what the prologue and the epilogue take."""

    launch: Launch
    prologue_arrays: list[mx.array]
    matrix_arrays: list[mx.array]
    epilogue_arrays: list[mx.array]
    groups: int
    n_out: int

    def __call__(self, before: list[mx.array], after: list[mx.array] | None = None) -> mx.array:
        inputs = [*before, *self.prologue_arrays, *self.matrix_arrays, *self.epilogue_arrays, *(after or [])]
        return self.launch(inputs, self.groups, [(self.n_out,)], [mx.float32])[0]


@dataclass(frozen=True)
class Projected:
    """Attention that starts with the norm and the product that make its query (and, over a slab, its K and V)."""

    launch: Launch
    before: list[mx.array]  # what the norm takes
    matrix: list[mx.array]  # and the product, bias included
    shape: tuple[int, int, int]  # splits, heads, d

    def __call__(self, x: mx.array, keys: mx.array, values: mx.array, state: mx.array) -> list[mx.array]:
        splits, heads, d = self.shape
        inputs = [x, *self.before, *self.matrix, keys, values, state]
        return self.launch(inputs, heads * splits, [(splits, d), (splits, heads, 2)], [mx.float32] * 2)


class KernelStep:
    """The kernels of one decoder on "metal" or "cuda"."""

    def __init__(self, decoder: Decoder, dims: Dims, device: str, merged: bool = False) -> None:
        """merged: attention makes its own query, which saves two kernels a layer and costs some work done again."""
        self.merged = merged
        self.decoder, self.dims, self.device = decoder, dims, device
        heads, context = dims.n_text_head, dims.n_text_ctx
        self.splits = max(1, CROSS_GROUPS // heads)
        self.self_attend = attention.attend(heads, context, 1, from_state=True).on(device)
        self._cross_attend: dict[int, Launch] = {}
        self._write_rows = attention.write_rows(dims.n_text_state, context).on(device)
        self.layers = [self._layer(layer) for layer in decoder.layers]
        self.projected = [self._projected(layer) for layer in decoder.layers] if merged else []
        self.head = self._product(NORM, decoder.table, PLAIN, norm=decoder.norm, rows=TABLE_ROWS)

    def _product(
        self,
        prologue: Prologue,
        matrix: Matrix,
        epilogue: Epilogue,
        norm: Norm | None = None,
        bias: mx.array | None = None,
        n_out: int | None = None,
        rows: int = 1,
        splits: int = 1,
    ) -> Product:
        n, k = matrix.n_rows, matrix.n_columns
        constants = {}
        if prologue is JOIN:
            constants = {"HEADS": self.dims.n_text_head, "SPLITS": splits}
        if epilogue is SLAB:
            constants = {"CONTEXT": self.dims.n_text_ctx}
        kernel = matvec.matvec(prologue, format_of(matrix), epilogue, n, k, rows, constants)
        return Product(
            kernel.on(self.device),
            [] if norm is None else [norm.weight, norm.bias],
            matrix.arrays(),
            [] if bias is None else [bias],
            matvec.groups_for(n, rows),
            n if n_out is None else n_out,
        )

    def _layer(self, layer: DecoderLayer) -> dict[str, Product]:
        def linear(prologue: Prologue, part: Linear, epilogue: Epilogue, **options: int | Norm) -> Product:
            return self._product(prologue, part.matrix, epilogue, bias=self._bias(part), **options)  # type: ignore[arg-type]

        d = self.dims.n_text_state
        return {
            "qkv": linear(NORM, layer.qkv, SLAB, norm=layer.norm, n_out=d),
            "out": linear(JOIN, layer.out, RESIDUAL),
            "cross_q": linear(NORM, layer.cross_q, BIAS, norm=layer.cross_norm),
            "cross_out": linear(JOIN, layer.cross_out, RESIDUAL, splits=self.splits),
            "fc1": linear(NORM, layer.fc1, GELU, norm=layer.mlp_norm),
            "fc2": linear(COPY, layer.fc2, RESIDUAL),
        }

    def _bias(self, part: Linear) -> mx.array:
        return mx.zeros(part.matrix.n_rows, self.decoder.positions.dtype) if part.bias is None else part.bias

    def _projected(self, layer: DecoderLayer) -> tuple[Projected, Projected]:
        """Attention over the slab, and over the encoder's positions."""

        def made(norm: Norm, part: Linear, keys: int, splits: int, from_state: bool) -> Projected:
            heads = self.dims.n_text_head
            kernel = attention.norm_attend(format_of(part.matrix), heads, keys, splits, from_state)
            arrays = [*part.matrix.arrays(), self._bias(part)]
            shape = (splits, heads, self.dims.n_text_state)
            return Projected(kernel.on(self.device), [norm.weight, norm.bias], arrays, shape)

        return (
            made(layer.norm, layer.qkv, self.dims.n_text_ctx, 1, True),
            made(layer.cross_norm, layer.cross_q, N_AUDIO_CTX, self.splits, False),
        )

    def _merged_logits(self, x: mx.array, state: mx.array, slabs: Slabs, cross: CrossKV) -> mx.array:
        for i, (layer, (attend, across)) in enumerate(zip(self.layers, self.projected, strict=True)):
            x = layer["out"](attend(x, slabs.keys[i], slabs.values[i], state), [x])
            x = layer["cross_out"](across(x, cross.keys[i], cross.values[i], state), [x])
            x = layer["fc2"]([layer["fc1"]([x])], [x])
        return self.head([x])[None]

    def logits(self, x: mx.array, state: mx.array, slabs: Slabs, cross: CrossKV) -> mx.array:
        """One embedded token x (d,) f32 through all layers: raw logits (1, rows), f32. Writes slab row state[0]."""
        if self.merged and cross.n_positions == N_AUDIO_CTX:
            return self._merged_logits(x, state, slabs, cross)
        heads, d = self.dims.n_text_head, self.dims.n_text_state
        across = self._cross(cross.n_positions)
        for i, layer in enumerate(self.layers):
            keys, values = slabs.keys[i], slabs.values[i]
            q = layer["qkv"]([x], [state, keys, values])
            parts = self.self_attend([q, keys, values, state], heads, [(1, d), (1, heads, 2)], [mx.float32] * 2)
            x = layer["out"](parts, [x])
            q = layer["cross_q"]([x])
            parts = across(
                [q, cross.keys[i], cross.values[i], state],
                heads * self.splits,
                [(self.splits, d), (self.splits, heads, 2)],
                [mx.float32] * 2,
            )
            x = layer["cross_out"](parts, [x])
            x = layer["fc2"]([layer["fc1"]([x])], [x])
        return self.head([x])[None]

    def _cross(self, positions: int) -> Launch:
        if positions not in self._cross_attend:
            kernel = attention.attend(self.dims.n_text_head, positions, self.splits, from_state=False)
            self._cross_attend[positions] = kernel.on(self.device)
        return self._cross_attend[positions]

    def write_rows(self, qkv: mx.array, state: mx.array, keys: mx.array, values: mx.array) -> mx.array:
        """qkv (n, 3 * d): K and V into the slabs from row state[0] on, in place; q [1, heads, n, 64]. n is state[5]."""
        n, d, heads = qkv.shape[0], self.dims.n_text_state, self.dims.n_text_head
        groups = -(-n * 3 * d // attention.THREADS)
        return self._write_rows([qkv, state, keys, values], groups, [(1, heads, n, d // heads)], [qkv.dtype])[0]


class KernelChooser:
    """Greedy choice under one set of rules: two kernels."""

    def __init__(self, step: KernelStep, rules: Rules, never: np.ndarray, never_first: np.ndarray) -> None:
        """never, never_first: bool (rows,): tokens never chosen, and not as the first one."""
        table = step.decoder.table
        flags = never * np.uint8(choose.NEVER) | never_first * np.uint8(choose.NEVER_FIRST)
        self.flags = mx.array(flags.astype(np.uint8))
        mx.eval(self.flags)
        self.k = step.dims.n_text_state
        self.scan = choose.scan(rules, len(flags)).on(step.device)
        self.choose = choose.choose(rules, format_of(table), self.k).on(step.device)
        self.arrays = [step.decoder.positions, *table.arrays()]

    def __call__(self, logits: mx.array, state: mx.array) -> tuple[mx.array, mx.array, mx.array]:
        """Logits (1, rows) f32 -> record (2,), next state (8,), the token's embedding (d,)."""
        scans = self.scan([logits, self.flags, state], choose.SCANS, [(choose.SCANS, 6)], [mx.float32])
        record, following, x = self.choose(
            [*scans, state, *self.arrays], 1, [(2,), (STATE_SIZE,), (self.k,)], [mx.float32, mx.int32, mx.float32]
        )
        return record, following, x


def q6_k_product(device: str) -> Callable[[PackedQ6K, mx.array], mx.array]:
    """The product of a packed Q6_K matrix with any number of vectors, for `weights.PackedQ6K`."""
    made: dict[tuple[int, int], Launch] = {}

    def multiply(matrix: PackedQ6K, x: mx.array) -> mx.array:
        n, k = matrix.n_rows, matrix.n_columns
        if (n, k) not in made:
            made[n, k] = matvec.matvec(COPY, Q6_K, PLAIN, n, k, TABLE_ROWS).on(device)
        flat = x.reshape(-1, k)
        groups = matvec.groups_for(n, TABLE_ROWS) * flat.shape[0]
        y = made[n, k]([flat, matrix.blocks], groups, [(flat.shape[0], n)], [mx.float32])[0]
        return y.astype(x.dtype).reshape(*x.shape[:-1], n)

    return multiply
