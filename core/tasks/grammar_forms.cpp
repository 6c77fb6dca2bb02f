// Forms of a grammar's words: every form of every entry spelled out.
#include "core/tasks/grammar_problems.h"
#include "core/tasks/grammar_program.h"

#include <algorithm>
#include <utility>

namespace headscope::core::grammar {

namespace {

constexpr std::size_t kMostFormCells = std::size_t{1} << 17;  // of all forms
constexpr std::size_t kMostFormParts = std::size_t{1} << 25;  // of all cells, with the conditions

/// One part of a form or one side of its condition: a feature, a column, a constant, or a table's cell.
struct Part {
  enum class Kind : std::uint8_t { feature, column, constant, table };
  Kind kind = Kind::constant;
  std::size_t index = 0;  // feature's place in the form, column, or table
  Symbol symbol = kAbsent;
  std::size_t column = 0;
  std::vector<Part> keys = {};
};

struct CaseTest {
  Condition::Kind kind = Condition::Kind::equal;
  Part left = {}, right = {};
};

struct Case {
  std::vector<CaseTest> when = {};
  std::vector<Part> parts = {};
};

class Forms {
 public:
  Forms(const GrammarSyntax& syntax, Program& program, std::vector<Error>& errors)
      : syntax_(syntax), program_(program), problems_(syntax.files, errors) {}

  void compile() {
    for (const FormSyntax& form : syntax_.forms) problems_.collect([&] { compile_form(form); });
  }

 private:
  /// The part that a name or text means in a form; `is_value`: a name that is neither feature nor column is a
  /// text.
  Part part(const Form& form, const Expression& expression, bool is_value) {
    if (expression.kind == Expression::Kind::text)
      return {.kind = Part::Kind::constant, .symbol = program_.symbols.intern(expression.text)};
    if (expression.kind == Expression::Kind::call) return table_part(form, expression);
    const Words& words = program_.words[form.words];
    const Cells& cells = program_.cells[words.cells];
    const bool is_own = expression.names.size() == 2 && expression.names[0] == words.name;
    const std::string& name = expression.names.back();
    if (expression.names.size() == 1)
      for (std::size_t place = 0; place < form.features.size(); ++place)
        if (program_.features[form.features[place]].name == name)
          return {.kind = Part::Kind::feature, .index = place};
    const std::optional<std::size_t> found = cells.find_column(name);
    if (found && (is_own || expression.names.size() == 1))
      return {.kind = Part::Kind::column, .index = *found};
    if (!is_value || expression.names.size() > 1)
      problems_.fail("grammar.unknown_column", expression.place, {{"name", name}, {"table", cells.file}});
    return {.kind = Part::Kind::constant, .symbol = program_.symbols.intern(name)};
  }

  Part table_part(const Form& form, const Expression& call) {
    Part result{.kind = Part::Kind::table};
    const auto table = std::find_if(program_.tables.begin(), program_.tables.end(),
                                    [&](const KeyedTable& each) { return each.name == call.names[0]; });
    if (table == program_.tables.end() || call.names.size() > 1)
      problems_.fail("grammar.unknown_table_name", call.place, {{"name", call.names[0]}});
    const Cells& cells = program_.cells[table->cells];
    result.index = static_cast<std::size_t>(table - program_.tables.begin());
    const std::optional<std::size_t> found = cells.find_column(call.column);
    if (!found)
      problems_.fail("grammar.unknown_column", call.place, {{"name", call.column}, {"table", cells.file}});
    result.column = *found;
    if (call.arguments.size() != table->keys.size())
      problems_.fail("grammar.argument_count", call.place,
                     {{"name", table->name},
                      {"expected", std::to_string(table->keys.size())},
                      {"found", std::to_string(call.arguments.size())}});
    for (std::size_t key = 0; key < call.arguments.size(); ++key) {
      const Argument& argument = call.arguments[key];
      if (!argument.name.empty() && argument.name != cells.columns[table->keys[key]])
        problems_.fail("grammar.unknown_argument", argument.value.place,
                       {{"name", argument.name}, {"of", table->name}});
      if (argument.value.kind == Expression::Kind::call)
        problems_.fail("grammar.nesting", argument.value.place);
      Part value = key_part(form, *table, key, argument.value);
      result.keys.push_back(std::move(value));
    }
    return result;
  }

