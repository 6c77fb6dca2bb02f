// Small models of every kind that the format can describe, each with a padded batch: what a test runs over
// when something must hold for all of them.
#pragma once

#include "core/execute.h"
#include "core/formats/token_batch.h"
#include "core/model.h"
#include "core/random.h"
#include "core/trace.h"

#include <catch2/catch.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace headscope::core::test {

struct NamedConfig {
  std::string name;
  ModelConfig config;
};

/// Pre-norm, learned positions, relu, bias, two layers; all sizes different.
inline ModelConfig base_config(Architecture architecture, Objective objective) {
  ModelConfig config;
  config.architecture = architecture;
  config.objective = objective;
  config.vocab_size = 11;
  config.target_vocab_size = architecture == Architecture::encoder_decoder ? 13 : 0;
  config.d_model = 6;
  config.n_heads = 2;
  config.d_head = 4;
  config.n_layers = 2;
  config.d_ff = 7;
  config.max_tokens = 9;
  config.norm = Norm::pre;
  config.bias = true;
  config.n_classes = 3;
  return config;
}

/// Every architecture with each of its objectives.
inline std::vector<NamedConfig> every_objective() {
  using enum Architecture;
  std::vector<NamedConfig> configs = {
      {"encoder, classification", base_config(encoder, Objective::classification)},
      {"encoder, span", base_config(encoder, Objective::span)},
      {"encoder, pointer", base_config(encoder, Objective::span)},
      {"encoder, token_classification", base_config(encoder, Objective::token_classification)},
      {"encoder, none", base_config(encoder, Objective::none)},
      {"decoder, language_model", base_config(decoder, Objective::language_model)},
      {"decoder, token_classification", base_config(decoder, Objective::token_classification)},
      {"decoder, none", base_config(decoder, Objective::none)},
      {"encoder-decoder, language_model", base_config(encoder_decoder, Objective::language_model)},
      {"encoder-decoder, none", base_config(encoder_decoder, Objective::none)}};
  configs[2].config.span_reader = SpanReader::pointer;
  configs[6].config.n_outputs = 4;
  return configs;
}

/// Every objective, and every value of every other key on the models that it concerns.
inline std::vector<NamedConfig> every_config() {
  std::vector<NamedConfig> configs = every_objective();
  const auto vary = [&configs](const std::string& what, auto change) {
    for (const auto& [name, index] : {std::pair{"decoder", 5}, {"encoder", 1}, {"encoder-decoder", 8}}) {
      ModelConfig config = configs[static_cast<std::size_t>(index)].config;
      change(config);
      configs.push_back({std::string(name) + ", " + what, config});
    }
  };
  vary("sinusoidal positions", [](ModelConfig& c) { c.positions = Positions::sinusoidal; });
  vary("no positions", [](ModelConfig& c) { c.positions = Positions::none; });
  vary("relative positions", [](ModelConfig& c) { c.positions = Positions::relative; });
  vary("post norm", [](ModelConfig& c) { c.norm = Norm::post; });
  vary("no norm", [](ModelConfig& c) { c.norm = Norm::none; });
  vary("large norm_eps", [](ModelConfig& c) { c.norm_eps = 0.5; });
  vary("embedding norm", [](ModelConfig& c) { c.embedding_norm = true; });
  vary("token types", [](ModelConfig& c) { c.n_token_types = 3; });
  vary("token types without positions", [](ModelConfig& c) {
    c.n_token_types = 2;
    c.positions = Positions::none;
    c.embedding_norm = true;
  });
  vary("gelu", [](ModelConfig& c) { c.activation = Activation::gelu; });
  vary("gelu_tanh", [](ModelConfig& c) { c.activation = Activation::gelu_tanh; });
  vary("no bias", [](ModelConfig& c) { c.bias = false; });
  vary("attention only", [](ModelConfig& c) { c.d_ff = 0; });
  vary("unscaled scores", [](ModelConfig& c) { c.scale_scores = false; });
  vary("one head", [](ModelConfig& c) { c.n_heads = 1; });
  vary("five heads of width 1", [](ModelConfig& c) { c.n_heads = 5, c.d_head = 1; });
  vary("three layers", [](ModelConfig& c) { c.n_layers = 3; });
  ModelConfig first = configs[0].config;
  first.pooling = Pooling::first;
  configs.push_back({"encoder, first pooling", first});
  ModelConfig pointer = configs[2].config;
  pointer.scale_scores = false, pointer.positions = Positions::relative;
  configs.push_back({"encoder, unscaled relative pointer", pointer});
  return configs;
}

