// TOML as plain data with line numbers. toml++ itself stays in toml.cpp, which is slow to compile.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace headscope::lessons {

struct TomlNode;
using TomlArray = std::vector<TomlNode>;
using TomlTable = std::vector<std::pair<std::string, TomlNode>>;  // in the order of the file

/// A value and the place where it begins (lines and columns from 1). Dates and times are not used and read as
/// strings.
struct TomlNode {
  std::variant<std::string, std::int64_t, double, bool, TomlArray, TomlTable> value = TomlTable{};
  int line = 1;
  int column = 1;
  int end_line = 1;  // the line of its last character

  /// The value as T, or null: `node.get<std::string>()`.
  template <class T>
  const T* get() const {
    return std::get_if<T>(&value);
  }
  /// An integer or a real as a double, or nothing.
  bool is_number() const { return get<std::int64_t>() || get<double>(); }
  double number() const {
    return get<double>()         ? *get<double>()
           : get<std::int64_t>() ? static_cast<double>(*get<std::int64_t>())
                                 : 0.0;
  }
  /// The member of a table, or null (also where this is no table).
  const TomlNode* find(std::string_view key) const;
};

struct TomlSyntaxError {
  int line = 1;
  int column = 1;
  std::string message;  // toml++'s own words
};

/// Parses a document. `first_line` is the line of its first line in the file around it.
std::variant<TomlNode, TomlSyntaxError> parse_toml(std::string_view text, int first_line = 1);

}  // namespace headscope::lessons
