// Counts what C++ takes from the heap, by replacing the global operators new and delete: "memory stays under
// file size plus a constant" is then a number, with any compiler and under any sanitizer. Not for threads.
#include "tests/fuzz/targets.h"

#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <new>

namespace {

// the operators have no other place to keep it
std::size_t n_held = 0;  // bytes, at this moment
std::size_t n_most = 0;  // the most since peak_bytes() began

void* counted(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  n_held += malloc_usable_size(memory);
  n_most = std::max(n_most, n_held);
  return memory;
}

void release(void* memory) {
  n_held -= malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t n_bytes) {
  return counted(std::malloc(std::max(n_bytes, std::size_t{1})));
}
void* operator new(std::size_t n_bytes, std::align_val_t alignment) {
  const auto side = static_cast<std::size_t>(alignment);
  return counted(std::aligned_alloc(side, (std::max(n_bytes, std::size_t{1}) + side - 1) / side * side));
}
void operator delete(void* memory) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  release(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  release(memory);
}

std::size_t headscope::fuzz::peak_bytes(const Target& target, std::string_view bytes) {
  const std::size_t before = n_held;
  n_most = n_held;
  target.run(bytes);
  return n_most - before;
}
