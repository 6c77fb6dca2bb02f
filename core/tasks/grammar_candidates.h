// `let X = WORDS where …`: which entries a variable can take.
#pragma once

#include "core/tasks/grammar_analysis.h"
#include "core/tasks/grammar_operands.h"
#include "core/tasks/grammar_problems.h"
#include "core/tasks/grammar_program.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace headscope::core::grammar {

class CandidateLists {
 public:
  CandidateLists(const Program& program, const Analysis& analysis, Operands& operands, Problems& problems)
      : program_(program), analysis_(analysis), operands_(operands), problems_(problems) {}

  /// The step of a statement of the rule that `operands` has entered; its place, slot and `when` are left to
  /// the caller. Throws Wrong: grammar.expected_column, grammar.unknown_column, grammar.unknown_value,
  /// grammar.no_candidate, grammar.too_large; those of Operands.
  Step compile(const Statement& statement, std::size_t words);

 private:
  Filter compile_filter(const Condition& condition, const Statement& statement, std::size_t words) const;
  bool passes(const Filter& filter, std::size_t words, std::size_t entry) const;
  Candidates candidates_of(std::vector<std::int32_t> entries, std::size_t words) const;
  void make_index(const std::vector<std::int32_t>& entries, std::size_t words, CandidateIndex& index);

  const Program& program_;
  const Analysis& analysis_;
  Operands& operands_;
  Problems& problems_;
  std::size_t n_indexed_ = 0;
};

}  // namespace headscope::core::grammar
