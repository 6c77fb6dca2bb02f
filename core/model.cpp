#include "core/model.h"

#include "core/layers.h"
#include "core/random.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <cmath>
#include <span>
#include <string_view>

namespace headscope::core {
namespace {

constexpr Side kBatch{Axis::batch, Extent::batch()};

std::optional<Error> check_options(const GraphOptions& options, const std::string& where) {
  for (const auto& [key, value] :
       {std::pair{"dropout", options.dropout}, std::pair{"label_smoothing", options.label_smoothing}}) {
    if (value >= 0 && value < 1) continue;
    std::array<char, 32> text{};
    const std::to_chars_result end = std::to_chars(text.data(), text.data() + text.size(), value);
    return Error{"config.fraction", where, {{"key", key}, {"value", std::string(text.data(), end.ptr)}}};
  }
  return std::nullopt;
}

/// The inputs of a stack: PREFIX.ids, .lengths, .types.
StackInputs add_inputs(const Builder& builder, const std::string& prefix, Extent extent,
                       std::int64_t vocab_size) {
  const Side position{Axis::query, extent};
  StackInputs inputs;
  inputs.ids = builder.input(prefix + ".ids", "ids", {kBatch, position});
  if (builder.config.n_token_types > 0)
    inputs.types = builder.input(prefix + ".types", "types", {kBatch, position});
  inputs.lengths = builder.input(prefix + ".lengths", "n", {kBatch});
  inputs.extent = extent;
  inputs.vocab_size = vocab_size;
  return inputs;
}

/// All stacks of the architecture; returns the last one's output.
Sequence add_stacks(const Builder& builder) {
  const ModelConfig& config = builder.config;
  const StackInputs source = add_inputs(builder, "source", Extent::source(), config.vocab_size);
  if (config.architecture == Architecture::decoder)
    return {add_stack(builder, "decoder", source, Mask::causal_and_padding, std::nullopt), source.lengths,
            source.extent};
  const Sequence encoded{add_stack(builder, "encoder", source, Mask::padding, std::nullopt), source.lengths,
                         source.extent};
  if (config.architecture == Architecture::encoder) return encoded;
  const StackInputs target = add_inputs(builder, "target", Extent::target(), config.target_vocab_size);
  return {add_stack(builder, "decoder", target, Mask::causal_and_padding, encoded), target.lengths,
          target.extent};
}

void add_objective(const Builder& builder, const Sequence& output) {
  const ModelConfig& config = builder.config;
  switch (config.objective) {
    case Objective::language_model: {
      const bool has_target = config.architecture == Architecture::encoder_decoder;
      const TensorId targets = builder.input(has_target ? "target.targets" : "source.targets", "y",
                                             {kBatch, {Axis::query, output.extent}});
      return add_language_model(builder, output, has_target ? config.target_vocab_size : config.vocab_size,
                                targets);
    }
    case Objective::classification:
      return add_classification(builder, output);
    case Objective::span:
      return add_span(builder, output);
    case Objective::token_classification:
      return add_token_classification(builder, output);
    case Objective::none:
      return;
  }
}

/// How a parameter starts: normal with this deviation around this mean.
struct Start {
  double mean = 0, deviation = 0;
};

/// A gain starts at 1; a bias or an offset at 0; a matrix at 1/√fan_in, fan_in being the sides that its
/// product sums over.
Start start_of(const TensorSpec& spec, double embedding_deviation) {
  const std::string_view name = leaf(spec.name);
  if (name.ends_with("embedding")) return {0, embedding_deviation};
  if (name == "gain") return {1, 0};
  if (name.starts_with("b_") || name == "bias" || name == "offset" || name == "relative_bias") return {0, 0};
  const int last = spec.shape.rank() - 1;
  // w_output [n_heads, d_head, d_model] sums over heads and channels; the others have one summed side before
  // the last
  std::int64_t fan_in = spec.shape[last - 1].extent.size;
  if (name == "w_output") fan_in *= spec.shape[0].extent.size;
  return {0, 1 / std::sqrt(static_cast<double>(fan_in))};
}

/// Whether the parameter has a slice for each head of an attention.
bool is_by_head(const TensorSpec& spec) {
  return spec.role == Role::parameter && spec.shape[0].axis == Axis::head;
}

}  // namespace

Result<Graph> build_graph(const ModelConfig& config, const std::string& where, const GraphOptions& options) {
  if (std::optional<Error> error = check_options(options, where)) return *std::move(error);
  Graph graph;
  const Builder builder{graph, config, options};
  add_objective(builder, add_stacks(builder));
  return graph;
}

Inputs find_inputs(const Graph& graph) {
  const std::optional<TensorId> ids = graph.find("source.ids"), lengths = graph.find("source.lengths");
  assert(ids && lengths && "build_graph() makes the inputs");
  Inputs inputs{*ids, *lengths};
  inputs.types = graph.find("source.types");
  inputs.target_ids = graph.find("target.ids");
  inputs.target_lengths = graph.find("target.lengths");
  inputs.target_types = graph.find("target.types");
  inputs.read = graph.find("read");
  for (const char* name : {"source.targets", "target.targets", "label", "span", "labels"})
    if (const std::optional<TensorId> found = graph.find(name)) inputs.targets = found;
  return inputs;
}

template <class T>
void initialise_parameters(const Graph& graph, Workspace<T>& workspace, std::uint64_t seed,
                           double embedding_deviation) {
  for (std::uint32_t index = 0; index < graph.n_tensors(); ++index) {
    const TensorSpec& spec = graph.spec({index});
    if (spec.role != Role::parameter) continue;
    const Start start = start_of(spec, embedding_deviation);
    Rng rng(seed, spec.name);
    for (T& value : workspace.values({index}))
      value = static_cast<T>(start.deviation == 0 ? start.mean : start.mean + start.deviation * rng.normal());
  }
}
template void initialise_parameters(const Graph&, Workspace<float>&, std::uint64_t, double);
template void initialise_parameters(const Graph&, Workspace<double>&, std::uint64_t, double);

template <class T>
void equalise_heads(const Graph& graph, Workspace<T>& workspace, double noise, std::uint64_t seed) {
  for (std::uint32_t index = 0; index < graph.n_tensors(); ++index) {
    const TensorSpec& spec = graph.spec({index});
    if (!is_by_head(spec)) continue;
    const std::span<T> values = workspace.values({index});
    const std::size_t slice = values.size() / static_cast<std::size_t>(spec.shape[0].extent.size);
    for (std::size_t at = slice; at < values.size(); ++at) values[at] = values[at - slice];
    if (noise <= 0) continue;
    Rng rng(seed, spec.name + ".noise");  // not the stream that the parameter itself was drawn from
    for (T& value : values) value += static_cast<T>(noise * rng.normal());
  }
}
template void equalise_heads(const Graph&, Workspace<float>&, double, std::uint64_t);
template void equalise_heads(const Graph&, Workspace<double>&, double, std::uint64_t);

}  // namespace headscope::core
