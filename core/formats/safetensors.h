// safetensors files (8-byte little-endian header length, JSON header, raw little-endian row-major data),
// F32 and F64. Knows nothing of models.
#pragma once

#include "core/result.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace headscope::core {

enum class StoredType : std::uint8_t { f32, f64 };

/// One tensor of a file: numbers widened to double, which holds every F32 exactly.
struct StoredTensor {
  StoredType type = StoredType::f32;
  std::vector<std::int64_t> shape = {};
  std::vector<double> values = {};  // row-major
};

using StoredTensors = std::map<std::string, StoredTensor, std::less<>>;

/// Reads and checks the whole file: sizes before allocation, offsets before reading. `__metadata__` is
/// checked and left out. Errors (where = path; all but the first five name the tensor): those of read_file
/// (above 2 GiB: file.too_large), safetensors.too_short (no 8 bytes of length), safetensors.header_length
/// (above 100 MB, or longer than the file), safetensors.not_json, safetensors.duplicate_name (a key twice),
/// json.too_deep, json.too_large, safetensors.metadata, safetensors.not_object, safetensors.entry (dtype,
/// shape or data_offsets missing or of a wrong type), safetensors.member_unknown, safetensors.dtype,
/// safetensors.shape (negative, or its product overflows), safetensors.offsets (out of range or reversed),
/// safetensors.size (bytes differ from the shape), safetensors.overlap, safetensors.gap, safetensors.trailing
/// (bytes after the last tensor).
Result<StoredTensors> read_safetensors(const std::filesystem::path& path);

/// The strings of `__metadata__`, by name.
using Metadata = std::vector<std::pair<std::string, std::string>>;
/// The string of that name; empty where there is none.
std::string find_metadata(const Metadata& metadata, std::string_view name);

/// A file's tensors, its metadata, and the bytes of all numbers, within those that were parsed.
struct StoredFile {
  StoredTensors tensors;
  Metadata metadata;
  std::string_view data;
};
Result<StoredFile> parse_safetensors_file(std::string_view bytes, const std::string& where);

/// The same from bytes in memory; `where` names them in errors.
Result<StoredTensors> parse_safetensors(std::string_view bytes, const std::string& where);

/// A tensor to be written, where its numbers lie: F32 for float, F64 for double.
struct TensorView {
  std::string name;
  std::vector<std::int64_t> shape = {};
  std::variant<std::span<const float>, std::span<const double>> values = {};  // row-major
};

/// The bytes of a file that holds `tensors` in this order; header padded with spaces to a multiple of 8.
/// Preconditions: names are different, each tensor has as many values as its shape says.
std::string format_safetensors(const std::vector<std::pair<std::string, StoredTensor>>& tensors);
/// The same from views: takes the file's own bytes, and no copy of the numbers besides.
std::string format_safetensors_views(std::span<const TensorView> tensors, const Metadata& metadata = {});

/// format_safetensors() into a file, atomically. Errors: those of write_file_atomically().
Result<void> write_safetensors(const std::filesystem::path& path,
                               const std::vector<std::pair<std::string, StoredTensor>>& tensors);
Result<void> write_safetensors_views(const std::filesystem::path& path, std::span<const TensorView> tensors);

}  // namespace headscope::core
