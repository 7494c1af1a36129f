"""How a kernel reads a weight matrix: dot products of a few rows with a vector, and the values of one row.

Each format is text in the shared dialect. `dot` adds the lane's share of rows first, first + 1, … times the vector (in
`xs`, shared) to `sums[ROWS]`: what it reads of `xs` serves all of them, and their weights are on their way together.
Rows from N on are read as the last one. `value` sets `v` to element `k` of row `row`. K is the number of columns.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.weights import Dense, Matrix, PackedQ6K

_ROW = "(first + r < N ? first + r : N - 1)"


@dataclass(frozen=True)
class Format:
    name: str
    inputs: tuple[str, ...]  # the first of the matrix's `arrays()`
    dot: str
    value: str
    columns_multiple: int  # K must be a multiple of this


def format_of(matrix: Matrix) -> Format:
    if isinstance(matrix, Dense):
        return F16
    if isinstance(matrix, PackedQ6K):
        return Q6_K
    return SYMMETRIC[matrix.bits] if matrix.is_symmetric else AFFINE[matrix.bits]


def _dot(span: int, before: str, text: str) -> str:
    """A lane takes `span` columns at a time, in x0, x1, … of four each; `text` once for each row."""
    xs = ", ".join(f"x{i} = LOADS(xs + AT(k + {4 * i}))" for i in range(span // 4))
    return f"""
        UNROLL
        for (uint i = 0; i < (K + {32 * span} - 1) / {32 * span}; i++) {{
            const uint k = (i * 32 + LANE) * {span};
            if (k < K) {{
                const float4 {xs};
                {before}
                UNROLL
                for (uint r = 0; r < ROWS; r++) {{
                    const uint row = {_ROW};
                    {text}
                }}
            }}
        }}
"""


def _f16_dot() -> str:
    pairs = " ".join(
        f"{{ const float2 h = HALVES(p.{word}); even += h.x * {a}; odd += h.y * {b}; }}"
        for word, a, b in zip("xyzw", ("x0.x", "x0.z", "x1.x", "x1.z"), ("x0.y", "x0.w", "x1.y", "x1.w"), strict=True)
    )
    text = f"""const uint4 p = LOAD16(w + row * K + k);
                    float even = 0, odd = 0;
                    {pairs}
                    sums[r] += even + odd;"""
    return _dot(8, "", text)


F16 = Format("f16", ("w",), _f16_dot(), "v = (float)w[row * K + k];", 8)


def _affine_dot(bits: int, symmetric: bool) -> str:
    """A lane takes 16 values of a group at 8 and 4 bits, a whole group of 32 at 5 bits: whole words either way."""
    span = 32 if bits == 5 else 16
    words = span * bits // 32
    if bits == 5:
        load = "const DEVICE uint* p = w + (row * K + k) / 32 * 5; const uint u[5] = {p[0], p[1], p[2], p[3], p[4]};"
    elif words == 4:
        load = "const uint4 p = LOAD16(w + (row * K + k) / 4); const uint u[4] = {p.x, p.y, p.z, p.w};"
    else:
        load = "const uint2 p = LOAD8(w + (row * K + k) / 8); const uint u[2] = {p.x, p.y};"
    products = " ".join(
        f"{('even', 'odd')[i % 2]} += {_number(bits, symmetric, _bits(bits, i))} * x{i // 4}.{'xyzw'[i % 4]};"
        for i in range(span)
    )
    total = "(float)scales[group] * (even + odd)" + ("" if symmetric else " + (float)biases[group] * plain")
    plain = " + ".join(f"x{i}.{part}" for i in range(span // 4) for part in "xyzw")
    text = f"""{load}
                    float even = 0, odd = 0;
                    {products}
                    const uint group = (row * K + k) / 32;
                    sums[r] += {total};"""
    return _dot(span, "" if symmetric else f"const float plain = {plain};", text)


def _number(bits: int, symmetric: bool, q: str) -> str:
    """The stored value q as a float, less half the range where the format is symmetric about zero.

    Exactly, and on an NVIDIA GPU four times as fast as a conversion from integer.
    """
    return f"(RAISED({q}) - {2**23 + (2 ** (bits - 1) if symmetric else 0)}.0f)"


def _bits(bits: int, i: int) -> str:
    """Value i of a little-endian bit stream in the words u[]."""
    word, shift = divmod(i * bits, 32)
    low = f"u[{word}] >> {shift}" if shift else f"u[{word}]"
    if shift + bits > 32:
        low = f"({low} | u[{word + 1}] << {32 - shift})"
    return f"({low}) & {(1 << bits) - 1}"


def _affine_value(bits: int, symmetric: bool) -> str:
    number = _number(bits, symmetric, f"q & {(1 << bits) - 1}")
    bias = "" if symmetric else " + (float)biases[group]"
    return f"""
        const uint bit = k % 32 * {bits};
        const DEVICE uint* word = w + (row * K + k) / 32 * {bits} + bit / 32;
        uint q = word[0] >> (bit % 32);
        if (bit % 32 + {bits} > 32) q |= word[1] << (32 - bit % 32);
        const uint group = (row * K + k) / 32;
        v = (float)scales[group] * {number}{bias};
