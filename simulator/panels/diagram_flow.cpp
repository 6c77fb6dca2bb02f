// What flows in the block diagram, forward and back, and the heads of an opened attention.
#include "simulator/panels/diagram_drawer.h"
#include "simulator/widgets/matrix.h"

#include <string>
#include <variant>

namespace headscope::simulator {
namespace {

using core::TensorId;

constexpr float kArrow = 4;

}  // namespace

void DiagramDrawer::draw_edges() {
  // what carries a gradient lies over what does not
  for (const PlacedEdge& edge : layout_.edges) draw_edge(edge);
}

void DiagramDrawer::draw_edge(const PlacedEdge& edge) {
  const bool has_flowed =
      has_gradient(edge.tensor) &&
      carries_gradient(graph_, subject_.diagram, edge.within, {edge.tensor, edge.from, edge.to}, ran_back_);
  const ImU32 forward = subject_.trace.is_computed(edge.tensor) ? colour().control : colour().hair;
  const ImU32 back = theme().hue(Concept::gradient);
  const float width = painter().stroke(has_flowed ? theme().line.hover : theme().line.hair);
  for (std::size_t at = 1; at < edge.points.size(); ++at) {
    const ImVec2 a = edge.points[at - 1], b = edge.points[at];
    if (has_flowed)
      painter().dashed_line(a, b, back, width, theme().line.gradient_dash);
    else
      painter().line(a, b, forward, width);
  }
  if (!has_flowed || !edge.from) return;
  const PlacedBox* from = layout_.find(*edge.from);
  if (!from || (from->form == BoxForm::open && edge.within != *edge.from)) return;
  // against the forward direction, onto what it came from
  const ImVec2 tip = edge.points[0], tail = edge.points[1];
  const float size = px(kArrow);
  const ImVec2 along{tail.x == tip.x  ? 0
                     : tail.x > tip.x ? size
                                      : -size,
                     tail.y == tip.y  ? 0
                     : tail.y > tip.y ? size
                                      : -size};
  painter().list().AddTriangleFilled(
      tip, {tip.x + 1.6F * along.x + along.y, tip.y + 1.6F * along.y + along.x},
      {tip.x + 1.6F * along.x - along.y, tip.y + 1.6F * along.y - along.x}, back);
}

/// The last of a column's tensors that is computed and goes on to something; before any is, the first.
TensorId DiagramDrawer::shown_in(const std::vector<std::size_t>& column) const {
  TensorId shown = core::result(graph_.operations()[column.front()]);
  for (const std::size_t operation : column) {
    const TensorId tensor = core::result(graph_.operations()[operation]);
    const bool is_chance = std::holds_alternative<core::DropoutMask>(graph_.operations()[operation]);
    if (subject_.trace.is_computed(tensor) && !subject_.diagram.readers[tensor.index].empty() && !is_chance)
      shown = tensor;
  }
  return shown;
}

void DiagramDrawer::draw_grid(const HeadGrid& grid) {
  for (const auto& [column, box] : grid.titles) {
    const TensorId shown = shown_in(grid.columns[column]);
    const Concept hue = concept_of_name(quantity_of(graph_.spec(shown).name)).value_or(Concept::none);
    const float side = painter().tag_size(TypeStyle::small);
    if (hue != Concept::none && side <= box.width() + px(2) && box.overlaps(seen_))
      painter().tag({box.centre().x - side / 2, box.centre().y - side / 2}, hue, TypeStyle::small);
  }
  for (const PlacedHead& head : grid.heads)
    if (head.box.overlaps(seen_)) draw_head(grid, head);
}

void DiagramDrawer::draw_head(const HeadGrid& grid, const PlacedHead& head) {
  const std::string id = "head" + std::to_string(head.head);
  const Touch touched = touch(ui(), id, head.disc);
  painter().head_disc(head.disc.centre(), static_cast<std::size_t>(head.head));
  draw_focus_ring(ui(), head.disc, touched);
  if (touched.hovered)
    painter().frame(head.disc.grown(px(1)), colour().primary, painter().stroke(theme().line.hover), px(12));
  if (touched.clicked) {
    ask(OpenPlace{StageLevel::head, node(opened_).path});
    choose_head(head.head);
  }
  for (std::size_t column = 0; column < grid.columns.size(); ++column) {
    const Rect& box = head.pictures[column];
    const TensorId shown = shown_in(grid.columns[column]);
    const Touch on = touch(ui(), id + "." + std::to_string(column), box, Reach::pointer);
    draw_picture(shown, head.head, box);
    const bool is_here = std::any_of(
        grid.columns[column].begin(), grid.columns[column].end(),
        [&](std::size_t operation) { return std::find(lit_.begin(), lit_.end(), operation) != lit_.end(); });
    const Concept hue = concept_of_name(quantity_of(graph_.spec(shown).name)).value_or(Concept::none);
    if (is_here) painter().frame(box.grown(px(1)), theme().hue(hue), painter().stroke(theme().line.hover));
    if (on.hovered) painter().frame(box, colour().primary, painter().stroke(theme().line.hover));
    if (on.clicked) {
      ask(ShowTensor{shown});
      choose_head(head.head);
    }
  }
}

}  // namespace headscope::simulator
