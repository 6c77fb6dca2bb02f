#include "simulator/view.h"

#include "simulator/tensor_facts.h"

#include <algorithm>
#include <cmath>

namespace headscope::simulator {
namespace {

double largest_magnitude(const AppState& state, const StagePlan& plan) {
  double largest = 0;
  const core::Trace<float> trace = state.trace();
  for (const StageItem& item : plan.items) {
    if (range_of(state.session.graph().spec(item.slice.tensor)) != Range::signed_values) continue;
    for (std::int64_t row = 0; row < item.slice.rows.size; ++row)
      for (std::int64_t column = 0; column < item.slice.columns.size; ++column) {
        const double value = trace.value(item.slice.tensor, item.slice.cell_at(row, column));
        if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
      }
  }
  return largest;
}

std::optional<CellAddress> step_cell(const AppState& state, const lessons::StepView& step) {
  if (!step.lit_tensor || !step.lit_cell || state.cursor.position() != step.cursor) return std::nullopt;
  return CellAddress{*step.lit_tensor, *step.lit_cell};
}

}  // namespace

View make_view(const AppState& state, const Words& words, const lessons::NumberRules& rules,
               const std::optional<CellAddress>& previewed) {
  View view;
  view.revision = state.revision;
  view.step = lessons::view_step(state.runner, state.session);
  view.stage = plan_stage(state, view.step);
  view.previewed = previewed;
  view.is_locked = !state.trail.empty();
  view.lit = view.is_locked ? state.trail.back() : previewed ? previewed : step_cell(state, view.step);
  if (view.lit) view.narration = narrate(state.session, state.cursor, *view.lit, words, rules);
  view.scale = largest_magnitude(state, view.stage);
  return view;
}

}  // namespace headscope::simulator
