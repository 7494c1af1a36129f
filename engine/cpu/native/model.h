// A Whisper's weights, packed, and what every call on them shares.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "kernels.h"
#include "memory.h"
#include "pool.h"
#include "sayso_cpu.h"

namespace sayso {

constexpr int N_POSITIONS = 1500;  // of the encoder, 20 ms each
constexpr int N_FRAMES = 3000;     // of the mel, 10 ms each
constexpr int N_KEY_BLOCKS = (N_POSITIONS + KEYS - 1) / KEYS;

using Dims = sayso_dims;
using Cancelled = sayso_cancelled;

struct Norm {
    float *gain = nullptr, *bias = nullptr;
};

struct EncoderLayer {
    Norm attention_norm, mlp_norm;
    Matrix qkv, out, fc1, fc2;
};

struct DecoderLayer {
    Norm self_norm, cross_norm, mlp_norm;
    Matrix qkv, out, cross_q, cross_kv, cross_out, fc1, fc2;
};

// Keys and values of every layer and head.
struct HeadBlocks {
    int n_heads = 0, per_head = 0;
    Buffer<KeyBlock> blocks;

    HeadBlocks() = default;
    HeadBlocks(int n_layers, int heads, int blocks_per_head)
        : n_heads(heads), per_head(blocks_per_head), blocks(size_t(n_layers) * heads * blocks_per_head) {}
    KeyBlock* at(int layer, int head) { return blocks.data() + (size_t(layer) * n_heads + head) * per_head; }
    const KeyBlock* at(int layer, int head) const { return const_cast<HeadBlocks*>(this)->at(layer, head); }
};

// An all-silent window: what positions behind the audio are, in every layer.
struct Silence {
    HeadBlocks self, cross;
    Buffer<float> states;  // [1500][n_audio_state]
};

// Encoded audio. Positions [0, n_encoded) are its own, the others the silence's.
struct Audio {
    int n_encoded = 0;
    HeadBlocks cross;      // of the decoder's layers
    Buffer<float> states;  // [n_encoded][n_audio_state]
    std::shared_ptr<const Silence> silence;

    KeySequence cross_keys(int layer, int head) const {
        const int own = (n_encoded + KEYS - 1) / KEYS;
        return {cross.at(layer, head), own, silence ? silence->cross.at(layer, head) : nullptr};
    }
};

class Model {
public:
    Model(const Dims& dims, int n_threads, const Kernels& kernels);

    // Copies. False for a name that this model does not have or a size that does not fit.
    bool set_vector(const std::string& name, const float* data, size_t n);
    // Rows [first_row, first_row + rows) of a matrix of total_rows, in GGUF's row layout, or f32 to be quantized.
    bool set_matrix(const std::string& name, sayso_type type, const void* data, int rows, int cols, int first_row,
                    int total_rows);
    // The name of a tensor that has not been set; empty when complete.
    std::string missing() const;

    // One row of the token table plus its position: the decoder's input.
    void embed(int token, int position, float* x) const;

    const Dims dims;
    const Kernels& kernels;
    Pool pool;
    std::mutex mutex;  // one call at a time

    int mel_stride;        // mel bins per frame, padded to BLOCK
    Matrix conv1, conv2;   // over three frames: [3][mel_stride], [3][n_audio_state]
    float *encoder_positions = nullptr, *decoder_positions = nullptr;
    Norm encoder_norm, decoder_norm;
    std::vector<EncoderLayer> encoder;
    std::vector<DecoderLayer> decoder;
    Matrix tokens;  // token table and logit head
    std::map<float, std::shared_ptr<const Silence>> silences;
    std::shared_ptr<void> encoder_workspace;  // encoder.cpp's: memory that every window uses again

private:
    struct VectorSlot {
        float** data;
        size_t size;
    };
    struct MatrixSlot {
        Matrix* matrix;
        int rows, cols;
    };
    void name_norm(const std::string& name, Norm& norm, int n);
    void name_matrix(const std::string& name, Matrix& matrix, int rows, int cols, bool bias = true);

    Arena arena_;
    std::unordered_map<std::string, VectorSlot> vectors_;
    std::unordered_map<std::string, MatrixSlot> matrices_;
};

}  // namespace sayso
