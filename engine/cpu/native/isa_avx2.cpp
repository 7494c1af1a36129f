// AVX2 with FMA and F16C (Haswell, Zen 1 and later). vpmaddubsw would saturate on 8-bit operands, so bytes are widened
// to 16 bits: even and odd bytes of a lane apart, each pair multiplied and added exactly by vpmaddwd.
#include "lanes.h"

#if defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#include "lanes_avx2.h"

namespace sayso {
namespace {

constexpr int TILE_ROWS = 2, TILE_PANELS = 1;
struct Pairs {  // bytes 0 and 2 of each lane, bytes 1 and 3
    __m256i even, odd;
};
struct Weights {
    Pairs a, b;
};
using Values = Weights;
using Bytes4 = Pairs;
using UBytes4 = Pairs;

inline Pairs widen_unsigned(__m256i v) { return {_mm256_and_si256(v, _mm256_set1_epi16(255)), _mm256_srli_epi16(v, 8)}; }
inline Pairs widen_signed(__m256i v) {
    return {_mm256_srai_epi16(_mm256_slli_epi16(v, 8), 8), _mm256_srai_epi16(v, 8)};
}
inline Weights load_weights(const uint8_t* p) {
    const i32x16 v = load_bytes(p);
    return {widen_unsigned(v.a), widen_unsigned(v.b)};
}
inline Values load_values(const int8_t* p) {
    const i32x16 v = load_bytes(p);
    return {widen_signed(v.a), widen_signed(v.b)};
}
inline void load_nibbles(const uint8_t* p, Weights& low, Weights& high) {
    const i32x16 v = load_bytes(p);
    const __m256i mask = _mm256_set1_epi8(15);
    low = {widen_unsigned(_mm256_and_si256(v.a, mask)), widen_unsigned(_mm256_and_si256(v.b, mask))};
    high = {widen_unsigned(_mm256_and_si256(_mm256_srli_epi16(v.a, 4), mask)),
            widen_unsigned(_mm256_and_si256(_mm256_srli_epi16(v.b, 4), mask))};
}
inline Bytes4 broadcast4(const int8_t* p) { return widen_signed(_mm256_set1_epi32(load_int(p))); }
inline UBytes4 broadcast4u(const uint8_t* p) { return widen_unsigned(_mm256_set1_epi32(load_int(p))); }
inline __m256i dot_pairs(__m256i acc, Pairs x, Pairs y) {
    return _mm256_add_epi32(acc, _mm256_add_epi32(_mm256_madd_epi16(x.even, y.even), _mm256_madd_epi16(x.odd, y.odd)));
}
inline i32x16 dot(i32x16 acc, const Weights& w, Bytes4 a) { return {dot_pairs(acc.a, w.a, a), dot_pairs(acc.b, w.b, a)}; }
inline i32x16 dot_values(i32x16 acc, const Values& v, UBytes4 p) { return dot(acc, v, p); }

}  // namespace
}  // namespace sayso

#include "kernels.inl"

namespace sayso {
const Kernels* avx2_kernels() {
    static constexpr Kernels table = make_kernels("avx2");
    return &table;
}
}  // namespace sayso
#else
namespace sayso {
const Kernels* avx2_kernels() { return nullptr; }
}  // namespace sayso
#endif
