// What a person sets by hand: forward, backward and in the explanations alike.
#include "core/interventions.h"

#include "core/explain.h"
#include "core/influence.h"
#include "core/interventions_run.h"
#include "core/stepper.h"

#include "tests/core/every_model.h"
#include "tests/core/stepped_model.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace headscope::core {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const char* const kAttention = "decoder.block0.self_attention";

/// A decoder whose interventions are set before it runs to the end of the backward pass.
struct Changed {
  explicit Changed(std::vector<Override> overrides = {})
      : model(test::base_config(Architecture::decoder, Objective::language_model)),
        interventions{std::move(overrides)} {}

  TensorId id(const std::string& leaf) const { return model.id(std::string(kAttention) + "." + leaf); }
  void run() {
    model.stepper.set_options({.interventions = &interventions});
    model.stepper.restart();
    model.stepper.move_to(model.stepper.steps().update_begin());
  }
  double value(TensorId tensor, const Cell& cell) const { return model.stepper.trace().value(tensor, cell); }
  double gradient(TensorId tensor, const Cell& cell) const {
    return model.stepper.trace().number(tensor, cell, Quantity::gradient);
  }
  Explanation explained(TensorId tensor, const Cell& cell, Quantity quantity = Quantity::value) const {
    return explain(model.stepper.trace(), tensor, cell, quantity);
  }
  double loss() const { return value(model.id("loss"), {0}); }

  test::SteppedModel<double> model;
  Interventions interventions;
};

/// visit(cell) for every cell of a tensor.
template <class Visit>
void each_cell(const Changed& changed, TensorId tensor, const Visit& visit) {
  const Shape shape = changed.model.stepper.trace().shape(tensor);
  for (std::int64_t place = 0; place < shape.count(); ++place) visit(shape.cell(place));
}

TEST_CASE("a zeroed head is 0 everywhere, keeps its gradient and sends none upstream",
          "[core][interventions]") {
  Changed plain, changed;
  plain.run();
  const TensorId head_output = changed.id("head_output");
  changed.interventions.overrides = {zero_head(changed.model.graph, head_output, 1)};
  changed.run();
  CHECK(changed.loss() != plain.loss());
  double kept = 0;
  each_cell(changed, head_output, [&](const Cell& cell) {
    if (cell[1] == 1) {
      REQUIRE(changed.value(head_output, cell) == 0);
      kept = std::max(kept, std::abs(changed.gradient(head_output, cell)));
    } else {
      REQUIRE(changed.value(head_output, cell) == plain.value(head_output, cell));
    }
  });
  CHECK(kept > 1e-4);
  // upstream of the head: weights and values of head 1 get nothing, those of head 0 do
  for (const char* leaf : {"weights", "values", "queries", "keys"}) {
    INFO(leaf);
    double largest[] = {0, 0};
    each_cell(changed, changed.id(leaf), [&](const Cell& cell) {
      double& most = largest[cell[1]];
      most = std::max(most, std::abs(changed.gradient(changed.id(leaf), cell)));
    });
    CHECK(largest[0] > 1e-4);
    CHECK(largest[1] == 0);
  }
  each_cell(changed, changed.id("w_value"), [&](const Cell& cell) {
    if (cell[0] == 1) REQUIRE(changed.gradient(changed.id("w_value"), cell) == 0);
  });
}

TEST_CASE("an explanation says what is set by hand, and counts what it holds back",
          "[core][interventions][explain]") {
  Changed changed;
  const TensorId head_output = changed.id("head_output"), weights = changed.id("weights");
  changed.interventions.overrides = {set_cell(head_output, {0, 1, 2, 3}, 0.5)};
  changed.run();
  const Explanation value = changed.explained(head_output, {0, 1, 2, 3});
  CHECK(value.combine == Combine::by_hand);
  CHECK(value.key == "head_output.by_hand");
  CHECK(value.value == 0.5);
  CHECK(value.combined() == 0.5);
  CHECK(value.terms.empty());
  CHECK(changed.explained(head_output, {0, 1, 2, 2}).combine == Combine::sum);

  const Explanation kept = changed.explained(head_output, {0, 1, 2, 3}, Quantity::gradient);
  CHECK(kept.combine == Combine::sum);
  CHECK(kept.terms.size() == 1);
  CHECK(kept.value != 0);

  const Explanation upstream = changed.explained(weights, {0, 1, 2, 0}, Quantity::gradient);
  CHECK(upstream.n_by_hand == 1);
  CHECK(upstream.terms.size() == 3);  // of four channels
  CHECK(upstream.combined() == Approx(upstream.value).epsilon(1e-12));
}

