"""What a decoder attends to: self-attention slabs, written in place row by row, and cross-attention K and V.

Invariant: a slab's buffer stays where it is from the first token to the last. MLX writes `slice_update` into the
buffer of its input when nothing else holds that input, so each slab has exactly one owner, and a step hands it back.
"""

from __future__ import annotations

from dataclasses import dataclass

import mlx.core as mx

from engine.runtime import HEAD_SIZE, Dims


@dataclass
class Slabs:
    """Keys and values of every decoder layer, head-major: [1, heads, n_text_ctx, 64] each."""

    keys: list[mx.array]
    values: list[mx.array]

    @staticmethod
    def empty(dims: Dims, dtype: mx.Dtype) -> Slabs:
        shape = (1, dims.n_text_head, dims.n_text_ctx, HEAD_SIZE)
        slabs = Slabs(
            [mx.zeros(shape, dtype) for _ in range(dims.n_text_layer)],
            [mx.zeros(shape, dtype) for _ in range(dims.n_text_layer)],
        )
        # + 0 so that each gets a buffer of its own, not one broadcast scalar
        slabs.keys = [mx.contiguous(k + 0) for k in slabs.keys]
        slabs.values = [mx.contiguous(v + 0) for v in slabs.values]
        mx.eval(slabs.keys, slabs.values)
        return slabs


@dataclass(frozen=True)
class CrossKV:
    """Cross-attention keys and values of every decoder layer, [1, heads, n_positions, 64] each."""

    keys: list[mx.array]
    values: list[mx.array]

    @property
    def n_positions(self) -> int:
        return int(self.keys[0].shape[2])

    def part(self, start: int, end: int) -> CrossKV:
        """Positions start to end, copied."""
        return CrossKV(
            [mx.contiguous(k[:, :, start:end]) for k in self.keys],
            [mx.contiguous(v[:, :, start:end]) for v in self.values],
        )

    @staticmethod
    def join(parts: list[CrossKV]) -> CrossKV:
        """Positions of several, one after the other."""
        layers = range(len(parts[0].keys))
        return CrossKV(
            [mx.concatenate([part.keys[i] for part in parts], axis=2) for i in layers],
            [mx.concatenate([part.values[i] for part in parts], axis=2) for i in layers],
        )
