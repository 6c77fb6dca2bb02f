// All that the learner may change: sentence, gold answer, heads, switches, rate, cells.
#include "simulator/panels/panel.h"

namespace headscope::simulator {

void draw_what_if(Panel& panel, const Rect& box) {
  panel.painter().fill(box, panel.painter().colour().chrome);
}

}  // namespace headscope::simulator
