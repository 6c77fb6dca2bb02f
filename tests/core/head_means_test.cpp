// Mean-ablation of a head: its mean output at each position over text, forward, backward and explained.
#include "core/head_means.h"

#include "core/explain.h"
#include "core/stepper.h"

#include "tests/core/stepped_model.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace headscope::core {
namespace {

const std::string kAttention = "decoder.block0.self_attention";

/// A model over rows of the given lengths, whose head outputs are not computed but written: b·1000 + h·100 +
/// i·10 + c, padding -1e6.
test::AnyModel<double> model_of_rows(const std::vector<std::size_t>& fed_lengths) {
  ModelConfig config = test::base_config(Architecture::decoder, Objective::language_model);
  config.d_head = 2;
  TokenBatch batch;
  for (const std::size_t length : fed_lengths)
    batch.source.emplace_back(length + 1, 1);  // the last is not fed
  Result<FedBatch> fed = feed(batch, config, "test");
  REQUIRE(fed);
  auto model = test::make_model<double>(config, *std::move(fed));
  const TensorId head_output = model.id(kAttention + ".head_output");
  const Shape& shape = model.workspace.shape(head_output);
  for (std::int64_t place = 0; place < shape.count(); ++place) {
    const Cell at = shape.cell(place);
    const bool is_padding = at[2] >= model.fed.lengths[static_cast<std::size_t>(at[0])];
    model.workspace.values(head_output)[static_cast<std::size_t>(place)] =
        is_padding ? -1e6 : static_cast<double>(at[0] * 1000 + at[1] * 100 + at[2] * 10 + at[3]);
  }
  return model;
}

TEST_CASE("a head's means are taken position by position over the rows that have it, padding left out",
          "[core][interventions]") {
  const auto first = model_of_rows({3, 1, 0}), second = model_of_rows({2});
  HeadMeans means(first.graph, first.id(kAttention + ".head_output"), 1);
  CHECK(means.shape()[0] == 0);
  means.add(first.workspace);
  CHECK(means.shape() == Shape{3, 2});
  CHECK(means.means() == std::vector<double>{600, 601, 110, 111, 120, 121});
  means.add(second.workspace);  // another batch: 100 101 and 110 111 more
  CHECK(means.shape() == Shape{3, 2});
  const std::vector<double> expected{(100.0 + 1100 + 100) / 3, (101.0 + 1101 + 101) / 3, 110, 111, 120, 121};
  for (std::size_t at = 0; at < expected.size(); ++at) CHECK(means.means()[at] == Approx(expected[at]));
}

TEST_CASE("the decoder of a translation counts target positions, its encoder source positions",
          "[core][interventions]") {
  auto model =
      test::make_model<double>(test::base_config(Architecture::encoder_decoder, Objective::language_model));
  model.run();
  const auto longest = [&](const std::string& attention) {
    HeadMeans means(model.graph, model.id(attention + ".head_output"), 0);
    means.add(model.workspace);
    return means.shape()[0];
  };
  CHECK(model.fed.sizes.source != model.fed.sizes.target);
  CHECK(longest("encoder.block0.self_attention") == model.fed.sizes.source);
  CHECK(longest("decoder.block0.self_attention") == model.fed.sizes.target);
  CHECK(longest("decoder.block0.cross_attention") == model.fed.sizes.target);
}

TEST_CASE("a mean-ablated head hands on its means, keeps its gradient and sends none upstream",
          "[core][interventions][explain]") {
  test::SteppedModel<double> model(test::base_config(Architecture::decoder, Objective::language_model));
  const TensorId head_output = model.id(kAttention + ".head_output"),
                 values = model.id(kAttention + ".values");
  model.stepper.move_to(model.stepper.steps().n_forward());
  const double loss_before = model.stepper.trace().value(model.id("loss"), {0});
  HeadMeans held_out(model.graph, head_output, 1);
  held_out.add(model.stepper.workspace());
  const Shape shape = held_out.shape();
  const std::vector<double> means = held_out.means();

  const Interventions by_hand{{mean_head(model.graph, head_output, 1, shape, means)}};
  model.stepper.set_options({.interventions = &by_hand});
  model.stepper.restart();
  model.stepper.move_to(model.stepper.steps().update_begin());
  const Trace<double> trace = model.stepper.trace();
  CHECK(trace.value(model.id("loss"), {0}) != loss_before);
  const Cell cell{1, 1, 1, 2};
  const Explanation value = explain(trace, head_output, cell);
  CHECK(value.combine == Combine::by_hand);
  CHECK(value.value == means[static_cast<std::size_t>(shape.flat({1, 2}))]);
  CHECK(trace.number(head_output, cell, Quantity::gradient) != 0);
  double largest[] = {0, 0};
  const Shape& sides = trace.shape(values);
  for (std::int64_t place = 0; place < sides.count(); ++place) {
    double& most = largest[sides.cell(place)[1]];
    most = std::max(most, std::abs(trace.number(values, sides.cell(place), Quantity::gradient)));
  }
  CHECK(largest[0] > 1e-4);
  CHECK(largest[1] == 0);
  const Explanation upstream = explain(trace, values, {0, 1, 0, 0}, Quantity::gradient);
  CHECK(upstream.terms.empty());
  CHECK(upstream.n_by_hand > 0);

  GradientChecker checker(model.graph, model.stepper.workspace(), {.interventions = &by_hand});
  const GradientCheck check = checker.check(model.id(kAttention + ".w_output"), {1, 2, 3});
  CHECK(check.analytic != 0);
  CHECK(check.numeric == Approx(check.analytic).epsilon(1e-6));
}

}  // namespace
}  // namespace headscope::core
