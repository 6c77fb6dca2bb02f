// The training step: the same bits for any number of threads and any viewer, agreement with the stepper, and
// what happens when numbers are no longer finite.
#include "core/training/train_step.h"
#include "core/benchmark.h"
#include "core/random.h"
#include "core/stepper.h"
#include "core/training/watch.h"
#include "tests/core/every_model.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

namespace headscope::core {
namespace {

template <class T>
std::vector<T> copy(std::span<const T> numbers) {
  return {numbers.begin(), numbers.end()};
}
template <class T>
bool same_bits(std::span<const T> left, std::span<const T> right) {
  return left.size() == right.size() &&
         (left.empty() || std::memcmp(left.data(), right.data(), left.size_bytes()) == 0);
}

ModelConfig small_decoder() {
  ModelConfig config = test::base_config(Architecture::decoder, Objective::language_model);
  config.activation = Activation::gelu;
  config.n_layers = 1;
  return config;
}

OptimiserConfig busy_optimiser() {
  return {.rate = 3e-3,
          .weight_decay = 0.01,
          .clip_norm = 1,
          .schedule = Schedule::cosine,
          .warm_up = 50,
          .total_steps = 1000,
          .final_share = 0.1};
}

/// A trainer of one of the test models, its parameters and its batch set.
template <class T>
struct Training {
  test::AnyModel<T> model;
  TrainStep<T> step;

