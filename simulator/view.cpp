#include "simulator/view.h"

namespace headscope::simulator {
namespace {

std::optional<CellAddress> step_cell(const AppState& state, const lessons::StepView& step) {
  if (!step.lit_tensor || !step.lit_cell || state.cursor().position() != step.cursor) return std::nullopt;
  return CellAddress{*step.lit_tensor, *step.lit_cell};
}

}  // namespace

View make_view(const AppState& state, const Words& words, const lessons::NumberRules& rules,
               const std::optional<CellAddress>& previewed) {
  View view;
  view.revision = state.revision;
  if (state.has_lesson())
    view.step = lessons::view_step(state.runner, state.session);
  else
    view.step.head = state.head();
  view.previewed = previewed;
  view.is_locked = !state.trail.empty();
  view.lit = view.is_locked ? state.trail.back() : previewed ? previewed : step_cell(state, view.step);
  view.stage = plan_stage(state, view.step, view.lit);
  if (view.lit) view.narration = narrate(state.session, state.trace(), *view.lit, words, rules);
  if (view.stage.step)
    view.said = narrate_step(state.session, state.trace(), *view.stage.step, words, view.lit, rules);
  return view;
}

}  // namespace headscope::simulator
