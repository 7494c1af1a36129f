"""The dialect kernel bodies are written in, and what maps it to Metal, CUDA and plain C++.

A body is the inside of a kernel function in the C++ that all three understand, with these words for what differs:

    TID, GROUP                  thread in its group, group in the grid
    LANE, SIMD                  thread in its SIMD group of 32, SIMD group in its thread group
    SHARED(type, name, n)       array of the thread group
    BARRIER                     all threads of the group
    SIMD_SUM(x), SIMD_MAX(x)    over the 32 lanes
    SIMD_XOR(x, mask)           x of lane ^ mask
    DEVICE                      address space of buffers, in pointer types
    half_t, uint                16-bit float, 32-bit unsigned
    LOAD16(p), LOAD8(p)         uint4, uint2 from a buffer aligned to 16 or 8 bytes
    LOADS(p)                    float4 from a shared array, aligned to 16 bytes
    HALVES(u)                   float2 of the two halves packed in a uint
    AT(k)                       where element k of a shared vector lies, so that lanes reading 8, 16 or 32 elements each
                                don't meet in a memory bank; four elements from a multiple of 4 stay together
    LOW_BYTES(u), HIGH_BYTES(u) float2 of 1024 + each of the two lowest or highest bytes of a uint
    RAISED(u)                   2 ** 23 + u as a float, u below 2 ** 23
    UNROLL                      before a loop of a few iterations, known when compiling

Inputs are `const DEVICE type*`. Whisper's slabs are inputs that are written to, through a cast: MLX sees no copy of
them and no new array, and the order is kept by the kernel's own outputs, which every reader of the rows takes too.
Arrays of fewer than 8 elements lie in another address space on Metal, so there are none among the inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

import mlx.core as mx

SIMD_WIDTH = 32
Shape = tuple[int, ...]


@dataclass(frozen=True)
class Kernel:
    """A kernel whose sizes are compile-time constants. `name` says everything that `body` depends on."""

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    body: str
    threads: int
    constants: dict[str, int] = field(default_factory=dict)

    def packed(self, sections: dict[str, tuple[str, int]]) -> Kernel:
        """The kernel with one input, `pack`, in place of several: C type and byte offset of each (see `Pack`)."""
        used = [name for name in self.inputs if name in sections]
        inputs = tuple("pack" if name == used[0] else name for name in self.inputs if name not in used[1:])
        offsets = {f"{name.upper()}_AT": sections[name][1] for name in used}
        pointers = ""
        for name in used:
            pointer = f"const DEVICE {sections[name][0]}*"
            pointers += f"    {pointer} {name} = ({pointer})(pack + {name.upper()}_AT);\n"
        return replace(self, inputs=inputs, body=pointers + self.body, constants={**self.constants, **offsets})

    def on(self, device: str) -> Launch:
        """The kernel as a function on MLX arrays, on "metal" or "cuda"."""
        made: object
        if device == "metal":
            made = mx.fast.metal_kernel(
                self.name,
                self.inputs,
                self.outputs,
                source=_METAL_OPENING + self.body,
                header=_METAL_HEADER,
            )
        else:
            made = mx.fast.cuda_kernel(
                self.name,
                self.inputs,
                self.outputs,
                source=_CUDA_OPENING + self.body,
                header=_CUDA_HEADER,
            )
        return Launch(self, cast("Callable[..., list[mx.array]]", made))

    def cpp(self, types: dict[str, str]) -> str:
        """A C++ program text for tests: `launch(groups, inputs, outputs)` runs all threads, one after the other.

        types: C++ type of each input and output. `launch` returns 0, or 1 where threads wait for each other forever.
        """
        constants = "".join(f"constexpr int {name} = {value};\n" for name, value in self.constants.items())
        pointers = "".join(
            f"    auto {name} = (const {types[name]}*)g_inputs[{i}];\n" for i, name in enumerate(self.inputs)
        ) + "".join(f"    auto {name} = ({types[name]}*)g_outputs[{i}];\n" for i, name in enumerate(self.outputs))
        return f"{_CPP_HEADER}{constants}\nvoid kernel_body() {{\n{pointers}{_CPP_OPENING}{self.body}\n}}\n" + (
            _CPP_LAUNCH.replace("N_THREADS", str(self.threads))
        )


@dataclass(frozen=True)
class Launch:
    kernel: Kernel
    function: Callable[..., list[mx.array]]

    def __call__(
        self, inputs: Sequence[mx.array], groups: int, shapes: Sequence[Shape], dtypes: Sequence[mx.Dtype]
    ) -> list[mx.array]:
        """Outputs of `groups` thread groups, lazily."""
        return self.function(
            inputs=list(inputs),
            template=list(self.kernel.constants.items()),
            grid=(groups * self.kernel.threads, 1, 1),
            threadgroup=(self.kernel.threads, 1, 1),
            output_shapes=list(shapes),
            output_dtypes=list(dtypes),
        )


_SHARED_HEADER = """
#define AT(k) ((k) ^ (((k) >> 3) & 28))
"""
_METAL_HEADER = (
    _SHARED_HEADER
    + """
