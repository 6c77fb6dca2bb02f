// The words that people read, by key, from assets/text/LANGUAGE.toml. Not the lessons: those are files of
// their own.
#pragma once

#include "core/result.h"

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headscope::lessons {

/// What stands in for `{name}`: pairs of name and text.
using TextValues = std::vector<std::pair<std::string, std::string>>;

class TextCatalog {
 public:
  /// Reads a file. Nested tables flatten to dotted keys: `[tensor.scores] title = "…"` is
  /// "tensor.scores.title". Errors: those of core::read_file(); toml.syntax (where = path:line);
  /// text.not_a_string (a value that is no string).
  static core::Result<TextCatalog> load(const std::filesystem::path& path);
  /// The same from text in memory; `where` names it in errors.
  static core::Result<TextCatalog> parse(std::string_view toml, const std::string& where);

  bool has(std::string_view key) const;
  /// The string with its `{placeholders}` filled. A missing key shows as ‹key›, a missing value as {name};
  /// `{{` is a brace.
  std::string text(std::string_view key, const TextValues& values = {}) const;
  /// One line: "where: what. hint". Reads error.KEY.what and error.KEY.hint; `{where}` is a value too. Place
  /// and values are made printable (core/printable.h), values longer than 400 bytes are cut.
  std::string error(const core::Error& error) const;
  /// Every key, sorted.
  std::vector<std::string> keys() const;
  /// A catalog whose every string is accented and bracketed, ⟦ťèxt⟧, placeholders and link targets intact:
  /// text on a screen that does not look like it came from somewhere else.
  TextCatalog pseudo() const;

 private:
  std::map<std::string, std::string, std::less<>> strings_;
};

}  // namespace headscope::lessons
