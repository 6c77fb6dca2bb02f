#include "simulator/diagram.h"

#include "core/graph_paths.h"
#include "core/model.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

namespace headscope::simulator {
namespace {

using core::Graph;
using core::TensorId;

/// Builds the boxes, operation by operation.
class Grower {
 public:
  explicit Grower(const Graph& graph) : graph_(graph), groups_(core::groups_of_operations(graph)) {
    diagram_.nodes.push_back({});
    boxes_.emplace(std::string(), 0);
    for (const std::string& group : groups_) {
      note_parents(group);
    }
  }

  Diagram grow() {
    for (std::size_t operation = 0; operation < groups_.size(); ++operation) {
      std::size_t box = box_of(groups_[operation]);
      const bool is_loose = is_whole(diagram_.nodes[box].place);
      if (is_loose) box = run_in(box, operation);
      const std::size_t leaf = add(box, name_of(operation), DiagramPlace::operation);
      diagram_.leaf_of.push_back(leaf);
      for (std::size_t node = leaf;; node = diagram_.nodes[node].parent) {
        diagram_.nodes[node].operations.push_back(operation);
        if (node == 0) break;
      }
      // a run is called what its last operation makes
      if (is_loose) diagram_.nodes[box].path = name_of(operation);
    }
    return std::move(diagram_);
  }

 private:
  static bool is_whole(DiagramPlace place) {
    return place == DiagramPlace::model || place == DiagramPlace::stack;
  }
  const std::string& name_of(std::size_t operation) const {
    return graph_.spec(core::result(graph_.operations()[operation])).name;
  }

  /// How deep the groups below each group go: 0 for a part.
  void note_parents(std::string_view group) {
    int height = 0;
    for (std::string_view at = group; !at.empty(); at = core::owner(at), ++height) {
      int& known = heights_[std::string(at)];
      known = std::max(known, height);
    }
  }

  std::size_t add(std::size_t parent, std::string path, DiagramPlace place) {
    diagram_.nodes.push_back({std::move(path), place, parent, {}, {}, {}});
    const std::size_t node = diagram_.nodes.size() - 1;
    diagram_.nodes[parent].children.push_back(node);
    return node;
  }

  std::size_t box_of(std::string_view group) {
    if (const auto found = boxes_.find(group); found != boxes_.end()) return found->second;
    const std::size_t parent = box_of(core::owner(group));
    const int height = heights_.find(group)->second;
    const DiagramPlace place = height == 0                                           ? DiagramPlace::part
                               : diagram_.nodes[parent].place == DiagramPlace::model ? DiagramPlace::stack
                                                                                     : DiagramPlace::block;
    const std::size_t node = add(parent, std::string(group), place);
    boxes_.emplace(std::string(group), node);
    return node;
  }

  /// The run of loose operations at the end of `box` that the operation goes on, or a new one.
  std::size_t run_in(std::size_t box, std::size_t operation) {
    const std::vector<std::size_t>& children = diagram_.nodes[box].children;
    if (!children.empty() && operation > 0 && groups_[operation] == groups_[operation - 1] &&
        diagram_.nodes[diagram_.leaf_of.back()].parent == children.back())
      return children.back();
    return add(box, name_of(operation), DiagramPlace::part);
  }

