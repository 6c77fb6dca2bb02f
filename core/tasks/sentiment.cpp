// The arithmetic of polarity is that of contextual valence shifters (Polanyi and Zaenen 2006): intensifiers
// multiply (Taboada et al. 2011), negation turns the sign and weakens, since "not good" is less than bad and
// "not terrible" less than good, and of two clauses the one that the conjunction puts forward counts. The
// cuts at ±1.2 part a plain strong word (2) and a strengthened weak one (1.5) from a plain weak one (1);
// those at ±.2 leave what is weakest but has a sign ("not slightly …", .25) outside neutral.
#include "core/tasks/sentiment.h"

#include "core/tasks/language_task.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace headscope::core {

namespace {

constexpr double kStrong = 1.2, kNeutral = 0.2;

/// A rule's variables that mean something here; -1 where it has none of that name.
struct Roles {
  std::int32_t adjective = -1, intensifier = -1, negator = -1;
  std::int32_t first = -1, second = -1;         // clauses or phrases
  std::int32_t conjunction = -1, opening = -1;  // between them, or before both
  std::int32_t n_variables = 0;
};

/// A number for each entry of some words.
struct Numbers {
  std::int16_t words = -1;
  std::vector<double> of = {};
  double at(const GrammarValue& entry) const { return of[static_cast<std::size_t>(entry.id)]; }
};

struct Judgement {
  double polarity = 0;
  std::int32_t adjective = -1;  // its token
};

/// Reads a derivation's tree.
class Reader {
 public:
  static Result<Reader> make(const Grammar& grammar, const std::string& where) {
    Reader reader;
    for (std::size_t rule = 0; rule < grammar.n_rules(); ++rule) {
      const auto slot = [&](std::string_view name) {
        const std::optional<std::size_t> found = grammar.find_variable(rule, name);
        return found ? static_cast<std::int32_t>(*found) : -1;
      };
      reader.roles_.push_back({slot("adjective"), slot("intensifier"), slot("negator"), slot("first"),
                               slot("second"), slot("conjunction"), slot("opening"),
                               static_cast<std::int32_t>(grammar.n_variables(rule))});
    }
    for (const auto& [words, column, numbers] : {std::tuple{"adjective", "strength", &reader.strengths_},
                                                 std::tuple{"intensifier", "factor", &reader.intensities_},
                                                 std::tuple{"negator", "factor", &reader.negations_},
                                                 std::tuple{"conjunction", "", &reader.decides_}}) {
      const std::optional<std::size_t> found = grammar.find_words(words);
      if (!found) return Error{.key = "task.lacks", .where = where, .values = {{"name", words}}};
      numbers->words = static_cast<std::int16_t>(*found);
      for (std::size_t k = 0; k < grammar.n_entries(*found); ++k) {
        const GrammarValue entry{
            .kind = GrammarValue::Kind::entry, .words = numbers->words, .id = static_cast<std::int32_t>(k)};
        if (numbers == &reader.decides_) {
          numbers->of.push_back(grammar.cell(entry, "decides") == "own" ? 1 : 0);
          continue;
        }
        const Result<double> number = number_in(grammar, entry, column, where);
        if (!number) return number.error();
        numbers->of.push_back(*number);
      }
    }
    return reader;
  }

