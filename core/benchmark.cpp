#include "core/benchmark.h"

#include "core/formats/token_batch.h"
#include "core/random.h"
#include "core/simd.h"
#include "core/training/watch.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <chrono>
#include <memory>
#include <utility>

namespace headscope::core {
namespace {

constexpr std::array kSizes = {
    BenchmarkSize{"S", 32, 4, 64, 1, 12, 16, 64},
    BenchmarkSize{"M", 64, 4, 256, 2, 32, 32, 256},
    BenchmarkSize{"L", 256, 8, 1024, 4, 128, 16, 1024},
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> numbers) {
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::ranges::nth_element(numbers, middle);
  return *middle;
}

/// Rows of n_tokens + 1 random ids: as many are fed as the size says.
TokenBatch random_batch(const BenchmarkSize& size) {
  Rng rng(1);
  TokenBatch batch;
  for (std::int64_t b = 0; b < size.n_batch; ++b) {
    std::vector<std::int32_t>& row = batch.source.emplace_back();
    for (std::int64_t i = 0; i <= size.n_tokens; ++i)
      row.push_back(1 + static_cast<std::int32_t>(rng.uniform() * static_cast<double>(size.n_vocab - 1)));
  }
  return batch;
}

}  // namespace

std::span<const BenchmarkSize> benchmark_sizes() {
  return kSizes;
}

ModelConfig config_of(const BenchmarkSize& size) {
  ModelConfig config;
  config.architecture = Architecture::decoder;
  config.objective = Objective::language_model;
  config.vocab_size = size.n_vocab;
  config.d_model = size.d_model;
  config.n_heads = size.n_heads;
  config.d_head = size.d_model / size.n_heads;
  config.n_layers = size.n_layers;
  config.d_ff = size.d_ff;
  config.max_tokens = size.n_tokens;
  config.positions = Positions::learned;
  config.norm = Norm::pre;
  config.activation = Activation::gelu;
  config.bias = true;
  return config;
}

double measure_fma_peak() {
  constexpr std::int64_t kSteps = 100000, kRuns = 40;
  constexpr std::size_t kChains = kVectorRegisters == 32 ? 24 : 12;  // more than units times latency
  volatile float opaque = 1;                                         // so that nothing is folded
  const Vector<float> factor = broadcast(opaque + 0), addend = broadcast(opaque - 1);
  double best = 0;
  for (std::int64_t run = 0; run < kRuns; ++run) {
    std::array<Vector<float>, kChains> chains;
    chains.fill(factor);
    const auto start = std::chrono::steady_clock::now();
    for (std::int64_t step = 0; step < kSteps; ++step)
#pragma GCC unroll 24
      for (std::size_t chain = 0; chain < kChains; ++chain) chains[chain] = chains[chain] * factor + addend;
    const double seconds = seconds_since(start);
    for (const Vector<float>& chain : chains) opaque = opaque + chain[0] - 1;
    best = std::max(best, 2.0 * static_cast<double>(kSteps * kLanes<float>) * kChains / seconds * 1e-9);
  }
  return best;
}

double step_operations(const Graph& graph, const Sizes& sizes) {
  constexpr double kPasses = 3;  // forward, by the left operand, by the right one
  double multiply_adds = 0;
  for (const Operation& operation : graph.operations()) {
    const Shape out = bind(graph.spec(result(operation)).shape, sizes);
    const auto summed = [&](TensorId left, int side) {
      return static_cast<double>(bind(graph.spec(left).shape, sizes)[side]);
    };
    const double cells = static_cast<double>(out.count());
    if (const auto* project = std::get_if<ProjectHeads>(&operation))
      multiply_adds += cells * summed(project->input, 2);
    if (const auto* scores = std::get_if<Scores>(&operation))
      multiply_adds += cells * summed(scores->queries, 3);
    if (const auto* mix = std::get_if<MixValues>(&operation))
      multiply_adds += cells * summed(mix->weights, 3);
    if (const auto* linear = std::get_if<Linear>(&operation))
      multiply_adds += cells * summed(linear->input, graph.spec(linear->input).shape.rank() - 1);
    if (const auto* outputs = std::get_if<ProjectOutputs>(&operation))
      multiply_adds += cells * summed(outputs->input, 2);
  }
  return 2 * kPasses * multiply_adds;
}

namespace {

/// A model of that size, its batch set.
struct Training {
  Graph graph;
  FedBatch batch;
  TrainStep<float> step;

  Training(Graph made, FedBatch fed, int n_threads)
      : graph(std::move(made)), batch(std::move(fed)), step(graph, batch.sizes, {.n_threads = n_threads}) {
    initialise_parameters(graph, step.workspace(), 1, 0.3);
    set_inputs(graph, step.workspace(), batch);
  }
};

std::unique_ptr<Training> make_training(const BenchmarkSize& size, int n_threads) {
  const ModelConfig config = config_of(size);
  Result<Graph> graph = build_graph(config, "benchmark");
  Result<FedBatch> batch = feed(random_batch(size), config, "benchmark");
  assert(graph && batch && "the sizes are valid");
  return std::make_unique<Training>(*std::move(graph), *std::move(batch), n_threads);
}

}  // namespace

BenchmarkRun run_benchmark(const BenchmarkSize& size, int n_threads, double seconds) {
  const std::unique_ptr<Training> training = make_training(size, n_threads);
  constexpr std::int64_t kWarmUp = 3, kFewest = 5;
  std::vector<double> times;
  const auto start = std::chrono::steady_clock::now();
  for (std::int64_t step = 1; step <= kWarmUp + kFewest || seconds_since(start) < seconds; ++step) {
    const auto begin = std::chrono::steady_clock::now();
    [[maybe_unused]] const Result<StepReport> report = training->step.run(step);
    assert(report);
    if (step > kWarmUp) times.push_back(seconds_since(begin));
  }
  const double middle = median(times);
  return {static_cast<std::int64_t>(times.size()), middle * 1e3,
          step_operations(training->graph, training->batch.sizes) / middle * 1e-9};
}

double measure_watching(const BenchmarkSize& size, int n_threads, double seconds) {
  const std::unique_ptr<Training> training = make_training(size, n_threads);
  WatchedTensors watched;
  for (const std::string_view part : {"scores", "weights", "values"})
    for (std::uint32_t index = 0; index < training->graph.n_tensors(); ++index)
      if (leaf(training->graph.spec({index}).name) == part) watched.tensors.push_back({index});
  Watch<float> watch(training->step, watched);

  constexpr double kStretch = 0.1, kFrame = 1.0 / 60;  // seconds
  std::int64_t step = 0;
  const auto ms_per_step = [&](bool is_watched) {
    const auto start = std::chrono::steady_clock::now();
    double next_frame = 0;
    std::int64_t n_steps = 0;
    for (; n_steps == 0 || seconds_since(start) < kStretch; ++n_steps) {
      const Result<StepReport> report = training->step.run(++step);
      assert(report);
      if (!is_watched) continue;
      if (watch.is_wanted()) watch.publish(training->step, step, *report);
      if (seconds_since(start) < next_frame) continue;
      watch.take();
      next_frame += kFrame;
    }
    return seconds_since(start) / static_cast<double>(n_steps);
  };
  std::vector<double> ratios;
  ms_per_step(true);
  const auto start = std::chrono::steady_clock::now();
  for (bool is_first = true; ratios.size() < 5 || seconds_since(start) < seconds; is_first = !is_first) {
    const double first = ms_per_step(is_first), second = ms_per_step(!is_first);
    ratios.push_back(is_first ? first / second : second / first);
  }
  return median(ratios) - 1;
}

}  // namespace headscope::core