TEST_CASE("every gradient recombines where cells of every activation are set by hand",
          "[core][interventions][explain]") {
  for (const auto& [name, config] : test::every_objective()) {
    if (config.objective == Objective::none) continue;
    INFO(name);
    test::SteppedModel<double> model(config);
    model.stepper.move_to(model.stepper.steps().n_forward());
    Interventions interventions;
    for (std::uint32_t index = 0; index < model.graph.n_tensors(); ++index) {
      const TensorSpec& spec = model.graph.spec({index});
      const Shape& shape = model.stepper.workspace().shape({index});
      if (!can_be_set_by_hand(model.graph, {index})) continue;
      if (spec.name.ends_with("masked_scores") || spec.name == "logits") continue;
      for (std::int64_t place = index % 5; place < shape.count(); place += 11)
        interventions.overrides.push_back(
            set_cell({index}, shape.cell(place), 0.3 + 0.1 * static_cast<double>(place % 7)));
    }
    model.stepper.set_options({.interventions = &interventions});
    model.stepper.restart();
    model.stepper.move_to(model.stepper.steps().update_begin());
    const Trace<double> trace = model.stepper.trace();
    std::int64_t n_by_hand = 0, n_held_back = 0;
    for (std::uint32_t index = 0; index < model.graph.n_tensors(); ++index) {
      const Shape& shape = trace.shape({index});
      for (std::int64_t place = 0; place < shape.count(); place += 1 + shape.count() / 100)
        for (const Quantity quantity : {Quantity::value, Quantity::gradient}) {
          if (quantity == Quantity::gradient && !trace.workspace().has_gradient({index})) continue;
          const Explanation explanation = explain(trace, {index}, shape.cell(place), quantity);
          n_by_hand += explanation.combine == Combine::by_hand ? 1 : 0;
          n_held_back += explanation.n_by_hand;
          // double sums of up to 24 terms
          const double rounding = 1e-14 * explanation.magnitude();
          if (explanation.combine != Combine::masked &&
              !(std::abs(explanation.combined() - explanation.value) <= rounding))
            FAIL(explanation.key << " of " << model.graph.spec({index}).name << " cell " << place
                                 << ": stored " << explanation.value << ", terms " << explanation.combined());
        }
    }
    CHECK(n_by_hand > 20);
    CHECK(n_held_back > 100);
  }
}

TEST_CASE("gradients agree with central differences where cells are set by hand",
          "[core][interventions][gradient]") {
  Changed changed;
  changed.interventions.overrides = {
      zero_head(changed.model.graph, changed.id("head_output"), 0),
      set_cell(changed.model.id("decoder.block1.residual1"), {0, 1, 2}, 0.7),
      uniform_attention(changed.model.graph, changed.model.id("decoder.block1.self_attention.weights"), 1)};
  changed.run();
  GradientChecker checker(changed.model.graph, changed.model.stepper.workspace(),
                          {.interventions = &changed.interventions});
  std::int64_t n_checked = 0;
  for (std::uint32_t index = 0; index < changed.model.graph.n_tensors(); ++index) {
    if (!checker.workspace().has_gradient({index})) continue;
    const Shape& shape = checker.workspace().shape({index});
    double largest = 0;
    for (const double g : checker.workspace().gradients({index})) largest = std::max(largest, std::abs(g));
    for (std::int64_t place = 0; place < shape.count(); place += 1 + shape.count() / 4) {
      if (std::isinf(checker.workspace().values({index})[static_cast<std::size_t>(place)])) continue;
      const GradientCheck check = checker.check({index}, shape.cell(place));
      if (check.crosses_kink) continue;
      // as in gradient_test.cpp
      const double scale = std::max({std::abs(check.analytic), std::abs(check.numeric), 1e-3 * largest});
      INFO(changed.model.graph.spec({index}).name << " cell " << place << " analytic " << check.analytic
                                                  << " numeric " << check.numeric);
      REQUIRE(std::abs(check.analytic - check.numeric) <= 1e-6 * scale + check.rounding);
      ++n_checked;
    }
  }
  CHECK(n_checked > 100);
  // the cell that is set by hand keeps the gradient that a change of it would have
  const GradientCheck own = checker.check(changed.model.id("decoder.block1.residual1"), {0, 1, 2});
  CHECK(own.analytic != 0);
  CHECK(own.numeric == Approx(own.analytic).epsilon(1e-6));
}

TEST_CASE("a mean-ablated head gives its means at each position, the last to all beyond",
          "[core][interventions]") {
  Changed changed;
  const TensorId head_output = changed.id("head_output");
  changed.interventions.overrides = {
      mean_head(changed.model.graph, head_output, 1, {2, 4}, {1, 2, 3, 4, 5, 6, 7, 8})};
  changed.run();
  each_cell(changed, head_output, [&](const Cell& cell) {
    if (cell[1] != 1) return;
    const double mean = static_cast<double>((cell[2] == 0 ? 1 : 5) + cell[3]);
    REQUIRE(changed.value(head_output, cell) == mean);
  });
}

