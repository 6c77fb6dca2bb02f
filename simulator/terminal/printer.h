// Prints headings, paragraphs and tables to a terminal or a pipe, never wider than its columns.
#pragma once

#include "lessons/runner.h"
#include "simulator/terminal/text_layout.h"

#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::simulator::terminal {

/// Bold headings and stressed words, or not one escape byte.
enum class Styling { plain, bold };

struct Screen {
  std::size_t columns = 80;
  Styling styling = Styling::plain;
};

/// Of the standard output: its width where it is a terminal (80 else), bold unless NO_COLOR is set, TERM is
/// "dumb", or it is no terminal.
Screen find_screen();
/// Whether a person sits at the standard input.
bool input_is_terminal();

class Printer {
 public:
  Printer(std::ostream& out, const Screen& screen) : out_(out), screen_(screen) {}

  void heading(std::string_view text);
  void paragraph(std::string_view text, std::size_t indent = 0, std::size_t hanging = 0);
  void blank();
  /// Headings, paragraphs, list items and code of a lesson's Markdown.
  void prose(const std::vector<lessons::ProseBlock>& blocks, std::size_t indent = 0);
  /// One block's words in one string, stressed words bold where the screen allows.
  std::string text_of(const std::vector<lessons::ProseRun>& runs) const;
  /// Rows as they are; the caller keeps them within columns().
  void table(const Table& table, std::size_t indent = 0);

  std::size_t columns() const { return screen_.columns; }

 private:
  std::string bold(std::string_view text) const;

  std::ostream& out_;
  Screen screen_;
};

}  // namespace headscope::simulator::terminal
