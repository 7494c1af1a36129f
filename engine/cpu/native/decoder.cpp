// The decoder. Six parallel pieces per layer: heads (projection and attention together) or weight panels; what is
// between them is a row of a few hundred values, quicker done by one thread than handed around.
#include "decoder.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace sayso {
namespace {

Pool::Grain grain(int n_rows) { return n_rows == 1 ? Pool::Grain::fine : Pool::Grain::coarse; }

}  // namespace

Decoder::Decoder(Model& model, const Audio& audio)
    : model_(model),
      audio_(audio),
      n_logits_(model.tokens.rows),
      self_(model.dims.n_text_layer, model.dims.n_text_head, (model.dims.n_text_ctx + KEYS - 1) / KEYS),
      x_(size_t(MAX_BLOCK) * model.dims.n_text_state),
      wide_(x_.size() * 4),
      attended_(x_.size()),
      logits_(size_t(MAX_BLOCK) * n_logits_),
      filtered_(n_logits_),
      values_(wide_.size()),
      scales_(wide_.size() / BLOCK),
      bias_(wide_.size() / BLOCK) {
    for (int i = 0; i < model.pool.n_threads(); i++) scratch_.emplace_back(ATTEND_SCRATCH);
}

Activations Decoder::quantized(const float* x, int m, int n) {
    for (int r = 0; r < m; r++) {
        const size_t at = size_t(r) * n;
        model_.kernels.quantize(x + at, n, values_.data() + at, scales_.data() + at / BLOCK, bias_.data() + at / BLOCK);
    }
    return {values_.data(), scales_.data(), bias_.data(), n};
}

Activations Decoder::normed(const Norm& norm, int m) {
    const int d = model_.dims.n_text_state;
    for (int r = 0; r < m; r++)
        model_.kernels.layer_norm(x_.data() + size_t(r) * d, norm.gain, norm.bias, d, attended_.data() + size_t(r) * d);
    return quantized(attended_.data(), m, d);
}

// All panels of w, shared over the threads.
void Decoder::multiply(const Matrix& w, const Activations& x, int m, float* y, Epilogue end) {
    const int n_panels = w.rows / PANEL;
    // Groups of 4 panels (what the one-row kernel takes), about four pieces of work per thread, at most 64 panels each.
    const int per_chunk = std::clamp(n_panels / (4 * model_.pool.n_threads()) / 4 * 4, 4, 64);
    model_.pool.run((n_panels + per_chunk - 1) / per_chunk, [&](int chunk, int) {
        const int first = chunk * per_chunk;
        model_.kernels.gemm(w, first, std::min(n_panels, first + per_chunk), x, m, y, w.rows, end);
    }, grain(m));
}

void Decoder::self_attention(const DecoderLayer& w, int layer, int m) {
    const Kernels& k = model_.kernels;
    const int d = model_.dims.n_text_state, panels = HEAD / PANEL;
    const Activations x = normed(w.self_norm, m);
    model_.pool.run(self_.n_heads, [&](int h, int thread) {
        float* qkv = wide_.data();
        for (int part = 0; part < 3; part++) {
            const int first = (part * d + h * HEAD) / PANEL;
            k.gemm(w.qkv, first, first + panels, x, m, qkv, 3 * d, Epilogue::store);
        }
        KeyBlock* blocks = self_.at(layer, h);
        for (int r = 0; r < m; r++) {
            const int p = length_ + r;
            const float* row = qkv + size_t(r) * 3 * d + h * HEAD;
            k.store_key_value(blocks[p / KEYS], p % KEYS, row + d, row + 2 * d);
        }
        k.attend(qkv + h * HEAD, 3 * d, m, {blocks, self_.per_head, nullptr}, length_ + 1, true,
                 attended_.data() + h * HEAD, d, scratch_[thread].data());
    }, grain(m));
    multiply(w.out, quantized(attended_.data(), m, d), m, x_.data(), Epilogue::add);
}

void Decoder::cross_attention(const DecoderLayer& w, int layer, int m) {
    const Kernels& k = model_.kernels;
    const int d = model_.dims.n_text_state, panels = HEAD / PANEL;
    const Activations x = normed(w.cross_norm, m);
    model_.pool.run(self_.n_heads, [&](int h, int thread) {
        float* q = wide_.data();
        k.gemm(w.cross_q, h * panels, (h + 1) * panels, x, m, q, d, Epilogue::store);
        k.attend(q + h * HEAD, d, m, audio_.cross_keys(layer, h), N_POSITIONS, false, attended_.data() + h * HEAD, d,
                 scratch_[thread].data());
        if (watched_.n_heads) watch(layer, h, m);
    }, grain(m));
    multiply(w.cross_out, quantized(attended_.data(), m, d), m, x_.data(), Epilogue::add);
}

// Writes down what a head looks at, with its queries in `wide_`: once per text, so plain C++ is quick enough.
void Decoder::watch(int layer, int head, int m) {
    const int d = model_.dims.n_text_state, offset = model_.kernels.weight_offset;
    const KeySequence keys = audio_.cross_keys(layer, head);
    for (int i = 0; i < watched_.n_heads; i++) {
        if (watched_.heads[2 * i] != layer || watched_.heads[2 * i + 1] != head) continue;
        for (int r = 0; r < m; r++) {
            const float* q = wide_.data() + size_t(r) * d + head * HEAD;
            float* out = watched_.weights + (size_t(i) * watched_.n_tokens + length_ + r) * N_POSITIONS;
            for (int p = 0; p < N_POSITIONS; p++) {
                const KeyBlock& block = keys.block(p / KEYS);
                const int slot = p % KEYS;
                float sum = 0;
                for (int c = 0; c < HEAD; c++)
                    sum += q[c] * float(int8_t(block.k[slot / PANEL][c / 4][slot % PANEL][c % 4] - offset));
                out[p] = sum * block.k_scale[slot] * 0.125f;  // 1/sqrt(64)
            }
            const float top = *std::max_element(out, out + N_POSITIONS);
            float total = 0;
            for (int p = 0; p < N_POSITIONS; p++) total += out[p] = std::exp(out[p] - top);
            for (int p = 0; p < N_POSITIONS; p++) out[p] /= total;
        }
    }
}

