// One step of training: forward, backward, update, over the whole batch, on one thread or several. The bare
// engine: no data, no schedule of evaluations, no history.
#pragma once

#include "core/execute.h"
#include "core/result.h"
#include "core/training/optimiser.h"
#include "core/training/thread_pool.h"
#include "core/workspace.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace headscope::core {

struct TrainOptions {
  OptimiserConfig optimiser;
  std::uint64_t seed = 0;                        // of the dropout masks
  int n_threads = 1;                             // any number gives the same bits
  const Interventions* interventions = nullptr;  // must outlive the trainer
  std::vector<TensorId> frozen = {};             // parameters that the update leaves as they are
};

/// What a step found, before its update.
struct StepReport {
  double loss = 0;
  double gradient_norm = 0;  // over all parameters that are updated, before clipping
  double rate = 0;
};

/// Owns the numbers of a model in training: parameters, moments, gradients and activations, each once.
///
/// A step runs in four loops that threads share: rows of the batch (forward, and backward by activations),
/// parts of the parameters (their gradients, each cell one sum over all rows), then, over pieces of the
/// parameters, the gradient's norm and the update. No cell's sum is ever split between threads, so its bits
/// do not depend on their number. A step that succeeds allocates nothing, unless cells are set by hand.
template <class T>
class TrainStep {
 public:
  /// The graph must outlive this. Preconditions: the graph has a loss, the options are valid.
  TrainStep(const Graph& graph, const Sizes& capacity, const TrainOptions& options);

  const Graph& graph() const { return graph_; }
  /// Set parameters, sizes and inputs here, between steps.
  Workspace<T>& workspace() { return workspace_; }
  const Workspace<T>& workspace() const { return workspace_; }
  /// The optimiser's moments, laid out as Workspace::parameters().
  std::span<T> first_moments() { return first_; }
  std::span<T> second_moments() { return second_; }
  std::span<const T> first_moments() const { return first_; }
  std::span<const T> second_moments() const { return second_; }

  /// Takes effect with the next step. Precondition: valid, of the same kind (the moments are that kind's).
  void set_optimiser(const OptimiserConfig& optimiser);

  /// Runs step `number` (from 1) on the batch that is set. Where a number is not finite, the parameters and
  /// the moments stay as they were, and the error names the first such tensor in the order of the
  /// computation. It is found by the loss and the gradients' norm: no operation swallows such a number where
  /// it takes part in the loss. Errors: training.not_finite (tensor, operation, phase, step, cell),
  /// training.gradient_overflow (step).
  Result<StepReport> run(std::int64_t number);

 private:
  struct ParameterWork {
    std::size_t operation;
    Part part;
  };
  struct Piece {
    TensorId tensor;
    std::size_t begin, end;  // of Workspace::parameters()
  };

  void plan_pieces();
  void plan_parameter_work();
  void run_rows(const RunOptions& options);
  void run_parameters();
  double square_norm();
  void update(const UpdateFactors& factors);
  bool may_overflow(const UpdateFactors& factors, double gradient_norm) const;
  std::optional<Error> try_update(const UpdateFactors& factors, std::int64_t step) const;
  Error find_not_finite(std::int64_t step) const;
  Error not_finite(TensorId tensor, const Cell& cell, std::string_view phase, std::string_view operation,
                   std::int64_t step) const;

  const Graph& graph_;
  TrainOptions options_;
  Workspace<T> workspace_;
  AlignedVector<T> first_, second_;
  std::vector<std::size_t> forward_, backward_, shared_;  // operations: by row, and those that are not
  std::vector<ParameterWork> parameter_work_;
  std::vector<Piece> pieces_;
  std::vector<double> piece_norms_, piece_sizes_;  // Σ g², the largest |parameter| or |first moment|
  Sizes shared_sizes_{0, 0, 0};                    // for which the operations that read no row have run
  ThreadPool pool_;
};

}  // namespace headscope::core
