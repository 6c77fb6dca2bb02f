// safetensors files: what is written reads back, each kind of damage is refused by name, and no bytes crash.
#include "core/formats/safetensors.h"
#include "core/random.h"
#include "core/temporary_folder.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace headscope::core;
using headscope::tests::TemporaryFolder;
using headscope::tests::write_text;

namespace {

using Named = std::vector<std::pair<std::string, StoredTensor>>;

std::string length_bytes(std::uint64_t length) {
  std::string bytes;
  for (int place = 0; place < 8; ++place) bytes.push_back(static_cast<char>(length >> (8 * place)));
  return bytes;
}

std::string make_file(std::string_view header, std::size_t n_data) {
  return length_bytes(header.size()) + std::string(header) + std::string(n_data, '\0');
}

/// The error's key, or "accepted".
std::string key_of(std::string_view bytes) {
  const Result<StoredTensors> tensors = parse_safetensors(bytes, "f");
  return tensors ? "accepted" : tensors.error().key;
}

std::string key_of(std::string_view header, std::size_t n_data) {
  return key_of(make_file(header, n_data));
}

std::string entry(std::string_view shape, std::string_view offsets, std::string_view dtype = "F32") {
  return std::string(R"({"dtype":")")
             .append(dtype)
             .append(R"(","shape":)")
             .append(shape)
             .append(R"(,"data_offsets":)") +
         std::string(offsets) + "}";
}

/// Four small tensors of both types, one of them a scalar and one empty.
Named sample() {
  return {{"decoder.token_embedding", {StoredType::f32, {3, 2}, {1, -2, 0.5, 1e-30, 3e38, 0.1f}}},
          {"scalar", {StoredType::f64, {}, {0.1}}},
          {"empty", {StoredType::f32, {0, 4}, {}}},
          {"ä \"quoted\"\n", {StoredType::f64, {2}, {1e300, -0.0}}}};
}

/// A tensor that may be used: as many numbers as its shape says.
void check_valid(const StoredTensors& tensors) {
  for (const auto& [name, tensor] : tensors) {
    std::uint64_t count = 1;
    for (const std::int64_t side : tensor.shape) {
      if (side < 0) FAIL(name << " has a negative side");
      count *= static_cast<std::uint64_t>(side);
    }
    if (count != tensor.values.size()) FAIL(name << " has " << tensor.values.size() << " of " << count);
  }
}

/// Errors name the file and a key of ours.
void check_survives(const std::string& bytes) {
  const Result<StoredTensors> tensors = parse_safetensors(bytes, "f");
  if (tensors)
    check_valid(*tensors);
  else if (tensors.error().where != "f" || tensors.error().key.find('.') == std::string::npos)
    FAIL("an error without a place: " << tensors.error().key);
}

std::size_t draw_below(Rng& rng, std::size_t limit) {
  return static_cast<std::size_t>(rng.next() % limit);
}

/// One random change: flip a bit, set a byte, insert, remove, truncate, or copy a piece elsewhere.
void damage(std::string& bytes, Rng& rng) {
  const std::size_t place = draw_below(rng, bytes.size());
  static constexpr std::string_view kTelling = "{}[]\":,0123456789-e.\\ \xFF";
  switch (draw_below(rng, 6)) {
    case 0:
      bytes[place] = static_cast<char>(bytes[place] ^ (1 << draw_below(rng, 8)));
      break;
    case 1:
      bytes[place] = kTelling[draw_below(rng, kTelling.size())];
      break;
    case 2:
      bytes.insert(place, 1, kTelling[draw_below(rng, kTelling.size())]);
      break;
    case 3:
      bytes.erase(place, 1 + draw_below(rng, 4));
      break;
    case 4:
      bytes.resize(place + 1);
      break;
    default:
      bytes.insert(place, bytes.substr(draw_below(rng, bytes.size()), draw_below(rng, 40)));
  }
}

}  // namespace

