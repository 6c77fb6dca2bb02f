// A small model of any kind in a Stepper: drawn parameters, a fed batch, the cursor at the beginning.
#pragma once

#include "core/stepper.h"

#include "tests/core/every_model.h"

#include <catch2/catch.hpp>

#include <string_view>

namespace headscope::core::test {

template <class T>
struct SteppedModel {
  explicit SteppedModel(const ModelConfig& model_config, const GraphOptions& options = {})
      : config(model_config),
        graph(make_graph(model_config, options)),
        fed(make_batch(model_config)),
        stepper(graph, fed.sizes) {
    draw_parameters(graph, stepper.workspace());
    set_inputs(graph, stepper.workspace(), fed);
  }
  SteppedModel(const SteppedModel&) = delete;  // the stepper refers to this graph
  SteppedModel& operator=(const SteppedModel&) = delete;

  TensorId id(std::string_view name) const {
    const std::optional<TensorId> found = graph.find(name);
    INFO("tensor " << name);
    REQUIRE(found);
    return *found;
  }

  ModelConfig config;
  Graph graph;
  FedBatch fed;
  Stepper<T> stepper;

 private:
  static Graph make_graph(const ModelConfig& config, const GraphOptions& options) {
    Result<Graph> made = build_graph(config, "test", options);
    REQUIRE(made);
    return *std::move(made);
  }
  static FedBatch make_batch(const ModelConfig& config) {
    Result<FedBatch> made = feed(any_batch(config), config, "test");
    REQUIRE(made);
    return *std::move(made);
  }
};

}  // namespace headscope::core::test
