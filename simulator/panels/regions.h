// Where the regions of the window stand, by its width and the text's scale.
#pragma once

#include "simulator/painter.h"

#include <optional>

namespace headscope::simulator {

struct WindowRegions {
  Rect top_bar, lesson, stage, transport;
  std::optional<Rect> explainer;  // beside the stage
  std::optional<Rect> drawer;     // over the stage's right, when a cell is asked for
  bool tabs = false;              // one column for lesson and explainer in turn
};

/// `theme_region` lengths × the text scale decide: three columns from 1280, a drawer from 960, tabs below.
WindowRegions arrange_regions(const Painter& painter, ImVec2 window);

}  // namespace headscope::simulator
