// What this processor can do at most: int8 products and memory reads, all threads at once. For tests/measure_share.py:
//     g++ -std=c++17 -O3 -march=native -pthread peak.cpp -o peak && ./peak 2
#include <immintrin.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

using Clock = std::chrono::steady_clock;

// Best of five: how often per second all threads together do what one call counts.
double rate(int n_threads, const std::function<double(int)>& work) {
    double best = 0;
    for (int run = 0; run < 5; run++) {
        std::vector<double> done(n_threads);
        std::vector<std::thread> threads;
        const auto start = Clock::now();
        for (int i = 0; i < n_threads; i++) threads.emplace_back([&, i] { done[i] = work(i); });
        double sum = 0;
        for (int i = 0; i < n_threads; i++) threads[i].join(), sum += done[i];
        const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
        if (sum / seconds > best) best = sum / seconds;
    }
    return best;
}

volatile int sink;

#if defined(__AMX_INT8__)
struct alignas(64) Shapes {
    uint8_t palette = 1, start_row = 0, reserved[14] = {};
    uint16_t bytes[16] = {};
    uint8_t rows[16] = {};
};
constexpr Shapes full_tiles() {
    Shapes shapes;
    for (int i = 0; i < 8; i++) shapes.bytes[i] = 64, shapes.rows[i] = 16;
    return shapes;
}
constexpr Shapes SHAPES = full_tiles();  // in memory before its address is taken: the instruction's operand is not tracked

double amx(int) {
    alignas(64) static const uint8_t zeros[1024] = {};
    _tile_loadconfig(&SHAPES);
    _tile_loadd(6, zeros, 64);
    _tile_loadd(7, zeros, 64);
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    const int n = 5000000;
    for (int i = 0; i < n; i++) {
        _tile_dpbusd(0, 6, 7);
        _tile_dpbusd(1, 6, 7);
        _tile_dpbusd(2, 6, 7);
        _tile_dpbusd(3, 6, 7);
    }
    _tile_release();
    return 4.0 * n * 16 * 16 * 64;
}
#endif

#if defined(__AVX512VNNI__)
double vnni(int thread) {
    __m512i sums[12], a = _mm512_set1_epi8(char(thread)), b = _mm512_set1_epi8(3);
    for (auto& sum : sums) sum = _mm512_setzero_si512();
    const int n = 20000000;
    for (int i = 0; i < n; i++)
        for (auto& sum : sums) sum = _mm512_dpbusd_epi32(sum, a, b);
    __m512i all = _mm512_setzero_si512();
    for (auto& sum : sums) all = _mm512_add_epi32(all, sum);
    sink = _mm512_reduce_add_epi32(all);
    return 12.0 * n * 64;
}
#endif

int main(int argc, char** argv) {
    std::setvbuf(stdout, nullptr, _IOLBF, 1024);
    const int n_threads = argc > 1 ? std::atoi(argv[1]) : 1;
    constexpr size_t BYTES = size_t(256) << 20;  // per thread
    std::vector<std::vector<uint64_t>> memory(n_threads, std::vector<uint64_t>(BYTES / 8, 1));
    const double bytes = rate(n_threads, [&](int i) {
        uint64_t sums[8] = {};
        const auto& own = memory[i];
        for (size_t k = 0; k + 8 <= own.size(); k += 8)
            for (int j = 0; j < 8; j++) sums[j] += own[k + j];
        uint64_t all = 0;
        for (const auto sum : sums) all += sum;
        sink = int(all);
        return double(BYTES);
    });
    std::printf("read %.3e\n", bytes);
#if defined(__AVX512VNNI__)
    std::printf("vnni %.3e\n", rate(n_threads, vnni));
#endif
#if defined(__AMX_INT8__)
    if (syscall(SYS_arch_prctl, 0x1023, 18) == 0) std::printf("amx %.3e\n", rate(n_threads, amx));
#endif
}
