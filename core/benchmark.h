// How fast this machine trains: steps a second at fixed sizes, beside what its arithmetic units can do at
// most.
#pragma once

#include "core/model.h"
#include "core/training/train_step.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace headscope::core {

/// A decoder with pre-norm, learned positions, gelu and biases, and the batch that it trains on.
struct BenchmarkSize {
  std::string_view name;
  std::int64_t d_model, n_heads, d_ff, n_layers, n_tokens, n_batch, n_vocab;
};
/// S, M and L.
std::span<const BenchmarkSize> benchmark_sizes();

/// The model of that size.
ModelConfig config_of(const BenchmarkSize& size);

struct BenchmarkRun {
  std::int64_t n_steps = 0;
  double ms_per_step = 0;  // median
  double gflops = 0;       // of the matrix products, whole squares of scores counted
};

/// Multiply-adds of one multiply-add unit's best, measured: independent chains in registers, the best of
/// several runs, in 10^9 operations a second (a multiply-add counts as two), float, one thread.
double measure_fma_peak();

/// Operations of one training step's matrix products: forward, and twice that backward.
double step_operations(const Graph& graph, const Sizes& sizes);

/// Trains for about `seconds` on one batch of random tokens: forward, backward, AdamW, every tensor kept.
BenchmarkRun run_benchmark(const BenchmarkSize& size, int n_threads, double seconds);

/// How much slower training is while a viewer takes 60 snapshots a second of one example's attention (scores,
/// weights, values and their gradients, of every layer) and all parameters: the median over pairs of short
/// stretches, watched and not, of the ratio of their times a step, less 1.
double measure_watching(const BenchmarkSize& size, int n_threads, double seconds);

}  // namespace headscope::core
