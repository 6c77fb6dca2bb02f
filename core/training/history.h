// Training time that can be visited again: checkpoints within a bound of memory, and replay between them.
#pragma once

#include "core/training/trainer.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace headscope::core {

/// Checkpoints at even distances. When the bound is reached the distance doubles and every second one goes,
/// so that every past step stays equally near. The first and the newest always stay, whatever they take;
/// pinned ones as long as they take at most half of the bound, then the oldest lose their pins.
class History {
 public:
  static constexpr std::size_t kDefaultBytes = std::size_t{64} << 20;

  explicit History(std::size_t limit_bytes = kDefaultBytes, std::int64_t first_distance = 10)
      : limit_(limit_bytes), distance_(first_distance) {}

  /// Whether a checkpoint is due after this step.
  bool is_due(std::int64_t step) const { return step % distance_ == 0; }

  enum class Keep : std::uint8_t {
    evenly,  // it may go when the distance doubles, or a newer one comes where its step was not due
    pinned
  };
  /// Keeps a state; one of the same step is replaced, its pin stays.
  void add(TrainState state, Keep keep);
  /// Forgets what comes after the step: another future begins there.
  void forget_after(std::int64_t step);

  /// The last checkpoint at or before the step; none where there is no earlier one.
  const TrainState* before(std::int64_t step) const;
  /// By their steps.
  const std::map<std::int64_t, TrainState>& checkpoints() const { return checkpoints_; }
  std::int64_t distance() const { return distance_; }
  std::size_t n_bytes() const { return n_bytes_; }

 private:
  void make_room();
  void erase_undue(std::int64_t step);
  void thin();
  std::map<std::int64_t, TrainState>::iterator erase(std::map<std::int64_t, TrainState>::iterator at);

  std::size_t limit_;
  std::int64_t distance_;
  std::map<std::int64_t, TrainState> checkpoints_;
  std::set<std::int64_t> pinned_;
  std::size_t n_bytes_ = 0;
};

/// The state after `step` steps, bit for bit: the replayer's own or the last checkpoint before it, whichever
/// is nearer, replayed. `replayer` is a trainer of the same run and events, its state one of this history's
/// past; it is left at the step. Errors: history.no_step (step, first, last: before the first checkpoint, or
/// later than `last`, where the run has come); those of Trainer::run_step().
Result<void> go_to_step(Trainer& replayer, const History& history, std::int64_t step, std::int64_t last);

/// How far apart two states are, in one parameter tensor.
struct TensorDifference {
  TensorId tensor;
  double norm = 0;           // √Σ (b - a)²
  double relative_norm = 0;  // divided by √Σ a²; 0 where both are 0, infinite where only a is
  double largest = 0;        // the largest |b - a|
  Cell largest_cell;         // the first where it is so
};
/// Every parameter, in the graph's order. Precondition: states of a run with this graph.
std::vector<TensorDifference> compare_states(const Graph& graph, const TrainState& a, const TrainState& b);

}  // namespace headscope::core
