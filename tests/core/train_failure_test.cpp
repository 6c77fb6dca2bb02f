// What a training step does when numbers are no longer finite: it names the first of them and changes
// nothing.
#include "core/training/train_step.h"
#include "tests/core/train_step_run.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headscope::core {
namespace {

using test::copy;
using test::same_bits;
using test::small_decoder;
using test::Training;

/// Runs step 1, which must fail, and returns its error; nothing may have moved.
Error failed_step(Training<float>& training) {
  const std::vector<float> parameters = copy(training.parameters());
  const std::vector<float> first = copy(std::as_const(training.step).first_moments());
  const std::vector<float> second = copy(std::as_const(training.step).second_moments());
  const Result<StepReport> report = training.step.run(41);
  REQUIRE_FALSE(report);
  CHECK(same_bits(training.parameters(), std::span<const float>(parameters)));
  CHECK(same_bits(std::as_const(training.step).first_moments(), std::span<const float>(first)));
  CHECK(same_bits(std::as_const(training.step).second_moments(), std::span<const float>(second)));
  return report.error();
}

std::string value_of(const Error& error, std::string_view name) {
  for (const auto& [key, value] : error.values)
    if (key == name) return value;
  return "";
}

TEST_CASE("a number that is not finite stops the step and is named", "[core][training][threads]") {
  const auto act = GENERATE(Activation::relu, Activation::gelu, Activation::gelu_tanh);
  ModelConfig config = small_decoder();
  config.activation = act;
  for (const int n_threads : {1, 2}) {
    Training<float> training(config, {.n_threads = n_threads});
    Workspace<float>& workspace = training.step.workspace();
    const auto values = [&](const char* name) { return workspace.values(training.model.id(name)); };
    SECTION("a parameter") {
      values("decoder.block0.self_attention.w_key")[5] = std::numeric_limits<float>::quiet_NaN();
      const Error error = failed_step(training);
      CHECK(error.key == "training.parameter_not_finite");
      CHECK(value_of(error, "tensor") == "decoder.block0.self_attention.w_key");
      CHECK(value_of(error, "phase") == "parameter");
      CHECK(value_of(error, "step") == "41");
      CHECK(value_of(error, "cell") == "0,1,1");
    }
    SECTION("a parameter before the activation function") {
      values("decoder.block0.feed_forward.b_in")[2] = std::numeric_limits<float>::quiet_NaN();
      CHECK(value_of(failed_step(training), "tensor") == "decoder.block0.feed_forward.b_in");
    }
    SECTION("a sum that overflows below") {
      std::ranges::fill(values("decoder.block0.feed_forward.w_in"), 0.0F);
      std::ranges::fill(values("decoder.block0.norm2.gain"), 0.0F);
      std::ranges::fill(values("decoder.block0.norm2.offset"), 3.0F);
      values("decoder.block0.feed_forward.w_in")[1] = -3e38F;
      const Error error = failed_step(training);
      CHECK(value_of(error, "tensor") == "decoder.block0.feed_forward.hidden");
      CHECK(value_of(error, "phase") == "forward");
      CHECK(value_of(error, "operation") == "linear");
      CHECK(value_of(error, "cell") == "0,0,1");
    }
    SECTION("scores that overflow below, which no mask made") {
      std::ranges::fill(values("decoder.block0.norm1.gain"), 0.0F);
      std::ranges::fill(values("decoder.block0.norm1.offset"), 1.0F);
      std::ranges::fill(values("decoder.block0.self_attention.w_query"), 1e20F);
      std::ranges::fill(values("decoder.block0.self_attention.w_key"), -1e20F);
      const Error error = failed_step(training);
      CHECK(value_of(error, "tensor") == "decoder.block0.self_attention.scores");
    }
    SECTION("a gradient that overflows") {
      // the forward pass is finite: nothing reaches the huge weights but 0, and their slope sends back what
      // they hold
      std::ranges::fill(values("unembedding.bias"), 0.0F);
      std::ranges::fill(values("decoder.block0.feed_forward.w_out"), 0.0F);
      values("decoder.block0.feed_forward.w_out")[0] = 1e38F;
      std::ranges::fill(values("decoder.block0.feed_forward.b_in"), 0.0F);
      std::ranges::fill(values("decoder.block0.feed_forward.w_in"), 0.0F);
      std::ranges::fill(values("decoder.final_norm.offset"), 0.0F);
      std::ranges::fill(values("decoder.final_norm.gain"), 1e3F);
      for (std::size_t place = 0; place < values("unembedding.weight").size(); ++place)
        values("unembedding.weight")[place] = place % 2 == 0 ? 1e20F : -1e20F;
      const Error error = failed_step(training);
      CHECK(error.key == "training.not_finite");
      CHECK(value_of(error, "phase") == "backward");
    }
  }
}

TEST_CASE("an update that would overflow is not made", "[core][training]") {
  for (const OptimiserKind kind : {OptimiserKind::adamw, OptimiserKind::sgd}) {
    // the row of a word that no sentence has: nothing else notices how large its numbers are
    Training<float> training(small_decoder(), {.optimiser = {.kind = kind, .rate = 10, .weight_decay = 0.5}});
    training.step.workspace().values(training.model.id("decoder.token_embedding"))[9 * 6 + 2] = 1e38F;
    const Error error = failed_step(training);
    CHECK(error.key == "training.update_not_finite");
    CHECK(value_of(error, "tensor") == "decoder.token_embedding");
    CHECK(value_of(error, "cell") == "9,2");
    CHECK(value_of(error, "phase") == "update");
    // half as fast it is large and finite, and is made
    Training<float> slower(small_decoder(), {.optimiser = {.kind = kind, .rate = 1, .weight_decay = 0.5}});
    slower.step.workspace().values(slower.model.id("decoder.token_embedding"))[9 * 6 + 2] = 1e38F;
    CHECK(slower.step.run(1));
    CHECK(slower.step.workspace().values(slower.model.id("decoder.token_embedding"))[9 * 6 + 2] < 0.6e38F);
  }
}

TEST_CASE("a number that is not finite is found in a sentence of one token, too", "[core][training]") {
  // its softmax has one key: a lost NaN would leave the weight 0
  const ModelConfig config = small_decoder();
  const Result<FedBatch> fed = feed({.source = {{1, 2}}}, config, "test");
  REQUIRE(fed);
  const test::AnyModel<float> model = test::make_model<float>(config, *fed);
  TrainStep<float> training(model.graph, fed->sizes, {});
  test::draw_parameters(model.graph, training.workspace());
  set_inputs(model.graph, training.workspace(), *fed);
  training.workspace().values(model.id("decoder.block0.self_attention.w_query"))[0] =
      std::numeric_limits<float>::quiet_NaN();
  const Result<StepReport> report = training.run(1);
  REQUIRE_FALSE(report);
  CHECK(value_of(report.error(), "tensor") == "decoder.block0.self_attention.w_query");
}

TEST_CASE("a rate far too high stops a training with its last good parameters", "[core][training]") {
  ModelConfig config = small_decoder();
  config.norm = Norm::none;  // a norm would hide how large the numbers become
  Training<float> training(config, {.optimiser = {.kind = OptimiserKind::sgd, .rate = 1000}});
  std::vector<float> before;
  std::int64_t failed = 0;
  for (std::int64_t number = 1; number <= 200 && failed == 0; ++number) {
    before = copy(training.parameters());
    if (!training.step.run(number)) failed = number;
  }
  REQUIRE(failed > 0);
  CHECK(std::ranges::all_of(training.parameters(), [](float number) { return std::isfinite(number); }));
  CHECK(same_bits(training.parameters(), std::span<const float>(before)));
}

}  // namespace
}  // namespace headscope::core
