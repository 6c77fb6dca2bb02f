// Files that people write by hand: lessons, vocabularies, words, the theme.
#pragma once

#include "core/formats/atomic_file.h"

#include <cstdint>
#include <filesystem>
#include <string>

namespace headscope::lessons {

/// Reads such a file whole. Errors: those of core::read_file() (above 4 MiB: file.too_large).
inline core::Result<std::string> read_text_file(const std::filesystem::path& path) {
  constexpr std::uint64_t kLargest = 4 << 20;
  return core::read_file(path, kLargest);
}

}  // namespace headscope::lessons
