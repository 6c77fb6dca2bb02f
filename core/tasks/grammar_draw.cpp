// Drawing: a rule's variables first, whatever the language, then its line in each language; grammar_links.cpp
// has the links.
#include "core/tasks/grammar_evaluate.h"
#include "core/tasks/grammar_program.h"

#include <algorithm>

namespace headscope::core::grammar {

namespace {

using Kind = GrammarValue::Kind;

/// After so many candidates that fail a condition all are listed: exact either way, and quick where few fail.
constexpr int kTries = 8;

class Drawing {
 public:
  Drawing(const Program& program, Rng& rng, Derivation& into, std::size_t& work)
      : program_(program), rng_(rng), into_(into), work_(program, work) {}

  void draw(std::size_t rule, std::span<const GrammarPreset> presets) {
    into_.nodes.clear();
    into_.values.clear();
    into_.links.clear();
    into_.combinations.clear();
    for (std::vector<std::int32_t>& tokens : into_.tokens) tokens.clear();
    for (std::vector<std::int32_t>& owners : into_.owners) owners.clear();
    const std::size_t root = open(rule, program_.rules[rule].place);
    for (const GrammarPreset& preset : presets) into_.values[preset.variable] = preset.value;
    expand(root, 0);
    for (std::vector<TokenRange>& ranges : into_.ranges) ranges.assign(into_.values.size(), {});
    for (std::size_t language = 0; language < program_.languages.size(); ++language)
      if (!program_.rules[rule].lines[language].empty()) write_node(root, language);
    relate(program_, into_, work_);
  }

 private:
  const Rule& rule_of(std::size_t node) const { return program_.rules[index(into_.nodes[node].rule)]; }
  /// What a text is; entries and constituents are no text.
  Symbol symbol(std::size_t node, const Operand& operand) const {
    if (operand.kind == Operand::Kind::constant) return operand.symbol;
    const GrammarValue found = value(node, operand);
    return found.kind == Kind::text ? found.id : kAbsent;
  }

  GrammarValue value(std::size_t node, const Operand& operand) const {
    return value_of(program_, into_, node, operand);
  }
  bool test_all(std::size_t node, const std::vector<Test>& tests) const {
    return hold_all(program_, into_, node, tests);
  }
  [[noreturn]] void fail(std::string key, const Place& place,
                         std::vector<std::pair<std::string, std::string>> values = {}) const {
    throw Wrong{error_at(std::move(key), program_.files, place, std::move(values))};
  }

  // Variables

  std::size_t open(std::size_t rule, const Place& place) {
    if (into_.nodes.size() >= kMostNodes)
      fail("grammar.too_deep", place, {{"most", std::to_string(kMostDepth)}});
    DerivationNode node;
    node.rule = static_cast<std::int32_t>(rule);
    node.first_slot = static_cast<std::int32_t>(into_.values.size());
    into_.nodes.push_back(node);
    into_.values.resize(into_.values.size() + program_.rules[rule].slots.size());
    return into_.nodes.size() - 1;
  }

  void expand(std::size_t node, std::size_t depth) {
    const Rule& rule = rule_of(node);
    const std::size_t first = index(into_.nodes[node].first_slot);
    for (const Step& step : rule.steps) {
      work_.count(1, step.place);
      if (into_.values[first + step.slot].kind != Kind::absent || !test_all(node, step.when)) continue;
      GrammarValue drawn;
      switch (step.kind) {
        case Step::Kind::choose:
          drawn = text_value(step.options[draw_place(step.sums)]);
          break;
        case Step::Kind::words:
          drawn = {.kind = Kind::entry,
                   .words = static_cast<std::int16_t>(step.target),
                   .id = draw_entry(node, step)};
          break;
        case Step::Kind::rule:
          drawn = {.kind = Kind::node, .words = -1, .id = static_cast<std::int32_t>(call(node, step, depth))};
          break;
        case Step::Kind::value:
          drawn = value(node, step.value);
          break;
      }
      into_.values[first + step.slot] = drawn;
    }
  }

  std::size_t call(std::size_t node, const Step& step, std::size_t depth) {
    if (depth + 1 >= kMostDepth) fail("grammar.too_deep", step.place, {{"most", std::to_string(kMostDepth)}});
    const std::size_t child = open(step.target, step.place);
    for (const auto& [slot, operand] : step.arguments)
      into_.values[index(into_.nodes[child].first_slot) + slot] = value(node, operand);
    expand(child, depth + 1);
    return child;
  }

  /// A place, by the running sums of weights.
  std::size_t draw_place(const std::vector<std::uint64_t>& sums) {
    const std::uint64_t drawn = rng_.below(sums.back());
    std::size_t place = 0;
    while (sums[place] <= drawn) ++place;
    return place;
  }

