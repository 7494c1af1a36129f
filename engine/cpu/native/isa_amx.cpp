// AMX-INT8 (Sapphire Rapids and later): tiles of 16 rows by 64 bytes. A panel of weights and a block of keys or values
// are tiles as they lie in memory, so only the products of many rows differ from AVX-512: the sums of 16 rows by 16
// panel rows come out of one instruction. Everything else, and single rows, is AVX-512's.
#include "lanes.h"

#if defined(__AMX_INT8__) && defined(__AVX512VNNI__)
#include "lanes_avx512.h"
#include "kernels.inl"

namespace sayso {
namespace {

constexpr int ROWS = 16;  // of a tile

struct alignas(64) TileShapes {  // the operand of ldtilecfg
    uint8_t palette = 1, start_row = 0, reserved[14] = {};
    uint16_t bytes[16] = {};
    uint8_t rows[16] = {};
};

// Tiles 0 to 3 hold sums; 4 and 5 activations of 32 columns; 6 and 7 weights of 32 columns, 16 panel rows.
constexpr TileShapes block_shapes() {
    TileShapes s;
    for (int i = 0; i < 4; i++) s.bytes[i] = 64, s.rows[i] = ROWS;
    for (int i = 4; i < 6; i++) s.bytes[i] = BLOCK, s.rows[i] = ROWS;
    for (int i = 6; i < 8; i++) s.bytes[i] = 64, s.rows[i] = BLOCK / 4;
    return s;
}
// For scores a query has 64 columns.
constexpr TileShapes head_shapes() {
    TileShapes s = block_shapes();
    for (int i = 4; i < 6; i++) s.bytes[i] = HEAD;
    for (int i = 6; i < 8; i++) s.rows[i] = HEAD / 4;
    return s;
}
constexpr TileShapes BLOCK_SHAPES = block_shapes(), HEAD_SHAPES = head_shapes();

struct Tiles {  // the tile registers, for a scope
    explicit Tiles(const TileShapes& shapes) { _tile_loadconfig(&shapes); }
    ~Tiles() { _tile_release(); }
};

// Adds a block's integer sums, scaled, to the running float sums of 16 rows.
inline void add_scaled(const int32_t (&sums)[ROWS][16], const float* scale, const int32_t* bias, int stride,
                       const uint16_t* w_scale, float (&acc)[ROWS][16]) {
    const f32x16 w = load_f16(w_scale);
    UNROLL for (int r = 0; r < ROWS; r++) {
        const __m512i s = _mm512_add_epi32(_mm512_load_si512(sums[r]), set1_int(bias[r * stride]));
        store(acc[r], fma(to_float(s), mul(w, set1(scale[r * stride])), load(acc[r])));
    }
}

// 32 activation rows by two panels.
NOINLINE void tile_32x2(const Matrix& w, int panel, const Activations& x, int row, float* y, int ldy, Epilogue end) {
    alignas(64) int32_t sums[4][ROWS][16];
    alignas(64) float acc[4][ROWS][16] = {};
    const int n_blocks = w.cols / BLOCK, stride = x.stride / BLOCK;
    const int8_t* a0 = x.values + size_t(row) * x.stride;
    const int8_t* a1 = a0 + size_t(ROWS) * x.stride;
    const float* scale = x.scales + size_t(row) * stride;
    const int32_t* bias = x.bias + size_t(row) * stride;
    for (int b = 0; b < n_blocks; b++) {
        _tile_loadd(4, a0 + b * BLOCK, x.stride);
        _tile_loadd(5, a1 + b * BLOCK, x.stride);
        _tile_loadd(6, w.panel_weights(panel) + b * 512, 64);
        _tile_loadd(7, w.panel_weights(panel + 1) + b * 512, 64);
        _tile_zero(0);
        _tile_zero(1);
        _tile_zero(2);
        _tile_zero(3);
        _tile_dpbsud(0, 4, 6);
        _tile_dpbsud(1, 4, 7);
        _tile_dpbsud(2, 5, 6);
        _tile_dpbsud(3, 5, 7);
        _tile_stored(0, sums[0], 64);
        _tile_stored(1, sums[1], 64);
        _tile_stored(2, sums[2], 64);
        _tile_stored(3, sums[3], 64);
        const uint16_t *s0 = w.panel_scales(panel) + b * PANEL, *s1 = w.panel_scales(panel + 1) + b * PANEL;
        add_scaled(sums[0], scale + b, bias + b, stride, s0, acc[0]);
        add_scaled(sums[1], scale + b, bias + b, stride, s1, acc[1]);
        add_scaled(sums[2], scale + b + ROWS * stride, bias + b + ROWS * stride, stride, s0, acc[2]);
        add_scaled(sums[3], scale + b + ROWS * stride, bias + b + ROWS * stride, stride, s1, acc[3]);
    }
    for (int p = 0; p < 2; p++) {
        const int n = (panel + p) * PANEL;
        const f32x16 plus = w.bias ? load(w.bias + n) : set1(0.0f);
        for (int r = 0; r < 2 * ROWS; r++)
            finish(add(load(acc[r / ROWS * 2 + p][r % ROWS]), plus), y + size_t(row + r) * ldy + n, end);
    }
}

void amx_gemm(const Matrix& w, int first, int last, const Activations& x, int m, float* y, int ldy, Epilogue end) {
    if (m < 2 * ROWS || w.type != WeightType::q8_0 || (last - first) % 2) return gemm(w, first, last, x, m, y, ldy, end);
    const Tiles tiles(BLOCK_SHAPES);
    int row = 0;
    for (; row + 2 * ROWS <= m; row += 2 * ROWS)
        for (int panel = first; panel < last; panel += 2) tile_32x2(w, panel, x, row, y, ldy, end);
    if (row < m) {  // what is left over
        Activations rest = x;
        rest.values += size_t(row) * x.stride;
        rest.scales += size_t(row) * (x.stride / BLOCK);
        rest.bias += size_t(row) * (x.stride / BLOCK);
        gemm(w, first, last, rest, m - row, y + size_t(row) * ldy, ldy, end);
    }
}

// ------------------------------------------------------------------------------------------------ attention

inline void score_block_16(const KeyBlock& block, int b, AttendTile<ROWS>& t) {
    alignas(64) int32_t sums[2][ROWS][16];
    _tile_zero(0);
    _tile_zero(1);
    _tile_loadd(6, block.k[0], 64);
    _tile_loadd(7, block.k[1], 64);
    _tile_dpbsud(0, 4, 6);
    _tile_dpbsud(1, 4, 7);
    _tile_stored(0, sums[0], 64);
    _tile_stored(1, sums[1], 64);
    UNROLL for (int half = 0; half < 2; half++) {
        const f32x16 scale = load(block.k_scale + 16 * half);
        UNROLL for (int r = 0; r < ROWS; r++) {
            const __m512i s = _mm512_add_epi32(_mm512_load_si512(sums[half][r]), set1_int(t.q_bias[r]));
            store(t.scores[r] + b * KEYS + 16 * half, mul(to_float(s), mul(scale, set1(t.q_scale[r]))));
        }
    }
}

inline void weigh_block_16(const KeyBlock& block, int b, const AttendTile<ROWS>& t, float (&acc)[4][ROWS][16]) {
    alignas(64) int32_t sums[4][ROWS][16];
    _tile_loadd(4, t.p[0] + b * KEYS, MAX_KEYS);
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    _tile_loadd(6, block.v[0], 64);
    _tile_dpbusd(0, 4, 6);
    _tile_loadd(7, block.v[1], 64);
    _tile_dpbusd(1, 4, 7);
    _tile_loadd(6, block.v[2], 64);
    _tile_dpbusd(2, 4, 6);
    _tile_loadd(7, block.v[3], 64);
    _tile_dpbusd(3, 4, 7);
    _tile_stored(0, sums[0], 64);
    _tile_stored(1, sums[1], 64);
    _tile_stored(2, sums[2], 64);
    _tile_stored(3, sums[3], 64);
    UNROLL for (int r = 0; r < ROWS; r++) {
        const f32x16 d = set1(t.p_scale[r][b]);
        UNROLL for (int c = 0; c < 4; c++)
            store(acc[c][r], fma(to_float(_mm512_load_si512(sums[c][r])), d, load(acc[c][r])));
    }
}

NOINLINE void attend_16(const float* q, int ldq, const KeySequence& keys, int n_keys, bool causal, float* out, int ldo,
                        void* scratch) {
    AttendTile<ROWS>& t = *static_cast<AttendTile<ROWS>*>(scratch);
    const int n_blocks = (n_keys + (causal ? ROWS - 1 : 0) + KEYS - 1) / KEYS;
    for (int r = 0; r < ROWS; r++) {
        int32_t sum;
        t.q_scale[r] = quantize_head(q + size_t(r) * ldq, t.q[r], &sum) * SCORE_SCALE;
        t.q_bias[r] = -128 * sum;
    }
    {
        const Tiles tiles(HEAD_SHAPES);
        _tile_loadd(4, t.q, HEAD);
        for (int b = 0; b < n_blocks; b++) score_block_16(keys.block(b), b, t);
    }
    for (int r = 0; r < ROWS; r++) {
        for (int i = n_keys + (causal ? r : 0); i < n_blocks * KEYS; i++) t.scores[r][i] = MASKED;
        t.inverse_sum[r] = 1.0f / softmax_row(t.scores[r], n_blocks, keys, t.p[r], t.p_scale[r]);
    }
    alignas(64) float acc[4][ROWS][16] = {};
    {
        const Tiles tiles(BLOCK_SHAPES);
        for (int b = 0; b < n_blocks; b++) weigh_block_16(keys.block(b), b, t, acc);
    }
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < 4; c++) store(out + size_t(r) * ldo + c * 16, mul(load(acc[c][r]), set1(t.inverse_sum[r])));
}

void amx_attend(const float* q, int ldq, int m, const KeySequence& keys, int n_keys, bool causal, float* out, int ldo,
                void* scratch) {
    static_assert(sizeof(AttendTile<ROWS>) <= ATTEND_SCRATCH);
    int row = 0;
    for (; row + ROWS <= m; row += ROWS)
        attend_16(q + size_t(row) * ldq, ldq, keys, n_keys + (causal ? row : 0), causal, out + size_t(row) * ldo, ldo,
                  scratch);
    if (row < m)
        attend(q + size_t(row) * ldq, ldq, m - row, keys, n_keys + (causal ? row : 0), causal, out + size_t(row) * ldo,
               ldo, scratch);
}

constexpr Kernels amx_table() {
    Kernels k = make_kernels("amx");
    k.row_tile = 2 * ROWS;
    k.gemm = amx_gemm;
    k.attend = amx_attend;
    return k;
}

}  // namespace

const Kernels* amx_kernels() {
    static constexpr Kernels table = amx_table();
    return &table;
}
}  // namespace sayso
#else
namespace sayso {
const Kernels* amx_kernels() { return nullptr; }
}  // namespace sayso
#endif
