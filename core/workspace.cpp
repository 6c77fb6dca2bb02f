#include "core/workspace.h"

#include <cassert>

namespace headscope::core {

Plan::Plan(const Graph& graph, const Sizes& capacity) : capacity_(capacity), sizes_(capacity) {
  offsets_.reserve(graph.n_tensors());
  shapes_.reserve(graph.n_tensors());
  for (const TensorSpec& spec : graph.specs()) {
    std::size_t& end = spec.element == Element::real ? n_reals_ : n_integers_;
    shapes_.push_back(core::bind(spec.shape, capacity));
    offsets_.push_back(end);
    end += static_cast<std::size_t>(shapes_.back().count());
  }
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
Workspace<T>::Workspace(const Graph& graph, const Sizes& capacity)
    : plan_(graph, capacity), reals_(plan_.n_reals()), integers_(plan_.n_integers()) {}

template class Workspace<float>;
template class Workspace<double>;

}  // namespace headscope::core
