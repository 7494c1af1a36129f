"""Kernels of the encoder: fewer nodes where MLX's host side, not the GPU, takes the time.

On an H200 the GPU works for 0.5 ms on a window of base while MLX takes 2 ms to submit it: each node costs about 20 µs.
"""

from __future__ import annotations

import mlx.core as mx

from engine.kernels.dialect import SIMD_WIDTH, Kernel, Launch

THREADS = 128  # of a thread group that copies a row

_NORM = """
    float v[K / 32];
    float sum = 0;
    UNROLL
    for (uint i = 0; i < K / 64; i++) {
        const uint at = i * 32 + LANE;
        const float2 a = HALVES(((const DEVICE uint*)x)[GROUP * (K / 2) + at]);
        const float2 b = HALVES(((const DEVICE uint*)table)[at]);
        v[2 * i] = a.x + b.x;
        v[2 * i + 1] = a.y + b.y;
        sum += v[2 * i] + v[2 * i + 1];
    }
    const float mean = SIMD_SUM(sum) / (float)K;
    float square = 0;
    UNROLL
    for (uint i = 0; i < K / 32; i++) square += (v[i] - mean) * (v[i] - mean);
    const float factor = 1.0f / sqrt(SIMD_SUM(square) / (float)K + 1e-5f);
    UNROLL
    for (uint i = 0; i < K / 64; i++) {
        const uint at = i * 32 + LANE;
        const float2 gamma = HALVES(((const DEVICE uint*)table)[K / 2 + at]);
        const float2 beta = HALVES(((const DEVICE uint*)table)[K + at]);
        y[GROUP * K + 2 * at] = (half_t)((v[2 * i] - mean) * factor * gamma.x + beta.x);
        y[GROUP * K + 2 * at + 1] = (half_t)((v[2 * i + 1] - mean) * factor * gamma.y + beta.y);
    }
"""

_THREE = """
    for (uint i = TID; i < 3 * C; i += THREADS) {
        const int source = (int)(GROUP * STEP + i / C) - LEFT;
        y[GROUP * 3 * C + i] = source < 0 ? (half_t)0.0f : (half_t)(float)x[source * C + i % C];
    }
"""


def norm(k: int) -> Kernel:
    """Layer norm of x (n, k) f16 plus a row, by one SIMD group a row. table (3, k) f16: that row, weight, bias."""
    return Kernel("sayso_encoder_norm", ("x", "table"), ("y",), _NORM, SIMD_WIDTH, {"K": k})


def three(columns: int, step: int, left: int, f16: bool) -> Kernel:
    """Every `step`-th window of three rows of x (rows, columns), side by side and as f16: (n, 3 * columns).

    left: rows of zeros before the first. f16: what x is, else f32. One thread group a window.
    """
    name = f"sayso_three_{'f16' if f16 else 'f32'}"
    return Kernel(name, ("x",), ("y",), _THREE, THREADS, {"C": columns, "STEP": step, "LEFT": left, "THREADS": THREADS})


class EncoderKernels:
    """The kernels on "metal" or "cuda"."""

    def __init__(self, device: str) -> None:
        self._device = device
        self._made: dict[tuple[int, ...], Launch] = {}

    def norm(self, x: mx.array, table: mx.array) -> mx.array:
        """x (n, k) f16, table (3, k) -> (n, k)."""
        n, k = x.shape
        return self._launch((k,), norm(k))([x, table], n, [(n, k)], [x.dtype])[0]

    def three(self, x: mx.array, n: int, step: int, left: int) -> mx.array:
        """n windows of x (rows, columns), f32 or f16 -> (n, 3 * columns) f16."""
        columns, f16 = x.shape[1], x.dtype == mx.float16
        launch = self._launch((columns, step, left, f16), three(columns, step, left, f16))
        return launch([x], n, [(n, 3 * columns)], [mx.float16])[0]

    def _launch(self, key: tuple[int, ...], kernel: Kernel) -> Launch:
        if key not in self._made:
            self._made[key] = kernel.on(self._device)
        return self._made[key]
