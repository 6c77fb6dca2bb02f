// Every operation against a case small enough to compute by hand.
#include "core/execute.h"
#include "core/graph.h"
#include "core/workspace.h"

#include "tests/core/small_model.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace headscope::core {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A graph of one operation: tensors are made by shape, filled, run and read back.
template <class T>
class Bench {
 public:
  TensorId real(Shape shape, std::vector<double> values = {}) {
    return add(shape, Element::real, std::move(values));
  }
  TensorId integer(Shape shape, std::vector<double> values) {
    return add(shape, Element::integer, std::move(values));
  }

  std::vector<double> run(Operation operation) {
    graph_.add_operation(operation);
    Workspace<T> workspace(graph_, {});
    for (const auto& [tensor, values] : inputs_) {
      if (graph_.spec(tensor).element == Element::real)
        std::ranges::transform(values, workspace.values(tensor).begin(),
                               [](double v) { return static_cast<T>(v); });
      else
        std::ranges::transform(values, workspace.integers(tensor).begin(),
                               [](double v) { return static_cast<std::int32_t>(v); });
    }
    run_forward(graph_, workspace);
    const auto values = workspace.values(result(operation));
    return {values.begin(), values.end()};
  }

 private:
  TensorId add(const Shape& shape, Element element, std::vector<double> values) {
    ShapeSpec spec;
    constexpr Axis kAxis = Axis::one;
    switch (shape.rank()) {
      case 1:
        spec = {{kAxis, Extent::fixed(shape[0])}};
        break;
      case 2:
        spec = {{kAxis, Extent::fixed(shape[0])}, {kAxis, Extent::fixed(shape[1])}};
        break;
      case 3:
        spec = {{kAxis, Extent::fixed(shape[0])},
                {kAxis, Extent::fixed(shape[1])},
                {kAxis, Extent::fixed(shape[2])}};
        break;
      default:
        spec = {{kAxis, Extent::fixed(shape[0])},
                {kAxis, Extent::fixed(shape[1])},
                {kAxis, Extent::fixed(shape[2])},
                {kAxis, Extent::fixed(shape[3])}};
    }
    const TensorId id = graph_.add_tensor({"t" + std::to_string(graph_.n_tensors()), "t", spec,
                                           values.empty() ? Role::activation : Role::input, element});
    if (!values.empty()) inputs_.emplace_back(id, std::move(values));
    return id;
  }

  Graph graph_;
  std::vector<std::pair<TensorId, std::vector<double>>> inputs_;
};

/// Hand-computed numbers are exact or given to 7 digits; float carries about 7.
void require_close(const std::vector<double>& actual, const std::vector<double>& expected) {
  REQUIRE(actual.size() == expected.size());
  for (std::size_t at = 0; at < actual.size(); ++at) {
    INFO("cell " << at << " expected " << expected[at] << " actual " << actual[at]);
    if (std::isinf(expected[at]))
      CHECK(actual[at] == expected[at]);
    else
      CHECK(std::abs(actual[at] - expected[at]) <= 1e-6);
  }
}

TEMPLATE_TEST_CASE("look-up copies the row of each id", "[core][operations]", float, double) {
  Bench<TestType> bench;
  const TensorId table = bench.real({3, 2}, {1, 2, 3, 4, 5, 6}), ids = bench.integer({1, 2}, {2, 0});
  require_close(bench.run(Lookup{table, ids, bench.real({1, 2, 2})}), {5, 6, 1, 2});
}

TEMPLATE_TEST_CASE("sinusoidal positions follow Vaswani's formula", "[core][operations]", float, double) {
  Bench<TestType> bench;
  // D = 4: wavelengths 1 and 100
  require_close(bench.run(SinusoidalPositions{bench.real({2, 4})}),
                {0, 1, 0, 1, std::sin(1.0), std::cos(1.0), std::sin(0.01), std::cos(0.01)});
}

TEMPLATE_TEST_CASE("positions are added to each row of the batch alike", "[core][operations]", float,
                   double) {
  Bench<TestType> bench;
  const TensorId input = bench.real({2, 2, 1}, {1, 2, 3, 4}), positions = bench.real({3, 1}, {10, 20, 30});
  require_close(bench.run(AddPositions{input, positions, bench.real({2, 2, 1})}), {11, 22, 13, 24});
}

