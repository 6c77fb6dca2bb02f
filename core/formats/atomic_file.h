// Whole files, in and out: read with a size limit, written so that a reader sees the old one or the new one.
#pragma once

#include "core/result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace headscope::core {

/// The file's bytes; a pipe is read to its end. Errors: file.missing, file.is_directory, file.unreadable,
/// file.too_large (above `limit` bytes, or more than there is memory for).
Result<std::string> read_file(const std::filesystem::path& path, std::uint64_t limit);

/// Whether a written file must survive a power cut, too. Without, it survives the end of the program, in
/// whatever way, and is much quicker: for what a reader can check and do without.
enum class Flush : std::uint8_t { yes, no };

/// Writes beside the target, flushes to disk, renames over it; on any failure the old file stays and no
/// temporary one is left. A symbolic link keeps pointing at the file that is replaced, an existing file keeps
/// its permissions, a write-protected one is refused; a device or a pipe is written to directly. Errors:
/// file.unwritable, file.folder_missing, file.is_directory, file.disk_full.
Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view bytes,
                                   Flush flush = Flush::yes);

/// Makes the folder, and those above it, where it is missing, and checks that a file can be made in it; none
/// is left. Errors: file.not_a_folder (a file stands in its place, or above it), file.unwritable,
/// file.disk_full.
Result<void> make_folder(const std::filesystem::path& path);

}  // namespace headscope::core
