// Everything that makes a training run again, bit for bit, with the same build: its settings, and what a
// person changed while it ran.
#pragma once

#include "core/interventions.h"
#include "core/model.h"
#include "core/result.h"
#include "core/shape.h"
#include "core/tasks/task.h"
#include "core/training/optimiser.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace headscope::core {

/// What a person changes inside every forward and backward pass of a run: sets switches of the graph, and
/// says which cells are set by hand. Called for each graph that the run builds (dropout changes it,
/// evaluation has its own).
using Intervene = std::function<Result<Interventions>(Graph&)>;

/// What is learned from: exactly one of `task` and `file`.
struct DataConfig {
  std::optional<TaskConfig> task = {};
  std::optional<std::filesystem::path> file = {};      // NAME.tokens.json
  std::optional<std::filesystem::path> held_out = {};  // of a file; without it nothing is evaluated
  bool is_full_batch = false;                          // of a file: all of it at every step
  bool operator==(const DataConfig&) const = default;
};

/// How the parameters begin: those of a model directory, or drawn from the run's seed.
struct StartConfig {
  std::optional<std::filesystem::path> from = {};
  double embedding_deviation = 1;  // of drawn ones
  bool has_equal_heads = false;
  double head_noise = 0;  // the deviation of what then tells them apart
  bool operator==(const StartConfig&) const = default;
};

/// When a run ends by itself.
struct StopConfig {
  std::int64_t n_steps = 0;                 // at the latest
  std::optional<double> target_score = {};  // as soon as the held-out score reaches it
  int plateau = 0;  // evaluations in a row without a held-out loss below the best one; 0: no matter
  bool operator==(const StopConfig&) const = default;
};

struct RunConfig {
  DataConfig data;
  ModelConfig model;
  StartConfig start;
  OptimiserConfig optimiser;             // total_steps is stop.n_steps unless the schedule ends elsewhere
  GraphOptions graph;                    // dropout, label smoothing
  std::vector<std::string> frozen = {};  // names of parameters that are left as they are
  std::int64_t batch_size = 32;
  std::uint64_t seed = 1;  // of parameters, examples, dropout's masks, noise between heads
  StopConfig stop;
  std::int64_t evaluate_every = 50;  // steps
  std::int64_t n_held_out = 256;     // examples that an evaluation takes
  bool operator==(const RunConfig&) const = default;
};

/// Checks the ranges of a run's own numbers, its model and its optimiser, whoever wrote them. Errors: those
/// of validate() of a model and of an optimiser; config.fraction (dropout, label_smoothing); train.range
/// (key, value, lowest, highest).
Result<void> validate(const RunConfig& config, const std::string& where);

struct SetRate {
  double rate = 0;
  bool operator==(const SetRate&) const = default;
};
struct SetWeightDecay {
  double weight_decay = 0;
  bool operator==(const SetWeightDecay&) const = default;
};
struct SetDropout {
  double dropout = 0;
  bool operator==(const SetDropout&) const = default;
};
struct SetBatchSize {
  std::int64_t batch_size = 0;
  bool operator==(const SetBatchSize&) const = default;
};
/// A parameter's number.
struct SetParameter {
  std::string tensor;
  Cell cell;
  double value = 0;
  bool operator==(const SetParameter&) const = default;
};
using Change = std::variant<SetRate, SetWeightDecay, SetDropout, SetBatchSize, SetParameter>;

/// A change that a person made while the run was going: from step `step` on (the first is 1), before that
/// step runs. Every replay applies it at the same place.
struct Event {
  std::int64_t step = 1;
  Change change;
  bool operator==(const Event&) const = default;
};

}  // namespace headscope::core
