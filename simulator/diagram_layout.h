// Where the block diagram's boxes stand and its edges run, in screen pixels: pure, nothing is drawn. Forward
// goes down through the boxes, and to the right within an opened part.
#pragma once

#include "simulator/diagram.h"
#include "simulator/painter.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace headscope::simulator {

/// What the look decides.
struct DiagramMetrics {
  float unit = 1;   // a theme pixel
  float line = 18;  // a label's line
};

/// A tensor that is given (a parameter, an input) as a small picture at its operation.
struct PlacedTensor {
  core::TensorId tensor;
  Rect picture;
  Rect label;  // its symbol; empty where there is no room
};

enum class BoxForm : std::uint8_t {
  open,    // around its children, with a title
  closed,  // a name, and where there is room a picture at the right
  cell     // an operation's picture with its name below
};

struct PlacedBox {
  std::size_t node = 0;
  BoxForm form = BoxForm::closed;
  Rect box, label;
  Rect picture;  // empty: none
  std::vector<PlacedTensor> given;
  /// Where the residual stream runs through a closed block or a sum.
  std::optional<std::pair<ImVec2, ImVec2>> stream;
};

/// `from` and `to` are children of the box `within`, as in DiagramEdge; the box itself stands for the grid of
/// its heads.
struct PlacedEdge {
  core::TensorId tensor;
  std::size_t within = 0;
  std::optional<std::size_t> from, to;
  std::vector<ImVec2> points;  // a polyline of horizontal and vertical lines, in forward direction
};

/// One head's pictures, a picture a column of the grid.
struct PlacedHead {
  std::int64_t head = 0;
  Rect box, disc;
  std::vector<Rect> pictures;
};
/// All heads of an opened attention. A column holds the operations of one quantity (queries, …, output).
struct HeadGrid {
  std::size_t node = 0;
  Rect box;
  std::vector<std::vector<std::size_t>> columns;
  std::vector<std::pair<std::size_t, Rect>> titles;  // a column's, over each strip of heads
  std::vector<PlacedHead> heads;
};

struct DiagramLayout {
  std::vector<PlacedBox> boxes;  // the outer before the inner
  std::vector<PlacedEdge> edges;
  std::optional<HeadGrid> grid;
  float height = 0;  // more than the box's where it must scroll

  const PlacedBox* find(std::size_t node) const;
};

/// Fits the diagram into the width of the box, and where it can into its height: pictures shrink, then names
/// stand alone.
DiagramLayout lay_out_diagram(const core::Graph& graph, const Diagram& diagram, StageLevel level,
                              std::size_t opened, const DiagramMetrics& metrics, const Rect& box);

}  // namespace headscope::simulator