TEMPLATE_TEST_CASE("each head projects with its own matrix and bias", "[core][operations]", float, double) {
  Bench<TestType> bench;
  const TensorId input = bench.real({1, 2, 2}, {1, 2, 3, 4});
  const TensorId weight = bench.real({2, 2, 2}, {1, 0, 0, 1, 1, 2, 3, 4});
  const TensorId bias = bench.real({2, 2}, {0, 10, -1, 0});
  require_close(bench.run(ProjectHeads{input, weight, bias, bench.real({1, 2, 2, 2})}),
                {1, 12, 3, 14, 6, 10, 14, 22});
}

TEMPLATE_TEST_CASE("a score is the dot product of a query and a key", "[core][operations]", float, double) {
  Bench<TestType> bench;
  const TensorId queries = bench.real({1, 1, 2, 2}, {1, 2, 3, 4}),
                 keys = bench.real({1, 1, 2, 2}, {5, 6, 7, 8});
  require_close(bench.run(Scores{queries, keys, bench.real({1, 1, 2, 2})}), {17, 23, 39, 53});
}

TEMPLATE_TEST_CASE("scores are divided by the root of the head's width", "[core][operations]", float,
                   double) {
  Bench<TestType> bench;
  const TensorId input = bench.real({1, 1, 2, 2}, {2, 4, -6, 0});
  require_close(bench.run(ScaleScores{input, bench.real({1, 1, 2, 2}), 4}), {1, 2, -3, 0});
}

TEMPLATE_TEST_CASE("without scaling the scores are passed on", "[core][operations]", float, double) {
  Bench<TestType> bench;
  const TensorId input = bench.real({1, 1, 2, 2}, {2, 4, -6, 0});
  require_close(bench.run(ScaleScores{input, bench.real({1, 1, 2, 2}), 0}), {2, 4, -6, 0});
}

TEMPLATE_TEST_CASE("the causal mask hides later keys, the padding mask keys behind the row's end",
                   "[core][operations]", float, double) {
  Bench<TestType> bench;
  const TensorId input = bench.real({2, 1, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}),
                 lengths = bench.integer({2}, {2, 1});
  SECTION("causal and padding") {
    require_close(bench.run(MaskScores{input, lengths, bench.real({2, 1, 2, 2}), Mask::causal_and_padding}),
                  {1, -kInfinity, 3, 4, 5, -kInfinity, 7, -kInfinity});
  }
  SECTION("padding alone") {
    require_close(bench.run(MaskScores{input, lengths, bench.real({2, 1, 2, 2}), Mask::padding}),
                  {1, 2, 3, 4, 5, -kInfinity, 7, -kInfinity});
  }
}

TEMPLATE_TEST_CASE("softmax turns a row into weights; a masked key gets exactly 0",
                   "[core][operations][softmax]", float, double) {
  Bench<TestType> bench;
  const TensorId input = bench.real({1, 1, 3, 2}, {0, std::log(3.0), 5, -kInfinity, -kInfinity, -kInfinity});
  const std::vector<double> weights = bench.run(Softmax{input, bench.real({1, 1, 3, 2})});
  require_close(weights, {0.25, 0.75, 1, 0, 0, 0});
  CHECK(weights[3] == 0);
  CHECK(weights[4] == 0);
}

TEMPLATE_TEST_CASE("softmax of scores of ±80 stays finite", "[core][operations][softmax]", float, double) {
  Bench<TestType> bench;
  const TensorId input = bench.real({1, 1, 2, 2}, {80, -80, 80, 80});
  const std::vector<double> weights = bench.run(Softmax{input, bench.real({1, 1, 2, 2})});
  for (double weight : weights) CHECK(std::isfinite(weight));
  require_close(weights, {1, 0, 0.5, 0.5});
}

TEMPLATE_TEST_CASE("a head's output mixes the values by the weights", "[core][operations]", float, double) {
  Bench<TestType> bench;
  const TensorId weights = bench.real({1, 1, 2, 2}, {1, 0, 0.25, 0.75}),
                 values = bench.real({1, 1, 2, 2}, {1, 2, 5, 6});
  require_close(bench.run(MixValues{weights, values, bench.real({1, 1, 2, 2})}), {1, 2, 4, 5});
}

