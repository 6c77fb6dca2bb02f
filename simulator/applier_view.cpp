// What is looked at.
#include "simulator/applier.h"

#include <algorithm>
#include <memory>

namespace headscope::simulator {

void Applier::operator()(const LockCell& action) {
  if (!state_.has_cell(action.address)) return;
  state_.trail = {action.address};
  state_.level = StageLevel::matrix;
}

void Applier::operator()(const FollowCell& action) {
  if (!state_.has_cell(action.address)) return;
  if (!state_.trail.empty() && state_.trail.back() == action.address) return;
  state_.trail.push_back(action.address);
  state_.level = StageLevel::matrix;
  state_.shown.reset();
  // a number that lies ahead is shown once it is there
  if (!state_.trace().has(action.address.tensor, action.address.quantity))
    set_out({.to = std::max(state_.cursor().position(), position_of(action.address))});
}

void Applier::operator()(const StepBack&) {
  if (!state_.trail.empty())
    state_.trail.pop_back();
  else
    level_out();
}

void Applier::operator()(const ReturnTo& action) {
  if (action.index < state_.trail.size()) state_.trail.resize(action.index + 1);
}

void Applier::operator()(const ChooseHead& action) {
  const std::int64_t head = std::clamp<std::int64_t>(action.head, 0, state_.session.config().n_heads - 1);
  for (CellAddress& address : state_.trail) move_to_head(address, head);
  state_.chosen_head = head;
  if (!state_.has_lesson()) return;
  lessons::choose_head(state_.runner, head);
  lessons::update_goals(state_.runner, state_.session);
}

void Applier::operator()(const OpenPlace& action) {
  state_.level = action.level;
  state_.opened = action.path;
  state_.shown.reset();
  state_.trail.clear();
}

void Applier::operator()(const ShowTensor& action) {
  if (action.tensor.index >= state_.session.graph().n_tensors()) return;
  const std::optional<core::Step> step = state_.last_step();
  const bool is_of_step = step && step->phase == core::Phase::forward &&
                          core::result(state_.session.graph().operations()[step->operation]) == action.tensor;
  // what the step computed is shown with the step's own sentence
  state_.shown = is_of_step ? std::nullopt : std::optional(action.tensor);
  state_.level = StageLevel::matrix;
  state_.trail.clear();
}

void Applier::operator()(const ChooseResult& action) {
  state_.chosen = action.tensor;
}

void Applier::operator()(const SetDifference& action) {
  state_.comparison.is_shown = action.shows == Shows::yes;
}

void Applier::operator()(const MarkBefore&) {
  const core::Setup& now = state_.session.setup();
  if (state_.comparison.marked && *state_.comparison.marked == now)
    state_.comparison.marked.reset();
  else
    state_.comparison.marked = now;
  (*this)(SetDifference{Shows::yes});
}

void Applier::operator()(const SetLeftPanel& action) {
  state_.left_panel = action.panel;
}

void Applier::operator()(const SetAppearance& action) {
  state_.appearance = action.appearance;
}

void Applier::operator()(const SetLayout& action) {
  state_.layout = action.layout;
}

void Applier::operator()(const SetTextScale& action) {
  state_.text_scale = action.scale;
}

void Applier::fail(const core::Error& error) {
  state_.message = error;
  state_.playing = Playing::no;
}

void Applier::forget_looks() {
  state_.trail.clear();
  state_.shown.reset();
  state_.chosen.reset();
  state_.opened.clear();
}

std::optional<core::TensorId> Applier::subject() const {
  if (state_.shown) return state_.shown;
  const std::optional<core::Step> step = state_.last_step();
  if (!step) return std::nullopt;
  return step->phase == core::Phase::update
             ? step->parameter
             : core::result(state_.session.graph().operations()[step->operation]);
}

void Applier::level_out() {
  if (state_.level == StageLevel::model) return;
  if (state_.level == StageLevel::matrix) {
    const std::optional<core::TensorId> tensor = subject();
    const bool has_heads = tensor && state_.session.graph().spec(*tensor).shape.find(core::Axis::head) >= 0;
    if (state_.shown) {
      state_.opened = state_.session.graph().spec(*state_.shown).name;
      state_.shown.reset();
    }
    state_.level = !tensor ? StageLevel::model : has_heads ? StageLevel::head : StageLevel::part;
    return;
  }
  // a part of the model that is no box of its own looks the same at two levels: each press shows something
  // new
  const Diagram diagram = make_diagram(state_.session.graph());
  const std::size_t before = opened_at_level(diagram);
  const bool is_by_head = state_.level >= StageLevel::heads;
  do state_.level = static_cast<StageLevel>(static_cast<int>(state_.level) - 1);
  while (!is_by_head && state_.level != StageLevel::model && opened_at_level(diagram) == before);
  if (opened_at_level(diagram) == 0) state_.level = StageLevel::model;
}

std::size_t Applier::opened_at_level(const Diagram& diagram) const {
  std::vector<std::size_t> operations;
  if (const std::optional<core::Step> step = state_.last_step()) operations = operations_of(diagram, *step);
  return opened_box(state_.session.graph(), diagram, state_.level, state_.opened,
                    operations.empty() ? std::nullopt : std::optional(operations.front()));
}

void Applier::move_to_head(CellAddress& address, std::int64_t head) const {
  const int place = state_.session.graph().spec(address.tensor).shape.find(core::Axis::head);
  if (place >= 0) address.cell[place] = head;
}

}  // namespace headscope::simulator
