// The encoder. Every layer is one parallel piece over chunks of positions: attention over all keys of the layer, output,
// MLP, then the next layer's query, key and value. Threads meet once per layer.
#include "encoder.h"

#include <algorithm>
#include <cstring>

namespace sayso {

constexpr int CHUNK = 64;  // positions at most: the MLP's activations stay in the second-level cache

struct Encoder::Scratch {
    explicit Scratch(const Model& m)
        : d(m.dims.n_audio_state),
          narrow(size_t(CHUNK) * d),
          wide(size_t(CHUNK) * 4 * d),
          values(size_t(CHUNK) * 4 * d),
          scales(size_t(CHUNK) * 4 * d / BLOCK),
          bias(size_t(CHUNK) * 4 * d / BLOCK),
          mel_values(size_t(2 * CHUNK + 3) * m.mel_stride),
          mel_scales(mel_values.size() / BLOCK),
          mel_bias(mel_values.size() / BLOCK),
          attend(ATTEND_SCRATCH) {}

    // Quantizes m rows of n columns.
    Activations quantized(const Kernels& k, const float* x, int m, int n) {
        for (int r = 0; r < m; r++) quantize_row(k, x + size_t(r) * n, r, n);
        return {values.data(), scales.data(), bias.data(), n};
    }
    Activations normed(const Kernels& k, const Norm& norm, const float* x, int m) {
        for (int r = 0; r < m; r++) {
            k.layer_norm(x + size_t(r) * d, norm.gain, norm.bias, d, wide.data());
            quantize_row(k, wide.data(), r, d);
        }
        return {values.data(), scales.data(), bias.data(), d};
    }
    void quantize_row(const Kernels& k, const float* x, int r, int n) {
        const size_t block = size_t(r) * (n / BLOCK);
        k.quantize(x, n, values.data() + size_t(r) * n, scales.data() + block, bias.data() + block);
    }

