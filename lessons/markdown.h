// Markdown as plain data: blocks of runs, the same for a window and a terminal. Tensor links and live
// expressions are named here, not yet resolved (runner.h does that).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headscope::lessons {

/// A stretch of text in one style.
struct Run {
  enum class Kind {
    text,         // "\n" alone is a hard line break
    code,         // inline code
    tensor_link,  // [[scores]] or [[scores|the score]]: target is the tensor's name
    web_link,     // target is the address
    live          // `= scores[on, sat]`: target is the expression, text is what was written
  };
  Kind kind = Kind::text;
  std::string text;
  std::string target;
  bool strong = false;
  bool emphasis = false;
  int line = 0;    // in the file, from 1; of the target for links and live expressions
  int column = 0;  // in bytes, from 1

  bool operator==(const Run&) const = default;
};

struct Block {
  enum class Kind { heading, paragraph, list_item, code, rule };
  Kind kind = Kind::paragraph;
  int level = 0;     // heading: 1 to 6
  int depth = 0;     // list items and what stands inside them: 1 for the outermost list; quotations count too
  int number = 0;    // list items: the number, 0 for a bullet
  std::string info;  // code: the language
  std::vector<Run> runs;
  int line = 0;

  bool operator==(const Block&) const = default;
};

/// Parses CommonMark (no raw HTML, no tables; images become their text) with `[[links]]` and live
/// expressions. `first_line` is the line of the text's first line in the file around it.
std::vector<Block> parse_markdown(std::string_view text, int first_line = 1);

/// The text of all runs without styles, blocks separated by a line break.
std::string plain_text(const std::vector<Block>& blocks);

}  // namespace headscope::lessons
