"""How a kernel reads a weight matrix: dot products of a few rows with a vector, and the values of one row.

Each format is text in the shared dialect. `dot` adds the lane's share of rows ROW(0), ROW(1), … times the vector (in
`xs`, shared) to `sums[ROWS]`: what it reads of `xs` serves all of them, and their weights are on their way together.
`ahead`, before the vector is there, starts to load the weights of the first AHEAD turns of that loop into `held`: a
kernel waits for memory once, not twice. `value` sets `v` to element `k` of row `row`. K is the number of columns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from engine.kernels.dialect import SIMD_WIDTH
from engine.weights import Dense, Matrix, PackedQ6K


@dataclass(frozen=True)
class Format:
    name: str
    inputs: tuple[str, ...]  # the first of the matrix's `arrays()`
    held: str
    ahead: str
    dot: str
    value: str
    columns_multiple: int  # K must be a multiple of this
    span: int = 0  # columns that a lane takes in a turn
    registers: int = 1  # what these weights of one row fill
    narrow: Format | None = None  # the same with half the span

    def fitting(self, k: int) -> Format:
        """The one of the two that leaves fewer lanes without work: 16 columns a lane for 512, 8 for 768 or 1280."""
        if self.narrow is None or self.turns(k) * self.span <= self.narrow.turns(k) * self.narrow.span:
            return self
        return self.narrow

    def turns(self, k: int) -> int:
        """How often a lane takes `span` of K columns."""
        return -(-k // (SIMD_WIDTH * self.span)) if self.span else 1

    def turns_ahead(self, rows: int, k: int, registers: int) -> int:
        """AHEAD for a kernel that spares so many registers; at least 1."""
        return max(1, min(self.turns(k), registers // (rows * self.registers)))

    def over_rows(self, row: str) -> Format:
        """The format for a kernel whose row number r is the expression `row`."""
        return replace(self, ahead=self.ahead.replace("ROW(r)", row), dot=self.dot.replace("ROW(r)", row))


def format_of(matrix: Matrix) -> Format:
    if isinstance(matrix, Dense):
        return F16
    if isinstance(matrix, PackedQ6K):
        return Q6_K
    return SYMMETRIC[matrix.bits] if matrix.is_symmetric else AFFINE[matrix.bits]


@dataclass(frozen=True)
class _Load:
    """What a lane reads of one row in a turn."""

    type: str
    name: str
    source: str  # from column k of row `row` on
    registers: int = 1


def _held(loads: list[_Load]) -> str:
    return " ".join(f"{load.type} ahead_{load.name}[AHEAD * ROWS];" for load in loads)


def _ahead(span: int, loads: list[_Load]) -> str:
    starts = " ".join(f"ahead_{load.name}[i * ROWS + r] = {load.source};" for load in loads)
    return f"""
    UNROLL
    for (uint i = 0; i < AHEAD; i++) {{
        const uint k = (i * 32 + LANE) * {span};
        if (k < K) {{
            UNROLL
            for (uint r = 0; r < ROWS; r++) {{
                const uint row = ROW(r);
                {starts}
            }}
        }}
    }}
"""


def _dot(span: int, loads: list[_Load], before: str, text: str) -> str:
    """A lane takes `span` columns at a time, in x0, x1, … of four each; `text` once for each row."""
    xs = ", ".join(f"x{i} = LOADS(xs + AT(k + {4 * i}))" for i in range(span // 4))
    declared = " ".join(f"{load.type} {load.name};" for load in loads)
    taken = " ".join(f"{load.name} = ahead_{load.name}[i * ROWS + r];" for load in loads)
    loaded = " ".join(f"{load.name} = {load.source};" for load in loads)
    return f"""
        UNROLL
        for (uint i = 0; i < (K + {32 * span} - 1) / {32 * span}; i++) {{
            const uint k = (i * 32 + LANE) * {span};
            if (k < K) {{
                const float4 {xs};
                {before}
                UNROLL
                for (uint r = 0; r < ROWS; r++) {{
                    const uint row = ROW(r);
                    {declared}
                    if (i < AHEAD) {{ {taken} }}
                    else {{ {loaded} }}
                    {text}
                }}
            }}
        }}
