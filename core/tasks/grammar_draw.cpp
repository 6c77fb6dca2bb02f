// Drawing: a rule's variables first, whatever the language, then its line in each language, then the links.
#include "core/hash.h"
#include "core/tasks/grammar_program.h"

#include <algorithm>

namespace headscope::core::grammar {

namespace {

using Kind = GrammarValue::Kind;

/// Steps, pieces, entries and pairs of aligned tokens that one sentence may take: what bounds the time of the
/// strangest grammar, and the memory of its links.
constexpr std::size_t kMostWork = std::size_t{1} << 20;
/// After so many candidates that fail a condition all are listed: exact either way, and quick where few fail.
constexpr int kTries = 8;

std::size_t index(std::int32_t number) {
  return static_cast<std::size_t>(number);
}

GrammarValue text_value(Symbol symbol) {
  if (symbol == kAbsent) return {};
  return {.kind = Kind::text, .words = -1, .id = symbol};
}

/// Hashes of texts in a row, well mixed: the finaliser of splitmix64.
std::uint64_t mix(std::uint64_t hash, std::uint64_t next) {
  std::uint64_t z = (hash ^ next) + 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

class Run {
 public:
  Run(const Program& program, Rng& rng, Derivation& into, std::size_t& work)
      : program_(program), rng_(rng), into_(into), work_(work), work_before_(work) {}

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
    for (std::size_t node = 0; node < into_.nodes.size(); ++node) relate(node);
    hold_out();
  }

 private:
  const Rule& rule_of(std::size_t node) const { return program_.rules[index(into_.nodes[node].rule)]; }
  /// evaluate(), with what most operands are close at hand: a text or one of the rule's own variables.
  GrammarValue value(std::size_t node, const Operand& operand) const {
    if (operand.kind == Operand::Kind::constant) return text_value(operand.symbol);
    if (operand.kind == Operand::Kind::path && operand.fields.empty())
      return into_.values[index(into_.nodes[node].first_slot) + operand.slot];
    return evaluate(program_, into_, node, operand);
  }
  /// What a text is; entries and constituents are no text.
  Symbol symbol(std::size_t node, const Operand& operand) const {
    if (operand.kind == Operand::Kind::constant) return operand.symbol;
    const GrammarValue found = value(node, operand);
    return found.kind == Kind::text ? found.id : kAbsent;
  }

  [[noreturn]] void fail(std::string key, const Place& place,
                         std::vector<std::pair<std::string, std::string>> values = {}) const {
    throw Wrong{error_at(std::move(key), program_.files, place, std::move(values))};
  }

  void count(std::size_t n_looked_at, const Place& place) {
    work_ += n_looked_at;
    if (work_ - work_before_ > kMostWork)
      fail("grammar.too_long", place, {{"most", std::to_string(kMostSentenceTokens)}});
  }

  bool is_equal(const GrammarValue& left, const GrammarValue& right) const {
    if (left.kind != Kind::entry || right.kind != Kind::entry)
      return left == right && left.kind != Kind::absent;
    // two sets of words can have an entry of one table in common
    const auto table = [&](const GrammarValue& entry) {
      return program_.words[static_cast<std::size_t>(entry.words)].cells;
    };
    return table(left) == table(right) && program_.row_of(left) == program_.row_of(right);
  }

  bool test(std::size_t node, const Test& test) const {
    const GrammarValue left = value(node, test.left);
    if (test.kind == Condition::Kind::present) return left.kind != Kind::absent;
    if (test.kind == Condition::Kind::absent) return left.kind == Kind::absent;
    const GrammarValue right = value(node, test.right);
    if (test.kind == Condition::Kind::equal) return is_equal(left, right);
    if (test.kind == Condition::Kind::differs) return !is_equal(left, right);
    return left.kind == Kind::text && right.kind == Kind::text &&
           holds(program_, test.kind, left.id, right.id);
  }
  bool test_all(std::size_t node, const std::vector<Test>& tests) const {
    for (const Test& each : tests)  // a loop of its own: drawing spends much of its time here
      if (!test(node, each)) return false;
    return true;
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
      count(1, step.place);
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
      if (is_equal(own, value(node, filter.right)) != (filter.kind == Condition::Kind::equal)) return false;
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
      count(list->entries.size(), step.place);
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
      count(1, piece.place);
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
    write_symbol(word, language, owner >= 0 ? owner : owner_of(node, piece.operand), piece.place);
  }

  [[noreturn]] void fail_form(const GrammarValue& entry, const Place& place) const {
    const Cells& cells = program_.cells_of(static_cast<std::size_t>(entry.words));
    const std::size_t row = program_.row_of(entry);
    fail("grammar.absent_form", place,
         {{"entry", program_.symbols.text(cells.cell(row, 0))},
          {"table", cells.file},
          {"row", std::to_string(cells.lines[row])}});
  }

  /// The variable that has the entry, where the path stays within constituents.
  std::int32_t owner_of(std::size_t node, const Operand& path) const {
    std::size_t slot = index(into_.nodes[node].first_slot) + path.slot;
    for (const std::size_t field : path.fields) {
      const GrammarValue& here = into_.values[slot];
      if (here.kind != Kind::node) return -1;
      const DerivationNode& child = into_.nodes[index(here.id)];
      slot = index(child.first_slot + program_.rules[index(child.rule)].slot_of[field]);
    }
    return static_cast<std::int32_t>(slot);
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

  // Links

  void link(std::size_t relation, std::int32_t query, std::int32_t key, bool is_sure) {
    into_.links.push_back(
        {.relation = static_cast<std::int32_t>(relation), .query = query, .key = key, .is_sure = is_sure});
  }

  /// Every token of one variable to every token of another; the target's side asks.
  void align(std::int32_t source_owner, const TokenRange& source, std::int32_t target_owner,
             const TokenRange& target, bool is_sure, const Place& place) {
    if (source.first < 0 || target.first < 0) return;
    // each pair is looked at, and may become a link: the work's bound is the links', too
    count(static_cast<std::size_t>(source.last - source.first + 1) *
              static_cast<std::size_t>(target.last - target.first + 1),
          place);
    for (std::int32_t query = target.first; query <= target.last; ++query) {
      if (target_owner >= 0 && into_.owners[1][index(query)] != target_owner) continue;
      for (std::int32_t key = source.first; key <= source.last; ++key)
        if (source_owner < 0 || into_.owners[0][index(key)] == source_owner) link(0, query, key, is_sure);
    }
  }

  void relate(std::size_t node) {
    const Rule& rule = rule_of(node);
    const std::int32_t first = into_.nodes[node].first_slot;
    if (program_.languages.size() == 2) {
      for (std::size_t slot = 0; slot < rule.slots.size(); ++slot) {
        const std::int32_t owner = first + static_cast<std::int32_t>(slot);
        align(owner, into_.ranges[0][index(owner)], owner, into_.ranges[1][index(owner)],
              !rule.is_possible[slot], rule.place);
      }
      for (const AlignStep& step : rule.alignments) {
        const auto side = [&](std::size_t language) {
          return find_range(program_, into_, node, step.paths[language], language);
        };
        align(token_owner(node, step.paths[0]), side(0), token_owner(node, step.paths[1]), side(1),
              step.is_sure, step.paths[0].place);
      }
    }
    for (const LinkStep& step : rule.links) {
      const TokenRange query = find_range(program_, into_, node, step.paths[0], step.languages[0]);
      const TokenRange key = find_range(program_, into_, node, step.paths[1], step.languages[1]);
      if (query.first >= 0 && key.first >= 0 && test_all(node, step.when))
        link(step.relation, query.first, key.first, true);
    }
    for (const HoldOutStep& step : rule.hold_outs) combine(node, step);
  }

  /// The variable whose tokens a path means; -1 for a constituent, all of whose tokens count.
  std::int32_t token_owner(std::size_t node, const Operand& path) const {
    const std::int32_t owner = owner_of(node, path);
    return owner >= 0 && into_.values[index(owner)].kind == Kind::node ? -1 : owner;
  }

  // What is held out

  /// A combination's hash, if all of it is there. An entry counts by its first column.
  void combine(std::size_t node, const HoldOutStep& step) {
    if (!test_all(node, step.when)) return;
    std::uint64_t hash = kFnv1aStart;
    for (const Operand& path : step.paths) {
      const GrammarValue part = value(node, path);
      if (part.kind == Kind::absent || part.kind == Kind::node) return;
      const Symbol text =
          part.kind == Kind::text
              ? part.id
              : program_.cells_of(static_cast<std::size_t>(part.words)).cell(program_.row_of(part), 0);
      hash = mix(hash, program_.hashes[index(text)]);
    }
    into_.combinations.push_back(hash);
  }

  void hold_out() {
    if (!program_.holds_out) {
      std::uint64_t hash = kFnv1aStart;
      for (const std::int32_t token : into_.tokens[0]) hash = mix(hash, program_.token_hashes[index(token)]);
      into_.combinations.push_back(hash);
    }
    into_.is_held_out = std::any_of(into_.combinations.begin(), into_.combinations.end(), is_held_out_hash);
  }

  const Program& program_;
  Rng& rng_;
  Derivation& into_;
  std::size_t& work_;
  std::size_t work_before_;
  std::size_t write_depth_ = 0;
  std::vector<const Candidates*> lists_;
  Candidates left_;
};

}  // namespace

/// A table's cell; apart from the rest, which is quicker without room for keys.
static GrammarValue evaluate_cell(const Program& program, const Derivation& derivation, std::size_t node,
                                  const Operand& operand) {
  std::array<Symbol, kMostTableColumns> keys{};
  for (std::size_t key = 0; key < operand.keys.size(); ++key) {
    const GrammarValue given = evaluate(program, derivation, node, operand.keys[key]);
    keys[key] = given.kind == Kind::text ? given.id : kAbsent;
  }
  return text_value(look_up(program, program.tables[operand.table],
                            std::span(keys).first(operand.keys.size()), operand.column));
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

Result<void> run(const Program& program, std::size_t rule, std::span<const GrammarPreset> presets, Rng& rng,
                 Derivation& into, std::size_t& work) {
  try {
    Run(program, rng, into, work).draw(rule, presets);
  } catch (Wrong& wrong) {
    return std::move(wrong.error);
  }
  return {};
}

}  // namespace headscope::core::grammar
