// Takes weights in and packs them.
#include "model.h"

#include <cmath>
#include <cstring>

namespace sayso {
namespace {

int round_up(int n, int step) { return (n + step - 1) / step * step; }

uint16_t float_to_half(float f) {  // nearest even; f is a finite scale >= 0
    uint32_t bits;
    std::memcpy(&bits, &f, 4);
    const int exponent = int(bits >> 23 & 255) - 112;
    if (exponent >= 31) return 0x7bff;
    if (exponent <= 0) return uint16_t(std::lrint(f * 16777216.0f));  // subnormal; 2^-14 comes out right too
    const uint32_t mantissa = bits & 0x7fffff;
    uint32_t half = uint32_t(exponent) << 10 | mantissa >> 13;
    const uint32_t rest = mantissa & 0x1fff;
    if (rest > 0x1000 || (rest == 0x1000 && (half & 1))) half++;
    return uint16_t(half < 0x7c00 ? half : 0x7bff);
}

// One row of f32 -> Q8_0 blocks (f16 scale, 32 bytes each), ggml's rule: d = max|x| / 127, the integers from the f32 d.
void quantize_row(const float* x, int cols, uint8_t* blocks) {
    for (int b = 0; b < cols / BLOCK; b++, x += BLOCK, blocks += BLOCK + 2) {
        float largest = 0;
        for (int i = 0; i < BLOCK; i++) largest = std::fmax(largest, std::fabs(x[i]));
        const uint16_t d = float_to_half(largest / 127.0f);
        const float inverse = largest > 0 ? 127.0f / largest : 0.0f;
        std::memcpy(blocks, &d, 2);
        for (int i = 0; i < BLOCK; i++) blocks[2 + i] = uint8_t(int8_t(std::lrint(x[i] * inverse)));
    }
}

// Writes row `lane` of a panel from Q8_0 blocks.
void pack_q8(const uint8_t* blocks, int n_blocks, int lane, uint8_t flip, uint8_t* weights, uint16_t* scales) {
    for (int b = 0; b < n_blocks; b++, blocks += BLOCK + 2) {
        std::memcpy(&scales[b * PANEL + lane], blocks, 2);
        uint32_t mask = flip * 0x01010101u;
        for (int j = 0; j < BLOCK / 4; j++) {
            uint32_t four;
            std::memcpy(&four, blocks + 2 + 4 * j, 4);
            four ^= mask;
            std::memcpy(weights + (size_t(b) * 8 + j) * 64 + lane * 4, &four, 4);
        }
    }
}

// Q4_0 has element i in the low nibble of byte i, i + 16 in the high one: what the kernels want, 4 bytes at a time.
void pack_q4(const uint8_t* blocks, int n_blocks, int lane, uint8_t* weights, uint16_t* scales) {
    for (int b = 0; b < n_blocks; b++, blocks += BLOCK / 2 + 2) {
        std::memcpy(&scales[b * PANEL + lane], blocks, 2);
        for (int j = 0; j < 4; j++) std::memcpy(weights + (size_t(b) * 4 + j) * 64 + lane * 4, blocks + 2 + 4 * j, 4);
    }
}

}  // namespace

Model::Model(const Dims& d, int n_threads, const Kernels& k)
    : dims(d), kernels(k), pool(n_threads), mel_stride(round_up(d.n_mels, BLOCK)) {
    encoder.resize(dims.n_audio_layer);
    decoder.resize(dims.n_text_layer);
    const int a = dims.n_audio_state, t = dims.n_text_state;
    name_matrix("encoder.conv1", conv1, a, 3 * mel_stride);
    name_matrix("encoder.conv2", conv2, a, 3 * a);
    vectors_["encoder.positions"] = {&encoder_positions, size_t(N_POSITIONS) * a};
    vectors_["decoder.positions"] = {&decoder_positions, size_t(dims.n_text_ctx) * t};
    name_norm("encoder.norm", encoder_norm, a);
    name_norm("decoder.norm", decoder_norm, t);
    name_matrix("decoder.tokens", tokens, dims.n_vocab, t, false);
    for (int i = 0; i < dims.n_audio_layer; i++) {
        const std::string p = "encoder." + std::to_string(i) + ".";
        EncoderLayer& l = encoder[i];
        name_norm(p + "attention_norm", l.attention_norm, a);
        name_norm(p + "mlp_norm", l.mlp_norm, a);
        name_matrix(p + "qkv", l.qkv, 3 * a, a);
        name_matrix(p + "out", l.out, a, a);
        name_matrix(p + "fc1", l.fc1, 4 * a, a);
        name_matrix(p + "fc2", l.fc2, a, 4 * a);
    }
    for (int i = 0; i < dims.n_text_layer; i++) {
        const std::string p = "decoder." + std::to_string(i) + ".";
        DecoderLayer& l = decoder[i];
        name_norm(p + "self_norm", l.self_norm, t);
        name_norm(p + "cross_norm", l.cross_norm, t);
        name_norm(p + "mlp_norm", l.mlp_norm, t);
        name_matrix(p + "qkv", l.qkv, 3 * t, t);
        name_matrix(p + "out", l.out, t, t);
        name_matrix(p + "cross_q", l.cross_q, t, t);
        name_matrix(p + "cross_kv", l.cross_kv, 2 * t, a);
        name_matrix(p + "cross_out", l.cross_out, t, t);
        name_matrix(p + "fc1", l.fc1, 4 * t, t);
        name_matrix(p + "fc2", l.fc2, t, 4 * t);
    }
}

void Model::name_norm(const std::string& name, Norm& norm, int n) {
    vectors_[name + ".gain"] = {&norm.gain, size_t(n)};
    vectors_[name + ".bias"] = {&norm.bias, size_t(n)};
}

void Model::name_matrix(const std::string& name, Matrix& matrix, int rows, int cols, bool bias) {
    matrices_[name] = {&matrix, rows, cols};
    if (bias) vectors_[name + ".bias"] = {&matrix.bias, size_t(rows)};
}

bool Model::set_vector(const std::string& name, const float* data, size_t n) {
    const auto slot = vectors_.find(name);
    if (slot == vectors_.end() || slot->second.size != n) return false;
    float*& mine = *slot->second.data;
    if (!mine) mine = static_cast<float*>(arena_.take(round_up(int(n), PANEL) * sizeof(float)));
    std::memcpy(mine, data, n * sizeof(float));
    return true;
}

bool Model::set_matrix(const std::string& name, sayso_type type, const void* data, int rows, int cols, int first_row,
                       int total_rows) {
    const auto slot = matrices_.find(name);
    if (slot == matrices_.end() || slot->second.rows != total_rows || slot->second.cols != cols || cols % BLOCK ||
        first_row < 0 || rows < 0 || first_row + rows > total_rows)
        return false;
    Matrix& m = *slot->second.matrix;
    const WeightType packed = type == SAYSO_Q4_0 ? WeightType::q4_0 : WeightType::q8_0;
    const int n_blocks = cols / BLOCK;
    if (!m.weights) {
        m.rows = round_up(total_rows, PANEL);
        m.cols = cols;
        m.type = packed;
        m.weights = static_cast<uint8_t*>(arena_.take(m.panel_bytes() * (m.rows / PANEL)));
        m.scales = static_cast<uint16_t*>(arena_.take(size_t(m.rows) * n_blocks * sizeof(uint16_t)));
    } else if (m.type != packed) {
        return false;
    }
    const uint8_t flip = uint8_t(kernels.weight_offset);  // adding 128 and flipping the sign bit are the same
    const size_t row_bytes = type == SAYSO_F32   ? size_t(cols) * 4
                             : type == SAYSO_Q8_0 ? size_t(n_blocks) * (BLOCK + 2)
                                                  : size_t(n_blocks) * (BLOCK / 2 + 2);
    const int first_panel = first_row / PANEL, last_panel = (first_row + rows + PANEL - 1) / PANEL;
    constexpr int PANELS = 16;  // per chunk
    pool.run((last_panel - first_panel + PANELS - 1) / PANELS, [&](int chunk, int) {
        std::vector<uint8_t> quantized(type == SAYSO_F32 ? size_t(n_blocks) * (BLOCK + 2) : 0);
        const int begin = std::max(first_row, (first_panel + chunk * PANELS) * PANEL);
        const int end = std::min(first_row + rows, (first_panel + (chunk + 1) * PANELS) * PANEL);
        for (int row = begin; row < end; row++) {
            const uint8_t* source = static_cast<const uint8_t*>(data) + (row - first_row) * row_bytes;
            uint8_t* weights = m.weights + row / PANEL * m.panel_bytes();
            uint16_t* scales = m.scales + size_t(row / PANEL) * PANEL * n_blocks;
            if (type == SAYSO_Q4_0) {
                pack_q4(source, n_blocks, row % PANEL, weights, scales);
                continue;
            }
            if (type == SAYSO_F32) {
                quantize_row(reinterpret_cast<const float*>(source), cols, quantized.data());
                source = quantized.data();
            }
            pack_q8(source, n_blocks, row % PANEL, flip, weights, scales);
        }
    });
    return true;
}

std::string Model::missing() const {
    for (const auto& [name, slot] : vectors_)
        if (!*slot.data) return name;
    for (const auto& [name, slot] : matrices_)
        if (!slot.matrix->weights) return name;
    return "";
}

void Model::embed(int token, int position, float* x) const {
    const int n_blocks = tokens.cols / BLOCK, lane = token % PANEL;
    const uint8_t* w = tokens.panel_weights(token / PANEL);
    const uint16_t* scales = tokens.panel_scales(token / PANEL);
    const float* p = decoder_positions + size_t(position) * dims.n_text_state;
    for (int b = 0; b < n_blocks; b++) {
        float d[PANEL];
        kernels.dequantize(scales + b * PANEL, PANEL, d);
        for (int i = 0; i < BLOCK; i++) {
            int q;
            if (tokens.type == WeightType::q4_0) {
                const uint8_t two = w[(size_t(b) * 4 + i % 16 / 4) * 64 + lane * 4 + i % 4];
                q = (i < 16 ? two & 15 : two >> 4) - 8;
            } else {
                q = int8_t(w[(size_t(b) * 8 + i / 4) * 64 + lane * 4 + i % 4] ^ uint8_t(kernels.weight_offset));
            }
            x[b * BLOCK + i] = float(q) * d[lane] + p[b * BLOCK + i];
        }
    }
}

}  // namespace sayso
