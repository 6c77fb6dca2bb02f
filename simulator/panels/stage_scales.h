// What the colours of the stage's matrices mean.
#pragma once

#include "simulator/panels/stage_matrix.h"

#include <memory>
#include <span>

namespace headscope::simulator {

float scale_height(const Panel& panel);
/// The colour scales that the matrices use, under them at the left; a gradient's stands at its title.
void draw_scales(Panel& panel, ImVec2 at, float right,
                 std::span<const std::unique_ptr<StageMatrix>> matrices);

}  // namespace headscope::simulator
