// Gradient checks of a session's numbers as they are now, apart from the session: they take long where a
// sentence is long, and may run on another thread while the session goes on.
#pragma once

#include "core/progress.h"
#include "core/stepper.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace headscope::core {

class DetachedChecker {
 public:
  /// Copies what is given: parameters as they were before any update, and inputs. Precondition: the graph has
  /// a loss, the workspace holds them and has gradients.
  DetachedChecker(const Graph& graph, const Workspace<float>& workspace, const UpdateView<float>& update,
                  std::span<const TensorId> updated, const Interventions& interventions);
  DetachedChecker(const DetachedChecker&) = delete;  // the checker points at its own graph

  /// As GradientChecker::check(), which it makes first where there is none yet; none where it was stopped,
  /// and another call begins anew. `progress` is told after every operation. One thread at a time.
  std::optional<GradientCheck> check(TensorId tensor, const Cell& cell, const Progress& progress = {});

 private:
  Graph graph_;
  Sizes sizes_;
  std::vector<std::vector<float>> reals_;            // by tensor; none of activations
  std::vector<std::vector<std::int32_t>> integers_;  // the same
  Interventions interventions_;
  std::unique_ptr<GradientChecker> checker_;
  Progress progress_ = {};  // of the call that runs
  std::size_t n_run_ = 0, n_all_ = 0;
};

}  // namespace headscope::core