  /// What the constituent says; each adjective within it, and each conjunction's token, goes to the lists.
  Judgement judge(const Derivation& tree, std::size_t node, double negation,
                  std::vector<Judgement>& adjectives, std::vector<std::int32_t>& conjunctions) const {
    const Roles& roles = roles_[static_cast<std::size_t>(tree.nodes[node].rule)];
    // a negator bears on all within its constituent
    if (const GrammarValue* negator = find(tree, node, roles.negator, negations_))
      negation *= negations_.at(*negator);
    if (const GrammarValue* adjective = find(tree, node, roles.adjective, strengths_)) {
      Judgement judgement{strengths_.at(*adjective) * negation, token(tree, node, roles.adjective)};
      if (const GrammarValue* intensifier = find(tree, node, roles.intensifier, intensities_))
        judgement.polarity *= intensities_.at(*intensifier);
      adjectives.push_back(judgement);
      return judgement;
    }
    if (const GrammarValue* opening = find(tree, node, roles.opening, decides_))
      return join(tree, node, *opening, roles.opening, negation, adjectives, conjunctions);
    if (const GrammarValue* conjunction = find(tree, node, roles.conjunction, decides_))
      return join(tree, node, *conjunction, roles.conjunction, negation, adjectives, conjunctions);
    Judgement found;
    for (std::int32_t slot = 0; slot < roles.n_variables && found.adjective < 0; ++slot) {
      const GrammarValue& value = tree.values[place(tree, node, slot)];
      // constituents are numbered as they are made: one with a lower number was handed down
      if (value.kind == GrammarValue::Kind::node && static_cast<std::size_t>(value.id) > node)
        found = judge(tree, static_cast<std::size_t>(value.id), negation, adjectives, conjunctions);
    }
    return found;
  }

 private:
  static std::size_t place(const Derivation& tree, std::size_t node, std::int32_t slot) {
    return static_cast<std::size_t>(tree.nodes[node].first_slot) + static_cast<std::size_t>(slot);
  }
  static std::int32_t token(const Derivation& tree, std::size_t node, std::int32_t slot) {
    return tree.ranges[0][place(tree, node, slot)].first;
  }
  /// The variable's entry of those words, where it made a token here.
  static const GrammarValue* find(const Derivation& tree, std::size_t node, std::int32_t slot,
                                  const Numbers& words) {
    if (slot < 0 || token(tree, node, slot) < 0) return nullptr;
    const GrammarValue& value = tree.values[place(tree, node, slot)];
    return value.kind == GrammarValue::Kind::entry && value.words == words.words ? &value : nullptr;
  }

  /// Two clauses or phrases, `first` and `second`, and what joins them.
  Judgement join(const Derivation& tree, std::size_t node, const GrammarValue& conjunction, std::int32_t slot,
                 double negation, std::vector<Judgement>& adjectives,
                 std::vector<std::int32_t>& conjunctions) const {
    const Roles& roles = roles_[static_cast<std::size_t>(tree.nodes[node].rule)];
    conjunctions.push_back(token(tree, node, slot));
    std::array<Judgement, 2> sides;
    for (const std::size_t side : {0U, 1U}) {
      const std::int32_t variable = side == 0 ? roles.first : roles.second;
      if (variable < 0) continue;
      const GrammarValue& value = tree.values[place(tree, node, variable)];
      if (value.kind == GrammarValue::Kind::node)
        sides[side] = judge(tree, static_cast<std::size_t>(value.id), negation, adjectives, conjunctions);
    }
    const bool begins_first = slot == roles.opening;  // then its own clause is the first
    const bool own_decides = decides_.at(conjunction) > 0;
    return begins_first == own_decides ? sides[0] : sides[1];
  }

  std::vector<Roles> roles_;  // [rule]
  Numbers strengths_, intensities_, negations_;
  Numbers decides_;  // of conjunctions: 1 where a conjunction's own clause decides, else 0
};

class Sentiment final : public Task {
 public:
  Sentiment(TaskConfig config, Vocabulary vocabulary, Grammar grammar, Reader reader, bool asks_phrases)
      : Task(std::move(config), std::move(vocabulary)),
        grammar_(std::move(grammar)),
        reader_(std::move(reader)),
        asks_phrases_(asks_phrases) {
    relations_ = grammar_.relations();
    contrast_ = static_cast<std::int32_t>(relations_.size());
    relations_.push_back({"contrast"});
    relations_.push_back({"winning_adjective"});
    form_.architecture = Architecture::encoder;
    form_.objective = Objective::token_classification;
    form_.vocab_size = vocabulary_.size();
    form_.n_classes = kPolarityClasses;
    form_.n_outputs = 1;
  }

