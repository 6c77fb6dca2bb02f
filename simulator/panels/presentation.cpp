// Presentation: the stage alone in a room's sizes, one formula, its numbers, a line of progress.
#include "simulator/panels/message.h"
#include "simulator/panels/panel.h"
#include "simulator/panels/prose.h"
#include "simulator/widgets/controls.h"

namespace headscope::simulator {

void draw_presentation(Panel& panel, const Rect& box) {
  Painter& painter = panel.painter();
  const bool has_lesson = panel.state.has_lesson();
  Rect stage{box.min, {box.max.x, box.max.y - panel.px(24)}};
  draw_message(panel, stage, Edge::bottom, panel.px(48), painter.colour().stage);
  draw_stage(panel, stage);
  painter.ground({{box.min.x, box.max.y - panel.px(24)}, box.max}, painter.colour().stage);
  progress_line(painter, {box.min.x + panel.px(48), box.max.y - panel.px(16)}, box.width() - panel.px(96),
                static_cast<int>(has_lesson ? panel.view.step.step + 1 : panel.state.cursor().position()),
                static_cast<int>(has_lesson ? panel.view.step.n_steps : panel.state.session.n_steps()));
}

}  // namespace headscope::simulator
