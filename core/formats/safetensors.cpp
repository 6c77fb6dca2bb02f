// The safetensors container, read as if somebody hostile had written it.
#include "core/formats/safetensors.h"

#include "core/formats/atomic_file.h"
#include "core/formats/json.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>

namespace headscope::core {

namespace {

constexpr std::uint64_t kMaxFileBytes = std::uint64_t{2} << 30;
constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;  // the format's own limit
constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kMaxSides = 16;  // keeps an error about a shape readable

/// One member of the header, checked but not read yet.
struct Entry {
  std::string name = {};
  StoredType type = StoredType::f32;
  std::vector<std::int64_t> shape = {};
  std::uint64_t count = 0;
  std::uint64_t begin = 0, end = 0;  // bytes within the data
};

std::uint64_t width(StoredType type) {
  return type == StoredType::f32 ? 4 : 8;
}

template <class Bits>
Bits little_endian(const char* bytes) {
  Bits bits = 0;
  for (std::size_t place = 0; place < sizeof(Bits); ++place)
    bits |= static_cast<Bits>(static_cast<unsigned char>(bytes[place])) << (8 * place);
  return bits;
}

template <class Bits>
void append_little_endian(std::string& bytes, Bits bits) {
  for (std::size_t place = 0; place < sizeof(Bits); ++place)
    bytes.push_back(static_cast<char>(static_cast<unsigned char>(bits >> (8 * place))));
}

/// Errors about one tensor: its name among the values.
Error entry_error(std::string key, const std::string& where, const std::string& name,
                  std::vector<std::pair<std::string, std::string>> values = {}) {
  values.insert(values.begin(), {"name", name});
  return {std::move(key), where, std::move(values)};
}

Error member_error(const std::string& where, const std::string& name, const char* member) {
  return entry_error("safetensors.entry", where, name, {{"member", member}});
}

/// Π sides; none where a side is negative or the product does not fit.
std::optional<std::uint64_t> product(const std::vector<std::int64_t>& shape) {
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  std::uint64_t count = 1;
  for (const std::int64_t side : shape) {
    if (side < 0) return std::nullopt;
    const auto length = static_cast<std::uint64_t>(side);
    if (length != 0 && count > kMax / length) return std::nullopt;
    count *= length;
  }
  return count;
}

Result<Entry> parse_entry(const std::string& name, const Json& json, const std::string& where) {
  const JsonObject* object = json.object();
  if (!object) return entry_error("safetensors.not_object", where, name);
  const Json* dtype = find_member(*object, "dtype");
  const Json* shape = find_member(*object, "shape");
  const Json* offsets = find_member(*object, "data_offsets");
  if (!dtype || !dtype->text()) return member_error(where, name, "dtype");
  if (!shape || !shape->array()) return member_error(where, name, "shape");
  if (!offsets || !offsets->array() || offsets->array()->size() != 2)
    return member_error(where, name, "data_offsets");
  for (const auto& [member, value] : *object)
    if (member != "dtype" && member != "shape" && member != "data_offsets")
      return entry_error("safetensors.member_unknown", where, name, {{"member", member}});

  Entry entry{.name = name};
  if (*dtype->text() == "F64")
    entry.type = StoredType::f64;
  else if (*dtype->text() != "F32")
    return entry_error("safetensors.dtype", where, name, {{"dtype", *dtype->text()}});

  if (shape->array()->size() > kMaxSides) return member_error(where, name, "shape");
  for (const Json& side : *shape->array()) {
    if (!side.integer()) return member_error(where, name, "shape");
    entry.shape.push_back(*side.integer());
  }
  const std::optional<std::uint64_t> count = product(entry.shape);
  if (!count) return entry_error("safetensors.shape", where, name, {{"shape", format_list(entry.shape)}});
  entry.count = *count;

  const std::int64_t* begin = (*offsets->array())[0].integer();
  const std::int64_t* end = (*offsets->array())[1].integer();
  if (!begin || !end) return member_error(where, name, "data_offsets");
  if (*begin < 0 || *end < *begin)
    return entry_error("safetensors.offsets", where, name,
                       {{"begin", std::to_string(*begin)}, {"end", std::to_string(*end)}});
  entry.begin = static_cast<std::uint64_t>(*begin);
  entry.end = static_cast<std::uint64_t>(*end);
  return entry;
}

/// Whether the entry's bytes lie within the data and are as many as its shape needs.
std::optional<Error> check_extent(const Entry& entry, std::uint64_t n_data, const std::string& where) {
  if (entry.end > n_data)
    return entry_error("safetensors.offsets", where, entry.name,
                       {{"begin", std::to_string(entry.begin)}, {"end", std::to_string(entry.end)}});
  const std::uint64_t n_bytes = entry.end - entry.begin;
  // by division: count · width could overflow
  if (n_bytes % width(entry.type) != 0 || n_bytes / width(entry.type) != entry.count)
    return entry_error("safetensors.size", where, entry.name,
                       {{"bytes", std::to_string(n_bytes)}, {"count", std::to_string(entry.count)}});
  return std::nullopt;
}

/// Whether the entries cover the data once, end to end.
std::optional<Error> check_cover(const std::vector<Entry>& entries, std::uint64_t n_data,
                                 const std::string& where) {
  std::vector<const Entry*> in_order;
  for (const Entry& entry : entries) in_order.push_back(&entry);
  std::sort(in_order.begin(), in_order.end(), [](const Entry* left, const Entry* right) {
    return std::pair(left->begin, left->end) < std::pair(right->begin, right->end);
  });
  std::uint64_t covered = 0;
  const Entry* previous = nullptr;
  for (const Entry* entry : in_order) {
    if (entry->begin < covered)
      return entry_error("safetensors.overlap", where, entry->name, {{"other", previous->name}});
    if (entry->begin > covered)
      return entry_error("safetensors.gap", where, entry->name,
                         {{"bytes", std::to_string(entry->begin - covered)}});
    covered = entry->end;
    previous = entry;
  }
  if (covered != n_data)
    return Error{"safetensors.trailing", where, {{"bytes", std::to_string(n_data - covered)}}};
  return std::nullopt;
}

/// `__metadata__`: strings by name.
Result<Metadata> parse_metadata(const Json& json, const std::string& where) {
  const Error error{"safetensors.metadata", where};
  if (!json.object()) return error;
  Metadata metadata;
  for (const auto& [name, value] : *json.object()) {
    if (!value.text()) return error;
    metadata.emplace_back(name, *value.text());
  }
  return metadata;
}

struct Header {
  std::vector<Entry> entries;
  Metadata metadata;
};

Result<Header> parse_header(std::string_view header, std::uint64_t n_data, const std::string& where) {
  // the format wants the brace first: no white space, no byte order mark
  if (!header.starts_with('{')) return Error{"safetensors.not_json", where};
  const Result<Json> json = parse_json(header, where);
  if (!json) {
    const Error& error = json.error();
    if (error.key == "json.syntax") return Error{"safetensors.not_json", where};
    if (error.key == "json.duplicate_key") return Error{"safetensors.duplicate_name", where, error.values};
    return error;
  }
  Header parsed;
  for (const auto& [name, value] : *json->object()) {
    if (name == "__metadata__") {
      Result<Metadata> metadata = parse_metadata(value, where);
      if (!metadata) return metadata.error();
      parsed.metadata = *std::move(metadata);
      continue;
    }
    Result<Entry> entry = parse_entry(name, value, where);
    if (!entry) return entry.error();
    if (std::optional<Error> error = check_extent(*entry, n_data, where)) return std::move(*error);
    parsed.entries.push_back(std::move(*entry));
  }
  if (std::optional<Error> error = check_cover(parsed.entries, n_data, where)) return std::move(*error);
  return parsed;
}

StoredTensor read_tensor(Entry entry, std::string_view data) {
  StoredTensor tensor{.type = entry.type, .shape = std::move(entry.shape)};
  tensor.values.resize(static_cast<std::size_t>(entry.count));
  const char* bytes = data.data() + entry.begin;
  for (double& value : tensor.values) {
    value = entry.type == StoredType::f32 ? double{std::bit_cast<float>(little_endian<std::uint32_t>(bytes))}
                                          : std::bit_cast<double>(little_endian<std::uint64_t>(bytes));
    bytes += width(entry.type);
  }
  return tensor;
}

/// Builds a file's header, tensor by tensor.
class HeaderWriter {
 public:
  void add(const std::string& name, StoredType type, std::span<const std::int64_t> shape,
           std::size_t n_values) {
    const std::uint64_t end = offset_ + n_values * width(type);
    const std::int64_t offsets[] = {static_cast<std::int64_t>(offset_), static_cast<std::int64_t>(end)};
    header_.append(header_.empty() ? "{" : ",").append(quote_json(name));
    header_.append(R"(:{"dtype":)").append(type == StoredType::f32 ? R"("F32")" : R"("F64")");
    header_.append(R"(,"shape":)").append(format_list(shape));
    header_.append(R"(,"data_offsets":)").append(format_list(offsets)).append("}");
    offset_ = end;
  }
  /// The file's bytes up to the data, with room for it.
  std::string start_file(const Metadata& metadata = {}) {
    if (!metadata.empty()) {
      header_.append(header_.empty() ? "{" : ",").append(R"("__metadata__":{)");
      for (const auto& [name, value] : metadata)
        header_.append(header_.ends_with('{') ? "" : ",")
            .append(quote_json(name))
            .append(":")
            .append(quote_json(value));
      header_.append("}");
    }
    header_.append(header_.empty() ? "{}" : "}");
    header_.resize((header_.size() + 7) / 8 * 8, ' ');  // the data then starts on a multiple of 8
    std::string bytes;
    bytes.reserve(kLengthBytes + header_.size() + static_cast<std::size_t>(offset_));
    append_little_endian(bytes, std::uint64_t{header_.size()});
    return bytes += header_;
  }