TEST_CASE("what is written to a safetensors file reads back", "[core][safetensors]") {
  const TemporaryFolder folder;
  REQUIRE(write_safetensors(folder / "t.safetensors", sample()));
  const Result<StoredTensors> read = read_safetensors(folder / "t.safetensors");
  REQUIRE(read);
  CHECK(read->size() == 4);
  for (const auto& [name, tensor] : sample()) {
    INFO(name);
    REQUIRE(read->count(name) == 1);
    const StoredTensor& stored = read->at(name);
    CHECK(stored.type == tensor.type);
    CHECK(stored.shape == tensor.shape);
    REQUIRE(stored.values.size() == tensor.values.size());
    for (std::size_t k = 0; k < tensor.values.size(); ++k) {
      const double expected =
          tensor.type == StoredType::f32 ? static_cast<float>(tensor.values[k]) : tensor.values[k];
      CHECK(stored.values[k] == expected);
      CHECK(std::signbit(stored.values[k]) == std::signbit(expected));
    }
  }
}

TEST_CASE("NaN and infinity pass through a safetensors file", "[core][safetensors]") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const StoredType type : {StoredType::f32, StoredType::f64}) {
    const Result<StoredTensors> read = parse_safetensors(
        format_safetensors({{"x", {type, {3}, {kInfinity, -kInfinity, std::nan("")}}}}), "f");
    REQUIRE(read);
    CHECK(read->at("x").values[0] == kInfinity);
    CHECK(read->at("x").values[1] == -kInfinity);
    CHECK(std::isnan(read->at("x").values[2]));
  }
}

TEST_CASE("a safetensors file is laid out byte by byte as the format says", "[core][safetensors]") {
  const std::string bytes = format_safetensors({{"a", {StoredType::f32, {1, 2}, {1, -2}}}});
  const std::string header = R"({"a":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}})";
  REQUIRE(header.size() == 56);  // a multiple of 8 already
  CHECK(bytes == length_bytes(56) + header + std::string("\0\0\x80\x3F\0\0\0\xC0", 8));
  CHECK(format_safetensors({}) == length_bytes(8) + "{}      ");
  CHECK(key_of(format_safetensors({})) == "accepted");
}

TEST_CASE("views are written as the tensors that they show", "[core][safetensors]") {
  const std::vector<float> single = {1, -2, 0.1F};
  const std::vector<double> twofold = {1, -2, 0.1};
  const std::vector<TensorView> views = {{"a", {3, 1}, std::span(single)}, {"b", {3}, std::span(twofold)}};
  CHECK(format_safetensors_views(views) ==
        format_safetensors(
            {{"a", {StoredType::f32, {3, 1}, {1, -2, 0.1F}}}, {"b", {StoredType::f64, {3}, {1, -2, 0.1}}}}));
  CHECK(format_safetensors_views({}) == format_safetensors({}));
}

TEST_CASE("metadata, tensors in any order of bytes and padding are accepted", "[core][safetensors]") {
  const std::string header = R"({"__metadata__":{"format":"pt"},"b":)" + entry("[1]", "[4,8]") + R"(,"a":)" +
                             entry("[1]", "[0,4]") + "}   \n";
  CHECK(key_of(header, 8) == "accepted");
  CHECK(parse_safetensors(make_file(header, 8), "f")->size() == 2);
}

TEST_CASE("a file that is too short for a safetensors header is refused", "[core][safetensors]") {
  CHECK(key_of("") == "safetensors.too_short");
  CHECK(key_of("1234567") == "safetensors.too_short");
  CHECK(key_of(length_bytes(0)) == "safetensors.not_json");
}

TEST_CASE("a header longer than the file or the format's limit is refused before any allocation",
          "[core][safetensors]") {
  CHECK(key_of(length_bytes(3) + "{}") == "safetensors.header_length");
  CHECK(key_of(length_bytes(100'000'001) + "{}") == "safetensors.header_length");
  CHECK(key_of(length_bytes(std::numeric_limits<std::uint64_t>::max()) + "{}") ==
        "safetensors.header_length");
  CHECK(key_of(length_bytes(std::numeric_limits<std::uint64_t>::max() - 7) + "{}") ==
        "safetensors.header_length");
}

TEST_CASE("a header that is not a JSON object is refused", "[core][safetensors]") {
  CHECK(key_of("PK\x03\x04 a zip file, not a safetensors one") == "safetensors.header_length");
  for (const std::string_view header :
       {"[]", "x", " {}", "\xEF\xBB\xBF{}", "{", "{\"a\":}", "{} {}", "{}x", "null"})
    CHECK(key_of(header, 0) == "safetensors.not_json");
  CHECK(key_of(std::string_view("{}\0x", 4), 0) == "safetensors.not_json");
  CHECK(key_of("{\"\xFF\":1}", 0) == "safetensors.not_json");
  CHECK(key_of(R"({"a":1e999})", 0) == "safetensors.not_json");
}

