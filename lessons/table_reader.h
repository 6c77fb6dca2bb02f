// Reads the keys that a TOML block may have, and reports the missing, the mistyped and the unknown ones by
// line.
#pragma once

#include "lessons/lesson.h"
#include "lessons/problem.h"
#include "lessons/toml.h"

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::lessons {

/// Where a string's text begins: one past its quotes, or on the next line of a """ string.
struct TextPlace {
  int line = 1;
  int column = 1;
};
TextPlace text_place(const TomlNode& node);

enum class Presence { required, optional };

/// One table. Every getter notes its key as known; finish() reports the others. Problems: lesson.missing_key,
/// lesson.unknown_key, lesson.empty_text, lesson.expects_text, .expects_whole, .expects_number,
/// .expects_truth, .expects_list, .expects_table, .control_character, and those of
/// parse_expression().
class TableReader {
 public:
  /// `table` names the table in messages ("question"); `line` is where it stands.
  TableReader(const TomlNode& node, std::string table, int line, const std::string& file, Problems& problems);

  const TomlNode* find(std::string_view key, Presence presence);
  std::optional<std::string> text(std::string_view key, Presence presence);
  PlacedText placed_text(std::string_view key, Presence presence);
  std::vector<PlacedText> texts(std::string_view key, Presence presence);
  std::vector<Block> markdown(std::string_view key, Presence presence);
  std::optional<PlacedExpression> expression(std::string_view key, Presence presence);
  std::int64_t whole(std::string_view key, std::int64_t fallback, Presence presence = Presence::optional);
  double number(std::string_view key, double fallback);
  /// yes or no, where the key is there.
  std::optional<bool> truth(std::string_view key);
  /// The tables of `[[key]]`.
  std::vector<const TomlNode*> tables(std::string_view key);
  /// Reports every key that no getter asked for.
  void finish();

  void problem(int line, int column, std::string key,
               std::vector<std::pair<std::string, std::string>> values = {});
  int line() const { return line_; }
  const std::string& file() const { return file_; }
  Problems& problems() { return problems_; }

 private:
  void expects(std::string_view key, const TomlNode& node, std::string_view what);
  PlacedText placed(const std::string& text, const TomlNode& node);

  const TomlNode& node_;
  std::string table_;
  int line_;
  const std::string& file_;
  Problems& problems_;
  std::vector<std::string> known_;
};

}  // namespace headscope::lessons
