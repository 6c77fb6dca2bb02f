#include "simulator/diagram_layout.h"

#include "simulator/diagram_layouter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

namespace headscope::simulator {
namespace {

/// The sizes of pictures to try, in theme pixels, the largest first; and the smallest to shrink to for the
/// sake of height, where scrolling reads better.
struct Sizes {
  std::vector<float> all;
  float decent = 0;
};
Sizes picture_sizes(StageLevel level) {
  if (level == StageLevel::heads)
    return {{192, 160, 136, 112, 96, 84, 72, 62, 54, 46, 40, 32, 26, 22, 18}, 18};
  if (level == StageLevel::head)
    return {{288, 256, 224, 192, 160, 136, 116, 100, 88, 78, 70, 62, 54, 48, 42, 36, 30, 24}, 56};
  return {{256, 224, 192, 160, 128, 112, 96, 84, 72, 62, 54, 48, 42, 36, 30, 24}, 42};
}

}  // namespace

std::size_t Layouter::begin_open(std::size_t node, ImVec2 at, float width) {
  PlacedBox box;
  box.node = node, box.form = BoxForm::open;
  box.box = rect_at(at, {width, 0});
  layout_.boxes.push_back(box);
  return layout_.boxes.size() - 1;
}

/// Gives the box its height, and its title the longer side of what comes in at the top.
void Layouter::end_open(std::size_t index, float height) {
  PlacedBox& box = layout_.boxes[index];
  box.box.max.y = box.box.min.y + height;
  if (box.node == 0) return;
  float first = box.box.max.x, last = box.box.min.x;
  for (const auto& [key, port] : ports_.in)
    if (key.first == box.node) first = std::min(first, port.x), last = std::max(last, port.x);
  const float left = box.box.min.x + u(8), right = box.box.max.x - u(8);
  const bool is_free = first > last;
  const bool is_left = is_free || first - left > right - last;
  const float begin = is_left ? left : last + u(8), end = is_free ? right : is_left ? first - u(8) : right;
  box.label = {{begin, box.box.min.y + u(3)}, {std::max(begin, end), box.box.min.y + u(3) + metrics_.line}};
}

/// The stacks side by side; what reads the last of them stands below it.
float Layouter::place_model(ImVec2 at, float width) {
  const std::size_t root = begin_open(0, at, width);
  std::vector<std::size_t> beside, main;
  std::size_t n_stacks = 0;
  for (const std::size_t child : diagram_.nodes[0].children)
    if (is_stack(child)) ++n_stacks;
  for (const std::size_t child : diagram_.nodes[0].children)
    (is_stack(child) && beside.size() + 1 < n_stacks ? beside : main).push_back(child);

  const float gutter = std::min(s(kGutter), width / 12);
  const auto n_columns = static_cast<float>(beside.size() + 1);
  const float thin = std::clamp(width * 0.15F, s(kThinColumn), t(kThinColumnMost));
  const auto column_width = [&](bool is_opened_column) {
    const float rest = width - gutter * (n_columns - 1);
    if (opened_ == 0 || beside.empty()) return rest / n_columns;
    return is_opened_column ? rest - thin * (n_columns - 1) : thin;
  };
  const float margin = s(kPad) + (beside.empty() ? 0 : s(kLanePitch));
  stack_width_ = std::max(column_width(false) - 2 * margin, u(kNarrowSlot));
  float x = at.x, height = 0;
  for (const std::size_t stack : beside) {
    const float wide = column_width(opened_ != 0 && diagram_.is_within(opened_, stack));
    height = std::max(height, place(stack, {x, at.y}, wide));
    x += wide + gutter;
  }
  height = std::max(height, place_down(0, {x, at.y}, at.x + width - x, main));
  end_open(root, height);

  // from one stack to another, over the gutter
  for (const DiagramEdge& edge : diagram_.nodes[0].edges) {
    if (!edge.from || !edge.to || !is_stack(*edge.from) || !is_stack(*edge.to)) continue;
    const ImVec2 from = ports_.out.at({*edge.from, edge.tensor.index}),
                 to = ports_.beside.at({*edge.to, edge.tensor.index});
    const float turn = to.x - gutter / 2;
    layout_.edges.push_back({edge.tensor, 0, edge.from, edge.to, {from, {turn, from.y}, {turn, to.y}, to}});
  }
  return height;
}

float Layouter::place(std::size_t node, ImVec2 at, float width) {
  if (!is_opened(node)) return place_closed(node, at, width);
  if (node == opened_ && level_ == StageLevel::heads && try_.picture > 0) return place_heads(node, at, width);
  if (diagram_.nodes[node].place == DiagramPlace::part && try_.picture > 0)
    return place_right(node, at, width);
  const std::size_t index = begin_open(node, at, width);
  const float height = place_down(node, at, width, diagram_.nodes[node].children);
  end_open(index, height);
  return height;
}

float Layouter::place_closed(std::size_t node, ImVec2 at, float width) {
  const Room room = room_of(node);
  PlacedBox box;
  box.node = node;
  const float most = u(kClosedWidth) * (room == Room::roomy ? std::min(try_.spread, kMostWidened) : 1);
  const float wide = std::min({width, most, opened_ == 0 ? stack_width_ : width});
  box.box = rect_at({at.x + (width - wide) / 2, at.y}, {wide, closed_height(node)});
  const DiagramNode& known = diagram_.nodes[node];
  const bool is_sum = known.place == DiagramPlace::operation &&
                      std::holds_alternative<core::Add>(graph_.operations()[known.operations.front()]);
  const bool has_stream = known.place == DiagramPlace::block || is_sum;
  const float stream = box.box.min.x + std::min(s(kStream), wide / 2);
  box.label = {{has_stream ? stream + (is_sum ? u(14) : u(8)) : box.box.min.x + u(8), box.box.min.y},
               {box.box.max.x - u(6), box.box.max.y}};
  if (has_stream) box.stream = {ImVec2{stream, box.box.min.y}, ImVec2{stream, box.box.max.y}};
  if (room != Room::thin && wide >= u(kPictureFrom)) {
    const float side = picture_in(room);
    box.picture = rect_at({box.box.max.x - u(4) - side, box.box.centre().y - side / 2}, {side, side});
    box.label.max.x = box.picture.min.x - u(6);
    if (known.place == DiagramPlace::operation && wide >= u(kGivenFrom)) {
      const std::vector<core::TensorId> given = given_to(graph_, diagram_, known.operations.front());
      for (const core::TensorId tensor : given) {
        const float x = box.label.max.x - u(16);
        if (x < box.label.min.x + u(60)) break;
        box.given.push_back({tensor, rect_at({x, box.box.centre().y - u(8)}, {u(16), u(16)}), {}});
        box.label.max.x = x - u(4);
      }
    }
  }
  layout_.boxes.push_back(std::move(box));
  return closed_height(node);
}

/// One row of boxes: an open one takes what the closed ones beside it leave.
float Layouter::place_row(const std::vector<std::size_t>& row, ImVec2 at, float width) {
  const auto n = static_cast<float>(row.size());
  const float gap = s(kBesideGap), rest = width - gap * (n - 1);
  const auto n_open = static_cast<float>(
      std::count_if(row.begin(), row.end(), [&](std::size_t node) { return is_opened(node); }));
  const float closed = n_open > 0 ? std::min(u(kNarrowSlot), rest / n) : rest / n;
  float height = 0;
  for (const std::size_t node : row) {
    const float wide = is_opened(node) ? (rest - closed * (n - n_open)) / n_open : closed;
    height = std::max(height, place(node, at, wide));
    at.x += wide + gap;
  }
  return height;
}

float Layouter::place_down(std::size_t node, ImVec2 at, float width,
                           const std::vector<std::size_t>& children) {
  Placed placed;
  placed.node = node, placed.unit = s(1);
  placed.ranks = rank_children(diagram_, node, children);
  const auto is_from_beside = [&](const DiagramEdge& edge) {
    return !edge.from && from_beside_.contains(edge.tensor.index);
  };
  const std::vector<DiagramEdge>& edges = diagram_.nodes[node].edges;
  const bool has_beside = std::any_of(edges.begin(), edges.end(), is_from_beside);
  std::size_t widest = 1;
  for (const std::vector<std::size_t>& row : placed.ranks.rows) widest = std::max(widest, row.size());
  // what comes from the left would run through the first of a row
  const bool is_barred = std::any_of(edges.begin(), edges.end(), [&](const DiagramEdge& edge) {
    return is_from_beside(edge) && placed.ranks.rows[placed.ranks.rank.at(*edge.to)].front() != *edge.to;
  });
  if (is_barred || width / static_cast<float>(widest) < u(kNarrowSlot) + 2 * s(kPad))
    placed.ranks = one_by_one(placed.ranks);
  placed.lanes = assign_lanes(diagram_, node, placed.ranks, from_beside_);

  const float pitch = s(kLanePitch), pad = node == 0 ? 0 : s(kPad);
  const float near = pad + (has_beside ? pitch : 0) + pitch * static_cast<float>(placed.lanes.n_near);
  float far = pad + pitch * static_cast<float>(placed.lanes.n_far);
  // with room to spare, boxes stand in the middle, one below the other through all levels
  if (squeeze_ >= 1) far = std::max(far, near);
  const Rect inner{{at.x + near, at.y}, {at.x + width - far, at.y}};
  placed.near_lane = inner.min.x - pitch / 2;
  placed.far_lane = inner.max.x + pitch / 2;
  float y =
      at.y + (node == 0 ? 0 : title_height() + (diagram_.nodes[node].edges.empty() ? 0 : gap_in(node) / 2));
  for (std::size_t row = 0; row < placed.ranks.rows.size(); ++row) {
    if (row > 0) y += gap_in(node);
    const float height = place_row(placed.ranks.rows[row], {inner.min.x, y}, inner.width());
    placed.spans.emplace_back(y, y + height);
    y += height;
  }
  if (node != 0) y += gap_in(node) * 0.75F;
  placed.box = {at, {at.x + width, y}};
  // lanes run beside the boxes, which may be much narrower than the room
  float left = inner.max.x, right = inner.min.x;
  for (const std::vector<std::size_t>& row : placed.ranks.rows)
    for (const std::size_t child : row) {
      left = std::min(left, layout_.find(child)->box.min.x);
      right = std::max(right, layout_.find(child)->box.max.x);
    }
  placed.near_lane = left - pitch / 2;
  placed.far_lane = right + pitch / 2;
  router_.route(placed);
  return y - at.y;
}

const PlacedBox* DiagramLayout::find(std::size_t node) const {
  const auto found =
      std::find_if(boxes.begin(), boxes.end(), [&](const PlacedBox& box) { return box.node == node; });
  return found == boxes.end() ? nullptr : &*found;
}

DiagramLayout lay_out_diagram(const core::Graph& graph, const Diagram& diagram, StageLevel level,
                              std::size_t opened, const DiagramMetrics& metrics, const Rect& box) {
  const auto attempt = [&](const Try& how) {
    return Layouter(graph, diagram, level, opened, metrics, how).lay_out(box);
  };
  std::optional<DiagramLayout> best;
  if (diagram.nodes[opened].place == DiagramPlace::part) {
    const Sizes sizes = picture_sizes(level);
    for (const float size : sizes.all) {
      if (best && size < sizes.decent) break;
      std::optional<DiagramLayout> next = attempt({size * metrics.unit, Room::wide});
      if (!next) continue;
      best = std::move(next);
      if (best->height <= box.height()) break;
    }
    if (best) return *std::move(best);
  }
  constexpr std::array<Try, 11> kTries = {{{0, Room::roomy, 4.4F},
                                           {0, Room::roomy, 3.6F},
                                           {0, Room::roomy, 3},
                                           {0, Room::roomy, 2.4F},
                                           {0, Room::roomy, 2},
                                           {0, Room::roomy, 1.6F},
                                           {0, Room::roomy, 1.25F},
                                           {0, Room::roomy, 1},
                                           {0, Room::roomy, 0.85F},
                                           {0, Room::wide, 1},
                                           {0, Room::thin, 1}}};
  for (const Try& next : kTries) {
    // where even the names do not fit, what is opened scrolls with its pictures
    if (next.room == Room::thin && opened != 0) break;
    best = attempt(next);
    if (best->height <= box.height()) break;
  }
  return *std::move(best);
}

}  // namespace headscope::simulator
