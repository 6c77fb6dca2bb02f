// Tables, words, features and forms of a grammar: names to numbers, and every form of every entry spelled
// out.
#include "core/tasks/grammar_program.h"

#include <algorithm>
#include <set>
#include <utility>

namespace headscope::core::grammar {

namespace {

constexpr std::size_t kMostTables = 64;
constexpr std::size_t kMostCombinations = std::size_t{1} << 16;  // of a table's keys
constexpr std::size_t kMostFormCells = std::size_t{1} << 17;     // of all forms
constexpr std::size_t kMostFormParts = std::size_t{1} << 25;     // of all cells, with the conditions
constexpr std::size_t kMostValues = 64;                          // of a feature
constexpr std::size_t kMostFeatures = 128;
constexpr std::string_view kWeight = "weight";

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

class Lexicon {
 public:
  Lexicon(const GrammarSyntax& syntax, const ReadFile& read, Program& program, std::vector<Error>& errors)
      : syntax_(syntax), read_(read), program_(program), errors_(errors) {}

  void compile() {
    collect([&] { compile_languages(); });
    for (const NameSyntax& feature : syntax_.features) collect([&] { compile_feature(feature); });
    for (const WordsSyntax& words : syntax_.words)
      collect([&] { words.is_table ? compile_table(words) : compile_words(words); });
    if (!errors_.empty()) return;  // what names them would be judged wrongly
    for (const FormSyntax& form : syntax_.forms) collect([&] { compile_form(form); });
  }

 private:
  template <class Function>
  void collect(Function function) {
    try {
      function();
    } catch (Wrong& wrong) {
      errors_.push_back(std::move(wrong.error));
    }
  }

  [[noreturn]] void fail(std::string key, const Place& place,
                         std::vector<std::pair<std::string, std::string>> values = {}) const {
    throw Wrong{error_at(std::move(key), syntax_.files, place, std::move(values))};
  }

  /// A name's second use; `names` are those of its kind.
  void claim(std::map<std::string, Place>& names, const std::string& name, const Place& place) const {
    const auto [first, is_new] = names.emplace(name, place);
    if (!is_new)
      fail("grammar.duplicate", place, {{"name", name}, {"first", std::to_string(first->second.line)}});
  }

  void compile_languages() {
    if (syntax_.languages.empty()) throw Wrong{{"grammar.no_language", syntax_.files[0], {}}};
    std::map<std::string, Place> names;
    for (const NameSyntax& language : syntax_.languages) {
      claim(names, language.name, language.place);
      if (program_.languages.size() == 2) fail("grammar.too_many_languages", language.place);
      program_.languages.push_back(language.name);
    }
  }

  void compile_feature(const NameSyntax& syntax) {
    claim(feature_names_, syntax.name, syntax.place);
    if (program_.features.size() >= kMostFeatures || syntax.values.size() > kMostValues)
      fail("grammar.too_many_values", syntax.place,
           {{"name", syntax.name}, {"most", std::to_string(kMostValues)}});
    Feature feature{syntax.name, {}};
    std::map<std::string, Place> values;
    for (const std::string& value : syntax.values) {
      claim(values, value, syntax.place);
      feature.values.push_back(program_.symbols.intern(value));
    }
    program_.features.push_back(std::move(feature));
  }

  /// The file's number in Program::cells; each is read once.
  std::size_t read_cells(const WordsSyntax& syntax) {
    const auto known = files_.find(syntax.file);
    if (known != files_.end()) return known->second;
    if (program_.cells.size() >= kMostTables)
      fail("grammar.too_many_tables", syntax.place, {{"most", std::to_string(kMostTables)}});
    const std::string& own = syntax_.files[syntax.place.file];
    const std::size_t slash = own.find_last_of('/');
    const std::string where = (slash == std::string::npos ? "" : own.substr(0, slash + 1)) + syntax.file;
    const Result<std::string> text = read_(syntax.file);
    if (!text)
      fail("grammar.unknown_table", syntax.place, {{"name", syntax.file}, {"problem", text.error().key}});
    Result<WordTable> table = parse_word_table(*text, where);
    if (!table) throw Wrong{table.error()};
    Cells cells{where, table->columns, {}, table->lines};
    cells.cells.reserve(table->cells.size());
    for (const std::string& cell : table->cells)
      cells.cells.push_back(cell == "-" ? kAbsent : program_.symbols.intern(cell == "\"\"" ? "" : cell));
    program_.cells.push_back(std::move(cells));
    return files_[syntax.file] = program_.cells.size() - 1;
  }

