// The block diagram's plan and layout, for every model that the format can describe: nothing is missing,
// nothing is there twice, nothing overlaps.
#include "core/graph_paths.h"
#include "simulator/diagram_layout.h"
#include "tests/core/every_model.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace headscope::simulator {
namespace {

using core::Graph;

struct Case {
  std::string name;
  Graph graph;
  Diagram diagram;
};

/// Every configuration, plain and with everything that can be asked for.
std::vector<Case> every_case() {
  std::vector<Case> cases;
  const auto add = [&](const std::string& name, const core::ModelConfig& config,
                       const core::GraphOptions& options) {
    REQUIRE(core::validate(config, "test"));
    core::Result<Graph> graph = core::build_graph(config, "test", options);
    REQUIRE(graph);
    Diagram diagram = make_diagram(*graph);
    cases.push_back({name, *std::move(graph), std::move(diagram)});
  };
  for (const auto& [name, config] : core::test::every_config()) {
    add(name, config, {});
    add(name + ", all options", config, {.dropout = 0.1, .label_smoothing = 0.1, .head_contributions = true});
  }
  core::ModelConfig many =
      core::test::base_config(core::Architecture::decoder, core::Objective::language_model);
  many.n_heads = 64, many.d_head = 2;
  add("64 heads", many, {});
  many.n_heads = 9, many.n_layers = 12;
  add("nine heads, twelve layers", many, {});
  return cases;
}

struct Sight {
  StageLevel level = StageLevel::model;
  std::size_t opened = 0;
};

/// Every box that can be opened, at every level that opens it.
std::vector<Sight> every_sight(const Case& one) {
  std::vector<Sight> sights{{}};
  for (std::size_t node = 1; node < one.diagram.nodes.size(); ++node) {
    const DiagramNode& box = one.diagram.nodes[node];
    if (box.place == DiagramPlace::block) sights.push_back({StageLevel::block, node});
    if (box.place != DiagramPlace::part) continue;
    sights.push_back({StageLevel::part, node});
    if (core::attention_of(box.path) != box.path) continue;
    sights.push_back({StageLevel::heads, node});
    sights.push_back({StageLevel::head, node});
  }
  return sights;
}

/// A stage's room in theme pixels, at text scale: as the windows of the look give it.
struct Stage {
  std::string name;
  float unit = 1;
  Rect box;
};
std::vector<Stage> every_stage() {
  return {{"1600 × 900", 1, {{440, 200}, {1160, 780}}},
          {"800 × 600", 1, {{300, 70}, {790, 530}}},
          {"1280 × 720", 1, {{330, 120}, {950, 620}}},
          {"2560 × 1440 at 75 %", 0.75F, {{400, 100}, {2200, 1300}}},
          {"800 × 600 at 300 %", 3, {{280, 160}, {790, 550}}}};
}

DiagramLayout laid_out(const Case& one, const Sight& sight, const Stage& stage) {
  return lay_out_diagram(one.graph, one.diagram, sight.level, sight.opened, {stage.unit, 18 * stage.unit},
                         stage.box);
}

/// The boxes that stand for operations: those that are not open.
std::vector<const PlacedBox*> leaves(const DiagramLayout& layout) {
  std::vector<const PlacedBox*> found;
  for (const PlacedBox& box : layout.boxes)
    if (box.form != BoxForm::open) found.push_back(&box);
  return found;
}

std::string named(const Case& one, const Sight& sight) {
  return one.name + ", level " + std::to_string(static_cast<int>(sight.level)) + " " +
         one.diagram.nodes[sight.opened].path;
}

TEST_CASE("every operation lies under exactly one box at every level", "[simulator][diagram]") {
  for (const Case& one : every_case())
    for (const Sight& sight : every_sight(one)) {
      INFO(named(one, sight));
      const DiagramLayout layout = laid_out(one, sight, every_stage()[0]);
      std::vector<int> shown(one.graph.operations().size(), 0);
      for (const PlacedBox* box : leaves(layout))
        for (const std::size_t operation : one.diagram.nodes[box->node].operations) ++shown[operation];
      if (layout.grid)
        for (const auto& column : layout.grid->columns)
          for (const std::size_t operation : column) ++shown[operation];
      for (std::size_t operation = 0; operation < shown.size(); ++operation) {
        INFO(one.graph.spec(core::result(one.graph.operations()[operation])).name);
        REQUIRE(shown[operation] == 1);
      }
    }
}

/// Whether lines lead from the box that makes a tensor to the box of an operation that reads it.
bool is_connected(const Case& one, const DiagramLayout& layout, core::TensorId tensor, std::size_t producer,
                  std::size_t reader) {
  const Diagram& diagram = one.diagram;
  const auto shown_in = [&](std::size_t operation) {
    std::size_t node = diagram.leaf_of[operation];
    while (!layout.find(node) && !(layout.grid && layout.grid->node == diagram.nodes[node].parent))
      node = diagram.nodes[node].parent;
    return layout.find(node) ? node : layout.grid->node;
  };
  const std::size_t from = shown_in(producer), to = shown_in(reader);
  if (from == to) return true;
  // the box in which the two meet, and one line in each box from there to each of them
  const auto has_edge = [&](std::size_t within, std::optional<std::size_t> begin,
                            std::optional<std::size_t> end) {
    return std::any_of(layout.edges.begin(), layout.edges.end(), [&](const PlacedEdge& edge) {
      return edge.tensor == tensor && edge.within == within && edge.from == begin && edge.to == end;
    });
  };
  const auto child_in = [&](std::size_t within, std::size_t node) {
    if (node == within) return node;  // the grid of the heads
    while (diagram.nodes[node].parent != within) node = diagram.nodes[node].parent;
    return node;
  };
  std::size_t meet =
      diagram.nodes[from].place == DiagramPlace::part && layout.grid && from == layout.grid->node
          ? from
          : diagram.nodes[from].parent;
  while (!diagram.is_within(to, meet)) meet = diagram.nodes[meet].parent;
  if (!has_edge(meet, child_in(meet, from), child_in(meet, to))) return false;
  const auto climb = [&](std::size_t node) {
    return layout.grid && node == layout.grid->node ? node : diagram.nodes[node].parent;
  };
  for (std::size_t at = climb(from), before = from; at != meet; before = at, at = diagram.nodes[at].parent)
    if (!has_edge(at, before == at ? at : before, std::nullopt)) return false;
  for (std::size_t at = climb(to), before = to; at != meet; before = at, at = diagram.nodes[at].parent)
    if (!has_edge(at, std::nullopt, before)) return false;
  return true;
}

TEST_CASE("every operand's way is drawn, or lies within a box", "[simulator][diagram]") {
  for (const Case& one : every_case())
    for (const Sight& sight : every_sight(one)) {
      INFO(named(one, sight));
      const DiagramLayout layout = laid_out(one, sight, every_stage()[0]);
      for (std::size_t reader = 0; reader < one.graph.operations().size(); ++reader)
        for (const core::TensorId operand : core::operands(one.graph.operations()[reader])) {
          const std::optional<std::size_t> producer = one.graph.producer(operand);
          if (!producer) continue;
          INFO(one.graph.spec(operand).name
               << " to " << one.graph.spec(core::result(one.graph.operations()[reader])).name);
          REQUIRE(is_connected(one, layout, operand, *producer, reader));
        }
    }
}

/// How far a place may lie outside for the sake of rounding.
constexpr float kRounding = 0.01F;

bool is_inside(const Rect& inner, const Rect& outer) {
  const Rect room = outer.grown(kRounding);
  return inner.min.x >= room.min.x && inner.min.y >= room.min.y && inner.max.x <= room.max.x &&
         inner.max.y <= room.max.y;
}
bool overlap(const Rect& left, const Rect& right) {
  return left.grown(-kRounding).overlaps(right.grown(-kRounding));
}

TEST_CASE("no two boxes overlap, and all stand within the stage's width, whatever the window",
          "[simulator][diagram]") {
  for (const Case& one : every_case())
    for (const Sight& sight : every_sight(one))
      for (const Stage& stage : every_stage()) {
        INFO(named(one, sight) << " at " << stage.name);
        const DiagramLayout layout = laid_out(one, sight, stage);
        const Rect room{stage.box.min, {stage.box.max.x, stage.box.min.y + layout.height}};
        std::vector<Rect> taken;
        for (const PlacedBox& box : layout.boxes) {
          INFO(one.diagram.nodes[box.node].path);
          REQUIRE(box.box.width() > 0);
          REQUIRE(box.box.height() > 0);
          REQUIRE(is_inside(box.box, room));
          if (box.node != 0)
            REQUIRE(is_inside(box.box, layout.find(one.diagram.nodes[box.node].parent)->box));
          if (box.form == BoxForm::open) {
            if (box.node != 0 && box.label.width() > 0) taken.push_back(box.label);  // its title
            continue;
          }
          REQUIRE(is_inside(box.label, box.box));
          if (box.picture.width() > 0) REQUIRE(is_inside(box.picture, box.box));
          if (box.picture.width() > 0) REQUIRE_FALSE(overlap(box.label, box.picture));
          for (const PlacedTensor& given : box.given) {
            REQUIRE(is_inside(given.picture, box.box));
            REQUIRE_FALSE(overlap(given.picture, box.picture));
          }
          taken.push_back(box.box);
        }
        if (layout.grid)
          for (const PlacedHead& head : layout.grid->heads) {
            REQUIRE(is_inside(head.box, layout.find(layout.grid->node)->box));
            taken.push_back(head.box);
            for (const Rect& picture : head.pictures) REQUIRE(is_inside(picture, head.box));
          }
        std::size_t n_overlaps = 0;
        for (std::size_t left = 0; left < taken.size(); ++left)
          for (std::size_t right = left + 1; right < taken.size(); ++right)
            if (overlap(taken[left], taken[right])) ++n_overlaps;
        REQUIRE(n_overlaps == 0);
      }
}

TEST_CASE("edges are horizontal and vertical, within the stage, and run through no box but their ends",
          "[simulator][diagram]") {
  for (const Case& one : every_case())
    for (const Sight& sight : every_sight(one))
      for (const Stage& stage : {every_stage()[0], every_stage()[1]}) {
        INFO(named(one, sight) << " at " << stage.name);
        const DiagramLayout layout = laid_out(one, sight, stage);
        const Rect room{stage.box.min, {stage.box.max.x, stage.box.min.y + layout.height}};
        for (const PlacedEdge& edge : layout.edges) {
          INFO(one.graph.spec(edge.tensor).name << " within " << one.diagram.nodes[edge.within].path);
          REQUIRE(edge.points.size() >= 2);
          for (std::size_t at = 1; at < edge.points.size(); ++at) {
            const ImVec2 a = edge.points[at - 1], b = edge.points[at];
            REQUIRE(std::min(std::abs(a.x - b.x), std::abs(a.y - b.y)) < 0.5F);
            const Rect line{{std::min(a.x, b.x), std::min(a.y, b.y)},
                            {std::max(a.x, b.x), std::max(a.y, b.y)}};
            REQUIRE(is_inside(line, room));
            for (const PlacedBox* box : leaves(layout)) {
              const auto is_end = [&](std::optional<std::size_t> end) {
                return end && one.diagram.is_within(box->node, *end);
              };
              if (is_end(edge.from) || is_end(edge.to)) continue;
              INFO("through " << one.diagram.nodes[box->node].path);
              const Rect& body = box->form == BoxForm::cell ? box->picture : box->box;
              REQUIRE_FALSE(line.grown(0.1F).overlaps(body.grown(-1)));
            }
          }
        }
      }
}

}  // namespace
}  // namespace headscope::simulator
