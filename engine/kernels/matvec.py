"""Matrix times vector, with what comes before and after it in the same kernel: norm, bias, residual, GELU, slab rows.

A thread group starts to load weights and puts its input vector into shared memory as f32 (the prologue), then each
SIMD group multiplies ROWS rows of the matrix with it, all at once, and lane 0 finishes each row (the epilogue).
Activations between the kernels of a step are f32; weights, norms and biases are f16 or packed.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.kernels.dialect import SIMD_WIDTH, Kernel
from engine.kernels.formats import Format

WARPS = 8  # SIMD groups in a thread group
THREADS = WARPS * SIMD_WIDTH
AHEAD_REGISTERS = 32  # of each thread, for weights that are loaded while the vector is made
AHEAD_REGISTERS_ROWS = 16  # the same with several rows, where more thread groups should fit on a processor


@dataclass(frozen=True)
class Prologue:
    name: str
    inputs: tuple[str, ...]
    text: str  # puts element k of the vector into xs[AT(k)], up to and with a barrier


@dataclass(frozen=True)
class Epilogue:
    name: str
    inputs: tuple[str, ...]
    text: str  # `acc` is the product of row `row`; the output is `y`


COPY = Prologue(
    "copy",
    ("x",),
    """
    for (uint k = TID; k < K; k += THREADS) xs[AT(k)] = (float)x[input * K + k];
    BARRIER;
""",
)

# Every SIMD group takes mean and variance of the whole vector: cheaper than to wait for each other twice
NORM = Prologue(
    "norm",
    ("x", "gamma", "beta"),
    """
    float v[K / 32];
    float norm_sum = 0;
    UNROLL
    for (uint i = 0; i < K / 32; i++) {
        v[i] = (float)x[i * 32 + LANE];
        norm_sum += v[i];
    }
    const float mean = SIMD_SUM(norm_sum) / (float)K;
    float square = 0;
    UNROLL
    for (uint i = 0; i < K / 32; i++) square += (v[i] - mean) * (v[i] - mean);
    const float factor = 1.0f / sqrt(SIMD_SUM(square) / (float)K + 1e-5f);
    for (uint k = TID; k < K; k += THREADS) {
        xs[AT(k)] = ((float)x[k] - mean) * factor * (float)gamma[k] + (float)beta[k];
    }
    BARRIER;
""",
)

# Joins the partial results of `attention.attend`: SPLITS stretches of keys, each with its own maximum and sum
JOIN = Prologue(
    "join",
    ("parts",),
    """
    for (uint k = TID; k < K; k += THREADS) {
        const DEVICE float* stats = parts + SPLITS * K + k / 64 * 2;
        float top = -3e38f, total = 0, value = 0;
        UNROLL
        for (uint s = 0; s < SPLITS; s++) top = fmax(top, stats[s * HEADS * 2]);
        UNROLL
        for (uint s = 0; s < SPLITS; s++) {
            const float share = exp(stats[s * HEADS * 2] - top);
            total += share * stats[s * HEADS * 2 + 1];
            value += share * parts[s * K + k];
        }
        xs[AT(k)] = value / total;
    }
    BARRIER;
""",
)

PLAIN = Epilogue("plain", (), "y[input * N + row] = acc;")
BIAS = Epilogue("bias", ("bias",), "y[row] = acc + (float)bias[row];")
RESIDUAL = Epilogue("residual", ("bias", "before"), "y[row] = before[row] + acc + (float)bias[row];")
# erf by Abramowitz and Stegun 7.1.26, whose error, 1.5e-7, is f32's own: Metal has no erf
GELU = Epilogue(
    "gelu",
    ("bias",),
    """
            const float g = acc + (float)bias[row];
            const float z = fabs(g) * 0.70710678f;
            const float t = 1.0f / (1.0f + 0.3275911f * z);
            const float p = t * (0.254829592f + t * (-0.284496736f + t * (1.421413741f
                          + t * (-1.453152027f + t * 1.061405429f))));
            const float e = 1.0f - p * exp(-z * z);
            y[row] = 0.5f * g * (1.0f + (g < 0 ? -e : e));
""",
)
# Rows of q go to the output; rows of k and v in place into the slab [2, heads, CONTEXT, 64], at the step's position
SLAB = Epilogue(
    "slab",
    ("bias", "state", "kv"),
    """
            const float value = acc + (float)bias[row];
            const uint part = row / K, i = row % K;
            if (part == 0) y[i] = value;
            else {
                DEVICE half_t* slab = (DEVICE half_t*)kv + (part - 1) * CONTEXT * K;
                slab[(i / 64 * CONTEXT + (uint)state[0]) * 64 + i % 64] = (half_t)value;
            }
""",
)


def matvec(
    prologue: Prologue,
    format: Format,
    epilogue: Epilogue,
    n: int,
    k: int,
    rows: int = 1,
    constants: dict[str, int] | None = None,
) -> Kernel:
    """The kernel for a matrix (n, k): `groups_for(n, rows)` thread groups, output y.

    rows: rows of the matrix for each SIMD group.
    """
    if k % format.columns_multiple:
        raise ValueError(f"{format.name} needs columns in multiples of {format.columns_multiple}, not {k}")
    joins_many = prologue is JOIN and (constants or {}).get("SPLITS", 1) > 1
    format = (format if joins_many else format.fitting(k)).over_rows(
        "(first + r < N ? first + r : N - 1)"
    )  # rows from N on are read as the last one
    body = f"""
    const uint GROUPS = (N + WARPS * ROWS - 1) / (WARPS * ROWS);
    const uint input = GROUP / GROUPS;
    const uint first = (GROUP % GROUPS * WARPS + SIMD) * ROWS;
    SHARED(float, xs, K);
    {format.held}
{format.ahead}
{prologue.text}
    float sums[ROWS];
    UNROLL
    for (uint r = 0; r < ROWS; r++) sums[r] = 0;
{format.dot}
    UNROLL
    for (uint r = 0; r < ROWS; r++) {{
        const uint row = first + r;
        const float acc = SIMD_SUM(sums[r]);
        if (LANE == 0 && row < N) {{
            {epilogue.text}
        }}
    }}
"""
    ahead = format.turns_ahead(rows, k, AHEAD_REGISTERS if rows == 1 else AHEAD_REGISTERS_ROWS)
    sizes = {"N": n, "K": k, "ROWS": rows, "AHEAD": ahead, "WARPS": WARPS, "THREADS": THREADS}
    return Kernel(
        f"sayso_{prologue.name}_{format.name}_{epilogue.name}",
        (*prologue.inputs, *format.inputs, *epilogue.inputs),
        ("y",),
        body,
        THREADS,
        {**sizes, **(constants or {})},
    )


def groups_for(n: int, rows: int) -> int:
    return -(-n // (WARPS * rows))
