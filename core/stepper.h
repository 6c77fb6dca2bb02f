// One training step, taken apart: moves a cursor over forward, backward and update in both directions, with
// every number as it is at that moment.
#pragma once

#include "core/execute.h"
#include "core/steps.h"
#include "core/trace.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace headscope::core {

/// Owns the numbers of one batch and one model. Forward steps write each tensor once, so going back moves the
/// cursor alone. Gradients accumulate, so going back within the backward pass replays it from the loss. An
/// update keeps the parameter and its moments from before it, so going back restores their bits.
template <class T>
class Stepper {
 public:
  /// The graph must outlive the stepper. A graph without a loss has forward steps alone.
  Stepper(const Graph& graph, const Sizes& capacity);
  Stepper(const Stepper&) = delete;  // the update's view would be of the other's numbers
  Stepper& operator=(const Stepper&) = delete;

  const StepList& steps() const { return steps_; }
  const Cursor& cursor() const { return cursor_; }
  /// Set inputs and parameters here, then call restart().
  Workspace<T>& workspace() { return workspace_; }
  const Workspace<T>& workspace() const { return workspace_; }

  /// The optimiser, the number (from 1) of the training step that this is, and the moments before it (empty:
  /// all 0), laid out as Workspace::parameters(). Precondition: no parameter is updated.
  void set_optimiser(const OptimiserConfig& config, std::int64_t step, std::span<const T> first,
                     std::span<const T> second);
  void set_options(const RunOptions& options) { options_ = options; }

  /// Forgets all results (call it after inputs, parameters or interventions have changed): the cursor goes to
  /// the beginning, and moments are as before the update. Precondition: no parameter is updated, or all were
  /// set anew.
  void restart();
  /// Runs or takes back steps until `position` of them have run.
  void move_to(std::size_t position);

  /// The numbers at the cursor.
  Trace<T> trace() const { return {graph_, workspace_, cursor_, &steps_, options_.interventions, &update_}; }

 private:
  std::size_t n_updated() const { return steps_.updates_done(cursor_.position()); }
  void run_backward_to(std::size_t done);
  double gradient_norm() const;
  void update(TensorId parameter);
  void restore_moments(TensorId parameter);

  const Graph& graph_;
  Workspace<T> workspace_;
  StepList steps_;
  Cursor cursor_;
  RunOptions options_;
  std::size_t n_forward_run_ = 0;   // operations whose results are there
  std::size_t n_backward_run_ = 0;  // backward passes that the gradients show
  UpdateView<T> update_;
  AlignedVector<T> first_, second_, previous_value_, previous_first_, previous_second_;
};

/// A gradient held against a central difference of the fourth order in double:
/// (8 (loss(x + h) - loss(x - h)) - (loss(x + 2h) - loss(x - 2h))) / 12h (Abramowitz and Stegun
/// 1964, 25.3.6).
struct GradientCheck {
  double analytic = 0;
  double numeric = 0;
  double step = 0;            // h
  double rounding = 0;        // what the rounding of the four losses may change in `numeric`
  bool crosses_kink = false;  // a ReLU's input changes its sign within ±2h: the difference means little
};

/// Checks many cells of one run: a copy of the numbers in double, differentiated once.
class GradientChecker {
 public:
  /// Asked after every operation that has run, each of a checker's own; false stops the work.
  using GoOn = std::function<bool()>;

  /// The graph must outlive it. Preconditions: the workspace's parameters and inputs are set, and the graph
  /// has a loss.
  template <class T>
  GradientChecker(const Graph& graph, const Workspace<T>& workspace, const RunOptions& options,
                  GoOn go_on = {});
  GradientChecker(const GradientChecker&) = delete;  // the options point at its own interventions
  GradientChecker& operator=(const GradientChecker&) = delete;

  /// A cell of a parameter or an activation that has a gradient; an activation's is set by hand for the runs.
  /// h is 3e-4 · max(1, |x|), and a tenth or a hundredth of it where the larger step crosses a kink.
  GradientCheck check(TensorId tensor, const Cell& cell);
  /// Whether it was stopped, at any time: then what check() returned means nothing, nor will it.
  bool is_stopped() const { return is_stopped_; }
  /// How many operations the making of a checker runs, and how many a check that no kink disturbs.
  static std::size_t n_operations_to_make(const Graph& graph);
  static std::size_t n_operations_to_check(const Graph& graph, TensorId tensor);
  /// The analytic gradients.
  const Workspace<double>& workspace() const { return workspace_; }

 private:
  void forward(Workspace<double>& workspace, std::size_t begin);
  void backward();
  double loss_at(TensorId tensor, const Cell& cell, double x, std::size_t begin);
  std::vector<bool> signs() const;

  const Graph& graph_;
  Workspace<double> workspace_;  // as it was, with gradients
  Workspace<double> moved_;      // the same between checks; within one, a cell is another
  Interventions interventions_;
  RunOptions options_;
  GoOn go_on_;
  bool is_stopped_ = false;
};

/// Checks one cell, as GradientChecker does.
template <class T>
GradientCheck check_gradient(const Graph& graph, const Workspace<T>& workspace, const RunOptions& options,
                             TensorId tensor, const Cell& cell);

}  // namespace headscope::core
