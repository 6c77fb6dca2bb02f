// FNV-1a, 64 bits: a stable hash of bytes. Not for tables that an adversary fills.
#pragma once

#include <cstdint>
#include <string_view>

namespace headscope::core {

inline constexpr std::uint64_t kFnv1aStart = 0xcbf29ce484222325U;

/// FNV-1a (Fowler, Noll and Vo): the same number on every machine and in every version, unlike std::hash.
/// `hash` is that of the bytes before these, where there are some.
constexpr std::uint64_t fnv1a(std::string_view bytes, std::uint64_t hash = kFnv1aStart) {
  for (const char byte : bytes) {
    hash ^= static_cast<unsigned char>(byte);
    hash *= 0x100000001b3U;
  }
  return hash;
}

}  // namespace headscope::core
