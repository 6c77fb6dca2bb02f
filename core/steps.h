// The list of a training step's steps: every operation forward, every operation backward, every parameter's
// update. What a Cursor walks over.
#pragma once

#include "core/gradients.h"
#include "core/graph.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace headscope::core {

enum class Phase : std::uint8_t { forward, backward, update };

/// One step: an operation (forward, backward), or a parameter (update).
struct Step {
  Phase phase = Phase::forward;
  std::size_t operation = 0;  // forward, backward
  TensorId parameter;         // update
  bool operator==(const Step&) const = default;
};

/// All steps of a graph, in order. `position` counts steps that have run, as Cursor::position() does.
class StepList {
 public:
  StepList(const Graph& graph, const GradientPlan& gradients);

  std::size_t size() const { return n_forward_ + n_backward_ + parameters_.size(); }
  std::size_t n_forward() const { return n_forward_; }
  std::size_t n_backward() const { return n_backward_; }
  /// Where the backward pass and the update begin.
  std::size_t backward_begin() const { return n_forward_; }
  std::size_t update_begin() const { return n_forward_ + n_backward_; }
  /// Precondition: place < size().
  Step operator[](std::size_t place) const;
  /// How many backward passes have run at a cursor's position.
  std::size_t backward_done(std::size_t position) const;
  /// How many parameters are updated at a cursor's position.
  std::size_t updates_done(std::size_t position) const;
  /// The parameters that have a gradient, in the order of their updates.
  std::span<const TensorId> parameters() const { return parameters_; }

 private:
  std::size_t n_forward_ = 0, n_backward_ = 0;
  std::vector<std::size_t> backward_;
  std::vector<TensorId> parameters_;
};

}  // namespace headscope::core
