// Stepping through forward, backward and update, in both directions, to the bit.
#include "core/stepper.h"
#include "core/explain.h"

#include "tests/core/every_model.h"
#include "tests/core/stepped_model.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace headscope::core {
namespace {

/// All numbers that a trace shows, tensor by tensor: values, gradients, moments.
template <class T>
std::vector<std::vector<double>> shown(const test::SteppedModel<T>& model) {
  const Trace<T> trace = model.stepper.trace();
  std::vector<std::vector<double>> numbers;
  for (std::uint32_t index = 0; index < model.graph.n_tensors(); ++index)
    for (const Quantity quantity :
         {Quantity::value, Quantity::gradient, Quantity::first_moment, Quantity::second_moment,
          Quantity::previous_value, Quantity::previous_first, Quantity::previous_second}) {
      auto& of_tensor = numbers.emplace_back();
      if (!trace.has({index}, quantity)) continue;
      const Shape& shape = trace.shape({index});
      for (std::int64_t place = 0; place < shape.count(); ++place)
        of_tensor.push_back(trace.number({index}, shape.cell(place), quantity));
    }
  return numbers;
}

OptimiserConfig some_optimiser() {
  OptimiserConfig config;
  config.rate = 0.05;
  config.weight_decay = 0.1;
  config.clip_norm = 0.5;
  return config;
}

TEMPLATE_TEST_CASE("stepping back shows every earlier number exactly", "[core][stepper]", float, double) {
  for (const auto& [name, config] : test::every_objective()) {
    if (config.objective == Objective::none) continue;
    INFO(name);
    ModelConfig one_layer = config;
    one_layer.n_layers = 1;
    test::SteppedModel<TestType> model(one_layer);
    model.stepper.set_optimiser(some_optimiser(), 4, {}, {});
    const std::size_t end = model.stepper.steps().size();
    std::vector<std::vector<std::vector<double>>> moments;
    for (std::size_t position = 0; position <= end; ++position) {
      model.stepper.move_to(position);
      CHECK(model.stepper.cursor().position() == position);
      moments.push_back(shown(model));
    }
    for (std::size_t back = end; back-- > 0;) {  // one by one
      model.stepper.move_to(back);
      if (shown(model) != moments[back]) FAIL("back to " << back);
    }
    std::size_t position = 0;  // and by leaps of every kind
    for (std::size_t leap = 0; leap < 60; ++leap) {
      position = (position * 7 + 13 * leap + 5) % (end + 1);
      model.stepper.move_to(position);
      if (shown(model) != moments[position]) FAIL("leap to " << position);
    }
  }
}

TEST_CASE("the steps' end is what the whole passes give", "[core][stepper]") {
  const ModelConfig config = test::base_config(Architecture::encoder_decoder, Objective::language_model);
  test::SteppedModel<float> model(config);
  for (std::size_t position = 0; position <= model.stepper.steps().update_begin(); ++position)
    model.stepper.move_to(position);
  auto whole = test::make_model<float>(config);
  whole.run();
  for (std::uint32_t index = 0; index < model.graph.n_tensors(); ++index) {
    if (!whole.workspace.has_gradient({index})) continue;
    INFO(model.graph.spec({index}).name);
    CHECK(std::ranges::equal(model.stepper.workspace().values({index}), whole.workspace.values({index})));
    CHECK(
        std::ranges::equal(model.stepper.workspace().gradients({index}), whole.workspace.gradients({index})));
  }
}

TEST_CASE("an update moves every parameter by the optimiser's arithmetic", "[core][stepper][optimiser]") {
  test::SteppedModel<double> model(test::base_config(Architecture::encoder, Objective::classification));
  const OptimiserConfig config = some_optimiser();
  const std::vector<double> first(model.stepper.workspace().parameters().size(), 0.01);
  const std::vector<double> second(first.size(), 0.02);
  model.stepper.set_optimiser(config, 4, first, second);
  model.stepper.move_to(model.stepper.steps().update_begin());
  double squares = 0;
  for (const double g : model.stepper.workspace().parameter_gradients()) squares += g * g;
  const UpdateFactors factors = factors_at(config, 4, std::sqrt(squares));
  REQUIRE(factors.gradient_scale < 1);
  const Workspace<double> before = model.stepper.workspace();
  model.stepper.move_to(model.stepper.steps().size());
  CHECK(model.stepper.steps().parameters().size() > 10);
  for (const TensorId parameter : model.stepper.steps().parameters()) {
    const auto values = std::as_const(model.stepper.workspace()).values(parameter);
    for (std::size_t place = 0; place < values.size(); ++place) {
      const auto expected = update_number(config, factors, before.values(parameter)[place],
                                          before.gradients(parameter)[place], 0.01, 0.02);
      // the norm is summed in another order
      REQUIRE(values[place] == Approx(expected.value).epsilon(1e-12));
      const Cell cell = before.shape(parameter).cell(static_cast<std::int64_t>(place));
      REQUIRE(model.stepper.trace().number(parameter, cell, Quantity::first_moment) ==
              Approx(expected.first).epsilon(1e-12));
    }
  }
}

TEST_CASE("restart forgets results and takes moments back", "[core][stepper]") {
  test::SteppedModel<float> model(test::base_config(Architecture::decoder, Objective::language_model));
  model.stepper.set_optimiser(some_optimiser(), 1, {}, {});
  model.stepper.move_to(model.stepper.steps().size());
  const auto once = shown(model);
  model.stepper.restart();
  CHECK(model.stepper.cursor().at_begin());
  test::draw_parameters(model.graph, model.stepper.workspace());
  model.stepper.move_to(model.stepper.steps().size());
  CHECK(shown(model) == once);
}

TEST_CASE("new inputs after a restart are those that are seen", "[core][stepper]") {
  test::SteppedModel<float> model(test::base_config(Architecture::decoder, Objective::language_model));
  model.stepper.move_to(model.stepper.steps().update_begin());
  const auto before = shown(model);
  model.stepper.workspace().values(model.id("unembedding.weight"))[0] += 1;
  model.stepper.restart();
  model.stepper.move_to(model.stepper.steps().update_begin());
  CHECK(shown(model) != before);
}

TEST_CASE("a graph without a loss has forward steps alone", "[core][stepper]") {
  test::SteppedModel<float> model(test::base_config(Architecture::decoder, Objective::none));
  const StepList& steps = model.stepper.steps();
  CHECK(steps.size() == model.graph.operations().size());
  model.stepper.move_to(steps.size() + 10);
  CHECK(model.stepper.cursor().position() == steps.size());
}

TEST_CASE("the list of steps goes forward, backward and over the parameters", "[core][stepper]") {
  const test::SteppedModel<float> model(test::base_config(Architecture::decoder, Objective::language_model));
  const StepList& steps = model.stepper.steps();
  const std::size_t n = model.graph.operations().size();
  CHECK(steps[0] == Step{Phase::forward, 0, {}});
  CHECK(steps[n - 1] == Step{Phase::forward, n - 1, {}});
  CHECK(steps[n] == Step{Phase::backward, n - 1, {}});
  CHECK(steps[steps.update_begin() - 1].phase == Phase::backward);
  CHECK(steps[steps.update_begin()] == Step{Phase::update, 0, steps.parameters()[0]});
  CHECK(steps.backward_done(n) == 0);
  CHECK(steps.backward_done(n + 3) == 3);
  CHECK(steps.backward_done(steps.size()) == steps.n_backward());
  CHECK(steps.updates_done(steps.size() - 1) == steps.parameters().size() - 1);
}

}  // namespace
}  // namespace headscope::core
