// Inside one opened box of the diagram: which of its children stand side by side, and where the edges between
// them run. Used by diagram_layout.cpp alone.
#pragma once

#include "simulator/diagram_layout.h"

#include <map>
#include <set>
#include <utility>
#include <vector>

namespace headscope::simulator {

/// Which way forward goes in a box.
enum class Flow : std::uint8_t { down, right };

/// The children of a box in ranks: each stands after all that it reads. What reads nothing in the graph (a
/// dropout mask) stands as late as it may.
struct Ranks {
  std::vector<std::vector<std::size_t>> rows;  // nodes
  std::map<std::size_t, std::size_t> rank;     // of a node
};
Ranks rank_children(const Diagram& diagram, std::size_t node, const std::vector<std::size_t>& children);
/// Every child in a row of its own.
Ranks one_by_one(const Ranks& ranks);

/// An edge that passes rows by runs in a lane beside them.
enum class LaneSide : std::uint8_t { near, far };
struct Lanes {
  std::map<std::uint32_t, std::pair<LaneSide, std::size_t>> of_tensor;  // side and number
  std::size_t n_near = 0, n_far = 0;
};
Lanes assign_lanes(const Diagram& diagram, std::size_t node, const Ranks& ranks,
                   const std::set<std::uint32_t>& from_beside);

/// Without points that turn nowhere.
std::vector<ImVec2> straightened(const std::vector<ImVec2>& points);

using PortKey = std::pair<std::size_t, std::uint32_t>;  // node, tensor
/// Where edges enter and leave the boxes that have been placed.
struct Ports {
  std::map<PortKey, ImVec2> in, out;
  std::map<PortKey, ImVec2> beside;  // of what comes from another stack
};

/// A box whose children have been placed.
struct Placed {
  std::size_t node = 0;
  Flow flow = Flow::down;
  Rect box;
  Ranks ranks;
  Lanes lanes;
  std::vector<std::pair<float, float>> spans;  // of each row along the flow
  float near_lane = 0, far_lane = 0;           // where the first lane of a side runs, across the flow
  float unit = 1;
};

/// Adds the box's edges, and the ports of the box and of its closed children.
class Router {
 public:
  Router(const core::Graph& graph, const Diagram& diagram, const std::set<std::uint32_t>& from_beside,
         DiagramLayout& layout, Ports& ports)
      : graph_(graph), diagram_(diagram), from_beside_(from_beside), layout_(layout), ports_(ports) {}

  void route(const Placed& placed);

 private:
  struct Ends;
  void find_ports(const Placed& placed);
  void add(const Placed& placed, const DiagramEdge& edge, std::vector<ImVec2> points);
  std::vector<ImVec2> beside(const Placed& placed, const DiagramEdge& edge);
  std::vector<ImVec2> leaving_beside(const Placed& placed, const DiagramEdge& edge) const;
  std::vector<ImVec2> along(const Placed& placed, const DiagramEdge& edge);
  float turn_in_gap(const Placed& placed, std::ptrdiff_t after_row, std::uint32_t tensor) const;
  bool is_from_beside(std::size_t node, core::TensorId tensor) const;
  bool is_to_beside(std::size_t node, core::TensorId tensor) const;

  const core::Graph& graph_;
  const Diagram& diagram_;
  const std::set<std::uint32_t>& from_beside_;
  DiagramLayout& layout_;
  Ports& ports_;
};

}  // namespace headscope::simulator
