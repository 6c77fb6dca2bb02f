// One try at a block diagram's layout: what diagram_layout.cpp makes until one fits. Its functions are parted
// into boxes (diagram_layout.cpp) and what an opened attention holds (diagram_layout_cells.cpp).
#pragma once

#include "simulator/diagram_layout.h"
#include "simulator/diagram_routes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace headscope::simulator {

// theme pixels
inline constexpr float kClosedWidth = 240, kThinColumnMost = 112, kPicture = 28, kPictureFrom = 112,
                       kGivenFrom = 210;
inline constexpr float kGap = 16, kRoomyPicture = 44, kRoomyGap = 22, kThinGap = 8, kBesideGap = 10,
                       kGutter = 26, kPad = 6, kLanePitch = 8;
inline constexpr float kStream = 14, kNarrowSlot = 64, kCellGap = 12, kSymbol = 36, kSymbolBegin = 4,
                       kSymbolLetter = 9, kDisc = 22, kThinColumn = 56, kRoomy = 360, kMostSqueezed = 0.4F;

inline constexpr float kLine = 18;  // of the words, where nothing is presented

inline constexpr std::size_t kBesideHeads = 16;  // more take the whole width

inline constexpr float kMostWidened = 2.2F;  // a box, where there is room to spare

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
  /// The same of what holds words: it grows with their size, which presentation raises.
  float t(float theme_pixels) const { return theme_pixels * metrics_.line / kLine; }
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

}  // namespace headscope::simulator