  std::size_t column(const Cells& cells, const std::string& name, const Place& place) const {
    const std::optional<std::size_t> found = cells.find_column(name);
    if (!found) fail("grammar.unknown_column", place, {{"name", name}, {"table", cells.file}});
    return *found;
  }

  std::vector<std::size_t> rows_of(const WordsSyntax& syntax, const Cells& cells) {
    std::vector<std::pair<std::size_t, Symbol>> only;
    for (const auto& [name, member] : syntax.only)
      only.emplace_back(column(cells, name, syntax.place), program_.symbols.intern(member));
    std::vector<std::size_t> rows;
    for (std::size_t row = 0; row < cells.n_rows(); ++row) {
      const bool is_in = std::all_of(only.begin(), only.end(), [&](const auto& condition) {
        const std::span<const Symbol> members = program_.symbols.members(cells.cell(row, condition.first));
        return std::find(members.begin(), members.end(), condition.second) != members.end();
      });
      if (is_in) rows.push_back(row);
    }
    if (rows.empty()) fail("grammar.no_entry", syntax.place, {{"name", syntax.name}, {"table", cells.file}});
    return rows;
  }

  void compile_words(const WordsSyntax& syntax) {
    claim(lexicon_names_, syntax.name, syntax.place);
    if (program_.words.size() >= kMostTables)
      fail("grammar.too_many_tables", syntax.place, {{"most", std::to_string(kMostTables)}});
    Words words{.name = syntax.name, .cells = read_cells(syntax)};
    const Cells& cells = program_.cells[words.cells];
    words.rows = rows_of(syntax, cells);
    if (const std::optional<std::size_t> weight = cells.find_column(kWeight))
      for (const std::size_t row : words.rows) words.weights.push_back(read_weight(cells, row, *weight));
    program_.words.push_back(std::move(words));
  }

  /// A cell of the column `weight`: a positive number with up to three decimals, in thousandths.
  std::uint64_t read_weight(const Cells& cells, std::size_t row, std::size_t column) const {
    const std::string& text = program_.symbols.text(cells.cell(row, column));
    const std::size_t dot = std::min(text.find('.'), text.size());
    std::string digits = text.substr(0, dot);
    std::string thousandths = dot < text.size() ? text.substr(dot + 1) : "0";
    const bool has_good_size =
        !digits.empty() && digits.size() <= 6 && !thousandths.empty() && thousandths.size() <= 3;
    thousandths.resize(3, '0');
    digits += thousandths;
    if (!has_good_size ||
        !std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; }) ||
        std::stoull(digits) == 0)
      throw Wrong{{"grammar.table_weight",
                   cells.file,
                   {{"line", std::to_string(cells.lines[row])}, {"found", text}}}};
    return std::stoull(digits);
  }

