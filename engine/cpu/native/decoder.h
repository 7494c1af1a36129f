// The decoder: tokens -> logits -> the next token, one token or a block of up to 32 at a time.
#pragma once

#include "choice.h"
#include "model.h"

namespace sayso {

constexpr int MAX_BLOCK = 32;

class Decoder {
public:
    Decoder(Model& model, const Audio& audio);

    int length() const { return length_; }
    enum class Logits { none, last, all };
    // Appends n <= 32 tokens. The last one's logits become pending (unless `none`).
    bool append(const int32_t* tokens, int n, Logits keep);
    // Appends any number of tokens, in blocks.
    bool prompt(const int32_t* tokens, int n);
    const float* pending() const { return pending_ < 0 ? nullptr : logits_.data() + size_t(pending_) * n_logits_; }
    bool choose(const sayso_rules& rules, const int32_t* sampled, int n_sampled, float temperature, uint64_t random,
                sayso_choice& choice);
    // As many choices as the draft agrees with greedy decoding, plus one.
    bool verify(const int32_t* draft, int n, const sayso_rules& rules, const int32_t* sampled, int n_sampled,
                sayso_choice* choices, int& n_choices);
    // Heads of cross-attention to watch, (layer, head) pairs, and where to: weights [n_heads][n_tokens][N_POSITIONS].
    struct Watched {
        const int32_t* heads = nullptr;
        int n_heads = 0, n_tokens = 0;
        float* weights = nullptr;
    };
    // Forces tokens through an empty decoder. logprobs [n - 1]: of tokens 1 to n - 1 among the ids below n_words.
    bool align(const int32_t* tokens, int n, const Watched& watched, int n_words, float* logprobs);
    bool rewind(int length);

    Model& model() { return model_; }

private:
    Activations quantized(const float* x, int m, int n);
    Activations normed(const Norm& norm, int m);
    void multiply(const Matrix& w, const Activations& x, int m, float* y, Epilogue end);
    void self_attention(const DecoderLayer& w, int layer, int m);
    void cross_attention(const DecoderLayer& w, int layer, int m);
    void watch(int layer, int head, int m);
    float logprob(int row, int token, int n_words);

    Model& model_;
    const Audio& audio_;
    int length_ = 0, pending_ = -1;
    int n_logits_;     // vocabulary, padded
    Watched watched_;  // nothing but during `align`
    HeadBlocks self_;  // keys and values of the tokens
    Buffer<float> x_, wide_, attended_, logits_, filtered_;
    Buffer<int8_t> values_;
    Buffer<float> scales_;
    Buffer<int32_t> bias_;
    std::vector<Buffer<uint8_t>> scratch_;  // per thread
};

}  // namespace sayso
