// What is set by hand, and what has been updated since: gradients and explanations must speak of the numbers
// that the passes really used.
#include "core/explain.h"
#include "core/stepper.h"
#include "tests/core/every_model.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

namespace headscope::core {
namespace {

TEST_CASE("gradients are right upstream of any activation's cell that is set by hand",
          "[core][interventions]") {
  for (const auto& [name, config] : test::every_objective()) {
    if (config.objective == Objective::none) continue;
    auto model = test::make_model<double>(config);
    run_forward(model.graph, model.workspace);
    for (std::uint32_t set = 0; set < model.graph.n_tensors(); ++set) {
      const TensorSpec& spec = model.graph.spec({set});
      if (spec.role != Role::activation || !model.workspace.has_gradient({set})) continue;
      if (!can_be_set_by_hand(model.graph, {set})) continue;
      // a cell in the middle of the first row: of a softmax one of several that are not masked
      const Shape& shape = model.workspace.shape({set});
      Cell cell;
      for (int side = 0; side < shape.rank(); ++side)
        cell.push_back(side == 0 ? 0 : std::min<std::int64_t>(1, shape[side] - 1));
      Interventions interventions;
      interventions.overrides.push_back(set_cell({set}, cell, 0.7));
      const RunOptions options{.interventions = &interventions};
      Stepper<double> stepper(model.graph, model.fed.sizes);
      std::ranges::copy(model.workspace.parameters(), stepper.workspace().parameters().begin());
      set_inputs(model.graph, stepper.workspace(), model.fed);
      stepper.set_options(options);
      stepper.restart();
      stepper.move_to(stepper.steps().update_begin());
      GradientChecker checker(model.graph, stepper.workspace(), options);
      // the first block's matrices: everything that is set lies downstream of some of them
      for (std::uint32_t index = 0; index < model.graph.n_tensors(); ++index) {
        if (model.graph.spec({index}).role != Role::parameter || !stepper.workspace().has_gradient({index}))
          continue;
        const auto gradients = std::as_const(stepper).workspace().gradients({index});
        const auto most = std::ranges::max_element(
            gradients, [](double left, double right) { return std::abs(left) < std::abs(right); });
        const Cell at = stepper.workspace().shape({index}).cell(most - gradients.begin());
        const GradientCheck check = checker.check({index}, at);
        if (check.crosses_kink) continue;
        INFO(name << ": " << spec.name << " set, " << model.graph.spec({index}).name << " checked");
        // the difference's own error, of fourth order in its step, stays below this share
        CHECK(std::abs(check.analytic - check.numeric) <=
              1e-6 * std::max(std::abs(check.analytic), std::abs(check.numeric)) + check.rounding);
        const Explanation explanation = explain(stepper.trace(), TensorId{index}, at, Quantity::gradient);
        CHECK(std::abs(explanation.combined() - explanation.value) <=
              1e-13 * (explanation.magnitude() + 1e-300));
      }
    }
  }
}

TEST_CASE("after the updates, values and gradients are still explained by the numbers that made them",
          "[core][explain]") {
  for (const auto& [name, config] : test::every_objective()) {
    if (config.objective == Objective::none) continue;
    auto model = test::make_model<double>(config);
    Stepper<double> stepper(model.graph, model.fed.sizes);
    std::ranges::copy(model.workspace.parameters(), stepper.workspace().parameters().begin());
    set_inputs(model.graph, stepper.workspace(), model.fed);
    stepper.set_optimiser({.rate = 0.3}, 1, {}, {});
    stepper.restart();
    stepper.move_to(stepper.steps().size());
    for (std::uint32_t index = 0; index < model.graph.n_tensors(); ++index) {
      const TensorSpec& spec = model.graph.spec({index});
      if (spec.role != Role::activation || spec.element != Element::real) continue;
      const Shape& shape = stepper.workspace().shape({index});
      for (const std::int64_t place : {std::int64_t{0}, shape.count() / 2, shape.count() - 1})
        for (const Quantity quantity : {Quantity::value, Quantity::gradient}) {
          if (!stepper.trace().has({index}, quantity)) continue;
          const Explanation explanation =
              explain(stepper.trace(), TensorId{index}, shape.cell(place), quantity);
          if (std::isinf(explanation.value)) continue;
          INFO(name << ": " << spec.name << (quantity == Quantity::gradient ? ", gradient" : ""));
          // as the recombination of a pass without an update: roundings of the terms
          CHECK(std::abs(explanation.combined() - explanation.value) <=
                1e-13 * (explanation.magnitude() + 1e-300));
        }
    }
  }
}

}  // namespace
}  // namespace headscope::core