"""


def _format(
    name: str, inputs: tuple[str, ...], span: int, loads: list[_Load], text: str, value: str, before: str = ""
) -> Format:
    registers = sum(load.registers for load in loads)
    dot = _dot(span, loads, before, text)
    multiple = 8 if inputs == ("w",) else 32
    return Format(name, inputs, _held(loads), _ahead(span, loads), dot, value, multiple, span, registers)


def _f16() -> Format:
    pairs = " ".join(
        f"{{ const float2 h = HALVES(p.{word}); even += h.x * {a}; odd += h.y * {b}; }}"
        for word, a, b in zip("xyzw", ("x0.x", "x0.z", "x1.x", "x1.z"), ("x0.y", "x0.w", "x1.y", "x1.w"), strict=True)
    )
    text = f"""float even = 0, odd = 0;
                    {pairs}
                    sums[r] += even + odd;"""
    return _format(
        "f16", ("w",), 8, [_Load("uint4", "p", "LOAD16(w + row * K + k)", 4)], text, "v = (float)w[row * K + k];"
    )


F16 = _f16()
_SCALE = _Load("half_t", "scale", "scales[(row * K + k) / 32]")
_BIAS = _Load("half_t", "bias32", "biases[(row * K + k) / 32]")


def _plain(span: int) -> str:
    return " + ".join(f"x{i}.{part}" for i in range(span // 4) for part in "xyzw")


def _affine(bits: int, symmetric: bool, span: int) -> Format:
    """A lane takes 16 or 8 values of a group at 4 bits, a whole group of 32 at 5 bits: whole words either way."""
    if bits == 5:
        loads = [_Load("uint", f"u{j}", f"w[(row * K + k) / 32 * 5 + {j}]") for j in range(5)]
        words = [load.name for load in loads]
    elif span == 16:
        loads, words = [_Load("uint2", "p", "LOAD8(w + (row * K + k) / 8)", 2)], ["p.x", "p.y"]
    else:
        loads, words = [_Load("uint", "p", "w[(row * K + k) / 8]")], ["p"]
    loads += [_SCALE] if symmetric else [_SCALE, _BIAS]
    products = " ".join(
        f"{('even', 'odd')[i % 2]} += {_number(bits, symmetric, _bits(bits, i, words))} * x{i // 4}.{'xyzw'[i % 4]};"
        for i in range(span)
    )
    text = f"""float even = 0, odd = 0;
                    {products}
                    sums[r] += (float)scale * (even + odd){"" if symmetric else " + (float)bias32 * plain"};"""
    return _format(
        f"{'symmetric' if symmetric else 'affine'}{bits}" + ("_narrow" if span == 8 else ""),
        ("w", "scales") if symmetric else ("w", "scales", "biases"),
        span,
        loads,
        text,
        _affine_value(bits, symmetric),
        "" if symmetric else f"const float plain = {_plain(span)};",
    )


def _bytes(span: int) -> Format:
    """Symmetric 8 bits: each value 1024 + q as a half, as fast to unpack as halves; 1152 times the sum of x is taken
    off, which costs 3 of the f32 sum's 24 bits.
    """
    products = " ".join(
        f"{{ const float2 h = {half}(p.{word}); part += h.x * x{i}.{a}; part += h.y * x{i}.{b}; }}"
        for i, word in enumerate("xyzw"[: span // 4])
        for half, a, b in (("LOW_BYTES", "x", "y"), ("HIGH_BYTES", "z", "w"))
    )
    text = f"""float part = -surplus;
                    {products}
                    sums[r] += (float)scale * part;"""
    load = f"LOAD{span}(w + (row * K + k) / 4)"
    loads = [_Load(f"uint{span // 4}", "p", load, span // 4), _SCALE]
    before = f"const float surplus = 1152.0f * ({_plain(span)});"
    name = "symmetric8" + ("_narrow" if span == 8 else "")
    return _format(name, ("w", "scales"), span, loads, text, _affine_value(8, True), before)


def _either(make: Callable[[int], Format]) -> Format:
    return replace(make(16), narrow=make(8))


def _number(bits: int, symmetric: bool, q: str) -> str:
    """The stored value q as a float, less half the range where the format is symmetric about zero.

    Exactly, and on an NVIDIA GPU four times as fast as a conversion from integer.
    """
    return f"(RAISED({q}) - {2**23 + (2 ** (bits - 1) if symmetric else 0)}.0f)"


def _bits(bits: int, i: int, words: list[str]) -> str:
    """Value i of a little-endian bit stream in words."""
    word, shift = divmod(i * bits, 32)
    low = f"{words[word]} >> {shift}" if shift else words[word]
    if shift + bits > 32:
        low = f"({low} | {words[word + 1]} << {32 - shift})"
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


AFFINE = {4: _either(lambda span: _affine(4, False, span)), 5: _affine(5, False, 32)}
# Where bias = -scale * 2 ** (bits - 1), as Q8_0, Q5_0 and Q4_0 have it: the kernels need no biases
SYMMETRIC = {4: _either(lambda span: _affine(4, True, span)), 5: _affine(5, True, 32), 8: _either(_bytes)}

# A block of 256: 128 bytes ql, 64 qh, 16 signed scales, f16 d; 210 bytes, so nothing wider than 2 bytes is aligned.
# A lane takes 8 values of a block: lanes 0 to 15 its first half, the others its second; in a half, elements 2l, 2l + 1
# and those 32, 64 and 96 further on.
Q6_K = Format(
    "q6_k",
    ("w",),
    "",
    "",
    """
        const uint upper = LANE >> 4, l = LANE & 15;
        UNROLL
        for (uint r = 0; r < ROWS; r++) {
            for (uint b = 0; b < K / 256; b++) {
                const DEVICE uint8_t* block = w + (ROW(r) * (K / 256) + b) * 210;
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
""",
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
