#include "core/graph_paths.h"

#include <algorithm>
#include <optional>
#include <variant>

namespace headscope::core {
namespace {

/// How many parts a path has.
std::ptrdiff_t depth(std::string_view path) {
  return path.empty() ? 0 : 1 + std::count(path.begin(), path.end(), '.');
}

/// The shortest beginning of a path whose last part passes the test; empty where none does.
template <class Test>
std::string_view prefix_that(std::string_view path, const Test& test) {
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    if (test(path.substr(begin, end - begin))) return path.substr(0, end);
    begin = end + 1;
  }
  return {};
}

}  // namespace

std::string_view owner(std::string_view path) {
  const std::string_view last = leaf(path);
  return last.size() == path.size() ? std::string_view() : path.substr(0, path.size() - last.size() - 1);
}

std::string_view attention_of(std::string_view path) {
  return prefix_that(path, [](std::string_view part) { return part.ends_with("attention"); });
}

std::string_view block_of(std::string_view path) {
  constexpr std::string_view kBlock = "block";
  return prefix_that(path, [&](std::string_view part) {
    if (!part.starts_with(kBlock) || part.size() == kBlock.size()) return false;
    const std::string_view number = part.substr(kBlock.size());
    return std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
  });
}

bool lies_in(std::string_view path, std::string_view group) {
  if (group.empty() || path == group) return true;
  return path.size() > group.size() && path.starts_with(group) && path[group.size()] == '.';
}

std::vector<AttentionTensors> find_attentions(const Graph& graph) {
  std::vector<AttentionTensors> attentions;
  for (const Operation& operation : graph.operations()) {
    const auto* scores = std::get_if<Scores>(&operation);
    if (!scores) continue;
    const TensorSpec& spec = graph.spec(scores->output);
    const std::string path(owner(spec.name));
    const std::optional<TensorId> weights = graph.find(path + ".weights"),
                                  head_output = graph.find(path + ".head_output");
    if (!weights || !head_output) continue;
    const std::int64_t n_heads = spec.shape[spec.shape.find(Axis::head)].extent.size;
    attentions.push_back({path, scores->output, *weights, *head_output, n_heads});
  }
  return attentions;
}

std::vector<std::string> groups_of_operations(const Graph& graph) {
  std::vector<std::string> groups(graph.operations().size());
  const auto offer = [&groups](std::size_t operation, std::string_view group) {
    if (depth(group) > depth(groups[operation])) groups[operation] = group;
  };
  for (const auto& [name, tensor] : graph.names())
    if (const std::optional<std::size_t> operation = graph.producer(tensor)) offer(*operation, owner(name));
  for (std::size_t operation = 0; operation < groups.size(); ++operation)
    for (const TensorId operand : operands(graph.operations()[operation]))
      if (graph.spec(operand).role == Role::parameter) offer(operation, owner(graph.spec(operand).name));
  return groups;
}

}  // namespace headscope::core
