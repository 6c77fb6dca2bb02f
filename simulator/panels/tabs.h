// What stands at the left, and what of everything a narrow window shows.
#pragma once

#include "simulator/panels/panel.h"

namespace headscope::simulator {

/// The lesson or the "What if?" panel, under their tabs where there is a lesson.
void draw_left(Panel& panel, const Rect& box);

/// One column beside the stage: lesson, "What if?" and explanation in turn. A cell that is held asks for its
/// explanation.
void draw_column(Panel& panel, const Rect& box);

/// One thing in the whole window: lesson, "What if?", stage or explanation.
void draw_single(Panel& panel, const Rect& box);

}  // namespace headscope::simulator
