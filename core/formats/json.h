// JSON text to plain values, strictly. The only place that knows the JSON library; knows no format of ours.
#pragma once

#include "core/result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace headscope::core {

struct Json;
using JsonArray = std::vector<Json>;
struct JsonMember;
using JsonObject = std::vector<JsonMember>;  // in the order of the text, no name twice

/// One JSON value. A number without fraction or exponent that fits is an integer, any other a double.
struct Json {
  std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, JsonArray, JsonObject> value;

  const bool* boolean() const { return std::get_if<bool>(&value); }
  const std::int64_t* integer() const { return std::get_if<std::int64_t>(&value); }
  const std::string* text() const { return std::get_if<std::string>(&value); }
  const JsonArray* array() const { return std::get_if<JsonArray>(&value); }
  const JsonObject* object() const { return std::get_if<JsonObject>(&value); }
  bool operator==(const Json&) const = default;
};

struct JsonMember {
  std::string name;
  Json value;
  bool operator==(const JsonMember&) const = default;
};

/// The member of that name, or none. Looks at one after the other: for small objects.
const Json* find_member(const JsonObject& object, std::string_view key);

/// Parses a whole text (UTF-8). Refuses what readers disagree about: a key twice, bytes after the value, a
/// zero byte, invalid UTF-8, numbers that no double holds; and what only an attacker writes: nesting deeper
/// than 64, more than 4 million values. Errors: json.syntax (line, column), json.duplicate_key (key),
/// json.too_deep, json.too_large.
Result<Json> parse_json(std::string_view text, const std::string& where);

/// The value on one line, with a blank after each comma and colon. Precondition: finite numbers.
std::string format_json(const Json& json);

/// "[2,3]".
std::string format_list(std::span<const std::int64_t> numbers);

/// The shortest decimal that reads back to the same bits. Precondition: finite, where JSON is written.
std::string format_number(double value);

/// The string as JSON writes it, with quotes. Invalid UTF-8 becomes U+FFFD.
std::string quote_json(const std::string& text);

}  // namespace headscope::core