  void compile_table(const WordsSyntax& syntax) {
    claim(lexicon_names_, syntax.name, syntax.place);
    if (program_.tables.size() >= kMostTables)
      fail("grammar.too_many_tables", syntax.place, {{"most", std::to_string(kMostTables)}});
    KeyedTable table{.name = syntax.name, .cells = read_cells(syntax), .keys = {}, .places = {}, .rows = {}};
    const Cells& cells = program_.cells[table.cells];
    const std::vector<std::size_t> rows = rows_of(syntax, cells);
    std::size_t n_combinations = 1;
    std::map<std::string, Place> keys;
    for (const std::string& key : syntax.keys) {
      claim(keys, key, syntax.place);  // so there are at most kMostTableColumns of them
      table.keys.push_back(column(cells, key, syntax.place));
      std::set<Symbol> values;
      for (const std::size_t row : rows) values.insert(cells.cell(row, table.keys.back()));
      std::vector<std::pair<Symbol, std::size_t>>& places = table.places.emplace_back();
      for (const Symbol value : values) places.emplace_back(value, places.size());
      n_combinations *= places.size();
      if (n_combinations > kMostCombinations)
        fail("grammar.too_many_combinations", syntax.place,
             {{"name", syntax.name}, {"most", std::to_string(kMostCombinations)}});
    }
    table.rows.assign(n_combinations, -1);
    for (const std::size_t row : rows) {
      std::size_t place = 0;
      for (std::size_t key = 0; key < table.keys.size(); ++key) {
        const auto found = std::lower_bound(table.places[key].begin(), table.places[key].end(),
                                            std::pair{cells.cell(row, table.keys[key]), std::size_t{0}});
        place = place * table.places[key].size() + found->second;
      }
      std::int32_t& entry = table.rows[place];
      if (entry >= 0)
        throw Wrong{{"grammar.key_twice",
                     cells.file,
                     {{"line", std::to_string(cells.lines[row])},
                      {"first", std::to_string(cells.lines[static_cast<std::size_t>(entry)])}}}};
      entry = static_cast<std::int32_t>(row);
    }
    program_.tables.push_back(std::move(table));
  }

  // Forms

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
      fail("grammar.unknown_column", expression.place, {{"name", name}, {"table", cells.file}});
    return {.kind = Part::Kind::constant, .symbol = program_.symbols.intern(name)};
  }

  Part table_part(const Form& form, const Expression& call) {
    Part result{.kind = Part::Kind::table};
    const auto table = std::find_if(program_.tables.begin(), program_.tables.end(),
                                    [&](const KeyedTable& each) { return each.name == call.names[0]; });
    if (table == program_.tables.end() || call.names.size() > 1)
      fail("grammar.unknown_table_name", call.place, {{"name", call.names[0]}});
    const Cells& cells = program_.cells[table->cells];
    result.index = static_cast<std::size_t>(table - program_.tables.begin());
    result.column = column(cells, call.column, call.place);
    if (call.arguments.size() != table->keys.size())
      fail("grammar.argument_count", call.place,
           {{"name", table->name},
            {"expected", std::to_string(table->keys.size())},
            {"found", std::to_string(call.arguments.size())}});
    for (std::size_t key = 0; key < call.arguments.size(); ++key) {
      const Argument& argument = call.arguments[key];
      if (!argument.name.empty() && argument.name != cells.columns[table->keys[key]])
        fail("grammar.unknown_argument", argument.value.place,
             {{"name", argument.name}, {"of", table->name}});
      if (argument.value.kind == Expression::Kind::call) fail("grammar.nesting", argument.value.place);
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
      fail("grammar.unknown_value", place,
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
        fail("grammar.unknown_value", condition.right.place,
             {{"name", feature.name}, {"value", program_.symbols.text(test.right.symbol)}});
    }
    return test;
  }

  void compile_form(const FormSyntax& syntax) {
    Form form{.name = syntax.name, .words = 0, .features = {}, .n_combinations = 1, .cells = {}};
    const auto words = std::find_if(program_.words.begin(), program_.words.end(),
                                    [&](const Words& each) { return each.name == syntax.words; });
    if (words == program_.words.end()) fail("grammar.unknown_words", syntax.place, {{"name", syntax.words}});
    form.words = static_cast<std::size_t>(words - program_.words.begin());
    if (program_.cells[words->cells].find_column(syntax.name) || words->forms.contains(syntax.name))
      fail("grammar.form_twice", syntax.place, {{"name", syntax.words + "." + syntax.name}});
    if (syntax.cases.empty())
      fail("grammar.empty", syntax.place, {{"name", syntax.words + "." + syntax.name}});
    std::map<std::string, Place> names;
    for (const std::string& name : syntax.features) {
      const auto feature = std::find_if(program_.features.begin(), program_.features.end(),
                                        [&](const Feature& each) { return each.name == name; });
      if (feature == program_.features.end()) fail("grammar.unknown_feature", syntax.place, {{"name", name}});
      claim(names, name, syntax.place);
      form.features.push_back(static_cast<std::size_t>(feature - program_.features.begin()));
      form.n_combinations *= feature->values.size();
      if (form.n_combinations * words->rows.size() > kMostFormCells) break;
    }
    n_form_cells_ += form.n_combinations * words->rows.size();
    if (n_form_cells_ > kMostFormCells)
      fail("grammar.too_many_forms", syntax.place, {{"most", std::to_string(kMostFormCells)}});
    std::vector<Case> cases;
    for (const FormCase& each : syntax.cases) {
      if (!cases.empty() && cases.back().when.empty()) fail("grammar.unreachable", each.place);
      Case& made = cases.emplace_back();
      for (const Condition& condition : each.when) made.when.push_back(case_test(form, condition));
      for (const Expression& expression : each.parts) made.parts.push_back(part(form, expression, false));
    }
    for (const Case& each : cases)
      n_form_parts_ += (each.when.size() + each.parts.size()) * form.n_combinations * words->rows.size();
    if (n_form_parts_ > kMostFormParts)
      fail("grammar.too_many_forms", syntax.place, {{"most", std::to_string(kMostFormCells)}});
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
      fail("grammar.text_too_long", place, {{"most", std::to_string(kMostCellBytes)}});
    return program_.symbols.intern(text);
  }

  const GrammarSyntax& syntax_;
  const ReadFile& read_;
  Program& program_;
  std::vector<Error>& errors_;
  std::map<std::string, Place> feature_names_, lexicon_names_;
  std::map<std::string, std::size_t> files_;
  std::size_t n_form_cells_ = 0, n_form_parts_ = 0;
};

}  // namespace

