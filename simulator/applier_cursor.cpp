// The cursor's ways through a training step, and on to the next.
#include "simulator/applier.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

namespace headscope::simulator {
namespace {

/// "decoder.block0.norm1" of "decoder.block0.norm1.mean": what stepping by layer holds together.
std::string_view layer_of(const core::Session& session, std::size_t place) {
  const core::Step step = session.steps()[place];
  const core::TensorId tensor = step.phase == core::Phase::update
                                    ? step.parameter
                                    : core::result(session.graph().operations()[step.operation]);
  const std::string_view name = session.graph().spec(tensor).name;
  return name.substr(0, name.size() - core::leaf(name).size());
}

bool is_layer_end(const core::Session& session, std::size_t position) {
  if (position == 0 || position >= session.n_steps()) return true;
  return session.steps()[position - 1].phase != session.steps()[position].phase ||
         layer_of(session, position - 1) != layer_of(session, position);
}

/// One operation nearer to a step, or all the way where nothing is computed on it. Whether it is there.
bool walk_towards(core::Session& session, std::size_t to) {
  to = std::min(to, session.n_steps());
  const std::size_t position = session.cursor().position(), loss = session.steps().backward_begin();
  if (to < position) {
    // results stay, and updates are taken back; but gradients add up, so that an earlier moment of the
    // backward pass is reached from the loss
    const bool begins_anew = to > loss && to < session.steps().update_begin();
    session.move_to(begins_anew ? loss : to);
  } else if (position < loss) {
    session.move_to(std::min(to, loss));  // a session has run forward
  } else if (to > position) {
    session.move_to(position + 1);
  }
  return session.cursor().position() == to;
}

}  // namespace

void Applier::operator()(const NextOperation&) {
  const bool begins_next = state_.cursor().position() == state_.session.n_steps() &&
                           state_.session.has_gold() && !state_.has_lesson();
  if (begins_next) return train();
  move_cursor(state_.cursor().position() + 1);
}

void Applier::operator()(const PreviousOperation&) {
  if (!state_.cursor().at_begin()) return move_cursor(state_.cursor().position() - 1);
  // the training step before, if it was the last thing that changed anything; a reset leads elsewhere
  const auto steps = [](const core::Setup& setup) { return setup.trained ? setup.trained->step : 0; };
  if (!state_.undo.empty() && steps(state_.undo.back().setup) + 1 == steps(state_.session.setup()))
    travel(&AppState::undo, &AppState::redo);
}

void Applier::operator()(const NextLayer&) {
  std::size_t position = state_.cursor().position();
  do ++position;
  while (!is_layer_end(state_.session, position));
  move_cursor(position);
}

void Applier::operator()(const PreviousLayer&) {
  std::size_t position = state_.cursor().position();
  if (position == 0) return (*this)(PreviousOperation{});
  do --position;
  while (!is_layer_end(state_.session, position));
  move_cursor(position);
}

void Applier::operator()(const MoveCursor& action) {
  move_cursor(action.position);
}

void Applier::operator()(const NextTrainingStep&) {
  train();
}

void Applier::operator()(const SetPlaying& action) {
  const bool is_at_end = state_.cursor().position() == state_.session.n_steps();
  if (action.playing == Playing::yes && is_at_end && state_.play_by != PlayBy::training_step) move_cursor(0);
  state_.playing = action.playing;
}

void Applier::operator()(const SetPlayBy& action) {
  state_.play_by = action.by;
}

void Applier::move_cursor(std::size_t position) {
  forget_looks();
  state_.trained.reset();  // no news any more
  set_out({.to = position});
}

void Applier::set_out(Walk walk) {
  state_.walk = walk;
  walk_on();
}

void Applier::walk_on() {
  const Walk walk = *state_.walk;
  const auto began = std::chrono::steady_clock::now();
  while (!walk_towards(state_.session, walk.to)) {
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began;
    if (state_.patience && taken.count() > *state_.patience) return;
  }
  state_.walk.reset();
  if (walk.trains_from)
    train_here(*walk.trains_from);
  else if (state_.cursor().position() == state_.session.n_steps())
    state_.playing = Playing::no;
}

std::size_t Applier::place() const {
  if (!state_.walk) return state_.cursor().position();
  return state_.walk->trains_from.value_or(state_.walk->to);
}

void Applier::train() {
  if (!state_.session.has_gold()) return fail({"session.no_gold", "sentence"});
  set_out({.to = state_.session.n_steps(), .trains_from = state_.cursor().position()});
}

void Applier::train_here(std::size_t from) {
  Document before = document();
  before.position = from;
  const TrainedStep step{.step = state_.session.training_step(),
                         .loss_before = loss_of(state_.session).value_or(0)};
  core::Result<core::Setup> next = state_.session.next_setup();
  if (!next) {
    set_out({.to = from});
    return fail(next.error());
  }
  const bool stays = from > 0 && from <= state_.session.steps().backward_begin();
  put(*std::move(next), stays ? from : 0, [before, step, stays](Applier& applier) {
    AppState& state = applier.state_;
    state.stroke = 0;
    state.redo.clear();
    applier.remember(before);
    if (!stays) applier.forget_looks();
    state.trained = {step.step, step.loss_before, loss_of(state.session).value_or(0),
                     state.cursor().position()};
  });
}

std::size_t Applier::position_of(const CellAddress& address) const {
  const core::StepList& steps = state_.session.steps();
  switch (address.quantity) {
    case core::Quantity::value:
      break;
    case core::Quantity::gradient: {
      const auto writers = state_.trace().workspace().gradient_plan().writers(address.tensor);
      return writers.empty() ? 0 : steps.backward_begin() + std::ranges::max(writers) + 1;
    }
    case core::Quantity::first_moment:
    case core::Quantity::second_moment:
    case core::Quantity::previous_value:
    case core::Quantity::previous_first:
    case core::Quantity::previous_second: {
      const auto place = std::ranges::find(steps.parameters(), address.tensor);
      return steps.update_begin() + static_cast<std::size_t>(place - steps.parameters().begin()) + 1;
    }
  }
  const std::optional<std::size_t> producer = state_.session.graph().producer(address.tensor);
  return producer ? *producer + 1 : 0;
}

}  // namespace headscope::simulator
