#include "core/steps.h"

#include <algorithm>
#include <cassert>

namespace headscope::core {

StepList::StepList(const Graph& graph, const GradientPlan& gradients)
    : n_forward_(graph.operations().size()),
      n_backward_(gradients.operations().size()),
      backward_(gradients.operations().begin(), gradients.operations().end()) {
  for (std::uint32_t index = 0; index < graph.n_tensors(); ++index)
    if (graph.spec({index}).role == Role::parameter && gradients.has_gradient({index}))
      parameters_.push_back({index});
}

Step StepList::operator[](std::size_t place) const {
  assert(place < size());
  if (place < n_forward_) return {Phase::forward, place, {}};
  if (place < update_begin()) return {Phase::backward, backward_[place - n_forward_], {}};
  return {Phase::update, 0, parameters_[place - update_begin()]};
}

std::size_t StepList::backward_done(std::size_t position) const {
  return std::min(position - std::min(position, n_forward_), n_backward_);
}

std::size_t StepList::updates_done(std::size_t position) const {
  return std::min(position - std::min(position, update_begin()), parameters_.size());
}

}  // namespace headscope::core
