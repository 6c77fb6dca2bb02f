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
enum class Activation : std::uint8_t { relu, gelu, gelu_tanh };
enum class Pooling : std::uint8_t { mean, first };
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

/// Builds the graph of a valid configuration. This version builds attention-only encoders (objective none)
/// and decoders (language_model, none) without layer norm; anything else of the format is an Error that names
/// the key.
Result<Graph> build_graph(const ModelConfig& config, const std::string& where);

/// The inputs of a built graph, by their fixed names.
struct Inputs {
  TensorId ids;                     // "source.ids" [n_batch, i]
  TensorId lengths;                 // "source.lengths" [n_batch]
  std::optional<TensorId> targets;  // "source.targets" [n_batch, i], where there is a loss
};
Inputs find_inputs(const Graph& graph);

/// Draws every parameter from its own stream of `seed`: matrices N(0, 1/fan_in), embeddings N(0,
/// embedding_deviation²), biases 0. Float and double get the same numbers up to rounding.
template <class T>
void initialise_parameters(const Graph& graph, Workspace<T>& workspace, std::uint64_t seed,
                           double embedding_deviation);

}  // namespace headscope::core