TEST_CASE("everything that is computed can be set by hand, but for what the backward pass takes at its word",
          "[core][interventions]") {
  for (const auto& [name, config] : test::every_objective()) {
    INFO(name);
    const test::SteppedModel<float> model(config, {.dropout = 0.1, .head_contributions = true});
    for (std::uint32_t index = 0; index < model.graph.n_tensors(); ++index) {
      const TensorSpec& spec = model.graph.spec({index});
      const bool is_told = spec.name == "probabilities" || spec.name == "loss";
      INFO(spec.name);
      CHECK(can_be_set_by_hand(model.graph, {index}) == (spec.role == Role::activation && !is_told));
    }
  }
}

TEST_CASE("uniform attention spreads each query over the keys that the mask leaves",
          "[core][interventions]") {
  Changed changed;
  const TensorId weights = changed.id("weights"), masked = changed.id("masked_scores");
  const auto check = [&](std::optional<std::int64_t> head) {
    changed.interventions.overrides = {uniform_attention(changed.model.graph, weights, head)};
    changed.run();
    each_cell(changed, weights, [&](const Cell& cell) {
      if (head && cell[1] != *head) return;
      std::int64_t n_seen = 0;
      for (std::int64_t j = 0; j < changed.model.stepper.trace().shape(weights)[3]; ++j)
        n_seen += changed.value(masked, {cell[0], cell[1], cell[2], j}) > -kInfinity ? 1 : 0;
      const bool is_seen = changed.value(masked, cell) > -kInfinity;
      REQUIRE(changed.value(weights, cell) == (is_seen ? 1 / static_cast<double>(n_seen) : 0));
      REQUIRE(changed.gradient(masked, cell) == 0);
    });
  };
  SECTION("one head") {
    check(0);
  }
  SECTION("all heads") {
    check(std::nullopt);
  }
}

TEST_CASE("single cells and columns of uniform attention have the weights of their rows",
          "[core][interventions]") {
  Changed changed;
  const TensorId weights = changed.id("weights");
  const Override whole = uniform_attention(changed.model.graph, weights, std::nullopt);
  changed.interventions.overrides = {whole};
  changed.run();
  const auto numbers = std::as_const(changed.model.stepper.workspace()).values(weights);
  const std::vector<double> expected(numbers.begin(), numbers.end());
  const Shape shape = changed.model.stepper.trace().shape(weights);
  changed.interventions.overrides.clear();
  for (std::int64_t j = shape[3] - 1; j >= 0; --j) {  // every row is left and met again
    Override column = whole;
    column.region.indices[3] = j;
    changed.interventions.overrides.push_back(column);
  }
  changed.run();
  CHECK(std::ranges::equal(numbers, expected));
}

TEST_CASE("the later of two overrides decides, and both hold gradients back once", "[core][interventions]") {
  Changed changed;
  const TensorId head_output = changed.id("head_output");
  changed.interventions.overrides = {set_cell(head_output, {0, 0, 1, 1}, 3),
                                     zero_head(changed.model.graph, head_output, 0),
                                     set_cell(head_output, {0, 0, 1, 1}, 2)};
  changed.run();
  CHECK(changed.value(head_output, {0, 0, 1, 1}) == 2);
  CHECK(changed.value(head_output, {0, 0, 1, 2}) == 0);
  CHECK(changed.gradient(head_output, {0, 0, 1, 1}) != 0);
  CHECK(changed.gradient(changed.id("weights"), {0, 0, 1, 0}) == 0);
  CHECK(changed.interventions.find(head_output, {0, 0, 1, 1})->values[0] == 2);
  CHECK(changed.interventions.find(head_output, {0, 1, 1, 1}) == nullptr);
}

TEST_CASE("a frozen tensor stays as it is whatever precedes it", "[core][interventions]") {
  Changed changed;
  changed.run();
  const TensorId residual = changed.model.id("decoder.block0.residual1");
  const auto values = std::as_const(changed.model.stepper.workspace()).values(residual);
  const std::vector<double> before(values.begin(), values.end());
  const double loss = changed.loss();
  changed.interventions.overrides = {
      freeze(residual, changed.model.stepper.workspace().shape(residual), before)};
  changed.model.stepper.workspace().values(changed.id("w_query"))[0] += 5;
  changed.run();
  CHECK(std::ranges::equal(values, before));
  CHECK(changed.loss() == loss);
  for (const double g : changed.model.stepper.workspace().gradients(changed.id("w_query"))) REQUIRE(g == 0);
}

