// Threads that share the chunks of one piece of work after another.
//
// Chunks are handed out one by one, so a thread that the operating system has taken off its core delays only the chunk
// it holds; one that sleeps delays nothing, for the caller works too. Waiting threads spin for some microseconds, as
// the next piece of a decode step comes at once, then sleep: an idle model uses no processor time.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace sayso {

class Pool {
public:
    explicit Pool(int n_threads);
    ~Pool();
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    int n_threads() const { return int(workers_.size()) + 1; }

    // coarse: chunks of milliseconds. fine: of microseconds, as in a one-token step; when another program takes a core
    // away in the middle of one, waiting costs more than it gains, so the caller works alone for a while.
    enum class Grain { coarse, fine };

    // Calls work(chunk, thread) for every chunk in [0, n_chunks), n_chunks < 65536, and returns when all are done.
    // thread is in [0, n_threads). One caller at a time.
    template <typename Work>
    void run(int n_chunks, const Work& work, Grain grain = Grain::coarse) {
        run_chunks(n_chunks, grain, [](const void* w, int chunk, int thread) { (*static_cast<const Work*>(w))(chunk, thread); },
                   &work);
    }

private:
    static constexpr int MIN_ALONE = 32, MAX_ALONE = 1024;
    using Call = void (*)(const void* work, int chunk, int thread);

    void run_chunks(int n_chunks, Grain grain, Call call, const void* work);
    bool has_chunks() const;
    void take_chunks(int thread);
    void worker(int thread);

    std::vector<std::thread> workers_;
    // Piece number (32 bits), number of chunks (16), next chunk (16): one word, so that a late thread can never take
    // a chunk of a piece that is over.
    alignas(64) std::atomic<uint64_t> ticket_{0};
    alignas(64) std::atomic<int> done_{0};
    alignas(64) std::atomic<int> sleepers_{0};
    std::atomic<bool> caller_sleeps_{false}, stop_{false};
    Call call_ = nullptr;
    const void* work_ = nullptr;
    int alone_ = 0, next_alone_ = MIN_ALONE;  // fine pieces that the caller does alone: now, and at the next delay
    std::mutex mutex_;
    std::condition_variable work_came_, work_done_;
};

}  // namespace sayso
