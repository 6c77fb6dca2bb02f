// What a person types in the terminal, taken apart. Knows no lesson and no numbers.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace headscope::simulator::terminal {

enum class Word {
  next,
  previous,
  first,
  last,
  again,  // the step once more
  hint,   // of the experiment
  back,   // from a cell to the one before, or to the step
  undo,
  redo,
  restore,  // the lesson's own sentence and numbers
  lessons,
  help,
  quit
};

struct Nothing {};
struct GoTo {
  std::size_t step = 0;  // from 1
};
struct Head {
  std::int64_t head = 0;
};
struct Open {
  std::string lesson;
};
struct Reveal {
  std::optional<std::size_t> question;  // from 1
};
struct Sentence {
  std::string text;
};
struct Edit {
  std::string cell;  // "w_query[0, 1]"
  std::string value;
};
/// "a sat", "a 2: sat": certainly an answer.
struct AnswerText {
  std::optional<std::size_t> question;  // from 1
  std::string text;
};
/// Anything else: a cell, a tensor, an answer, the number of a term.
struct FreeText {
  std::string text;
};
/// A command that lacks something, or has too much; `usage` is a key of the text file.
struct Malformed {
  std::string usage;
};

using Input =
    std::variant<Nothing, Word, GoTo, Head, Open, Reveal, Sentence, Edit, AnswerText, FreeText, Malformed>;

Input parse_input(std::string_view line);

/// Without blanks around it.
std::string_view trim(std::string_view text);
/// A whole number from 0, nothing else.
std::optional<std::size_t> parse_count(std::string_view text);

}  // namespace headscope::simulator::terminal
