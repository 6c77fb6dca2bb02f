// How far a long walk, a gradient check or a job is, and a button that stops it.
#include "simulator/job.h"
#include "simulator/panels/panel.h"
#include "simulator/widgets/controls.h"

#include <algorithm>
#include <cmath>

namespace headscope::simulator {
namespace {

std::string percent(double share) {
  return std::to_string(static_cast<int>(std::floor(100 * share)));
}

std::string words_of(const Panel& panel) {
  const AppState& state = panel.state;
  if (state.job) {
    const Job& job = *state.job;
    if (job.background.is_stopped()) return panel.text("progress.stopping");
    const double share = job.background.share();
    const std::string what = panel.text(job.words);
    return share == 0 ? what : panel.text("progress.share", {{"what", what}, {"percent", percent(share)}});
  }
  if (state.walk)
    return panel.text("progress.walk",
                      {{"position", std::to_string(state.cursor().position())},
                       {"to", std::to_string(std::min(state.walk->to, state.session.n_steps()))}});
  return panel.text("progress.check", {{"percent", percent(state.checking->background.share())}});
}

}  // namespace

bool is_computing(const AppState& state) {
  return state.walk || state.checking || state.job;
}

Rect progress_box(const Painter& painter, ImVec2 window) {
  constexpr float kWidth = 360, kPad = 12, kAbove = 84;  // above the transport
  const float width = std::min(painter.px(kWidth), window.x);
  const float height =
      std::max(painter.line_height(TypeStyle::label), button_size(painter, "x").y) + 2 * painter.px(kPad);
  const float bottom = std::max(height, window.y - painter.px(kAbove));
  return {{(window.x - width) / 2, bottom - height}, {(window.x + width) / 2, bottom}};
}

void draw_progress(Panel& panel, const Rect& box) {
  Painter& painter = panel.painter();
  const float pad = panel.px(12), radius = panel.px(panel.theme().radius.popup);
  painter.fill(box, painter.colour().popup, radius);
  painter.frame(box, painter.colour().hair, panel.px(panel.theme().line.hair), radius);
  const std::string stop = panel.text("progress.stop");
  const ImVec2 size = button_size(painter, stop);
  const ImVec2 at{box.max.x - pad - size.x, box.centre().y - size.y / 2};
  if (button(panel.ui, "stop_computing", at, stop).clicked) panel.actions.push_back(Stop{});
  painter.fit_text({box.min.x + pad, box.centre().y - painter.line_height(TypeStyle::label) / 2},
                   words_of(panel), at.x - pad - box.min.x - pad,
                   {.type = TypeStyle::label, .colour = painter.colour().primary, .role = "progress"});
}

}  // namespace headscope::simulator
