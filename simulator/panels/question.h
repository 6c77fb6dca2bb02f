// One question of the lesson: predict, then reveal.
#pragma once

#include "simulator/panels/panel.h"

namespace headscope::simulator {

/// Draws the step's question of this number from `at` down and returns the height.
float draw_question(Panel& panel, ImVec2 at, float width, std::size_t index);

}  // namespace headscope::simulator
