// What went wrong with the last action, where no explanation is in sight to say it.
#pragma once

#include "simulator/panels/panel.h"

namespace headscope::simulator {

enum class Edge : std::uint8_t { top, bottom };

/// The state's message at an edge of the box, on a ground of this colour; it takes its room from the box, at
/// most half of it: what is longer scrolls. Without a message nothing happens.
void draw_message(Panel& panel, Rect& box, Edge edge, float margin, ImU32 ground);

}  // namespace headscope::simulator
