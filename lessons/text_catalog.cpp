// Strings by key: flattening, placeholders, and the pseudo-language that shows up strays.
#include "lessons/text_catalog.h"

#include "core/printable.h"
#include "lessons/text_file.h"
#include "lessons/toml.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace headscope::lessons {
namespace {

constexpr std::size_t kLongestValue = 400;  // bytes of a name or word in an error

using Strings = std::map<std::string, std::string, std::less<>>;

std::string place_in(const std::string& where, int line, int column) {
  return where + ":" + std::to_string(line) + ":" + std::to_string(column);
}

/// Copies a table's strings under `prefix`. The error is the first value that is no string.
core::Result<void> flatten(const TomlTable& table, const std::string& prefix, const std::string& where,
                           Strings& strings) {
  for (const auto& [name, node] : table) {
    const std::string key = prefix.empty() ? name : prefix + "." + name;
    if (const TomlTable* inner = node.get<TomlTable>()) {
      core::Result<void> done = flatten(*inner, key, where, strings);
      if (!done) return done;
    } else if (const std::string* text = node.get<std::string>()) {
      strings[key] = *text;
    } else {
      return core::Error{"text.not_a_string", place_in(where, node.line, node.column), {{"key", key}}};
    }
  }
  return {};
}

/// The end of the placeholder that begins at `begin` (past its brace), or nothing where the brace opens none.
std::optional<std::size_t> placeholder_end(std::string_view text, std::size_t begin) {
  std::size_t end = begin + 1;
  const auto belongs = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  while (end < text.size() && belongs(text[end])) ++end;
  if (end == begin + 1 || end == text.size() || text[end] != '}') return std::nullopt;
  return end + 1;
}

const std::string* find_value(const TextValues& values, std::string_view name) {
  for (const auto& [key, value] : values)
    if (key == name) return &value;
  return nullptr;
}

std::string fill(std::string_view text, const TextValues& values) {
  std::string filled;
  for (std::size_t at = 0; at < text.size();) {
    if (text.substr(at, 2) == "{{") {
      filled += '{';
      at += 2;
      continue;
    }
    const std::optional<std::size_t> end = text[at] == '{' ? placeholder_end(text, at) : std::nullopt;
    const std::string* value = end ? find_value(values, text.substr(at + 1, *end - at - 2)) : nullptr;
    if (value) {
      filled += *value;
      at = *end;
    } else {
      filled += text[at++];
    }
  }
  return filled;
}

/// The letter with an accent; letters without one here stay as they are.
std::string_view accented(char letter) {
  static constexpr std::array<std::pair<char, std::string_view>, 34> kAccents = {{
      {'a', "á"}, {'b', "ḃ"}, {'c', "ç"}, {'d', "ď"}, {'e', "è"}, {'f', "ḟ"}, {'g', "ğ"},
      {'h', "ĥ"}, {'i', "ï"}, {'k', "ķ"}, {'l', "ľ"}, {'m', "ṁ"}, {'n', "ñ"}, {'o', "ö"},
      {'p', "ṗ"}, {'r', "ř"}, {'s', "š"}, {'t', "ť"}, {'u', "û"}, {'w', "ŵ"}, {'y', "ý"},
      {'z', "ž"}, {'A', "Á"}, {'C', "Ç"}, {'E', "È"}, {'G', "Ğ"}, {'I', "Ï"}, {'N', "Ñ"},
      {'O', "Ö"}, {'R', "Ř"}, {'S', "Š"}, {'T', "Ť"}, {'U', "Û"}, {'W', "Ŵ"},
  }};
  for (const auto& [plain, accent] : kAccents)
    if (plain == letter) return accent;
  return {};
}

/// The end of what must stay as it is at `at`: a placeholder, or a link's target ("[[scores|" of
/// "[[scores|score]]").
std::optional<std::size_t> untouchable_end(std::string_view text, std::size_t at) {
  if (text[at] == '{') return placeholder_end(text, at);
  if (text.substr(at, 2) != "[[") return std::nullopt;
  const std::size_t bar = text.find('|', at), close = text.find("]]", at);
  if (bar < close) return bar + 1;
  if (close != std::string_view::npos) return close + 2;
  return std::nullopt;
}

std::string accent(std::string_view text) {
  std::string result = "⟦";
  for (std::size_t at = 0; at < text.size();) {
    if (const auto end = untouchable_end(text, at)) {
      result += text.substr(at, *end - at);
      at = *end;
      continue;
    }
    const std::string_view letter = accented(text[at]);
    if (letter.empty())
      result += text[at];
    else
      result += letter;
    ++at;
  }
  return result + "⟧";
}

}  // namespace

core::Result<TextCatalog> TextCatalog::load(const std::filesystem::path& path) {
  const core::Result<std::string> text = read_text_file(path);
  if (!text) return text.error();
  return parse(*text, path.string());
}

core::Result<TextCatalog> TextCatalog::parse(std::string_view toml, const std::string& where) {
  const std::variant<TomlNode, TomlSyntaxError> parsed = parse_toml(toml);
  if (const auto* error = std::get_if<TomlSyntaxError>(&parsed))
    return core::Error{
        "toml.syntax", place_in(where, error->line, error->column), {{"message", error->message}}};
  TextCatalog catalog;
  const core::Result<void> done =
      flatten(*std::get<TomlNode>(parsed).get<TomlTable>(), "", where, catalog.strings_);
  if (!done) return done.error();
  return catalog;
}

bool TextCatalog::has(std::string_view key) const {
  return strings_.find(key) != strings_.end();
}

std::string TextCatalog::text(std::string_view key, const TextValues& values) const {
  const auto found = strings_.find(key);
  if (found == strings_.end()) return "‹" + std::string(key) + "›";
  return fill(found->second, values);
}

std::string TextCatalog::error(const core::Error& error) const {
  // files and arguments that are wrong may hold anything, also what steers a terminal
  const std::string where = core::printable(error.where);
  TextValues values = error.values;
  for (auto& [name, value] : values)
    value = core::printable(value, core::Unprintable::escaped, kLongestValue);
  values.emplace_back("where", where);
  const std::string key = "error." + error.key;
  std::string line = where.empty() ? "" : where + ": ";
  line += text(key + ".what", values);
  if (!line.ends_with('.')) line += '.';
  if (!has(key + ".hint")) return line;
  line += ' ';
  return line.append(text(key + ".hint", values));
}

std::vector<std::string> TextCatalog::keys() const {
  std::vector<std::string> keys;
  for (const auto& [key, text] : strings_) keys.push_back(key);
  return keys;
}

TextCatalog TextCatalog::pseudo() const {
  TextCatalog result;
  for (const auto& [key, text] : strings_) result.strings_[key] = accent(text);
  return result;
}

}  // namespace headscope::lessons
