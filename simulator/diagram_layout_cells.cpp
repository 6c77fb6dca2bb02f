// Within an opened part: the operations' pictures, what is given to them, and the grid of the heads.
#include "simulator/diagram_layouter.h"
#include "simulator/tensor_facts.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <string_view>

namespace headscope::simulator {

float Layouter::given_width(std::size_t node) const {
  const std::size_t operation = diagram_.nodes[node].operations.front();
  if (given_to(graph_, diagram_, operation).empty()) return 0;
  const float side = cell_ / 2;
  return u(5) + side + (side >= metrics_.line ? u(3) + symbol_width(operation) : 0);
}

/// Of the longest symbol beside a picture.
float Layouter::symbol_width(std::size_t operation) const {
  std::size_t longest = 1;
  for (const core::TensorId tensor : given_to(graph_, diagram_, operation))
    longest = std::max(longest, graph_.spec(tensor).symbol.size());
  return std::min(u(kSymbolBegin) + t(kSymbolLetter) * static_cast<float>(longest),
                  u(kSymbolBegin) + t(kSymbol));
}

float Layouter::cell_width(std::size_t node) const {
  return std::max(cell_ + given_width(node), u(30));
}

/// Parameters and inputs, one below the other.
void Layouter::place_given(PlacedBox& box, ImVec2 at, float side) {
  const std::size_t operation = diagram_.nodes[box.node].operations.front();
  const std::vector<core::TensorId> given = given_to(graph_, diagram_, operation);
  if (given.empty()) return;
  const auto n = static_cast<float>(given.size());
  const float pitch = std::min(side + u(2), (cell_ + u(2)) / n);
  for (const core::TensorId tensor : given) {
    PlacedTensor placed;
    placed.tensor = tensor;
    const float mine = std::min(side, pitch - u(2));
    placed.picture = rect_at(at, {mine, mine});
    if (pitch >= metrics_.line && side >= metrics_.line)
      placed.label = rect_at({at.x + side + u(3), at.y + (mine - metrics_.line) / 2},
                             {symbol_width(operation), metrics_.line});
    box.given.push_back(placed);
    at.y += pitch;
  }
}

void Layouter::place_cell(std::size_t node, ImVec2 at) {
  PlacedBox box;
  box.node = node, box.form = BoxForm::cell;
  box.box = rect_at(at, {cell_width(node), cell_height()});
  box.picture = rect_at(at, {cell_, cell_});
  box.label = {{at.x, box.picture.max.y + u(2)}, box.box.max};
  place_given(box, {box.picture.max.x + u(5), at.y}, cell_ / 2);
  layout_.boxes.push_back(std::move(box));
}

float Layouter::place_right(std::size_t node, ImVec2 at, float width) {
  const std::size_t index = begin_open(node, at, width);
  Placed placed;
  placed.node = node, placed.flow = Flow::right, placed.unit = s(1);
  placed.ranks = rank_children(diagram_, node, diagram_.nodes[node].children);
  placed.lanes = assign_lanes(diagram_, node, placed.ranks, from_beside_);
  std::vector<float> widths;
  std::size_t tallest = 1;
  for (const std::vector<std::size_t>& row : placed.ranks.rows) {
    float wide = 0;
    for (const std::size_t child : row) wide = std::max(wide, cell_width(child));
    widths.push_back(wide);
    tallest = std::max(tallest, row.size());
  }
  const float room = u(kCellGap);  // for what comes in and what goes out
  const float needed = std::accumulate(widths.begin(), widths.end(), 0.0F) +
                       u(kCellGap) * static_cast<float>(widths.size() - 1) + 2 * room;
  if (needed > width) is_too_wide_ = true;
  const float gap = widths.size() > 1
                        ? std::clamp(u(kCellGap) + (width - needed) / static_cast<float>(widths.size() + 1),
                                     u(kCellGap), u(2.2F * kCellGap))
                        : u(kCellGap);
  const float top = at.y + title_height() + u(4) + s(kLanePitch) * static_cast<float>(placed.lanes.n_near);
  const float pitch = cell_height() + u(8);
  const float body = pitch * static_cast<float>(tallest) - u(8);
  // in the middle of the box
  const float used = needed + (gap - u(kCellGap)) * static_cast<float>(widths.size() - 1) - 2 * room;
  float x = at.x + std::max(room, (width - used) / 2);
  for (std::size_t row = 0; row < placed.ranks.rows.size(); ++row) {
    const std::vector<std::size_t>& cells = placed.ranks.rows[row];
    float y = top + (body - (pitch * static_cast<float>(cells.size()) - u(8))) / 2;
    for (const std::size_t cell : cells) {
      place_cell(cell, {x, y});
      y += pitch;
    }
    placed.spans.emplace_back(x, x + widths[row]);
    x += widths[row] + gap;
  }
  placed.near_lane = top - s(kLanePitch) / 2;
  placed.far_lane = top + body + s(kLanePitch) / 2;
  const float height = top - at.y + body + s(kLanePitch) * static_cast<float>(placed.lanes.n_far) + u(8);
  placed.box = rect_at(at, {width, height});
  router_.route(placed);
  end_open(index, height);
  return height;
}

/// A column for each quantity that the attention computes head by head.
HeadGrid Layouter::make_grid(std::size_t node) const {
  HeadGrid grid;
  grid.node = node;
  std::vector<std::string_view> quantities;
  for (const std::size_t operation : diagram_.nodes[node].operations) {
    if (!is_by_head(graph_, operation)) continue;
    const core::TensorSpec& spec = graph_.spec(core::result(graph_.operations()[operation]));
    const std::string_view quantity = quantity_of(spec.name);
    const auto found = std::find(quantities.begin(), quantities.end(), quantity);
    const auto column = static_cast<std::size_t>(found - quantities.begin());
    if (found == quantities.end()) quantities.push_back(quantity), grid.columns.emplace_back();
    grid.columns[column].push_back(operation);
    if (grid.heads.empty())
      grid.heads.resize(static_cast<std::size_t>(spec.shape[spec.shape.find(core::Axis::head)].extent.size));
  }
  return grid;
}

/// Strips of a head's pictures, one below the other, in as many columns as there is room for; a strip that is
/// wider than the room is broken.
void Layouter::fill_grid(HeadGrid& grid, const Rect& room) const {
  const float side = try_.picture, pitch = side + u(4), disc = t(kDisc) + u(4), apart = u(14);
  const std::size_t n_columns = grid.columns.size();
  const auto fit = static_cast<std::size_t>(std::max(1.0F, std::floor((room.width() - disc) / pitch)));
  const std::size_t a_line = std::min(n_columns, fit), n_lines = (n_columns + a_line - 1) / a_line;
  const float strip = disc + pitch * static_cast<float>(a_line);
  const float strip_height = std::max(pitch * static_cast<float>(n_lines), t(kDisc) + u(2)) + u(2);
  const auto most =
      static_cast<std::size_t>(std::max(1.0F, std::floor((room.width() + apart) / (strip + apart))));
  const std::size_t n_heads = grid.heads.size();
  const std::size_t n_strips = std::min(most, n_heads), n_rows = (n_heads + n_strips - 1) / n_strips;
  const float titles = n_lines == 1 ? metrics_.line + u(2) : 0;
  for (std::size_t head = 0; head < n_heads; ++head) {
    PlacedHead& placed = grid.heads[head];
    placed.head = static_cast<std::int64_t>(head);
    // heads run down the strips, as they are numbered
    const std::size_t at_strip = head / n_rows;
    const ImVec2 at{room.min.x + static_cast<float>(at_strip) * (strip + apart),
                    room.min.y + titles + static_cast<float>(head % n_rows) * strip_height};
    placed.box = rect_at(at, {strip, strip_height - u(2)});
    placed.disc = rect_at({at.x, placed.box.centre().y - t(kDisc) / 2}, {t(kDisc), t(kDisc)});
    for (std::size_t column = 0; column < n_columns; ++column) {
      const std::size_t at_line = column / a_line;
      placed.pictures.push_back(rect_at({at.x + disc + pitch * static_cast<float>(column % a_line),
                                         at.y + u(1) + pitch * static_cast<float>(at_line)},
                                        {side, side}));
    }
  }
  if (n_lines == 1)
    for (std::size_t head = 0; head < n_heads; head += n_rows)
      for (std::size_t column = 0; column < n_columns; ++column) {
        const Rect& below = grid.heads[head].pictures[column];
        grid.titles.emplace_back(column,
                                 Rect{{below.min.x, room.min.y}, {below.max.x, room.min.y + metrics_.line}});
      }
  grid.box = grid.heads.front().box;
  for (const PlacedHead& placed : grid.heads) grid.box = joined(grid.box, placed.box);
  grid.box.min.y = room.min.y;
}

float Layouter::place_heads(std::size_t node, ImVec2 at, float width) {
  const std::size_t index = begin_open(node, at, width);
  cell_ = std::max(try_.picture, u(32));
  layout_.grid = make_grid(node);
  std::vector<std::size_t> whole;  // the children that join the heads
  for (const std::size_t child : diagram_.nodes[node].children)
    if (!is_by_head(graph_, diagram_.nodes[child].operations.front())) whole.push_back(child);
  float cells = 0;
  for (const std::size_t child : whole) cells += cell_width(child) + u(kCellGap);

  const float side = u(kCellGap), top = at.y + title_height() + u(4);
  const float strip =
      t(kDisc) + u(4) + (try_.picture + u(4)) * static_cast<float>(layout_.grid->columns.size());
  const bool is_beside = layout_.grid->heads.size() <= kBesideHeads && strip + cells + 3 * side <= width;
  if (cells + 2 * side > width || t(kDisc) + u(8) + try_.picture + 2 * side > width) is_too_wide_ = true;
  fill_grid(*layout_.grid, {{at.x + side, top}, {at.x + width - side - (is_beside ? cells : 0), top}});
  const Rect grid = layout_.grid->box;
  float x = is_beside ? grid.max.x + u(kCellGap) : at.x + 2 * side;
  const float y = is_beside ? std::max(top, grid.centre().y - cell_height() / 2) : grid.max.y + u(10);
  float bottom = grid.max.y;
  for (const std::size_t child : whole) {
    place_cell(child, {x, y});
    x += cell_width(child) + u(kCellGap);
    bottom = std::max(bottom, y + cell_height());
  }
  const float height = bottom + u(8) - at.y;
  route_heads(node, rect_at(at, {width, height}));
  end_open(index, height);
  return height;
}

/// Into the grid, from it to what joins the heads, and out.
void Layouter::route_heads(std::size_t node, const Rect& box) {
  const Rect grid = layout_.grid->box;
  const auto is_whole = [&](std::size_t child) {
    return !is_by_head(graph_, diagram_.nodes[child].operations.front());
  };
  float entry = box.min.x;
  const auto in_of = [&](std::size_t child) {
    const Rect& picture = layout_.find(child)->picture;
    return ImVec2{picture.min.x, picture.centre().y};
  };
  std::set<std::pair<std::uint32_t, std::size_t>> seen;
  for (const DiagramEdge& edge : diagram_.nodes[node].edges) {
    PlacedEdge placed{edge.tensor, node, edge.from, edge.to, {}};
    if (edge.from && !is_whole(*edge.from)) placed.from = node;
    if (edge.to && !is_whole(*edge.to)) placed.to = node;
    if (placed.from && placed.from == placed.to) continue;  // within the grid
    if (!seen.emplace(edge.tensor.index, placed.to.value_or(0)).second) continue;
    const PortKey key{node, edge.tensor.index};
    if (!placed.from) {
      entry += u(6);
      const bool is_beside =
          from_beside_.contains(edge.tensor.index) &&
          !std::binary_search(diagram_.nodes[node].operations.begin(), diagram_.nodes[node].operations.end(),
                              *graph_.producer(edge.tensor));
      const ImVec2 end =
          placed.to == node ? ImVec2{grid.min.x, grid.min.y + (entry - box.min.x) * 2} : in_of(*placed.to);
      const ImVec2 start = is_beside ? ImVec2{box.min.x, end.y} : ImVec2{entry, box.min.y};
      (is_beside ? ports_.beside : ports_.in).emplace(key, start);
      placed.points = {start, {entry, start.y}, {entry, end.y}, end};
    } else {
      const Rect from = placed.from == node ? grid : layout_.find(*placed.from)->box;
      const ImVec2 end = placed.to ? in_of(*placed.to) : ImVec2{box.max.x - u(8), box.max.y};
      const ImVec2 start =
          end.y > from.max.y && placed.to
              ? ImVec2{from.min.x + u(6), from.max.y}
              : ImVec2{from.max.x, placed.to             ? end.y
                                   : placed.from == node ? from.centre().y
                                                         : layout_.find(*placed.from)->picture.centre().y};
      placed.points = placed.to ? std::vector<ImVec2>{start, {start.x, end.y}, end}
                                : std::vector<ImVec2>{start, {end.x, start.y}, end};
      if (!placed.to) ports_.out.emplace(key, end);
    }
    placed.points = straightened(placed.points);
    layout_.edges.push_back(std::move(placed));
  }
}

}  // namespace headscope::simulator
