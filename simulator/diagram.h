// The stage's block diagram: which boxes there are, one in another, and what flows between them. Read off the
// graph's names and operands alone; where they stand is diagram_layout.h's.
#pragma once

#include "core/graph.h"
#include "core/steps.h"
#include "core/trace.h"
#include "simulator/app_state.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::simulator {

/// How far a box is from the whole model.
enum class DiagramPlace : std::uint8_t { model, stack, block, part, operation };

/// What flows between the children of a box: a tensor, from the child that makes it (none: it comes from
/// outside the box) to a child that reads it (none: it leaves the box).
struct DiagramEdge {
  core::TensorId tensor;
  std::optional<std::size_t> from, to;
  bool operator==(const DiagramEdge&) const = default;
};

struct DiagramNode {
  std::string path;  // "decoder.block0"; of an operation its result's name; of a run of operations its last's
  DiagramPlace place = DiagramPlace::model;
  std::size_t parent = 0;               // of the model: itself
  std::vector<std::size_t> children;    // nodes, in the order of their first operations
  std::vector<std::size_t> operations;  // all that lie in it, ascending
  std::vector<DiagramEdge> edges;       // between its children, in and out
};

struct Diagram {
  std::vector<DiagramNode> nodes;                 // the first is the model
  std::vector<std::size_t> leaf_of;               // the node of each operation
  std::vector<std::vector<std::size_t>> readers;  // the operations that read each tensor
  std::vector<core::TensorId> left_out;           // inputs that say nothing now, and are not drawn

  /// The outermost box with this path; none where there is no such box.
  std::optional<std::size_t> find(std::string_view path) const;
  /// The child of `node` in which the operation lies; none where it lies outside.
  std::optional<std::size_t> child_with(std::size_t node, std::size_t operation) const;
  /// Whether `node` is `ancestor` or lies in it.
  bool is_within(std::size_t node, std::size_t ancestor) const;
};

/// Boxes from the graph's paths: a stack has boxes that have boxes, a block has boxes, a part has operations.
/// Operations that stand directly in the model or a stack, one after another, make a part of their own (the
/// embedding, the loss).
Diagram make_diagram(const core::Graph& graph);

/// Which box is opened. `path` names a box, or a tensor in one; empty, or without such a box: what holds the
/// operation under the cursor. The levels of heads open attentions alone: elsewhere the next one at or after
/// the cursor's, else the last. The model at its own level, where nothing can be opened, and at the level of
/// blocks for what stands outside of them.
std::size_t opened_box(const core::Graph& graph, const Diagram& diagram, StageLevel level,
                       std::string_view path, std::optional<std::size_t> operation);

/// Whether the box shows its children: the model, the stacks, and what leads to the opened box, it included.
bool is_open(const Diagram& diagram, std::size_t node, std::size_t opened);

/// Whether a gradient has flowed back over an edge of the box: the backward pass of one of its readers has
/// run. `has_run` tells of each operation whether its backward pass has.
bool carries_gradient(const core::Graph& graph, const Diagram& diagram, std::size_t within,
                      const DiagramEdge& edge, const std::vector<bool>& has_run);

/// Whether the operation works head by head: its result has a side of heads.
bool is_by_head(const core::Graph& graph, std::size_t operation);

/// The tensors that the operation reads and nothing computes: parameters first, then inputs; without those
/// that are left out.
std::vector<core::TensorId> given_to(const core::Graph& graph, const Diagram& diagram, std::size_t operation);

/// Leaves out the lengths of sentences where every position is a word: nothing is padding then, and a mask
/// that hides the future alone has no use for a length.
void leave_out_lengths(Diagram& diagram, const core::Trace<float>& trace);

/// The operations that a step is about: one, or of an update those that read the parameter.
std::vector<std::size_t> operations_of(const Diagram& diagram, const core::Step& step);

/// What a box shows of itself: the result of its last operation that something outside it reads; where
/// nothing does, its last operation's.
core::TensorId shown_tensor(const core::Graph& graph, const Diagram& diagram, std::size_t node);

}  // namespace headscope::simulator
