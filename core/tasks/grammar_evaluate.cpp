// Paths through constituents and entries, tables' cells, and conditions.
#include "core/tasks/grammar_evaluate.h"

#include <array>

namespace headscope::core::grammar {

namespace {

using Kind = GrammarValue::Kind;

/// A table's cell; apart from the rest, which is quicker without room for keys.
GrammarValue evaluate_cell(const Program& program, const Derivation& derivation, std::size_t node,
                           const Operand& operand) {
  std::array<Symbol, kMostTableColumns> keys{};
  for (std::size_t key = 0; key < operand.keys.size(); ++key) {
    const GrammarValue given = value_of(program, derivation, node, operand.keys[key]);
    keys[key] = given.kind == Kind::text ? given.id : kAbsent;
  }
  return text_value(look_up(program, program.tables[operand.table],
                            std::span(keys).first(operand.keys.size()), operand.column));
}

bool hold_one(const Program& program, const Derivation& derivation, std::size_t node, const Test& test) {
  const GrammarValue left = value_of(program, derivation, node, test.left);
  if (test.kind == Condition::Kind::present) return left.kind != Kind::absent;
  if (test.kind == Condition::Kind::absent) return left.kind == Kind::absent;
  const GrammarValue right = value_of(program, derivation, node, test.right);
  if (test.kind == Condition::Kind::equal) return is_equal(program, left, right);
  if (test.kind == Condition::Kind::differs) return !is_equal(program, left, right);
  return left.kind == Kind::text && right.kind == Kind::text && holds(program, test.kind, left.id, right.id);
}

}  // namespace

bool is_equal(const Program& program, const GrammarValue& left, const GrammarValue& right) {
  if (left.kind != Kind::entry || right.kind != Kind::entry)
    return left == right && left.kind != Kind::absent;
  // two sets of words can have an entry of one table in common
  const auto table = [&](const GrammarValue& entry) {
    return program.words[static_cast<std::size_t>(entry.words)].cells;
  };
  return table(left) == table(right) && program.row_of(left) == program.row_of(right);
}

bool hold_all(const Program& program, const Derivation& derivation, std::size_t node,
              const std::vector<Test>& tests) {
  for (const Test& test : tests)  // a loop of its own: drawing spends much of its time here
    if (!hold_one(program, derivation, node, test)) return false;
  return true;
}

GrammarValue evaluate(const Program& program, const Derivation& derivation, std::size_t node,
                      const Operand& operand) {
  if (operand.kind == Operand::Kind::constant) return text_value(operand.symbol);
  if (operand.kind == Operand::Kind::table) return evaluate_cell(program, derivation, node, operand);
  GrammarValue here = derivation.values[index(derivation.nodes[node].first_slot) + operand.slot];
  for (const std::size_t field : operand.fields) {
    if (here.kind == Kind::node) {
      const DerivationNode& child = derivation.nodes[index(here.id)];
      const std::int16_t slot = program.rules[index(child.rule)].slot_of[field];
      here = slot < 0 ? GrammarValue() : derivation.values[index(child.first_slot + slot)];
    } else if (here.kind == Kind::entry) {
      const auto words = static_cast<std::size_t>(here.words);
      const std::int16_t column = program.column_of[words][field];
      here = column < 0 ? GrammarValue()
                        : text_value(program.cells_of(words).cell(program.row_of(here),
                                                                  static_cast<std::size_t>(column)));
    } else {
      return {};
    }
  }
  return here;
}

TokenRange find_range(const Program& program, const Derivation& derivation, std::size_t node,
                      const Operand& path, std::size_t language) {
  std::size_t slot = index(derivation.nodes[node].first_slot) + path.slot;
  for (const std::size_t field : path.fields) {
    const GrammarValue& here = derivation.values[slot];
    if (here.kind != Kind::node) return {};
    const DerivationNode& child = derivation.nodes[index(here.id)];
    const std::int16_t next = program.rules[index(child.rule)].slot_of[field];
    if (next < 0) return {};
    slot = index(child.first_slot + next);
  }
  const GrammarValue& last = derivation.values[slot];
  return last.kind == Kind::node ? derivation.nodes[index(last.id)].ranges[language]
                                 : derivation.ranges[language][slot];
}

std::int32_t owner_of(const Program& program, const Derivation& derivation, std::size_t node,
                      const Operand& path) {
  std::size_t slot = index(derivation.nodes[node].first_slot) + path.slot;
  for (const std::size_t field : path.fields) {
    const GrammarValue& here = derivation.values[slot];
    if (here.kind != Kind::node) return -1;
    const DerivationNode& child = derivation.nodes[index(here.id)];
    slot = index(child.first_slot + program.rules[index(child.rule)].slot_of[field]);
  }
  return static_cast<std::int32_t>(slot);
}

}  // namespace headscope::core::grammar
