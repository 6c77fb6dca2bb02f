// A graph of one operation: tensors are made by shape and filled, the operation is run forward and, from a
// chosen gradient of its result, backward.
#pragma once

#include "core/execute.h"
#include "core/graph.h"
#include "core/workspace.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headscope::core::test {

/// Sides of fixed length; the first counts the batch's rows.
inline ShapeSpec fixed_sides(const Shape& shape) {
  const auto side = [&](int place) {
    return Side{place == 0 ? Axis::batch : Axis::one, Extent::fixed(shape[place])};
  };
  switch (shape.rank()) {
    case 1:
      return {side(0)};
    case 2:
      return {side(0), side(1)};
    case 3:
      return {side(0), side(1), side(2)};
    default:
      return {side(0), side(1), side(2), side(3)};
  }
}

template <class T>
class OperationBench {
 public:
  /// A number that the operation reads and that has a gradient.
  TensorId real(const Shape& shape, std::vector<double> values) {
    return add(shape, Element::real, Role::parameter, std::move(values));
  }
  /// The same, of numbers drawn between -2 and 2: a grid of 401 points, none of them 0.
  TensorId random(const Shape& shape) {
    std::vector<double> values(static_cast<std::size_t>(shape.count()));
    for (double& value : values) {
      state_ = state_ * 6364136223846793005U + 1442695040888963407U;
      value = (static_cast<double>((state_ >> 33U) % 401U) - 200.0) / 100.0 + 0.003;
    }
    return real(shape, std::move(values));
  }
  TensorId integer(const Shape& shape, std::vector<double> values) {
    return add(shape, Element::integer, Role::input, std::move(values));
  }
  TensorId result(const Shape& shape) { return add(shape, Element::real, Role::activation, {}); }
  void append(Operation operation) { graph_.add_operation(operation); }

  /// The operation's result. `n_batch` as its first side says, unless it is not by row.
  std::vector<double> run(const Operation& operation, const RunOptions& options = {}) {
    append(operation);
    prepare(graph_.spec(core::result(operation)).shape[0].extent.size);
    run_forward(graph_, *workspace_, options);
    return values(core::result(operation));
  }

  /// Runs the operation forward and backward where d loss / d result is `upstream`: the loss is Σ upstream ·
  /// result, as a mean of products.
  void run_backward(const Operation& operation, const std::vector<double>& upstream) {
    append(operation);
    add_loss(core::result(operation), upstream);
    run_forward(graph_, *workspace_);
    core::run_backward(graph_, *workspace_);
  }
  /// Appends the loss Σ upstream · result and makes the workspace, filled and not yet run.
  void add_loss(TensorId result, const std::vector<double>& upstream) {
    const ShapeSpec& spec = graph_.spec(result).shape;
    const Shape shape = bind(spec, {});
    REQUIRE(static_cast<std::int64_t>(upstream.size()) == shape.count());
    std::vector<double> factors = upstream;
    for (double& factor : factors) factor *= static_cast<double>(upstream.size());
    const TensorId mask = add(shape, Element::real, Role::input, std::move(factors));
    const TensorId products = this->result(shape);
    append(ApplyDropout{result, mask, products});
    const TensorId targets = integer(shape, std::vector<double>(upstream.size(), 0.0));
    const TensorId loss =
        graph_.add_tensor({"loss", "L", {{Axis::one, Extent::fixed(1)}}, Role::activation, Element::real});
    append(MeanLoss{products, targets, loss});
    prepare(shape[0]);
  }
  /// Makes the workspace, filled and not yet run.
  void prepare(std::int64_t n_batch) {
    workspace_.emplace(graph_, Sizes{n_batch, 1, 0}, WithGradients::yes);
    for (const auto& [tensor, values] : inputs_) {
      if (graph_.spec(tensor).element == Element::real)
        std::ranges::transform(values, workspace_->values(tensor).begin(),
                               [](double value) { return static_cast<T>(value); });
      else
        std::ranges::transform(values, workspace_->integers(tensor).begin(),
                               [](double value) { return static_cast<std::int32_t>(value); });
    }
  }

  std::vector<double> values(TensorId tensor) const {
    const auto numbers = std::as_const(*workspace_).values(tensor);
    return {numbers.begin(), numbers.end()};
  }
  std::vector<double> gradient(TensorId tensor) const {
    REQUIRE(workspace_->has_gradient(tensor));
    const auto numbers = std::as_const(*workspace_).gradients(tensor);
    return {numbers.begin(), numbers.end()};
  }
  Graph& graph() { return graph_; }
  Workspace<T>& workspace() { return *workspace_; }

 private:
  TensorId add(const Shape& shape, Element element, Role role, std::vector<double> values) {
    const TensorId id =
        graph_.add_tensor({"t" + std::to_string(graph_.n_tensors()), "t", fixed_sides(shape), role, element});
    if (values.empty()) return id;
    REQUIRE(static_cast<std::int64_t>(values.size()) == shape.count());
    inputs_.emplace_back(id, std::move(values));
    return id;
  }

  Graph graph_;
  std::optional<Workspace<T>> workspace_;
  std::vector<std::pair<TensorId, std::vector<double>>> inputs_;
  std::uint64_t state_ = 1;
};

/// Hand-computed numbers are exact or given to 7 digits; float carries about 7.
inline void require_close(const std::vector<double>& actual, const std::vector<double>& expected) {
  REQUIRE(actual.size() == expected.size());
  for (std::size_t at = 0; at < actual.size(); ++at) {
    INFO("cell " << at << " expected " << expected[at] << " actual " << actual[at]);
    if (std::isinf(expected[at]))
      CHECK(actual[at] == expected[at]);
    else
      CHECK(std::abs(actual[at] - expected[at]) <= 1e-6 * std::max(1.0, std::abs(expected[at])));
  }
}

}  // namespace headscope::core::test
