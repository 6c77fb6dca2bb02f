// safetensors files (8-byte little-endian header length, JSON header, raw little-endian row-major data),
// F32 and F64. Knows nothing of models.
#pragma once

#include "core/result.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace headscope::core {

enum class StoredType : std::uint8_t { f32, f64 };

/// One tensor of a file: numbers widened to double, which holds every F32 exactly.
struct StoredTensor {
  StoredType type = StoredType::f32;
  std::vector<std::int64_t> shape;
  std::vector<double> values;  // row-major
};

using StoredTensors = std::map<std::string, StoredTensor, std::less<>>;

/// Reads and checks the whole file: sizes before allocation, offsets before reading. Errors (where = path):
/// those of read_file, safetensors.too_short, safetensors.header_length, safetensors.not_json,
/// safetensors.duplicate_name, safetensors.entry (a member missing or of a wrong type), safetensors.dtype,
/// safetensors.shape (negative, or its product overflows), safetensors.offsets (out of range or reversed),
/// safetensors.overlap, safetensors.gap, safetensors.size (bytes differ from the shape), safetensors.trailing.
Result<StoredTensors> read_safetensors(const std::filesystem::path& path);

/// The same from bytes in memory; `where` names them in errors.
Result<StoredTensors> parse_safetensors(std::string_view bytes, const std::string& where);

/// Written in the order of `tensors`; header padded with spaces to 8 bytes; atomically.
Result<void> write_safetensors(const std::filesystem::path& path,
                               const std::vector<std::pair<std::string, StoredTensor>>& tensors);

}  // namespace headscope::core