TEST_CASE("deep nesting and millions of values in a header are refused", "[core][safetensors]") {
  CHECK(key_of(R"({"a":)" + std::string(1'000'000, '['), 0) == "json.too_deep");
  std::string wide = R"({"a":[0)";
  for (int k = 0; k < 4'000'000; ++k) wide += ",0";
  CHECK(key_of(wide + "]}", 0) == "json.too_large");
}

TEST_CASE("a name that stands twice is refused", "[core][safetensors]") {
  const std::string header = R"({"a":)" + entry("[1]", "[0,4]") + R"(,"a":)" + entry("[1]", "[4,8]") + "}";
  CHECK(key_of(header, 8) == "safetensors.duplicate_name");
  // also where escapes hide it
  const std::string escaped =
      R"({"a":)" + entry("[1]", "[0,4]") + R"(,"\u0061":)" + entry("[1]", "[4,8]") + "}";
  CHECK(key_of(escaped, 8) == "safetensors.duplicate_name");
  CHECK(key_of(R"({"a":{"dtype":"F32","dtype":"F64","shape":[1],"data_offsets":[0,4]}})", 4) ==
        "safetensors.duplicate_name");
}

TEST_CASE("an entry with members missing, unknown or of a wrong type is refused", "[core][safetensors]") {
  CHECK(key_of(R"({"a":1})", 4) == "safetensors.not_object");
  for (const std::string_view members :
       {R"("shape":[1],"data_offsets":[0,4])", R"("dtype":"F32","data_offsets":[0,4])",
        R"("dtype":"F32","shape":[1])", R"("dtype":32,"shape":[1],"data_offsets":[0,4])",
        R"("dtype":"F32","shape":1,"data_offsets":[0,4])",
        R"("dtype":"F32","shape":[1.0],"data_offsets":[0,4])",
        R"("dtype":"F32","shape":["1"],"data_offsets":[0,4])",
        R"("dtype":"F32","shape":[1],"data_offsets":[0])",
        R"("dtype":"F32","shape":[1],"data_offsets":[0,4,4])",
        R"("dtype":"F32","shape":[1],"data_offsets":[0,4.0])",
        R"("dtype":"F32","shape":[1],"data_offsets":[0,18446744073709551615])",
        R"("dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,4])"}) {
    INFO(members);
    CHECK(key_of("{\"a\":{" + std::string(members) + "}}", 4) == "safetensors.entry");
  }
  CHECK(key_of(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"x":0}})", 4) ==
        "safetensors.member_unknown");
  CHECK(key_of(R"({"__metadata__":[]})", 0) == "safetensors.metadata");
  CHECK(key_of(R"({"__metadata__":{"a":1}})", 0) == "safetensors.metadata");
}

TEST_CASE("element types other than F32 and F64 are refused by name", "[core][safetensors]") {
  for (const std::string_view dtype : {"F16", "BF16", "I64", "U8", "BOOL", "f32", "F8_E4M3", ""}) {
    const Result<StoredTensors> read =
        parse_safetensors(make_file("{\"a\":" + entry("[1]", "[0,4]", dtype) + "}", 4), "model.safetensors");
    REQUIRE_FALSE(read);
    CHECK(read.error() ==
          Error{"safetensors.dtype", "model.safetensors", {{"name", "a"}, {"dtype", std::string(dtype)}}});
  }
}

TEST_CASE("negative and overflowing shapes are refused", "[core][safetensors]") {
  CHECK(key_of("{\"a\":" + entry("[-1]", "[0,4]") + "}", 4) == "safetensors.shape");
  CHECK(key_of("{\"a\":" + entry("[4294967296,4294967296]", "[0,0]") + "}", 0) == "safetensors.shape");
  CHECK(key_of("{\"a\":" + entry("[9223372036854775807,2]", "[0,4]") + "}", 4) == "safetensors.shape");
  // 2^62 numbers of 4 bytes are 2^64 = 0 bytes, modulo 2^64
  CHECK(key_of("{\"a\":" + entry("[4611686018427387904]", "[0,0]") + "}", 0) == "safetensors.size");
}

