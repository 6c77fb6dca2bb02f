// Values and conditions of a rule, compiled: names to numbers, and what cannot be, refused with its place.
#pragma once

#include "core/tasks/grammar_analysis.h"
#include "core/tasks/grammar_program.h"
#include "core/tasks/grammar_syntax.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace headscope::core::grammar {

/// Compiles within one rule at a time. Everything throws Wrong.
class Operands {
 public:
  Operands(const GrammarSyntax& syntax, Program& program, const Analysis& analysis)
      : syntax_(syntax), program_(program), analysis_(analysis) {}

  /// Which rule, and how many of its slots have a value by now; labels never have.
  void enter(std::size_t rule) { rule_ = rule, is_set_.assign(program_.rules[rule].slots.size(), false); }
  void set(std::size_t slot) { is_set_[slot] = true; }
  bool is_set(std::size_t slot) const { return is_set_[slot]; }

  /// A text, a path, a table's cell; a name that is no variable is a text.
  Operand value(const Expression& expression);
  /// A path from a variable. Errors: grammar.unknown_variable.
  Operand path(const Expression& expression);
  /// A path to a constituent, or to a variable or label that makes words. Errors: grammar.unknown_variable,
  /// grammar.no_tokens (a text makes none).
  Operand tokens_path(const Expression& expression);
  /// The path without its last name, for `noun.english`. Precondition: two names or more.
  static Expression without_last(Expression path);

  std::vector<Test> tests(const std::vector<Condition>& conditions);
  Possible possible(const Expression& expression) const { return analysis_.of(rule_, expression); }
  /// Refuses a text that what it is compared with can never be: grammar.unknown_value.
  void require_possible(const std::string& name, const Possible& all, const Operand& given,
                        bool is_list) const;
  [[noreturn]] void fail(std::string key, const Place& place,
                         std::vector<std::pair<std::string, std::string>> values = {}) const {
    throw Wrong{error_at(std::move(key), syntax_.files, place, std::move(values))};
  }
  std::size_t field(const std::string& name);
  std::size_t rule() const { return rule_; }

 private:
  Operand table_cell(const Expression& call);
  Operand variable(const Expression& expression) const;

  const GrammarSyntax& syntax_;
  Program& program_;
  const Analysis& analysis_;
  std::size_t rule_ = 0;
  std::vector<bool> is_set_;
};

/// A name as it was written.
std::string dotted(const std::vector<std::string>& names);

}  // namespace headscope::core::grammar
