// Languages, features, tables and words of a grammar: names to numbers.
#include "core/tasks/grammar_problems.h"
#include "core/tasks/grammar_program.h"

#include <algorithm>
#include <set>
#include <utility>

namespace headscope::core::grammar {

namespace {

constexpr std::size_t kMostTables = 64;
constexpr std::size_t kMostCombinations = std::size_t{1} << 16;  // of a table's keys
constexpr std::size_t kMostValues = 64;                          // of a feature
constexpr std::size_t kMostFeatures = 128;
constexpr std::string_view kWeight = "weight";

class Lexicon {
 public:
  Lexicon(const GrammarSyntax& syntax, const ReadFile& read, Program& program, std::vector<Error>& errors)
      : syntax_(syntax), read_(read), program_(program), problems_(syntax.files, errors) {}

  void compile() {
    problems_.collect([&] { compile_languages(); });
    for (const NameSyntax& feature : syntax_.features) problems_.collect([&] { compile_feature(feature); });
    for (const WordsSyntax& words : syntax_.words)
      problems_.collect([&] { words.is_table ? compile_table(words) : compile_words(words); });
  }

 private:
  void compile_languages() {
    if (syntax_.languages.empty()) throw Wrong{{"grammar.no_language", syntax_.files[0], {}}};
    std::map<std::string, Place> names;
    for (const NameSyntax& language : syntax_.languages) {
      problems_.claim(names, language.name, language.place);
      if (program_.languages.size() == 2) problems_.fail("grammar.too_many_languages", language.place);
      program_.languages.push_back(language.name);
    }
  }

  void compile_feature(const NameSyntax& syntax) {
    problems_.claim(feature_names_, syntax.name, syntax.place);
    if (program_.features.size() >= kMostFeatures || syntax.values.size() > kMostValues)
      problems_.fail("grammar.too_many_values", syntax.place,
                     {{"name", syntax.name}, {"most", std::to_string(kMostValues)}});
    Feature feature{syntax.name, {}};
    std::map<std::string, Place> values;
    for (const std::string& value : syntax.values) {
      problems_.claim(values, value, syntax.place);
      feature.values.push_back(program_.symbols.intern(value));
    }
    program_.features.push_back(std::move(feature));
  }

  /// The file's number in Program::cells; each is read once.
  std::size_t read_cells(const WordsSyntax& syntax) {
    const auto known = files_.find(syntax.file);
    if (known != files_.end()) return known->second;
    if (program_.cells.size() >= kMostTables)
      problems_.fail("grammar.too_many_tables", syntax.place, {{"most", std::to_string(kMostTables)}});
    const std::string& own = syntax_.files[syntax.place.file];
    const std::size_t slash = own.find_last_of('/');
    const std::string where = (slash == std::string::npos ? "" : own.substr(0, slash + 1)) + syntax.file;
    const Result<std::string> text = read_(syntax.file);
    if (!text)
      problems_.fail("grammar.unknown_table", syntax.place,
                     {{"name", syntax.file}, {"problem", text.error().key}});
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
    if (!found) problems_.fail("grammar.unknown_column", place, {{"name", name}, {"table", cells.file}});
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
    if (rows.empty())
      problems_.fail("grammar.no_entry", syntax.place, {{"name", syntax.name}, {"table", cells.file}});
    return rows;
  }

  void compile_words(const WordsSyntax& syntax) {
    problems_.claim(lexicon_names_, syntax.name, syntax.place);
    if (program_.words.size() >= kMostTables)
      problems_.fail("grammar.too_many_tables", syntax.place, {{"most", std::to_string(kMostTables)}});
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
    problems_.claim(lexicon_names_, syntax.name, syntax.place);
    if (program_.tables.size() >= kMostTables)
      problems_.fail("grammar.too_many_tables", syntax.place, {{"most", std::to_string(kMostTables)}});
    KeyedTable table{.name = syntax.name, .cells = read_cells(syntax), .keys = {}, .places = {}, .rows = {}};
    const Cells& cells = program_.cells[table.cells];
    const std::vector<std::size_t> rows = rows_of(syntax, cells);
    std::size_t n_combinations = 1;
    std::map<std::string, Place> keys;
    for (const std::string& key : syntax.keys) {
      problems_.claim(keys, key, syntax.place);  // so there are at most kMostTableColumns of them
      table.keys.push_back(column(cells, key, syntax.place));
      std::set<Symbol> values;
      for (const std::size_t row : rows) values.insert(cells.cell(row, table.keys.back()));
      std::vector<std::pair<Symbol, std::size_t>>& places = table.places.emplace_back();
      for (const Symbol value : values) places.emplace_back(value, places.size());
      n_combinations *= places.size();
      if (n_combinations > kMostCombinations)
        problems_.fail("grammar.too_many_combinations", syntax.place,
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

  const GrammarSyntax& syntax_;
  const ReadFile& read_;
  Program& program_;
  Problems problems_;
  std::map<std::string, Place> feature_names_, lexicon_names_;
  std::map<std::string, std::size_t> files_;
};

}  // namespace

void compile_lexicon(const GrammarSyntax& syntax, const ReadFile& read, Program& program,
                     std::vector<Error>& errors) {
  Lexicon(syntax, read, program, errors).compile();
  // with a mistake in what they name, forms would be judged wrongly
  if (errors.empty()) compile_forms(syntax, program, errors);
}

}  // namespace headscope::core::grammar