#define SHARED(type, name, n) threadgroup type name[n]
#define BARRIER threadgroup_barrier(mem_flags::mem_threadgroup)
#define SIMD_SUM(x) simd_sum(x)
#define SIMD_MAX(x) simd_max(x)
#define SIMD_XOR(x, mask) simd_shuffle_xor(x, mask)
#define DEVICE device
#define LOAD16(p) (*(const device uint4*)(p))
#define LOAD8(p) (*(const device uint2*)(p))
#define LOADS(p) (*(const threadgroup float4*)(p))
#define RAISED(u) as_type<float>(0x4b000000u | (u))
#define LOW_BYTES(u) HALVES(0x64006400u | ((u) & 255u) | ((u) & 65280u) << 8)
#define HIGH_BYTES(u) LOW_BYTES((u) >> 16)
#define HALVES(u) float2(as_type<half2>(u))
#define UNROLL
typedef half half_t;
"""
)
# MLX passes a thread's position only where the kernel's source names it
_METAL_OPENING = """
    const uint TID = thread_position_in_threadgroup.x;
    const uint GROUP = threadgroup_position_in_grid.x;
    const uint LANE = thread_index_in_simdgroup;
    const uint SIMD = simdgroup_index_in_threadgroup;
"""

_CUDA_HEADER = (
    _SHARED_HEADER
    + """
#include <cuda_fp16.h>
#define SHARED(type, name, n) __shared__ __align__(16) type name[n]
#define BARRIER __syncthreads()
#define SIMD_XOR(x, mask) __shfl_xor_sync(0xffffffffu, x, mask)
#define SIMD_SUM(x) simd_sum_(x)
#define SIMD_MAX(x) simd_max_(x)
#define DEVICE
#define LOAD16(p) (*(const uint4*)(p))
#define LOAD8(p) (*(const uint2*)(p))
#define LOADS(p) (*(const float4*)(p))
#define HALVES(u) halves_(u)
#define RAISED(u) __uint_as_float(0x4b000000u | (u))
#define LOW_BYTES(u) halves_(__byte_perm(u, 0x64646464u, 0x4140))
#define HIGH_BYTES(u) halves_(__byte_perm(u, 0x64646464u, 0x4342))
#define UNROLL _Pragma("unroll")
typedef __half half_t;
typedef unsigned int uint;
__device__ inline float simd_sum_(float x) {
    for (int mask = 16; mask; mask >>= 1) x += __shfl_xor_sync(0xffffffffu, x, mask);
    return x;
}
__device__ inline float simd_max_(float x) {
    for (int mask = 16; mask; mask >>= 1) x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, mask));
    return x;
}
__device__ inline float2 halves_(uint u) { return __half22float2(*(const __half2*)&u); }
"""
)
_CUDA_OPENING = """
    const uint TID = threadIdx.x, GROUP = blockIdx.x, LANE = threadIdx.x & 31, SIMD = threadIdx.x >> 5;
"""

_CPP_HEADER = (
    _SHARED_HEADER
    + """
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <ucontext.h>
#include <vector>
using namespace std;
typedef _Float16 half_t;
typedef unsigned int uint;
struct uint2 { uint x, y; };
struct uint4 { uint x, y, z, w; };
struct float2 { float x, y; };
struct float4 { float x, y, z, w; };
template <class V> V load(const void* p) { V v; memcpy(&v, p, sizeof v); return v; }
inline float2 halves_(uint u) { half_t h[2]; memcpy(h, &u, 4); return {(float)h[0], (float)h[1]}; }
inline float raised_(uint u) { float f; u |= 0x4b000000u; memcpy(&f, &u, 4); return f; }

