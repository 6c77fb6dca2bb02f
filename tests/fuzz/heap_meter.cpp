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

void* take(std::size_t n_bytes) {
  return std::malloc(std::max(n_bytes, std::size_t{1}));
}
void* take_aligned(std::size_t n_bytes, std::align_val_t alignment) {
  const auto side = static_cast<std::size_t>(alignment);
  return std::aligned_alloc(side, (std::max(n_bytes, std::size_t{1}) + side - 1) / side * side);
}

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

// Every form: a sanitizer brings its own of those that are not here, which know nothing of the others.
void* operator new(std::size_t n_bytes) {
  return counted(take(n_bytes));
}
void* operator new[](std::size_t n_bytes) {
  return counted(take(n_bytes));
}
void* operator new(std::size_t n_bytes, const std::nothrow_t&) noexcept {
  void* const memory = take(n_bytes);
  return memory == nullptr ? nullptr : counted(memory);
}
void* operator new[](std::size_t n_bytes, const std::nothrow_t& tag) noexcept {
  return operator new(n_bytes, tag);
}
void* operator new(std::size_t n_bytes, std::align_val_t alignment) {
  return counted(take_aligned(n_bytes, alignment));
}
void* operator new[](std::size_t n_bytes, std::align_val_t alignment) {
  return counted(take_aligned(n_bytes, alignment));
}
void operator delete(void* memory) noexcept {
  release(memory);
}
void operator delete[](void* memory) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  release(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  release(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
  release(memory);
}
void operator delete[](void* memory, const std::nothrow_t&) noexcept {
  release(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  release(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  release(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  release(memory);
}

std::size_t headscope::fuzz::peak_bytes(const Target& target, std::string_view bytes) {
  const std::size_t before = n_held;
  n_most = n_held;
  target.run(bytes);
  return n_most - before;
}
