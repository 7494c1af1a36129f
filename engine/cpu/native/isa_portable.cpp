// Plain C++ for every other processor: 16 lanes are an array, and the compiler makes of it what it can.
#include "lanes.h"

#include <cstring>

namespace sayso {
namespace {

constexpr int TILE_ROWS = 2, TILE_PANELS = 1;
constexpr int WEIGHT_OFFSET = 0;
constexpr float P_MAX = 255.0f;
constexpr int PREFETCH_BYTES = 0;

struct f32x16 {
    float v[16];
};
struct i32x16 {
    int32_t v[16];
};
struct Weights {
    int8_t v[64];
};
using Values = Weights;
struct Bytes4 {
    int8_t v[4];
};
struct UBytes4 {
    uint8_t v[4];
};

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
    return each<i32x16>([&](int) { return x; });
}
inline i32x16 round_to_int(const f32x16& a) {
    return each<i32x16>([&](int i) { return int32_t(nearest(a.v[i])); });
}
inline f32x16 to_float(const i32x16& a) {
    return each<f32x16>([&](int i) { return float(a.v[i]); });
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
    int32_t s = 0;
    for (int32_t x : a.v) s += x;
    return s;
}
inline void store_i8(int8_t* p, const i32x16& a) {
    for (int i = 0; i < 16; i++) p[i] = int8_t(a.v[i]);
}
inline void store_u8(uint8_t* p, const i32x16& a) {
    for (int i = 0; i < 16; i++) p[i] = uint8_t(a.v[i]);
}

inline void prefetch(const uint8_t*) {}
inline Weights load_weights(const uint8_t* p) {
    Weights w;
    std::memcpy(w.v, p, 64);
    return w;
}
inline Values load_values(const int8_t* p) {
    Values w;
    std::memcpy(w.v, p, 64);
    return w;
}
inline void load_nibbles(const uint8_t* p, Weights& low, Weights& high) {
    for (int i = 0; i < 64; i++) {
        low.v[i] = int8_t(p[i] & 15);
        high.v[i] = int8_t(p[i] >> 4);
    }
}
inline Bytes4 broadcast4(const int8_t* p) { return {{p[0], p[1], p[2], p[3]}}; }
inline UBytes4 broadcast4u(const uint8_t* p) { return {{p[0], p[1], p[2], p[3]}}; }
template <typename B>
inline i32x16 dot_bytes(const i32x16& acc, const Weights& w, const B& a) {
    return each<i32x16>([&](int i) {
        return acc.v[i] + w.v[4 * i] * a.v[0] + w.v[4 * i + 1] * a.v[1] + w.v[4 * i + 2] * a.v[2] + w.v[4 * i + 3] * a.v[3];
    });
}
inline i32x16 dot(const i32x16& acc, const Weights& w, const Bytes4& a) { return dot_bytes(acc, w, a); }
inline i32x16 dot_values(const i32x16& acc, const Values& v, const UBytes4& p) { return dot_bytes(acc, v, p); }

}  // namespace
}  // namespace sayso

#include "kernels.inl"

namespace sayso {
const Kernels* portable_kernels() {
    static constexpr Kernels table = make_kernels("portable");
    return &table;
}
}  // namespace sayso
