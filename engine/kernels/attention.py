"""One query over many keys, and the slab rows of a whole block of tokens."""

from __future__ import annotations

from engine.kernels.dialect import SIMD_WIDTH, Kernel
from engine.kernels.formats import Format
from engine.kernels.matvec import NORM

WARPS = 16
THREADS = WARPS * SIMD_WIDTH
PROJECTING_REGISTERS = 56  # of a thread's 128, for weights that are loaded ahead and for the vector

_HEAD = """
    const uint head = GROUP / SPLITS, split = GROUP % SPLITS;
    const DEVICE half_t* keys = kv + head * CONTEXT * 64;
    const DEVICE half_t* values = keys + HEADS * CONTEXT * 64;
"""
# QUERY(i) is element i of the head's query
_ATTEND = """
    const uint n_keys = N_KEYS;
    const uint share = (n_keys + SPLITS - 1) / SPLITS;
    const uint start = split * share;
    const uint end = start + share < n_keys ? start + share : n_keys;
    SHARED(float, scores, (KEYS + SPLITS - 1) / SPLITS);
    SHARED(float, tops, WARPS);
    SHARED(float, sums, WARPS);
    SHARED(float, out, WARPS * 64);

    // 8 lanes take a key, 8 values each; 4 keys a SIMD group
    const uint lane = LANE & 7, first = start + SIMD * 4 + (LANE >> 3);
    float qs[8];
    for (uint i = 0; i < 8; i++) qs[i] = QUERY(lane * 8 + i) * 0.125f;
    float top = -3e38f;
    for (uint base = start + SIMD * 4; base < end; base += WARPS * 4) {
        const uint j = base + (LANE >> 3);
        float score = 0;
        if (j < end) {
            const uint4 p = LOAD16(keys + j * 64 + lane * 8);
            const float2 a = HALVES(p.x), b = HALVES(p.y), c = HALVES(p.z), d = HALVES(p.w);
            score = qs[0] * a.x + qs[1] * a.y + qs[2] * b.x + qs[3] * b.y
                  + qs[4] * c.x + qs[5] * c.y + qs[6] * d.x + qs[7] * d.y;
        }
        score += SIMD_XOR(score, 1);
        score += SIMD_XOR(score, 2);
        score += SIMD_XOR(score, 4);
        if (j < end) {
            if (lane == 0) scores[j - start] = score;
            top = score > top ? score : top;
        }
    }
    top = SIMD_MAX(top);
    if (LANE == 0) tops[SIMD] = top;
    BARRIER;
    for (uint i = 0; i < WARPS; i++) top = tops[i] > top ? tops[i] : top;

    float sum = 0, mine[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    for (uint j = first; j < end; j += WARPS * 4) {
        const float weight = exp(scores[j - start] - top);
        const uint4 p = LOAD16(values + j * 64 + lane * 8);
        const float2 a = HALVES(p.x), b = HALVES(p.y), c = HALVES(p.z), d = HALVES(p.w);
        mine[0] += weight * a.x; mine[1] += weight * a.y; mine[2] += weight * b.x; mine[3] += weight * b.y;
        mine[4] += weight * c.x; mine[5] += weight * c.y; mine[6] += weight * d.x; mine[7] += weight * d.y;
        if (lane == 0) sum += weight;
    }
    sum = SIMD_SUM(sum);
    if (LANE == 0) sums[SIMD] = sum;
    for (uint i = 0; i < 8; i++) {
        float value = mine[i];
        value += SIMD_XOR(value, 8);
        value += SIMD_XOR(value, 16);
        if (LANE < 8) out[SIMD * 64 + lane * 8 + i] = value;
    }
    BARRIER;
    if (TID < 64) {
        float value = 0;
        for (uint i = 0; i < WARPS; i++) value += out[i * 64 + TID];
        parts[(split * HEADS + head) * 64 + TID] = value;
    }
    if (TID == 0) {
        float total = 0;
        for (uint i = 0; i < WARPS; i++) total += sums[i];
        DEVICE float* stats = parts + (SPLITS * 64 * HEADS + (split * HEADS + head) * 2);
        stats[0] = top;
        stats[1] = total;
    }
"""


def attend(heads: int, keys: int, splits: int, from_state: bool) -> Kernel:
    """q (heads * 64,) f32 over keys and values [2, heads, keys, 64] f16, by heads * splits thread groups.

    from_state: only the first state[0] + 1 keys. Output `parts` for `matvec.JOIN`, (parts_size(...),): for each split
    heads * 64 values, not divided by their sum; then for each split and head the largest score and the sum of
    exp(score - largest).
    """
    body = _HEAD + _attend(from_state).replace("QUERY(lane * 8 + i)", "q[head * 64 + lane * 8 + i]")
    inputs = ("q", "kv", "state") if from_state else ("q", "kv")
    constants = _constants(heads, keys, splits)
    return Kernel(_named("sayso_attend", from_state), inputs, ("parts",), body, THREADS, constants)


