// The least solution of "what goes into a variable is what its lines can give": repeated until nothing is
// new.
#include "core/tasks/grammar_analysis.h"

#include <algorithm>

namespace headscope::core::grammar {

namespace {

/// Beyond so many texts a variable counts as any: the sets stay small whatever the file.
constexpr std::size_t kMostTexts = 256;
/// Statements that are looked at until nothing is new: a grammar of a usual size needs a few thousand.
constexpr std::size_t kMostVisits = std::size_t{1} << 19;

template <class List>
std::optional<std::size_t> find_named(const List& list, std::string_view name) {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const auto& each) { return each.name == name; });
  if (found == list.end()) return std::nullopt;
  return static_cast<std::size_t>(found - list.begin());
}

}  // namespace

bool Possible::add(const Possible& other) {
  const auto size = [&] { return words.size() + rules.size() + texts.size() + (is_any_text ? 1 : 0); };
  const std::size_t before = size();
  const bool was_any = is_any_text;
  words.insert(other.words.begin(), other.words.end());
  rules.insert(other.rules.begin(), other.rules.end());
  if (!is_any_text) texts.insert(other.texts.begin(), other.texts.end());
  if (other.is_any_text || texts.size() > kMostTexts) {
    is_any_text = true;
    texts.clear();
  }
  return is_any_text != was_any || size() > before;
}

Analysis::Analysis(const GrammarSyntax& syntax, const Program& program) : syntax_(syntax), program_(program) {
  for (const Rule& rule : program.rules) slots_.emplace_back(rule.slots.size());
  std::size_t n_visits = 0;
  for (bool is_new = true; is_new;) {
    is_new = false;
    for (std::size_t rule = 0; rule < program.rules.size(); ++rule)
      for (const Statement& statement : syntax.rules[rule].statements) {
        if (++n_visits > kMostVisits)
          throw Wrong{error_at("grammar.too_large", syntax.files, statement.place)};
        if (visit(rule, statement)) is_new = true;
      }
  }
}

bool Analysis::visit(std::size_t rule, const Statement& statement) {
  if (statement.kind != Statement::Kind::choose && statement.kind != Statement::Kind::let) return false;
  const std::optional<std::size_t> slot = program_.rules[rule].find_slot(statement.name);
  if (!slot) return false;
  Possible given;
  bool is_new = false;
  if (statement.kind == Statement::Kind::choose) {
    for (const auto& [option, weight] : statement.options)
      given.texts.insert(program_.symbols.find(option.text).value_or(kAbsent));
    return slots_[rule][*slot].add(given);
  }
  const Expression& source = statement.source;
  const bool is_name = source.kind != Expression::Kind::text && source.names.size() == 1;
  const std::optional<std::size_t> words = is_name ? find_words(program_, source.names[0]) : std::nullopt;
  const std::optional<std::size_t> target = is_name ? find_rule(program_, source.names[0]) : std::nullopt;
  if (words) {
    given.words.insert(*words);
  } else if (target) {
    given.rules.insert(*target);
    const Rule& called = program_.rules[*target];
    for (const Argument& argument : source.arguments) {
      const std::optional<std::size_t> parameter = called.find_slot(name_of(argument));
      if (parameter && *parameter < called.n_parameters &&
          slots_[*target][*parameter].add(of(rule, argument.value)))
        is_new = true;
    }
  } else {
    given = of(rule, source);
  }
  return slots_[rule][*slot].add(given) || is_new;
}

const Possible& Analysis::column(std::size_t words, std::size_t column) const {
  const auto [entry, is_new] = columns_.try_emplace({words, column});
  if (is_new) {
    Possible all;
    const Cells& cells = program_.cells_of(words);
    for (const std::size_t row : program_.words[words].rows)
      if (const Symbol symbol = cells.cell(row, column); symbol != kAbsent && all.texts.size() <= kMostTexts)
        all.texts.insert(symbol);
    entry->second.add(all);
  }
  return entry->second;
}

Possible Analysis::follow(const Possible& from, const std::string& name) const {
  Possible result;
  for (const std::size_t rule : from.rules)
    if (const std::optional<std::size_t> slot = program_.rules[rule].find_slot(name))
      result.add(slots_[rule][*slot]);
  for (const std::size_t words : from.words)
    if (const std::optional<std::size_t> found = program_.cells_of(words).find_column(name))
      result.add(column(words, *found));
  return result;
}

Possible Analysis::of(std::size_t rule, const Expression& expression) const {
  Possible result;
  if (expression.kind == Expression::Kind::call) {
    const std::optional<std::size_t> table = find_table(program_, expression.names[0]);
    if (!table) return result;
    const Cells& cells = program_.cells[program_.tables[*table].cells];
    const std::optional<std::size_t> found = cells.find_column(expression.column);
    if (!found) return result;
    for (std::size_t row = 0; row < cells.n_rows() && result.texts.size() <= kMostTexts; ++row)
      if (const Symbol symbol = cells.cell(row, *found); symbol != kAbsent) result.texts.insert(symbol);
    result.add({});
    return result;
  }
  if (expression.kind == Expression::Kind::path) {
    if (const std::optional<std::size_t> slot = program_.rules[rule].find_slot(expression.names[0])) {
      result = slots_[rule][*slot];
      for (std::size_t k = 1; k < expression.names.size(); ++k) result = follow(result, expression.names[k]);
      return result;
    }
    if (expression.names.size() > 1) return result;
  }
  const std::string& text = expression.kind == Expression::Kind::text ? expression.text : expression.names[0];
  result.texts.insert(program_.symbols.find(text).value_or(kAbsent));
  return result;
}

std::string name_of(const Argument& argument) {
  const bool is_name = argument.value.kind == Expression::Kind::path && argument.value.names.size() == 1;
  return argument.name.empty() && is_name ? argument.value.names[0] : argument.name;
}

std::optional<std::size_t> find_words(const Program& program, std::string_view name) {
  return find_named(program.words, name);
}
std::optional<std::size_t> find_rule(const Program& program, std::string_view name) {
  return find_named(program.rules, name);
}
std::optional<std::size_t> find_table(const Program& program, std::string_view name) {
  return find_named(program.tables, name);
}

}  // namespace headscope::core::grammar
