// The vocabulary holds what a line can write, given what its variables can be: forms that nothing asks for
// stay out.
#include "core/tasks/grammar_pieces.h"

#include <algorithm>

namespace headscope::core::grammar {

namespace {

constexpr std::size_t kMostTextBytes = 1000;
constexpr std::size_t kMostLookedAt = std::size_t{1} << 25;

}  // namespace

void Pieces::add(std::size_t language, Symbol symbol) {
  for (const Symbol word : program_.symbols.members(symbol)) texts_[language].insert(word);
}

void Pieces::count(std::size_t n_looked_at, const Place& place) {
  n_looked_at_ += n_looked_at;
  if (n_looked_at_ > kMostLookedAt) operands_.fail("grammar.too_large", place);
}

std::vector<Piece> Pieces::compile(const std::vector<Item>& items, std::size_t language) {
  std::vector<Piece> pieces;
  for (const Item& item : items) pieces.push_back(compile(item, language));
  return pieces;
}

Piece Pieces::compile(const Item& item, std::size_t language) {
  Piece piece;
  piece.place = item.place;
  if (!item.label.empty()) piece.label = program_.rules[operands_.rule()].find_slot(item.label);
  if (item.is_group) {
    piece.kind = Piece::Kind::group;
    piece.when = operands_.tests(item.when);
    piece.pieces = compile(item.items, language);
    return piece;
  }
  const Expression& expression = item.expression;
  if (expression.kind == Expression::Kind::text) {
    if (expression.text.size() > kMostTextBytes)
      operands_.fail("grammar.text_too_long", expression.place, {{"most", std::to_string(kMostTextBytes)}});
    piece.symbol = program_.symbols.intern(expression.text);
    if (program_.symbols.members(piece.symbol).empty())
      operands_.fail("grammar.item", expression.place, {{"name", ""}});
    add(language, piece.symbol);
    return piece;
  }
  const std::string name = dotted(expression.names);
  if (expression.kind == Expression::Kind::call && expression.names.size() == 1) {
    if (!find_table(program_, expression.names[0]))
      operands_.fail("grammar.item", expression.place, {{"name", name}});
    piece.kind = Piece::Kind::table;
    piece.operand = operands_.value(expression);
    const KeyedTable& table = program_.tables[piece.operand.table];
    const Cells& cells = program_.cells[table.cells];
    count(table.rows.size(), item.place);
    std::vector<Possible> keys;
    for (const Argument& argument : expression.arguments) keys.push_back(operands_.possible(argument.value));
    for (const std::int32_t row : table.rows) {
      if (row < 0) continue;
      bool can_be = true;
      for (std::size_t key = 0; key < keys.size(); ++key)
        if (keys[key].is_known_text() &&
            !keys[key].texts.contains(cells.cell(static_cast<std::size_t>(row), table.keys[key])))
          can_be = false;
      if (can_be) add(language, cells.cell(static_cast<std::size_t>(row), piece.operand.column));
    }
    return piece;
  }
  if (expression.names.size() > 1) {
    const Expression owner = Operands::without_last(expression);
    const Possible possible = operands_.possible(owner);
    if (!possible.words.empty()) {
      if (!possible.rules.empty()) operands_.fail("grammar.item", expression.place, {{"name", name}});
      compile_word(item, owner, possible, language, piece);
      return piece;
    }
  }
  piece.kind = Piece::Kind::node;
  piece.operand = operands_.path(expression);
  const Possible possible = operands_.possible(expression);
  if (possible.rules.empty() || !possible.words.empty())
    operands_.fail("grammar.item", expression.place, {{"name", name}});
  if (piece.label) operands_.fail("grammar.label", expression.place, {{"name", name}});
  return piece;
}

void Pieces::compile_word(const Item& item, const Expression& owner, const Possible& possible,
                          std::size_t language, Piece& piece) {
  piece.kind = Piece::Kind::word;
  piece.operand = operands_.path(owner);
  for (const std::size_t words : possible.words) piece.spellings.push_back(spelling(item, words, language));
}

Spelling Pieces::spelling(const Item& item, std::size_t words_index, std::size_t language) {
  const Expression& expression = item.expression;
  const Words& words = program_.words[words_index];
  const std::string& name = expression.names.back();
  Spelling result{.words = words_index};
  const auto found = words.forms.find(name);
  if (found == words.forms.end()) {
    const std::optional<std::size_t> column = program_.cells_of(words_index).find_column(name);
    if (!column || expression.kind == Expression::Kind::call)
      operands_.fail("grammar.unknown_form", expression.place, {{"name", name}, {"words", words.name}});
    result.form_or_column = *column;
    count(words.rows.size(), item.place);
    for (const std::size_t row : words.rows) add(language, program_.cells_of(words_index).cell(row, *column));
    return result;
  }
  result.is_form = true;
  result.form_or_column = found->second;
  const Form& form = program_.forms[found->second];
  result.arguments.resize(form.features.size());
  std::vector<bool> is_given(form.features.size());
  std::vector<Possible> possible(form.features.size());
  for (const Argument& argument : expression.arguments) {
    const std::string given = name_of(argument);
    std::size_t place = 0;
    while (place < form.features.size() && program_.features[form.features[place]].name != given) ++place;
    if (place == form.features.size())
      operands_.fail("grammar.unknown_argument", argument.value.place, {{"name", given}, {"of", name}});
    if (is_given[place]) operands_.fail("grammar.argument_twice", argument.value.place, {{"name", given}});
    is_given[place] = true;
    result.arguments[place] =
        argument.name.empty() ? operands_.path(argument.value) : operands_.value(argument.value);
    possible[place] = operands_.possible(argument.value);
    Possible all;
    const std::vector<Symbol>& values = program_.features[form.features[place]].values;
    all.texts.insert(values.begin(), values.end());
    operands_.require_possible(given, all, result.arguments[place], false);
  }
  for (std::size_t place = 0; place < is_given.size(); ++place)
    if (!is_given[place])
      operands_.fail("grammar.argument_missing", expression.place,
                     {{"name", program_.features[form.features[place]].name}, {"of", name}});
  count(form.cells.size(), item.place);
  for (std::size_t cell = 0; cell < form.cells.size(); ++cell) {
    std::size_t rest = cell % form.n_combinations;
    bool can_be = form.cells[cell] != kAbsent;
    for (std::size_t k = form.features.size(); k-- > 0 && can_be;) {
      const std::vector<Symbol>& values = program_.features[form.features[k]].values;
      if (possible[k].is_known_text() && !possible[k].texts.contains(values[rest % values.size()]))
        can_be = false;
      rest /= values.size();
    }
    if (can_be) add(language, form.cells[cell]);
  }
  return result;
}

void Pieces::make_vocabularies() {
  for (std::size_t language = 0; language < program_.languages.size(); ++language) {
    std::vector<Symbol> sorted(texts_[language].begin(), texts_[language].end());
    std::sort(sorted.begin(), sorted.end(), [&](Symbol left, Symbol right) {
      return program_.symbols.text(left) < program_.symbols.text(right);
    });
    std::vector<std::int32_t>& token_of = program_.token_of[language];
    token_of.assign(program_.symbols.size(), -1);
    for (const Symbol symbol : sorted) {
      token_of[static_cast<std::size_t>(symbol)] =
          static_cast<std::int32_t>(program_.tokens[language].size());
      program_.tokens[language].push_back(program_.symbols.text(symbol));
    }
  }
}

}  // namespace headscope::core::grammar