def parts_size(heads: int, splits: int) -> int:
    return splits * heads * 66


def _named(name: str, from_state: bool) -> str:
    return name + ("_slab" if from_state else "")


def _attend(from_state: bool) -> str:
    return _ATTEND.replace("N_KEYS", "(uint)state[0] + 1" if from_state else "KEYS")


def _constants(heads: int, keys: int, splits: int) -> dict[str, int]:
    return {"HEADS": heads, "KEYS": keys, "CONTEXT": keys, "SPLITS": splits, "WARPS": WARPS}


def norm_attend(format: Format, heads: int, keys: int, splits: int, from_state: bool) -> Kernel:
    """`attend` that makes its query itself: norm of x (heads * 64,), and its head's rows of a matrix and bias.

    from_state: the matrix is q, k and v stacked, and K and V of x are first written in place to slab row state[0]; one
    thread group a head, as no other may read that row meanwhile. Else it is q alone, made again by each of the splits.
    (A kernel reads here what it has written itself through a buffer declared constant: CUDA only.)
    """
    k, total = heads * 64, 192 if from_state else 64
    format = format.fitting(k)
    rows = _rows_at_once(format, k, total // WARPS)
    format = format.over_rows("((first + r) / 64 * K + head * 64 + (first + r) % 64)")
    body = f"""
{_HEAD}
    SHARED(float, xs, K);
    SHARED(float, query, 64);
    {{
        uint first = SIMD * ROWS;
        {format.held}
{format.ahead}
{NORM.text}
        for (uint t = first; t < {total}; t += WARPS * ROWS) {{
            float sums[ROWS];
            UNROLL
            for (uint r = 0; r < ROWS; r++) sums[r] = 0;
{format.dot}
            first = t + WARPS * ROWS;
            if (first < {total}) {{  // the next rows are on their way while these are summed
{format.ahead}
            }}
            UNROLL
            for (uint r = 0; r < ROWS; r++) {{
                const float acc = SIMD_SUM(sums[r]);
                if (LANE > 0) continue;
                const uint part = (t + r) / 64, e = (t + r) % 64;
                const float value = acc + (float)bias[part * K + head * 64 + e];
                if (part == 0) query[e] = value;
                {_OWN_ROW if from_state else ""}
            }}
        }}
    }}
    BARRIER;
{_attend(from_state).replace("QUERY(lane * 8 + i)", "query[lane * 8 + i]")}
"""
    sizes = {
        "N": k * (3 if from_state else 1),
        "K": k,
        "ROWS": rows,
        "AHEAD": format.turns_ahead(rows, k, PROJECTING_REGISTERS - format.span),
    }
    return Kernel(
        _named(f"sayso_norm_attend_{format.name}", from_state),
        (*NORM.inputs, *format.inputs, "bias", "kv", *(("state",) if from_state else ())),
        ("parts",),
        body,
        THREADS,
        {**_constants(heads, keys, splits), **sizes, "THREADS": THREADS},
    )


def _rows_at_once(format: Format, k: int, rows: int) -> int:
    """Of the rows of a SIMD group, as many as registers hold."""
    of_a_row = format.turns(k) * format.registers
    fit = (n for n in (rows, rows // 2, rows // 3) if n * of_a_row + format.span <= PROJECTING_REGISTERS)
    return next(fit, max(1, rows // 4))


_OWN_ROW = "else ((DEVICE half_t*)(part == 1 ? keys : values))[(uint)state[0] * 64 + e] = (half_t)value;"
_WRITE_ROWS = """
    const uint at = GROUP * THREADS + TID, tokens = (uint)state[5];
    if (at < tokens * 3 * D) {
        const uint token = at / (3 * D), i = at % (3 * D), part = i / D, column = i % D;
        const uint head = column / 64, e = column % 64;
        if (part == 0) q[(head * tokens + token) * 64 + e] = qkv[at];
        else {
            DEVICE half_t* slab = (DEVICE half_t*)kv + (part - 1) * CONTEXT * D;
            slab[(head * CONTEXT + (uint)state[0] + token) * 64 + e] = qkv[at];
        }
    }
"""


def write_rows(d: int, context: int) -> Kernel:
    """K and V of qkv (tokens, 3 * d) f16 in place into the slab at row state[0]; output q [1, heads, tokens, 64].

    The number of tokens is state[5], so that prompts of every length share one compiled kernel.
    """
    return Kernel(
        "sayso_write_rows",
        ("qkv", "state", "kv"),
        ("q",),
        _WRITE_ROWS,
        THREADS,
        {"D": d, "CONTEXT": context, "THREADS": THREADS},
    )
