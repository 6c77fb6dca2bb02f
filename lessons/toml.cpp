// The one file that includes toml++. Turns its tree into plain data.
#include "lessons/toml.h"

#include <toml++/toml.h>

#include <algorithm>
#include <optional>
#include <sstream>

namespace headscope::lessons {
namespace {

int place(toml::source_index number) {
  return std::max(1, static_cast<int>(number));
}

TomlNode convert(const toml::node& node, int first_line);

TomlArray convert_items(const toml::array& items, int first_line) {
  TomlArray array;
  for (const toml::node& item : items) array.push_back(convert(item, first_line));
  return array;
}

TomlTable convert_members(const toml::table& members, int first_line) {
  TomlTable table;
  for (const auto& [key, value] : members)
    table.emplace_back(std::string(key.str()), convert(value, first_line));
  // toml++ sorts by key; people read in the order of the file
  std::stable_sort(table.begin(), table.end(), [](const auto& left, const auto& right) {
    return std::pair(left.second.line, left.second.column) <
           std::pair(right.second.line, right.second.column);
  });
  return table;
}

std::string written(const toml::node& node) {
  std::ostringstream text;
  node.visit([&](const auto& value) { text << value; });
  return text.str();
}

TomlNode convert(const toml::node& node, int first_line) {
  TomlNode result;
  result.line = place(node.source().begin.line) + first_line - 1;
  result.column = place(node.source().begin.column);
  result.end_line = std::max(result.line, place(node.source().end.line) + first_line - 1);
  if (const toml::table* members = node.as_table()) {
    result.value = convert_members(*members, first_line);
  } else if (const toml::array* items = node.as_array()) {
    result.value = convert_items(*items, first_line);
  } else if (const auto* text = node.as_string()) {
    result.value = text->get();
  } else if (const auto* whole = node.as_integer()) {
    result.value = whole->get();
  } else if (const auto* real = node.as_floating_point()) {
    result.value = real->get();
  } else if (const auto* truth = node.as_boolean()) {
    result.value = truth->get();
  } else {
    result.value = written(node);
  }
  return result;
}

/// The first key of more than 256 parts, `a.a.a…`: toml++ 3.3 nests a table for each without a limit, and
/// would run into the end of the stack. Any run of a key's characters is taken for one, also within a text.
std::optional<TomlSyntaxError> find_deep_key(std::string_view text, int first_line) {
  constexpr int kMostParts = 256;
  int line = first_line, column = 0, n_parts = 1;
  char before = '\n';
  for (const char c : text) {
    ++column;
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    const bool is_in_key = is_letter || std::string_view("_-.\"' \t").find(c) != std::string_view::npos;
    if (!is_in_key) n_parts = 1;
    if (c == '.' && before != '.' && ++n_parts > kMostParts)
      return TomlSyntaxError{line, column,
                             "exceeded maximum dotted keys depth of 256"};  // toml++ 3.4's words
    if (c == '\n') ++line, column = 0;
    if (c != ' ' && c != '\t') before = c;
  }
  return std::nullopt;
}

}  // namespace

const TomlNode* TomlNode::find(std::string_view key) const {
  const TomlTable* table = get<TomlTable>();
  if (!table) return nullptr;
  for (const auto& [name, node] : *table)
    if (name == key) return &node;
  return nullptr;
}

std::variant<TomlNode, TomlSyntaxError> parse_toml(std::string_view text, int first_line) {
  if (std::optional<TomlSyntaxError> error = find_deep_key(text, first_line)) return *std::move(error);
  try {
    return convert(toml::parse(text), first_line);
  } catch (const toml::parse_error& error) {
    const toml::source_position at = error.source().begin;
    return TomlSyntaxError{place(at.line) + first_line - 1, place(at.column),
                           std::string(error.description())};
  }
}

}  // namespace headscope::lessons
