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

// Memory for all weights of a model: few large slabs, huge pages where the system has them.
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
#if defined(__linux__)
        madvise(reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(slabs_.back().data()) + 4095) & ~uintptr_t(4095)),
                room_ - 4096, MADV_HUGEPAGE);
#endif
    }
    static constexpr size_t SLAB = size_t(16) << 20;
    std::vector<Buffer<uint8_t>> slabs_;
    size_t used_ = 0, room_ = 0;
};

}  // namespace sayso
