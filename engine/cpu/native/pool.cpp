// The thread pool.
#include "pool.h"

#include <algorithm>
#include <chrono>

#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>
#endif

namespace sayso {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::microseconds WORKER_SPINS{150}, CALLER_SPINS{40};

void pause_a_little() {
    for (int i = 0; i < 8; i++) {
#if defined(__x86_64__) || defined(_M_X64)
        _mm_pause();
#elif defined(__aarch64__) && !defined(_MSC_VER)
        __asm__ volatile("yield");
#endif
    }
}

template <typename Ready>
bool spin(std::chrono::microseconds limit, const Ready& ready) {
    const auto end = Clock::now() + limit;
    do {
        for (int i = 0; i < 8; i++) {
            if (ready()) return true;
            pause_a_little();
        }
    } while (Clock::now() < end);
    return ready();
}

}  // namespace

Pool::Pool(int n_threads) {
    for (int i = 1; i < n_threads; i++) workers_.emplace_back([this, i] { worker(i); });
}

Pool::~Pool() {
    {
        std::lock_guard<std::mutex> lock(mutex_);
        stop_ = true;
    }
    work_came_.notify_all();
    for (std::thread& t : workers_) t.join();
}

bool Pool::has_chunks() const {
    const uint64_t t = ticket_.load();
    return (t & 0xffff) < ((t >> 16) & 0xffff);
}

void Pool::run_chunks(int n_chunks, Grain grain, Call call, const void* work) {
    const bool alone = grain == Grain::fine && alone_ > 0;
    if (alone) alone_--;
    if (alone || workers_.empty() || n_chunks <= 1) {
        for (int i = 0; i < n_chunks; i++) call(work, i, 0);
        return;
    }
    call_ = call;
    work_ = work;
    done_.store(0);
    const uint64_t piece = (ticket_.load() >> 32) + 1;
    ticket_.store(piece << 32 | uint64_t(n_chunks) << 16);
    if (sleepers_.load() > 0) {
        { std::lock_guard<std::mutex> lock(mutex_); }
        work_came_.notify_all();
    }
    take_chunks(0);
    const auto finished = [&] { return done_.load() == n_chunks; };
    if (spin(CALLER_SPINS, finished)) {
        if (grain == Grain::fine && next_alone_ > MIN_ALONE) next_alone_--;
        return;
    }
    if (grain == Grain::fine) {
        alone_ = next_alone_;
        next_alone_ = std::min(2 * next_alone_, MAX_ALONE);
    }
    std::unique_lock<std::mutex> lock(mutex_);
    caller_sleeps_ = true;
    work_done_.wait(lock, finished);
    caller_sleeps_ = false;
}

void Pool::take_chunks(int thread) {
    for (;;) {
        uint64_t t = ticket_.load();
        const int next = int(t & 0xffff), n_chunks = int((t >> 16) & 0xffff);
        if (next >= n_chunks) return;
        if (!ticket_.compare_exchange_weak(t, t + 1)) continue;
        call_(work_, next, thread);
        if (done_.fetch_add(1) + 1 == n_chunks && caller_sleeps_.load()) {
            { std::lock_guard<std::mutex> lock(mutex_); }
            work_done_.notify_one();
        }
    }
}

void Pool::worker(int thread) {
    const auto ready = [this] { return has_chunks() || stop_.load(); };
    for (;;) {
        if (!spin(WORKER_SPINS, ready)) {
            std::unique_lock<std::mutex> lock(mutex_);
            sleepers_.fetch_add(1);
            work_came_.wait(lock, ready);
            sleepers_.fetch_sub(1);
        }
        if (stop_.load()) return;
        take_chunks(thread);
    }
}

}  // namespace sayso
