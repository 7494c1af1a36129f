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
    """Keys and values of every decoder layer, head-major: [2, heads, n_text_ctx, 64] each, keys first."""

    layers: list[mx.array]

    @staticmethod
    def empty(dims: Dims, dtype: mx.Dtype) -> Slabs:
        shape = (2, dims.n_text_head, dims.n_text_ctx, HEAD_SIZE)
        # + 0 so that each gets a buffer of its own, not one broadcast scalar
        layers = [mx.contiguous(mx.zeros(shape, dtype) + 0) for _ in range(dims.n_text_layer)]
        mx.eval(layers)
        return Slabs(layers)


@dataclass(frozen=True)
class CrossKV:
    """Cross-attention keys and values of every decoder layer, [2, heads, n_positions, 64] each, keys first."""

    layers: list[mx.array]

    @property
    def n_positions(self) -> int:
        return int(self.layers[0].shape[2])

    def part(self, start: int, end: int) -> CrossKV:
        """Positions start to end, copied."""
        return CrossKV([mx.contiguous(kv[:, :, start:end]) for kv in self.layers])

    @staticmethod
    def join(parts: list[CrossKV]) -> CrossKV:
        """Positions of several, one after the other."""
        return CrossKV([mx.concatenate(list(kv), axis=2) for kv in zip(*(part.layers for part in parts), strict=True)])


def keys_values(kv: mx.array) -> tuple[mx.array, mx.array]:
    """A layer's keys and values, [1, heads, n, 64] each: views."""
    return kv[:1], kv[1:]
