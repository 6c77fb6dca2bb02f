// A trainer of a test model, ready to run.
#pragma once

#include "core/training/train_step.h"
#include "tests/core/every_model.h"

#include <catch2/catch.hpp>

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace headscope::core::test {

template <class T>
std::vector<T> copy(std::span<const T> numbers) {
  return {numbers.begin(), numbers.end()};
}
template <class T>
bool same_bits(std::span<const T> left, std::span<const T> right) {
  return left.size() == right.size() &&
         (left.empty() || std::memcmp(left.data(), right.data(), left.size_bytes()) == 0);
}

inline ModelConfig small_decoder() {
  ModelConfig config = base_config(Architecture::decoder, Objective::language_model);
  config.activation = Activation::gelu;
  config.n_layers = 1;
  return config;
}

/// A trainer of one of the test models, its parameters and its batch set.
template <class T>
struct Training {
  AnyModel<T> model;
  TrainStep<T> step;

  Training(const ModelConfig& config, const TrainOptions& options, const GraphOptions& graph = {})
      : model(make_model<T>(config, graph)), step(model.graph, model.fed.sizes, options) {
    draw_parameters(model.graph, step.workspace());
    set_inputs(model.graph, step.workspace(), model.fed);
  }
  void run(std::int64_t n_steps) {
    for (std::int64_t number = 1; number <= n_steps; ++number) REQUIRE(step.run(number));
  }
  std::span<const T> parameters() const { return step.workspace().parameters(); }
};

}  // namespace headscope::core::test