  Training(const ModelConfig& config, const TrainOptions& options, const GraphOptions& graph = {})
      : model(test::make_model<T>(config, graph)), step(model.graph, model.fed.sizes, options) {
    test::draw_parameters(model.graph, step.workspace());
    set_inputs(model.graph, step.workspace(), model.fed);
  }
  void run(std::int64_t n_steps) {
    for (std::int64_t number = 1; number <= n_steps; ++number) REQUIRE(step.run(number));
  }
  std::span<const T> parameters() const { return step.workspace().parameters(); }
};

TEST_CASE("1,000 steps give the same bits for 1, 2 and 3 threads, watched or not", "[core][training]") {
  const GraphOptions graph{.dropout = 0.1, .label_smoothing = 0.1};
  Training<float> alone(small_decoder(), {.optimiser = busy_optimiser(), .seed = 7}, graph);
  alone.run(1000);
  for (const int n_threads : {1, 2, 3}) {
    Training<float> training(small_decoder(),
                             {.optimiser = busy_optimiser(), .seed = 7, .n_threads = n_threads}, graph);
    WatchedTensors watched;
    for (std::uint32_t index = 0; index < training.model.graph.n_tensors(); ++index)
      if (training.model.graph.spec({index}).role == Role::activation) watched.tensors.push_back({index});
    Watch<float> watch(training.step, watched);
    std::int64_t last_seen = 0;
    for (std::int64_t number = 1; number <= 1000; ++number) {
      const Result<StepReport> report = training.step.run(number);
      REQUIRE(report);
      if (watch.is_wanted()) watch.publish(training.step, number, *report);
      if (number % 3 != 0) continue;
      const Snapshot<float>* snapshot = watch.take();
      REQUIRE(snapshot);
      CHECK(snapshot->step > last_seen);
      last_seen = snapshot->step;
    }
    INFO(n_threads << " threads");
    CHECK(same_bits(training.parameters(), alone.parameters()));
    CHECK(same_bits(std::as_const(training.step).first_moments(), std::as_const(alone.step).first_moments()));
    CHECK(
        same_bits(std::as_const(training.step).second_moments(), std::as_const(alone.step).second_moments()));
  }
}

TEMPLATE_TEST_CASE("every model trains alike on 1 and 3 threads, and its loss falls", "[core][training]",
                   float, double) {
  for (const auto& [name, config] : test::every_config()) {
    if (config.objective == Objective::none) continue;
    INFO(name);
    const OptimiserConfig optimiser{.rate = 5e-3};
    Training<TestType> one(config, {.optimiser = optimiser}),
        three(config, {.optimiser = optimiser, .n_threads = 3});
    const Result<StepReport> first = one.step.run(1);
    REQUIRE(first);
    REQUIRE(three.step.run(1));
    double loss = 0;
    for (std::int64_t number = 2; number <= 30; ++number) {
      const Result<StepReport> report = one.step.run(number);
      REQUIRE(report);
      REQUIRE(three.step.run(number));
      loss = report->loss;
    }
    CHECK(loss < first->loss);
    CHECK(same_bits(one.parameters(), three.parameters()));
  }
}

TEMPLATE_TEST_CASE("a step of the trainer is the stepper's, to the bit", "[core][training]", float, double) {
  for (const auto& [name, config] : test::every_objective()) {
    if (config.objective == Objective::none) continue;
    for (const OptimiserKind kind : {OptimiserKind::adamw, OptimiserKind::sgd}) {
      INFO(name);
      const OptimiserConfig optimiser{
          .kind = kind, .rate = 1e-2, .momentum = 0.9, .weight_decay = 0.05, .clip_norm = 0.1};
      Training<TestType> training(config, {.optimiser = optimiser, .n_threads = 2});
      Stepper<TestType> stepper(training.model.graph, training.model.fed.sizes);
      test::draw_parameters(training.model.graph, stepper.workspace());
      set_inputs(training.model.graph, stepper.workspace(), training.model.fed);
      stepper.set_optimiser(optimiser, 1, {}, {});
      stepper.restart();
      stepper.move_to(stepper.steps().size());
      const Result<StepReport> report = training.step.run(1);
      REQUIRE(report);
      CHECK(same_bits(training.parameters(), std::as_const(stepper).workspace().parameters()));
      CHECK(same_bits(std::as_const(training.step.workspace()).parameter_gradients(),
                      std::as_const(stepper).workspace().parameter_gradients()));
    }
  }
}

TEST_CASE("a frozen parameter stays, and no longer counts for the norm", "[core][training]") {
  const test::AnyModel<float> model = test::make_model<float>(small_decoder());
  const TensorId frozen = model.id("decoder.block0.self_attention.w_value");
  Training<float> free(small_decoder(), {}), training(small_decoder(), {.frozen = {frozen}});
  const std::vector<float> before = copy(std::as_const(training.step).workspace().values(frozen));
  const Result<StepReport> with = free.step.run(1), without = training.step.run(1);
  REQUIRE((with && without));
  CHECK(same_bits(std::as_const(training.step).workspace().values(frozen), std::span<const float>(before)));
  CHECK_FALSE(same_bits(std::as_const(free.step).workspace().values(frozen), std::span<const float>(before)));
  CHECK(without->gradient_norm < with->gradient_norm);
}

TEST_CASE("training with cells set by hand sends nothing through them, on any number of threads",
          "[core][training]") {
  const test::AnyModel<float> model = test::make_model<float>(small_decoder());
  const TensorId output = model.id("decoder.block0.self_attention.head_output");
  const TensorId queries = model.id("decoder.block0.self_attention.queries");
  Interventions interventions;
  interventions.overrides.push_back(zero_head(model.graph, output, 1));
  interventions.overrides.push_back(set_cell(queries, {0, 0, 1, 2}, 0.5));
  Training<float> one(small_decoder(), {.interventions = &interventions});
  Training<float> three(small_decoder(), {.n_threads = 3, .interventions = &interventions});
  const TensorId w_value = model.id("decoder.block0.self_attention.w_value");
  const std::vector<float> before = copy(std::as_const(one.step).workspace().values(w_value));
  one.run(5);
  three.run(5);
  CHECK(same_bits(one.parameters(), three.parameters()));
  // the second head's values reach nothing, so its matrix stays; the first one's moves
  const std::span<const float> after = std::as_const(one.step).workspace().values(w_value);
  const std::size_t half = before.size() / 2;
  CHECK(same_bits(after.subspan(half), std::span<const float>(before).subspan(half)));
  CHECK_FALSE(same_bits(after.first(half), std::span<const float>(before).first(half)));
  // and the gradients are the stepper's, which holds them back operation by operation
  Stepper<float> stepper(model.graph, model.fed.sizes);
  test::draw_parameters(model.graph, stepper.workspace());
  set_inputs(model.graph, stepper.workspace(), model.fed);
  stepper.set_options({.interventions = &interventions});
  stepper.restart();
  stepper.move_to(stepper.steps().update_begin());
  Training<float> fresh(small_decoder(), {.n_threads = 2, .interventions = &interventions});
  fresh.run(1);
  CHECK(same_bits(std::as_const(fresh.step).workspace().parameter_gradients(),
                  std::as_const(stepper).workspace().parameter_gradients()));
}

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

TEST_CASE("a number that is not finite stops the step and is named", "[core][training]") {
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
      std::ranges::fill(values("decoder.final_norm.gain"), 1e-20F);
      std::ranges::fill(values("decoder.final_norm.offset"), 0.0F);
      std::ranges::fill(values("unembedding.bias"), 0.0F);
      for (std::size_t place = 0; place < values("unembedding.weight").size(); ++place)
        values("unembedding.weight")[place] = place % 2 == 0 ? 1e18F : -1e18F;
      std::ranges::fill(values("decoder.block0.feed_forward.w_out"), 0.0F);
      values("decoder.block0.feed_forward.w_out")[0] = 1e38F;
      std::ranges::fill(values("decoder.block0.feed_forward.b_in"), 0.0F);
      std::ranges::fill(values("decoder.block0.feed_forward.w_in"), 0.0F);
      std::ranges::fill(values("decoder.final_norm.offset"), 0.0F);
      std::ranges::fill(values("decoder.final_norm.gain"), 1e3F);
      std::ranges::fill(values("unembedding.weight"), 0.0F);
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

TEST_CASE("a shorter batch in a trainer that held a longer one gives the bits of a fresh one",
          "[core][training]") {
  for (const auto& [name, config] : test::every_objective()) {
    if (config.objective == Objective::none) continue;
    INFO(name);
    Training<float> training(config, {});
    TokenBatch small = test::any_batch(config);
    const auto cut = [](auto& rows) {
      if (rows.size() > 2) rows.resize(2);
    };
    cut(small.source), cut(small.target), cut(small.label), cut(small.span), cut(small.read),
        cut(small.labels);
    std::ranges::reverse(small.source), std::ranges::reverse(small.target), std::ranges::reverse(small.label);
    std::ranges::reverse(small.span), std::ranges::reverse(small.read), std::ranges::reverse(small.labels);
    const Result<FedBatch> fed = feed(small, config, "test");
    REQUIRE(fed);
    training.run(1);
    TrainStep<float> fresh(training.model.graph, fed->sizes, {});
    std::ranges::copy(training.parameters(), fresh.workspace().parameters().begin());
    std::ranges::copy(std::as_const(training.step).first_moments(), fresh.first_moments().begin());
    std::ranges::copy(std::as_const(training.step).second_moments(), fresh.second_moments().begin());
    // whatever is left of the longer batch must not be read
    Workspace<float>& workspace = training.step.workspace();
    for (std::uint32_t index = 0; index < training.model.graph.n_tensors(); ++index) {
      const TensorSpec& spec = training.model.graph.spec({index});
      if (spec.role != Role::activation || spec.shape[0].axis != Axis::batch) continue;
      std::ranges::fill(workspace.values({index}), std::numeric_limits<float>::quiet_NaN());
      if (workspace.has_gradient({index}))
        std::ranges::fill(workspace.gradients({index}), std::numeric_limits<float>::quiet_NaN());
    }
    set_inputs(training.model.graph, workspace, *fed);
    set_inputs(training.model.graph, fresh.workspace(), *fed);
    REQUIRE(training.step.run(2));
    REQUIRE(fresh.run(2));
    CHECK(same_bits(training.parameters(), std::as_const(fresh).workspace().parameters()));
  }
}

TEST_CASE("parts of a parameter's gradient make the whole, bit for bit", "[core][training]") {
  for (auto [name, config] : test::every_config()) {
    if (config.objective == Objective::none) continue;
    INFO(name);
    config.d_model = 40, config.d_ff = 50;  // several parts of 16 rows, the last one smaller
    auto model = test::make_model<float>(config);
    model.run();
    const std::vector<float> whole = copy(std::as_const(model.workspace).parameter_gradients());
    for (const std::int64_t count : {2, 3, 7}) {
      std::ranges::fill(model.workspace.parameter_gradients(), std::numeric_limits<float>::quiet_NaN());
      for (const std::size_t operation : model.workspace.gradient_plan().operations())
        for (std::int64_t index = count; index-- > 0;)
          run_parameters_backward(model.graph, model.workspace, operation, {index, count});
      for (std::uint32_t index = 0; index < model.graph.n_tensors(); ++index) {
        if (model.graph.spec({index}).role != Role::parameter || !model.workspace.has_gradient({index}))
          continue;
        INFO(model.graph.spec({index}).name << " in " << count << " parts");
        const std::span<const float> gradients = std::as_const(model.workspace).gradients({index});
        CHECK(same_bits(gradients, std::span<const float>(whole).subspan(
                                       model.workspace.plan().offset({index}), gradients.size())));
      }
    }
  }
}

TEMPLATE_TEST_CASE("an updated number's bits do not depend on where it stands", "[core][training]", float,
                   double) {
  Rng rng(3);
  const auto draw = [&rng](std::size_t count) {
    std::vector<TestType> numbers(count);
    for (TestType& number : numbers) number = static_cast<TestType>(std::abs(rng.normal()));
    return numbers;
  };
  constexpr std::size_t kMost = 40;
  const std::vector<TestType> values = draw(kMost), gradients = draw(kMost), first = draw(kMost),
                              second = draw(kMost);
  for (const OptimiserKind kind : {OptimiserKind::adamw, OptimiserKind::sgd}) {
    const OptimiserConfig config{.kind = kind, .rate = 0.1, .momentum = 0.9, .weight_decay = 0.05};
    const UpdateFactors factors = factors_at(config, 3, 1);
    std::vector<TestType> alone;  // each number in a run of its own
    for (std::size_t place = 0; place < kMost; ++place) {
      TestType value = values[place], m = first[place], v = second[place];
      update_numbers<TestType>(config, factors, {&value, 1}, {&gradients[place], 1}, {&m, 1}, {&v, 1});
      alone.push_back(value);
    }
    for (std::size_t begin = 0; begin < 16; ++begin)
      for (std::size_t end = begin + 1; end <= kMost; ++end) {
        std::vector<TestType> together = values, m = first, v = second;
        const std::size_t n = end - begin;
        update_numbers<TestType>(config, factors, std::span(together).subspan(begin, n),
                                 std::span(gradients).subspan(begin, n), std::span(m).subspan(begin, n),
                                 std::span(v).subspan(begin, n));
        REQUIRE(std::memcmp(&together[begin], &alone[begin], n * sizeof(TestType)) == 0);
      }
  }
}

TEST_CASE("a snapshot holds one row of each watched tensor, its gradient and the parameters",
          "[core][training]") {
  Training<float> training(small_decoder(), {});
  const TensorId scores = training.model.id("decoder.block0.self_attention.scores");
  const TensorId loss = training.model.id("loss"), gain = training.model.id("decoder.final_norm.gain");
  Watch<float> watch(training.step, {.tensors = {scores, loss, gain}, .row = 1});
  CHECK(watch.take() == nullptr);
  CHECK(watch.is_wanted());
  const Result<StepReport> report = training.step.run(1);
  REQUIRE(report);
  watch.publish(training.step, 1, *report);
  CHECK_FALSE(watch.is_wanted());
  const std::vector<float> parameters = copy(training.parameters());
  const auto row = [&](std::span<const float> numbers) {
    return copy(numbers.subspan(numbers.size() / 4, numbers.size() / 4));
  };
  const std::vector<float> values = row(std::as_const(training.step).workspace().values(scores));
  const std::vector<float> gradients = row(std::as_const(training.step).workspace().gradients(scores));
  REQUIRE(training.step.run(2));  // the snapshot is a copy
  const Snapshot<float>* snapshot = watch.take();
  REQUIRE(snapshot);
  CHECK(snapshot->step == 1);
  CHECK(snapshot->report.loss == report->loss);
  const auto& part = snapshot->parts[0];
  REQUIRE(part.has_gradients);
  CHECK(part.shape == Shape{1, 2, 5, 5});
  CHECK(same_bits(std::span(snapshot->numbers).subspan(part.values, part.count),
                  std::span<const float>(values)));
  CHECK(same_bits(std::span(snapshot->numbers).subspan(part.gradients, part.count),
                  std::span<const float>(gradients)));
  CHECK_FALSE(snapshot->parts[1].has_gradients);
  CHECK(snapshot->numbers[snapshot->parts[1].values] == Approx(report->loss));
  CHECK(same_bits(std::span<const float>(snapshot->parameters), std::span<const float>(parameters)));
  CHECK(watch.take() == nullptr);  // nothing newer
  // two publications between two looks: the newest wins
  watch.publish(training.step, 2, *report);
  watch.publish(training.step, 3, *report);
  const Snapshot<float>* newest = watch.take();
  REQUIRE(newest);
  CHECK(newest->step == 3);
}

TEST_CASE("a viewer on another thread sees whole snapshots, in order", "[core][training][threads]") {
  Training<float> training(small_decoder(), {.n_threads = 2});
  const TensorId loss = training.model.id("loss");
  Watch<float> watch(training.step, {.tensors = {loss}});
  std::atomic<bool> is_over{false};
  std::int64_t last = 0, n_seen = 0;
  bool is_in_order = true, is_whole = true;
  std::thread viewer([&] {
    while (!is_over.load()) {
      const Snapshot<float>* snapshot = watch.take();
      if (!snapshot) continue;
      is_in_order = is_in_order && snapshot->step > last;
      is_whole = is_whole && static_cast<float>(snapshot->report.loss) == snapshot->numbers[0];
      last = snapshot->step;
      ++n_seen;
    }
  });
  for (std::int64_t number = 1; number <= 300; ++number) {
    const Result<StepReport> report = training.step.run(number);
    if (report && watch.is_wanted()) watch.publish(training.step, number, *report);
  }
  is_over = true;
  viewer.join();
  CHECK(is_in_order);
  CHECK(is_whole);
  CHECK(n_seen > 0);
}

TEST_CASE("memory is parameters, moments, gradients and activations, each once, and little more",
          "[core][training]") {
  for (const BenchmarkSize& size : benchmark_sizes()) {
    const Result<Graph> graph = build_graph(config_of(size), "test");
    REQUIRE(graph);
    const Sizes sizes{size.n_batch, size.n_tokens, 0};
    const GradientPlan gradients(*graph);
    double needed = 4 * count_reals(*graph, sizes, Role::parameter);  // value, gradient, two moments
    for (std::uint32_t index = 0; index < graph->n_tensors(); ++index) {
      const TensorSpec& spec = graph->spec({index});
      if (spec.role == Role::activation)
        needed +=
            static_cast<double>(bind(spec.shape, sizes).count()) * (gradients.has_gradient({index}) ? 2 : 1);
    }
    const Plan plan(*graph, gradients, sizes);
    const auto taken = static_cast<double>(plan.n_reals() + plan.n_gradients() + 2 * plan.n_parameters());
    INFO("size " << size.name);
    CHECK(taken >= needed);
    CHECK(taken <= 1.1 * needed);  // what aligns each tensor to a cache line
  }
}

TEST_CASE("threads share every item once", "[core][training][threads]") {
  for (const int n_threads : {1, 2, 3, 5}) {
    ThreadPool pool(n_threads);
    CHECK(pool.n_threads() == n_threads);
    for (const std::int64_t n_items : {0, 1, 2, 7, 100})
      for (int round = 0; round < 50; ++round) {
        std::vector<int> counts(static_cast<std::size_t>(n_items), 0);
        pool.run(n_items, [&](std::int64_t item) { ++counts[static_cast<std::size_t>(item)]; });
        REQUIRE(std::ranges::all_of(counts, [](int count) { return count == 1; }));
      }
  }
}

}  // namespace
}  // namespace headscope::core
