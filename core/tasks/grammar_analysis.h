// What each variable of each rule can be, found before anything is drawn: more than it ever will be, never
// less.
#pragma once

#include "core/tasks/grammar_program.h"
#include "core/tasks/grammar_syntax.h"

#include <cstddef>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace headscope::core::grammar {

/// What a value can be.
struct Possible {
  std::set<std::size_t> words = {}, rules = {};  // entries of them, constituents by them
  std::set<Symbol> texts = {};
  bool is_any_text = false;

  bool is_nothing() const { return words.empty() && rules.empty() && texts.empty() && !is_any_text; }
  bool is_text() const { return words.empty() && rules.empty() && !is_nothing(); }
  /// Whether the texts are all known.
  bool is_known_text() const { return is_text() && !is_any_text; }
  /// Whether anything was new.
  bool add(const Possible& other);
};

class Analysis {
 public:
  /// Preconditions: program.rules has every rule with its slots.
  Analysis(const GrammarSyntax& syntax, const Program& program);

  /// Of a value within that rule. A name that is no variable counts as a text.
  Possible of(std::size_t rule, const Expression& expression) const;
  /// Of a slot of `rule`.
  const Possible& slot(std::size_t rule, std::size_t slot) const { return slots_[rule][slot]; }
  /// One name further: a constituent's variable, an entry's column.
  Possible follow(const Possible& from, const std::string& name) const;
  /// The texts of a column of some words, members of lists not parted.
  const Possible& column(std::size_t words, std::size_t column) const;

 private:
  bool visit(std::size_t rule, const Statement& statement);

  const GrammarSyntax& syntax_;
  const Program& program_;
  std::vector<std::vector<Possible>> slots_;  // [rule][slot]
  mutable std::map<std::pair<std::size_t, std::size_t>, Possible> columns_;
};

/// `name=value`'s name, or that of a value which is one name; empty otherwise.
std::string name_of(const Argument& argument);

/// The words, rule or table of that name.
std::optional<std::size_t> find_words(const Program& program, std::string_view name);
std::optional<std::size_t> find_rule(const Program& program, std::string_view name);
std::optional<std::size_t> find_table(const Program& program, std::string_view name);

}  // namespace headscope::core::grammar