  /// A feature, a value that the key can have, or a column, in this order; a text is none of the other two.
  Part key_part(const Form& form, const KeyedTable& table, std::size_t key, const Expression& expression) {
    const bool is_name = expression.kind == Expression::Kind::path && expression.names.size() == 1;
    const std::optional<Symbol> symbol = is_name ? program_.symbols.find(expression.names[0]) : std::nullopt;
    const auto& places = table.places[key];
    const bool is_key = symbol && std::any_of(places.begin(), places.end(),
                                              [&](const auto& each) { return each.first == *symbol; });
    Part value = part(form, expression, true);
    if (is_key && value.kind == Part::Kind::column) return {.kind = Part::Kind::constant, .symbol = *symbol};
    if (value.kind == Part::Kind::constant) require_key(table, key, value.symbol, expression.place);
    return value;
  }

  void require_key(const KeyedTable& table, std::size_t key, Symbol symbol, const Place& place) const {
    const auto& places = table.places[key];
    if (std::none_of(places.begin(), places.end(), [&](const auto& each) { return each.first == symbol; }))
      problems_.fail("grammar.unknown_value", place,
                     {{"name", program_.cells[table.cells].columns[table.keys[key]]},
                      {"value", program_.symbols.text(symbol)}});
  }

  /// A name is a text here, be there a column of that name or not: `number=plural`; `noun.plural` is the
  /// column.
  Part right_part(const Form& form, const Expression& expression) {
    if (expression.kind != Expression::Kind::path || expression.names.size() > 1)
      return part(form, expression, true);
    return {.kind = Part::Kind::constant, .symbol = program_.symbols.intern(expression.names[0])};
  }

  CaseTest case_test(const Form& form, const Condition& condition) {
    CaseTest test{.kind = condition.kind, .left = part(form, condition.left, false)};
    if (condition.kind == Condition::Kind::present || condition.kind == Condition::Kind::absent) return test;
    test.right = right_part(form, condition.right);
    if (test.left.kind == Part::Kind::feature && test.right.kind == Part::Kind::constant) {
      const Feature& feature = program_.features[form.features[test.left.index]];
      if (std::find(feature.values.begin(), feature.values.end(), test.right.symbol) == feature.values.end())
        problems_.fail("grammar.unknown_value", condition.right.place,
                       {{"name", feature.name}, {"value", program_.symbols.text(test.right.symbol)}});
    }
    return test;
  }

  void compile_form(const FormSyntax& syntax) {
    Form form{.name = syntax.name, .words = 0, .features = {}, .n_combinations = 1, .cells = {}};
    const auto words = std::find_if(program_.words.begin(), program_.words.end(),
                                    [&](const Words& each) { return each.name == syntax.words; });
    if (words == program_.words.end())
      problems_.fail("grammar.unknown_words", syntax.place, {{"name", syntax.words}});
    form.words = static_cast<std::size_t>(words - program_.words.begin());
    if (program_.cells[words->cells].find_column(syntax.name) || words->forms.contains(syntax.name))
      problems_.fail("grammar.form_twice", syntax.place, {{"name", syntax.words + "." + syntax.name}});
    if (syntax.cases.empty())
      problems_.fail("grammar.empty", syntax.place, {{"name", syntax.words + "." + syntax.name}});
    std::map<std::string, Place> names;
    for (const std::string& name : syntax.features) {
      const auto feature = std::find_if(program_.features.begin(), program_.features.end(),
                                        [&](const Feature& each) { return each.name == name; });
      if (feature == program_.features.end())
        problems_.fail("grammar.unknown_feature", syntax.place, {{"name", name}});
      problems_.claim(names, name, syntax.place);
      form.features.push_back(static_cast<std::size_t>(feature - program_.features.begin()));
      form.n_combinations *= feature->values.size();
      if (form.n_combinations * words->rows.size() > kMostFormCells) break;
    }
    n_form_cells_ += form.n_combinations * words->rows.size();
    if (n_form_cells_ > kMostFormCells)
      problems_.fail("grammar.too_many_forms", syntax.place, {{"most", std::to_string(kMostFormCells)}});
    std::vector<Case> cases;
    for (const FormCase& each : syntax.cases) {
      if (!cases.empty() && cases.back().when.empty()) problems_.fail("grammar.unreachable", each.place);
      Case& made = cases.emplace_back();
      for (const Condition& condition : each.when) made.when.push_back(case_test(form, condition));
      for (const Expression& expression : each.parts) made.parts.push_back(part(form, expression, false));
    }
    for (const Case& each : cases)
      n_form_parts_ += (each.when.size() + each.parts.size()) * form.n_combinations * words->rows.size();
    if (n_form_parts_ > kMostFormParts)
      problems_.fail("grammar.too_many_forms", syntax.place, {{"most", std::to_string(kMostFormCells)}});
    spell(form, cases, syntax.place);
    words->forms.emplace(form.name, program_.forms.size());
    program_.forms.push_back(std::move(form));
  }