// Each thread is a fiber; it runs until it must wait, then hands over to the next.
struct Meeting { int size, count = 0, round = 0; };
static void* const* g_inputs; static void* const* g_outputs;
static uint g_tid, g_group;
static bool g_moved;
static ucontext_t g_scheduler;
static vector<ucontext_t> g_fibers;
static vector<Meeting> g_simds;
static Meeting g_all;
static vector<float> g_slots;
static void meet(Meeting& m) {
    const int round = m.round; g_moved = true;
    if (++m.count == m.size) { m.count = 0; m.round++; return; }
    const uint me = g_tid;
    while (m.round == round) swapcontext(&g_fibers[me], &g_scheduler);
    g_moved = true;
}
template <class F> float simd_reduce_(float x, F f) {
    const uint me = g_tid, first = me & ~31u; Meeting& m = g_simds[me >> 5];
    g_slots[me] = x; meet(m);
    float out = f(&g_slots[first], me & 31); meet(m);
    return out;
}
inline float simd_sum_(float x) {
    return simd_reduce_(x, [](float* s, int) { float t = 0; for (int i = 0; i < 32; i++) t += s[i]; return t; });
}
inline float simd_max_(float x) {
    return simd_reduce_(x, [](float* s, int) { return *max_element(s, s + 32); });
}
inline float simd_xor_(float x, int mask) {
    return simd_reduce_(x, [mask](float* s, int lane) { return s[lane ^ mask]; });
}
#define SHARED(type, name, n) alignas(16) static type name[n]
#define BARRIER meet(g_all)
#define SIMD_SUM(x) simd_sum_(x)
#define SIMD_MAX(x) simd_max_(x)
#define SIMD_XOR(x, mask) simd_xor_(x, mask)
#define DEVICE
#define LOAD16(p) load<uint4>(p)
#define LOAD8(p) load<uint2>(p)
#define LOADS(p) load<float4>(p)
#define RAISED(u) raised_(u)
#define LOW_BYTES(u) HALVES(0x64006400u | ((u) & 255u) | ((u) & 65280u) << 8)
#define HIGH_BYTES(u) LOW_BYTES((u) >> 16)
#define HALVES(u) halves_(u)
#define UNROLL
"""
)
_CPP_OPENING = """
    const uint TID = g_tid, GROUP = g_group, LANE = TID & 31, SIMD = TID >> 5;
"""
_CPP_LAUNCH = """
static vector<bool> g_done;
static void run_thread() { const uint me = g_tid; kernel_body(); g_done[me] = true; g_moved = true; }
extern "C" int launch(int groups, void* const* inputs, void* const* outputs) {
    g_inputs = inputs; g_outputs = outputs;
    vector<char> stacks((size_t)N_THREADS << 16);
    for (g_group = 0; g_group < (uint)groups; g_group++) {
        g_fibers.assign(N_THREADS, ucontext_t()); g_done.assign(N_THREADS, false); g_slots.assign(N_THREADS, 0.f);
        g_simds.assign(N_THREADS / 32, Meeting{32}); g_all = Meeting{N_THREADS};
        for (int i = 0; i < N_THREADS; i++) {
            getcontext(&g_fibers[i]);
            g_fibers[i].uc_stack.ss_sp = &stacks[(size_t)i << 16]; g_fibers[i].uc_stack.ss_size = 1 << 16;
            g_fibers[i].uc_link = &g_scheduler;
            makecontext(&g_fibers[i], run_thread, 0);
        }
        for (int left = N_THREADS; left;) {
            g_moved = false;
            for (g_tid = 0; g_tid < (uint)N_THREADS; g_tid++) {
                const uint me = g_tid;
                if (g_done[me]) continue;
                swapcontext(&g_scheduler, &g_fibers[me]);
                g_tid = me;
                if (g_done[me]) left--;
            }
            if (!g_moved) return 1;
        }
    }
    return 0;
}
"""
