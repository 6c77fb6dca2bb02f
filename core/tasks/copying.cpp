#include "core/tasks/copying.h"

#include "core/tasks/letters.h"

#include <array>
#include <charconv>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace headscope::core {

namespace {

constexpr std::int32_t kTokens = 24, kLetters = 16;
constexpr std::int32_t kShortest = 4, kLongest = 10;  // of the segment
constexpr std::array<std::string_view, 1> kSettings = {"period"};

enum CopyingRelation : std::uint8_t { previous_token, duplicate_token, induction };

class Copying final : public Task {
 public:
  Copying(TaskConfig config, Vocabulary vocabulary, std::optional<std::int32_t> period)
      : Task(std::move(config), std::move(vocabulary)), period_(period) {
    relations_ = {{"previous_token"}, {"duplicate_token"}, {"induction"}};
    form_.architecture = Architecture::decoder;
    form_.objective = Objective::language_model;
    form_.vocab_size = vocabulary_.size();
    form_.max_tokens = kTokens - 1;  // the last is predicted only
  }

  std::string text_of(std::span<const std::int32_t> ids, TextSide /*side*/) const override {
    return spaced(ids, vocabulary_);
  }

 private:
  Example draw_any(Rng& rng) const override {
    const std::int32_t period =
        period_.value_or(kShortest + static_cast<std::int32_t>(rng.below(kLongest - kShortest + 1)));
    std::array<std::int32_t, kLetters> deck{};
    for (std::int32_t at = 0; at < kLetters; ++at) deck[static_cast<std::size_t>(at)] = 1 + at;
    for (std::int32_t at = 0; at < period; ++at) {  // the first cards of a shuffle
      const auto other = static_cast<std::size_t>(at) + rng.below(static_cast<std::uint64_t>(kLetters - at));
      std::swap(deck[static_cast<std::size_t>(at)], deck.at(other));
    }
    Example example;
    for (std::int32_t position = 0; position < kTokens; ++position)
      example.source.push_back(deck[static_cast<std::size_t>(position % period)]);
    for (std::int32_t position = 0; position < kTokens - 1; ++position) {  // as fed
      if (position > 0)
        example.links.push_back({.relation = previous_token, .query = position, .key = position - 1});
      if (position < period) continue;
      example.judged.push_back(position);
      for (std::int32_t earlier = position - period; earlier >= 0; earlier -= period) {
        example.links.push_back({.relation = duplicate_token, .query = position, .key = earlier});
        example.links.push_back({.relation = induction, .query = position, .key = earlier + 1});
      }
    }
    example.is_held_out = is_held_out_hash(hash_row(example.source));
    return example;
  }

  std::optional<std::int32_t> period_;  // none: drawn for each row
};

}  // namespace

Result<std::unique_ptr<const Task>> make_copying(const TaskConfig& config) {
  if (Result<void> checked = check_settings(config, kSettings); !checked) return checked.error();
  if (Result<void> pocket = require_pocket(config); !pocket) return pocket.error();
  const std::string text = find_setting(config, "period").value_or("random");
  std::optional<std::int32_t> period;
  if (text != "random") {
    std::int32_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [after, failure] = std::from_chars(text.data(), end, number);
    if (failure != std::errc() || after != end || number < kShortest || number > kLongest)
      return Error{.key = "task.setting_value",
                   .where = config.name,
                   .values = {{"key", "period"}, {"value", text}, {"known", "random, 4, 5, 6, 7, 8, 9, 10"}}};
    period = number;
  }
  return std::unique_ptr<const Task>(std::make_unique<Copying>(config, letters(kLetters, 0), period));
}

}  // namespace headscope::core