  static std::int32_t pick(const Candidates& list, std::uint64_t drawn) {
    if (list.sums.empty()) return list.entries[drawn];
    const auto found = std::upper_bound(list.sums.begin(), list.sums.end(), drawn);
    return list.entries[static_cast<std::size_t>(found - list.sums.begin())];
  }

  static const Candidates* find_list(const CandidateIndex& index, Symbol symbol) {
    const auto found = std::lower_bound(index.symbols.begin(), index.symbols.end(), symbol);
    if (found == index.symbols.end() || *found != symbol) return nullptr;
    return &index.lists[static_cast<std::size_t>(found - index.symbols.begin())];
  }

  bool passes(std::size_t node, const Step& step, std::int32_t entry) const {
    const std::size_t row = program_.words[step.target].rows[index(entry)];
    for (const Filter& filter : step.filters) {
      if (filter.column) {
        if (!holds(program_, filter.kind, program_.cells_of(step.target).cell(row, *filter.column),
                   symbol(node, filter.right)))
          return false;
        continue;
      }
      const GrammarValue own{
          .kind = Kind::entry, .words = static_cast<std::int16_t>(step.target), .id = entry};
      if (is_equal(program_, own, value(node, filter.right)) != (filter.kind == Condition::Kind::equal))
        return false;
    }
    return true;
  }

  std::int32_t draw_entry(std::size_t node, const Step& step) {
    lists_.clear();
    if (!step.index) {
      lists_.push_back(&step.candidates);
    } else {
      const Symbol given = symbol(node, step.index->filter.right);
      // an `in` joins the lists of all members: no entry is in two of them
      const std::span<const Symbol> members = program_.symbols.members(given);
      if (step.index->filter.kind != Condition::Kind::in || members.size() == 1) {
        if (const Candidates* list = find_list(*step.index, given)) lists_.push_back(list);
      } else {
        for (const Symbol member : members)
          if (const Candidates* list = find_list(*step.index, member);
              list && std::find(lists_.begin(), lists_.end(), list) == lists_.end())
            lists_.push_back(list);
      }
    }
    std::uint64_t total = 0;
    for (const Candidates* list : lists_) total += list->total();
    if (total == 0) fail_without_candidate(step);
    for (int tries = 0; tries < kTries; ++tries) {
      std::uint64_t drawn = rng_.below(total);
      const Candidates* const* list = lists_.data();
      for (; drawn >= (*list)->total(); ++list) drawn -= (*list)->total();
      const std::int32_t entry = pick(**list, drawn);
      if (passes(node, step, entry)) return entry;
    }
    return draw_listed(node, step);
  }

  std::int32_t draw_listed(std::size_t node, const Step& step) {
    left_.entries.clear();
    left_.sums.clear();
    const std::vector<std::uint64_t>& weights = program_.words[step.target].weights;
    for (const Candidates* list : lists_) {
      work_.count(list->entries.size(), step.place);
      for (const std::int32_t entry : list->entries) {
        if (!passes(node, step, entry)) continue;
        left_.entries.push_back(entry);
        if (!weights.empty())
          left_.sums.push_back((left_.sums.empty() ? 0 : left_.sums.back()) + weights[index(entry)]);
      }
    }
    if (left_.entries.empty()) fail_without_candidate(step);
    return pick(left_, rng_.below(left_.total()));
  }

  [[noreturn]] void fail_without_candidate(const Step& step) const {
    fail("grammar.no_candidate", step.place, {{"words", program_.words[step.target].name}});
  }

  // Words

  /// A constituent that was handed down is written within another: so the tree of what is written can be
  /// deeper than that of the rules.
  void write_node(std::size_t node, std::size_t language) {
    const Rule& rule = rule_of(node);
    if (write_depth_ >= kMostDepth)
      fail("grammar.too_deep", rule.place, {{"most", std::to_string(kMostDepth)}});
    ++write_depth_;
    const auto line = std::find_if(rule.lines[language].begin(), rule.lines[language].end(),
                                   [&](const RuleLine& each) { return test_all(node, each.when); });
    if (line == rule.lines[language].end())
      fail("grammar.no_line", rule.place, {{"name", rule.name}, {"language", program_.languages[language]}});
    const auto before = static_cast<std::int32_t>(into_.tokens[language].size());
    write_all(node, line->pieces, language, -1);
    const auto after = static_cast<std::int32_t>(into_.tokens[language].size());
    if (after > before) widen(into_.nodes[node].ranges[language], before, after - 1);
    --write_depth_;
  }

  static void widen(TokenRange& range, std::int32_t first, std::int32_t last) {
    if (range.first < 0 || first < range.first) range.first = first;
    range.last = std::max(range.last, last);
  }

