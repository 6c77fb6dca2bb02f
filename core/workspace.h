// The numbers of a graph, in two arenas (real and integer) that are allocated once, by capacity.
#pragma once

#include "core/graph.h"

#include <cstdint>
#include <span>
#include <vector>

namespace headscope::core {

/// Where each tensor lies: offsets by capacity, shapes by the sizes that are bound.
class Plan {
 public:
  Plan(const Graph& graph, const Sizes& capacity);

  /// Binds sizes within the capacity; offsets stay, nothing is allocated. Precondition: within capacity.
  void bind(const Graph& graph, const Sizes& sizes);

  const Sizes& capacity() const { return capacity_; }
  const Sizes& sizes() const { return sizes_; }
  const Shape& shape(TensorId tensor) const { return shapes_[tensor.index]; }
  std::size_t offset(TensorId tensor) const { return offsets_[tensor.index]; }
  std::size_t n_reals() const { return n_reals_; }
  std::size_t n_integers() const { return n_integers_; }

 private:
  Sizes capacity_, sizes_;
  std::vector<std::size_t> offsets_;
  std::vector<Shape> shapes_;
  std::size_t n_reals_ = 0, n_integers_ = 0;
};

/// How many real numbers the tensors of a role take; a double, since sizes from a file multiply to more than
/// any integer holds.
double count_reals(const Graph& graph, const Sizes& sizes, Role role);

/// T is float or double. Copying copies the numbers.
template <class T>
class Workspace {
 public:
  Workspace(const Graph& graph, const Sizes& capacity);

  void bind(const Graph& graph, const Sizes& sizes) { plan_.bind(graph, sizes); }
  const Sizes& sizes() const { return plan_.sizes(); }
  const Sizes& capacity() const { return plan_.capacity(); }
  const Shape& shape(TensorId tensor) const { return plan_.shape(tensor); }

  std::span<T> values(TensorId tensor) { return {reals_.data() + plan_.offset(tensor), count(tensor)}; }
  std::span<const T> values(TensorId tensor) const {
    return {reals_.data() + plan_.offset(tensor), count(tensor)};
  }
  std::span<std::int32_t> integers(TensorId tensor) {
    return {integers_.data() + plan_.offset(tensor), count(tensor)};
  }
  std::span<const std::int32_t> integers(TensorId tensor) const {
    return {integers_.data() + plan_.offset(tensor), count(tensor)};
  }

 private:
  std::size_t count(TensorId tensor) const { return static_cast<std::size_t>(shape(tensor).count()); }

  Plan plan_;
  std::vector<T> reals_;
  std::vector<std::int32_t> integers_;
};

}  // namespace headscope::core
