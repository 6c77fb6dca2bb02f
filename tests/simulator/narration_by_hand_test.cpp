// Whatever is set by hand, every number can be asked.
#include "core/graph_paths.h"
#include "simulator/view.h"
#include "tests/simulator/any_state.h"
#include "tests/simulator/frame_check.h"

#include <catch2/catch.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace headscope::simulator {
namespace {

using core::Quantity;

/// What a learner may set, each by itself and all at once.
std::vector<std::pair<std::string, std::vector<Action>>> settings_of(const AppState& state) {
  std::vector<Action> off, uniform, attentions, weights, extremes;
  for (const core::AttentionTensors& attention : core::find_attentions(state.session.graph())) {
    for (std::int64_t head = 0; head < state.session.config().n_heads; ++head) {
      off.emplace_back(SetHead{{attention.head_output, head}, core::HeadMode::off});
      uniform.emplace_back(SetHead{{attention.head_output, head}, core::HeadMode::uniform});
    }
    attentions.emplace_back(
        SetAttention{attention.scores, {.temperature = 0.05, .leaves_scale = false, .leaks_future = true}});
  }
  const core::Graph& graph = state.session.graph();
  for (std::uint32_t index = 0; index < graph.n_tensors(); ++index) {
    const core::Shape& shape = state.trace().shape({index});
    if (shape.count() == 0) continue;
    const bool is_share = graph.producer({index}) &&
                          std::holds_alternative<core::Softmax>(graph.operations()[*graph.producer({index})]);
    for (std::int64_t place = 0; is_share && place < shape.count(); ++place)
      weights.emplace_back(SetCell{{{index}, shape.cell(place)}, 0});
    if (graph.spec({index}).role == core::Role::parameter)
      extremes.emplace_back(
          SetCell{{{index}, shape.cell(shape.count() / 2)}, index % 2 == 0 ? -12345.678 : 1e-7});
  }
  std::vector<Action> all = extremes;
  for (const std::vector<Action>* some : {&attentions, &weights, &uniform})
    all.insert(all.end(), some->begin(), some->end());
  return {{"heads off", off},        {"heads uniform", uniform}, {"attentions", attentions},
          {"weights of 0", weights}, {"extremes", extremes},     {"all of it", all}};
}

/// The beginning, within the backward pass, its end, the end.
std::vector<std::size_t> places_of(const core::Session& session) {
  const core::StepList& steps = session.steps();
  if (!session.has_gold()) return {session.n_steps()};
  return {0, steps.backward_begin() + steps.n_backward() / 2, steps.update_begin(), steps.size()};
}

/// The first cell, one in the middle, the last.
std::vector<core::Cell> some_cells(const core::Shape& shape) {
  std::vector<core::Cell> cells;
  if (shape.count() == 0) return cells;
  for (const std::int64_t place : {std::int64_t{0}, shape.count() / 2, shape.count() - 1})
    cells.push_back(shape.cell(place));
  return cells;
}

}  // namespace

TEST_CASE("whatever is set by hand, every number has a sentence and every step a view",
          "[simulator][narration][by_hand]") {
  const Words words = *Words::load(tests::source_folder() / "assets", "en");
  std::size_t n_read = 0;
  for (const core::test::NamedConfig& named : core::test::every_objective()) {
    const AppState fresh = test::open_any(named);
    for (const auto& [what, actions] : settings_of(fresh)) {
      AppState state = test::open_any(named);
      for (const Action& action : actions) apply_action(state, action);
      for (std::size_t position = 0; position <= state.session.n_steps(); ++position) {
        INFO(named.name << ", " << what << ", view at " << position);
        apply_action(state, MoveCursor{position});
        const View view = make_view(state, words, {}, std::nullopt);
        if (position > 0) REQUIRE_FALSE(view.said.empty());
      }
      for (const std::size_t position : places_of(state.session)) {
        apply_action(state, MoveCursor{position});
        for (std::uint32_t index = 0; index < state.session.graph().n_tensors(); ++index)
          for (const core::Cell& cell : some_cells(state.trace().shape({index})))
            for (const Quantity quantity :
                 {Quantity::value, Quantity::gradient, Quantity::first_moment, Quantity::previous_value}) {
              const Narration narration =
                  narrate(state.session, state.trace(), {{index}, cell, quantity}, words);
              if (narration.sentence.empty() || test::has_placeholder(narration.sentence))
                FAIL_CHECK(named.name << ", " << what << " at " << position << ": "
                                      << state.session.graph().spec({index}).name << ": "
                                      << narration.sentence);
              ++n_read;
            }
      }
    }
  }
  CHECK(n_read > 50'000);  // else most of this was not tried
}

}  // namespace headscope::simulator
