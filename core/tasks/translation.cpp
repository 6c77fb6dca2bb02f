#include "core/tasks/translation.h"

#include "core/tasks/grammar.h"
#include "core/tasks/language_task.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace headscope::core {

namespace {

constexpr std::int32_t kFirstTarget = 3;      // after padding, begin, end
constexpr std::int32_t kBegin = 1, kEnd = 2;  // of the target vocabulary

Result<Vocabulary> vocabulary_of(const Grammar& grammar, std::size_t language, const std::string& where) {
  std::vector<std::string> tokens = {"<pad>"};
  if (language == 1) tokens.insert(tokens.end(), {"<begin>", "<end>"});
  const std::vector<std::string>& words = grammar.tokens(language);
  tokens.insert(tokens.end(), words.begin(), words.end());
  return Vocabulary::make(std::move(tokens), where);
}

class Translation final : public Task {
 public:
  Translation(TaskConfig config, Grammar grammar, Vocabulary source, Vocabulary target)
      : Task(std::move(config), std::move(source)), grammar_(std::move(grammar)) {
    target_vocabulary_ = std::move(target);
    relations_ = grammar_.relations();
    score_kind_ = ScoreKind::exact_match;
    form_.architecture = Architecture::encoder_decoder;
    form_.objective = Objective::language_model;
    form_.vocab_size = vocabulary_.size();
    form_.target_vocab_size = target_vocabulary_->size();
    measure();
  }

  Result<void> check_split(const std::string& where) const {
    return core::check_split(n_held_out_, n_measured_, where);
  }

 private:
  void measure() {
    Rng rng(0, "translation.measure");
    Derivation derivation;
    for (int drawn = 0; drawn < kLookedAt; ++drawn) {
      if (!grammar_.draw(rng, derivation)) continue;
      form_.max_tokens = std::max(form_.max_tokens, n_fed(derivation));
      ++n_measured_;
      if (derivation.is_held_out) ++n_held_out_;
    }
  }

  /// The longer of both sides as it is fed: a source as it is, a target with begin and without end.
  static std::int64_t n_fed(const Derivation& derivation) {
    return static_cast<std::int64_t>(std::max(derivation.tokens[0].size(), derivation.tokens[1].size() + 1));
  }

  /// A sentence longer than those that were measured is so rare that it is left out; so is one that the
  /// grammar could not finish, which load() would have found if it were not rare.
  Example draw_any(Rng& rng) const override {
    Derivation derivation;
    for (;;)
      if (grammar_.draw(rng, derivation) && n_fed(derivation) <= form_.max_tokens)
        return example_of(derivation);
  }

  Example example_of(const Derivation& derivation) const {
    Example example;
    example.is_held_out = derivation.is_held_out;
    for (const std::int32_t token : derivation.tokens[0]) example.source.push_back(1 + token);
    example.target.push_back(kBegin);
    for (const std::int32_t token : derivation.tokens[1]) example.target.push_back(kFirstTarget + token);
    example.target.push_back(kEnd);
    for (Link link : derivation.links) {
      const Relation& relation = relations_[static_cast<std::size_t>(link.relation)];
      // word t is fed at t + 1, after begin, and predicted at t: a query stays, a key moves
      if (relation.key == TextSide::target) ++link.key;
      const bool is_fed =
          relation.query == TextSide::source || relation.key == TextSide::source || link.key <= link.query;
      if (is_fed) example.links.push_back(link);
    }
    return example;
  }

  Grammar grammar_;
  int n_measured_ = 0, n_held_out_ = 0;
};

}  // namespace

Result<std::unique_ptr<const Task>> make_translation(const TaskConfig& config,
                                                     const std::filesystem::path& assets) {
  if (Result<void> checked = check_settings(config, {}); !checked) return checked.error();
  const std::filesystem::path file = grammar_file(config, assets);
  Result<Grammar> grammar = Grammar::load(file);
  if (!grammar) return grammar.error();
  if (grammar->languages().size() != 2)
    return Error{.key = "task.languages",
                 .where = file.string(),
                 .values = {{"n", std::to_string(grammar->languages().size())}}};
  Result<Vocabulary> source = vocabulary_of(*grammar, 0, file.string());
  if (!source) return source.error();
  Result<Vocabulary> target = vocabulary_of(*grammar, 1, file.string());
  if (!target) return target.error();
  auto task = std::make_unique<const Translation>(config, std::move(*grammar), std::move(*source),
                                                  std::move(*target));
  if (Result<void> checked = task->check_split(file.string()); !checked) return checked.error();
  return std::unique_ptr<const Task>(std::move(task));
}

}  // namespace headscope::core