TEST_CASE("rows run slice by slice set the same cells", "[core][interventions]") {
  Changed changed;
  const TensorId head_output = changed.id("head_output");
  Workspace<double>& workspace = changed.model.stepper.workspace();
  const Interventions interventions{
      {zero_head(changed.model.graph, head_output, 1), set_cell(head_output, {2, 0, 0, 0}, 4)}};
  std::ranges::fill(workspace.values(head_output), 9.0);
  apply_overrides(changed.model.graph, workspace, interventions, head_output, {1, 3});
  const Shape& shape = workspace.shape(head_output);
  for (std::int64_t place = 0; place < shape.count(); ++place) {
    const Cell cell = shape.cell(place);
    const bool is_within = cell[0] >= 1 && cell[0] < 3;
    const double expected = is_within && cell == Cell{2, 0, 0, 0} ? 4 : is_within && cell[1] == 1 ? 0 : 9;
    REQUIRE(workspace.values(head_output)[static_cast<std::size_t>(place)] == expected);
  }
}

TEST_CASE("an override of cells that the batch does not have changes nothing", "[core][interventions]") {
  Changed plain, changed;
  plain.run();
  changed.interventions.overrides = {set_cell(changed.id("head_output"), {0, 0, 50, 0}, 4),
                                     set_cell(changed.id("head_output"), {50, 0, 0, 0}, 4)};
  changed.run();
  CHECK(changed.loss() == plain.loss());
}

TEST_CASE("the switches of one attention change its own operations, and can be taken back",
          "[core][interventions]") {
  Changed plain, changed;
  plain.run();
  const Graph original = changed.model.graph;
  const auto switched = [&](const AttentionSwitches& switches) {
    set_switches(changed.model.graph, changed.id("scores"), original, switches);
    changed.run();
  };
  const TensorId scores = changed.id("scores"), scaled = changed.id("scaled_scores");
  const TensorId masked = changed.id("masked_scores"), weights = changed.id("weights");
  const Cell seen{0, 1, 2, 1}, future{0, 1, 1, 3}, padding{1, 1, 1, 4};  // row 1 is fed two tokens
  const double score = plain.value(scores, seen);

  switched({.temperature = 4});
  CHECK(changed.value(scaled, seen) == Approx(score / 8));  // √4 · 4
  switched({.leaves_scale = false});
  CHECK(changed.value(scaled, seen) == score);
  switched({.temperature = 2, .leaves_scale = false});
  CHECK(changed.value(scaled, seen) == Approx(score / 2));
  CHECK(changed.gradient(scores, seen) == Approx(changed.gradient(scaled, seen) / 2));

  CHECK(changed.value(weights, future) == 0);
  switched({.leaks_future = true});
  CHECK(changed.value(weights, future) > 0);
  CHECK(changed.gradient(masked, future) != 0);
  CHECK(changed.value(masked, padding) == -kInfinity);
  CHECK(changed.explained(masked, future).key == "masked_scores");
  // the other attention is as it was
  CHECK(changed.value(changed.model.id("decoder.block1.self_attention.weights"), future) == 0);

  switched({});
  CHECK(changed.loss() == plain.loss());
}

TEST_CASE("the switches pass a relative bias", "[core][interventions]") {
  ModelConfig config = test::base_config(Architecture::decoder, Objective::language_model);
  config.positions = Positions::relative;
  test::SteppedModel<double> model(config);
  const TensorId scores = model.id("decoder.block1.self_attention.scores");
  set_switches(model.graph, scores, Graph(model.graph), {.leaks_future = true});
  model.stepper.move_to(model.stepper.steps().n_forward());
  CHECK(model.stepper.trace().value(model.id("decoder.block1.self_attention.weights"), {0, 0, 0, 2}) > 0);
}

TEST_CASE("what is set by hand is reached by nothing", "[core][interventions][influence]") {
  Changed changed;
  const TensorId head_output = changed.id("head_output"), weights = changed.id("weights");
  const auto reached = [&](const Cell& cell) {
    const auto found = influences(changed.model.stepper.trace(), weights, cell);
    return std::ranges::any_of(found, [&](const Influence& one) { return one.result == head_output; });
  };
  changed.interventions.overrides = {zero_head(changed.model.graph, head_output, 1)};
  changed.run();
  CHECK(reached({0, 0, 2, 1}));
  CHECK_FALSE(reached({0, 1, 2, 1}));
}

TEST_CASE("a region's cell fills its open sides", "[core][interventions]") {
  const Region region{3, {std::nullopt, 4, std::nullopt}};
  CHECK(region.cell() == Cell{0, 4, 0});
  CHECK(region.cell({7, 8, 9}) == Cell{7, 4, 9});
  CHECK(region.contains({1, 4, 2}));
  CHECK_FALSE(region.contains({1, 3, 2}));
  CHECK(one_cell({1, 2}).contains({1, 2}));
  CHECK_FALSE(one_cell({1, 2}).contains({1, 1}));
}

}  // namespace
}  // namespace headscope::core
