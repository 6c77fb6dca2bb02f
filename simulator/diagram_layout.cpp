#include "simulator/diagram_layout.h"

#include "simulator/diagram_routes.h"
#include "simulator/tensor_facts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <variant>

namespace headscope::simulator {
namespace {

// theme pixels
constexpr float kClosedWidth = 240, kThinColumnMost = 112, kPicture = 28, kPictureFrom = 112,
                kGivenFrom = 210;
constexpr float kGap = 16, kRoomyPicture = 44, kRoomyGap = 22, kThinGap = 8, kBesideGap = 10, kGutter = 26,
                kPad = 6, kLanePitch = 8;
constexpr float kStream = 14, kNarrowSlot = 64, kCellGap = 12, kSymbol = 31, kSymbolBegin = 4,
                kSymbolLetter = 9, kDisc = 22, kThinColumn = 56, kRoomy = 360, kMostSqueezed = 0.4F;

constexpr std::size_t kBesideHeads = 16;  // more take the whole width

constexpr float kMostWidened = 1.3F;  // a box, where there is room to spare

/// How much room is taken, from most to least.
enum class Room : std::uint8_t { roomy, wide, thin };

/// One try: pictures of one size, boxes of one height.
struct Try {
  float picture = 0;  // side of a cell's picture in screen pixels; 0: names alone
  Room room = Room::wide;
  float spread = 1;  // of what is roomy: how much larger than usual
};

class Layouter {
 public:
  Layouter(const core::Graph& graph, const Diagram& diagram, StageLevel level, std::size_t opened,
           const DiagramMetrics& metrics, const Try& attempt)
      : graph_(graph),
        diagram_(diagram),
        level_(level),
        opened_(opened),
        metrics_(metrics),
        try_(attempt),
        router_(graph, diagram, from_beside_, layout_, ports_),
        cell_(attempt.picture) {
    for (const DiagramEdge& edge : diagram.nodes[0].edges)
      if (edge.from && edge.to && is_stack(*edge.from) && is_stack(*edge.to))
        from_beside_.insert(edge.tensor.index);
  }

  /// Nothing where the pictures do not fit into the width.
  std::optional<DiagramLayout> lay_out(const Rect& box) {
    squeeze_ = std::clamp(box.width() / u(kRoomy), kMostSqueezed, 1.0F);
    layout_.height = place_model(box.min, box.width());
    if (is_too_wide_) return std::nullopt;
    return std::move(layout_);
  }

 private:
  float u(float theme_pixels) const { return theme_pixels * metrics_.unit; }
  /// The same of what is between boxes: a narrow room keeps its width for names.
  float s(float theme_pixels) const { return u(theme_pixels) * squeeze_; }
  bool is_stack(std::size_t node) const { return diagram_.nodes[node].place == DiagramPlace::stack; }
  bool is_opened(std::size_t node) const { return is_open(diagram_, node, opened_); }
  /// What is opened and what lies in it is drawn wide; when something is, the rest is thin.
  Room room_of(std::size_t node) const {
    if (try_.room == Room::thin) return Room::thin;
    return opened_ == 0 || diagram_.is_within(node, opened_) ? try_.room : Room::thin;
  }
  float closed_height(std::size_t node) const {
    const Room room = room_of(node);
    return room == Room::thin ? metrics_.line + u(2) : std::max(metrics_.line, picture_in(room)) + u(8);
  }
  float picture_in(Room room) const {
    return u(room == Room::roomy ? kRoomyPicture * try_.spread : kPicture);
  }
  float gap_in(std::size_t node) const {
    return u(room_of(node) == Room::thin && node != opened_ ? kThinGap
             : try_.room == Room::roomy                     ? kRoomyGap * try_.spread
                                                            : kGap);
  }

