// Small attention-only models for tests: a configuration, a graph and a workspace with one forward pass run.
#pragma once

#include "core/execute.h"
#include "core/formats/token_batch.h"
#include "core/model.h"
#include "core/trace.h"

#include <catch2/catch.hpp>

#include <cstdint>
#include <utility>

namespace headscope::core::test {

inline ModelConfig small_config() {
  ModelConfig config;
  config.vocab_size = 7;
  config.d_model = 6;
  config.n_heads = 2;
  config.d_head = 3;
  config.n_layers = 2;
  config.max_tokens = 8;
  config.positions = Positions::learned;
  config.bias = true;
  return config;
}

template <class T>
struct SmallModel {
  ModelConfig config;
  Graph graph;
  Workspace<T> workspace;

  Trace<T> trace() const {
    const std::size_t end = graph.operations().size();
    return {graph, workspace, Cursor(end, end)};
  }
  TensorId id(std::string_view name) const {
    const std::optional<TensorId> found = graph.find(name);
    INFO("tensor " << name);
    REQUIRE(found);
    return *found;
  }
};

/// A model with random parameters (biases too), run over the batch.
template <class T>
SmallModel<T> run_small_model(const ModelConfig& config, const TokenBatch& batch, std::uint64_t seed = 1) {
  Result<Graph> graph = build_graph(config, "test");
  REQUIRE(graph);
  const Result<FedBatch> fed = feed(batch, config, "test");
  REQUIRE(fed);
  Workspace<T> workspace(*graph, fed->sizes);
  initialise_parameters(*graph, workspace, seed, 1.0);
  for (std::uint32_t index = 0; index < graph->n_tensors(); ++index) {
    const TensorSpec& spec = graph->spec({index});
    if (spec.role != Role::parameter) continue;
    std::int64_t place = 0;
    if (leaf(spec.name).starts_with("b"))
      for (T& value : workspace.values({index}))
        value = static_cast<T>(static_cast<double>(place++ % 3) * 0.25 - 0.2);
  }
  set_inputs(*graph, workspace, *fed);
  run_forward(*graph, workspace);
  return {config, *std::move(graph), std::move(workspace)};
}

inline TokenBatch padded_batch() {
  return {{{1, 2, 3, 4, 5}, {6, 5, 4}, {2, 1}}};
}

}  // namespace headscope::core::test