  const Graph& graph_;
  std::vector<std::string> groups_;
  std::map<std::string, int, std::less<>> heights_;
  std::map<std::string, std::size_t, std::less<>> boxes_;
  Diagram diagram_;
};

/// Which operations read each tensor.
std::vector<std::vector<std::size_t>> readers_of(const Graph& graph) {
  std::vector<std::vector<std::size_t>> readers(graph.n_tensors());
  for (std::size_t operation = 0; operation < graph.operations().size(); ++operation)
    for (const TensorId operand : core::operands(graph.operations()[operation]))
      readers[operand.index].push_back(operation);
  return readers;
}

/// The chain of boxes from the model down to an operation's, both included.
std::vector<std::size_t> chain_of(const Diagram& diagram, std::size_t operation) {
  std::vector<std::size_t> chain;
  for (std::size_t node = diagram.leaf_of[operation]; node != 0; node = diagram.nodes[node].parent)
    chain.push_back(node);
  chain.push_back(0);
  std::reverse(chain.begin(), chain.end());
  return chain;
}

void add_edge(Diagram& diagram, std::size_t box, const DiagramEdge& edge) {
  std::vector<DiagramEdge>& edges = diagram.nodes[box].edges;
  if (std::find(edges.begin(), edges.end(), edge) == edges.end()) edges.push_back(edge);
}

/// A tensor goes out of the boxes of what makes it, over the box that both lie in, into the boxes of its
/// reader.
void connect(Diagram& diagram, TensorId tensor, std::size_t producer, std::size_t reader) {
  const std::vector<std::size_t> from = chain_of(diagram, producer), to = chain_of(diagram, reader);
  std::size_t meet = 0;  // the place in both chains of the deepest box that holds both
  while (meet + 1 < std::min(from.size(), to.size()) && from[meet + 1] == to[meet + 1]) ++meet;
  for (std::size_t at = from.size() - 2; at > meet; --at)
    add_edge(diagram, from[at], {tensor, from[at + 1], std::nullopt});
  add_edge(diagram, from[meet], {tensor, from[meet + 1], to[meet + 1]});
  for (std::size_t at = meet + 1; at + 1 < to.size(); ++at)
    add_edge(diagram, to[at], {tensor, std::nullopt, to[at + 1]});
}

std::size_t climb_to(const Diagram& diagram, std::size_t node, DiagramPlace place) {
  while (diagram.nodes[node].place > place) node = diagram.nodes[node].parent;
  return node;
}

/// The attention of an operation, else of the next that has one, else the last of all; none without any.
std::optional<std::size_t> attention_near(const Graph& graph, const Diagram& diagram, std::size_t operation) {
  std::optional<std::size_t> last;
  for (std::size_t at = 0; at < graph.operations().size(); ++at) {
    if (!std::holds_alternative<core::Scores>(graph.operations()[at])) continue;
    last = diagram.nodes[diagram.leaf_of[at]].parent;
    if (diagram.nodes[*last].operations.back() >= operation) return last;
  }
  return last;
}

/// The box with this path, or of the operation that makes or first reads the tensor with this name; else the
/// operation's own.
std::size_t box_named(const Graph& graph, const Diagram& diagram, std::string_view path,
                      std::size_t operation) {
  if (path.empty()) return diagram.leaf_of[operation];
  if (const std::optional<std::size_t> found = diagram.find(path)) return *found;
  const std::optional<TensorId> tensor = graph.find(path);
  if (!tensor) return diagram.leaf_of[operation];
  if (const std::optional<std::size_t> producer = graph.producer(*tensor)) return diagram.leaf_of[*producer];
  const std::vector<std::size_t>& readers = diagram.readers[tensor->index];
  return diagram.leaf_of[readers.empty() ? operation : readers.front()];
}

}  // namespace

std::optional<std::size_t> Diagram::find(std::string_view path) const {
  for (std::size_t node = 1; node < nodes.size(); ++node)
    if (nodes[node].path == path) return node;
  return std::nullopt;
}

std::optional<std::size_t> Diagram::child_with(std::size_t node, std::size_t operation) const {
  for (std::size_t at = leaf_of[operation]; at != 0; at = nodes[at].parent)
    if (nodes[at].parent == node) return at;
  return std::nullopt;
}

bool Diagram::is_within(std::size_t node, std::size_t ancestor) const {
  while (node != ancestor && node != 0) node = nodes[node].parent;
  return node == ancestor;
}

Diagram make_diagram(const Graph& graph) {
  Diagram diagram = Grower(graph).grow();
  diagram.readers = readers_of(graph);
  for (std::size_t producer = 0; producer < graph.operations().size(); ++producer) {
    const TensorId tensor = core::result(graph.operations()[producer]);
    for (const std::size_t reader : diagram.readers[tensor.index]) connect(diagram, tensor, producer, reader);
  }
  return diagram;
}

std::size_t opened_box(const Graph& graph, const Diagram& diagram, StageLevel level, std::string_view path,
                       std::optional<std::size_t> operation) {
  if (level == StageLevel::model || graph.operations().empty()) return 0;
  const std::size_t node = box_named(graph, diagram, path, operation.value_or(0));
  if (level == StageLevel::block) {
    const std::size_t block = climb_to(diagram, node, DiagramPlace::block);
    return diagram.nodes[block].place == DiagramPlace::block ? block : 0;
  }
  if (level == StageLevel::part) return climb_to(diagram, node, DiagramPlace::part);
  return attention_near(graph, diagram, diagram.nodes[node].operations.front()).value_or(0);
}

bool is_open(const Diagram& diagram, std::size_t node, std::size_t opened) {
  const DiagramPlace place = diagram.nodes[node].place;
  if (place == DiagramPlace::model || place == DiagramPlace::stack) return true;
  return place != DiagramPlace::operation && diagram.is_within(opened, node);
}

bool carries_gradient(const Graph& graph, const Diagram& diagram, std::size_t within, const DiagramEdge& edge,
                      const std::vector<bool>& has_run) {
  const std::vector<std::size_t>& readers = diagram.readers[edge.tensor.index];
  return std::any_of(readers.begin(), readers.end(), [&](std::size_t reader) {
    if (!has_run[reader]) return false;
    // an edge that leaves leads to all readers outside; one to the box itself, to what its heads do
    const std::size_t leaf = diagram.leaf_of[reader];
    const bool is_there = !edge.to ? !diagram.is_within(leaf, within)
                          : *edge.to == within
                              ? diagram.nodes[leaf].parent == within && is_by_head(graph, reader)
                              : diagram.is_within(leaf, *edge.to);
    if (!is_there) return false;
    const std::vector<core::Operand> operands = core::operands_of(graph.operations()[reader]);
    return std::any_of(operands.begin(), operands.end(), [&](const core::Operand& operand) {
      return operand.tensor == edge.tensor && operand.is_differentiable;
    });
  });
}

std::vector<std::size_t> operations_of(const Diagram& diagram, const core::Step& step) {
  if (step.phase == core::Phase::update) return diagram.readers[step.parameter.index];
  return {step.operation};
}

bool is_by_head(const Graph& graph, std::size_t operation) {
  return graph.spec(core::result(graph.operations()[operation])).shape.find(core::Axis::head) >= 0;
}

void leave_out_lengths(Diagram& diagram, const core::Trace<float>& trace) {
  const core::Inputs inputs = core::find_inputs(trace.graph());
  const core::Sizes& sizes = trace.workspace().sizes();
  const auto leave_out = [&](std::optional<TensorId> lengths, std::int64_t longest) {
    if (!lengths) return;
    const std::span<const std::int32_t> all = trace.workspace().integers(*lengths);
    if (std::all_of(all.begin(), all.end(), [&](std::int32_t length) { return length == longest; }))
      diagram.left_out.push_back(*lengths);
  };
  leave_out(inputs.lengths, sizes.source);
  leave_out(inputs.target_lengths, sizes.target);
}

std::vector<TensorId> given_to(const Graph& graph, const Diagram& diagram, std::size_t operation) {
  const std::vector<TensorId>& left_out = diagram.left_out;
  std::vector<TensorId> given;
  for (const TensorId operand : core::operands(graph.operations()[operation]))
    if (!graph.producer(operand) && std::find(left_out.begin(), left_out.end(), operand) == left_out.end())
      given.push_back(operand);
  std::stable_sort(given.begin(), given.end(), [&](TensorId left, TensorId right) {
    return graph.spec(left).role == core::Role::parameter && graph.spec(right).role != core::Role::parameter;
  });
  return given;
}

TensorId shown_tensor(const Graph& graph, const Diagram& diagram, std::size_t node) {
  const std::vector<DiagramEdge>& edges = diagram.nodes[node].edges;
  const auto out =
      std::find_if(edges.rbegin(), edges.rend(), [](const DiagramEdge& edge) { return !edge.to; });
  return out != edges.rend() ? out->tensor
                             : core::result(graph.operations()[diagram.nodes[node].operations.back()]);
}

}  // namespace headscope::simulator