  float place_model(ImVec2 at, float width);
  float place_down(std::size_t node, ImVec2 at, float width, const std::vector<std::size_t>& children);
  float place_row(const std::vector<std::size_t>& row, ImVec2 at, float width);
  float place(std::size_t node, ImVec2 at, float width);
  float place_right(std::size_t node, ImVec2 at, float width);
  float place_heads(std::size_t node, ImVec2 at, float width);
  float place_closed(std::size_t node, ImVec2 at, float width);
  void place_cell(std::size_t node, ImVec2 at);
  void place_given(PlacedBox& box, ImVec2 at, float side);
  float cell_width(std::size_t node) const;
  float cell_height() const { return cell_ + u(2) + metrics_.line; }
  float given_width(std::size_t node) const;
  float symbol_width(std::size_t operation) const;
  std::size_t begin_open(std::size_t node, ImVec2 at, float width);
  void end_open(std::size_t index, float height);
  float title_height() const { return metrics_.line + u(6); }
  HeadGrid make_grid(std::size_t node) const;
  void fill_grid(HeadGrid& grid, const Rect& room) const;
  void route_heads(std::size_t node, const Rect& box);

  const core::Graph& graph_;
  const Diagram& diagram_;
  StageLevel level_;
  std::size_t opened_;
  DiagramMetrics metrics_;
  Try try_;
  std::set<std::uint32_t> from_beside_;  // tensors that one stack has from another
  DiagramLayout layout_;
  Ports ports_;
  Router router_;
  float cell_ = 0;  // side of a cell's picture
  bool is_too_wide_ = false;
  float squeeze_ = 1;
  float stack_width_ = 0;  // of a closed box in a stack of the whole model: those below have the same
};

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
  const float thin = std::clamp(width * 0.15F, s(kThinColumn), u(kThinColumnMost));
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
  return std::min(u(kSymbolBegin) + u(kSymbolLetter) * static_cast<float>(longest), u(kSymbol));
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
  const float side = try_.picture, pitch = side + u(4), disc = u(kDisc + 4), apart = u(14);
  const std::size_t n_columns = grid.columns.size();
  const auto fit = static_cast<std::size_t>(std::max(1.0F, std::floor((room.width() - disc) / pitch)));
  const std::size_t a_line = std::min(n_columns, fit), n_lines = (n_columns + a_line - 1) / a_line;
  const float strip = disc + pitch * static_cast<float>(a_line);
  const float strip_height = std::max(pitch * static_cast<float>(n_lines), u(kDisc + 2)) + u(2);
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
    placed.disc = rect_at({at.x, placed.box.centre().y - u(kDisc) / 2}, {u(kDisc), u(kDisc)});
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
  const float strip = u(kDisc + 4) + (try_.picture + u(4)) * static_cast<float>(layout_.grid->columns.size());
  const bool is_beside = layout_.grid->heads.size() <= kBesideHeads && strip + cells + 3 * side <= width;
  if (cells + 2 * side > width || u(kDisc + 8) + try_.picture + 2 * side > width) is_too_wide_ = true;
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

/// The sizes of pictures to try, in theme pixels, the largest first; and the smallest to shrink to for the
/// sake of height, where scrolling reads better.
struct Sizes {
  std::vector<float> all;
  float decent = 0;
};
Sizes picture_sizes(StageLevel level) {
  if (level == StageLevel::heads) return {{96, 84, 72, 62, 54, 46, 40, 32, 26, 22, 18}, 18};
  if (level == StageLevel::head) return {{160, 136, 116, 100, 88, 78, 70, 62, 54, 48, 42, 36, 30, 24}, 56};
  return {{128, 112, 96, 84, 72, 62, 54, 48, 42, 36, 30, 24}, 42};
}

}  // namespace

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
  constexpr std::array<Try, 7> kTries = {{{0, Room::roomy, 2.4F},
                                          {0, Room::roomy, 2},
                                          {0, Room::roomy, 1.6F},
                                          {0, Room::roomy, 1.25F},
                                          {0, Room::roomy, 1},
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
