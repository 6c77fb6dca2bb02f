// Draws one frame of the block diagram; used by panels/diagram*.cpp alone.
#pragma once

#include "simulator/panels/diagram.h"
#include "simulator/tensor_facts.h"
#include "simulator/widgets/scroll_area.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headscope::simulator {

inline constexpr Dash kDots = {2, 3};  // round what is not computed yet

/// The level that opens a box.
StageLevel level_of(DiagramPlace place);

class DiagramDrawer {
 public:
  DiagramDrawer(Ui& ui, const Words& words, const DiagramSubject& subject, DiagramMemory& memory,
                Actions& actions, const DrawLine& under_title);

  void draw(const Rect& box);

 private:
  const Painter& look() const { return ui_.painter; }
  Painter& painter() const { return inner_ ? inner_->painter : ui_.painter; }
  Ui& ui() const { return inner_ ? *inner_ : ui_; }
  const Theme& theme() const { return ui_.painter.theme(); }
  const Palette& colour() const { return ui_.painter.colour(); }
  float px(float length) const { return ui_.painter.px(length); }
  const DiagramNode& node(std::size_t index) const { return subject_.diagram.nodes[index]; }
  std::optional<std::size_t> operation() const {
    if (!subject_.step) return std::nullopt;
    const std::vector<std::size_t> all = operations_of(subject_.diagram, *subject_.step);
    return all.empty() ? std::nullopt : std::optional(all.front());
  }

  /// In place: a variant that is moved makes g++ 12 warn of what it does not hold.
  template <class Asked>
  void ask(Asked asked) {
    actions_.emplace_back(std::in_place_type<Asked>, std::move(asked));
  }
  void choose_head(std::int64_t head) {
    if (head != subject_.head) ask(ChooseHead{head});
  }

  float draw_head(const Rect& room);
  float draw_head_line(const Rect& room);
  float draw_way(ImVec2 at, float right, const std::vector<std::size_t>& way);
  float draw_views(const Rect& room);
  float views_width() const;
  std::vector<std::size_t> way() const;
  float way_width(const std::vector<std::size_t>& way) const;
  std::int64_t n_heads() const;
  void draw_content(ScrollArea& area, const Rect& room);
  std::size_t n_pictures() const;
  void draw_open_boxes();
  void draw_edges();
  void draw_edge(const PlacedEdge& edge);
  void draw_closed(const PlacedBox& placed);
  void draw_cell(const PlacedBox& placed);
  void draw_given(const PlacedBox& placed);
  void draw_grid(const HeadGrid& grid);
  void draw_head(const HeadGrid& grid, const PlacedHead& head);
  void draw_label(const Rect& box, std::size_t index, ImU32 tint);
  void draw_closed_label(const Rect& box, std::size_t index, ImU32 tint);
  void draw_picture(core::TensorId tensor, std::int64_t head, const Rect& box);
  void frame_lit(const Rect& box, std::size_t index);
  /// The tensor's "title" or "name" in a tooltip, under the pointer.
  void say_whole(const Touch& touched, core::TensorId tensor, std::string_view form);
  core::TensorId shown_in(const std::vector<std::size_t>& column) const;
  core::TensorId pictured_in(std::size_t index) const;

  bool is_lit(std::size_t index) const {
    return std::any_of(lit_.begin(), lit_.end(), [&](std::size_t operation) {
      return subject_.diagram.is_within(subject_.diagram.leaf_of[operation], index);
    });
  }
  bool has_gradient(core::TensorId tensor) const {
    return subject_.trace.has(tensor, core::Quantity::gradient);
  }
  bool is_updated(std::size_t index) const;
  Concept hue_of(std::size_t index) const {
    return concept_of_name(quantity_of(graph_.spec(shown_tensor(graph_, subject_.diagram, index)).name))
        .value_or(Concept::none);
  }

  Ui& ui_;
  const Words& words_;
  const DiagramSubject& subject_;
  DiagramMemory& memory_;
  Actions& actions_;
  const DrawLine& under_title_;
  const core::Graph& graph_;
  std::size_t opened_;
  std::vector<bool> ran_back_;    // of each operation
  std::vector<std::size_t> lit_;  // the operations under the cursor
  DiagramLayout layout_;
  Ui* inner_ = nullptr;  // while the scrolled part is drawn
  Rect seen_;
  int samples_ = 16;
};

}  // namespace headscope::simulator
