// Tab-separated text to cells; every irregularity is refused with its line.
#include "core/tasks/word_table.h"

#include "core/printable.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace headscope::core {

namespace {

struct Free {
  void operator()(utf8proc_uint8_t* text) const { std::free(text); }
};

/// Unicode's composed form. Precondition: valid UTF-8 without zero bytes.
std::string composed(std::string_view text) {
  utf8proc_uint8_t* made = nullptr;
  const utf8proc_ssize_t n_bytes = utf8proc_map(
      reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()),
      &made, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  const std::unique_ptr<utf8proc_uint8_t, Free> owner(made);
  if (n_bytes < 0) return std::string(text);  // no memory: the text as it was is right as well
  return {reinterpret_cast<const char*>(made), static_cast<std::size_t>(n_bytes)};
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

bool is_column_name(std::string_view name) {
  return !name.empty() && !(name[0] >= '0' && name[0] <= '9') &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
}

bool is_cell(std::string_view cell) {
  return !cell.empty() && cell.size() <= kMostCellBytes && cell.front() != ' ' && cell.back() != ' ' &&
         cell.find("  ") == std::string_view::npos;
}

std::vector<std::string_view> split_at_tabs(std::string_view line) {
  std::vector<std::string_view> cells;
  for (std::size_t begin = 0;;) {
    const std::size_t tab = line.find('\t', begin);
    cells.push_back(line.substr(begin, tab == std::string_view::npos ? tab : tab - begin));
    if (tab == std::string_view::npos) return cells;
    begin = tab + 1;
  }
}

}  // namespace

std::optional<std::size_t> WordTable::find_column(std::string_view name) const {
  const auto found = std::find(columns.begin(), columns.end(), name);
  if (found == columns.end()) return std::nullopt;
  return static_cast<std::size_t>(found - columns.begin());
}

Result<std::vector<std::string>> grammar_lines(std::string_view text, const std::string& where) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = text.find('\n', begin);
    if (end == std::string_view::npos) end = text.size();
    std::string_view line = text.substr(begin, end - begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    std::size_t wrong = find_control(line);
    if (wrong == std::string_view::npos) wrong = line.find('\r');
    if (wrong != std::string_view::npos)
      return Error{"grammar.encoding",
                   where,
                   {{"line", std::to_string(lines.size() + 1)}, {"column", std::to_string(wrong + 1)}}};
    lines.push_back(is_ascii(line) ? std::string(line) : composed(line));
    begin = end + 1;
  }
  return lines;
}

Result<WordTable> parse_word_table(std::string_view text, const std::string& where) {
  const Result<std::vector<std::string>> lines = grammar_lines(text, where);
  if (!lines) return lines.error();
  WordTable table;
  for (std::size_t index = 0; index < lines->size(); ++index) {
    const std::string& line = (*lines)[index];
    if (line.empty() || line[0] == '#') continue;
    const std::string number = std::to_string(index + 1);
    const std::vector<std::string_view> cells = split_at_tabs(line);
    if (table.columns.empty()) {
      if (cells.size() > kMostTableColumns)
        return Error{
            "grammar.table_size", where, {{"line", number}, {"most", std::to_string(kMostTableColumns)}}};
      for (const std::string_view name : cells) {
        if (!is_column_name(name))
          return Error{"grammar.column_name", where, {{"line", number}, {"name", std::string(name)}}};
        if (table.find_column(name))
          return Error{"grammar.column_twice", where, {{"line", number}, {"name", std::string(name)}}};
        table.columns.emplace_back(name);
      }
      continue;
    }
    if (cells.size() != table.columns.size())
      return Error{"grammar.cell_count",
                   where,
                   {{"line", number},
                    {"expected", std::to_string(table.columns.size())},
                    {"found", std::to_string(cells.size())}}};
    for (std::size_t column = 0; column < cells.size(); ++column) {
      if (!is_cell(cells[column]))
        return Error{"grammar.cell", where, {{"line", number}, {"column", table.columns[column]}}};
      table.cells.emplace_back(cells[column]);
    }
    table.lines.push_back(index + 1);
    if (table.n_rows() > kMostTableRows)
      return Error{"grammar.table_size", where, {{"line", number}, {"most", std::to_string(kMostTableRows)}}};
  }
  if (table.lines.empty()) return Error{"grammar.table_empty", where, {}};
  return table;
}

}  // namespace headscope::core
