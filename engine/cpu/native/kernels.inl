// The kernels, written once over a 16-lane vector type. Each instruction set's file defines that type and its few
// operations in an unnamed namespace, then includes this file; nothing here may have external linkage, or the linker
// could pick one set's copy for all.
//
// Expected from the includer: f32x16, i32x16, Weights, Bytes4 and
//   set1, load, store, load_f16, add, sub, mul, fma (a*b+c), max, abs, div, reduce_add, reduce_max   on f32x16
//   round_to_int, to_float, set1_int, store_i8 (exact narrowing), reduce_add_int                    on i32x16
//   exp2_int(n): 2^n for whole n in [-126, 127];  round(x): nearest whole number
//   load_weights, load_nibbles, broadcast4, broadcast4u, load_values,
//   dot (weights with offset x signed bytes), dot_values (signed values x unsigned bytes)
//   TILE_ROWS, TILE_PANELS, WEIGHT_OFFSET, P_MAX, UNROLL

namespace sayso {
namespace {

// 2^x for x <= 0 or small; below -126 it is 2^-126, as good as zero here. Relative error 2e-7.
inline f32x16 exp2(f32x16 x) {
    x = max(x, set1(-126.0f));
    const f32x16 n = round(x);
    const f32x16 f = sub(x, n);  // in [-0.5, 0.5]
    f32x16 p = set1(1.535336188319500e-4f);
    p = fma(p, f, set1(1.339887440266574e-3f));
    p = fma(p, f, set1(9.618437357674640e-3f));
    p = fma(p, f, set1(5.550332471162809e-2f));
    p = fma(p, f, set1(2.402264791363012e-1f));
    p = fma(p, f, set1(6.931472028550421e-1f));
    p = fma(p, f, set1(1.0f));
    return mul(p, exp2_int(n));
}

// x/2 (1 + erf(x / sqrt 2)), erf by Abramowitz and Stegun 7.1.26 (error 1.5e-7), as x/2 + |x|/2 erf(|x| / sqrt 2).
inline f32x16 gelu(f32x16 x) {
    const f32x16 a = abs(x);
    const f32x16 z = mul(a, set1(0.70710678f));
    const f32x16 t = div(set1(1.0f), fma(z, set1(0.3275911f), set1(1.0f)));
    f32x16 p = set1(1.061405429f);
    p = fma(p, t, set1(-1.453152027f));
    p = fma(p, t, set1(1.421413741f));
    p = fma(p, t, set1(-0.284496736f));
    p = fma(p, t, set1(0.254829592f));
    p = mul(p, t);
    const f32x16 e = exp2(mul(mul(z, z), set1(-1.44269504f)));
    const f32x16 erf = sub(set1(1.0f), mul(p, e));
    return mul(set1(0.5f), fma(a, erf, x));
}

void quantize(const float* x, int n, int8_t* values, float* scales, int32_t* bias) {
    for (int b = 0; b < n / BLOCK; b++) {
        const f32x16 lo = load(x + b * BLOCK), hi = load(x + b * BLOCK + 16);
        const float largest = reduce_max(max(abs(lo), abs(hi)));
        const f32x16 inverse = set1(largest > 0 ? 127.0f / largest : 0.0f);
        const i32x16 q0 = round_to_int(mul(lo, inverse)), q1 = round_to_int(mul(hi, inverse));
        store_i8(values + b * BLOCK, q0);
        store_i8(values + b * BLOCK + 16, q1);
        scales[b] = largest / 127.0f;
        bias[b] = -128 * (reduce_add_int(q0) + reduce_add_int(q1));
    }
}

void layer_norm(const float* x, const float* gain, const float* bias, int n, float* y) {
    f32x16 sum = set1(0.0f);
    for (int i = 0; i < n; i += 16) sum = add(sum, load(x + i));
    const f32x16 mean = set1(reduce_add(sum) / float(n));
    f32x16 squares = set1(0.0f);
    for (int i = 0; i < n; i += 16) {
        const f32x16 d = sub(load(x + i), mean);
        squares = fma(d, d, squares);
    }
    const f32x16 inverse = div(set1(1.0f), set1(__builtin_sqrtf(reduce_add(squares) / float(n) + 1e-5f)));
    for (int i = 0; i < n; i += 16)
        store(y + i, fma(mul(sub(load(x + i), mean), inverse), load(gain + i), load(bias + i)));
}

// ------------------------------------------------------------------------------------------------ matrix products

// One register tile: R activation rows times P weight panels, all columns. Sums of a block are exact int32; the scales
// of both sides come in once per block.
template <int R, int P, bool NIBBLES>
inline void tile(const Matrix& w, int panel, const Activations& x, int row, f32x16 (&acc)[R][P]) {
    const int n_blocks = w.cols / BLOCK;
    const int8_t* a = x.values + size_t(row) * x.stride;
    const float* a_scale = x.scales + size_t(row) * (x.stride / BLOCK);
    const int32_t* a_bias = x.bias + size_t(row) * (x.stride / BLOCK);
    const uint8_t* wp[P];
    const uint16_t* sp[P];
    UNROLL for (int p = 0; p < P; p++) {
        wp[p] = w.panel_weights(panel + p);
        sp[p] = w.panel_scales(panel + p);
        UNROLL for (int r = 0; r < R; r++) acc[r][p] = set1(0.0f);
    }
    for (int b = 0; b < n_blocks; b++) {
        i32x16 s[R][P];
        UNROLL for (int r = 0; r < R; r++) {
            const int32_t bias = a_bias[size_t(r) * (x.stride / BLOCK) + b];
            const i32x16 start = set1_int(NIBBLES ? bias / 16 : WEIGHT_OFFSET ? bias : 0);
            UNROLL for (int p = 0; p < P; p++) s[r][p] = start;
        }
        if constexpr (NIBBLES) {
            UNROLL for (int j = 0; j < 4; j++) {
                Weights low[P], high[P];
                UNROLL for (int p = 0; p < P; p++) load_nibbles(wp[p] + (b * 4 + j) * 64, low[p], high[p]);
                UNROLL for (int r = 0; r < R; r++) {
                    const int8_t* ar = a + size_t(r) * x.stride + b * BLOCK + j * 4;
                    const Bytes4 a0 = broadcast4(ar), a1 = broadcast4(ar + 16);
                    UNROLL for (int p = 0; p < P; p++) s[r][p] = dot(dot(s[r][p], low[p], a0), high[p], a1);
                }
            }
        } else {
            UNROLL for (int j = 0; j < 8; j++) {
                Weights v[P];
                UNROLL for (int p = 0; p < P; p++) {
                    if constexpr (R == 1) prefetch(wp[p] + (b * 8 + j) * 64 + PREFETCH_BYTES);
                    v[p] = load_weights(wp[p] + (b * 8 + j) * 64);
                }
                UNROLL for (int r = 0; r < R; r++) {
                    const Bytes4 ar = broadcast4(a + size_t(r) * x.stride + b * BLOCK + j * 4);
                    UNROLL for (int p = 0; p < P; p++) s[r][p] = dot(s[r][p], v[p], ar);
                }
            }
        }
        f32x16 w_scale[P];
        UNROLL for (int p = 0; p < P; p++) w_scale[p] = load_f16(sp[p] + b * PANEL);
        UNROLL for (int r = 0; r < R; r++) {
            const f32x16 d = set1(a_scale[size_t(r) * (x.stride / BLOCK) + b]);
            UNROLL for (int p = 0; p < P; p++) acc[r][p] = fma(to_float(s[r][p]), mul(w_scale[p], d), acc[r][p]);
        }
    }
}

inline void finish(f32x16 v, float* y, Epilogue end) {
    if (end == Epilogue::add) v = add(v, load(y));
    if (end == Epilogue::gelu) v = gelu(v);
    store(y, v);
}

template <int R, int P, bool NIBBLES>
NOINLINE void tile_out(const Matrix& w, int panel, const Activations& x, int row, float* y, int ldy, Epilogue end) {
    f32x16 acc[R][P];
    tile<R, P, NIBBLES>(w, panel, x, row, acc);
    UNROLL for (int p = 0; p < P; p++) {
        const int n = (panel + p) * PANEL;
        const f32x16 bias = w.bias ? load(w.bias + n) : set1(0.0f);
        UNROLL for (int r = 0; r < R; r++) finish(add(acc[r][p], bias), y + size_t(row + r) * ldy + n, end);
    }
}

// All rows against P panels: full tiles, then the remainder in one smaller tile.
template <int P, bool NIBBLES>
inline void panel_rows(const Matrix& w, int panel, const Activations& x, int m, float* y, int ldy, Epilogue end) {
    int row = 0;
    for (; row + TILE_ROWS <= m; row += TILE_ROWS) tile_out<TILE_ROWS, P, NIBBLES>(w, panel, x, row, y, ldy, end);
    if constexpr (TILE_ROWS > 4)
        for (; row + 4 <= m; row += 4) tile_out<4, P, NIBBLES>(w, panel, x, row, y, ldy, end);
    if constexpr (TILE_ROWS > 2)
        for (; row + 2 <= m; row += 2) tile_out<2, P, NIBBLES>(w, panel, x, row, y, ldy, end);
    for (; row < m; row++) tile_out<1, P, NIBBLES>(w, panel, x, row, y, ldy, end);
}

template <bool NIBBLES>
void gemm_of(const Matrix& w, int first, int last, const Activations& x, int m, float* y, int ldy, Epilogue end) {
    int panel = first;
    if (m == 1)  // one row: panels are what runs in parallel
        for (; panel + 4 <= last; panel += 4) tile_out<1, 4, NIBBLES>(w, panel, x, 0, y, ldy, end);
    for (; panel + TILE_PANELS <= last; panel += TILE_PANELS)
        panel_rows<TILE_PANELS, NIBBLES>(w, panel, x, m, y, ldy, end);
    if constexpr (TILE_PANELS > 1)
        for (; panel < last; panel++) panel_rows<1, NIBBLES>(w, panel, x, m, y, ldy, end);
}

void gemm(const Matrix& w, int first, int last, const Activations& x, int m, float* y, int ldy, Epilogue end) {
    if (w.type == WeightType::q4_0)
        gemm_of<true>(w, first, last, x, m, y, ldy, end);
    else
        gemm_of<false>(w, first, last, x, m, y, ldy, end);
}

// ------------------------------------------------------------------------------------------------ attention

// 64 floats -> int8 with one scale; returns it.
inline float quantize_head(const float* x, int8_t* values, int32_t* sum) {
    f32x16 v[4];
    f32x16 largest = set1(0.0f);
    UNROLL for (int i = 0; i < 4; i++) {
        v[i] = load(x + i * 16);
        largest = max(largest, abs(v[i]));
    }
    const float m = reduce_max(largest);
    const f32x16 inverse = set1(m > 0 ? 127.0f / m : 0.0f);
    int32_t total = 0;
    UNROLL for (int i = 0; i < 4; i++) {
        const i32x16 q = round_to_int(mul(v[i], inverse));
        store_i8(values + i * 16, q);
        total += reduce_add_int(q);
    }
    *sum = total;
    return m / 127.0f;
}

void store_key_value(KeyBlock& block, int slot, const float* k, const float* v) {
    alignas(64) int8_t q[HEAD];
    int32_t sum;
    block.k_scale[slot] = quantize_head(k, q, &sum);
    for (int c = 0; c < HEAD; c++) block.k[slot / 16][c / 4][slot % 16][c % 4] = uint8_t(q[c] + WEIGHT_OFFSET);
    block.v_scale[slot] = quantize_head(v, q, &sum);
    for (int c = 0; c < HEAD; c++) block.v[c / 16][slot / 4][c % 16][slot % 4] = q[c];
}

// Scratch of one tile of query rows.
template <int R>
struct AttendTile {
    alignas(64) float scores[R][MAX_KEYS];
    alignas(64) uint8_t p[R][MAX_KEYS];  // probabilities times value scales, quantized per 32 positions
    alignas(64) float p_scale[R][MAX_KEYS / KEYS];
    alignas(64) int8_t q[R][HEAD];
    float q_scale[R];  // includes 1/sqrt(64) and log2(e), so that scores are exponents of 2
    int32_t q_bias[R];
    float inverse_sum[R];
};

template <int R>
inline void score_block(const KeyBlock& block, int b, AttendTile<R>& t) {
    i32x16 s[R][2];
    UNROLL for (int r = 0; r < R; r++) s[r][0] = s[r][1] = set1_int(WEIGHT_OFFSET ? t.q_bias[r] : 0);
    UNROLL for (int j = 0; j < HEAD / 4; j++) {
        const Weights k0 = load_weights(&block.k[0][j][0][0]), k1 = load_weights(&block.k[1][j][0][0]);
        UNROLL for (int r = 0; r < R; r++) {
            const Bytes4 q = broadcast4(t.q[r] + j * 4);
            s[r][0] = dot(s[r][0], k0, q);
            s[r][1] = dot(s[r][1], k1, q);
        }
    }
    const f32x16 scale0 = load(block.k_scale), scale1 = load(block.k_scale + 16);
    UNROLL for (int r = 0; r < R; r++) {
        const f32x16 d = set1(t.q_scale[r]);
        store(t.scores[r] + b * KEYS, mul(to_float(s[r][0]), mul(scale0, d)));
        store(t.scores[r] + b * KEYS + 16, mul(to_float(s[r][1]), mul(scale1, d)));
    }
}

// exp of the scores, their sum, and the products with the value scales as bytes.
inline float softmax_row(const float* scores, int n_blocks, const KeySequence& keys, uint8_t* p, float* p_scale) {
    f32x16 top = load(scores);
    for (int i = 16; i < n_blocks * KEYS; i += 16) top = max(top, load(scores + i));
    const f32x16 largest = set1(reduce_max(top));
    f32x16 sum = set1(0.0f);
    for (int b = 0; b < n_blocks; b++) {
        const KeyBlock& block = keys.block(b);
        f32x16 e0 = exp2(sub(load(scores + b * KEYS), largest)), e1 = exp2(sub(load(scores + b * KEYS + 16), largest));
        sum = add(sum, add(e0, e1));
        e0 = mul(e0, load(block.v_scale));
        e1 = mul(e1, load(block.v_scale + 16));
        const float m = reduce_max(max(e0, e1));
        const f32x16 inverse = set1(m > 1e-30f ? P_MAX / m : 0.0f);
        store_u8(p + b * KEYS, round_to_int(mul(e0, inverse)));
        store_u8(p + b * KEYS + 16, round_to_int(mul(e1, inverse)));
        p_scale[b] = m * (1.0f / P_MAX);
    }
    return reduce_add(sum);
}

template <int R>
inline void weigh_values(const KeySequence& keys, int n_blocks, const AttendTile<R>& t, float* out, int ldo) {
    UNROLL for (int half = 0; half < 2; half++) {
        f32x16 acc[R][2];
        UNROLL for (int r = 0; r < R; r++) acc[r][0] = acc[r][1] = set1(0.0f);
        for (int b = 0; b < n_blocks; b++) {
            const KeyBlock& block = keys.block(b);
            i32x16 s[R][2];
            UNROLL for (int r = 0; r < R; r++) s[r][0] = s[r][1] = set1_int(0);
            UNROLL for (int j = 0; j < KEYS / 4; j++) {
                const Values v0 = load_values(&block.v[half * 2][j][0][0]);
                const Values v1 = load_values(&block.v[half * 2 + 1][j][0][0]);
                UNROLL for (int r = 0; r < R; r++) {
                    const UBytes4 p = broadcast4u(t.p[r] + b * KEYS + j * 4);
                    s[r][0] = dot_values(s[r][0], v0, p);
                    s[r][1] = dot_values(s[r][1], v1, p);
                }
            }
            UNROLL for (int r = 0; r < R; r++) {
                const f32x16 d = set1(t.p_scale[r][b]);
                acc[r][0] = fma(to_float(s[r][0]), d, acc[r][0]);
                acc[r][1] = fma(to_float(s[r][1]), d, acc[r][1]);
            }
        }
        UNROLL for (int r = 0; r < R; r++) {
            const f32x16 d = set1(t.inverse_sum[r]);
            store(out + size_t(r) * ldo + half * 32, mul(acc[r][0], d));
            store(out + size_t(r) * ldo + half * 32 + 16, mul(acc[r][1], d));
        }
    }
}

constexpr float SCORE_SCALE = 0.125f * 1.44269504f;  // 1/sqrt(64) log2(e)
constexpr float MASKED = -1e30f;

template <int R>
NOINLINE void attend_tile(const float* q, int ldq, const KeySequence& keys, int n_keys, bool causal, float* out, int ldo,
                        void* scratch) {
    AttendTile<R>& t = *static_cast<AttendTile<R>*>(scratch);
    const int longest = n_keys + (causal ? R - 1 : 0);
    const int n_blocks = (longest + KEYS - 1) / KEYS;
    for (int r = 0; r < R; r++) {
        int32_t sum;
        t.q_scale[r] = quantize_head(q + size_t(r) * ldq, t.q[r], &sum) * SCORE_SCALE;
        t.q_bias[r] = -128 * sum;
    }
    for (int b = 0; b < n_blocks; b++) score_block<R>(keys.block(b), b, t);
    for (int r = 0; r < R; r++) {
        for (int i = n_keys + (causal ? r : 0); i < n_blocks * KEYS; i++) t.scores[r][i] = MASKED;
        t.inverse_sum[r] = 1.0f / softmax_row(t.scores[r], n_blocks, keys, t.p[r], t.p_scale[r]);
    }
    weigh_values<R>(keys, n_blocks, t, out, ldo);
}

void attend(const float* q, int ldq, int m, const KeySequence& keys, int n_keys, bool causal, float* out, int ldo,
            void* scratch) {
    static_assert(sizeof(AttendTile<TILE_ROWS>) <= ATTEND_SCRATCH);
    int row = 0;
    const auto many = [&](auto rows) {
        constexpr int R = decltype(rows)::value;
        for (; row + R <= m; row += R)
            attend_tile<R>(q + size_t(row) * ldq, ldq, keys, n_keys + (causal ? row : 0), causal, out + size_t(row) * ldo,
                           ldo, scratch);
    };
    many(Count<TILE_ROWS>{});
    if constexpr (TILE_ROWS > 2) many(Count<2>{});
    if constexpr (TILE_ROWS > 1) many(Count<1>{});
}

// ------------------------------------------------------------------------------------------------ logits

// The logit row is padded to a multiple of 16 with minus infinity.
float max_of(const float* x, int n) {
    f32x16 m = load(x);
    for (int i = 16; i < n; i += 16) m = max(m, load(x + i));
    return reduce_max(m);
}

float sum_exp(const float* x, int n, float minus) {
    f32x16 sum = set1(0.0f);
    const f32x16 top = set1(minus);
    for (int i = 0; i < n; i += 16) {
        const f32x16 d = sub(load(x + i), top);
        sum = add(sum, exp2(mul(d, set1(1.44269504f))));
    }
    return reduce_add(sum);
}

void dequantize(const uint16_t* half, int n, float* out) {
    for (int i = 0; i < n; i += 16) store(out + i, load_f16(half + i));
}

constexpr Kernels make_kernels(const char* name) {
    return Kernels{name,   WEIGHT_OFFSET,   TILE_ROWS, quantize, layer_norm, gemm,
                   attend, store_key_value, max_of,    sum_exp,  dequantize};
}

}  // namespace
}  // namespace sayso
