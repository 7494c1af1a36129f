// Small things that every instruction set's file needs before it includes kernels.inl. No external linkage here.
#pragma once

#if defined(_MSC_VER) && !defined(__clang__)
#define UNROLL
#define NOINLINE __declspec(noinline)
#include <cmath>
#define __builtin_sqrtf sqrtf
#else
#ifdef SAYSO_KEEP_LOOPS
#define UNROLL
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif
#define NOINLINE __attribute__((noinline))
#endif

#include "kernels.h"

namespace {
template <int N>
struct Count {
    static constexpr int value = N;
};
}  // namespace
