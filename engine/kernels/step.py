"""The one-token step on kernels of ours: eight a layer (six where merged), and four for the token table at both ends.

Each is one node of the compiled graph; the slabs are written by the first kernel of a layer, in place.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import mlx.core as mx
import numpy as np

from engine.cache import CrossKV, Slabs
from engine.kernels import attention, choose, matvec
from engine.kernels.attention import parts_size
from engine.kernels.dialect import Launch
from engine.kernels.formats import format_of
from engine.kernels.matvec import BIAS, COPY, GELU, JOIN, NORM, PLAIN, RESIDUAL, SLAB, Epilogue, Prologue
from engine.kernels.pack import Pack
from engine.model import Decoder, DecoderLayer
from engine.runtime import N_AUDIO_CTX, Dims, Rules
from engine.weights import Linear, Matrix, Multiply, Norm

STATE_SIZE = 8
TABLE_ROWS = 4  # rows of the token table for each SIMD group: fewer groups, so fewer norms of the same vector
LARGE = 10_000  # rows that make a matrix a token table
CROSS_GROUPS = 128  # thread groups that cross-attention is spread over, about


@dataclass(frozen=True)
class Product:
    """A matrix-vector kernel with its own arrays, in one buffer."""

    launch: Launch
    pack: Pack
    groups: int
    n_out: int

    def __call__(self, before: mx.array, *after: mx.array) -> mx.array:
        """before, after: what the prologue and the epilogue take of the step."""
        return self.launch([before, self.pack.buffer, *after], self.groups, [(self.n_out,)], [mx.float32])[0]


@dataclass(frozen=True)
class Projected:
    """Attention that starts with the norm and the product that make its query (and, over a slab, its K and V)."""

    launch: Launch
    pack: Pack  # of the Product that it stands for
    heads: int
    splits: int

    def __call__(self, x: mx.array, *after: mx.array) -> mx.array:
        """after: keys and values, and over a slab the state."""
        inputs = [x, self.pack.buffer, *after]
        return self.launch(inputs, self.heads * self.splits, [(parts_size(self.heads, self.splits),)], [mx.float32])[0]


class KernelStep:
    """The kernels of one decoder on "metal" or "cuda"."""

    def __init__(self, decoder: Decoder, dims: Dims, device: str, merged: bool = False) -> None:
        """Moves the decoder's matrices into the kernels' buffers, where its own products read them from then on.

        merged: attention makes its own query, which saves two kernels a layer and costs some work done again.
        """
        self.merged = merged
        self.decoder, self.dims, self.device = decoder, dims, device
        heads, context = dims.n_text_head, dims.n_text_ctx
        self.splits = max(1, CROSS_GROUPS // heads)
        self.self_attend = attention.attend(heads, context, 1, from_state=True).on(device)
        self._cross_attend: dict[int, Launch] = {}
        self._write_rows = attention.write_rows(dims.n_text_state, context).on(device)
        self.layers: list[dict[str, Product]] = []
        for i, layer in enumerate(decoder.layers):
            self.layers.append(self._layer(layer))
            decoder.layers[i] = _over(layer, self.layers[-1])
        self.projected = (
            [self._projected(*pair) for pair in zip(decoder.layers, self.layers, strict=True)] if merged else []
        )
        self.head = self._product(NORM, decoder.table, PLAIN, decoder.norm, TABLE_ROWS, positions=decoder.positions)
        decoder.table = decoder.table.over(_matrix_views(self.head, decoder.table))
        decoder.positions = self.head.pack.views["positions"]

    def _product(
        self,
        prologue: Prologue,
        matrix: Matrix,
        epilogue: Epilogue,
        norm: Norm | None = None,
        rows: int = 1,
        splits: int = 1,
        n_out: int | None = None,
        **arrays: mx.array,
    ) -> Product:
        """arrays: others that belong into the buffer, by name."""
        n, k, format = matrix.n_rows, matrix.n_columns, format_of(matrix)
        constants = {}
        if prologue is JOIN:
            constants = {"HEADS": self.dims.n_text_head, "SPLITS": splits}
        if epilogue is SLAB:
            constants = {"CONTEXT": self.dims.n_text_ctx}
        norms = {} if norm is None else {"gamma": norm.weight, "beta": norm.bias}
        pack = Pack.of({**norms, **dict(zip(format.inputs, matrix.arrays(), strict=False)), **arrays})
        kernel = matvec.matvec(prologue, format, epilogue, n, k, rows, constants)
        launch = pack.kernel(kernel).on(self.device)
        return Product(launch, pack, matvec.groups_for(n, rows), n if n_out is None else n_out)

    def _layer(self, layer: DecoderLayer) -> dict[str, Product]:
        def linear(prologue: Prologue, part: Linear, epilogue: Epilogue, **options: Any) -> Product:
            return self._product(prologue, part.matrix, epilogue, bias=self._bias(part), **options)

        return {
            "qkv": linear(NORM, layer.qkv, SLAB, norm=layer.norm, n_out=self.dims.n_text_state),
            "out": linear(JOIN, layer.out, RESIDUAL),
            "cross_q": linear(NORM, layer.cross_q, BIAS, norm=layer.cross_norm),
            "cross_out": linear(JOIN, layer.cross_out, RESIDUAL, splits=self.splits),
            "fc1": linear(NORM, layer.fc1, GELU, norm=layer.mlp_norm),
            "fc2": linear(COPY, layer.fc2, RESIDUAL),
        }

    def _bias(self, part: Linear) -> mx.array:
        return mx.zeros(part.matrix.n_rows, self.decoder.positions.dtype) if part.bias is None else part.bias

    def _projected(self, layer: DecoderLayer, products: dict[str, Product]) -> tuple[Projected, Projected]:
        """Attention over the slab, and over the encoder's positions."""

        def made(part: Linear, product: Product, keys: int, splits: int, from_state: bool) -> Projected:
            heads = self.dims.n_text_head
            kernel = attention.norm_attend(format_of(part.matrix), heads, keys, splits, from_state)
            return Projected(product.pack.kernel(kernel).on(self.device), product.pack, heads, splits)

        return (
            made(layer.qkv, products["qkv"], self.dims.n_text_ctx, 1, True),
            made(layer.cross_q, products["cross_q"], N_AUDIO_CTX, self.splits, False),
        )

    def logits(self, x: mx.array, state: mx.array, slabs: Slabs, cross: CrossKV) -> mx.array:
        """One embedded token x (d,) f32 through all layers: raw logits (1, rows), f32. Writes slab row state[0]."""
        merged = self.merged and cross.n_positions == N_AUDIO_CTX
        for i, layer in enumerate(self.layers):
            if merged:
                own, across = self.projected[i]
                parts = own(x, slabs.layers[i], state)
            else:
                parts = self._own(layer["qkv"](x, state, slabs.layers[i]), slabs.layers[i], state)
            x = layer["out"](parts, x)
            parts = across(x, cross.layers[i]) if merged else self._across(layer["cross_q"](x), cross.layers[i])
            x = layer["cross_out"](parts, x)
            x = layer["fc2"](layer["fc1"](x), x)
        return self.head(x)[None]

    def _own(self, q: mx.array, slab: mx.array, state: mx.array) -> mx.array:
        heads = self.dims.n_text_head
        return self.self_attend([q, slab, state], heads, [(parts_size(heads, 1),)], [mx.float32])[0]

    def _across(self, q: mx.array, kv: mx.array) -> mx.array:
        positions, heads = kv.shape[2], self.dims.n_text_head
        if positions not in self._cross_attend:
            kernel = attention.attend(heads, positions, self.splits, from_state=False)
            self._cross_attend[positions] = kernel.on(self.device)
        shape = (parts_size(heads, self.splits),)
        return self._cross_attend[positions]([q, kv], heads * self.splits, [shape], [mx.float32])[0]

    def write_rows(self, qkv: mx.array, state: mx.array, slab: mx.array) -> mx.array:
        """qkv (n, 3 * d): K and V into the slab from row state[0] on, in place; q [1, heads, n, 64]. n is state[5]."""
        n, d, heads = qkv.shape[0], self.dims.n_text_state, self.dims.n_text_head
        groups = -(-n * 3 * d // attention.THREADS)
        return self._write_rows([qkv, state, slab], groups, [(1, heads, n, d // heads)], [qkv.dtype])[0]


def _matrix_views(product: Product, matrix: Matrix) -> list[mx.array]:
    return [product.pack.views[name] for name in format_of(matrix).inputs]


def _over(layer: DecoderLayer, products: dict[str, Product]) -> DecoderLayer:
    """The layer with its matrices where the products have them."""

    def moved(name: str) -> Linear:
        part: Linear = getattr(layer, name)
        return Linear(part.matrix.over(_matrix_views(products[name], part.matrix)), part.bias)

    return replace(layer, **{name: moved(name) for name in products})  # type: ignore[arg-type]  # all of them linear


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
        self.choose = step.head.pack.kernel(choose.choose(rules, format_of(table), self.k)).on(step.device)
        self.pack = step.head.pack.buffer

    def __call__(self, logits: mx.array, state: mx.array) -> tuple[mx.array, mx.array, mx.array]:
        """Logits (1, rows) f32 -> record (2,), next state (8,), the token's embedding (d,)."""
        scans = self.scan([logits, self.flags, state], choose.SCANS, [(choose.SCANS, 6)], [mx.float32])
        record, following, x = self.choose(
            [*scans, state, self.pack], 1, [(2,), (STATE_SIZE,), (self.k,)], [mx.float32, mx.int32, mx.float32]
        )
        return record, following, x


def product_with_a_few(device: str) -> Multiply:
    """The product of a matrix with several vectors, one after the other, for `weights.Loader`."""
    made: dict[tuple[str, int, int], Launch] = {}

    def multiply(matrix: Matrix, x: mx.array) -> mx.array:
        n, k, format = matrix.n_rows, matrix.n_columns, format_of(matrix)
        rows = TABLE_ROWS if n > LARGE else 1
        if (format.name, n, k) not in made:
            made[format.name, n, k] = matvec.matvec(COPY, format, PLAIN, n, k, rows).on(device)
        flat = x.reshape(-1, k)
        groups = matvec.groups_for(n, rows) * flat.shape[0]
        inputs = [flat, *matrix.arrays()[: len(format.inputs)]]
        y = made[format.name, n, k](inputs, groups, [(flat.shape[0], n)], [mx.float32])[0]
        return y.astype(x.dtype).reshape(*x.shape[:-1], n)

    return multiply