 private:
  std::string header_;
  std::uint64_t offset_ = 0;
};

void append_number(std::string& bytes, float value) {
  append_little_endian(bytes, std::bit_cast<std::uint32_t>(value));
}
void append_number(std::string& bytes, double value) {
  append_little_endian(bytes, std::bit_cast<std::uint64_t>(value));
}

}  // namespace

std::string find_metadata(const Metadata& metadata, std::string_view name) {
  for (const auto& [key, value] : metadata)
    if (key == name) return value;
  return {};
}

Result<StoredFile> parse_safetensors_file(std::string_view bytes, const std::string& where) {
  if (bytes.size() < kLengthBytes)
    return Error{"safetensors.too_short", where, {{"bytes", std::to_string(bytes.size())}}};
  const auto n_header = little_endian<std::uint64_t>(bytes.data());
  bytes.remove_prefix(kLengthBytes);
  if (n_header > kMaxHeaderBytes || n_header > bytes.size())
    return Error{"safetensors.header_length",
                 where,
                 {{"length", std::to_string(n_header)}, {"bytes", std::to_string(bytes.size())}}};
  const std::string_view data = bytes.substr(static_cast<std::size_t>(n_header));
  Result<Header> header =
      parse_header(bytes.substr(0, static_cast<std::size_t>(n_header)), data.size(), where);
  if (!header) return header.error();
  StoredFile file{.tensors = {}, .metadata = std::move(header->metadata), .data = data};
  for (Entry& entry : header->entries) {
    std::string name = entry.name;
    file.tensors.emplace(std::move(name), read_tensor(std::move(entry), data));
  }
  return file;
}

Result<StoredTensors> parse_safetensors(std::string_view bytes, const std::string& where) {
  Result<StoredFile> file = parse_safetensors_file(bytes, where);
  if (!file) return file.error();
  return std::move(file->tensors);
}

Result<StoredTensors> read_safetensors(const std::filesystem::path& path) {
  const Result<std::string> bytes = read_file(path, kMaxFileBytes);
  if (!bytes) return bytes.error();
  return parse_safetensors(*bytes, path.string());
}

std::string format_safetensors(const std::vector<std::pair<std::string, StoredTensor>>& tensors) {
  HeaderWriter header;
  for (const auto& [name, tensor] : tensors) {
    assert(product(tensor.shape) == tensor.values.size());
    header.add(name, tensor.type, tensor.shape, tensor.values.size());
  }
  std::string bytes = header.start_file();
  for (const auto& [name, tensor] : tensors)
    for (const double value : tensor.values) {
      if (tensor.type == StoredType::f32)
        append_number(bytes, static_cast<float>(value));
      else
        append_number(bytes, value);
    }
  return bytes;
}

std::string format_safetensors_views(std::span<const TensorView> tensors, const Metadata& metadata) {
  HeaderWriter header;
  for (const TensorView& tensor : tensors)
    std::visit(
        [&]<class T>(std::span<const T> values) {
          assert(product(tensor.shape) == values.size());
          header.add(tensor.name, std::is_same_v<T, float> ? StoredType::f32 : StoredType::f64, tensor.shape,
                     values.size());
        },
        tensor.values);
  std::string bytes = header.start_file(metadata);
  for (const TensorView& tensor : tensors)
    std::visit(
        [&bytes](auto values) {
          for (const auto value : values) append_number(bytes, value);
        },
        tensor.values);
  return bytes;
}

Result<void> write_safetensors(const std::filesystem::path& path,
                               const std::vector<std::pair<std::string, StoredTensor>>& tensors) {
  return write_file_atomically(path, format_safetensors(tensors));
}

Result<void> write_safetensors_views(const std::filesystem::path& path, std::span<const TensorView> tensors) {
  return write_file_atomically(path, format_safetensors_views(tensors));
}

}  // namespace headscope::core
