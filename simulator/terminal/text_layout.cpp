// Widths by utf8proc; everything else is counting.
#include "simulator/terminal/text_layout.h"

#include <utf8proc.h>

#include <algorithm>
#include <cassert>

namespace headscope::simulator::terminal {
namespace {

struct Character {
  std::size_t n_bytes;
  std::size_t width;
};

/// The first character, or the styling escape as a whole. Precondition: text is not empty. An invalid byte
/// counts as one column.
Character first_character(std::string_view text) {
  if (text.starts_with("\x1b["))
    if (const std::size_t end = text.find('m'); end != std::string_view::npos) return {end + 1, 0};
  utf8proc_int32_t code = 0;
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const utf8proc_ssize_t n_bytes = utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size()), &code);
  if (n_bytes <= 0) return {1, 1};
  return {static_cast<std::size_t>(n_bytes), static_cast<std::size_t>(std::max(utf8proc_charwidth(code), 0))};
}

/// The longest beginning of at most `width` columns, at least one character.
std::string_view beginning(std::string_view text, std::size_t width) {
  std::size_t place = 0, used = 0;
  while (place < text.size()) {
    const Character character = first_character(text.substr(place));
    if (used + character.width > width && place > 0) break;
    place += character.n_bytes;
    used += character.width;
  }
  return text.substr(0, place);
}

/// Whether the text takes at most `width` columns; looks no farther than that.
bool fits(std::string_view text, std::size_t width) {
  const std::string_view part = beginning(text, width);
  return part.size() == text.size() && display_width(part) <= width;
}

/// Collects words into lines.
class Wrapper {
 public:
  Wrapper(std::size_t width, std::size_t indent, std::size_t hanging)
      : width_(width), hanging_(hanging), line_(indent, ' '), used_(indent) {}

  void add_word(std::string_view word) {
    if (has_word_ && (used_ >= width_ || !fits(word, width_ - used_ - 1))) break_line();
    if (has_word_) append(" ");
    while (used_ > width_ || !fits(word, width_ - used_)) {
      const std::size_t room = width_ > used_ ? width_ - used_ : 1;
      const std::string_view part = beginning(word, room);
      append(part);
      word.remove_prefix(part.size());
      if (word.empty()) return;
      break_line();
    }
    append(word);
  }

  void break_line() {
    while (!line_.empty() && line_.back() == ' ') line_.pop_back();
    lines_.push_back(std::move(line_));
    line_ = std::string(hanging_, ' ');
    used_ = hanging_;
    has_word_ = false;
  }

  std::vector<std::string> finish() {
    break_line();
    return std::move(lines_);
  }

 private:
  void append(std::string_view text) {
    line_ += text;
    used_ += display_width(text);
    has_word_ = true;
  }

  std::size_t width_, hanging_;
  std::vector<std::string> lines_;
  std::string line_;
  std::size_t used_;
  bool has_word_ = false;
};

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const Character character = first_character(text);
    width += character.width;
    text.remove_prefix(character.n_bytes);
  }
  return width;
}

std::string pad(std::string_view text, std::size_t width, Align align) {
  const std::size_t used = display_width(text);
  const std::string blanks(width > used ? width - used : 0, ' ');
  return align == Align::left ? std::string(text) + blanks : blanks + std::string(text);
}

std::string shorten(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width <= 1) return "…";
  return std::string(beginning(text, width - 1)) + "…";
}

std::vector<std::string> wrap(std::string_view text, std::size_t width, std::size_t indent,
                              std::size_t hanging) {
  Wrapper wrapper(width, indent, hanging);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(" \n"), text.size());
    if (end > 0) wrapper.add_word(text.substr(0, end));
    if (end < text.size() && text[end] == '\n') wrapper.break_line();
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return wrapper.finish();
}

std::vector<std::string> table_lines(const Table& table) {
  std::vector<std::size_t> widths(table.columns.size(), 0);
  for (const std::vector<std::string>& row : table.rows) {
    assert(row.size() == widths.size());
    for (std::size_t column = 0; column < row.size(); ++column)
      widths[column] = std::max(widths[column], display_width(row[column]));
  }
  std::vector<std::string> lines;
  for (const std::vector<std::string>& row : table.rows) {
    std::string line;
    for (std::size_t column = 0; column < row.size(); ++column)
      line += (column > 0 ? "  " : "") + pad(row[column], widths[column], table.columns[column]);
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace headscope::simulator::terminal
