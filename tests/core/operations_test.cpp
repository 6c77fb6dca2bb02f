// Every operation against a case small enough to compute by hand, forward and backward.
#include "core/execute.h"
#include "core/graph.h"
#include "core/workspace.h"

#include "tests/core/every_model.h"
#include "tests/core/operation_bench.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace headscope::core {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class T>
using Bench = test::OperationBench<T>;
using test::require_close;

TEMPLATE_TEST_CASE("look-up copies the row of each id; a row receives the gradients of all its tokens",
                   "[core][operations]", float, double) {
  Bench<TestType> bench;
  const TensorId table = bench.real({3, 2}, {1, 2, 3, 4, 5, 6}), ids = bench.integer({1, 3}, {2, 0, 2});
  const TensorId output = bench.result({1, 3, 2});
  bench.run_backward(Lookup{table, ids, output}, {1, 2, 3, 4, 5, 6});
  require_close(bench.values(output), {5, 6, 1, 2, 5, 6});
  require_close(bench.gradient(table), {3, 4, 0, 0, 6, 8});
}

TEMPLATE_TEST_CASE("sinusoidal positions follow Vaswani's formula", "[core][operations]", float, double) {
  Bench<TestType> bench;
  // D = 4: wavelengths 1 and 100
  require_close(bench.run(SinusoidalPositions{bench.result({2, 4})}),
                {0, 1, 0, 1, std::sin(1.0), std::cos(1.0), std::sin(0.01), std::cos(0.01)});
}

TEMPLATE_TEST_CASE(
    "positions are added to each row of the batch alike, and sum their gradients over the rows",
    "[core][operations]", float, double) {
  Bench<TestType> bench;
  const TensorId input = bench.real({2, 2, 1}, {1, 2, 3, 4}), positions = bench.real({3, 1}, {10, 20, 30});
  const TensorId output = bench.result({2, 2, 1});
  bench.run_backward(AddPositions{input, positions, output}, {1, 2, 3, 4});
  require_close(bench.values(output), {11, 22, 13, 24});
  require_close(bench.gradient(input), {1, 2, 3, 4});
  require_close(bench.gradient(positions), {4, 6, 0});
}

TEMPLATE_TEST_CASE("each head projects with its own matrix and bias", "[core][operations]", float, double) {
  Bench<TestType> bench;
  const TensorId input = bench.real({1, 2, 2}, {1, 2, 3, 4});
  const TensorId weight = bench.real({2, 2, 2}, {1, 0, 0, 1, 1, 2, 3, 4});
  const TensorId bias = bench.real({2, 2}, {0, 10, -1, 0});
  const TensorId output = bench.result({1, 2, 2, 2});
  bench.run_backward(ProjectHeads{input, weight, bias, output}, {1, 0, 0, 1, 1, 1, 0, 2});
  require_close(bench.values(output), {1, 12, 3, 14, 6, 10, 14, 22});
  require_close(bench.gradient(input), {4, 7, 4, 9});
  require_close(bench.gradient(weight), {1, 3, 2, 4, 1, 7, 2, 10});
  require_close(bench.gradient(bias), {1, 1, 1, 3});
}

TEMPLATE_TEST_CASE("a score is the dot product of a query and a key", "[core][operations]", float, double) {
  Bench<TestType> bench;
  const TensorId queries = bench.real({1, 1, 2, 2}, {1, 2, 3, 4}),
                 keys = bench.real({1, 1, 2, 2}, {5, 6, 7, 8}), output = bench.result({1, 1, 2, 2});
  bench.run_backward(Scores{queries, keys, output}, {1, 0, 2, -1});
  require_close(bench.values(output), {17, 23, 39, 53});
  require_close(bench.gradient(queries), {5, 6, 3, 4});
  require_close(bench.gradient(keys), {7, 10, -3, -4});
}

