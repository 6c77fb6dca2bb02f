// Cuts an expression into tokens. Used by expression.cpp alone.
#pragma once

#include "lessons/expression.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headscope::lessons {

struct Token {
  enum class Kind { end, number, text, name, symbol };
  Kind kind = Kind::end;
  std::string_view text;  // of a string without its quotes
  int column = 1;
};

/// Thrown while parsing; parse_expression() turns it into a result.
struct ParseFailure {
  ExpressionError error;
};

[[noreturn]] void fail_parsing(int column, std::string key,
                               std::vector<std::pair<std::string, std::string>> values = {});

/// Reads one token ahead. Throws ParseFailure at what is no token.
class Scanner {
 public:
  explicit Scanner(std::string_view source) : source_(source) { advance(); }
  const Token& token() const { return token_; }
  /// Moves past the token.
  void advance();
  bool is_symbol(std::string_view symbol) const {
    return token_.kind == Token::Kind::symbol && token_.text == symbol;
  }
  bool is_name(std::string_view name) const {
    return token_.kind == Token::Kind::name && token_.text == name;
  }

 private:
  std::size_t number_end() const;
  std::size_t name_end() const;
  void set(Token::Kind kind, std::size_t end) {
    token_ = {kind, source_.substr(at_, end - at_), static_cast<int>(at_) + 1};
    at_ = end;
  }

  std::string_view source_;
  std::size_t at_ = 0;
  Token token_;
};

}  // namespace headscope::lessons
