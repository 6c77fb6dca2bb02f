// Which tensors have a gradient, and which operation's backward pass is the first to write each: read off the
// graph once. No numbers.
#pragma once

#include "core/graph.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace headscope::core {

/// The backward pass of a graph: its operations in reverse, from the loss to the parameters.
///
/// A tensor has a gradient, d loss / d tensor, where it depends on a parameter and the loss on it; `loss`
/// itself has none (it would be 1). Where several operations read a tensor, its gradient is the sum of what
/// each sends back; the first in backward order writes, the others add.
class GradientPlan {
 public:
  explicit GradientPlan(const Graph& graph);

  /// Whether there is a loss to differentiate.
  bool has_loss() const { return loss_.has_value(); }
  TensorId loss() const { return *loss_; }
  bool has_gradient(TensorId tensor) const { return has_gradient_[tensor.index] != 0; }
  /// The operations that send something back, in the order in which their backward passes run.
  std::span<const std::size_t> operations() const { return operations_; }
  /// Whether this operation is the first whose backward pass writes the tensor's gradient.
  bool is_first(std::size_t operation, TensorId tensor) const {
    return first_writer_[tensor.index] == operation;
  }
  /// The operations whose backward passes write the tensor's gradient, as places in operations(), ascending.
  std::span<const std::size_t> writers(TensorId tensor) const { return writers_[tensor.index]; }

 private:
  std::optional<TensorId> loss_;
  std::vector<std::uint8_t> has_gradient_;
  std::vector<std::size_t> operations_;
  std::vector<std::optional<std::size_t>> first_writer_;
  std::vector<std::vector<std::size_t>> writers_;
};

}  // namespace headscope::core
