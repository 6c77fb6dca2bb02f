// A head's numbers do not depend on its index: equal slices of the learned matrices give equal bits in every
// head, forward and backward; and heads that change places change nothing else.
#include "core/training/train_step.h"
#include "tests/core/every_model.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

namespace headscope::core {
namespace {

/// Whether all heads hold the bits of the first. The head is side `place` of the shape.
template <class T>
bool heads_are_equal(std::span<const T> values, const Shape& shape, int place) {
  std::size_t n_before = 1, n_after = 1;
  for (int side = 0; side < place; ++side) n_before *= static_cast<std::size_t>(shape[side]);
  for (int side = place + 1; side < shape.rank(); ++side) n_after *= static_cast<std::size_t>(shape[side]);
  const auto n_heads = static_cast<std::size_t>(shape[place]);
  for (std::size_t b = 0; b < n_before; ++b)
    for (std::size_t h = 1; h < n_heads; ++h)
      if (std::memcmp(&values[b * n_heads * n_after], &values[(b * n_heads + h) * n_after],
                      n_after * sizeof(T)) != 0)
        return false;
  return true;
}

/// Runs a model with equal heads and holds every tensor that has a side of heads.
template <class T>
void check_equal_heads(const ModelConfig& config, const FedBatch& fed) {
  auto model = test::make_model<T>(config, fed);
  equalise_heads(model.graph, model.workspace, 0, 1);
  model.run();
  int n_values = 0, n_gradients = 0;
  for (std::uint32_t index = 0; index < model.graph.n_tensors(); ++index) {
    const TensorSpec& spec = model.graph.spec({index});
    const int place = spec.shape.find(Axis::head);
    if (place < 0) continue;
    INFO(spec.name << " with " << config.n_heads << " heads of width " << config.d_head);
    const Workspace<T>& workspace = model.workspace;
    const Shape& shape = workspace.shape({index});
    REQUIRE(heads_are_equal<T>(workspace.values({index}), shape, place));
    ++n_values;
    if (!workspace.has_gradient({index})) continue;
    INFO("gradient");
    REQUIRE(heads_are_equal<T>(workspace.gradients({index}), shape, place));
    ++n_gradients;
  }
  CHECK(n_values >= 8 + 7);  // queries to head_output and the learned slices
  CHECK(n_gradients == n_values);
}

/// Rows long enough that a kernel takes whole vectors and a rest.
FedBatch long_rows(const ModelConfig& config) {
  TokenBatch batch;
  for (const int length : {12, 20, 3}) {
    std::vector<std::int32_t>& row = batch.source.emplace_back();
    for (int i = 0; i < length; ++i) row.push_back(1 + (i * 7 + length) % 10);
  }
  if (config.architecture == Architecture::encoder_decoder) batch.target = batch.source;
  const Result<FedBatch> fed = feed(batch, config, "test");
  REQUIRE(fed);
  return *fed;
}

ModelConfig wide_config(Architecture architecture) {
  ModelConfig config = test::base_config(architecture, Objective::language_model);
  config.d_model = 24;
  config.n_layers = 1;
  config.max_tokens = 20;
  return config;
}

TEMPLATE_TEST_CASE(
    "identical heads hold identical bits, forward and backward, for 1 to 8 heads of width 4 to 32",
    "[core][heads]", float, double) {
  for (std::int64_t n_heads = 1; n_heads <= 8; ++n_heads)
    for (std::int64_t d_head = 4; d_head <= 32; ++d_head) {
      ModelConfig config = wide_config(Architecture::decoder);
      config.n_heads = n_heads;
      config.d_head = d_head;
      config.positions = d_head % 2 == 0 ? Positions::relative : Positions::learned;
      check_equal_heads<TestType>(config, long_rows(config));
    }
}

TEMPLATE_TEST_CASE("identical heads hold identical bits in every kind of model", "[core][heads]", float,
                   double) {
  for (auto [name, config] : test::every_config()) {
    if (config.objective == Objective::none) continue;  // nothing flows back
    INFO(name);
    config.n_heads = 3;
    config.d_head = 5;
    config.bias = true;  // for as many slices to look at
    const Result<FedBatch> fed = feed(test::any_batch(config), config, "test");
    REQUIRE(fed);
    check_equal_heads<TestType>(config, *fed);
  }
}

TEMPLATE_TEST_CASE("identical heads stay identical to the bit in training", "[core][heads][training]", float,
                   double) {
  for (std::int64_t n_heads = 1; n_heads <= 8; ++n_heads)
    for (std::int64_t d_head = 4; d_head <= 32; ++d_head) {
      ModelConfig config = wide_config(Architecture::decoder);
      config.n_heads = n_heads;
      config.d_head = d_head;
      config.positions = d_head % 2 == 0 ? Positions::relative : Positions::learned;
      const auto model = test::make_model<TestType>(config, long_rows(config));
      TrainStep<TestType> training(model.graph, model.fed.sizes,
                                   {.optimiser = {.rate = 1e-2, .weight_decay = 0.1, .clip_norm = 1},
                                    .n_threads = d_head % 2 == 0 ? 1 : 2});
      Workspace<TestType>& workspace = training.workspace();
      test::draw_parameters(model.graph, workspace);
      set_inputs(model.graph, workspace, model.fed);
      equalise_heads(model.graph, workspace, 0, 1);
      const TensorId queries = model.id("decoder.block0.self_attention.w_query");
      const TestType before = workspace.values(queries)[0];
      for (std::int64_t step = 1; step <= 3; ++step) REQUIRE(training.run(step));
      CHECK(workspace.values(queries)[0] != before);
      for (std::uint32_t index = 0; index < model.graph.n_tensors(); ++index) {
        const TensorSpec& spec = model.graph.spec({index});
        const int place = spec.shape.find(Axis::head);
        if (place < 0) continue;
        INFO(spec.name << " with " << n_heads << " heads of width " << d_head);
        REQUIRE(heads_are_equal<TestType>(std::as_const(workspace).values({index}), workspace.shape({index}),
                                          place));
      }
    }
}

TEST_CASE("equal heads get noise of the deviation that is asked for", "[core][heads]") {
  ModelConfig config = wide_config(Architecture::decoder);
  config.n_heads = 4;
  config.d_head = 16;
  auto model = test::make_model<double>(config, long_rows(config));
  auto other = test::make_model<double>(config, long_rows(config));
  equalise_heads(model.graph, model.workspace, 0, 1);
  equalise_heads(other.graph, other.workspace, 1e-4, 1);
  const TensorId queries = model.id("decoder.block0.self_attention.w_query");
  const auto equal = std::as_const(model.workspace).values(queries);
  const auto noisy = std::as_const(other.workspace).values(queries);
  double sum = 0, squares = 0;
  for (std::size_t at = 0; at < equal.size(); ++at) {
    sum += noisy[at] - equal[at];
    squares += (noisy[at] - equal[at]) * (noisy[at] - equal[at]);
  }
  const auto n = static_cast<double>(equal.size());
  CHECK(std::abs(sum / n) < 4 * 1e-4 / std::sqrt(n));                           // 4 standard errors of a mean
  CHECK(std::sqrt(squares / n) == Approx(1e-4).epsilon(4 / std::sqrt(2 * n)));  // and of a deviation
  CHECK_FALSE(heads_are_equal<double>(noisy, other.workspace.shape(queries), 0));
  // what has no heads is left alone
  const TensorId table = model.id("decoder.token_embedding");
  CHECK(std::ranges::equal(model.workspace.values(table), other.workspace.values(table)));
}

TEMPLATE_TEST_CASE("heads that change places with their slices leave the output the same", "[core][heads]",
                   float, double) {
  // sums over heads in another order: a few roundings of numbers near 1
  constexpr double kTolerance = std::is_same_v<TestType, float> ? 1e-5 : 1e-13;
  for (auto [name, config] : test::every_config()) {
    INFO(name);
    config.n_heads = 3;
    auto model = test::make_model<TestType>(config);
    auto turned = test::make_model<TestType>(config);
    for (std::uint32_t index = 0; index < turned.graph.n_tensors(); ++index) {
      const TensorSpec& spec = turned.graph.spec({index});
      if (spec.role != Role::parameter || spec.shape[0].axis != Axis::head) continue;
      const auto values = turned.workspace.values({index});
      std::ranges::rotate(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 3));
    }
    model.run();
    turned.run();
    const bool is_encoder = config.architecture == Architecture::encoder;
    for (const char* tensor : {is_encoder ? "encoder.output" : "decoder.output", "loss"}) {
      const std::optional<TensorId> id = model.graph.find(tensor);
      if (!id) continue;
      const auto left = model.workspace.values(*id), right = turned.workspace.values(*id);
      for (std::size_t at = 0; at < left.size(); ++at)
        REQUIRE(std::abs(static_cast<double>(left[at]) - static_cast<double>(right[at])) <=
                kTolerance * std::max(1.0, std::abs(static_cast<double>(left[at]))));
    }
    // and the heads have changed places: the first now stands last
    const std::string stack = is_encoder ? "encoder" : "decoder";
    const TensorId weights = model.id(stack + ".block0.self_attention.weights");
    const Shape& shape = model.workspace.shape(weights);
    for (std::int64_t i = 0; i < shape[2]; ++i)
      CHECK(model.workspace.values(weights)[static_cast<std::size_t>(shape.flat({0, 0, i, 0}))] ==
            turned.workspace.values(weights)[static_cast<std::size_t>(shape.flat({0, 2, i, 0}))]);
  }
}

}  // namespace
}  // namespace headscope::core
