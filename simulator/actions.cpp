#include "simulator/actions.h"

#include "simulator/applier.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace headscope::simulator {
namespace {

/// What differences are shown against: the marked setup, or this sentence with the model as it was opened.
core::Setup setup_before(const AppState& state) {
  if (state.comparison.marked) return *state.comparison.marked;
  core::Setup before = state.session.setup();
  before.heads = state.initial.heads;
  before.attentions = state.initial.attentions;
  before.optimiser = state.initial.optimiser;
  before.trained = state.initial.trained;
  before.edits = state.initial.edits;
  std::erase_if(before.edits, [&](const auto& edit) {
    return state.session.graph().spec(edit.first.first).role != core::Role::parameter;
  });
  return before;
}

void refresh_comparison(AppState& state) {
  core::Session* before = state.comparison.before.get();
  if (!before) return;
  if (core::Setup wanted = setup_before(state); wanted != before->setup()) {
    before->move_to(std::min(before->cursor().position(), before->steps().backward_begin()));
    const core::Result<void> set = before->set(std::move(wanted));
    if (!set) {
      state.comparison = {};
      state.message = set.error();
      return;
    }
  }
  before->move_to(state.cursor().position());
}

}  // namespace

void apply_action(AppState& state, const Action& action) {
  if (!std::holds_alternative<GoOn>(action)) state.message.reset();
  std::visit(Applier(state), action);
  refresh_comparison(state);
  ++state.revision;
}

}  // namespace headscope::simulator
