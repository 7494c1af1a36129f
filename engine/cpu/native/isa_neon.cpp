// NEON with the dot product extension (ARMv8.2: Cortex-A76, Neoverse N1, Apple M1 and later): four registers of 4 lanes,
// signed products, so that weights need no offset.
#include "lanes.h"

#if defined(__ARM_FEATURE_DOTPROD) && defined(__aarch64__)
#include <arm_neon.h>

namespace sayso {
namespace {

constexpr int TILE_ROWS = 2, TILE_PANELS = 1;
constexpr int WEIGHT_OFFSET = 0;
constexpr float P_MAX = 127.0f;
constexpr int PREFETCH_BYTES = 1024;

struct f32x16 {
    float32x4_t v[4];
};
struct i32x16 {
    int32x4_t v[4];
};
struct Weights {
    int8x16_t v[4];
};
using Values = Weights;
using Bytes4 = int8x16_t;
using UBytes4 = int8x16_t;

template <typename T, typename F>
inline T each(F f) {
    T out;
    UNROLL for (int i = 0; i < 4; i++) out.v[i] = f(i);
    return out;
}

inline f32x16 set1(float x) {
    return each<f32x16>([&](int) { return vdupq_n_f32(x); });
}
inline f32x16 load(const float* p) {
    return each<f32x16>([&](int i) { return vld1q_f32(p + 4 * i); });
}
inline void store(float* p, const f32x16& a) {
    UNROLL for (int i = 0; i < 4; i++) vst1q_f32(p + 4 * i, a.v[i]);
}
inline f32x16 load_f16(const uint16_t* p) {
    return each<f32x16>([&](int i) { return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p + 4 * i))); });
}
inline f32x16 add(const f32x16& a, const f32x16& b) {
    return each<f32x16>([&](int i) { return vaddq_f32(a.v[i], b.v[i]); });
}
inline f32x16 sub(const f32x16& a, const f32x16& b) {
    return each<f32x16>([&](int i) { return vsubq_f32(a.v[i], b.v[i]); });
}
inline f32x16 mul(const f32x16& a, const f32x16& b) {
    return each<f32x16>([&](int i) { return vmulq_f32(a.v[i], b.v[i]); });
}
inline f32x16 div(const f32x16& a, const f32x16& b) {
    return each<f32x16>([&](int i) { return vdivq_f32(a.v[i], b.v[i]); });
}
inline f32x16 fma(const f32x16& a, const f32x16& b, const f32x16& c) {
    return each<f32x16>([&](int i) { return vfmaq_f32(c.v[i], a.v[i], b.v[i]); });
}
inline f32x16 max(const f32x16& a, const f32x16& b) {
    return each<f32x16>([&](int i) { return vmaxq_f32(a.v[i], b.v[i]); });
}
inline f32x16 abs(const f32x16& a) {
    return each<f32x16>([&](int i) { return vabsq_f32(a.v[i]); });
}
inline f32x16 round(const f32x16& a) {
    return each<f32x16>([&](int i) { return vrndnq_f32(a.v[i]); });
}
inline float reduce_add(const f32x16& a) {
    return vaddvq_f32(vaddq_f32(vaddq_f32(a.v[0], a.v[1]), vaddq_f32(a.v[2], a.v[3])));
}
inline float reduce_max(const f32x16& a) {
    return vmaxvq_f32(vmaxq_f32(vmaxq_f32(a.v[0], a.v[1]), vmaxq_f32(a.v[2], a.v[3])));
}

inline i32x16 set1_int(int32_t x) {
    return each<i32x16>([&](int) { return vdupq_n_s32(x); });
}
inline i32x16 round_to_int(const f32x16& a) {
    return each<i32x16>([&](int i) { return vcvtnq_s32_f32(a.v[i]); });
}
inline f32x16 to_float(const i32x16& a) {
    return each<f32x16>([&](int i) { return vcvtq_f32_s32(a.v[i]); });
}
inline f32x16 exp2_int(const f32x16& n) {  // builds the exponent field
    return each<f32x16>([&](int i) {
        return vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(vcvtnq_s32_f32(n.v[i]), vdupq_n_s32(127)), 23));
    });
}
inline int32_t reduce_add_int(const i32x16& a) {
    return vaddvq_s32(vaddq_s32(vaddq_s32(a.v[0], a.v[1]), vaddq_s32(a.v[2], a.v[3])));
}
inline void store_i8(int8_t* p, const i32x16& a) {
    const int16x8_t low = vcombine_s16(vmovn_s32(a.v[0]), vmovn_s32(a.v[1]));
    const int16x8_t high = vcombine_s16(vmovn_s32(a.v[2]), vmovn_s32(a.v[3]));
    vst1q_s8(p, vcombine_s8(vmovn_s16(low), vmovn_s16(high)));
}
inline void store_u8(uint8_t* p, const i32x16& a) { store_i8(reinterpret_cast<int8_t*>(p), a); }

inline void prefetch(const uint8_t* p) { __builtin_prefetch(p); }
inline Weights load_values(const int8_t* p) {
    return each<Weights>([&](int i) { return vld1q_s8(p + 16 * i); });
}
inline Weights load_weights(const uint8_t* p) { return load_values(reinterpret_cast<const int8_t*>(p)); }
inline void load_nibbles(const uint8_t* p, Weights& low, Weights& high) {
    UNROLL for (int i = 0; i < 4; i++) {
        const uint8x16_t v = vld1q_u8(p + 16 * i);
        low.v[i] = vreinterpretq_s8_u8(vandq_u8(v, vdupq_n_u8(15)));
        high.v[i] = vreinterpretq_s8_u8(vshrq_n_u8(v, 4));
    }
}
inline Bytes4 broadcast4(const int8_t* p) {
    int32_t x;
    __builtin_memcpy(&x, p, 4);
    return vreinterpretq_s8_s32(vdupq_n_s32(x));
}
inline UBytes4 broadcast4u(const uint8_t* p) { return broadcast4(reinterpret_cast<const int8_t*>(p)); }
inline i32x16 dot(const i32x16& acc, const Weights& w, Bytes4 a) {
    return each<i32x16>([&](int i) { return vdotq_s32(acc.v[i], w.v[i], a); });
}
inline i32x16 dot_values(const i32x16& acc, const Values& v, UBytes4 p) { return dot(acc, v, p); }

}  // namespace
}  // namespace sayso

#include "kernels.inl"

namespace sayso {
const Kernels* neon_kernels() {
    static constexpr Kernels table = make_kernels("neon");
    return &table;
}
}  // namespace sayso
#else
namespace sayso {
const Kernels* neon_kernels() { return nullptr; }
}  // namespace sayso
#endif
