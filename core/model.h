// A model: its configuration, its graph, its parameters. Built from a configuration and a seed, or read from
// a model directory (core/formats/model_directory.h).
#pragma once

#include "core/graph.h"
#include "core/result.h"
#include "core/workspace.h"

#include <cstdint>
#include <optional>
#include <string>

namespace headscope::core {

enum class Architecture : std::uint8_t { encoder, decoder, encoder_decoder };
enum class Objective : std::uint8_t { language_model, classification, span, token_classification, none };
enum class Positions : std::uint8_t { learned, sinusoidal, none, relative };
enum class Norm : std::uint8_t { pre, post, none };
enum class SpanReader : std::uint8_t { token, pointer };

/// How text becomes tokens (docs/model-format.md, section 1).
struct TokenizerConfig {
  std::string kind = "word";
  bool lower_case = false;
  bool operator==(const TokenizerConfig&) const = default;
};

/// config.json, key by key; docs/model-format.md says what each means. A value exists only if checked:
/// make one with parse_config or validate().
struct ModelConfig {
  Architecture architecture = Architecture::decoder;
  Objective objective = Objective::language_model;
  std::int64_t vocab_size = 0;
  std::int64_t target_vocab_size = 0;
  std::int64_t d_model = 0;
  std::int64_t n_heads = 1;
  std::int64_t d_head = 0;
  std::int64_t n_layers = 1;
  std::int64_t d_ff = 0;
  std::int64_t max_tokens = 0;
  Positions positions = Positions::learned;
  Norm norm = Norm::none;
  double norm_eps = 1e-5;
  bool embedding_norm = false;
  std::int64_t n_token_types = 0;
  Activation activation = Activation::relu;
  bool bias = false;
  bool scale_scores = true;
  Pooling pooling = Pooling::mean;
  std::int64_t n_classes = 0;
  std::int64_t n_outputs = 1;
  SpanReader span_reader = SpanReader::token;
  std::optional<TokenizerConfig> tokenizer;

  bool operator==(const ModelConfig&) const = default;
};

/// Checks ranges and combinations, whoever made the configuration. `where` names the file in the error.
/// Errors: config.range (key, value, lowest, highest), config.norm_eps, config.objective (not allowed for the
/// architecture), config.target_vocab_size (only an encoder-decoder has one), config.value (tokenizer.kind),
/// config.too_many_parameters (2^31 or more). `d_head` must be set here; only config.json may leave it out.
Result<void> validate(const ModelConfig& config, const std::string& where);

/// What is added to a model's graph on request; config.json knows none of it.
struct GraphOptions {
  double dropout = 0;  // of attention weights and of each sub-layer's output; above 0, the masks are tensors
  double label_smoothing = 0;       // of every cross-entropy
  bool head_contributions = false;  // A.head_contribution of every attention A, to look at
  bool operator==(const GraphOptions&) const = default;
};

/// Builds the graph of a valid configuration: every tensor of docs/model-format.md, sections 2 and 3, and
/// what lies between them. The operations before and including that of `probabilities` do not depend on
/// targets. Errors: config.fraction (key: dropout, label_smoothing; not in [0, 1)).
Result<Graph> build_graph(const ModelConfig& config, const std::string& where,
                          const GraphOptions& options = {});

/// The inputs of a built graph, by their fixed names; those that the configuration does not need are none.
struct Inputs {
  TensorId ids;                            // "source.ids" [n_batch, i]
  TensorId lengths;                        // "source.lengths" [n_batch]
  std::optional<TensorId> types;           // "source.types" [n_batch, i]
  std::optional<TensorId> target_ids;      // "target.ids" [n_batch, i], encoder-decoder
  std::optional<TensorId> target_lengths;  // "target.lengths" [n_batch]
  std::optional<TensorId> target_types;    // "target.types" [n_batch, i]
  std::optional<TensorId> read;            // "read" [n_batch], span_reader pointer
  /// What is predicted, -1 where nothing is: "source.targets" or "target.targets" [n_batch, i] of a language
  /// model, "label" [n_batch], "span" [n_batch, 2], "labels" [n_batch, i, n_outputs].
  std::optional<TensorId> targets;
};
Inputs find_inputs(const Graph& graph);

/// The largest deviation that a person may ask for: numbers stay far from single precision's end.
inline constexpr double kLargestDeviation = 1000;

/// Draws every parameter from its own stream of `seed`: matrices N(0, 1/fan_in), embeddings (of tokens,
/// positions, token types) N(0, embedding_deviation²); biases, offsets and relative biases are 0, gains 1.
/// Float and double get the same numbers up to rounding.
template <class T>
void initialise_parameters(const Graph& graph, Workspace<T>& workspace, std::uint64_t seed,
                           double embedding_deviation);

/// Gives every head of each attention the first head's numbers: its slices of w_query, w_key, w_value,
/// w_output, of their biases and of relative_bias. Then adds N(0, noise²) to each of those numbers, drawn
/// from the tensor's own stream of `seed`, where noise is above 0.
template <class T>
void equalise_heads(const Graph& graph, Workspace<T>& workspace, double noise, std::uint64_t seed);

}  // namespace headscope::core
