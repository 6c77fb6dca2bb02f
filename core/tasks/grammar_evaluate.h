// What operands and conditions are in a derivation that is being drawn.
#pragma once

#include "core/tasks/grammar_program.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace headscope::core::grammar {

inline std::size_t index(std::int32_t number) {
  return static_cast<std::size_t>(number);
}

inline GrammarValue text_value(Symbol symbol) {
  if (symbol == kAbsent) return {};
  return {.kind = GrammarValue::Kind::text, .words = -1, .id = symbol};
}

/// evaluate(), with what most operands are close at hand: a text, or one of the rule's own variables.
inline GrammarValue value_of(const Program& program, const Derivation& derivation, std::size_t node,
                             const Operand& operand) {
  if (operand.kind == Operand::Kind::constant) return text_value(operand.symbol);
  if (operand.kind == Operand::Kind::path && operand.fields.empty())
    return derivation.values[index(derivation.nodes[node].first_slot) + operand.slot];
  return evaluate(program, derivation, node, operand);
}

/// Whether they are the same text or entry; what is absent equals nothing.
bool is_equal(const Program& program, const GrammarValue& left, const GrammarValue& right);
bool hold_all(const Program& program, const Derivation& derivation, std::size_t node,
              const std::vector<Test>& tests);

/// The variable that has the entry, where the path stays within constituents; -1 elsewhere.
std::int32_t owner_of(const Program& program, const Derivation& derivation, std::size_t node,
                      const Operand& path);

/// Steps, pieces, entries and pairs of aligned tokens that one sentence may take: what bounds the time of the
/// strangest grammar, and the memory of its links.
inline constexpr std::size_t kMostWork = std::size_t{1} << 20;

/// What one draw takes, added to a total.
class Work {
 public:
  Work(const Program& program, std::size_t& total) : program_(program), total_(total), before_(total) {}
  /// Throws Wrong: grammar.too_long.
  void count(std::size_t n_looked_at, const Place& place) {
    total_ += n_looked_at;
    if (total_ - before_ > kMostWork)
      throw Wrong{error_at("grammar.too_long", program_.files, place,
                           {{"most", std::to_string(kMostSentenceTokens)}})};
  }

 private:
  const Program& program_;
  std::size_t& total_;
  std::size_t before_;
};

/// The links and held-out combinations of a derivation whose words stand. Throws what Work::count() does.
void relate(const Program& program, Derivation& into, Work& work);

}  // namespace headscope::core::grammar
