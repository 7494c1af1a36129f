// AVX-512 with VNNI (Ice Lake, Zen 4 and later): one register is 16 lanes, vpdpbusd multiplies 64 bytes at once.
#include "lanes.h"

#if defined(__AVX512VNNI__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#include "lanes_avx512.h"
#include "kernels.inl"

namespace sayso {
const Kernels* avx512_kernels() {
    static constexpr Kernels table = make_kernels("avx512");
    return &table;
}
}  // namespace sayso
#else
namespace sayso {
const Kernels* avx512_kernels() { return nullptr; }
}  // namespace sayso
#endif
