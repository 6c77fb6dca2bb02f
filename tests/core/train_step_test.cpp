// The training step: the same bits for any number of threads and any viewer, and agreement with the stepper.
// What it does when numbers are no longer finite: train_failure_test.cpp.
#include "core/training/train_step.h"
#include "core/benchmark.h"
#include "core/random.h"
#include "core/stepper.h"
#include "core/training/watch.h"
#include "tests/core/train_step_run.h"

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

using test::copy;
using test::same_bits;
using test::small_decoder;
using test::Training;

OptimiserConfig busy_optimiser() {
  return {.rate = 3e-3,
          .weight_decay = 0.01,
          .clip_norm = 1,
          .schedule = Schedule::cosine,
          .warm_up = 50,
          .total_steps = 1000,
          .final_share = 0.1};
}

TEST_CASE("1,000 steps give the same bits for 1, 2 and 3 threads, watched or not",
          "[core][training][threads]") {
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

TEMPLATE_TEST_CASE("every model trains alike on 1 and 3 threads, and its loss falls",
                   "[core][training][threads]", float, double) {
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

TEMPLATE_TEST_CASE("a step of the trainer is the stepper's, to the bit", "[core][training][threads]", float,
                   double) {
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
          "[core][training][threads]") {
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
