// Where the regions of the window stand, by its width and the text's scale.
#pragma once

#include "simulator/painter.h"

#include <cstdint>
#include <optional>

namespace headscope::simulator {

/// columns: left side, stage, explainer (or a drawer). column: one beside the stage, for what there is in
/// turn. single: one thing at a time, stage and lesson alike.
enum class WindowLayout : std::uint8_t { columns, column, single };

struct WindowRegions {
  Rect top_bar, lesson, stage, transport;
  std::optional<Rect> explainer;  // beside the stage
  std::optional<Rect> drawer;     // over the stage's right, when a cell is asked for
  WindowLayout layout = WindowLayout::columns;
};

/// `theme_region` lengths × the text scale decide: three columns from 1280, a drawer from 960, one
/// column from 560.
WindowRegions arrange_regions(const Painter& painter, ImVec2 window);

}  // namespace headscope::simulator
