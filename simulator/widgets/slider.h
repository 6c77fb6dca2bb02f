// A slider: a line and a handle. What its ends mean is the caller's.
#pragma once

#include "simulator/widgets/interaction.h"

#include <optional>
#include <string_view>

namespace headscope::simulator {

struct SliderResponse {
  std::optional<float> moved;  // to this share of the line, 0 to 1
  bool began = false;          // the button went down, or a key was pressed: a new stroke
};
/// `share` of the line is where the handle stands, 0 to 1. Left and right arrows move it by a fiftieth while
/// it has the focus. `at` is the top left of slider_height() × width.
SliderResponse slider(Ui& ui, std::string_view id, ImVec2 at, float width, float share);
float slider_height(const Painter& painter);

}  // namespace headscope::simulator
