"""The arrays that belong to one kernel, in one buffer: on CUDA each input costs MLX's host side about 1 µs a token."""

from __future__ import annotations

from dataclasses import dataclass

import mlx.core as mx

from engine.kernels.dialect import Kernel

ALIGNMENT = 256  # bytes: what cuBLAS and the widest loads want


@dataclass(frozen=True)
class Pack:
    buffer: mx.array  # uint8
    sections: dict[str, tuple[str, int]]  # by name: C type in the kernels' dialect, byte offset
    views: dict[str, mx.array]  # the arrays again, as parts of the buffer

    @staticmethod
    def of(arrays: dict[str, mx.array]) -> Pack:
        """Copies the arrays, evaluated. Drop the originals in favour of the views, or they take their memory twice."""
        parts: list[mx.array] = []
        sections, spans, at = {}, {}, 0
        for name, array in arrays.items():
            raw = array.reshape(-1).view(mx.uint8)
            sections[name], spans[name] = (_c_type(array.dtype), at), (at, at + raw.size)
            parts += [raw, mx.zeros(-raw.size % ALIGNMENT, mx.uint8)]
            at += raw.size + parts[-1].size
        buffer = mx.concatenate(parts)
        views = {
            name: buffer[start:end].view(arrays[name].dtype).reshape(arrays[name].shape)
            for name, (start, end) in spans.items()
        }
        mx.eval(buffer, views)
        return Pack(buffer, sections, views)

    def kernel(self, kernel: Kernel) -> Kernel:
        """The kernel with one input `pack`, the buffer, in place of those that lie in it."""
        return kernel.packed(self.sections)


def _c_type(dtype: mx.Dtype) -> str:
    return {mx.float16: "half_t", mx.uint32: "uint", mx.uint8: "uint8_t"}[dtype]
