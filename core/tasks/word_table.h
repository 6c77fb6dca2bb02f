// A table of words: tab-separated text, its first line the columns' names. What the columns mean is the
// grammar's.
#pragma once

#include "core/result.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::core {

/// Entries and their cells, as text.
struct WordTable {
  std::vector<std::string> columns;
  std::vector<std::string> cells;  // [row][column]
  std::vector<std::size_t> lines;  // [row]: where it stands in the file, from 1

  std::size_t n_rows() const { return lines.size(); }
  const std::string& cell(std::size_t row, std::size_t column) const {
    return cells[row * columns.size() + column];
  }
  std::optional<std::size_t> find_column(std::string_view name) const;
};

/// The most that a table and a cell may be; a file may have kMostGrammarBytes.
inline constexpr std::size_t kMostTableRows = 20'000;
inline constexpr std::size_t kMostTableColumns = 64;
inline constexpr std::size_t kMostCellBytes = 200;
inline constexpr std::size_t kMostGrammarBytes = std::size_t{1} << 20;

/// The text as its lines: a byte order mark and carriage returns at the ends are dropped, characters composed
/// (Unicode's NFC), as the tokenizer has them. Errors: grammar.encoding (a byte that is no UTF-8, or a
/// control character other than a tab; line, column).
Result<std::vector<std::string>> grammar_lines(std::string_view text, const std::string& where);

/// Lines that are empty or begin with '#' are passed over. A cell is "-" (the entry does not have this),
/// "\"\"" (the empty text), or words parted by one space each. Errors, each with its line: those of
/// grammar_lines(), grammar.table_empty (no entry), grammar.column_name (not lower case, digits, '_'),
/// grammar.column_twice, grammar.cell_count (expected, found), grammar.cell (column: empty, too long, or
/// spaces at an end or doubled), grammar.table_size.
Result<WordTable> parse_word_table(std::string_view text, const std::string& where);

}  // namespace headscope::core