Symbol Symbols::intern(std::string_view text) {
  const auto [entry, is_new] = numbers_.emplace(text, static_cast<Symbol>(texts_.size()));
  if (!is_new) return entry->second;
  const Symbol symbol = entry->second;
  texts_.push_back(&entry->first);
  members_.emplace_back();
  std::vector<Symbol> members;
  if (text.find(' ') == std::string_view::npos) {
    if (!text.empty()) members.push_back(symbol);
  } else {
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find(' ', begin), text.size());
      if (end > begin) members.push_back(intern(text.substr(begin, end - begin)));
      begin = end + 1;
    }
  }
  members_[static_cast<std::size_t>(symbol)] = {pool_.size(), members.size()};
  pool_.insert(pool_.end(), members.begin(), members.end());
  return symbol;
}

std::optional<Symbol> Symbols::find(std::string_view text) const {
  const auto found = numbers_.find(std::string(text));
  if (found == numbers_.end()) return std::nullopt;
  return found->second;
}

std::span<const Symbol> Symbols::members(Symbol symbol) const {
  const Members& members = members_[static_cast<std::size_t>(symbol)];
  return std::span(pool_).subspan(members.begin, members.count);
}

std::optional<std::size_t> Cells::find_column(std::string_view name) const {
  const auto found = std::find(columns.begin(), columns.end(), name);
  if (found == columns.end()) return std::nullopt;
  return static_cast<std::size_t>(found - columns.begin());
}

Symbol look_up(const Program& program, const KeyedTable& table, std::span<const Symbol> keys,
               std::size_t column) {
  std::size_t place = 0;
  for (std::size_t key = 0; key < keys.size(); ++key) {
    const auto& places = table.places[key];
    const auto found =
        std::find_if(places.begin(), places.end(), [&](const auto& each) { return each.first == keys[key]; });
    if (found == places.end()) return kAbsent;
    place = place * places.size() + found->second;
  }
  const std::int32_t row = table.rows[place];
  return row < 0 ? kAbsent : program.cells[table.cells].cell(static_cast<std::size_t>(row), column);
}

void compile_lexicon(const GrammarSyntax& syntax, const ReadFile& read, Program& program,
                     std::vector<Error>& errors) {
  Lexicon(syntax, read, program, errors).compile();
}

}  // namespace headscope::core::grammar
