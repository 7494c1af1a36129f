// Plain C++ for every other processor: 16 lanes are an array, and the compiler makes of it what it can.
//
// Integer sums are held in floats, whose multiplication old processors have in vectors. They stay exact: no sum of a
// block reaches 2^24.
#define SAYSO_KEEP_LOOPS
#include "lanes.h"

#include <cstring>

namespace sayso {
namespace {

constexpr int TILE_ROWS = 4, TILE_PANELS = 1;
constexpr int WEIGHT_OFFSET = 0;
constexpr float P_MAX = 255.0f;
constexpr int PREFETCH_BYTES = 0;

struct f32x16 {
    float v[16];
};
struct i32x16 {  // whole numbers
    float v[16];
};
struct Weights {  // byte k of each lane
    float k[4][16];
};
using Values = Weights;
struct Bytes4 {
    float v[4];
};
using UBytes4 = Bytes4;

template <typename T, typename F>
inline T each(F f) {
    T out;
    for (int i = 0; i < 16; i++) out.v[i] = f(i);
    return out;
}

inline float half_to_float(uint16_t h) {
    const uint32_t sign = uint32_t(h & 0x8000) << 16, exponent = (h >> 10) & 31, mantissa = h & 1023;
    uint32_t bits;
    if (exponent == 0) {  // zero or subnormal
        const float f = float(mantissa) * (1.0f / 16777216.0f);
        return sign ? -f : f;
    }
    bits = sign | (exponent == 31 ? 0x7f800000 : (exponent + 112) << 23) | (mantissa << 13);
    float f;
    std::memcpy(&f, &bits, 4);
    return f;
}

inline f32x16 set1(float x) {
    return each<f32x16>([&](int) { return x; });
}
inline f32x16 load(const float* p) {
    return each<f32x16>([&](int i) { return p[i]; });
}
inline void store(float* p, const f32x16& a) { std::memcpy(p, a.v, 64); }
inline f32x16 load_f16(const uint16_t* p) {
    return each<f32x16>([&](int i) { return half_to_float(p[i]); });
}
inline f32x16 add(const f32x16& a, const f32x16& b) {
    return each<f32x16>([&](int i) { return a.v[i] + b.v[i]; });
}
inline f32x16 sub(const f32x16& a, const f32x16& b) {
    return each<f32x16>([&](int i) { return a.v[i] - b.v[i]; });
}
inline f32x16 mul(const f32x16& a, const f32x16& b) {
    return each<f32x16>([&](int i) { return a.v[i] * b.v[i]; });
}
inline f32x16 div(const f32x16& a, const f32x16& b) {
    return each<f32x16>([&](int i) { return a.v[i] / b.v[i]; });
}
inline f32x16 fma(const f32x16& a, const f32x16& b, const f32x16& c) {
    return each<f32x16>([&](int i) { return a.v[i] * b.v[i] + c.v[i]; });
}
inline f32x16 max(const f32x16& a, const f32x16& b) {
    return each<f32x16>([&](int i) { return a.v[i] > b.v[i] ? a.v[i] : b.v[i]; });
}
inline f32x16 abs(const f32x16& a) {
    return each<f32x16>([&](int i) { return a.v[i] < 0 ? -a.v[i] : a.v[i]; });
}
// Nearest, ties to even, for |x| < 2^22: adding and subtracting 1.5 * 2^23 rounds in the default mode.
inline float nearest(float x) {
    const float t = x + 12582912.0f;
    return t - 12582912.0f;
}
inline f32x16 round(const f32x16& a) {
    return each<f32x16>([&](int i) { return nearest(a.v[i]); });
}
inline float reduce_add(const f32x16& a) {
    float s = 0;
    for (float x : a.v) s += x;
    return s;
}
inline float reduce_max(const f32x16& a) {
    float s = a.v[0];
    for (float x : a.v) s = x > s ? x : s;
    return s;
}

inline i32x16 set1_int(int32_t x) {
    return each<i32x16>([&](int) { return float(x); });
}
inline i32x16 round_to_int(const f32x16& a) {
    return each<i32x16>([&](int i) { return nearest(a.v[i]); });
}
inline f32x16 to_float(const i32x16& a) {
    return each<f32x16>([&](int i) { return a.v[i]; });
}
inline f32x16 exp2_int(const f32x16& n) {  // builds the exponent field
    return each<f32x16>([&](int i) {
        const int32_t bits = (int32_t(n.v[i]) + 127) * (1 << 23);
        float f;
        std::memcpy(&f, &bits, 4);
        return f;
    });
}
inline int32_t reduce_add_int(const i32x16& a) {
    float s = 0;
    for (float x : a.v) s += x;
    return int32_t(s);
}
inline void store_i8(int8_t* p, const i32x16& a) {
    for (int i = 0; i < 16; i++) p[i] = int8_t(a.v[i]);
}
inline void store_u8(uint8_t* p, const i32x16& a) {
    for (int i = 0; i < 16; i++) p[i] = uint8_t(a.v[i]);
}

inline void prefetch(const uint8_t*) {}
inline Values load_values(const int8_t* p) {
    Values w;
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < 16; i++) w.k[k][i] = float(p[4 * i + k]);
    return w;
}
inline Weights load_weights(const uint8_t* p) { return load_values(reinterpret_cast<const int8_t*>(p)); }
inline void load_nibbles(const uint8_t* p, Weights& low, Weights& high) {
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < 16; i++) {
            low.k[k][i] = float(p[4 * i + k] & 15);
            high.k[k][i] = float(p[4 * i + k] >> 4);
        }
}
inline Bytes4 broadcast4(const int8_t* p) { return {{float(p[0]), float(p[1]), float(p[2]), float(p[3])}}; }
inline UBytes4 broadcast4u(const uint8_t* p) { return {{float(p[0]), float(p[1]), float(p[2]), float(p[3])}}; }
inline i32x16 dot(const i32x16& acc, const Weights& w, const Bytes4& a) {
    return each<i32x16>([&](int i) {
        return acc.v[i] + w.k[0][i] * a.v[0] + w.k[1][i] * a.v[1] + w.k[2][i] * a.v[2] + w.k[3][i] * a.v[3];
    });
}
inline i32x16 dot_values(const i32x16& acc, const Values& v, const UBytes4& p) { return dot(acc, v, p); }

}  // namespace
}  // namespace sayso

#include "kernels.inl"

namespace sayso {
const Kernels* portable_kernels() {
    static constexpr Kernels table = make_kernels("portable");
    return &table;
}
}  // namespace sayso