  std::string class_name(std::int32_t label) const override {
    static constexpr std::array<const char*, kPolarityClasses> kNames = {
        "very negative", "negative", "neutral", "positive", "very positive"};
    return kNames[static_cast<std::size_t>(label)];
  }

  /// Draws many sentences: finds the longest, whether each has an adjective, and whether some are held out.
  Result<void> look(const std::string& where) {
    Rng rng(0, "sentiment");
    Derivation tree;
    std::vector<Judgement> adjectives;
    std::vector<std::int32_t> conjunctions;
    int n_drawn = 0, n_held_out = 0;
    for (int k = 0; k < kLookedAt; ++k) {
      if (!grammar_.draw(rng, tree)) continue;  // a combination so rare that the grammar's check missed it
      ++n_drawn;
      if (tree.is_held_out) ++n_held_out;
      adjectives.clear();
      conjunctions.clear();
      if (reader_.judge(tree, 0, 1, adjectives, conjunctions).adjective < 0)
        return Error{.key = "task.lacks", .where = where, .values = {{"name", "adjective"}}};
      form_.max_tokens = std::max(form_.max_tokens, static_cast<std::int64_t>(tree.tokens[0].size()) + 1);
    }
    return check_split(n_held_out, n_drawn, where);
  }

 private:
  Example draw_any(Rng& rng) const override {
    Derivation tree;
    while (!grammar_.draw(rng, tree) ||
           static_cast<std::int64_t>(tree.tokens[0].size()) >= form_.max_tokens) {
    }
    std::vector<Judgement> adjectives;
    std::vector<std::int32_t> conjunctions;
    const Judgement whole = reader_.judge(tree, 0, 1, adjectives, conjunctions);
    Example example;
    example.source = begun_row(tree);
    example.labels.assign(example.source.size(), {-1});
    example.labels[0] = {polarity_class(whole.polarity)};
    if (asks_phrases_)
      for (const Judgement& each : adjectives)
        example.labels[static_cast<std::size_t>(each.adjective) + 1] = {polarity_class(each.polarity)};
    example.judged = {0};
    example.links = begun_links(tree);
    for (const std::int32_t conjunction : conjunctions)
      example.links.push_back({.relation = contrast_, .query = 0, .key = conjunction + 1});
    example.links.push_back({.relation = contrast_ + 1, .query = 0, .key = whole.adjective + 1});
    example.is_held_out = tree.is_held_out;
    return example;
  }

  Grammar grammar_;
  Reader reader_;
  bool asks_phrases_;
  std::int32_t contrast_ = 0;  // its relation's number; winning_adjective's is the next
};

}  // namespace

std::int32_t polarity_class(double polarity) {
  if (std::abs(polarity) <= kNeutral) return 2;
  if (polarity > 0) return polarity > kStrong ? 4 : 3;
  return polarity < -kStrong ? 0 : 1;
}

Result<std::unique_ptr<const Task>> make_sentiment(const TaskConfig& config,
                                                   const std::filesystem::path& assets) {
  static constexpr std::array<std::string_view, 1> kSettings = {"labels"};
  static constexpr std::array<std::string_view, 2> kLabels = {"phrases", "sentence"};
  if (Result<void> checked = check_settings(config, kSettings); !checked) return checked.error();
  const Result<std::string> labels = choose_setting(config, "labels", kLabels);
  if (!labels) return labels.error();
  const std::filesystem::path file = grammar_file(config, assets);
  Result<Grammar> grammar = Grammar::load(file);
  if (!grammar) return grammar.error();
  Result<Vocabulary> vocabulary = marked_vocabulary(*grammar, file.string());
  if (!vocabulary) return vocabulary.error();
  Result<Reader> reader = Reader::make(*grammar, file.string());
  if (!reader) return reader.error();
  auto task = std::make_unique<Sentiment>(config, *std::move(vocabulary), *std::move(grammar),
                                          *std::move(reader), *labels == "phrases");
  if (Result<void> looked = task->look(file.string()); !looked) return looked.error();
  return std::unique_ptr<const Task>(std::move(task));
}

}  // namespace headscope::core
