// Paths are followed through everything that the analysis says they can meet.
#include "core/tasks/grammar_operands.h"

#include <algorithm>

namespace headscope::core::grammar {

std::string dotted(const std::vector<std::string>& names) {
  std::string result;
  for (const std::string& name : names) result += (result.empty() ? "" : ".") + name;
  return result;
}

std::size_t Operands::field(const std::string& name) {
  return program_.fields.try_emplace(name, program_.fields.size()).first->second;
}

Expression Operands::without_last(Expression path) {
  path.names.pop_back();
  path.kind = Expression::Kind::path;
  path.arguments.clear();
  return path;
}

Operand Operands::variable(const Expression& expression) const {
  const std::optional<std::size_t> slot = program_.rules[rule_].find_slot(expression.names[0]);
  if (!slot) fail("grammar.unknown_variable", expression.place, {{"name", expression.names[0]}});
  return {.kind = Operand::Kind::path, .slot = *slot, .place = expression.place};
}

Operand Operands::path(const Expression& expression) {
  if (expression.kind != Expression::Kind::path) fail("grammar.expected_path", expression.place);
  Operand result = variable(expression);
  if (!is_set_[result.slot])
    fail("grammar.unknown_variable", expression.place, {{"name", expression.names[0]}});
  Possible here = analysis_.slot(rule_, result.slot);
  for (std::size_t k = 1; k < expression.names.size(); ++k) {
    const std::string& name = expression.names[k];
    const bool is_known_to_rules = std::all_of(here.rules.begin(), here.rules.end(), [&](std::size_t rule) {
      return program_.rules[rule].find_slot(name).has_value();
    });
    const bool is_known_to_words = std::all_of(here.words.begin(), here.words.end(), [&](std::size_t words) {
      return program_.cells_of(words).find_column(name).has_value();
    });
    if (!is_known_to_rules || !is_known_to_words || (here.rules.empty() && here.words.empty()))
      fail("grammar.unknown_variable", expression.place, {{"name", dotted(expression.names)}});
    result.fields.push_back(field(name));
    here = analysis_.follow(here, name);
  }
  return result;
}

Operand Operands::tokens_path(const Expression& expression) {
  if (expression.kind != Expression::Kind::path) fail("grammar.expected_path", expression.place);
  Operand result = variable(expression);
  Possible here = analysis_.slot(rule_, result.slot);
  for (std::size_t k = 1; k < expression.names.size(); ++k) {
    const std::string& name = expression.names[k];
    const bool is_known = here.words.empty() && !here.rules.empty() &&
                          std::all_of(here.rules.begin(), here.rules.end(), [&](std::size_t rule) {
                            return program_.rules[rule].find_slot(name).has_value();
                          });
    if (!is_known) fail("grammar.unknown_variable", expression.place, {{"name", dotted(expression.names)}});
    result.fields.push_back(field(name));
    here = analysis_.follow(here, name);
  }
  return result;
}

Operand Operands::table_cell(const Expression& call) {
  const std::optional<std::size_t> found = find_table(program_, call.names[0]);
  if (!found || call.names.size() > 1)
    fail("grammar.unknown_table_name", call.place, {{"name", dotted(call.names)}});
  const KeyedTable& table = program_.tables[*found];
  const Cells& cells = program_.cells[table.cells];
  const std::optional<std::size_t> column = cells.find_column(call.column);
  if (!column) fail("grammar.unknown_column", call.place, {{"name", call.column}, {"table", cells.file}});
  Operand result{.kind = Operand::Kind::table, .table = *found, .column = *column, .place = call.place};
  if (call.arguments.size() != table.keys.size())
    fail("grammar.argument_count", call.place,
         {{"name", table.name},
          {"expected", std::to_string(table.keys.size())},
          {"found", std::to_string(call.arguments.size())}});
  for (std::size_t key = 0; key < call.arguments.size(); ++key) {
    const Argument& argument = call.arguments[key];
    const std::string& name = cells.columns[table.keys[key]];
    if (!argument.name.empty() && argument.name != name)
      fail("grammar.unknown_argument", argument.value.place, {{"name", argument.name}, {"of", table.name}});
    Operand given = value(argument.value);
    Possible all;
    for (const auto& [symbol, place] : table.places[key]) all.texts.insert(symbol);
    require_possible(name, all, given, false);
    result.keys.push_back(std::move(given));
  }
  return result;
}

Operand Operands::value(const Expression& expression) {
  if (expression.kind == Expression::Kind::call) return table_cell(expression);
  const bool is_text = expression.kind == Expression::Kind::text;
  if (!is_text) {
    const std::optional<std::size_t> slot = program_.rules[rule_].find_slot(expression.names[0]);
    if ((slot && is_set_[*slot]) || expression.names.size() > 1) return path(expression);
  }
  const std::string& text = is_text ? expression.text : expression.names[0];
  return {
      .kind = Operand::Kind::constant, .symbol = program_.symbols.intern(text), .place = expression.place};
}

void Operands::require_possible(const std::string& name, const Possible& all, const Operand& given,
                                bool is_list) const {
  if (given.kind != Operand::Kind::constant || !all.is_known_text()) return;
  const bool is_possible = std::any_of(all.texts.begin(), all.texts.end(), [&](Symbol symbol) {
    if (!is_list) return symbol == given.symbol;
    const std::span<const Symbol> members = program_.symbols.members(symbol);
    return std::find(members.begin(), members.end(), given.symbol) != members.end();
  });
  if (!is_possible)
    fail("grammar.unknown_value", given.place,
         {{"name", name}, {"value", program_.symbols.text(given.symbol)}});
}

std::vector<Test> Operands::tests(const std::vector<Condition>& conditions) {
  std::vector<Test> tests;
  for (const Condition& condition : conditions) {
    Test test{.kind = condition.kind};
    test.left = condition.left.kind == Expression::Kind::call ? value(condition.left) : path(condition.left);
    if (condition.kind != Condition::Kind::present && condition.kind != Condition::Kind::absent) {
      test.right = value(condition.right);
      if (condition.kind != Condition::Kind::in)
        require_possible(dotted(condition.left.names), possible(condition.left), test.right,
                         condition.kind == Condition::Kind::has);
    }
    tests.push_back(std::move(test));
  }
  return tests;
}

}  // namespace headscope::core::grammar
