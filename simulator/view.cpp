#include "simulator/view.h"

#include "simulator/tensor_facts.h"

#include <algorithm>
#include <cmath>

namespace headscope::simulator {
namespace {

std::optional<CellAddress> step_cell(const AppState& state, const lessons::StepView& step) {
  if (!step.lit_tensor || !step.lit_cell || state.cursor().position() != step.cursor) return std::nullopt;
  return CellAddress{*step.lit_tensor, *step.lit_cell};
}

/// Whether the row is that of a word that may look at itself alone: its share of 1 tells nothing.
bool is_alone(const SliceNumbers& numbers, std::int64_t row, std::int64_t n_columns) {
  int n_shares = 0;
  for (std::int64_t column = 0; column < n_columns && n_shares < 2; ++column)
    n_shares += numbers.at(row, column) > 0 ? 1 : 0;
  return n_shares < 2;
}

/// The cell that a sentence about the step speaks of: the lit one where the step wrote it, else the largest
/// of the result as the stage shows it, or, of an update, the one that changed most.
std::optional<CellAddress> spoken_cell(const AppState& state, const View& view) {
  const auto is_result = [](const StageItem& item) { return item.role == StageRole::result; };
  const auto result = std::ranges::find_if(view.stage.items, is_result);
  if (result == view.stage.items.end()) return view.lit;
  const Slice& slice = result->slice;
  if (view.lit && view.lit->tensor == slice.tensor && view.lit->quantity == slice.quantity) return view.lit;
  const core::Trace<float> trace = state.trace();
  if (!is_there(trace, view.stage, *result)) return view.lit;
  // of a matrix of millions its beginning: the sentence is an example
  constexpr std::int64_t kMost = 128;
  const SliceNumbers numbers(trace, slice);
  std::optional<SliceNumbers> before;
  if (view.stage.step->phase == core::Phase::update) {
    Slice previous = slice;
    previous.quantity = core::Quantity::previous_value;
    before.emplace(trace, previous);
  }
  const bool are_shares = view.stage.step->phase == core::Phase::forward &&
                          range_of(trace.graph().spec(slice.tensor)) == Range::shares;
  double largest = -1;
  CellAddress spoken{slice.tensor, slice.cell_at(0, 0), slice.quantity};
  for (std::int64_t row = 0; row < std::min(slice.rows.size, kMost); ++row) {
    if (are_shares && is_alone(numbers, row, std::min(slice.columns.size, kMost))) continue;
    for (std::int64_t column = 0; column < std::min(slice.columns.size, kMost); ++column) {
      const double size = std::abs(numbers.at(row, column) - (before ? before->at(row, column) : 0));
      if (!std::isfinite(size) || size <= largest) continue;
      largest = size;
      spoken.cell = slice.cell_at(row, column);
    }
  }
  return spoken;
}

/// What a training step that was just taken did.
std::string said_of_training(const TrainedStep& trained, const Words& words,
                             const lessons::NumberRules& rules) {
  const auto number = [&](double loss) {
    return lessons::format_number(loss, lessons::NumberKind::loss, rules);
  };
  const std::string next =
      words.text.text(trained.position == 0 ? "stage.next_begins" : "stage.next_same_place",
                      {{"step", std::to_string(trained.step + 1)}});
  return words.text.text("stage.trained", {{"step", std::to_string(trained.step)},
                                           {"next", next},
                                           {"before", number(trained.loss_before)},
                                           {"after", number(trained.loss_after)}});
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
  const std::optional<CellAddress> spoken =
      view.stage.step ? spoken_cell(state, view) : std::optional<CellAddress>();
  const bool is_lessons_own = state.has_lesson() && state.cursor().position() == view.step.cursor;
  if (!view.lit && !is_lessons_own) view.lit = spoken;
  if (view.lit) view.narration = narrate(state.session, state.trace(), *view.lit, words, rules);
  if (state.trained && state.trained->position == state.cursor().position())
    view.said = said_of_training(*state.trained, words, rules);
  else if (view.stage.step)
    view.said = narrate_step(state.session, state.trace(), *view.stage.step, words, spoken, rules);
  else if (state.cursor().at_begin() && !state.shown && state.trail.empty() && !state.has_lesson())
    view.said = words.text.text("stage.at_begin");
  return view;
}

}  // namespace headscope::simulator
