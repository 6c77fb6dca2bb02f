#include "core/gradients.h"

#include <algorithm>
#include <ranges>

namespace headscope::core {

GradientPlan::GradientPlan(const Graph& graph)
    : loss_(graph.find("loss")),
      has_gradient_(graph.n_tensors(), 0),
      first_writer_(graph.n_tensors()),
      writers_(graph.n_tensors()) {
  if (!loss_) return;

  // forward: what depends on a parameter
  std::vector<std::uint8_t> depends(graph.n_tensors(), 0);
  for (std::uint32_t index = 0; index < graph.n_tensors(); ++index)
    depends[index] = graph.spec({index}).role == Role::parameter ? 1 : 0;
  for (const Operation& operation : graph.operations())
    for (const Operand& operand : operands_of(operation))
      if (operand.is_differentiable && depends[operand.tensor.index] != 0)
        depends[result(operation).index] = 1;

  // backward: of those, what the loss depends on
  const auto is_sent_on = [&](TensorId tensor) { return tensor == *loss_ || has_gradient(tensor); };
  for (std::size_t index = graph.operations().size(); index-- > 0;) {
    const Operation& operation = graph.operations()[index];
    if (!is_sent_on(result(operation))) continue;
    bool sends = false;
    for (const Operand& operand : operands_of(operation)) {
      if (!operand.is_differentiable || depends[operand.tensor.index] == 0) continue;
      if (!has_gradient(operand.tensor)) first_writer_[operand.tensor.index] = index;
      has_gradient_[operand.tensor.index] = 1;
      writers_[operand.tensor.index].push_back(operations_.size());
      sends = true;
    }
    if (sends) operations_.push_back(index);
  }
}

}  // namespace headscope::core
