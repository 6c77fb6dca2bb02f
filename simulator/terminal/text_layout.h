// Plain text in columns: how wide a string is on a terminal, wrapping, and aligned tables. No colours, no
// input.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::simulator::terminal {

/// Columns that UTF-8 text takes: wide ideographs 2, combining marks 0 (utf8proc's figures). Escape sequences
/// are not known here.
std::size_t display_width(std::string_view text);

enum class Align { left, right };

/// With blanks up to `width` columns; longer text stays as it is.
std::string pad(std::string_view text, std::size_t width, Align align);

/// Cut to `width` columns, with "…" as the last one where something is missing.
std::string shorten(std::string_view text, std::size_t width);

/// Lines of at most `width` columns, broken at blanks; a word that is wider alone is broken inside. "\n"
/// breaks. Every line but the first begins with `hanging` blanks, the first with `indent`.
std::vector<std::string> wrap(std::string_view text, std::size_t width, std::size_t indent = 0,
                              std::size_t hanging = 0);

/// A table of text. Every row has as many cells as there are columns.
struct Table {
  std::vector<Align> columns;
  std::vector<std::vector<std::string>> rows;  // the first may be a heading; all are laid out alike
};

/// One line a row, columns two blanks apart, without blanks at a line's end.
std::vector<std::string> table_lines(const Table& table);

}  // namespace headscope::simulator::terminal
