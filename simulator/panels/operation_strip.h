// The strip over the stage: every operation as a tiny picture of its result, the current one lit.
#pragma once

#include "simulator/panels/panel.h"

namespace headscope::simulator {

/// Draws at the top of the box and returns the height. A click moves the cursor behind the operation.
float draw_operation_strip(Panel& panel, const Rect& box);

}  // namespace headscope::simulator
