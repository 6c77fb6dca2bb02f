#include "core/tasks/task.h"

#include "core/tasks/copying.h"
#include "core/tasks/look_ups.h"
#include "core/tasks/questions.h"
#include "core/tasks/sentence_text.h"
#include "core/tasks/sentiment.h"
#include "core/tasks/translation.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace headscope::core {

namespace {

constexpr std::array<std::string_view, 5> kNames = {"look-ups", "copying", "translation", "sentiment",
                                                    "questions"};

std::string known_names() {
  std::string known;
  for (const std::string_view name : kNames) known.append(known.empty() ? "" : ", ").append(name);
  return known;
}

}  // namespace

Example Task::draw(Rng& rng, Split split) const {
  for (;;) {
    Example example = draw_any(rng);
    if (example.is_held_out == (split == Split::held_out)) return example;
  }
}

std::string Task::class_name(std::int32_t label) const {
  return form_.n_classes == vocabulary_.size() ? vocabulary_.token(label) : std::to_string(label);
}

std::string Task::text_of(std::span<const std::int32_t> ids, TextSide side) const {
  const Vocabulary& vocabulary = side == TextSide::source ? vocabulary_ : *target_vocabulary_;
  std::vector<std::string> tokens;
  for (const std::int32_t id : ids) tokens.push_back(vocabulary.token(id));
  return sentence_text(tokens);
}

std::span<const std::string_view> task_names() {
  return kNames;
}

Result<std::unique_ptr<const Task>> make_task(const TaskConfig& config, const std::filesystem::path& assets) {
  if (config.name == "look-ups") return make_look_ups(config);
  if (config.name == "copying") return make_copying(config);
  if (config.name == "translation") return make_translation(config, assets);
  if (config.name == "sentiment") return make_sentiment(config, assets);
  if (config.name == "questions") return make_questions(config, assets);
  return Error{
      .key = "task.unknown", .where = "", .values = {{"name", config.name}, {"known", known_names()}}};
}

std::optional<std::string> find_setting(const TaskConfig& config, std::string_view key) {
  for (const auto& [name, value] : config.settings)
    if (name == key) return value;
  return std::nullopt;
}

Result<void> check_settings(const TaskConfig& config, std::span<const std::string_view> known) {
  for (const auto& [name, value] : config.settings) {
    if (std::ranges::find(known, name) != known.end()) continue;
    std::string list;
    for (const std::string_view key : known) list.append(list.empty() ? "" : ", ").append(key);
    return Error{.key = known.empty() ? "task.no_settings" : "task.setting",
                 .where = config.name,
                 .values = {{"key", name}, {"known", list}}};
  }
  return {};
}

Result<void> require_pocket(const TaskConfig& config) {
  if (config.size == TaskSize::pocket) return {};
  return Error{.key = "task.size", .where = config.name, .values = {{"name", config.name}}};
}

TokenBatch batch_of(std::span<const Example> examples, const Task& task) {
  TokenBatch batch;
  batch.source.reserve(examples.size());
  for (const Example& example : examples) {
    batch.source.push_back(example.source);
    switch (task.form().objective) {
      case Objective::language_model:
        if (task.form().architecture == Architecture::encoder_decoder) batch.target.push_back(example.target);
        break;
      case Objective::classification:
        batch.label.push_back(example.label.value_or(-1));
        break;
      case Objective::token_classification:
        batch.labels.push_back(example.labels);
        break;
      case Objective::span:
        batch.span.push_back(example.span.value_or(SpanEdges{}));
        if (example.read) batch.read.push_back(*example.read);
        break;
      case Objective::none:
        break;
    }
  }
  return batch;
}

}  // namespace headscope::core
