// States that compute piece by piece, and what they must agree with.
#pragma once

#include "simulator/job.h"
#include "tests/simulator/bundled_state.h"
#include "tests/simulator/state_numbers.h"

#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace headscope::simulator::test {

/// With so little patience that each action does one operation; larger sessions than `most_at_once` make
/// jobs.
inline AppState impatient(const std::string& model, double most_at_once = 2e7) {
  AppState state = open_bundled(model);
  state.patience = 0;
  state.most_at_once = most_at_once;
  return state;
}

/// The first cell of a parameter that has a gradient.
inline CellAddress some_cell(const AppState& state, core::Quantity quantity = core::Quantity::value) {
  const core::TensorId parameter = state.session.steps().parameters().back();
  return {parameter, state.trace().shape(parameter).cell(0), quantity};
}

/// Values and gradients, to the bit: where nothing was computed there may be no number.
inline std::vector<std::uint32_t> numbers_of(const core::Session& session) {
  std::vector<std::uint32_t> numbers;
  const auto add = [&](std::span<const float> floats) {
    for (const float number : floats) numbers.push_back(std::bit_cast<std::uint32_t>(number));
  };
  const core::Trace<float> trace = session.trace();
  for (std::uint32_t index = 0; index < session.graph().n_tensors(); ++index) {
    if (session.graph().spec({index}).element != core::Element::real) continue;
    // without an answer nobody computes the loss: what is left of another one means nothing
    if (session.graph().producer({index}).value_or(0) >= session.n_steps()) continue;
    add(trace.workspace().values({index}));
    if (trace.gradient_writers_done({index}) > 0) add(trace.workspace().gradients({index}));
  }
  return numbers;
}

/// Frames until nothing waits; how many, or none where it never ends.
inline std::optional<int> go_on(AppState& state) {
  for (int n = 0; n < 10'000; ++n) {
    if (!state.walk && !state.job) return n;
    if (state.job) state.job->background.wait(10);
    apply_action(state, GoOn{});
  }
  return std::nullopt;
}

/// What an action may change, as far as it is the learner's.
struct Place {
  std::vector<std::uint32_t> numbers, before;
  std::int64_t step = 0;
  std::size_t position = 0, n_undo = 0, n_redo = 0;
  core::Setup setup;
  std::vector<CellAddress> trail;
  std::string name;
  bool operator==(const Place&) const = default;
};
inline Place place_of(const AppState& state) {
  core::Setup setup = state.session.setup();
  setup.trained.reset();  // another object in each state; its numbers are among the others
  return {
      .numbers = numbers_of(state.session),
      .before = state.comparison.before ? numbers_of(*state.comparison.before) : std::vector<std::uint32_t>(),
      .step = state.session.training_step(),
      .position = state.cursor().position(),
      .n_undo = state.undo.size(),
      .n_redo = state.redo.size(),
      .setup = std::move(setup),
      .trail = state.trail,
      .name = state.name};
}

}  // namespace headscope::simulator::test