bool Decoder::append(const int32_t* tokens, int n, Logits keep) {
    const Dims& dims = model_.dims;
    const int d = dims.n_text_state;
    if (n < 1 || n > MAX_BLOCK || length_ + n > dims.n_text_ctx) return false;
    for (int i = 0; i < n; i++)
        if (tokens[i] < 0 || tokens[i] >= dims.n_vocab) return false;
    for (int i = 0; i < n; i++) model_.embed(tokens[i], length_ + i, x_.data() + size_t(i) * d);
    for (int layer = 0; layer < dims.n_text_layer; layer++) {
        const DecoderLayer& w = model_.decoder[layer];
        self_attention(w, layer, n);
        cross_attention(w, layer, n);
        multiply(w.fc1, normed(w.mlp_norm, n), n, wide_.data(), Epilogue::gelu);
        multiply(w.fc2, quantized(wide_.data(), n, 4 * d), n, x_.data(), Epilogue::add);
    }
    length_ += n;
    pending_ = -1;
    if (keep == Logits::none) return true;
    const int rows = keep == Logits::all ? n : 1;
    if (rows < n) std::memmove(x_.data(), x_.data() + size_t(n - 1) * d, d * sizeof(float));
    multiply(model_.tokens, normed(model_.decoder_norm, rows), rows, logits_.data(), Epilogue::store);
    pending_ = rows - 1;
    return true;
}

bool Decoder::prompt(const int32_t* tokens, int n) {
    for (int done = 0; done < n; done += MAX_BLOCK) {
        const int block = std::min(MAX_BLOCK, n - done);
        if (!append(tokens + done, block, done + block == n ? Logits::last : Logits::none)) return false;
    }
    return n > 0;
}

bool Decoder::choose(const sayso_rules& rules, const int32_t* sampled, int n_sampled, float temperature, uint64_t random,
                     sayso_choice& choice) {
    if (pending_ < 0) return false;
    std::memcpy(filtered_.data(), pending(), n_logits_ * sizeof(float));
    filter(rules, sampled, n_sampled, filtered_.data(), model_.dims.n_vocab, n_logits_);
    choice = sayso::choose(model_.kernels, filtered_.data(), model_.dims.n_vocab, n_logits_, temperature, random);
    return true;
}

bool Decoder::verify(const int32_t* draft, int n, const sayso_rules& rules, const int32_t* sampled, int n_sampled,
                     sayso_choice* choices, int& n_choices) {
    const int before = length_;
    std::vector<int32_t> history(sampled, sampled + n_sampled);
    n_choices = 1;
    if (!choose(rules, history.data(), n_sampled, 0, 0, choices[0])) return false;
    if (n == 0 || choices[0].token != draft[0]) return true;
    if (!append(draft, n, Logits::all)) return false;
    for (int i = 0; i < n; i++) {
        history.push_back(draft[i]);
        pending_ = i;
        n_choices = i + 2;
        if (!choose(rules, history.data(), int(history.size()), 0, 0, choices[i + 1])) return false;
        if (i + 1 == n || choices[i + 1].token != draft[i + 1]) {
            length_ = before + i + 1;
            return true;
        }
    }
    return true;
}

float Decoder::logprob(int row, int token, int n_words) {
    constexpr float NEVER = -std::numeric_limits<float>::infinity();
    if (token >= n_words) return NEVER;
    std::memcpy(filtered_.data(), logits_.data() + size_t(row) * n_logits_, n_logits_ * sizeof(float));
    std::fill(filtered_.data() + n_words, filtered_.data() + n_logits_, NEVER);
    const float top = model_.kernels.max(filtered_.data(), n_logits_);
    return filtered_.data()[token] - top - std::log(model_.kernels.sum_exp(filtered_.data(), n_logits_, top));
}

bool Decoder::align(const int32_t* tokens, int n, const Watched& watched, int n_words, float* logprobs) {
    const Dims& dims = model_.dims;
    for (int i = 0; i < watched.n_heads; i++) {
        const int32_t* pair = watched.heads + 2 * i;
        if (pair[0] < 0 || pair[0] >= dims.n_text_layer || pair[1] < 0 || pair[1] >= dims.n_text_head) return false;
    }
    if (length_ || n < 1 || n > dims.n_text_ctx || n_words < 1 || n_words > dims.n_vocab) return false;
    watched_ = watched;
    bool ok = true;
    for (int done = 0; ok && done < n; done += MAX_BLOCK) {
        const int block = std::min(MAX_BLOCK, n - done);
        ok = append(tokens + done, block, Logits::all);
        for (int r = 0; ok && r < block && done + r + 1 < n; r++)
            logprobs[done + r] = logprob(r, tokens[done + r + 1], n_words);
    }
    watched_ = {};
    return rewind(0) && ok;
}

bool Decoder::rewind(int length) {
    if (length < 0 || length > length_) return false;
    length_ = length;
    pending_ = -1;
    return true;
}

}  // namespace sayso
