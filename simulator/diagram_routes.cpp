#include "simulator/diagram_routes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>

namespace headscope::simulator {
namespace {

constexpr float kStream = 14, kNextPort = 12, kLanePitch = 8;  // theme pixels

std::size_t place_in_row(const Ranks& ranks, std::size_t node) {
  const std::vector<std::size_t>& row = ranks.rows[ranks.rank.at(node)];
  return static_cast<std::size_t>(std::find(row.begin(), row.end(), node) - row.begin());
}

/// Rows from -1 (before the first: from outside) to the number of rows (behind the last: to the outside).
std::ptrdiff_t row_of(const Ranks& ranks, const std::optional<std::size_t>& node, std::ptrdiff_t otherwise) {
  return node ? static_cast<std::ptrdiff_t>(ranks.rank.at(*node)) : otherwise;
}
std::ptrdiff_t n_rows(const Ranks& ranks) {
  return static_cast<std::ptrdiff_t>(ranks.rows.size());
}

bool joins(const Ranks& ranks, const DiagramEdge& edge) {
  return (!edge.from || ranks.rank.contains(*edge.from)) && (!edge.to || ranks.rank.contains(*edge.to));
}

}  // namespace

std::vector<ImVec2> straightened(const std::vector<ImVec2>& points) {
  constexpr float kNear = 0.5F;
  const auto is_same = [](float left, float right) { return std::abs(left - right) < kNear; };
  std::vector<ImVec2> kept;
  for (const ImVec2& point : points) {
    if (!kept.empty() && is_same(kept.back().x, point.x) && is_same(kept.back().y, point.y)) continue;
    while (kept.size() > 1) {
      const ImVec2 &before = kept[kept.size() - 2], &last = kept.back();
      const bool is_straight = (is_same(before.x, last.x) && is_same(last.x, point.x)) ||
                               (is_same(before.y, last.y) && is_same(last.y, point.y));
      if (!is_straight) break;
      kept.pop_back();
    }
    kept.push_back(point);
  }
  return kept;
}

Ranks rank_children(const Diagram& diagram, std::size_t node, const std::vector<std::size_t>& children) {
  const std::vector<DiagramEdge>& edges = diagram.nodes[node].edges;
  std::map<std::size_t, std::size_t> rank;
  std::set<std::size_t> reads_something;
  for (const std::size_t child : children) rank[child] = 0;
  // children come in the order in which they run: what a child reads is ranked before it
  for (const std::size_t child : children)
    for (const DiagramEdge& edge : edges) {
      if (edge.to != child) continue;
      reads_something.insert(child);
      if (edge.from && rank.contains(*edge.from)) rank[child] = std::max(rank[child], rank[*edge.from] + 1);
    }
  for (auto child = children.rbegin(); child != children.rend(); ++child) {
    if (reads_something.contains(*child)) continue;
    std::optional<std::size_t> first;
    for (const DiagramEdge& edge : edges)
      if (edge.from == *child && edge.to && rank.contains(*edge.to))
        first = std::min(first.value_or(rank[*edge.to]), rank[*edge.to]);
    if (first.value_or(0) > 0) rank[*child] = *first - 1;
  }
  // a child that reads what an earlier one makes only after boxes in between stands behind them all the same
  Ranks ranks;
  std::size_t most = 0;
  for (const auto& [child, its] : rank) most = std::max(most, its);
  ranks.rows.resize(children.empty() ? 0 : most + 1);
  for (const std::size_t child : children) ranks.rows[rank[child]].push_back(child);
  ranks.rank = std::move(rank);
  return ranks;
}

Ranks one_by_one(const Ranks& ranks) {
  Ranks result;
  for (const std::vector<std::size_t>& row : ranks.rows)
    for (const std::size_t node : row) {
      result.rank[node] = result.rows.size();
      result.rows.push_back({node});
    }
  return result;
}

Lanes assign_lanes(const Diagram& diagram, std::size_t node, const Ranks& ranks,
                   const std::set<std::uint32_t>& from_beside) {
  struct Run {
    std::ptrdiff_t first = 0, last = 0;  // gaps in which the tensor is under way
    LaneSide side = LaneSide::near;
  };
  std::map<std::uint32_t, Run> runs;
  for (const DiagramEdge& edge : diagram.nodes[node].edges) {
    if (!joins(ranks, edge) || from_beside.contains(edge.tensor.index)) continue;
    const std::ptrdiff_t from = row_of(ranks, edge.from, -1), to = row_of(ranks, edge.to, n_rows(ranks));
    if (to - from < 2) continue;
    const bool is_late =
        edge.from && 2 * place_in_row(ranks, *edge.from) >= ranks.rows[ranks.rank.at(*edge.from)].size() &&
        place_in_row(ranks, *edge.from) > 0;
    const auto [run, is_new] = runs.try_emplace(edge.tensor.index, Run{from + 1, to, LaneSide::near});
    if (is_late) run->second.side = LaneSide::far;
    if (!is_new) run->second.last = std::max(run->second.last, to);
  }
  Lanes lanes;
  std::array<std::vector<std::ptrdiff_t>, 2> busy_until;  // of each lane of a side
  for (const auto& [tensor, run] : runs) {
    std::vector<std::ptrdiff_t>& busy = busy_until[static_cast<std::size_t>(run.side)];
    std::size_t lane = 0;
    while (lane < busy.size() && busy[lane] >= run.first) ++lane;
    if (lane == busy.size()) busy.push_back(0);
    busy[lane] = run.last;
    lanes.of_tensor[tensor] = {run.side, lane};
  }
  lanes.n_near = busy_until[0].size();
  lanes.n_far = busy_until[1].size();
  return lanes;
}

namespace {

/// The two directions of a flow: along it, and across.
struct Turned {
  Flow flow;
  ImVec2 point(float along, float across) const {
    return flow == Flow::down ? ImVec2{across, along} : ImVec2{along, across};
  }
  float across(ImVec2 p) const { return flow == Flow::down ? p.x : p.y; }
  float begin(const Rect& box) const { return flow == Flow::down ? box.min.y : box.min.x; }
  float end(const Rect& box) const { return flow == Flow::down ? box.max.y : box.max.x; }
};

float lane_of(const Placed& placed, std::uint32_t tensor) {
  const auto& [side, number] = placed.lanes.of_tensor.at(tensor);
  const float by = static_cast<float>(number) * kLanePitch * placed.unit;
  return side == LaneSide::near ? placed.near_lane - by : placed.far_lane + by;
}

}  // namespace

bool Router::is_from_beside(std::size_t node, core::TensorId tensor) const {
  if (!from_beside_.contains(tensor.index)) return false;
  const std::vector<std::size_t>& inside = diagram_.nodes[node].operations;
  return !std::binary_search(inside.begin(), inside.end(), *graph_.producer(tensor));
}

bool Router::is_to_beside(std::size_t node, core::TensorId tensor) const {
  return diagram_.nodes[node].place == DiagramPlace::stack && from_beside_.contains(tensor.index) &&
         !is_from_beside(node, tensor);
}

void Router::add(const Placed& placed, const DiagramEdge& edge, std::vector<ImVec2> points) {
  const PortKey key{placed.node, edge.tensor.index};
  if (!edge.from)
    (is_from_beside(placed.node, edge.tensor) ? ports_.beside : ports_.in).emplace(key, points.front());
  if (!edge.to) ports_.out.emplace(key, points.back());
  layout_.edges.push_back({edge.tensor, placed.node, edge.from, edge.to, straightened(points)});
}

/// Where tensors enter and leave the closed children: in the order in which they come, from the near side.
void Router::find_ports(const Placed& placed) {
  const Turned turned{placed.flow};
  for (const std::vector<std::size_t>& row : placed.ranks.rows)
    for (const std::size_t child : row) {
      const PlacedBox& box = *layout_.find(child);
      if (box.form == BoxForm::open) continue;
      const Rect& body = box.form == BoxForm::cell ? box.picture : box.box;
      const float stream = std::min(kStream * placed.unit, body.width() / 2);
      std::vector<std::pair<float, std::uint32_t>> coming;
      for (const DiagramEdge& edge : diagram_.nodes[placed.node].edges) {
        if (edge.from == child)
          ports_.out[{child, edge.tensor.index}] = placed.flow == Flow::down
                                                       ? ImVec2{body.min.x + stream, body.max.y}
                                                       : ImVec2{box.box.max.x, body.centre().y};
        if (edge.to != child) continue;
        ports_.beside[{child, edge.tensor.index}] = {body.min.x, body.centre().y};
        if (placed.flow == Flow::down && is_from_beside(placed.node, edge.tensor)) continue;
        float across = -1e8F;  // from outside: at the near side
        if (placed.lanes.of_tensor.contains(edge.tensor.index) &&
            row_of(placed.ranks, edge.from, -1) + 1 < row_of(placed.ranks, edge.to, 0))
          across = lane_of(placed, edge.tensor.index);
        else if (edge.from && placed.ranks.rank.contains(*edge.from))
          across = turned.across(layout_.find(*edge.from)->box.centre());
        if (std::none_of(coming.begin(), coming.end(),
                         [&](const auto& other) { return other.second == edge.tensor.index; }))
          coming.emplace_back(across, edge.tensor.index);
      }
      std::sort(coming.begin(), coming.end());
      for (std::size_t at = 0; at < coming.size(); ++at) {
        ImVec2& port = ports_.in[{child, coming[at].second}];
        if (placed.flow == Flow::down)
          port = {std::min(body.min.x + stream + static_cast<float>(at) * kNextPort * placed.unit,
                           body.min.x +
                               body.width() * static_cast<float>(at + 1) / static_cast<float>(coming.size())),
                  body.min.y};
        else
          port = {body.min.x, body.min.y + body.height() * static_cast<float>(at + 1) /
                                               static_cast<float>(coming.size() + 1)};
      }
    }
}

/// Where a tensor turns in the gap after a row: each of the gap's tensors at a place of its own.
float Router::turn_in_gap(const Placed& placed, std::ptrdiff_t after_row, std::uint32_t tensor) const {
  const Turned turned{placed.flow};
  const std::ptrdiff_t rows = n_rows(placed.ranks);
  const float begin =
      after_row < 0 ? turned.begin(placed.box) : placed.spans[static_cast<std::size_t>(after_row)].second;
  const float end = after_row + 1 >= rows ? turned.end(placed.box)
                                          : placed.spans[static_cast<std::size_t>(after_row + 1)].first;
  std::set<std::uint32_t> turning;
  for (const DiagramEdge& edge : diagram_.nodes[placed.node].edges) {
    if (!joins(placed.ranks, edge)) continue;
    if (row_of(placed.ranks, edge.from, -1) == after_row ||
        row_of(placed.ranks, edge.to, rows) == after_row + 1)
      turning.insert(edge.tensor.index);
  }
  const auto at = std::distance(turning.begin(), turning.find(tensor));
  // before the first row of a box that goes down stands its title
  const float from =
      after_row < 0 && placed.flow == Flow::down ? std::max(begin, end - kStream * placed.unit) : begin;
  return from + (end - from) * static_cast<float>(at + 1) / static_cast<float>(turning.size() + 1);
}

/// From a stack at the left: down a lane at the box's left edge, and into each child from the left.
std::vector<ImVec2> Router::beside(const Placed& placed, const DiagramEdge& edge) {
  const ImVec2 end = ports_.beside.at({*edge.to, edge.tensor.index});
  const auto known = ports_.beside.find({placed.node, edge.tensor.index});
  const float y = known != ports_.beside.end() ? known->second.y : end.y;
  const float lane = placed.box.min.x + kLanePitch * placed.unit / 2;
  return {{placed.box.min.x, y}, {lane, y}, {lane, end.y}, end};
}

/// To a stack at the right.
std::vector<ImVec2> Router::leaving_beside(const Placed& placed, const DiagramEdge& edge) const {
  const ImVec2 start = ports_.out.at({*edge.from, edge.tensor.index});
  const float y = turn_in_gap(placed, row_of(placed.ranks, edge.from, 0), edge.tensor.index);
  return {start, {start.x, y}, {placed.box.max.x, y}};
}

std::vector<ImVec2> Router::along(const Placed& placed, const DiagramEdge& edge) {
  const Turned turned{placed.flow};
  const std::uint32_t tensor = edge.tensor.index;
  const std::ptrdiff_t rows = n_rows(placed.ranks);
  const std::ptrdiff_t from = row_of(placed.ranks, edge.from, -1), to = row_of(placed.ranks, edge.to, rows);
  const bool is_far = to - from > 1 && placed.lanes.of_tensor.contains(tensor);
  std::vector<ImVec2> points;

  float across = 0;  // where the line runs when it leaves the first gap
  const float first_turn = turn_in_gap(placed, from, tensor);
  if (edge.from) {
    points.push_back(ports_.out.at({*edge.from, tensor}));
    across = turned.across(points.back());
    points.push_back(turned.point(first_turn, across));
  } else {
    const ImVec2 target = edge.to ? ports_.in.at({*edge.to, tensor}) : placed.box.max;
    if (is_from_beside(placed.node, edge.tensor)) {
      const auto known = ports_.beside.find({placed.node, tensor});
      across = known != ports_.beside.end() ? known->second.y : target.y;
      points.push_back({placed.box.min.x, across});
    } else if (placed.flow == Flow::right) {
      points.push_back({first_turn, placed.box.min.y});
      across = placed.box.min.y;
    } else {
      const auto known = ports_.in.find({placed.node, tensor});
      across = known != ports_.in.end() ? known->second.x : target.x;
      points.push_back({across, placed.box.min.y});
    }
    points.push_back(turned.point(first_turn, across));
  }
  if (is_far) {
    across = lane_of(placed, tensor);
    points.push_back(turned.point(first_turn, across));
  }
  if (edge.to) {
    const ImVec2 end = ports_.in.at({*edge.to, tensor});
    const float last_turn = is_far ? turn_in_gap(placed, to - 1, tensor) : first_turn;
    points.push_back(turned.point(last_turn, across));
    points.push_back(turned.point(last_turn, turned.across(end)));
    points.push_back(end);
  } else if (placed.flow == Flow::right) {
    const float x = turn_in_gap(placed, rows - 1, tensor);
    points.push_back({x, across});
    points.push_back({x, placed.box.max.y});
  } else {
    points.push_back({across, placed.box.max.y});
  }
  return points;
}

void Router::route(const Placed& placed) {
  find_ports(placed);
  std::vector<DiagramEdge> edges;
  for (const DiagramEdge& edge : diagram_.nodes[placed.node].edges)
    if (joins(placed.ranks, edge)) edges.push_back(edge);
  // the straightest first: they say where a tensor enters the box
  const auto length = [&](const DiagramEdge& edge) {
    return row_of(placed.ranks, edge.to, n_rows(placed.ranks)) - row_of(placed.ranks, edge.from, -1);
  };
  std::stable_sort(edges.begin(), edges.end(), [&](const DiagramEdge& left, const DiagramEdge& right) {
    return length(left) < length(right);
  });
  for (const DiagramEdge& edge : edges) {
    if (!edge.from && placed.flow == Flow::down && is_from_beside(placed.node, edge.tensor))
      add(placed, edge, beside(placed, edge));
    else if (!edge.to && is_to_beside(placed.node, edge.tensor))
      add(placed, edge, leaving_beside(placed, edge));
    else
      add(placed, edge, along(placed, edge));
  }
}

}  // namespace headscope::simulator