TEMPLATE_TEST_CASE("scores are divided by the root of the head's width and by the temperature",
                   "[core][operations]", float, double) {
  Bench<TestType> bench;
  const TensorId input = bench.real({1, 1, 2, 2}, {2, 4, -6, 0}), output = bench.result({1, 1, 2, 2});
  SECTION("width alone") {
    bench.run_backward(ScaleScores{input, output, 4}, {4, 8, 0, -4});
    require_close(bench.values(output), {1, 2, -3, 0});
    require_close(bench.gradient(input), {2, 4, 0, -2});
  }
  SECTION("temperature, too") {
    bench.run_backward(ScaleScores{input, output, 4, 2}, {4, 8, 0, -4});
    require_close(bench.values(output), {0.5, 1, -1.5, 0});
    require_close(bench.gradient(input), {1, 2, 0, -1});
  }
  SECTION("neither") {
    bench.run_backward(ScaleScores{input, output, 0}, {4, 8, 0, -4});
    require_close(bench.values(output), {2, 4, -6, 0});
    require_close(bench.gradient(input), {4, 8, 0, -4});
  }
}

TEMPLATE_TEST_CASE("a relative bias depends on head and distance alone", "[core][operations]", float,
                   double) {
  Bench<TestType> bench;
  // at most 3 tokens: columns for distances j - i of -2 to 2
  const TensorId input = bench.real({1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  const TensorId table = bench.real({2, 5}, {10, 20, 30, 40, 50, 0, 100, 200, 300, 0});
  const TensorId output = bench.result({1, 2, 2, 2});
  bench.run_backward(AddRelativeBias{input, table, output}, {1, 2, 3, 4, 0, 0, 0, 5});
  require_close(bench.values(output), {31, 42, 23, 34, 205, 306, 107, 208});
  require_close(bench.gradient(input), {1, 2, 3, 4, 0, 0, 0, 5});
  require_close(bench.gradient(table), {0, 3, 5, 2, 0, 0, 0, 5, 0, 0});
}

TEMPLATE_TEST_CASE("the causal mask hides later keys, the padding mask keys behind the row's end",
                   "[core][operations]", float, double) {
  Bench<TestType> bench;
  const TensorId input = bench.real({2, 1, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}),
                 lengths = bench.integer({2}, {2, 1}), output = bench.result({2, 1, 2, 2});
  SECTION("causal and padding") {
    bench.run_backward(MaskScores{input, lengths, output, Mask::causal_and_padding},
                       {1, 2, 3, 4, 5, 6, 7, 8});
    require_close(bench.values(output), {1, -kInfinity, 3, 4, 5, -kInfinity, 7, -kInfinity});
    require_close(bench.gradient(input), {1, 0, 3, 4, 5, 0, 7, 0});
  }
  SECTION("padding alone") {
    bench.run_backward(MaskScores{input, lengths, output, Mask::padding}, {1, 2, 3, 4, 5, 6, 7, 8});
    require_close(bench.values(output), {1, 2, 3, 4, 5, -kInfinity, 7, -kInfinity});
    require_close(bench.gradient(input), {1, 2, 3, 4, 5, 0, 7, 0});
  }
}

TEMPLATE_TEST_CASE("a span lies within its row", "[core][operations]", float, double) {
  Bench<TestType> bench;
  const TensorId input = bench.real({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}),
                 lengths = bench.integer({2}, {2, 1});
  const TensorId output = bench.result({2, 2, 2});
  bench.run_backward(MaskPositions{input, lengths, output}, {1, 2, 3, 4, 5, 6, 7, 8});
  require_close(bench.values(output), {1, 2, 3, 4, 5, 6, -kInfinity, -kInfinity});
  require_close(bench.gradient(input), {1, 2, 3, 4, 5, 6, 0, 0});
}

TEMPLATE_TEST_CASE("softmax turns a row into weights; a masked key gets exactly 0",
                   "[core][operations][softmax]", float, double) {
  Bench<TestType> bench;
  const TensorId input = bench.real({1, 1, 3, 2}, {0, std::log(3.0), 5, -kInfinity, -kInfinity, -kInfinity});
  const TensorId output = bench.result({1, 1, 3, 2});
  bench.run_backward(Softmax{input, output, 3}, {1, 0, 2, 3, 4, 5});
  const std::vector<double> weights = bench.values(output), gradient = bench.gradient(input);
  require_close(weights, {0.25, 0.75, 1, 0, 0, 0});
  // w_j (g_j - Σ_k g_k w_k)
  require_close(gradient, {0.1875, -0.1875, 0, 0, 0, 0});
  for (const std::size_t masked : {3u, 4u, 5u}) {
    CHECK(weights[masked] == 0);
    CHECK(gradient[masked] == 0);
  }
}

TEMPLATE_TEST_CASE("softmax runs along any side", "[core][operations][softmax]", float, double) {
  Bench<TestType> bench;
  const TensorId input = bench.real({1, 3, 2}, {0, 7, std::log(3.0), 7, -kInfinity, -kInfinity});
  const TensorId output = bench.result({1, 3, 2});
  bench.run_backward(Softmax{input, output, 1}, {1, 1, 0, -1, 9, 9});
  require_close(bench.values(output), {0.25, 0.5, 0.75, 0.5, 0, 0});
  require_close(bench.gradient(input), {0.1875, 0.5, -0.1875, -0.5, 0, 0});
}

TEMPLATE_TEST_CASE("softmax of scores of ±80 stays finite", "[core][operations][softmax]", float, double) {
  Bench<TestType> bench;
  const TensorId input = bench.real({1, 1, 2, 2}, {80, -80, 80, 80});
  const std::vector<double> weights = bench.run(Softmax{input, bench.result({1, 1, 2, 2}), 3});
  for (double weight : weights) CHECK(std::isfinite(weight));
  require_close(weights, {1, 0, 0.5, 0.5});
}

TEMPLATE_TEST_CASE("a dropout mask is 1 outside training and 0 or 1 / (1 - rate) within it",
                   "[core][operations]", float, double) {
  Bench<TestType> bench;
  const DropoutMask mask{bench.result({2, 500}), 0.2, 7};
  SECTION("outside training") {
    for (const double cell : bench.run(mask)) CHECK(cell == 1);
  }
  SECTION("within training") {
    const std::vector<double> cells = bench.run(mask, {.dropout_seed = 1, .dropout_step = 1});
    const auto n_dropped = std::count(cells.begin(), cells.end(), 0.0);
    // 1,000 draws of rate 0.2: 200 with a deviation of 12.6; four of them
    CHECK(std::abs(static_cast<double>(n_dropped) - 200) <= 51);
    for (const double cell : cells)
      if (cell != 0) CHECK(cell == Approx(1.25).epsilon(1e-6));
    CHECK(!std::equal(cells.begin(), cells.begin() + 500, cells.begin() + 500));  // a row has its own
  }
  SECTION("the seed and the step decide") {
    const auto cells = [&](std::uint64_t seed, std::uint64_t step) {
      Bench<TestType> other;
      return other.run(DropoutMask{other.result({2, 500}), 0.2, 7},
                       {.dropout_seed = seed, .dropout_step = step});
    };
    CHECK(cells(1, 1) == cells(1, 1));
    CHECK(cells(1, 1) != cells(1, 2));
    CHECK(cells(1, 1) != cells(2, 1));
  }
}

TEMPLATE_TEST_CASE("dropout multiplies by its mask, forward and backward", "[core][operations]", float,
                   double) {
  Bench<TestType> bench;
  const TensorId input = bench.real({1, 3}, {1, 2, 3}), output = bench.result({1, 3});
  const TensorId mask = bench.real({1, 3}, {0, 2, 1});
  bench.run_backward(ApplyDropout{input, mask, output}, {5, 6, 7});
  require_close(bench.values(output), {0, 4, 3});
  require_close(bench.gradient(input), {0, 12, 7});
  CHECK_FALSE(bench.workspace().has_gradient(mask));
}

TEMPLATE_TEST_CASE("a head's output mixes the values by the weights", "[core][operations]", float, double) {
  Bench<TestType> bench;
  const TensorId weights = bench.real({1, 1, 2, 2}, {1, 0, 0.25, 0.75}),
                 values = bench.real({1, 1, 2, 2}, {1, 2, 5, 6}), output = bench.result({1, 1, 2, 2});
  bench.run_backward(MixValues{weights, values, output}, {1, 2, 3, 4});
  require_close(bench.values(output), {1, 2, 4, 5});
  require_close(bench.gradient(weights), {5, 17, 11, 39});
  require_close(bench.gradient(values), {1.75, 3, 2.25, 3});
}

TEMPLATE_TEST_CASE("concat lays the heads of a token side by side", "[core][operations]", float, double) {
  Bench<TestType> bench;
  const TensorId input = bench.real({1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), output = bench.result({1, 2, 4});
  bench.run_backward(ConcatHeads{input, output}, {1, 2, 3, 4, 5, 6, 7, 8});
  require_close(bench.values(output), {1, 2, 5, 6, 3, 4, 7, 8});
  require_close(bench.gradient(input), {1, 2, 5, 6, 3, 4, 7, 8});
}

TEMPLATE_TEST_CASE("a linear map sums over every side of its weight but the last", "[core][operations]",
                   float, double) {
  Bench<TestType> bench;
  const TensorId bias = bench.real({2}, {100, 0});
  const TensorId weight = bench.real({2, 1, 2}, {1, 2, 3, 4});  // two heads of one channel each
  SECTION("a vector at each position") {
    const TensorId input = bench.real({1, 2, 2}, {1, 2, 3, 4}), output = bench.result({1, 2, 2});
    bench.run_backward(Linear{input, weight, bias, output}, {1, 0, 0, 1});
    require_close(bench.values(output), {107, 10, 115, 22});
    require_close(bench.gradient(input), {1, 3, 2, 4});
  }
  SECTION("a vector for each row") {
    const TensorId input = bench.real({2, 2}, {1, 2, 3, 4}), output = bench.result({2, 2});
    bench.run_backward(Linear{input, weight, bias, output}, {1, 0, 0, 1});
    require_close(bench.values(output), {107, 10, 115, 22});
    require_close(bench.gradient(input), {1, 3, 2, 4});
  }
  require_close(bench.gradient(weight), {1, 3, 2, 4});
  require_close(bench.gradient(bias), {1, 1});
}

TEMPLATE_TEST_CASE("independent outputs project with their own matrices", "[core][operations]", float,
                   double) {
  Bench<TestType> bench;
  const TensorId input = bench.real({1, 1, 2}, {1, 2});
  const TensorId weight = bench.real({2, 2, 2}, {1, 0, 0, 1, 1, 2, 3, 4});
  const TensorId bias = bench.real({2, 2}, {0, 10, -1, 0}), output = bench.result({1, 1, 2, 2});
  bench.run_backward(ProjectOutputs{input, weight, bias, output}, {1, 0, 1, 1});
  require_close(bench.values(output), {1, 12, 6, 10});
  require_close(bench.gradient(input), {4, 7});
  require_close(bench.gradient(weight), {1, 0, 2, 0, 1, 1, 2, 2});
  require_close(bench.gradient(bias), {1, 0, 1, 1});
}

TEMPLATE_TEST_CASE("the residual sum adds cell by cell and sends its gradient both ways",
                   "[core][operations]", float, double) {
  Bench<TestType> bench;
  const TensorId left = bench.real({1, 2, 1}, {1, 2}), output = bench.result({1, 2, 1});
  const TensorId right = bench.real({1, 2, 1}, {10, -2});
  bench.run_backward(Add{left, right, output}, {3, 4});
  require_close(bench.values(output), {11, 0});
  require_close(bench.gradient(left), {3, 4});
  require_close(bench.gradient(right), {3, 4});
}

TEMPLATE_TEST_CASE("a row's mean", "[core][operations]", float, double) {
  Bench<TestType> bench;
  const TensorId input = bench.real({1, 1, 4}, {1, 2, 3, 6}), output = bench.result({1, 1});
  bench.run_backward(RowMean{input, output}, {4});
  require_close(bench.values(output), {3});
  require_close(bench.gradient(input), {1, 1, 1, 1});
}

TEMPLATE_TEST_CASE("centring takes the mean away", "[core][operations]", float, double) {
  Bench<TestType> bench;
  const TensorId input = bench.real({1, 1, 4}, {1, 2, 3, 6}), mean = bench.real({1, 1}, {3});
  const TensorId output = bench.result({1, 1, 4});
  bench.run_backward(Centre{input, mean, output}, {1, 2, 3, 4});
  require_close(bench.values(output), {-2, -1, 0, 3});
  require_close(bench.gradient(input), {1, 2, 3, 4});
  require_close(bench.gradient(mean), {-10});
}

TEMPLATE_TEST_CASE("the inverse deviation is 1 / √(variance + ε)", "[core][operations]", float, double) {
  Bench<TestType> bench;
  const TensorId input = bench.real({1, 2, 2}, {2, -2, 0, 0}), output = bench.result({1, 2});
  SECTION("a row without any deviation has that of ε") {
    bench.run_backward(InverseDeviation{input, output, 0.25}, {1, 1});
    // r = 1/√4.25, -r³ x / 2
    const double r = 1 / std::sqrt(4.25);
    require_close(bench.values(output), {r, 2});
    require_close(bench.gradient(input), {-r * r * r, r * r * r, 0, 0});
  }
}

TEMPLATE_TEST_CASE("a row is scaled by its own factor", "[core][operations]", float, double) {
  Bench<TestType> bench;
  const TensorId input = bench.real({1, 1, 2}, {1, 2}), factor = bench.real({1, 1}, {3});
  const TensorId output = bench.result({1, 1, 2});
  bench.run_backward(ScaleRows{input, factor, output}, {1, 10});
  require_close(bench.values(output), {3, 6});
  require_close(bench.gradient(input), {3, 30});
  require_close(bench.gradient(factor), {21});
}

TEMPLATE_TEST_CASE("gain and offset are those of the channel", "[core][operations]", float, double) {
  Bench<TestType> bench;
  const TensorId input = bench.real({1, 2, 2}, {1, 2, 3, 4}), gain = bench.real({2}, {10, 100});
  const TensorId offset = bench.real({2}, {1, -1}), output = bench.result({1, 2, 2});
  bench.run_backward(ScaleAndShift{input, gain, offset, output}, {1, 2, 3, 4});
  require_close(bench.values(output), {11, 199, 31, 399});
  require_close(bench.gradient(input), {10, 200, 30, 400});
  require_close(bench.gradient(gain), {10, 20});
  require_close(bench.gradient(offset), {4, 6});
}

TEMPLATE_TEST_CASE("the activation functions and their slopes", "[core][operations]", float, double) {
  Bench<TestType> bench;
  const TensorId input = bench.real({1, 4}, {-1, 0, 1, 3}), output = bench.result({1, 4});
  SECTION("relu") {
    bench.run_backward(Activate{input, output, Activation::relu}, {1, 1, 1, 2});
    require_close(bench.values(output), {0, 0, 1, 3});
    require_close(bench.gradient(input), {0, 0, 1, 2});
  }
  SECTION("gelu") {  // Φ(1) = 0.8413447, φ(1) = 0.2419707, Φ(3) = 0.9986501, φ(3) = 0.0044318
    bench.run_backward(Activate{input, output, Activation::gelu}, {1, 1, 1, 2});
    require_close(bench.values(output), {-0.1586553, 0, 0.8413447, 2.9959503});
    require_close(bench.gradient(input), {-0.0833155, 0.5, 1.0833155, 2 * 1.0119456});
  }
  SECTION("gelu_tanh") {
    bench.run_backward(Activate{input, output, Activation::gelu_tanh}, {1, 1, 1, 2});
    require_close(bench.values(output), {-0.1588080, 0, 0.8411920, 2.9963626});
    require_close(bench.gradient(input), {-0.0829641, 0.5, 1.0829641, 2 * 1.0115842});
  }
}

TEMPLATE_TEST_CASE("pooling leaves padding out", "[core][operations]", float, double) {
  Bench<TestType> bench;
  const TensorId input = bench.real({2, 2, 1}, {1, 3, 5, 7}), lengths = bench.integer({2}, {2, 1});
  const TensorId output = bench.result({2, 1});
  SECTION("the mean") {
    bench.run_backward(Pool{input, lengths, output, Pooling::mean}, {1, 2});
    require_close(bench.values(output), {2, 5});
    require_close(bench.gradient(input), {0.5, 0.5, 2, 0});
  }
  SECTION("the first token") {
    bench.run_backward(Pool{input, lengths, output, Pooling::first}, {1, 2});
    require_close(bench.values(output), {1, 5});
    require_close(bench.gradient(input), {1, 0, 2, 0});
  }
}

TEMPLATE_TEST_CASE("the vector at a position of each row", "[core][operations]", float, double) {
  Bench<TestType> bench;
  const TensorId input = bench.real({2, 2, 1}, {1, 3, 5, 7}), positions = bench.integer({2}, {1, 0});
  const TensorId output = bench.result({2, 1});
  bench.run_backward(SelectPosition{input, positions, output}, {1, 2});
  require_close(bench.values(output), {3, 5});
  require_close(bench.gradient(input), {0, 1, 2, 0});
}

TEMPLATE_TEST_CASE("a pointer scores each token with both of its vectors", "[core][operations]", float,
                   double) {
  Bench<TestType> bench;
  const TensorId start = bench.real({1, 2}, {1, 2}), end = bench.real({1, 2}, {3, 4});
  const TensorId input = bench.real({1, 2, 2}, {1, 0, 0, 1}), output = bench.result({1, 2, 2});
  bench.run_backward(PointAt{start, end, input, output}, {1, 10, 100, 1000});
  require_close(bench.values(output), {1, 3, 2, 4});
  require_close(bench.gradient(start), {1, 100});
  require_close(bench.gradient(end), {10, 1000});
  require_close(bench.gradient(input), {31, 42, 3100, 4200});
}

TEMPLATE_TEST_CASE("cross-entropy is each target's surprise; its gradient is p - y", "[core][operations]",
                   float, double) {
  Bench<TestType> bench;
  const TensorId logits = bench.real({1, 3, 2}, {0, std::log(3.0), 0, 0, 9, 9});
  const TensorId probabilities = bench.real({1, 3, 2}, {0.25, 0.75, 0.5, 0.5, 0.5, 0.5});
  const TensorId targets = bench.integer({1, 3}, {1, 0, -1}), output = bench.result({1, 3});
  SECTION("without smoothing") {
    bench.run_backward(CrossEntropy{logits, probabilities, targets, output, 2}, {1, 2, 4});
    require_close(bench.values(output), {std::log(4.0 / 3), std::log(2.0), 0});
    require_close(bench.gradient(logits), {0.25, -0.25, -1, 1, 0, 0});
  }
  SECTION("smoothed by 0.2: the target keeps 0.9") {
    bench.run_backward(CrossEntropy{logits, probabilities, targets, output, 2, 0.2}, {1, 2, 4});
    require_close(bench.values(output), {0.9 * std::log(4.0 / 3) + 0.1 * std::log(4.0), std::log(2.0), 0});
    require_close(bench.gradient(logits), {0.15, -0.15, -0.8, 0.8, 0, 0});
  }
}

TEMPLATE_TEST_CASE("cross-entropy runs along any side, and a masked class has no part in the smoothing",
                   "[core][operations]", float, double) {
  Bench<TestType> bench;
  // two columns of three classes, the last of which is masked
  const TensorId logits = bench.real({1, 3, 2}, {0, 0, std::log(3.0), 0, -kInfinity, -kInfinity});
  const TensorId probabilities = bench.real({1, 3, 2}, {0.25, 0.5, 0.75, 0.5, 0, 0});
  const TensorId targets = bench.integer({1, 2}, {1, 0}), output = bench.result({1, 2});
  bench.run_backward(CrossEntropy{logits, probabilities, targets, output, 1, 0.2}, {1, 1});
  require_close(bench.values(output), {0.9 * std::log(4.0 / 3) + 0.1 * std::log(4.0), std::log(2.0)});
  require_close(bench.gradient(logits), {0.15, -0.4, -0.15, 0.4, 0, 0});
}

TEMPLATE_TEST_CASE("cross-entropy stays finite where the probability underflows", "[core][operations]", float,
                   double) {
  Bench<TestType> bench;
  const TensorId logits = bench.real({1, 1, 2}, {0, 2000}), probabilities = bench.real({1, 1, 2}, {0, 1});
  const TensorId targets = bench.integer({1, 1}, {0});
  require_close(bench.run(CrossEntropy{logits, probabilities, targets, bench.result({1, 1}), 2}), {2000});
}

/// The mean over the targets that count, and its gradient by each loss.
template <class T>
void check_mean(const std::vector<double>& targets, double mean, const std::vector<double>& gradient) {
  Graph graph;
  const ShapeSpec sides{{Axis::batch, Extent::batch()}};
  const TensorId losses = graph.add_tensor({"losses", "L", sides, Role::parameter, Element::real});
  const TensorId wanted = graph.add_tensor({"targets", "y", sides, Role::input, Element::integer});
  const TensorId loss = graph.add_tensor({"loss", "L", {{Axis::one, Extent::fixed(1)}}});
  graph.add_operation(MeanLoss{losses, wanted, loss});
  Workspace<T> workspace(graph, {static_cast<std::int64_t>(targets.size()), 1, 0}, WithGradients::yes);
  std::iota(workspace.values(losses).begin(), workspace.values(losses).end(), T{1});
  std::ranges::transform(targets, workspace.integers(wanted).begin(),
                         [](double target) { return static_cast<std::int32_t>(target); });
  run_forward(graph, workspace);
  run_backward(graph, workspace);
  const auto actual = workspace.gradients(losses);
  require_close({workspace.values(loss)[0]}, {mean});
  require_close({actual.begin(), actual.end()}, gradient);
}

TEMPLATE_TEST_CASE("the loss is the mean over the targets that count", "[core][operations]", float, double) {
  SECTION("two of three count") {
    check_mean<TestType>({0, -1, 5}, 2, {0.5, 0, 0.5});
  }
  SECTION("nothing to predict gives 0") {
    check_mean<TestType>({-1, -1}, 0, {0, 0});
  }
}

TEMPLATE_TEST_CASE("rows of weights sum to 1 and masked weights are exactly 0", "[core][softmax]", float,
                   double) {
  auto model =
      test::make_model<TestType>(test::base_config(Architecture::decoder, Objective::language_model));
  model.run();
  for (const char* name :
       {"decoder.block0.self_attention.weights", "decoder.block1.self_attention.weights"}) {
    const TensorId weights = model.id(name);
    const Shape& shape = model.workspace.shape(weights);
    for (std::int64_t row = 0; row < shape.count() / shape[3]; ++row) {
      const Cell first = shape.cell(row * shape[3]);
      const std::int64_t length = model.fed.lengths[static_cast<std::size_t>(first[0])];
      double sum = 0;
      for (std::int64_t j = 0; j < shape[3]; ++j) {
        const double weight = model.workspace.values(weights)[static_cast<std::size_t>(row * shape[3] + j)];
        INFO(name << " row " << row << " key " << j);
        if (j > first[2] || j >= length) CHECK(weight == 0);
        sum += weight;
      }
      if (length > 0)
        CHECK(std::abs(sum - 1) <= 1e-6);  // a few roundings of float
      else
        CHECK(sum == 0);
    }
  }
}

}  // namespace
}  // namespace headscope::core
