// What the instruction sets implement: packed data layouts, and a table of kernels over them.
//
// All kernels see 16 lanes at a time, whatever the register width. Weights lie in panels of 16 rows; four consecutive
// columns of one row are one 32-bit lane, the operand of an int8 dot product instruction:
//
//     weights  [rows/16][cols/4][16 rows][4 columns]     Q8_0: one byte each, plus `weight_offset` (so x86 sees unsigned)
//              [rows/16][cols/32][4][16 rows][4]         Q4_0: low nibbles are columns 0..15 of the block, high 16..31
//     scales   [rows/16][cols/32][16 rows]               f16, as in the file
//
// Activations are quantized per row and 32 columns. `bias` is -128 times the sum of a block's integers: what the
// unsigned weights add too much (divided by 16 for Q4_0, whose zero is 8).
#pragma once

#include <cstddef>
#include <cstdint>

namespace sayso {

constexpr int BLOCK = 32;       // columns that share a scale
constexpr int PANEL = 16;       // weight rows side by side
constexpr int HEAD = 64;        // size of an attention head in every Whisper
constexpr int KEYS = 32;        // positions in a KeyBlock
constexpr int MAX_KEYS = 1504;  // longest attention, a multiple of KEYS

enum class WeightType : int { q8_0 = 0, q4_0 = 1 };

struct Matrix {
    int rows = 0;  // padded to PANEL
    int cols = 0;  // multiple of BLOCK
    WeightType type = WeightType::q8_0;
    uint8_t* weights = nullptr;
    uint16_t* scales = nullptr;
    float* bias = nullptr;  // [rows] or null

    size_t panel_bytes() const { return size_t(PANEL) * cols / (type == WeightType::q4_0 ? 2 : 1); }
    const uint8_t* panel_weights(int panel) const { return weights + panel * panel_bytes(); }
    const uint16_t* panel_scales(int panel) const { return scales + size_t(panel) * PANEL * (cols / BLOCK); }
};

// Rows of quantized activations. Rows may overlap (a convolution is a matrix product over overlapping rows).
struct Activations {
    const int8_t* values = nullptr;
    const float* scales = nullptr;
    const int32_t* bias = nullptr;
    int stride = 0;  // columns from one row to the next; multiple of BLOCK
};

// Keys and values of 32 positions of one head, each position quantized with one scale for K and one for V.
// K is laid out as a weight matrix of 32 rows and 64 columns, V as one of 64 rows and 32 columns.
struct alignas(64) KeyBlock {
    uint8_t k[2][HEAD / 4][PANEL][4];           // [position / 16][channel / 4][position % 16][channel % 4], + offset
    int8_t v[HEAD / PANEL][KEYS / 4][PANEL][4];  // [channel / 16][position / 4][channel % 16][position % 4], signed
    float k_scale[KEYS];
    float v_scale[KEYS];
};

enum class Epilogue { store, add, gelu };  // y = r, y += r, y = gelu(r), where r = x w' + bias

// The positions a query attends to: blocks below `n_own` from `own`, the others from `rest`.
struct KeySequence {
    const KeyBlock* own = nullptr;
    int n_own = 0;
    const KeyBlock* rest = nullptr;
    const KeyBlock& block(int i) const { return i < n_own ? own[i] : rest[i]; }
};

struct Kernels {
    const char* name;
    int weight_offset;  // added to Q8_0 weights and keys in memory: 128, or 0 where signed products exist
    int row_tile;       // activation rows that one pass of `gemm` takes

    // x [n] -> values [n], scales [n/32], bias [n/32]
    void (*quantize)(const float* x, int n, int8_t* values, float* scales, int32_t* bias);
    void (*layer_norm)(const float* x, const float* gain, const float* bias, int n, float* y);
    // Rows [0, m) of x times panels [first, last) of w; y points at column 0 and has `ldy` columns.
    void (*gemm)(const Matrix& w, int first, int last, const Activations& x, int m, float* y, int ldy, Epilogue end);
    // q [m][ldq] f32 -> out [m][ldo]; row r sees `n_keys` (+ r when causal) positions. scratch: attend_scratch bytes.
    void (*attend)(const float* q, int ldq, int m, const KeySequence& keys, int n_keys, bool causal, float* out, int ldo,
                   void* scratch);
    // Writes position `slot` of a block from k [64] and v [64].
    void (*store_key_value)(KeyBlock& block, int slot, const float* k, const float* v);
    float (*max)(const float* x, int n);
    float (*sum_exp)(const float* x, int n, float minus);  // sum of exp(x - minus)
    void (*dequantize)(const uint16_t* half, int n, float* out);  // f16 -> f32
};

constexpr size_t ATTEND_SCRATCH = 512 * 1024;  // bytes, 64-aligned

// The best table that this processor can run, or the one named (null if it cannot run here).
const Kernels* best_kernels();
const Kernels* find_kernels(const char* name);
// Names of all tables that this processor can run, best first, separated by spaces.
const char* runnable_kernels();

// One per file; null where the file was not built for this architecture.
const Kernels* portable_kernels();
const Kernels* avx2_kernels();
const Kernels* avxvnni_kernels();
const Kernels* avx512_kernels();
const Kernels* amx_kernels();
const Kernels* neon_kernels();

}  // namespace sayso