"""


AFFINE = {
    bits: Format(f"affine{bits}", ("w", "scales", "biases"), _affine_dot(bits, False), _affine_value(bits, False), 32)
    for bits in (4, 5)
}
# Where bias = -scale * 2 ** (bits - 1), as Q8_0, Q5_0 and Q4_0 have it: the kernels need no biases
SYMMETRIC = {
    bits: Format(f"symmetric{bits}", ("w", "scales"), _affine_dot(bits, True), _affine_value(bits, True), 32)
    for bits in (4, 5, 8)
}

# A block of 256: 128 bytes ql, 64 qh, 16 signed scales, f16 d; 210 bytes, so nothing wider than 2 bytes is aligned.
# A lane takes 8 values of a block: lanes 0 to 15 its first half, the others its second; in a half, elements 2l, 2l + 1
# and those 32, 64 and 96 further on.
Q6_K = Format(
    "q6_k",
    ("w",),
    """
        const uint upper = LANE >> 4, l = LANE & 15;
        for (uint r = 0; r < ROWS; r++) {
            for (uint b = 0; b < K / 256; b++) {
                const DEVICE uint8_t* block = w + (ROW * (K / 256) + b) * 210;
                const DEVICE uint16_t* ql = (const DEVICE uint16_t*)(block + upper * 64);
                const uint low = ql[l], high = ql[l + 16];
                const uint bits = ((const DEVICE uint16_t*)(block + 128 + upper * 32))[l];
                const DEVICE int8_t* sc = (const DEVICE int8_t*)(block + 192 + upper * 8) + (l >> 3);
                const float d = (float)*(const DEVICE half_t*)(block + 208);
                const uint at = b * 256 + upper * 128 + 2 * l;
                float part = 0;
                for (uint j = 0; j < 4; j++) {
                    const uint nibbles = ((j & 1) ? high : low) >> ((j & 2) * 2);
                    const uint two = bits >> (2 * j);
                    const float q0 = (float)(int)((nibbles & 15) | (two & 3) << 4) - 32;
                    const float q1 = (float)(int)((nibbles >> 8 & 15) | (two >> 8 & 3) << 4) - 32;
                    part += (float)sc[2 * j] * (q0 * xs[AT(at + 32 * j)] + q1 * xs[AT(at + 32 * j + 1)]);
                }
                sums[r] += d * part;
            }
        }
""".replace("ROW *", f"{_ROW} *"),
    """
        const DEVICE uint8_t* block = w + (row * (K / 256) + k / 256) * 210;
        const uint upper = k % 256 / 128, r = k % 128, j = r / 32;
        const uint nibble = block[upper * 64 + (j & 1) * 32 + r % 32] >> (j / 2 * 4) & 15;
        const uint two = block[128 + upper * 32 + r % 32] >> (2 * j) & 3;
        const float scale = (float)((const DEVICE int8_t*)(block + 192))[upper * 8 + r / 16];
        v = (float)*(const DEVICE half_t*)(block + 208) * scale * ((float)(int)(nibble | two << 4) - 32);
""",
    256,
)
