// Chooses an instruction set by what processor and operating system offer. Compiled for the oldest processor.
#include <cstring>

#include "kernels.h"

#if defined(__x86_64__) || defined(_M_X64)
#define SAYSO_X86 1
#if defined(_MSC_VER)
#include <immintrin.h>
#include <intrin.h>
#else
#include <cpuid.h>
#endif
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif
#if defined(__linux__) && defined(SAYSO_X86)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace sayso {
namespace {

struct Processor {
    bool avx2 = false, avxvnni = false, avx512 = false, amx = false, neon_dot = false;
};

#ifdef SAYSO_X86
struct Registers {
    unsigned a, b, c, d;
};

Registers cpuid(unsigned leaf, unsigned sub) {
    Registers r{};
#if defined(_MSC_VER)
    int out[4];
    __cpuidex(out, int(leaf), int(sub));
    r = {unsigned(out[0]), unsigned(out[1]), unsigned(out[2]), unsigned(out[3])};
#else
    __cpuid_count(leaf, sub, r.a, r.b, r.c, r.d);
#endif
    return r;
}

unsigned long long enabled_states() {  // XCR0: which registers the operating system saves
#if defined(_MSC_VER)
    return _xgetbv(0);
#else
    unsigned low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (static_cast<unsigned long long>(high) << 32) | low;
#endif
}

bool bit(unsigned value, int index) { return (value >> index) & 1; }

bool amx_permitted() {  // Linux hands out the 8 KB of tile state on request only
#if defined(__linux__)
    constexpr int ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18;
    return syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0;
#else
    return false;
#endif
}

Processor detect() {
    Processor p;
    const unsigned highest = cpuid(0, 0).a;
    const Registers one = cpuid(1, 0);
    if (highest < 7 || !bit(one.c, 27)) return p;  // no OSXSAVE
    const unsigned long long states = enabled_states();
    const Registers seven = cpuid(7, 0);
    const Registers more = seven.a >= 1 ? cpuid(7, 1) : Registers{};
    const bool ymm = (states & 0x6) == 0x6, zmm = (states & 0xe6) == 0xe6, tiles = (states & 0x60000) == 0x60000;
    p.avx2 = ymm && bit(one.c, 28) && bit(one.c, 12) && bit(one.c, 29) && bit(seven.b, 5);  // AVX, FMA, F16C, AVX2
    p.avxvnni = p.avx2 && bit(more.a, 4);
    p.avx512 = p.avx2 && zmm && bit(seven.b, 16) && bit(seven.b, 17) && bit(seven.b, 30) && bit(seven.b, 31) &&
               bit(seven.c, 11);  // F, DQ, BW, VL, VNNI
    p.amx = p.avx512 && tiles && bit(seven.d, 24) && bit(seven.d, 25) && amx_permitted();  // TILE, INT8
    return p;
}
#elif defined(__aarch64__)
Processor detect() {
    Processor p;
#if defined(__APPLE__)
    p.neon_dot = true;  // every Apple silicon Mac
#elif defined(__linux__)
    p.neon_dot = getauxval(AT_HWCAP) & (1UL << 20);  // HWCAP_ASIMDDP
#endif
    return p;
}
#else
Processor detect() { return {}; }
#endif

struct Candidate {
    const Kernels* kernels;
    bool runs;
};

constexpr int N_CANDIDATES = 6;

const Candidate* candidates() {  // best first
    static const Processor p = detect();
    static const Candidate list[N_CANDIDATES] = {
        {amx_kernels(), p.amx},   {avx512_kernels(), p.avx512},  {avxvnni_kernels(), p.avxvnni},
        {avx2_kernels(), p.avx2}, {neon_kernels(), p.neon_dot}, {portable_kernels(), true},
    };
    return list;
}

}  // namespace

const Kernels* best_kernels() {
    for (int i = 0; i < N_CANDIDATES; i++)
        if (candidates()[i].kernels && candidates()[i].runs) return candidates()[i].kernels;
    return nullptr;
}

const Kernels* find_kernels(const char* name) {
    for (int i = 0; i < N_CANDIDATES; i++) {
        const Candidate& c = candidates()[i];
        if (c.kernels && c.runs && std::strcmp(c.kernels->name, name) == 0) return c.kernels;
    }
    return nullptr;
}

const char* runnable_kernels() {
    static char names[80];
    if (!names[0])
        for (int i = 0; i < N_CANDIDATES; i++) {
            const Candidate& c = candidates()[i];
            if (!c.kernels || !c.runs) continue;
            if (names[0]) std::strcat(names, " ");
            std::strcat(names, c.kernels->name);
        }
    return names;
}

}  // namespace sayso
