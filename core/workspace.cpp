#include "core/workspace.h"

#include <cassert>

namespace headscope::core {
namespace {

/// Rounded up so that the next tensor starts on a cache line.
template <class T = float>
std::size_t aligned(std::size_t count) {
  constexpr std::size_t kStep = kCacheLine / sizeof(T);
  return (count + kStep - 1) / kStep * kStep;
}

}  // namespace

Plan::Plan(const Graph& graph, const GradientPlan& gradients, const Sizes& capacity)
    : capacity_(capacity),
      sizes_(capacity),
      offsets_(graph.n_tensors()),
      gradient_offsets_(graph.n_tensors()) {
  for (const TensorSpec& spec : graph.specs()) shapes_.push_back(core::bind(spec.shape, capacity));
  const auto place = [&](std::uint32_t index) {
    const auto count = aligned(static_cast<std::size_t>(shapes_[index].count()));
    if (graph.spec({index}).element == Element::integer) {
      offsets_[index] = n_integers_;
      n_integers_ += count;
      return;
    }
    const bool is_parameter = graph.spec({index}).role == Role::parameter;
    offsets_[index] = n_reals_;
    n_reals_ += count;
    gradient_offsets_[index] = n_gradients_;
    if (is_parameter || gradients.has_gradient({index})) n_gradients_ += count;
  };
  const auto n_tensors = static_cast<std::uint32_t>(graph.n_tensors());
  for (std::uint32_t index = 0; index < n_tensors; ++index)
    if (graph.spec({index}).role == Role::parameter) place(index);
  n_parameters_ = n_reals_;
  for (std::uint32_t index = 0; index < n_tensors; ++index)
    if (graph.spec({index}).role != Role::parameter) place(index);
}

void Plan::bind(const Graph& graph, const Sizes& sizes) {
  assert(sizes.batch <= capacity_.batch && sizes.source <= capacity_.source &&
         sizes.target <= capacity_.target);
  sizes_ = sizes;
  for (std::size_t index = 0; index < shapes_.size(); ++index)
    shapes_[index] = core::bind(graph.specs()[index].shape, sizes);
}

double count_reals(const Graph& graph, const Sizes& sizes, Role role) {
  double total = 0;
  for (const TensorSpec& spec : graph.specs()) {
    if (spec.role != role || spec.element != Element::real) continue;
    double count = 1;
    const Shape shape = core::bind(spec.shape, sizes);  // sides() is a view into it
    for (const std::int64_t side : shape.sides()) count *= static_cast<double>(side);
    total += count;
  }
  return total;
}

template <class T>
Workspace<T>::Workspace(const Graph& graph, const Sizes& capacity, WithGradients with)
    : gradient_plan_(graph),
      plan_(graph, gradient_plan_, capacity),
      reals_(plan_.n_reals()),
      gradients_(with == WithGradients::yes ? plan_.n_gradients() : 0),
      integers_(plan_.n_integers()) {}

template class Workspace<float>;
template class Workspace<double>;

}  // namespace headscope::core
