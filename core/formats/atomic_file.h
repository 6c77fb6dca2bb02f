// Whole files, in and out: read with a size limit, written so that a reader sees the old one or the new one.
#pragma once

#include "core/result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace headscope::core {

/// The file's bytes. Errors: file.missing, file.is_directory, file.unreadable, file.too_large (above `limit` bytes).
Result<std::string> read_file(const std::filesystem::path& path, std::uint64_t limit);

/// Writes beside the target, flushes to disk, renames over it; on any failure the old file stays and no
/// temporary one is left. Errors: file.unwritable, file.disk_full.
Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

}  // namespace headscope::core
