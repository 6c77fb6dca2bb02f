// What holds for every state, whatever a learner did.
#pragma once

#include "simulator/app_state.h"
#include "simulator/words.h"

#include <catch2/catch.hpp>

#include <algorithm>

namespace headscope::simulator::test {

/// Fails the test where a promise of the state is broken.
inline void require_whole(const AppState& state, const Words& words) {
  REQUIRE(state.cursor().position() <= state.session.n_steps());
  REQUIRE(state.head() >= 0);
  REQUIRE(state.head() < state.session.config().n_heads);
  for (const CellAddress& address : state.trail) REQUIRE(state.has_cell(address));
  if (state.shown) REQUIRE(state.shown->index < state.session.graph().n_tensors());
  const core::Trace<float> trace = state.trace();
  for (const auto& [place, value] : state.session.edits()) {
    // behind an update the learner's number is the one before it; losses wait for an answer
    const bool is_there = state.session.graph().producer(place.first).value_or(0) < state.session.n_steps();
    if (is_there && !trace.is_updated(place.first))
      REQUIRE(trace.value(place.first, place.second) == static_cast<double>(static_cast<float>(value)));
  }
  if (state.message) {
    INFO(state.message->key);
    REQUIRE(words.text.has("error." + state.message->key + ".what"));
  }
  if (const core::Session* before = state.comparison.before.get()) {
    REQUIRE(&before->model() == &state.session.model());
    REQUIRE(before->cursor().position() == std::min(state.cursor().position(), before->n_steps()));
  }
}

}  // namespace headscope::simulator::test
