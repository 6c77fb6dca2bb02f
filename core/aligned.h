// A vector whose numbers start on a cache line, so that wide loads do not straddle two; a large one lies in
// large pages where the system has them, so that striding through it misses fewer address translations.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

#if defined(__linux__) && !defined(__EMSCRIPTEN__)
#include <sys/mman.h>
#endif

namespace headscope::core {

inline constexpr std::size_t kCacheLine = 64;                     // bytes
inline constexpr std::size_t kLargePage = std::size_t{2} << 20U;  // bytes; of x86-64 and most ARM systems

template <class T>
struct AlignedAllocator {
  using value_type = T;

  AlignedAllocator() = default;
  template <class U>
  AlignedAllocator(const AlignedAllocator<U>&) {}

  T* allocate(std::size_t count) {
    if (count > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
    const std::size_t bytes = count * sizeof(T);
    void* const data = ::operator new(bytes, alignment(bytes));
#if defined(__linux__) && !defined(__EMSCRIPTEN__)
    // a wish: where it is not granted, nothing changes but the speed
    if (bytes >= 2 * kLargePage) madvise(data, bytes, MADV_HUGEPAGE);
#endif
    return static_cast<T*>(data);
  }
  void deallocate(T* data, std::size_t count) {
    ::operator delete(data, alignment(count * sizeof(T)));
  }
  bool operator==(const AlignedAllocator&) const = default;

 private:
  static std::align_val_t alignment(std::size_t bytes) {
    return std::align_val_t{bytes >= 2 * kLargePage ? kLargePage : kCacheLine};
  }
};

template <class T>
using AlignedVector = std::vector<T, AlignedAllocator<T>>;

}  // namespace headscope::core