TEMPLATE_TEST_CASE("concat lays the heads of a token side by side", "[core][operations]", float, double) {
  Bench<TestType> bench;
  const TensorId input = bench.real({1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  require_close(bench.run(ConcatHeads{input, bench.real({1, 2, 4})}), {1, 2, 5, 6, 3, 4, 7, 8});
}

TEMPLATE_TEST_CASE("a linear map sums over every side of its weight but the last", "[core][operations]",
                   float, double) {
  Bench<TestType> bench;
  const TensorId input = bench.real({1, 2, 2}, {1, 2, 3, 4}), bias = bench.real({2}, {100, 0});
  const TensorId weight = bench.real({2, 1, 2}, {1, 2, 3, 4});  // two heads of one channel each
  require_close(bench.run(Linear{input, weight, bias, bench.real({1, 2, 2})}), {107, 10, 115, 22});
}

TEMPLATE_TEST_CASE("the residual sum adds cell by cell", "[core][operations]", float, double) {
  Bench<TestType> bench;
  const TensorId left = bench.real({1, 2, 1}, {1, 2}), right = bench.real({1, 2, 1}, {10, -2});
  require_close(bench.run(Add{left, right, bench.real({1, 2, 1})}), {11, 0});
}

TEMPLATE_TEST_CASE("cross-entropy is the mean surprise over the targets that count", "[core][operations]",
                   float, double) {
  Bench<TestType> bench;
  const TensorId logits = bench.real({1, 3, 2}, {0, std::log(3.0), 0, 0, 9, 9});
  const TensorId probabilities = bench.real({1, 3, 2}, {0.25, 0.75, 0.5, 0.5, 0.5, 0.5});
  SECTION("two of three positions predict") {
    const TensorId targets = bench.integer({1, 3}, {1, 0, -1});
    require_close(bench.run(CrossEntropy{logits, probabilities, targets, bench.real({1})}),
                  {(std::log(4.0 / 3) + std::log(2.0)) / 2});
  }
  SECTION("nothing to predict gives 0") {
    const TensorId targets = bench.integer({1, 3}, {-1, -1, -1});
    require_close(bench.run(CrossEntropy{logits, probabilities, targets, bench.real({1})}), {0});
  }
}

TEMPLATE_TEST_CASE("cross-entropy stays finite where the probability underflows", "[core][operations]", float,
                   double) {
  Bench<TestType> bench;
  const TensorId logits = bench.real({1, 1, 2}, {0, 2000}), probabilities = bench.real({1, 1, 2}, {0, 1});
  const TensorId targets = bench.integer({1, 1}, {0});
  require_close(bench.run(CrossEntropy{logits, probabilities, targets, bench.real({1})}), {2000});
}

TEMPLATE_TEST_CASE("rows of weights sum to 1 and masked weights are exactly 0", "[core][softmax]", float,
                   double) {
  const ModelConfig config = test::small_config();
  const auto model = test::run_small_model<TestType>(config, test::padded_batch());
  for (const char* name :
       {"decoder.block0.self_attention.weights", "decoder.block1.self_attention.weights"}) {
    const TensorId weights = model.id(name);
    const Shape& shape = model.workspace.shape(weights);
    for (std::int64_t row = 0; row < shape.count() / shape[3]; ++row) {
      double sum = 0;
      for (std::int64_t j = 0; j < shape[3]; ++j) {
        const Cell cell = shape.cell(row * shape[3] + j);
        const double weight = model.trace().value(weights, cell);
        INFO(name << " row " << row << " key " << j);
        const std::int64_t length =
            model.workspace.integers(find_inputs(model.graph).lengths)[static_cast<std::size_t>(cell[0])];
        if (j > cell[2] || j >= length) CHECK(weight == 0);
        sum += weight;
      }
      CHECK(std::abs(sum - 1) <= 1e-6);  // a few roundings of float
    }
  }
}

}  // namespace
}  // namespace headscope::core
