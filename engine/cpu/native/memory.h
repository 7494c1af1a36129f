// Aligned, zeroed memory. Pages that nobody touches cost nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace sayso {

// A zeroed array of plain values at a 64-byte boundary.
template <typename T>
class Buffer {
    static_assert(std::is_trivially_copyable<T>::value);

public:
    Buffer() = default;
    explicit Buffer(size_t n) : size_(n) {
        raw_ = std::calloc(n * sizeof(T) + 64, 1);
        if (!raw_) throw std::bad_alloc();
        data_ = reinterpret_cast<T*>((reinterpret_cast<uintptr_t>(raw_) + 63) & ~uintptr_t(63));
    }
    Buffer(Buffer&& other) noexcept { swap(other); }
    Buffer& operator=(Buffer&& other) noexcept {
        swap(other);
        return *this;
    }
    ~Buffer() { std::free(raw_); }

    T* data() { return data_; }
    const T* data() const { return data_; }
    T& operator[](size_t i) { return data_[i]; }
    const T& operator[](size_t i) const { return data_[i]; }
    size_t size() const { return size_; }

private:
    void swap(Buffer& other) {
        std::swap(raw_, other.raw_);
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
    }
    void* raw_ = nullptr;
    T* data_ = nullptr;
    size_t size_ = 0;
};

// Zeroed memory that goes back to the system when it is freed, with huge pages where the system has them. The C library
// would keep it for later, and what then comes to lie there would take huge pages, too.
class Slab {
public:
#if defined(__linux__)
    explicit Slab(size_t bytes) : bytes_(bytes) {
        void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED) throw std::bad_alloc();
        data_ = static_cast<uint8_t*>(p);
        madvise(p, bytes, MADV_HUGEPAGE);
    }
    Slab(Slab&& other) noexcept : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}
    Slab& operator=(Slab&&) = delete;
    ~Slab() {
        if (data_) munmap(data_, bytes_);
    }
    uint8_t* data() { return data_; }

private:
    uint8_t* data_ = nullptr;
    size_t bytes_;
#else
    explicit Slab(size_t bytes) : buffer_(bytes) {}
    uint8_t* data() { return buffer_.data(); }

private:
    Buffer<uint8_t> buffer_;
#endif
};

// Memory for all weights of a model: few large slabs.
class Arena {
public:
    void* take(size_t bytes) {
        bytes = (bytes + 63) & ~size_t(63);
        if (used_ + bytes > room_) grow(bytes);
        void* p = slabs_.back().data() + used_;
        used_ += bytes;
        return p;
    }

private:
    void grow(size_t bytes) {
        room_ = bytes > SLAB ? bytes : SLAB;
        slabs_.emplace_back(room_);
        used_ = 0;
    }
    static constexpr size_t SLAB = size_t(16) << 20;
    std::vector<Slab> slabs_;
    size_t used_ = 0, room_ = 0;
};

}  // namespace sayso
