// The backward pass against central differences in double: every operation, and whole models of every kind.
#include "core/stepper.h"

#include "tests/core/every_model.h"
#include "tests/core/operation_bench.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace headscope::core {
namespace {

// its options point into it
static_assert(!std::is_copy_constructible_v<GradientChecker> &&
              !std::is_move_constructible_v<GradientChecker> && !std::is_copy_assignable_v<GradientChecker> &&
              !std::is_move_assignable_v<GradientChecker>);

struct Counts {
  std::int64_t n_checked = 0, n_kinks = 0;
};

/// Checks about `most` cells of every tensor with a gradient; cells whose step crosses a ReLU's kink are
/// counted alone.
Counts check_gradients(const Graph& graph, GradientChecker& checker, std::int64_t most) {
  Counts counts;
  for (std::uint32_t index = 0; index < graph.n_tensors(); ++index) {
    const TensorId tensor{index};
    if (!checker.workspace().has_gradient(tensor)) continue;
    const auto gradients = checker.workspace().gradients(tensor);
    double largest = 0;
    for (const double one : gradients) largest = std::max(largest, std::abs(one));
    const Shape& shape = checker.workspace().shape(tensor);
    for (std::int64_t place = 0; place < shape.count();
         place += std::max<std::int64_t>(1, shape.count() / most)) {
      const double x = checker.workspace().values(tensor)[static_cast<std::size_t>(place)];
      const double gradient = gradients[static_cast<std::size_t>(place)];
      if (std::isinf(x)) {  // masked: it cannot move, and has no part in the loss
        if (gradient != 0) FAIL(graph.spec(tensor).name << " cell " << place << " is masked");
        continue;
      }
      const GradientCheck check = checker.check(tensor, shape.cell(place));
      ++counts.n_checked;
      if (check.crosses_kink) {
        ++counts.n_kinks;
        continue;
      }
      // a millionth of the gradient; of one near 0 among others, a thousandth of that of the largest; and
      // what the losses' own rounding makes of a gradient that is exactly 0 (a key's bias)
      const double scale = std::max({std::abs(check.analytic), std::abs(check.numeric), 1e-3 * largest});
      if (!(std::abs(check.analytic - check.numeric) <= 1e-6 * scale + check.rounding))
        FAIL(graph.spec(tensor).name << " cell " << place << ": analytic " << check.analytic << ", numeric "
                                     << check.numeric << " ± " << check.rounding << ", largest " << largest);
    }
  }
  return counts;
}

using Bench = test::OperationBench<double>;

/// Checks every cell of a bench's graph, whose last result is `output`.
void check_bench(Bench& bench, TensorId output) {
  const Shape shape = bind(bench.graph().spec(output).shape, {});
  std::vector<double> upstream;
  for (std::int64_t place = 0; place < shape.count(); ++place)
    upstream.push_back(0.5 + 0.37 * static_cast<double>((place * 7) % 11) - 1.5);
  bench.add_loss(output, upstream);
  GradientChecker checker(bench.graph(), bench.workspace(), {});
  const Counts counts = check_gradients(bench.graph(), checker, 1'000'000);
  CHECK(counts.n_checked > 0);
  CHECK(counts.n_kinks == 0);  // the bench's random numbers stay away from 0
}

std::vector<double> repeated(std::int64_t count, const std::vector<double>& pattern) {
  std::vector<double> values;
  for (std::int64_t place = 0; place < count; ++place)
    values.push_back(pattern[static_cast<std::size_t>(place) % pattern.size()]);
  return values;
}

TEST_CASE("an embedding's and a position's gradient agree with central differences", "[core][gradient]") {
  Bench bench;
  const TensorId table = bench.random({4, 3}), positions = bench.random({5, 3});
  const TensorId vectors = bench.result({2, 3, 3}), output = bench.result({2, 3, 3});
  bench.append(Lookup{table, bench.integer({2, 3}, {1, 3, 1, 0, 3, 3}), vectors});
  bench.append(AddPositions{vectors, positions, output});
  check_bench(bench, output);
}

/// An attention of two rows from queries to output; the second row has a key less: of one, nothing is left.
/// `is_relative` and causal masks are for as many queries as keys.
void check_attention(std::int64_t n_heads, std::int64_t n_queries, std::int64_t n_keys, Mask mask,
                     bool is_relative) {
  INFO(n_heads << " heads, " << n_queries << " queries, " << n_keys << " keys");
  constexpr std::int64_t kWidth = 3;
  Bench bench;
  const Shape asking{2, n_heads, n_queries, kWidth}, asked{2, n_heads, n_keys, kWidth};
  const Shape pairs{2, n_heads, n_queries, n_keys};
  const TensorId queries = bench.random(asking), keys = bench.random(asked), values = bench.random(asked);
  const TensorId scores = bench.result(pairs), scaled = bench.result(pairs);
  bench.append(Scores{queries, keys, scores});
  bench.append(ScaleScores{scores, scaled, kWidth, 1.5});
  TensorId biased = scaled;
  if (is_relative) {
    biased = bench.result(pairs);
    bench.append(AddRelativeBias{scaled, bench.random({n_heads, 2 * n_keys + 1}), biased});
  }
  const TensorId masked = bench.result(pairs), weights = bench.result(pairs);
  const TensorId lengths = bench.integer({2}, {static_cast<double>(n_keys), static_cast<double>(n_keys - 1)});
  bench.append(MaskScores{biased, lengths, masked, mask});
  bench.append(Softmax{masked, weights, 3});
  const TensorId mixed = bench.result(asking), output = bench.result({2, n_queries, kWidth * n_heads});
  bench.append(MixValues{weights, values, mixed});
  bench.append(ConcatHeads{mixed, output});
  check_bench(bench, output);
}

TEST_CASE("self-attention's gradients agree with central differences for 1 to 8 heads, 1 to 5 tokens, masks",
          "[core][gradient]") {
  for (const Mask mask : {Mask::padding, Mask::causal_and_padding})
    for (const bool is_relative : {false, true}) {
      for (std::int64_t n_tokens = 1; n_tokens <= 5; ++n_tokens)
        for (const std::int64_t n_heads : {1, 2, 3})
          check_attention(n_heads, n_tokens, n_tokens, mask, is_relative);
      for (std::int64_t n_heads = 4; n_heads <= 8; ++n_heads)
        for (const std::int64_t n_tokens : {1, 4})
          check_attention(n_heads, n_tokens, n_tokens, mask, is_relative);
    }
}

TEST_CASE(
    "cross-attention's gradients agree with central differences for fewer queries than keys and for more",
    "[core][gradient]") {
  for (const std::int64_t n_heads : {1, 3, 8})
    for (const std::int64_t n_queries : {1, 2, 5})
      for (const std::int64_t n_keys : {1, 3, 4})
        check_attention(n_heads, n_queries, n_keys, Mask::padding, false);
}

TEST_CASE("projections' gradients agree with central differences for 1 to 8 heads", "[core][gradient]") {
  for (const std::int64_t n_heads : {1, 2, 5, 8}) {
    Bench bench;
    const TensorId input = bench.random({2, 3, 4}), weight = bench.random({n_heads, 4, 2});
    const TensorId output = bench.result({2, n_heads, 3, 2});
    bench.append(ProjectHeads{input, weight, bench.random({n_heads, 2}), output});
    check_bench(bench, output);
  }
}

TEST_CASE("linear maps' gradients agree with central differences", "[core][gradient]") {
  Bench bench;
  const TensorId input = bench.random({2, 3, 4});
  SECTION("with a bias") {
    const TensorId output = bench.result({2, 3, 5});
    bench.append(Linear{input, bench.random({2, 2, 5}), bench.random({5}), output});
    check_bench(bench, output);
  }
  SECTION("without one, of a vector for each row") {
    const TensorId rows = bench.random({3, 4}), output = bench.result({3, 2});
    bench.append(Linear{rows, bench.random({4, 2}), std::nullopt, output});
    check_bench(bench, output);
  }
  SECTION("independent outputs") {
    const TensorId output = bench.result({2, 3, 2, 3});
    bench.append(ProjectOutputs{input, bench.random({2, 4, 3}), bench.random({2, 3}), output});
    check_bench(bench, output);
  }
}

TEST_CASE("layer normalisation's gradients agree with central differences, its three paths together",
          "[core][gradient]") {
  Bench bench;
  const Shape vectors{2, 3, 5}, rows{2, 3};
  const TensorId input = bench.random(vectors), mean = bench.result(rows), centred = bench.result(vectors);
  const TensorId inverse = bench.result(rows), normalised = bench.result(vectors);
  const TensorId output = bench.result(vectors), sum = bench.result(vectors);
  bench.append(RowMean{input, mean});
  bench.append(Centre{input, mean, centred});
  bench.append(InverseDeviation{centred, inverse, 1e-5});
  bench.append(ScaleRows{centred, inverse, normalised});
  bench.append(ScaleAndShift{normalised, bench.random({5}), bench.random({5}), output});
  bench.append(Add{input, output, sum});
  check_bench(bench, sum);
}

TEST_CASE("activations' gradients agree with central differences", "[core][gradient]") {
  for (const Activation function : {Activation::relu, Activation::gelu, Activation::gelu_tanh}) {
    Bench bench;
    const TensorId output = bench.result({2, 3, 9});
    bench.append(Activate{bench.random({2, 3, 9}), output, function});
    check_bench(bench, output);
  }
}

TEST_CASE("what reads some positions sends gradients to those alone", "[core][gradient]") {
  Bench bench;
  const TensorId input = bench.random({3, 4, 2});
  const TensorId lengths = bench.integer({3}, {4, 1, 3});
  SECTION("mean pooling") {
    const TensorId output = bench.result({3, 2});
    bench.append(Pool{input, lengths, output, Pooling::mean});
    check_bench(bench, output);
  }
  SECTION("first pooling") {
    const TensorId output = bench.result({3, 2});
    bench.append(Pool{input, lengths, output, Pooling::first});
    check_bench(bench, output);
  }
  SECTION("a pointer from a read position") {
    const TensorId read = bench.result({3, 2}), start = bench.result({3, 2}), end = bench.result({3, 2});
    const TensorId scores = bench.result({3, 4, 2}), masked = bench.result({3, 4, 2});
    const TensorId output = bench.result({3, 4, 2});
    bench.append(SelectPosition{input, bench.integer({3}, {2, 0, 1}), read});
    bench.append(Linear{read, bench.random({2, 2}), std::nullopt, start});
    bench.append(Linear{read, bench.random({2, 2}), std::nullopt, end});
    bench.append(PointAt{start, end, input, scores});
    bench.append(MaskPositions{scores, lengths, masked});
    bench.append(Softmax{masked, output, 1});
    check_bench(bench, output);
  }
}

TEST_CASE("cross-entropy's gradients agree with central differences along every side, smoothed and not",
          "[core][gradient]") {
  for (const double smoothing : {0.0, 0.2})
    for (const int axis : {1, 2}) {
      Bench bench;
      const TensorId logits = bench.random({2, 3, 4}), probabilities = bench.result({2, 3, 4});
      bench.append(Softmax{logits, probabilities, axis});
      const Shape rows = axis == 1 ? Shape{2, 4} : Shape{2, 3};
      const TensorId output = bench.result(rows);
      const TensorId targets = bench.integer(rows, repeated(rows.count(), {1, -1, 0, 2, 1}));
      bench.append(CrossEntropy{logits, probabilities, targets, output, axis, smoothing});
      check_bench(bench, output);
    }
}

TEST_CASE("whole models' gradients agree with central differences, kinks apart", "[core][gradient][model]") {
  Counts total;
  for (const auto& [name, config] : test::every_config()) {
    if (config.objective == Objective::none) continue;
    INFO(name);
    const auto model = test::make_model<double>(config);
    GradientChecker checker(model.graph, model.workspace, {});
    const Counts counts = check_gradients(model.graph, checker, 4);
    CHECK(counts.n_checked > 100);
    total.n_checked += counts.n_checked, total.n_kinks += counts.n_kinks;
  }
  INFO(total.n_kinks << " of " << total.n_checked << " cells cross a kink");
  CHECK(total.n_kinks * 100 <= total.n_checked);
}

/// Ids that a vocabulary of test::base_config() has, other ones for each seed.
std::vector<std::int32_t> some_ids(int count, int seed) {
  std::vector<std::int32_t> ids;
  for (int i = 0; i < count; ++i) ids.push_back(1 + (3 * i + seed) % 10);
  return ids;
}

void check_model(const ModelConfig& config, const TokenBatch& batch, std::int64_t cells_per_tensor) {
  Result<FedBatch> fed = feed(batch, config, "test");
  REQUIRE(fed);
  const auto model = test::make_model<double>(config, *std::move(fed));
  GradientChecker checker(model.graph, model.workspace, {});
  CHECK(check_gradients(model.graph, checker, cells_per_tensor).n_checked > 100);
}

TEST_CASE("a model's gradients agree for 1 to 8 heads by every length from 1 to the longest",
          "[core][gradient][model]") {
  ModelConfig config = test::base_config(Architecture::decoder, Objective::language_model);
  config.n_layers = 1;
  config.max_tokens = 8;
  config.activation = Activation::gelu;
  for (int n_heads = 1; n_heads <= 8; ++n_heads)
    for (int n_tokens = 1; n_tokens <= config.max_tokens; ++n_tokens) {
      config.n_heads = n_heads;
      INFO(n_heads << " heads, " << n_tokens << " tokens");
      // the last of a row is not fed; the second row is shorter
      check_model(config,
                  {.source = {some_ids(n_tokens + 1, n_heads), some_ids((n_tokens + 1) / 2 + 1, n_tokens)}},
                  4);
    }
}

TEST_CASE("a translation's gradients agree for sources that are shorter and longer than their targets",
          "[core][gradient][model]") {
  ModelConfig config = test::base_config(Architecture::encoder_decoder, Objective::language_model);
  config.n_layers = 1;
  config.activation = Activation::gelu;
  for (const int n_source : {1, 3, 5})
    for (const int n_target : {1, 2, 5}) {
      INFO(n_source << " source tokens, " << n_target << " target tokens");
      check_model(config,
                  {.source = {some_ids(n_source, 1), some_ids((n_source + 1) / 2, 2)},
                   .target = {some_ids((n_target + 1) / 2 + 1, 3), some_ids(n_target + 1, 4)}},
                  4);
    }
}

TEST_CASE("gradients agree under dropout and smoothed targets", "[core][gradient][model]") {
  ModelConfig config = test::base_config(Architecture::encoder_decoder, Objective::language_model);
  config.n_layers = 1;
  const auto model = test::make_model<double>(config, {.dropout = 0.3, .label_smoothing = 0.1});
  GradientChecker checker(model.graph, model.workspace, {.dropout_seed = 5, .dropout_step = 1});
  CHECK(check_gradients(model.graph, checker, 10).n_checked > 100);
}

TEST_CASE("a cell at a ReLU's kink is told apart", "[core][gradient]") {
  Bench bench;
  const TensorId input = bench.real({1, 2}, {0, 1}), output = bench.result({1, 2});
  bench.append(Activate{input, output, Activation::relu});
  bench.add_loss(output, {1, 1});
  CHECK(check_gradient(bench.graph(), bench.workspace(), {}, input, {0, 0}).crosses_kink);
  const GradientCheck away = check_gradient(bench.graph(), bench.workspace(), {}, input, {0, 1});
  CHECK_FALSE(away.crosses_kink);
  CHECK(away.analytic == 1);
  CHECK(away.numeric == Approx(1).epsilon(1e-10));
}

TEST_CASE("near a kink the step is shortened until it no longer crosses", "[core][gradient]") {
  Bench bench;
  const TensorId input = bench.real({1, 1}, {1e-4}), output = bench.result({1, 1});
  bench.append(Activate{input, output, Activation::relu});
  bench.add_loss(output, {3});
  const GradientCheck check = check_gradient(bench.graph(), bench.workspace(), {}, input, {0, 0});
  CHECK_FALSE(check.crosses_kink);
  CHECK(check.step == 3e-5);
  CHECK(check.numeric == Approx(3).epsilon(1e-8));
}

TEST_CASE("a wrong gradient is seen", "[core][gradient]") {
  // an operation that the backward pass never saw: the temperature is changed between the passes
  auto model = test::make_model<double>(test::base_config(Architecture::decoder, Objective::language_model));
  const TensorId queries = model.id("decoder.block0.self_attention.queries");
  GradientChecker right(model.graph, model.workspace, {});
  const GradientCheck before = right.check(queries, {0, 0, 2, 1});
  set_switches(model.graph, model.id("decoder.block0.self_attention.scores"), Graph(model.graph),
               {.temperature = 1.01});
  const GradientCheck after = right.check(queries, {0, 0, 2, 1});
  CHECK(std::abs(before.analytic - before.numeric) < 1e-6 * std::abs(before.analytic));
  CHECK(std::abs(after.analytic - after.numeric) > 1e-4 * std::abs(after.analytic));
}

}  // namespace
}  // namespace headscope::core