TEST_CASE("offsets that are reversed or out of range are refused", "[core][safetensors]") {
  CHECK(key_of("{\"a\":" + entry("[1]", "[0,8]") + "}", 4) == "safetensors.offsets");
  CHECK(key_of("{\"a\":" + entry("[1]", "[4,0]") + "}", 4) == "safetensors.offsets");
  CHECK(key_of("{\"a\":" + entry("[1]", "[-4,0]") + "}", 4) == "safetensors.offsets");
  CHECK(key_of("{\"a\":" + entry("[1]", "[9223372036854775803,9223372036854775807]") + "}", 4) ==
        "safetensors.offsets");
}

TEST_CASE("bytes that do not fit the shape are refused", "[core][safetensors]") {
  CHECK(key_of("{\"a\":" + entry("[2]", "[0,4]") + "}", 4) == "safetensors.size");
  CHECK(key_of("{\"a\":" + entry("[1]", "[0,5]") + "}", 5) == "safetensors.size");
  CHECK(key_of("{\"a\":" + entry("[1]", "[0,4]", "F64") + "}", 4) == "safetensors.size");
  CHECK(key_of("{\"a\":" + entry("[]", "[0,0]") + "}", 0) == "safetensors.size");
}

TEST_CASE("tensors that overlap or leave bytes to nobody are refused", "[core][safetensors]") {
  const auto two = [](std::string_view first, std::string_view second) {
    return R"({"a":)" + entry("[2]", first) + R"(,"b":)" + entry("[2]", second) + "}";
  };
  CHECK(key_of(two("[0,8]", "[8,16]"), 16) == "accepted");
  CHECK(key_of(two("[0,8]", "[4,12]"), 12) == "safetensors.overlap");
  CHECK(key_of(two("[0,8]", "[0,8]"), 8) == "safetensors.overlap");
  CHECK(key_of(two("[0,8]", "[12,20]"), 20) == "safetensors.gap");
  CHECK(key_of(two("[4,12]", "[12,20]"), 20) == "safetensors.gap");
  CHECK(key_of(two("[0,8]", "[8,16]"), 17) == "safetensors.trailing");
  CHECK(key_of("{}", 1) == "safetensors.trailing");
  const Result<StoredTensors> overlap = parse_safetensors(make_file(two("[4,12]", "[0,8]"), 12), "f");
  REQUIRE_FALSE(overlap);
  CHECK(overlap.error().values ==
        std::vector<std::pair<std::string, std::string>>{{"name", "a"}, {"other", "b"}});
}

TEST_CASE("a safetensors file that is missing, a folder or cut off is refused", "[core][safetensors]") {
  const TemporaryFolder folder;
  CHECK(read_safetensors(folder / "none").error().key == "file.missing");
  CHECK(read_safetensors(folder.path()).error().key == "file.is_directory");
  const std::string bytes = format_safetensors(sample());
  for (std::size_t length = 0; length < bytes.size(); ++length)
    if (parse_safetensors(std::string_view(bytes).substr(0, length), "f"))
      FAIL("accepted at " << length << " bytes");
}

TEST_CASE("no change of one byte crashes the reader or yields a tensor of a wrong size",
          "[core][safetensors][fuzz]") {
  const std::string bytes = format_safetensors(sample());
  const std::size_t n_header = bytes.rfind('}') + 1;  // any byte of the data is a number
  for (std::size_t place = 0; place < n_header; ++place)
    for (int value = 0; value < 256; ++value) {
      std::string changed = bytes;
      changed[place] = static_cast<char>(value);
      check_survives(changed);
    }
}

TEST_CASE("no mixture of damage crashes the reader or yields a tensor of a wrong size",
          "[core][safetensors][fuzz]") {
  const std::string bytes = format_safetensors(sample());
  Rng rng(2, "damage");
  int n_accepted = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string changed = bytes;
    for (std::size_t n_changes = 1 + draw_below(rng, 4); n_changes > 0 && !changed.empty(); --n_changes)
      damage(changed, rng);
    // every other round mends the length, so that the header's own checks are reached
    if (round % 2 == 0 && changed.size() > 8) {
      const std::size_t end = changed.rfind('}');
      if (end != std::string::npos && end >= 8) changed.replace(0, 8, length_bytes(end - 7));
    }
    n_accepted += parse_safetensors(changed, "f").has_value() ? 1 : 0;
    check_survives(changed);
  }
  CHECK(n_accepted > 0);  // else the damage is too coarse to test the later checks
  CHECK(n_accepted < 20'000);
}