  void write_all(std::size_t node, const std::vector<Piece>& pieces, std::size_t language,
                 std::int32_t owner) {
    for (const Piece& piece : pieces) {
      work_.count(1, piece.place);
      write(node, piece, language,
            piece.label ? into_.nodes[node].first_slot + static_cast<std::int32_t>(*piece.label) : owner);
    }
  }

  void write(std::size_t node, const Piece& piece, std::size_t language, std::int32_t owner) {
    switch (piece.kind) {
      case Piece::Kind::text:
        write_symbol(piece.symbol, language, owner, piece.place);
        break;
      case Piece::Kind::group:
        if (test_all(node, piece.when)) write_all(node, piece.pieces, language, owner);
        break;
      case Piece::Kind::node: {
        const GrammarValue child = value(node, piece.operand);
        if (child.kind == Kind::node) write_node(index(child.id), language);
        break;
      }
      case Piece::Kind::table: {
        const Symbol cell = symbol(node, piece.operand);
        if (cell == kAbsent) fail_row(node, piece);
        write_symbol(cell, language, owner, piece.place);
        break;
      }
      case Piece::Kind::word:
        write_word(node, piece, language, owner);
        break;
    }
  }

  [[noreturn]] void fail_row(std::size_t node, const Piece& piece) const {
    std::string keys;
    for (const Operand& key : piece.operand.keys)
      keys += (keys.empty() ? "" : " ") + program_.symbols.text(symbol(node, key));
    fail("grammar.no_row", piece.place,
         {{"name", program_.tables[piece.operand.table].name}, {"keys", keys}});
  }

  void write_word(std::size_t node, const Piece& piece, std::size_t language, std::int32_t owner) {
    const GrammarValue entry = value(node, piece.operand);
    if (entry.kind != Kind::entry) return;
    const auto spelling = std::find_if(
        piece.spellings.begin(), piece.spellings.end(),
        [&](const Spelling& each) { return each.words == static_cast<std::size_t>(entry.words); });
    if (spelling == piece.spellings.end()) fail_form(entry, piece.place);  // a preset of other words
    Symbol word = kAbsent;
    if (!spelling->is_form) {
      word = program_.cells_of(spelling->words).cell(program_.row_of(entry), spelling->form_or_column);
    } else {
      const Form& form = program_.forms[spelling->form_or_column];
      std::size_t cell = index(entry.id);
      for (std::size_t k = 0; k < form.features.size(); ++k) {
        const Feature& feature = program_.features[form.features[k]];
        const Symbol given = symbol(node, spelling->arguments[k]);
        const auto found = std::find(feature.values.begin(), feature.values.end(), given);
        if (found == feature.values.end())
          fail("grammar.feature_value", piece.place,
               {{"name", feature.name}, {"value", program_.symbols.text(given)}});
        cell = cell * feature.values.size() + static_cast<std::size_t>(found - feature.values.begin());
      }
      word = form.cells[cell];
    }
    if (word == kAbsent) fail_form(entry, piece.place);
    write_symbol(word, language, owner >= 0 ? owner : owner_of(program_, into_, node, piece.operand),
                 piece.place);
  }

  [[noreturn]] void fail_form(const GrammarValue& entry, const Place& place) const {
    const Cells& cells = program_.cells_of(static_cast<std::size_t>(entry.words));
    const std::size_t row = program_.row_of(entry);
    fail("grammar.absent_form", place,
         {{"entry", program_.symbols.text(cells.cell(row, 0))},
          {"table", cells.file},
          {"row", std::to_string(cells.lines[row])}});
  }

  void write_symbol(Symbol text, std::size_t language, std::int32_t owner, const Place& place) {
    for (const Symbol word : program_.symbols.members(text)) {
      std::vector<std::int32_t>& tokens = into_.tokens[language];
      if (tokens.size() >= kMostSentenceTokens)
        fail("grammar.too_long", place, {{"most", std::to_string(kMostSentenceTokens)}});
      const auto position = static_cast<std::int32_t>(tokens.size());
      tokens.push_back(program_.token_of[language][index(word)]);
      into_.owners[language].push_back(owner);
      if (owner >= 0) widen(into_.ranges[language][index(owner)], position, position);
    }
  }

  const Program& program_;
  Rng& rng_;
  Derivation& into_;
  Work work_;
  std::size_t write_depth_ = 0;
  std::vector<const Candidates*> lists_;
  Candidates left_;
};

}  // namespace

Result<void> run(const Program& program, std::size_t rule, std::span<const GrammarPreset> presets, Rng& rng,
                 Derivation& into, std::size_t& work) {
  try {
    Drawing(program, rng, into, work).draw(rule, presets);
  } catch (Wrong& wrong) {
    return std::move(wrong.error);
  }
  return {};
}

}  // namespace headscope::core::grammar
