// What a tensor's path says of its place: its owner, its attention, its block. The one place that takes the
// names of docs/model-format.md apart.
#pragma once

#include "core/graph.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::core {

/// The path without its last part: "decoder.block0.self_attention" of "decoder.block0.self_attention.scores",
/// "decoder" of "decoder.embedded"; empty at the top.
std::string_view owner(std::string_view path);

/// The attention that a path lies in, or is: "decoder.block0.self_attention"; empty outside of attentions.
std::string_view attention_of(std::string_view path);

/// The block that a path lies in, or is: "decoder.block0"; empty outside of blocks.
std::string_view block_of(std::string_view path);

/// Whether `path` is `group` or lies in it. Everything lies in the empty group.
bool lies_in(std::string_view path, std::string_view group);

/// One attention's tensors, by its operations.
struct AttentionTensors {
  std::string path;  // "decoder.block0.self_attention"
  TensorId scores, weights, head_output;
  std::int64_t n_heads = 0;
};
/// The attentions in the order in which they run.
std::vector<AttentionTensors> find_attentions(const Graph& graph);

/// The path of the group that each operation belongs to: the longest that one of its result's names or a
/// parameter that it reads lies in. "decoder.final_norm" of the operation that writes "decoder.output" there,
/// "unembedding" of the one that writes "logits".
std::vector<std::string> groups_of_operations(const Graph& graph);

}  // namespace headscope::core
