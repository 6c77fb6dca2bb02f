// The terminal's look: blank lines between groups, two blanks of indentation, bold where allowed.
#include "simulator/terminal/printer.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ostream>

namespace headscope::simulator::terminal {
namespace {

constexpr std::size_t kFewestColumns = 40;
constexpr std::size_t kMostColumns = 100;  // longer lines are hard to read

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value && *value;
}

}  // namespace

Screen find_screen() {
  Screen screen;
  if (isatty(STDOUT_FILENO) == 0) return screen;
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    screen.columns = std::clamp<std::size_t>(size.ws_col, kFewestColumns, kMostColumns);
  const char* kind = std::getenv("TERM");
  const bool is_dumb = !kind || std::string_view(kind) == "dumb";
  if (!is_set("NO_COLOR") && !is_dumb) screen.styling = Styling::bold;
  return screen;
}

bool input_is_terminal() {
  return isatty(STDIN_FILENO) != 0;
}

std::string Printer::bold(std::string_view text) const {
  if (screen_.styling == Styling::plain) return std::string(text);
  return "\x1b[1m" + std::string(text) + "\x1b[0m";
}

void Printer::heading(std::string_view text) {
  for (const std::string& line : wrap(text, screen_.columns)) out_ << bold(line) << "\n";
}

void Printer::paragraph(std::string_view text, std::size_t indent, std::size_t hanging) {
  for (const std::string& line : wrap(text, screen_.columns, indent, hanging)) out_ << line << "\n";
}

void Printer::blank() {
  out_ << "\n";
}

std::string Printer::text_of(const std::vector<lessons::ProseRun>& runs) const {
  std::string text;
  for (const lessons::ProseRun& run : runs) {
    text += run.strong ? bold(run.text) : run.text;
    if (!run.address.empty() && run.address != run.text) text += " (" + run.address + ")";
  }
  return text;
}

void Printer::prose(const std::vector<lessons::ProseBlock>& blocks, std::size_t indent) {
  using Kind = lessons::Block::Kind;
  bool after_item = false;
  for (const lessons::ProseBlock& block : blocks) {
    const bool is_item = block.kind == Kind::list_item;
    if (&block != &blocks.front() && !(is_item && after_item)) blank();
    after_item = is_item;
    const std::size_t depth = static_cast<std::size_t>(std::max(block.depth, 0));
    const std::string text = text_of(block.runs);
    switch (block.kind) {
      case Kind::heading:
        heading(text);
        break;
      case Kind::paragraph:
        paragraph(text, indent + 2 * depth, indent + 2 * depth);
        break;
      case Kind::code:
        paragraph(text, indent + 4, indent + 4);
        break;
      case Kind::rule:
        break;
      case Kind::list_item: {
        const std::string mark = block.number > 0 ? std::to_string(block.number) + ". " : "- ";
        const std::size_t start = indent + 2 * (std::max<std::size_t>(depth, 1) - 1);
        paragraph(mark + text, start, start + mark.size());
        break;
      }
    }
  }
}

void Printer::table(const Table& table, std::size_t indent) {
  for (const std::string& line : table_lines(table)) out_ << std::string(indent, ' ') << line << "\n";
}

}  // namespace headscope::simulator::terminal
