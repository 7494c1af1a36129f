"""Encoder kernels, run on the CPU, against NumPy."""

import numpy as np
import pytest

from engine.kernels import encoder
from tests.engine.kernels.emulator import run
from tests.engine.kernels.test_matvec import halves, normed


@pytest.mark.parametrize("d", [128, 384, 1280])
def test_norm_of_shifted_rows_is_layer_norm(d):
    x, table = halves(5, d) * np.float16(3), halves(3, d, seed=6)
    shift, gamma, beta = table
    (y,) = run(encoder.norm(d), [x, table], 5, [((5, d), np.float16)])
    for row, got in zip(x.astype(np.float32) + shift.astype(np.float32), y, strict=True):
        np.testing.assert_allclose(got.astype(np.float32), normed(row, gamma, beta), atol=8e-3)  # f16 near 8


@pytest.mark.parametrize("f16", [False, True])
@pytest.mark.parametrize(("step", "left"), [(1, 0), (1, 1), (2, 0), (2, 1)])
def test_windows_of_three_rows_start_with_zeros_left_of_the_first(f16, step, left):
    columns, n = 80, 6
    rows = (n - 1) * step + 3 - left
    x = np.random.default_rng(0).normal(0, 1, (rows, columns)).astype(np.float16 if f16 else np.float32)
    kernel = encoder.three(columns, step, left, f16)
    (y,) = run(kernel, [x], n, [((n, 3 * columns), np.float16)])
    padded = np.concatenate([np.zeros((left, columns), x.dtype), x]).astype(np.float16)
    np.testing.assert_array_equal(y, [padded[i * step : i * step + 3].ravel() for i in range(n)])