/// Rows of different lengths, with everything that any objective predicts. A row may be empty where it may
/// be.
inline TokenBatch any_batch(const ModelConfig& config) {
  const bool needs_tokens =
      config.objective == Objective::classification || config.objective == Objective::span;
  TokenBatch batch;
  batch.source = {{1, 2, 3, 4, 5, 2}, {10, 5, 4}, {2, 1}};
  if (!needs_tokens) batch.source.emplace_back();
  if (config.architecture == Architecture::encoder_decoder)
    batch.target = {{1, 12, 7, 2}, {1, 4, 4, 9, 2}, {1, 2}, {1, 3, 2}};
  if (config.objective == Objective::classification) batch.label = {2, 0, 1};
  if (config.objective == Objective::span) {
    batch.span = {{1, 4}, {0, 0}, {1, 1}};
    batch.read = {5, 2, 0};
  }
  if (config.objective == Objective::token_classification)
    for (std::size_t r = 0; r < batch.source.size(); ++r) {
      auto& row = batch.labels.emplace_back();
      for (std::size_t i = 0; i < batch.source[r].size(); ++i) {
        auto& labels = row.emplace_back();
        for (std::int64_t o = 0; o < config.n_outputs; ++o)
          labels.push_back(static_cast<std::int32_t>((i + r + static_cast<std::size_t>(o)) % 4) - 1);
      }
    }
  if (config.n_token_types > 0) {
    batch.types = {{0, 1, 1, 0, 1}, {1}, {}};
    batch.types.resize(batch.source.size());
  }
  return batch;
}

/// Draws every parameter anew: those that start at 0 or 1 would hide what depends on them.
template <class T>
void draw_parameters(const Graph& graph, Workspace<T>& workspace, std::uint64_t seed = 1) {
  initialise_parameters(graph, workspace, seed, 1.0);
  for (std::uint32_t index = 0; index < graph.n_tensors(); ++index) {
    const TensorSpec& spec = graph.spec({index});
    const std::string_view name = leaf(spec.name);
    if (spec.role != Role::parameter) continue;
    if (!name.starts_with("b_") && name != "bias" && name != "gain" && name != "offset" &&
        name != "relative_bias")
      continue;
    Rng rng(seed, spec.name);
    for (T& value : workspace.values({index}))
      value = static_cast<T>((name == "gain" ? 1.0 : 0.0) + 0.4 * rng.normal());
  }
}

/// A model with its numbers.
template <class T>
struct AnyModel {
  ModelConfig config;
  Graph graph;
  FedBatch fed;
  Workspace<T> workspace;

  TensorId id(std::string_view name) const {
    const std::optional<TensorId> found = graph.find(name);
    INFO("tensor " << name);
    REQUIRE(found);
    return *found;
  }
  void run(const RunOptions& options = {}) {
    run_forward(graph, workspace, options);
    run_backward(graph, workspace, options);
  }
};

/// A model of random parameters, fed, not yet run, with gradients.
template <class T>
AnyModel<T> make_model(const ModelConfig& config, FedBatch fed, const GraphOptions& options = {}) {
  REQUIRE(validate(config, "test"));
  Result<Graph> graph = build_graph(config, "test", options);
  REQUIRE(graph);
  Workspace<T> workspace(*graph, fed.sizes, WithGradients::yes);
  draw_parameters(*graph, workspace);
  set_inputs(*graph, workspace, fed);
  return {config, *std::move(graph), std::move(fed), std::move(workspace)};
}

template <class T>
AnyModel<T> make_model(const ModelConfig& config, const GraphOptions& options = {}) {
  Result<FedBatch> fed = feed(any_batch(config), config, "test");
  REQUIRE(fed);
  return make_model<T>(config, *std::move(fed), options);
}

}  // namespace headscope::core::test
