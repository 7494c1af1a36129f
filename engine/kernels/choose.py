"""Filters, argmax and log-probability over the vocabulary in two kernels, and the chosen token's embedding.

`scan` spreads the vocabulary over thread groups; each leaves its best allowed text token and time, with the sum of
exp(logit - best). `choose` joins these, applies the rule that compares times with text, and starts the next layer.
State, int32 (8,): position, tokens sampled, last, one before, last time, and three unused.
"""

from __future__ import annotations

from engine.kernels.dialect import SIMD_WIDTH, Kernel
from engine.kernels.formats import Format
from engine.runtime import Rules

WARPS = 8
THREADS = WARPS * SIMD_WIDTH
SCANS = 64  # thread groups of `scan`
NEVER, NEVER_FIRST = 1, 2  # bits of a token's flags

_BETTER = """
    // keeps the best of two partial results, and of equal ones the lower id
    {{
        const float other_top = {top_b}, other_id = {id_b}, other_sum = {sum_b};
        const float high = {top} > other_top ? {top} : other_top;
        {sum} = {sum} * exp({top} - high) + other_sum * exp(other_top - high);
        if (other_top > {top} || (other_top == {top} && other_id < {id})) {id} = other_id;
        {top} = high;
    }}
"""


def _join_row(name: str, array: str, first: int) -> str:
    """Join with row i of an array of six columns."""
    columns = (f"{array}[i * 6 + {first + j}]" for j in range(3))
    return _BETTER.format(
        top=f"{name}_top",
        id=f"{name}_id",
        sum=f"{name}_sum",
        **dict(zip(("top_b", "id_b", "sum_b"), columns, strict=True)),
    )


def _join_lanes(name: str) -> str:
    """Leave the joined top, id and sum of all lanes in every lane."""
    step = _BETTER.format(
        top=f"{name}_top",
        id=f"{name}_id",
        sum=f"{name}_sum",
        top_b=f"SIMD_XOR({name}_top, mask)",
        id_b=f"SIMD_XOR({name}_id, mask)",
        sum_b=f"SIMD_XOR({name}_sum, mask)",
    )
    return f"    for (uint mask = 1; mask < 32; mask *= 2) {step}"


_START = "    float text_top = -3e38f, text_id = 0, text_sum = 0, time_top = -3e38f, time_id = 0, time_sum = 0;\n"

_SCAN = f"""
    const int n = state[1], last = state[2], previous = state[3], last_time = state[4];
    const bool after_time = n >= 1 && last >= BEGIN;
    const bool after_pair = after_time && (n < 2 || previous >= BEGIN);
    const bool after_end = after_time && !after_pair;
    const int earliest = last_time < 0 ? BEGIN : after_end ? last_time : last_time + 1;
{_START}
    for (int id = (int)(GROUP * THREADS + TID); id < N; id += SCANS * THREADS) {{
        if (flags[id] & (n == 0 ? {NEVER_FIRST} : {NEVER})) continue;
        const float x = logits[id];
        if (id >= BEGIN) {{
            if (!TIMED || after_pair || id < earliest) continue;
            if (x > time_top) {{ time_sum = time_sum * exp(time_top - x) + 1; time_top = x; time_id = id; }}
            else time_sum += exp(x - time_top);
        }} else {{
            if (TIMED && after_end && id < EOT) continue;
            if (x > text_top) {{ text_sum = text_sum * exp(text_top - x) + 1; text_top = x; text_id = id; }}
            else text_sum += exp(x - text_top);
        }}
    }}
    SHARED(float, all, WARPS * 6);
{_join_lanes("text")}
{_join_lanes("time")}
    if (LANE == 0) {{
        all[SIMD * 6] = text_top; all[SIMD * 6 + 1] = text_id; all[SIMD * 6 + 2] = text_sum;
        all[SIMD * 6 + 3] = time_top; all[SIMD * 6 + 4] = time_id; all[SIMD * 6 + 5] = time_sum;
    }}
    BARRIER;
    if (TID == 0) {{
        for (uint i = 1; i < WARPS; i++) {{
            {_join_row("text", "all", 0)}
            {_join_row("time", "all", 3)}
        }}
        scans[GROUP * 6] = text_top; scans[GROUP * 6 + 1] = text_id; scans[GROUP * 6 + 2] = text_sum;
        scans[GROUP * 6 + 3] = time_top; scans[GROUP * 6 + 4] = time_id; scans[GROUP * 6 + 5] = time_sum;
    }}
"""


def _choose_body(format: Format) -> str:
    return f"""
{_START}
    // every SIMD group joins all the scans, so that none has to wait for another
    for (uint i = LANE; i < SCANS; i += 32) {{
        {_join_row("text", "scans", 0)}
        {_join_row("time", "scans", 3)}
    }}
{_join_lanes("text")}
{_join_lanes("time")}
    // when the times together are likelier than the best text token, it must be a time
    const float times = time_sum > 0 ? time_top + log(time_sum) : -3e38f;
    float top = text_top, id = text_id, sum = text_sum;
    if (times > text_top) {{ top = time_top; id = time_id; sum = time_sum; }}
    else {_BETTER.format(top="top", id="id", sum="sum", top_b="time_top", id_b="time_id", sum_b="time_sum")}
    const int token = (int)id;
    if (TID == 0) {{
        record[0] = id;
        record[1] = -log(sum);
        next[0] = state[0] + 1;
        next[1] = state[1] + 1;
        next[2] = token;
        next[3] = state[2];
        next[4] = token >= BEGIN ? token : state[4];
        next[5] = next[6] = next[7] = 0;
    }}
    const uint row = (uint)token;
    for (uint k = TID; k < K; k += THREADS) {{
        float v;
        {{
{format.value}
        }}
        y[k] = v + (float)positions[(uint)state[0] * K + k];
    }}
"""


def scan(rules: Rules, n: int) -> Kernel:
    """Logits (n,) f32, flags (n,) uint8 and state -> scans (SCANS, 6)."""
    return Kernel(
        "sayso_scan",
        ("logits", "flags", "state"),
        ("scans",),
        _SCAN,
        THREADS,
        {
            "N": n,
            "SCANS": SCANS,
            "WARPS": WARPS,
            "THREADS": THREADS,
            "BEGIN": rules.timestamp_begin,
            "EOT": rules.eot,
            "TIMED": int(rules.timestamps),
        },
    )


def choose(rules: Rules, format: Format, k: int) -> Kernel:
    """Scans -> record (2,): token and log-probability; the next state; the token's embedding y (k,), f32."""
    return Kernel(
        f"sayso_choose_{format.name}",
        ("scans", "state", "positions", *format.inputs),
        ("record", "next", "y"),
        _choose_body(format),
        THREADS,
        {"K": k, "SCANS": SCANS, "THREADS": THREADS, "BEGIN": rules.timestamp_begin},
    )
