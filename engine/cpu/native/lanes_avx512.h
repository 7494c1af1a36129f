// The 16-lane type on AVX-512 VNNI. Shared by isa_avx512.cpp and isa_amx.cpp.
#pragma once

#include <immintrin.h>
#include <cstring>

namespace sayso {
namespace {

constexpr int TILE_ROWS = 6, TILE_PANELS = 2;  // 12 int32 + 12 float accumulators of the 32 registers
constexpr int WEIGHT_OFFSET = 128;
constexpr float P_MAX = 255.0f;
constexpr int PREFETCH_BYTES = 2048;

using f32x16 = __m512;
using i32x16 = __m512i;
using Weights = __m512i;
using Values = __m512i;
using Bytes4 = __m512i;
using UBytes4 = __m512i;

inline f32x16 set1(float x) { return _mm512_set1_ps(x); }
inline f32x16 load(const float* p) { return _mm512_loadu_ps(p); }
inline void store(float* p, f32x16 v) { _mm512_storeu_ps(p, v); }
inline f32x16 load_f16(const uint16_t* p) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
inline f32x16 add(f32x16 a, f32x16 b) { return _mm512_add_ps(a, b); }
inline f32x16 sub(f32x16 a, f32x16 b) { return _mm512_sub_ps(a, b); }
inline f32x16 mul(f32x16 a, f32x16 b) { return _mm512_mul_ps(a, b); }
inline f32x16 div(f32x16 a, f32x16 b) { return _mm512_div_ps(a, b); }
inline f32x16 fma(f32x16 a, f32x16 b, f32x16 c) { return _mm512_fmadd_ps(a, b, c); }
inline f32x16 max(f32x16 a, f32x16 b) { return _mm512_max_ps(a, b); }
inline f32x16 abs(f32x16 a) { return _mm512_abs_ps(a); }
inline f32x16 round(f32x16 a) { return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
inline float reduce_add(f32x16 a) { return _mm512_reduce_add_ps(a); }
inline float reduce_max(f32x16 a) { return _mm512_reduce_max_ps(a); }

inline i32x16 set1_int(int32_t x) { return _mm512_set1_epi32(x); }
inline i32x16 round_to_int(f32x16 a) { return _mm512_cvtps_epi32(a); }
inline f32x16 to_float(i32x16 a) { return _mm512_cvtepi32_ps(a); }
inline f32x16 exp2_int(f32x16 n) { return _mm512_scalef_ps(_mm512_set1_ps(1.0f), n); }
inline int32_t reduce_add_int(i32x16 a) { return _mm512_reduce_add_epi32(a); }
inline void store_i8(int8_t* p, i32x16 a) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtepi32_epi8(a));
}
inline void store_u8(uint8_t* p, i32x16 a) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtepi32_epi8(a));
}

inline void prefetch(const uint8_t* p) { _mm_prefetch(reinterpret_cast<const char*>(p), _MM_HINT_T0); }
inline Weights load_weights(const uint8_t* p) { return _mm512_loadu_si512(p); }
inline Values load_values(const int8_t* p) { return _mm512_loadu_si512(p); }
inline void load_nibbles(const uint8_t* p, Weights& low, Weights& high) {
    const __m512i v = _mm512_loadu_si512(p), mask = _mm512_set1_epi8(15);
    low = _mm512_and_si512(v, mask);
    high = _mm512_and_si512(_mm512_srli_epi16(v, 4), mask);
}
inline Bytes4 broadcast4(const int8_t* p) {
    int32_t x;
    std::memcpy(&x, p, 4);
    return _mm512_set1_epi32(x);
}
inline UBytes4 broadcast4u(const uint8_t* p) {
    int32_t x;
    std::memcpy(&x, p, 4);
    return _mm512_set1_epi32(x);
}
inline i32x16 dot(i32x16 acc, Weights w, Bytes4 a) { return _mm512_dpbusd_epi32(acc, w, a); }
inline i32x16 dot_values(i32x16 acc, Values v, UBytes4 p) { return _mm512_dpbusd_epi32(acc, p, v); }

}  // namespace
}  // namespace sayso
