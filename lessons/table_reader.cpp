// Typed access to a TOML table, with a problem for everything that is not as it should be.
#include "lessons/table_reader.h"

#include "core/printable.h"
#include "lessons/lesson_blocks.h"

#include <algorithm>
#include <utility>

namespace headscope::lessons {

TextPlace text_place(const TomlNode& node) {
  const std::string* text = node.get<std::string>();
  if (!text || node.end_line == node.line) return {node.line, node.column + 1};
  // a """ string may begin with a line break that is no part of it
  const auto n_breaks = static_cast<int>(std::count(text->begin(), text->end(), '\n'));
  const bool begins_below = node.end_line - node.line > n_breaks;
  return begins_below ? TextPlace{node.line + 1, 1} : TextPlace{node.line, node.column + 3};
}

TableReader::TableReader(const TomlNode& node, std::string table, int line, const std::string& file,
                         Problems& problems)
    : node_(node), table_(std::move(table)), line_(line), file_(file), problems_(problems) {}

void TableReader::problem(int line, int column, std::string key,
                          std::vector<std::pair<std::string, std::string>> values) {
  add_problem(problems_, file_, line, column, std::move(key), std::move(values));
}

void TableReader::expects(std::string_view key, const TomlNode& node, std::string_view what) {
  problem(node.line, node.column, "lesson.expects_" + std::string(what),
          {{"key", std::string(key)}, {"table", table_}});
}

const TomlNode* TableReader::find(std::string_view key, Presence presence) {
  known_.emplace_back(key);
  const TomlNode* node = node_.find(key);
  if (!node && presence == Presence::required)
    problem(line_, 1, "lesson.missing_key", {{"key", std::string(key)}, {"table", table_}});
  return node;
}

PlacedText TableReader::placed_text(std::string_view key, Presence presence) {
  const TomlNode* node = find(key, presence);
  if (!node) return {};
  const std::string* text = node->get<std::string>();
  if (!text) {
    expects(key, *node, "text");
    return {};
  }
  if (text->find_first_not_of(" \t\n") == std::string::npos)
    problem(node->line, node->column, "lesson.empty_text", {{"key", std::string(key)}, {"table", table_}});
  return placed(*text, *node);
}

PlacedText TableReader::placed(const std::string& text, const TomlNode& node) {
  const TextPlace place = text_place(node);
  if (core::find_control(text) == std::string::npos) return {text, place.line, place.column};
  problem(node.line, node.column, "lesson.control_character");  // written as "\u001b"
  return {core::printable(text, core::Unprintable::blank), place.line, place.column};
}

std::optional<std::string> TableReader::text(std::string_view key, Presence presence) {
  PlacedText placed = placed_text(key, presence);
  if (placed.line == 0) return std::nullopt;
  return std::move(placed.text);
}

std::vector<PlacedText> TableReader::texts(std::string_view key, Presence presence) {
  const TomlNode* node = find(key, presence);
  if (!node) return {};
  const TomlArray* items = node->get<TomlArray>();
  if (!items) {
    expects(key, *node, "list");
    return {};
  }
  std::vector<PlacedText> result;
  for (const TomlNode& item : *items) {
    const std::string* text = item.get<std::string>();
    if (!text) {
      expects(key, item, "text");
      continue;
    }
    result.push_back(placed(*text, item));
  }
  return result;
}

std::vector<Block> TableReader::markdown(std::string_view key, Presence presence) {
  const PlacedText text = placed_text(key, presence);
  std::vector<Block> blocks = parse_markdown(text.text, text.line);
  for (Block& block : blocks)
    for (Run& run : block.runs)
      if (run.line == text.line) run.column += text.column - 1;  // columns of the file, not of the string
  return blocks;
}

std::optional<PlacedExpression> TableReader::expression(std::string_view key, Presence presence) {
  const PlacedText text = placed_text(key, presence);
  if (text.line == 0 || text.text.find_first_not_of(" \t\n") == std::string::npos) return std::nullopt;
  ExpressionResult<Expression> parsed = parse_expression(text.text);
  if (const auto* error = std::get_if<ExpressionError>(&parsed)) {
    problem(text.line, text.column + error->column - 1, error->error.key, error->error.values);
    return std::nullopt;
  }
  return PlacedExpression{std::get<Expression>(std::move(parsed)), text.line, text.column};
}

std::int64_t TableReader::whole(std::string_view key, std::int64_t fallback, Presence presence) {
  const TomlNode* node = find(key, presence);
  if (!node) return fallback;
  if (const std::int64_t* value = node->get<std::int64_t>()) return *value;
  expects(key, *node, "whole");
  return fallback;
}

double TableReader::number(std::string_view key, double fallback) {
  const TomlNode* node = find(key, Presence::optional);
  if (!node) return fallback;
  if (node->is_number()) return node->number();
  expects(key, *node, "number");
  return fallback;
}

std::optional<bool> TableReader::truth(std::string_view key) {
  const TomlNode* node = find(key, Presence::optional);
  if (!node) return std::nullopt;
  if (const bool* value = node->get<bool>()) return *value;
  expects(key, *node, "truth");
  return std::nullopt;
}

std::vector<const TomlNode*> TableReader::tables(std::string_view key) {
  const TomlNode* node = find(key, Presence::optional);
  if (!node) return {};
  const TomlArray* items = node->get<TomlArray>();
  if (!items) expects(key, *node, "list");
  std::vector<const TomlNode*> result;
  if (!items) return {};
  for (const TomlNode& item : *items) {
    if (item.get<TomlTable>())
      result.push_back(&item);
    else
      expects(key, item, "table");
  }
  return result;
}

void TableReader::finish() {
  const TomlTable* members = node_.get<TomlTable>();
  if (!members) return;
  std::string known;
  for (const std::string& key : known_) known += (known.empty() ? "" : ", ") + key;
  for (const auto& [key, node] : *members) {
    if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    // toml++ gives the place of the value; the key stands on the same line (a table's header too)
    problem(node.line, 1, "lesson.unknown_key", {{"key", key}, {"table", table_}, {"known", known}});
  }
}

}  // namespace headscope::lessons
