// What a person chose about a training run: whatever was left out is the recipe's, or stays as the run has
// it.
#pragma once

#include "core/training/run_config.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace headscope::simulator {

struct TrainChoices {
  std::optional<std::int64_t> n_steps;
  std::optional<core::OptimiserKind> optimiser;
  std::optional<double> rate, weight_decay, clip_norm, momentum;
  std::optional<core::Schedule> schedule;
  std::optional<std::int64_t> warm_up;
  std::optional<double> dropout, label_smoothing;
  std::optional<std::int64_t> batch_size, evaluate_every, n_held_out;
  std::optional<double> target_score, embedding_deviation;
  std::optional<int> plateau;
  std::optional<std::uint64_t> seed;
  std::optional<std::int64_t> d_model, n_heads, n_layers, d_ff;
};

/// Puts the choices into a run that is about to begin. A schedule that ended with the recipe's last step ends
/// with the run's. Errors: train.heads (d_model, n_heads: the second does not divide the first); those of
/// validate().
core::Result<void> apply(const TrainChoices& choices, core::RunConfig& run);

/// The choices that can be made about a run that is going on, as changes of the next step, where they differ
/// from what it has.
std::vector<core::Change> changes_of(const TrainChoices& choices);

}  // namespace headscope::simulator
