#include "core/layers.h"

#include <optional>

namespace headscope::core {
namespace {

constexpr Side kBatch{Axis::batch, Extent::batch()};
constexpr Side kQuery{Axis::query, Extent::source()};
constexpr Side kKey{Axis::key, Extent::source()};

Side model_side(const ModelConfig& config) {
  return {Axis::model, Extent::fixed(config.d_model)};
}
Side head_side(const ModelConfig& config) {
  return {Axis::head, Extent::fixed(config.n_heads)};
}
Side channel_side(const ModelConfig& config) {
  return {Axis::head_channel, Extent::fixed(config.d_head)};
}
Side vocabulary_side(const ModelConfig& config) {
  return {Axis::vocabulary, Extent::fixed(config.vocab_size)};
}

TensorId parameter(Graph& graph, std::string name, std::string symbol, ShapeSpec shape) {
  return graph.add_tensor({std::move(name), std::move(symbol), shape, Role::parameter});
}
TensorId activation(Graph& graph, std::string name, std::string symbol, ShapeSpec shape) {
  return graph.add_tensor({std::move(name), std::move(symbol), shape, Role::activation});
}

/// One of the three views: queries, keys or values, with its own learned matrix.
TensorId add_projection(Graph& graph, const ModelConfig& config, const std::string& attention, TensorId input,
                        const std::string& singular, const std::string& plural, const std::string& letter,
                        Side position) {
  const Side head = head_side(config), channel = channel_side(config);
  const TensorId weight =
      parameter(graph, attention + ".w_" + singular, "W_" + letter, {head, model_side(config), channel});
  std::optional<TensorId> bias;
  if (config.bias) bias = parameter(graph, attention + ".b_" + singular, "b_" + letter, {head, channel});
  const TensorId output =
      activation(graph, attention + "." + plural, letter, {kBatch, head, position, channel});
  graph.add_operation(ProjectHeads{input, weight, bias, output});
  return output;
}

TensorId add_output_projection(Graph& graph, const ModelConfig& config, const std::string& name,
                               TensorId concat) {
  const Side head = head_side(config), channel = channel_side(config), model = model_side(config);
  const TensorId weight = parameter(graph, name + ".w_output", "W_O", {head, channel, model});
  std::optional<TensorId> bias;
  if (config.bias) bias = parameter(graph, name + ".b_output", "b_O", {model});
  const TensorId output = activation(graph, name + ".output", "O", {kBatch, kQuery, model});
  graph.add_operation(Linear{concat, weight, bias, output});
  return output;
}

}  // namespace

TensorId add_embedding(Graph& graph, const ModelConfig& config, const std::string& stack, TensorId ids) {
  const Side model = model_side(config);
  const TensorId table = parameter(graph, stack + ".token_embedding", "E", {vocabulary_side(config), model});
  const TensorId vectors = activation(graph, stack + ".token_vectors", "t", {kBatch, kQuery, model});
  graph.add_operation(Lookup{table, ids, vectors});

  std::optional<TensorId> positions;
  if (config.positions == Positions::learned) {
    const Side position{Axis::position, Extent::fixed(config.max_tokens)};
    positions = parameter(graph, stack + ".position_embedding", "P", {position, model});
  } else if (config.positions == Positions::sinusoidal) {
    positions =
        activation(graph, stack + ".sinusoidal_positions", "P", {{Axis::position, Extent::source()}, model});
    graph.add_operation(SinusoidalPositions{*positions});
  }
  if (!positions) {
    graph.add_alias(stack + ".embedded", vectors);
    return vectors;
  }
  const TensorId embedded = activation(graph, stack + ".embedded", "x", {kBatch, kQuery, model});
  graph.add_operation(AddPositions{vectors, *positions, embedded});
  return embedded;
}

TensorId add_self_attention(Graph& graph, const ModelConfig& config, const std::string& name, TensorId input,
                            TensorId lengths, Mask mask) {
  const Side head = head_side(config);
  const TensorId queries = add_projection(graph, config, name, input, "query", "queries", "Q", kQuery);
  const TensorId keys = add_projection(graph, config, name, input, "key", "keys", "K", kKey);
  const TensorId values = add_projection(graph, config, name, input, "value", "values", "V", kKey);

  const ShapeSpec square{kBatch, head, kQuery, kKey};
  const TensorId scores = activation(graph, name + ".scores", "S", square);
  graph.add_operation(Scores{queries, keys, scores});
  const TensorId scaled = activation(graph, name + ".scaled_scores", "S", square);
  graph.add_operation(ScaleScores{scores, scaled, config.scale_scores ? config.d_head : 0});
  const TensorId masked = activation(graph, name + ".masked_scores", "S", square);
  graph.add_operation(MaskScores{scaled, lengths, masked, mask});
  const TensorId weights = activation(graph, name + ".weights", "A", square);
  graph.add_operation(Softmax{masked, weights});

  const TensorId mixed =
      activation(graph, name + ".head_output", "Z", {kBatch, head, kQuery, channel_side(config)});
  graph.add_operation(MixValues{weights, values, mixed});
  const Side side_by_side{Axis::concat, Extent::fixed(config.n_heads * config.d_head)};
  const TensorId concat = activation(graph, name + ".concat", "Z", {kBatch, kQuery, side_by_side});
  graph.add_operation(ConcatHeads{mixed, concat});
  return add_output_projection(graph, config, name, concat);
}

TensorId add_block(Graph& graph, const ModelConfig& config, const std::string& name, TensorId input,
                   TensorId lengths, Mask mask) {
  const TensorId attended = add_self_attention(graph, config, name + ".self_attention", input, lengths, mask);
  const TensorId residual = activation(graph, name + ".residual1", "x", {kBatch, kQuery, model_side(config)});
  graph.add_operation(Add{input, attended, residual});
  graph.add_alias(name + ".output", residual);
  return residual;
}

void add_language_model_head(Graph& graph, const ModelConfig& config, TensorId input, TensorId targets) {
  const Side vocabulary = vocabulary_side(config);
  const TensorId weight = parameter(graph, "unembedding.weight", "W_U", {model_side(config), vocabulary});
  std::optional<TensorId> bias;
  if (config.bias) bias = parameter(graph, "unembedding.bias", "b_U", {vocabulary});
  const TensorId logits = activation(graph, "logits", "z", {kBatch, kQuery, vocabulary});
  graph.add_operation(Linear{input, weight, bias, logits});
  const TensorId probabilities = activation(graph, "probabilities", "p", {kBatch, kQuery, vocabulary});
  graph.add_operation(Softmax{logits, probabilities});
  const TensorId loss = activation(graph, "loss", "L", {{Axis::one, Extent::fixed(1)}});
  graph.add_operation(CrossEntropy{logits, probabilities, targets, loss});
}

}  // namespace headscope::core
