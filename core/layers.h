// Builders: each appends a layer's operations to the graph and returns the tensors that others need. They are
// the only place that names a layer's tensors.
#pragma once

#include "core/graph.h"
#include "core/model.h"

#include <optional>
#include <string>

namespace headscope::core {

/// What every builder needs. The graph grows.
struct Builder {
  Graph& graph;
  const ModelConfig& config;
  const GraphOptions& options;

  // Registers a tensor.
  TensorId input(std::string name, std::string symbol, ShapeSpec shape) const;  // integers
  TensorId parameter(std::string name, std::string symbol, ShapeSpec shape) const;
  TensorId activation(std::string name, std::string symbol, ShapeSpec shape) const;
  /// [n_batch, …] like another.
  TensorId activation_like(std::string name, std::string symbol, TensorId like) const;
};

/// A sequence of vectors that attention looks at, and how long each row is.
struct Sequence {
  TensorId vectors;  // [n_batch, i, d_model]
  TensorId lengths;  // [n_batch]
  Extent extent;     // of i
};

/// What a stack is fed.
struct StackInputs {
  TensorId ids;                   // [n_batch, i]
  std::optional<TensorId> types;  // [n_batch, i], where n_token_types > 0
  TensorId lengths;               // [n_batch]
  Extent extent;                  // of i
  std::int64_t vocab_size = 0;
};

/// A whole stack ("decoder"): embedding, blocks, final norm. `memory` is what its cross-attentions look at,
/// none where there is none. Returns STACK.output.
TensorId add_stack(const Builder& builder, const std::string& stack, const StackInputs& inputs, Mask mask,
                   const std::optional<Sequence>& memory);

/// Token vectors, token types, positions and the embedding norm: STACK.token_vectors, STACK.embedded,
/// STACK.embedding_norm. Returns what the first block reads.
TensorId add_embedding(const Builder& builder, const std::string& stack, const StackInputs& inputs);

/// Layer normalisation, NAME.gain and NAME.offset. Its result is called `output`, NAME.output unless told.
TensorId add_norm(const Builder& builder, const std::string& name, TensorId input, std::string output = {});

/// One attention from projections to output: queries from `from`, keys and values from `to` (the same, or a
/// cross-attention's memory). Returns NAME.output [n_batch, i, d_model].
TensorId add_attention(const Builder& builder, const std::string& name, const Sequence& from,
                       const Sequence& to, Mask mask);

/// NAME.hidden, .activated, .output. Returns the last.
TensorId add_feed_forward(const Builder& builder, const std::string& name, TensorId input);

/// One block: self-attention, cross-attention where there is a memory, feed-forward where d_ff > 0, each with
/// its norm and its residual sum. Returns STACK.blockL.output.
TensorId add_block(const Builder& builder, const std::string& name, const Sequence& input, Mask mask,
                   const std::optional<Sequence>& memory);

/// input · weight + bias, NAME.weight, NAME.bias ([n_in, n_out], [n_out]) where the configuration has biases.
TensorId add_linear(const Builder& builder, const std::string& name, const std::string& letter,
                    TensorId input, Side out, TensorId output);

// What reads the stack's output: from it to logits, probabilities, losses and loss (core/objectives.cpp).

void add_language_model(const Builder& builder, const Sequence& output, std::int64_t vocab_size,
                        TensorId targets);
void add_classification(const Builder& builder, const Sequence& output);
void add_span(const Builder& builder, const Sequence& output);
void add_token_classification(const Builder& builder, const Sequence& output);

}  // namespace headscope::core
