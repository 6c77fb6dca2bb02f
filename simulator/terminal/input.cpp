#include "simulator/terminal/input.h"

#include <charconv>
#include <utility>

namespace headscope::simulator::terminal {
namespace {

constexpr std::pair<std::string_view, Word> kWords[] = {
    {"n", Word::next},          {"next", Word::next},
    {"p", Word::previous},      {"previous", Word::previous},
    {"first", Word::first},     {"last", Word::last},
    {"again", Word::again},     {"hint", Word::hint},
    {"b", Word::back},          {"back", Word::back},
    {"undo", Word::undo},       {"redo", Word::redo},
    {"restore", Word::restore}, {"lessons", Word::lessons},
    {"help", Word::help},       {"h", Word::help},
    {"?", Word::help},          {"q", Word::quit},
    {"quit", Word::quit},       {"exit", Word::quit}};

/// The first word and the rest.
std::pair<std::string_view, std::string_view> split(std::string_view text) {
  const std::size_t blank = text.find_first_of(" \t");
  if (blank == std::string_view::npos) return {text, {}};
  return {text.substr(0, blank), trim(text.substr(blank))};
}

Input parse_reveal(std::string_view rest) {
  if (rest.empty()) return Reveal{};
  const std::optional<std::size_t> question = parse_count(rest);
  if (!question) return Malformed{"terminal.usage.reveal"};
  return Reveal{question};
}

/// The cell ends at the last "]", the value follows: "w_query[0, 1] -2.5" or with "=" between them.
Input parse_edit(std::string_view rest) {
  const std::size_t end = rest.rfind(']');
  if (end == std::string_view::npos) return Malformed{"terminal.usage.edit"};
  std::string_view value = trim(rest.substr(end + 1));
  if (value.starts_with('=')) value = trim(value.substr(1));
  if (value.empty()) return Malformed{"terminal.usage.edit"};
  return Edit{std::string(rest.substr(0, end + 1)), std::string(value)};
}

Input parse_answer(std::string_view rest) {
  if (rest.empty()) return Malformed{"terminal.usage.answer"};
  const std::size_t colon = rest.find(':');
  if (colon != std::string_view::npos)
    if (const std::optional<std::size_t> question = parse_count(trim(rest.substr(0, colon))))
      return AnswerText{question, std::string(trim(rest.substr(colon + 1)))};
  return AnswerText{std::nullopt, std::string(rest)};
}

}  // namespace

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::optional<std::size_t> parse_count(std::string_view text) {
  std::size_t count = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return count;
}

Input parse_input(std::string_view line) {
  const std::string_view text = trim(line);
  if (text.empty()) return Nothing{};
  const auto [word, rest] = split(text);
  if (rest.empty())
    for (const auto& [name, command] : kWords)
      if (text == name) return command;
  if (word == "step") {
    const std::optional<std::size_t> step = parse_count(rest);
    if (!step) return Malformed{"terminal.usage.step"};
    return GoTo{*step};
  }
  if (word == "head") {
    const std::optional<std::size_t> head = parse_count(rest);
    if (!head) return Malformed{"terminal.usage.head"};
    return Head{static_cast<std::int64_t>(*head)};
  }
  if (word == "r" || word == "reveal") return parse_reveal(rest);
  if (word == "a" || word == "answer") return parse_answer(rest);
  if (word == "edit") return parse_edit(rest);
  if (word == "sentence")
    return rest.empty() ? Input(Malformed{"terminal.usage.sentence"}) : Sentence{std::string(rest)};
  if (word == "open") return rest.empty() ? Input(Malformed{"terminal.usage.open"}) : Open{std::string(rest)};
  return FreeText{std::string(text)};
}

}  // namespace headscope::simulator::terminal
