// What the lines of a rule write, compiled; and the vocabulary that comes of it.
#pragma once

#include "core/tasks/grammar_operands.h"

#include <array>
#include <cstddef>
#include <set>
#include <vector>

namespace headscope::core::grammar {

class Pieces {
 public:
  Pieces(Program& program, const Analysis& analysis, Operands& operands)
      : program_(program), analysis_(analysis), operands_(operands) {}

  /// The items of a line of the rule that `operands` has entered. Throws Wrong: grammar.item, grammar.label,
  /// grammar.no_text_in_language and those of its values.
  std::vector<Piece> compile(const std::vector<Item>& items, std::size_t language);
  /// Tokens of both languages, sorted, into the program.
  void make_vocabularies();

 private:
  Piece compile(const Item& item, std::size_t language);
  void compile_word(const Item& item, const Expression& owner, const Possible& possible, std::size_t language,
                    Piece& piece);
  Spelling spelling(const Item& item, std::size_t words, std::size_t language);
  void add(std::size_t language, Symbol symbol);
  /// Counts what has been looked at, so that no grammar takes long: grammar.too_large.
  void count(std::size_t n_looked_at, const Place& place);

  Program& program_;
  const Analysis& analysis_;
  Operands& operands_;
  std::array<std::set<Symbol>, 2> texts_ = {};  // [language]
  std::size_t n_looked_at_ = 0;
};

}  // namespace headscope::core::grammar
