// AVX2 with AVX-VNNI (Alder Lake and later, Zen 5): vpdpbusd on 32 bytes.
#include "lanes.h"

#if defined(__AVXVNNI__) && defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#include "lanes_avx2.h"

namespace sayso {
namespace {

constexpr int TILE_ROWS = 3, TILE_PANELS = 1;
using Weights = i32x16;
using Values = i32x16;
using Bytes4 = __m256i;
using UBytes4 = __m256i;

inline Weights load_weights(const uint8_t* p) { return load_bytes(p); }
inline Values load_values(const int8_t* p) { return load_bytes(p); }
inline void load_nibbles(const uint8_t* p, Weights& low, Weights& high) {
    const i32x16 v = load_bytes(p);
    const __m256i mask = _mm256_set1_epi8(15);
    low = {_mm256_and_si256(v.a, mask), _mm256_and_si256(v.b, mask)};
    high = {_mm256_and_si256(_mm256_srli_epi16(v.a, 4), mask), _mm256_and_si256(_mm256_srli_epi16(v.b, 4), mask)};
}
inline Bytes4 broadcast4(const int8_t* p) { return _mm256_set1_epi32(load_int(p)); }
inline UBytes4 broadcast4u(const uint8_t* p) { return _mm256_set1_epi32(load_int(p)); }
inline i32x16 dot(i32x16 acc, Weights w, Bytes4 a) {
    return {_mm256_dpbusd_avx_epi32(acc.a, w.a, a), _mm256_dpbusd_avx_epi32(acc.b, w.b, a)};
}
inline i32x16 dot_values(i32x16 acc, Values v, UBytes4 p) {
    return {_mm256_dpbusd_avx_epi32(acc.a, p, v.a), _mm256_dpbusd_avx_epi32(acc.b, p, v.b)};
}

}  // namespace
}  // namespace sayso

#include "kernels.inl"

namespace sayso {
const Kernels* avxvnni_kernels() {
    static constexpr Kernels table = make_kernels("avxvnni");
    return &table;
}
}  // namespace sayso
#else
namespace sayso {
const Kernels* avxvnni_kernels() { return nullptr; }
}  // namespace sayso
#endif
