// Which token comes next: filters over one row of logits, then the likeliest or a drawn one.
#pragma once

#include "kernels.h"
#include "sayso_cpu.h"

namespace sayso {

// Sets what `rules` forbid to minus infinity. logits: n_vocab values. sampled: the tokens chosen so far.
void filter(const sayso_rules& rules, const int32_t* sampled, int n_sampled, float* logits, int n_vocab, int padded);

// temperature 0: the likeliest; else drawn with `random`. The log-probability is that at temperature 1.
sayso_choice choose(const Kernels& kernels, const float* logits, int n_vocab, int padded, float temperature,
                    uint64_t random);

}  // namespace sayso
