// The numbers of a graph: values, gradients and integers, each in an arena that is allocated once, by
// capacity.
#pragma once

#include "core/aligned.h"
#include "core/gradients.h"
#include "core/graph.h"

#include <cstdint>
#include <span>
#include <vector>

namespace headscope::core {

/// Where each tensor lies: offsets by capacity, shapes by the sizes that are bound. The parameters lie in one
/// piece at the start of the values and, in the same order, of the gradients, so that an update is one loop.
class Plan {
 public:
  Plan(const Graph& graph, const GradientPlan& gradients, const Sizes& capacity);

  /// Binds sizes within the capacity; offsets stay, nothing is allocated. Precondition: within capacity.
  void bind(const Graph& graph, const Sizes& sizes);

  const Sizes& capacity() const { return capacity_; }
  const Sizes& sizes() const { return sizes_; }
  const Shape& shape(TensorId tensor) const { return shapes_[tensor.index]; }
  std::size_t offset(TensorId tensor) const { return offsets_[tensor.index]; }
  /// Precondition: the tensor has a gradient.
  std::size_t gradient_offset(TensorId tensor) const { return gradient_offsets_[tensor.index]; }
  /// Numbers in each arena, with what aligns each tensor.
  std::size_t n_parameters() const { return n_parameters_; }
  std::size_t n_reals() const { return n_reals_; }
  std::size_t n_gradients() const { return n_gradients_; }
  std::size_t n_integers() const { return n_integers_; }

 private:
  Sizes capacity_, sizes_;
  std::vector<std::size_t> offsets_, gradient_offsets_;
  std::vector<Shape> shapes_;
  std::size_t n_parameters_ = 0, n_reals_ = 0, n_gradients_ = 0, n_integers_ = 0;
};

/// How many real numbers the tensors of a role take; a double, since sizes from a file multiply to more than
/// any integer holds.
double count_reals(const Graph& graph, const Sizes& sizes, Role role);

enum class WithGradients : std::uint8_t { no, yes };

/// T is float or double. Copying copies the numbers.
template <class T>
class Workspace {
 public:
  Workspace(const Graph& graph, const Sizes& capacity, WithGradients with = WithGradients::no);

  void bind(const Graph& graph, const Sizes& sizes) { plan_.bind(graph, sizes); }
  const Plan& plan() const { return plan_; }
  const GradientPlan& gradient_plan() const { return gradient_plan_; }
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

  /// Whether gradients were asked for and the tensor has one.
  bool has_gradient(TensorId tensor) const {
    return !gradients_.empty() && gradient_plan_.has_gradient(tensor);
  }
  /// d loss / d tensor. Precondition: has_gradient().
  std::span<T> gradients(TensorId tensor) {
    return {gradients_.data() + plan_.gradient_offset(tensor), count(tensor)};
  }
  std::span<const T> gradients(TensorId tensor) const {
    return {gradients_.data() + plan_.gradient_offset(tensor), count(tensor)};
  }

  /// All parameters in one piece (0 between tensors), and their gradients in the same order.
  std::span<T> parameters() { return {reals_.data(), plan_.n_parameters()}; }
  std::span<const T> parameters() const { return {reals_.data(), plan_.n_parameters()}; }
  std::span<T> parameter_gradients() {
    return {gradients_.data(), gradients_.empty() ? 0 : plan_.n_parameters()};
  }
  std::span<const T> parameter_gradients() const {
    return {gradients_.data(), gradients_.empty() ? 0 : plan_.n_parameters()};
  }

 private:
  std::size_t count(TensorId tensor) const { return static_cast<std::size_t>(shape(tensor).count()); }

  GradientPlan gradient_plan_;
  Plan plan_;
  AlignedVector<T> reals_, gradients_;
  std::vector<std::int32_t> integers_;
};

}  // namespace headscope::core
