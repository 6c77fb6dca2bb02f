#include "core/tasks/questions.h"

#include "core/tasks/language_task.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headscope::core {

namespace {

/// The kinds of questions, and which constituent of the fact that is asked for answers each.
constexpr std::array<std::string_view, 3> kKinds = {"where", "what", "who"};
constexpr std::array<const char*, 3> kAnswers = {"asked.location", "asked.object", "asked.agent"};

/// Where the grammar keeps what the task needs.
struct Places {
  std::size_t rule = 0;  // "sentence"
  std::size_t kind = 0;  // its variable
  std::vector<GrammarValue> kinds = {};
  std::vector<GrammarPath> answers = {};  // [kind]
  std::int32_t question_mark = 0;         // a token
};

Result<Places> find_places(const Grammar& grammar, const std::string& where) {
  const auto lacks = [&](std::string_view name) {
    return Error{.key = "task.lacks", .where = where, .values = {{"name", std::string(name)}}};
  };
  Places places;
  const std::optional<std::size_t> rule = grammar.find_rule("sentence");
  if (!rule) return lacks("sentence");
  places.rule = *rule;
  const std::optional<std::size_t> kind = grammar.find_variable(*rule, "kind");
  if (!kind) return lacks("kind");
  places.kind = *kind;
  for (std::size_t k = 0; k < kKinds.size(); ++k) {
    const std::optional<GrammarValue> value = grammar.find_text(kKinds[k]);
    if (!value) return lacks(kKinds[k]);
    places.kinds.push_back(*value);
    const std::optional<GrammarPath> answer = grammar.find_path(*rule, kAnswers[k]);
    if (!answer) return lacks(kAnswers[k]);
    places.answers.push_back(*answer);
  }
  const std::vector<std::string>& tokens = grammar.tokens(0);
  const auto mark = std::find(tokens.begin(), tokens.end(), "?");
  if (mark == tokens.end()) return lacks("?");
  places.question_mark = static_cast<std::int32_t>(mark - tokens.begin());
  return places;
}

class Questions final : public Task {
 public:
  /// `kind`: a number of kKinds; none for mixed.
  Questions(TaskConfig config, Vocabulary vocabulary, Grammar grammar, Places places,
            std::optional<std::size_t> kind)
      : Task(std::move(config), std::move(vocabulary)),
        grammar_(std::move(grammar)),
        places_(std::move(places)),
        kind_(kind) {
    relations_ = grammar_.relations();
    score_kind_ = ScoreKind::exact_match;
    form_.architecture = Architecture::encoder;
    form_.objective = Objective::span;
    form_.span_reader = SpanReader::pointer;
    form_.vocab_size = vocabulary_.size();
  }

  /// Draws many sentences of each kind: finds the longest, whether each has an answer, and whether some are
  /// held out. All kinds count, so that a model that has learnt one can go on with another.
  Result<void> look(const std::string& where) {
    Rng rng(0, "questions");
    Derivation tree;
    for (std::size_t kind = 0; kind < kKinds.size(); ++kind) {
      int n_drawn = 0, n_held_out = 0;
      for (int k = 0; k < kLookedAt; ++k) {
        if (!draw_kind(kind, rng, tree)) continue;  // so rare that the grammar's check missed it
        ++n_drawn;
        if (tree.is_held_out) ++n_held_out;
        const TokenRange answer = grammar_.range(tree, 0, places_.answers[kind], 0);
        if (answer.first < 0)
          return Error{.key = "task.lacks", .where = where, .values = {{"name", kAnswers[kind]}}};
        if (find_mark(tree) < 1) return Error{.key = "task.lacks", .where = where, .values = {{"name", "?"}}};
        form_.max_tokens = std::max(form_.max_tokens, static_cast<std::int64_t>(tree.tokens[0].size()) + 1);
      }
      if (Result<void> checked = check_split(n_held_out, n_drawn, where); !checked) return checked;
    }
    return {};
  }

 private:
  Result<void> draw_kind(std::size_t kind, Rng& rng, Derivation& tree) const {
    const GrammarPreset preset{.variable = places_.kind, .value = places_.kinds[kind]};
    return grammar_.draw(places_.rule, std::span(&preset, 1), rng, tree);
  }

  /// The first question mark's token; the sentence's length where there is none.
  std::int32_t find_mark(const Derivation& tree) const {
    const std::vector<std::int32_t>& tokens = tree.tokens[0];
    return static_cast<std::int32_t>(std::find(tokens.begin(), tokens.end(), places_.question_mark) -
                                     tokens.begin());
  }

  Example draw_any(Rng& rng) const override {
    const std::size_t kind = kind_ ? *kind_ : static_cast<std::size_t>(rng.below(kKinds.size()));
    Derivation tree;
    while (!draw_kind(kind, rng, tree) ||
           static_cast<std::int64_t>(tree.tokens[0].size()) >= form_.max_tokens) {
    }
    const TokenRange answer = grammar_.range(tree, 0, places_.answers[kind], 0);
    Example example;
    example.source = begun_row(tree);
    example.span = SpanEdges{.start = answer.first + 1, .end = answer.last + 1};
    example.read = find_mark(tree);  // the token before the mark, which "<begin>" moves by one
    example.links = begun_links(tree);
    example.is_held_out = tree.is_held_out;
    return example;
  }

  Grammar grammar_;
  Places places_;
  std::optional<std::size_t> kind_;
};

}  // namespace

Result<std::unique_ptr<const Task>> make_questions(const TaskConfig& config,
                                                   const std::filesystem::path& assets) {
  static constexpr std::array<std::string_view, 1> kSettings = {"kinds"};
  static constexpr std::array<std::string_view, 4> kKnown = {"where", "what", "who", "mixed"};
  if (Result<void> checked = check_settings(config, kSettings); !checked) return checked.error();
  const Result<std::string> kinds = choose_setting(config, "kinds", kKnown);
  if (!kinds) return kinds.error();
  const std::filesystem::path file = grammar_file(config, assets);
  Result<Grammar> grammar = Grammar::load(file);
  if (!grammar) return grammar.error();
  Result<Vocabulary> vocabulary = marked_vocabulary(*grammar, file.string());
  if (!vocabulary) return vocabulary.error();
  Result<Places> places = find_places(*grammar, file.string());
  if (!places) return places.error();
  const auto kind =
      static_cast<std::size_t>(std::find(kKinds.begin(), kKinds.end(), *kinds) - kKinds.begin());
  auto task =
      std::make_unique<Questions>(config, *std::move(vocabulary), *std::move(grammar), *std::move(places),
                                  kind < kKinds.size() ? std::optional(kind) : std::nullopt);
  if (Result<void> looked = task->look(file.string()); !looked) return looked.error();
  return std::unique_ptr<const Task>(std::move(task));
}

}  // namespace headscope::core
