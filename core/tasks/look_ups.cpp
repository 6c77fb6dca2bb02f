#include "core/tasks/look_ups.h"

#include "core/tasks/letters.h"

#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace headscope::core {

namespace {

constexpr std::int32_t kTokens = 12;
constexpr std::int32_t kFirstAnswer = 6;  // the first position that is asked
constexpr std::int32_t kLastCapital =
    3;  // the capital stands at 1, 2 or 3: before all that is asked, and not first
constexpr std::int32_t kLetters = 16, kCapitals = 8;

/// The relations, and the outputs in the same order.
enum Output : std::uint8_t { previous, before_previous, first, capital, n_outputs };
constexpr std::array<const char*, n_outputs> kRelations = {"previous_token", "token_before_previous",
                                                           "first_token", "capital"};

class LookUps final : public Task {
 public:
  LookUps(TaskConfig config, Vocabulary vocabulary) : Task(std::move(config), std::move(vocabulary)) {
    for (const char* name : kRelations) relations_.push_back({name});
    form_.architecture = Architecture::decoder;
    form_.objective = Objective::token_classification;
    form_.vocab_size = vocabulary_.size();
    form_.n_classes = vocabulary_.size();  // the classes are the tokens
    form_.n_outputs = n_outputs;
    form_.max_tokens = kTokens;
  }

  std::string text_of(std::span<const std::int32_t> ids, TextSide /*side*/) const override {
    return spaced(ids, vocabulary_);
  }

 private:
  Example draw_any(Rng& rng) const override {
    Example example;
    for (std::int32_t position = 0; position < kTokens; ++position)
      example.source.push_back(letter(rng, kLetters));
    const auto capital_at = static_cast<std::int32_t>(1 + rng.below(kLastCapital));
    example.source[static_cast<std::size_t>(capital_at)] =
        static_cast<std::int32_t>(1 + kLetters + static_cast<std::int32_t>(rng.below(kCapitals)));
    example.labels.assign(kTokens, std::vector<std::int32_t>(n_outputs, -1));
    for (std::int32_t position = kFirstAnswer; position < kTokens; ++position) {
      const std::array<std::int32_t, n_outputs> looked_up = {position - 1, position - 2, 0, capital_at};
      for (std::int32_t output = 0; output < n_outputs; ++output) {
        const std::int32_t at = looked_up[static_cast<std::size_t>(output)];
        example.labels[static_cast<std::size_t>(position)][static_cast<std::size_t>(output)] =
            example.source[static_cast<std::size_t>(at)];
        example.links.push_back({.relation = output, .query = position, .key = at});
      }
    }
    example.is_held_out = is_held_out_hash(hash_row(example.source));
    return example;
  }
};

}  // namespace

Result<std::unique_ptr<const Task>> make_look_ups(const TaskConfig& config) {
  if (Result<void> checked = check_settings(config, {}); !checked) return checked.error();
  if (Result<void> pocket = require_pocket(config); !pocket) return pocket.error();
  return std::unique_ptr<const Task>(std::make_unique<LookUps>(config, letters(kLetters, kCapitals)));
}

}  // namespace headscope::core
