// A grammar's text as lines of tokens. What they mean is the parser's.
#pragma once

#include "core/tasks/grammar_syntax.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::core::grammar {

struct Token {
  enum class Kind : std::uint8_t { word, text, sign, end };
  Kind kind = Kind::end;
  std::string text = {};  // a quoted text without its quotes
  bool is_glued = false;  // no blank before it
  Place place = {};
};

/// A statement's tokens, and how far its first line is indented. Lines that are indented further than the
/// first line below a rule or form continue the one above.
struct Line {
  std::size_t indent = 0;
  std::vector<Token> tokens = {};  // the last one is Kind::end
};

/// Errors, collected: grammar.encoding, grammar.character (found), grammar.unclosed_quote.
std::vector<Line> scan(std::string_view text, const std::vector<std::string>& files, std::size_t file,
                       std::vector<Error>& errors);

/// A line that is read from left to right; what is not as expected throws Wrong.
class Reader {
 public:
  Reader(const Line& line, const std::vector<std::string>& files) : line_(line), files_(files) {}

  const Token& peek(std::size_t ahead = 0) const;
  Token take();
  bool at_end() const { return peek().kind == Token::Kind::end; }
  bool is_sign(std::string_view sign, std::size_t ahead = 0) const;
  bool is_word(std::string_view word) const;
  bool is_one_of(std::initializer_list<std::string_view> words) const;
  /// Takes the sign or word if it stands next.
  bool skip_sign(std::string_view sign);
  bool skip_word(std::string_view word);
  /// Errors: grammar.expected_sign (expected, found), grammar.expected_name (found), grammar.reserved (name),
  /// grammar.trailing (found).
  void expect(std::string_view sign);
  void expect_word(std::string_view word);
  /// Any word or text.
  std::string take_value();
  /// A word that does not begin with a digit and is none of the grammar's own.
  std::string take_name();
  void expect_end() const;
  [[noreturn]] void fail(std::string key) const;
  [[noreturn]] void fail(std::string key, const Token& at,
                         std::vector<std::pair<std::string, std::string>> values) const;

 private:
  const Line& line_;
  const std::vector<std::string>& files_;
  std::size_t next_ = 0;
};

}  // namespace headscope::core::grammar
