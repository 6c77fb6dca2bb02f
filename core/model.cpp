#include "core/model.h"

#include "core/config_names.h"
#include "core/layers.h"
#include "core/random.h"

#include <cassert>
#include <cmath>
#include <string_view>

namespace headscope::core {
namespace {

Error unsupported(const std::string& where, std::string_view key, std::string_view value) {
  return {"config.unsupported", where, {{"key", std::string(key)}, {"value", std::string(value)}}};
}

/// What this version's layers cannot build yet.
std::optional<Error> find_unsupported(const ModelConfig& config, const std::string& where) {
  if (config.architecture == Architecture::encoder_decoder)
    return unsupported(where, "architecture", spelling(config.architecture));
  if (config.objective != Objective::language_model && config.objective != Objective::none)
    return unsupported(where, "objective", spelling(config.objective));
  if (config.positions == Positions::relative)
    return unsupported(where, "positions", spelling(config.positions));
  if (config.norm != Norm::none) return unsupported(where, "norm", spelling(config.norm));
  if (config.d_ff != 0) return unsupported(where, "d_ff", std::to_string(config.d_ff));
  if (config.embedding_norm) return unsupported(where, "embedding_norm", "true");
  if (config.n_token_types != 0)
    return unsupported(where, "n_token_types", std::to_string(config.n_token_types));
  return std::nullopt;
}

/// The standard deviation with which a parameter starts. A bias starts at 0; a matrix at 1/√fan_in, fan_in
/// being the sides that its product sums over.
double initial_deviation(const TensorSpec& spec, double embedding_deviation) {
  const std::string_view name = leaf(spec.name);
  if (name.ends_with("embedding")) return embedding_deviation;
  if (name.starts_with("b_") || name == "bias") return 0;
  const int last = spec.shape.rank() - 1;
  // w_output [n_heads, d_head, d_model] sums over heads and channels; the others have one summed side before
  // the last
  std::int64_t fan_in = spec.shape[last - 1].extent.size;
  if (name == "w_output") fan_in *= spec.shape[0].extent.size;
  return 1 / std::sqrt(static_cast<double>(fan_in));
}

}  // namespace

Result<Graph> build_graph(const ModelConfig& config, const std::string& where) {
  if (std::optional<Error> error = find_unsupported(config, where)) return *error;
  const bool is_decoder = config.architecture == Architecture::decoder;
  const std::string stack = is_decoder ? "decoder" : "encoder";
  const Mask mask = is_decoder ? Mask::causal_and_padding : Mask::padding;
  const Side batch{Axis::batch, Extent::batch()}, query{Axis::query, Extent::source()};

  Graph graph;
  const TensorId ids = graph.add_tensor({"source.ids", "ids", {batch, query}, Role::input, Element::integer});
  const TensorId lengths = graph.add_tensor({"source.lengths", "n", {batch}, Role::input, Element::integer});
  TensorId stream = add_embedding(graph, config, stack, ids);
  for (std::int64_t layer = 0; layer < config.n_layers; ++layer)
    stream = add_block(graph, config, stack + ".block" + std::to_string(layer), stream, lengths, mask);
  graph.add_alias(stack + ".output", stream);
  if (config.objective == Objective::language_model) {
    const TensorId targets =
        graph.add_tensor({"source.targets", "y", {batch, query}, Role::input, Element::integer});
    add_language_model_head(graph, config, stream, targets);
  }
  return graph;
}

Inputs find_inputs(const Graph& graph) {
  const std::optional<TensorId> ids = graph.find("source.ids"), lengths = graph.find("source.lengths");
  assert(ids && lengths && "build_graph() makes the inputs");
  return {*ids, *lengths, graph.find("source.targets")};
}

template <class T>
void initialise_parameters(const Graph& graph, Workspace<T>& workspace, std::uint64_t seed,
                           double embedding_deviation) {
  for (std::uint32_t index = 0; index < graph.n_tensors(); ++index) {
    const TensorSpec& spec = graph.spec({index});
    if (spec.role != Role::parameter) continue;
    const double deviation = initial_deviation(spec, embedding_deviation);
    Rng rng(seed, spec.name);
    for (T& value : workspace.values({index}))
      value = static_cast<T>(deviation == 0 ? 0 : deviation * rng.normal());
  }
}
template void initialise_parameters(const Graph&, Workspace<float>&, std::uint64_t, double);
template void initialise_parameters(const Graph&, Workspace<double>&, std::uint64_t, double);

}  // namespace headscope::core
