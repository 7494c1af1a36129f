// OpenAI's logit filters (decoding.py: SuppressBlank, SuppressTokens, ApplyTimestampRules) and the choice.
#include "choice.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sayso {
namespace {

constexpr float NEVER = -std::numeric_limits<float>::infinity();

void forbid(float* logits, int first, int last) {
    for (int i = first; i < last; i++) logits[i] = NEVER;
}

void timestamp_grammar(const sayso_rules& rules, const int32_t* sampled, int n, float* logits, int n_vocab) {
    const int begin = rules.timestamp_begin;
    logits[rules.no_timestamps] = NEVER;
    if (n == 0) {
        forbid(logits, 0, begin);
        if (rules.max_initial_timestamp >= 0)
            forbid(logits, std::min(n_vocab, begin + rules.max_initial_timestamp + 1), n_vocab);
        return;
    }
    const bool last_is_time = sampled[n - 1] >= begin;
    const bool before_is_time = n < 2 || sampled[n - 2] >= begin;
    if (last_is_time) {
        if (before_is_time)
            forbid(logits, begin, n_vocab);  // a pair is complete: text comes
        else
            forbid(logits, 0, rules.eot);  // a segment was closed: the next time, or the end
    }
    for (int i = n - 1; i >= 0; i--) {  // times do not go back, and no segment is empty
        if (sampled[i] < begin) continue;
        forbid(logits, begin, std::min(n_vocab, last_is_time && !before_is_time ? sampled[i] : sampled[i] + 1));
        break;
    }
    // If all times together are likelier than the likeliest text, it is a time.
    float top_time = NEVER, top_text = NEVER;
    for (int i = begin; i < n_vocab; i++) top_time = std::max(top_time, logits[i]);
    for (int i = 0; i < begin; i++) top_text = std::max(top_text, logits[i]);
    if (top_time == NEVER) return;
    double sum = 0;
    for (int i = begin; i < n_vocab; i++) sum += std::exp(double(logits[i]) - top_time);
    if (top_time + std::log(sum) > top_text) forbid(logits, 0, begin);
}

}  // namespace

void filter(const sayso_rules& rules, const int32_t* sampled, int n_sampled, float* logits, int n_vocab, int padded) {
    forbid(logits, n_vocab, padded);
    const auto forbid_all = [&](const int32_t* ids, int n) {
        for (int i = 0; i < n; i++)
            if (ids[i] >= 0 && ids[i] < n_vocab) logits[ids[i]] = NEVER;
    };
    if (n_sampled == 0) forbid_all(rules.suppress_first, rules.n_suppress_first);
    forbid_all(rules.suppress, rules.n_suppress);
    if (rules.timestamps) {
        timestamp_grammar(rules, sampled, n_sampled, logits, n_vocab);
    } else {  // OpenAI trusts the notimestamps token here; a quantized model may still emit a time
        logits[rules.no_timestamps] = NEVER;
        forbid(logits, rules.timestamp_begin, n_vocab);
    }
}

sayso_choice choose(const Kernels& kernels, const float* logits, int n_vocab, int padded, float temperature,
                    uint64_t random) {
    const float top = kernels.max(logits, padded);
    int token = int(std::find(logits, logits + n_vocab, top) - logits);
    if (token == n_vocab) token = 0;
    if (temperature > 0) {
        const auto weight = [&](int i) { return std::exp(double(logits[i] - top) / temperature); };
        const float floor = top - 25 * temperature;  // e^-25 of the likeliest: never drawn
        double sum = 0;
        for (int i = 0; i < n_vocab; i++)
            if (logits[i] > floor) sum += weight(i);
        double left = double(random >> 11) * (1.0 / 9007199254740992.0) * sum;
        for (int i = 0; i < n_vocab; i++) {
            if (!(logits[i] > floor)) continue;
            token = i;
            left -= weight(i);
            if (left < 0) break;
        }
    }
    return {token, logits[token] - top - std::log(kernels.sum_exp(logits, padded, top))};
}

}  // namespace sayso
