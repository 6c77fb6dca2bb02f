// A vector whose numbers start on a cache line, so that wide loads do not straddle two.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace headscope::core {

inline constexpr std::size_t kCacheLine = 64;  // bytes

template <class T>
struct AlignedAllocator {
  using value_type = T;

  AlignedAllocator() = default;
  template <class U>
  AlignedAllocator(const AlignedAllocator<U>&) {}

  T* allocate(std::size_t count) {
    if (count > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(::operator new (count * sizeof(T), std::align_val_t{kCacheLine}));
  }
  void deallocate(T* data, std::size_t) { ::operator delete (data, std::align_val_t{kCacheLine}); }
  bool operator==(const AlignedAllocator&) const = default;
};

template <class T>
using AlignedVector = std::vector<T, AlignedAllocator<T>>;

}  // namespace headscope::core