    int d;
    Buffer<float> narrow, wide;  // [CHUNK][d], [CHUNK][4 d]
    Buffer<int8_t> values;       // quantized activations
    Buffer<float> scales;
    Buffer<int32_t> bias;
    Buffer<int8_t> mel_values;
    Buffer<float> mel_scales;
    Buffer<int32_t> mel_bias;
    Buffer<uint8_t> attend;
};

struct Encoder::Workspace {
    std::vector<Scratch> threads;
    Buffer<float> x, q;
};

namespace {

void product(const Kernels& k, const Matrix& w, const Activations& x, int m, float* y, Epilogue end) {
    k.gemm(w, 0, w.rows / PANEL, x, m, y, w.rows, end);
}

}  // namespace

Encoder::Encoder(Model& model, bool keep_layers)
    : model_(model),
      n_buffers_(keep_layers ? model.dims.n_audio_layer : 2),
      self_(n_buffers_, model.dims.n_audio_head, N_KEY_BLOCKS),
      cross_(model.dims.n_text_layer, model.dims.n_text_head, N_KEY_BLOCKS),
      states_(size_t(N_POSITIONS) * model.dims.n_audio_state),
      keep_layers_(keep_layers) {}

Encoder::Workspace& Encoder::workspace(int n_positions) {
    if (!model_.encoder_workspace) {
        auto made = std::make_shared<Workspace>();
        for (int i = 0; i < model_.pool.n_threads(); i++) made->threads.emplace_back(model_);
        model_.encoder_workspace = made;
    }
    Workspace& w = *static_cast<Workspace*>(model_.encoder_workspace.get());
    const size_t size = size_t(n_positions) * model_.dims.n_audio_state;
    if (w.x.size() < size) {
        w.x = Buffer<float>(size);
        w.q = Buffer<float>(size);
    }
    return w;
}

bool Encoder::encode(const Mel& mel, int first, int end, std::shared_ptr<const Silence> silence, Cancelled cancelled) {
    const int n = end - first, n_threads = model_.pool.n_threads(), n_layers = model_.dims.n_audio_layer;
    first_ = first;
    end_ = end;
    silence_ = end < N_POSITIONS ? std::move(silence) : nullptr;
    Workspace& memory = workspace(n);
    x_ = memory.x.data();
    q_ = memory.q.data();

    // As many chunks as come out even over the threads, in whole register tiles.
    const int tile = model_.kernels.row_tile, largest = CHUNK / tile * tile;
    const int n_chunks = ((n + largest - 1) / largest + n_threads - 1) / n_threads * n_threads;
    const int rows = std::min(largest, ((n + n_chunks - 1) / n_chunks + tile - 1) / tile * tile);
    const auto each_chunk = [&](const auto& work) {
        model_.pool.run((n + rows - 1) / rows, [&](int chunk, int thread) {
            const int a = first + chunk * rows;
            work(a, std::min(end, a + rows), memory.threads[thread]);
        });
    };

    open_layer(0);
    each_chunk([&](int a, int b, Scratch& s) {
        stem(mel, a, b, s);
        self_projections(0, a, b, s);
    });
    for (int layer = 0; layer < n_layers; layer++) {
        if (cancelled && cancelled()) return false;
        const bool last = layer + 1 == n_layers;
        if (!last) open_layer(layer + 1);
        each_chunk([&](int a, int b, Scratch& s) {
            layer_rows(layer, a, b, s);
            if (last)
                final_rows(a, b, s);
            else
                self_projections(layer + 1, a, b, s);
        });
    }
    return true;
}

// The block in which `end` lies also holds silence: bring it in before the first own position is written behind it.
void Encoder::open_layer(int layer) {
    const int block = end_ / KEYS;
    if (!silence_ || end_ % KEYS == 0) return;
    const auto splice = [&](HeadBlocks& own, int own_layer, const HeadBlocks& silent, int silent_layer) {
        for (int h = 0; h < own.n_heads; h++) {
            KeyBlock& mine = own.at(own_layer, h)[block];
            const KeyBlock before = mine;
            mine = silent.at(silent_layer, h)[block];
            for (int p = block * KEYS; p < first_; p++) {  // frozen positions in the same block
                const int s = p % KEYS;
                for (int c = 0; c < HEAD; c++) {
                    mine.k[s / 16][c / 4][s % 16][c % 4] = before.k[s / 16][c / 4][s % 16][c % 4];
                    mine.v[c / 16][s / 4][c % 16][s % 4] = before.v[c / 16][s / 4][c % 16][s % 4];
                }
                mine.k_scale[s] = before.k_scale[s];
                mine.v_scale[s] = before.v_scale[s];
            }
        }
    };
    splice(self_, buffer(layer), silence_->self, layer);
    if (layer == 0)
        for (int l = 0; l < model_.dims.n_text_layer; l++) splice(cross_, l, silence_->cross, l);
}

// Two convolutions over three frames each, GELU after both, as matrix products over overlapping rows.
void Encoder::stem(const Mel& mel, int a, int b, Scratch& s) {
    const Kernels& k = model_.kernels;
    const int d = s.d, n_mels = model_.dims.n_mels, stride = model_.mel_stride;
    const int n_wide = 2 * (b - a) + 1;  // frames of conv1: 2a - 1 .. 2b - 1, each over frames one before to one after
    for (int i = 0; i < n_wide + 2; i++) {
        const int frame = 2 * a - 2 + i - mel.first_frame;
        float padded[256] = {};
        if (frame >= 0 && frame < mel.n_frames && frame + mel.first_frame < N_FRAMES)
            std::memcpy(padded, mel.values + size_t(frame) * n_mels, n_mels * sizeof(float));
        const size_t block = size_t(i) * (stride / BLOCK);
        k.quantize(padded, stride, s.mel_values.data() + size_t(i) * stride, s.mel_scales.data() + block,
                   s.mel_bias.data() + block);
    }
    const Activations frames{s.mel_values.data(), s.mel_scales.data(), s.mel_bias.data(), stride};
    product(k, model_.conv1, frames, n_wide, s.wide.data(), Epilogue::gelu);
    if (a == 0) std::memset(s.wide.data(), 0, d * sizeof(float));  // conv2 pads with zeros, not with conv1 of silence
    Activations pairs = s.quantized(k, s.wide.data(), n_wide, d);
    pairs.stride = 2 * d;
    float* x = row(x_, a);
    product(k, model_.conv2, pairs, b - a, x, Epilogue::gelu);
    const float* positions = model_.encoder_positions + size_t(a) * d;
    for (size_t i = 0; i < size_t(b - a) * d; i++) x[i] += positions[i];
}

void Encoder::self_projections(int layer, int a, int b, Scratch& s) {
    const Kernels& k = model_.kernels;
    const EncoderLayer& w = model_.encoder[layer];
    const int d = s.d;
    product(k, w.qkv, s.normed(k, w.attention_norm, row(x_, a), b - a), b - a, s.wide.data(), Epilogue::store);
    for (int p = a; p < b; p++) {
        const float* qkv = s.wide.data() + size_t(p - a) * 3 * d;
        std::memcpy(row(q_, p), qkv, d * sizeof(float));
        for (int h = 0; h < self_.n_heads; h++)
            k.store_key_value(self_.at(buffer(layer), h)[p / KEYS], p % KEYS, qkv + d + h * HEAD, qkv + 2 * d + h * HEAD);
    }
}

void Encoder::layer_rows(int layer, int a, int b, Scratch& s) {
    const Kernels& k = model_.kernels;
    const EncoderLayer& w = model_.encoder[layer];
    const int d = s.d, m = b - a;
    for (int h = 0; h < self_.n_heads; h++) {
        const KeySequence keys{self_.at(buffer(layer), h), (end_ + KEYS - 1) / KEYS,
                               silence_ ? silence_->self.at(layer, h) : nullptr};
        k.attend(row(q_, a) + h * HEAD, d, m, keys, N_POSITIONS, false, s.narrow.data() + h * HEAD, d, s.attend.data());
    }
    float* x = row(x_, a);
    product(k, w.out, s.quantized(k, s.narrow.data(), m, d), m, x, Epilogue::add);
    product(k, w.fc1, s.normed(k, w.mlp_norm, x, m), m, s.wide.data(), Epilogue::gelu);
    product(k, w.fc2, s.quantized(k, s.wide.data(), m, 4 * d), m, x, Epilogue::add);
}

// Final norm, then cross-attention keys and values for every decoder layer.
void Encoder::final_rows(int a, int b, Scratch& s) {
    const Kernels& k = model_.kernels;
    const int d = s.d, m = b - a;
    float* states = states_.data() + size_t(a) * d;
    for (int r = 0; r < m; r++)
        k.layer_norm(row(x_, a + r), model_.encoder_norm.gain, model_.encoder_norm.bias, d, states + size_t(r) * d);
    const Activations x = s.quantized(k, states, m, d);
    for (int layer = 0; layer < model_.dims.n_text_layer; layer++) {
        const int t = model_.dims.n_text_state;
        product(k, model_.decoder[layer].cross_kv, x, m, s.wide.data(), Epilogue::store);
        for (int p = a; p < b; p++) {
            const float* kv = s.wide.data() + size_t(p - a) * 2 * t;
            for (int h = 0; h < cross_.n_heads; h++)
                k.store_key_value(cross_.at(layer, h)[p / KEYS], p % KEYS, kv + h * HEAD, kv + t + h * HEAD);
        }
    }
}

std::unique_ptr<Audio> Encoder::take_audio() {
    auto out = std::make_unique<Audio>();
    if (!keep_layers_) {
        out->n_encoded = end_;
        out->silence = silence_;
        out->cross = std::move(cross_);
        out->states = std::move(states_);
        return out;
    }
    const int own = (end_ + KEYS - 1) / KEYS, n_layers = model_.dims.n_text_layer, n_heads = cross_.n_heads;
    out->n_encoded = end_;
    out->silence = silence_;
    out->cross = HeadBlocks(n_layers, n_heads, own);
    for (int l = 0; l < n_layers; l++)
        for (int h = 0; h < n_heads; h++) std::memcpy(out->cross.at(l, h), cross_.at(l, h), own * sizeof(KeyBlock));
    out->states = Buffer<float>(size_t(end_) * model_.dims.n_audio_state);
    std::memcpy(out->states.data(), states_.data(), out->states.size() * sizeof(float));
    return out;
}

std::shared_ptr<const Silence> Encoder::into_silence() {
    auto out = std::make_shared<Silence>();
    out->self = std::move(self_);
    out->cross = std::move(cross_);
    out->states = std::move(states_);
    return out;
}

}  // namespace sayso