  /// Every entry's every form.
  void spell(Form& form, const std::vector<Case>& cases, const Place& place) {
    const std::vector<std::size_t>& rows = program_.words[form.words].rows;
    form.cells.reserve(rows.size() * form.n_combinations);
    std::vector<Symbol> values(form.features.size());
    for (const std::size_t row : rows)
      for (std::size_t combination = 0; combination < form.n_combinations; ++combination) {
        std::size_t rest = combination;
        for (std::size_t k = form.features.size(); k-- > 0;) {
          const std::vector<Symbol>& of_feature = program_.features[form.features[k]].values;
          values[k] = of_feature[rest % of_feature.size()];
          rest /= of_feature.size();
        }
        form.cells.push_back(spell_one(form, cases, row, values, place));
      }
  }

  Symbol part_value(const Form& form, const Part& part, std::size_t row,
                    const std::vector<Symbol>& values) const {
    switch (part.kind) {
      case Part::Kind::feature:
        return values[part.index];
      case Part::Kind::column:
        return program_.cells_of(form.words).cell(row, part.index);
      case Part::Kind::constant:
        return part.symbol;
      case Part::Kind::table:
        break;
    }
    std::vector<Symbol> keys;
    for (const Part& key : part.keys) keys.push_back(part_value(form, key, row, values));
    return look_up(program_, program_.tables[part.index], keys, part.column);
  }

  bool holds(const Form& form, const CaseTest& test, std::size_t row,
             const std::vector<Symbol>& values) const {
    const bool is_pair = test.kind != Condition::Kind::present && test.kind != Condition::Kind::absent;
    return grammar::holds(program_, test.kind, part_value(form, test.left, row, values),
                          is_pair ? part_value(form, test.right, row, values) : kAbsent);
  }

  Symbol spell_one(const Form& form, const std::vector<Case>& cases, std::size_t row,
                   const std::vector<Symbol>& values, const Place& place) {
    const auto found = std::find_if(cases.begin(), cases.end(), [&](const Case& each) {
      return std::all_of(each.when.begin(), each.when.end(),
                         [&](const CaseTest& test) { return holds(form, test, row, values); });
    });
    if (found == cases.end()) return kAbsent;
    std::string text;
    for (const Part& part : found->parts) {
      const Symbol symbol = part_value(form, part, row, values);
      if (symbol == kAbsent) return kAbsent;
      text += program_.symbols.text(symbol);
    }
    if (text.size() > kMostCellBytes)
      problems_.fail("grammar.text_too_long", place, {{"most", std::to_string(kMostCellBytes)}});
    return program_.symbols.intern(text);
  }

  const GrammarSyntax& syntax_;
  Program& program_;
  Problems problems_;
  std::size_t n_form_cells_ = 0, n_form_parts_ = 0;
};

}  // namespace

void compile_forms(const GrammarSyntax& syntax, Program& program, std::vector<Error>& errors) {
  Forms(syntax, program, errors).compile();
}

}  // namespace headscope::core::grammar
