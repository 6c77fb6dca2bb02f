// Builders: each appends a layer's operations to the graph and returns the tensors that others need. They are
// the only place that names a layer's tensors.
#pragma once

#include "core/graph.h"
#include "core/model.h"

#include <string>

namespace headscope::core {

/// Token vectors and positions of a stack ("decoder"): STACK.token_vectors, STACK.embedded. Returns the
/// latter.
TensorId add_embedding(Graph& graph, const ModelConfig& config, const std::string& stack, TensorId ids);

/// One self-attention, "STACK.blockL.self_attention", from projections to output. Returns its output
/// [n_batch, i, d_model]. `input` is [n_batch, i, d_model].
TensorId add_self_attention(Graph& graph, const ModelConfig& config, const std::string& name, TensorId input,
                            TensorId lengths, Mask mask);

/// One block without feed-forward: the residual sum of its input and its attention. Returns
/// STACK.blockL.output.
TensorId add_block(Graph& graph, const ModelConfig& config, const std::string& name, TensorId input,
                   TensorId lengths, Mask mask);

/// Logits, probabilities and loss of a language model over the stack's output.
void add_language_model_head(Graph& graph, const ModelConfig& config, TensorId input, TensorId targets);

}  // namespace headscope::core
