// Small training runs for tests: a task of its own, and a file of rows.
#pragma once

#include "core/tasks/task.h"
#include "core/temporary_folder.h"
#include "core/training/trainer.h"
#include "tests/core/every_model.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headscope::core::test {

inline Vocabulary numbered_vocabulary(std::int64_t size) {
  std::vector<std::string> tokens;
  for (std::int64_t id = 0; id < size; ++id) tokens.push_back("w" + std::to_string(id));
  Result<Vocabulary> vocabulary = Vocabulary::make(std::move(tokens), "test");
  REQUIRE(vocabulary);
  return *std::move(vocabulary);
}

/// Rows of 3 to 6 words of 7 that count on from a random one; the task is to predict the next.
class CountingTask : public Task {
 public:
  CountingTask() : Task({.name = "counting"}, numbered_vocabulary(8)) {
    relations_ = {{"last", TextSide::source, TextSide::source}};
    form_.vocab_size = 8;
    form_.max_tokens = 6;
  }

 protected:
  Example draw_any(Rng& rng) const override {
    const auto first = static_cast<std::int32_t>(rng.below(7));
    const auto length = static_cast<std::int32_t>(3 + rng.below(4));
    Example example;
    for (std::int32_t place = 0; place < length; ++place) example.source.push_back(1 + (first + place) % 7);
    for (std::int32_t place = 1; place + 1 < length; ++place) example.links.push_back({0, place, place - 1});
    example.is_held_out = first == 3;
    return example;
  }
};

/// A decoder of one layer and two heads, and a run of it with everything on.
inline RunConfig counting_run() {
  RunConfig config;
  config.data.task = TaskConfig{.name = "counting"};
  config.model = base_config(Architecture::decoder, Objective::language_model);
  config.model.vocab_size = 8;
  config.model.max_tokens = 6;
  config.model.n_layers = 1;
  config.model.n_classes = 0;
  config.optimiser = {.rate = 1e-2, .weight_decay = 0.01, .clip_norm = 1, .warm_up = 10};
  config.graph = {.dropout = 0.1, .label_smoothing = 0.05};
  config.batch_size = 6;
  config.seed = 7;
  config.stop.n_steps = 100;
  config.evaluate_every = 20;
  config.n_held_out = 8;
  return config;
}

/// Twelve rows of the same kind in a file.
inline void write_rows(const std::filesystem::path& path) {
  std::string text = "{\"source\": [";
  for (int row = 0; row < 12; ++row) {
    text += row == 0 ? "[" : ", [";
    for (int place = 0; place < 3 + row % 4; ++place)
      text += (place == 0 ? "" : ", ") + std::to_string(1 + (row + place) % 7);
    text += "]";
  }
  tests::write_text(path, text + "]}\n");
}

inline RunConfig file_run(const std::filesystem::path& path) {
  RunConfig config = counting_run();
  config.data = {.file = path};
  return config;
}

template <class Left, class Right>
bool same_bits(const Left& left, const Right& right) {
  return std::size(left) == std::size(right) &&
         (std::size(left) == 0 ||
          std::memcmp(std::data(left), std::data(right), std::size(left) * sizeof(float)) == 0);
}

inline bool same_state(const TrainState& left, const TrainState& right) {
  return left.step == right.step && same_bits(left.parameters, right.parameters) &&
         same_bits(left.first_moments, right.first_moments) &&
         same_bits(left.second_moments, right.second_moments);
}

inline std::string value_of(const Error& error, std::string_view name) {
  for (const auto& [key, value] : error.values)
    if (key == name) return value;
  return "";
}

inline std::unique_ptr<Trainer> make_trainer(const RunConfig& config, const Task* task, int n_threads = 1) {
  Result<std::unique_ptr<Trainer>> trainer = Trainer::make(config, task, n_threads);
  if (!trainer) FAIL("make: " << trainer.error().key);
  return *std::move(trainer);
}

inline void run_to(Trainer& trainer, std::int64_t step) {
  while (trainer.step() < step) {
    const Result<StepReport> report = trainer.run_step();
    if (!report) FAIL("step " << trainer.step() + 1 << ": " << report.error().key);
  }
}

}  // namespace headscope::core::test
