// Tokens of the expression language: numbers, strings, names (dots and "#2" included), symbols.
#include "lessons/expression_scanner.h"

#include <algorithm>
#include <array>

namespace headscope::lessons {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool begins_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

}  // namespace

void fail_parsing(int column, std::string key, std::vector<std::pair<std::string, std::string>> values) {
  throw ParseFailure{{column, {std::move(key), "", std::move(values)}}};
}

std::size_t Scanner::number_end() const {
  std::size_t end = at_;
  const auto digits = [&] {
    while (end < source_.size() && is_digit(source_[end])) ++end;
  };
  digits();
  if (end < source_.size() && source_[end] == '.') ++end, digits();
  if (end < source_.size() && (source_[end] == 'e' || source_[end] == 'E')) {
    ++end;
    if (end < source_.size() && (source_[end] == '-' || source_[end] == '+')) ++end;
    digits();
  }
  return end;
}

std::size_t Scanner::name_end() const {
  std::size_t end = at_;
  while (end < source_.size() && (begins_name(source_[end]) || is_digit(source_[end]) || source_[end] == '.'))
    ++end;
  if (end < source_.size() && source_[end] == '#') {
    ++end;
    while (end < source_.size() && is_digit(source_[end])) ++end;
  }
  return end;
}

void Scanner::advance() {
  while (at_ < source_.size() && (source_[at_] == ' ' || source_[at_] == '\t' || source_[at_] == '\n')) ++at_;
  if (at_ == source_.size()) return set(Token::Kind::end, at_);
  const char c = source_[at_];
  if (is_digit(c)) return set(Token::Kind::number, number_end());
  if (begins_name(c)) return set(Token::Kind::name, name_end());
  if (c == '\'' || c == '"') {
    const std::size_t end = source_.find(c, at_ + 1);
    if (end == std::string_view::npos) fail_parsing(static_cast<int>(at_) + 1, "expression.unclosed_string");
    token_ = {Token::Kind::text, source_.substr(at_ + 1, end - at_ - 1), static_cast<int>(at_) + 1};
    at_ = end + 1;
    return;
  }
  static constexpr std::array<std::string_view, 4> kPairs = {"==", "!=", "<=", ">="};
  if (std::find(kPairs.begin(), kPairs.end(), source_.substr(at_, 2)) != kPairs.end())
    return set(Token::Kind::symbol, at_ + 2);
  static constexpr std::string_view kSymbols = "+-*/()[],:<>";
  if (kSymbols.find(c) == std::string_view::npos)
    fail_parsing(static_cast<int>(at_) + 1, "expression.unexpected", {{"found", std::string(1, c)}});
  set(Token::Kind::symbol, at_ + 1);
}

}  // namespace headscope::lessons
