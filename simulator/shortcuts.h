// The keys of the window: what they do, when no text field has the keyboard.
#pragma once

#include "simulator/panels/panel.h"

namespace headscope::simulator {

/// Reads this frame's keys and appends their actions.
void read_shortcuts(Panel& panel);

}  // namespace headscope::simulator
