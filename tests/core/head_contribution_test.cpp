// What each head alone adds to its attention's output, on request.
#include "core/explain.h"
#include "core/graph_paths.h"

#include "tests/core/operation_bench.h"
#include "tests/core/stepped_model.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>

namespace headscope::core {
namespace {

TEMPLATE_TEST_CASE("a head's contribution is its output against its own part of W_O", "[core][operations]",
                   float, double) {
  test::OperationBench<TestType> bench;
  // two rows of the batch, two heads, two positions, one channel a head; d_model 2
  const TensorId input = bench.real({2, 2, 2, 1}, {1, 2, 3, 4, 5, 6, 7, 8});
  const TensorId weight = bench.real({2, 1, 2}, {1, 10, 2, -1}), output = bench.result({2, 2, 2, 2});
  test::require_close(bench.run(HeadContribution{input, weight, output}),
                      {1, 10, 2, 20, 6, -3, 8, -4, 5, 50, 6, 60, 14, -7, 16, -8});
  CHECK_FALSE(bench.workspace().has_gradient(input));
}

TEMPLATE_TEST_CASE("the heads' contributions and the bias sum to the attention's output",
                   "[core][operations][heads]", float, double) {
  // a sum in another order, of a few dozen numbers up to about 10
  constexpr double kTolerance = std::is_same_v<TestType, float> ? 1e-5 : 1e-13;
  for (const auto& [name, config] : test::every_config()) {
    INFO(name);
    auto model = test::make_model<TestType>(config, {.head_contributions = true});
    auto plain = test::make_model<TestType>(config);
    model.run();
    plain.run();
    std::int64_t n_attentions = 0;
    for (std::uint32_t index = 0; index < model.graph.n_tensors(); ++index) {
      const std::string& contribution = model.graph.spec({index}).name;
      if (!contribution.ends_with(".head_contribution")) continue;
      ++n_attentions;
      INFO(contribution);
      const std::string attention(owner(contribution));
      const TensorId output = model.id(attention + ".output");
      const auto bias = model.graph.find(attention + ".b_output");
      const Shape &of_heads = model.workspace.shape({index}), &shape = model.workspace.shape(output);
      REQUIRE(of_heads == Shape{shape[0], config.n_heads, shape[1], shape[2]});
      for (std::int64_t place = 0; place < shape.count(); ++place) {
        const Cell cell = shape.cell(place);
        double sum =
            bias ? static_cast<double>(model.workspace.values(*bias)[static_cast<std::size_t>(cell[2])]) : 0;
        for (std::int64_t h = 0; h < config.n_heads; ++h)
          sum += static_cast<double>(model.workspace.values(
              {index})[static_cast<std::size_t>(of_heads.flat({cell[0], h, cell[1], cell[2]}))]);
        const auto whole =
            static_cast<double>(model.workspace.values(output)[static_cast<std::size_t>(place)]);
        REQUIRE(std::abs(sum - whole) <= kTolerance * std::max(1.0, std::abs(whole)));
      }
    }
    CHECK(n_attentions == config.n_layers * (config.architecture == Architecture::encoder_decoder ? 3 : 1));
    // looking changes nothing: the same bits, forward and backward
    for (const auto& [tensor, id] : plain.graph.names()) {
      if (plain.graph.spec(id).element == Element::integer) continue;
      INFO(tensor);
      REQUIRE(std::ranges::equal(plain.workspace.values(id), model.workspace.values(model.id(tensor))));
      REQUIRE(plain.workspace.has_gradient(id) == model.workspace.has_gradient(model.id(tensor)));
      if (plain.workspace.has_gradient(id))
        REQUIRE(
            std::ranges::equal(plain.workspace.gradients(id), model.workspace.gradients(model.id(tensor))));
    }
  }
}

TEST_CASE("a contribution's explanation names the head's own channels", "[core][explain]") {
  test::SteppedModel<double> model(test::base_config(Architecture::decoder, Objective::language_model),
                                   {.head_contributions = true});
  model.stepper.move_to(model.stepper.steps().n_forward());
  const TensorId contribution = model.id("decoder.block1.self_attention.head_contribution");
  const Explanation explanation = explain(model.stepper.trace(), contribution, {0, 1, 2, 3});
  CHECK(explanation.over == Axis::head_channel);
  REQUIRE(explanation.terms.size() == static_cast<std::size_t>(model.config.d_head));
  CHECK(explanation.terms[1].factors[0].tensor == model.id("decoder.block1.self_attention.head_output"));
  CHECK(explanation.terms[1].factors[0].cell == Cell{0, 1, 2, 1});
  CHECK(explanation.terms[1].factors[1].tensor == model.id("decoder.block1.self_attention.w_output"));
  CHECK(explanation.terms[1].factors[1].cell == Cell{1, 1, 3});
}

}  // namespace
}  // namespace headscope::core
