// Pictures to PNG files.
#pragma once

#include "core/result.h"
#include "simulator/platform/image.h"

#include <filesystem>
#include <string>

namespace headscope::simulator::platform {

/// The bytes of a PNG file.
std::string encode_png(const Image& image);

/// Writes atomically. Errors: those of core::write_file_atomically.
core::Result<void> write_png(const std::filesystem::path& path, const Image& image);

}  // namespace headscope::simulator::platform
