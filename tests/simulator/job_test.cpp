// What is long runs beside the drawing: to the same state as at once, in the order in which it was asked for,
// stopped at any time, and a window that is closed meanwhile waits for it.
#include "tests/simulator/app_fixture.h"
#include "tests/simulator/impatient.h"
#include "tests/simulator/whole_state.h"

#include <string>
#include <vector>

namespace headscope::simulator {
namespace {

using test::AppOnNull;
using test::go_on;
using test::place_of;
using test::some_cell;

/// Whatever is not looking alone becomes a job.
AppState jobs_only(const std::string& model) {
  return test::impatient(model, 0);
}

/// One of each kind that may be long.
std::vector<Action> long_actions(const AppState& state) {
  const core::Session& session = state.session;
  const std::size_t end = session.steps().update_begin();
  std::vector<Action> actions = {SetCell{some_cell(state), 0.5},
                                 SetDifference{Shows::yes},
                                 MoveCursor{end},
                                 NextTrainingStep{},
                                 MarkBefore{},
                                 ClearCell{some_cell(state)},
                                 Undo{},
                                 Redo{},
                                 DrawExample{},
                                 SetSentence{"no such words as these"},
                                 RestoreSentence{},
                                 PreviousOperation{},
                                 SetOptimiser{core::OptimiserConfig{.rate = 0.01}},
                                 SetGold{},
                                 AssumeGold{},
                                 RestoreCells{},
                                 Reset{},
                                 SetDifference{Shows::no}};
  for (const core::Operation& operation : session.graph().operations()) {
    if (const auto* mix = std::get_if<core::MixValues>(&operation))
      for (const auto mode : {core::HeadMode::mean, core::HeadMode::off})
        actions.emplace_back(SetHead{{mix->output, 0}, mode});
    if (const auto* scores = std::get_if<core::Scores>(&operation))
      actions.emplace_back(SetAttention{scores->output, {.temperature = 2}});
  }
  actions.insert(actions.end(), {OpenModel{"nowhere"}, OpenLesson{"2"}, OpenModel{"look-ups"}});
  return actions;
}

void check_same_place(const AppState& slow, const AppState& at_once) {
  CHECK(place_of(slow) == place_of(at_once));
  CHECK(slow.message.has_value() == at_once.message.has_value());
  CHECK(slow.trained.has_value() == at_once.trained.has_value());
  CHECK(slow.comparison.is_shown == at_once.comparison.is_shown);
}

}  // namespace

TEST_CASE("a job leads to the same state as computing at once", "[simulator][actions][patience][job]") {
  for (const std::string model : {"translation", "sentiment", "look-ups"}) {
    AppState at_once = test::open_bundled(model), slow = jobs_only(model);
    for (const Action& action : long_actions(at_once)) {
      INFO(model << ", action " << action.index());
      apply_action(at_once, action);
      apply_action(slow, action);
      REQUIRE(go_on(slow));
      check_same_place(slow, at_once);
    }
  }
}

TEST_CASE("what is done while a job runs waits for it, in order", "[simulator][actions][patience][job]") {
  for (const std::string model : {"translation", "sentiment"}) {
    AppState at_once = test::open_bundled(model), slow = jobs_only(model);
    const CellAddress cell = some_cell(at_once);
    std::vector<Action> actions = long_actions(at_once);
    actions.insert(actions.begin(), {SetCell{cell, 0.1, 7}, SetCell{cell, 0.2, 7}, SetCell{cell, 0.3, 7},
                                     LockCell{cell}, ChooseHead{1}, Undo{}});
    for (const Action& action : actions) {
      apply_action(at_once, action);
      apply_action(slow, action);
    }
    REQUIRE(go_on(slow));
    check_same_place(slow, at_once);
  }
  // of a stroke the last is enough
  AppState state = jobs_only("look-ups");
  const CellAddress cell = some_cell(state);
  for (int n = 0; n < 100; ++n) apply_action(state, SetCell{cell, 0.01 * n + 0.5, 3});
  // the first may be done at once, where the thread is quick
  if (state.job) CHECK(state.job->waiting.size() <= 1);
  REQUIRE(go_on(state));
  CHECK(state.undo.size() == 1);
  CHECK(state.trace().value(cell.tensor, cell.cell) ==
        static_cast<double>(static_cast<float>(0.01 * 99 + 0.5)));
}

TEST_CASE("a job that is stopped leaves everything as it was", "[simulator][actions][patience][job]") {
  for (const std::string model : {"translation", "sentiment"}) {
    const AppState fresh = test::open_bundled(model);
    const std::size_t middle =
        (fresh.session.steps().backward_begin() + fresh.session.steps().update_begin()) / 2;
    for (const Action& action : long_actions(fresh)) {
      INFO(model << ", action " << action.index());
      AppState state = jobs_only(model);
      apply_action(state, SetCell{some_cell(state), 0.25});
      REQUIRE(go_on(state));
      apply_action(state, MoveCursor{middle});
      REQUIRE(go_on(state));
      const auto before = place_of(state);
      apply_action(state, action);
      if (!state.job) continue;  // there is a way to go first, or nothing to do
      apply_action(state, LockCell{some_cell(state)});
      apply_action(state, SetTextScale{1.5});  // the look does not wait
      CHECK(state.text_scale == 1.5);
      apply_action(state, Stop{});
      REQUIRE(go_on(state));
      CHECK(place_of(state) == before);
    }
  }
}

TEST_CASE("the window tells what a job does, goes on drawing, and stops it",
          "[simulator][app][patience][job]") {
  core::Result<App> made = App::make(jobs_only("sentiment"));
  REQUIRE(made);
  AppOnNull app(*std::move(made), {1600, 900});
  app.settle();
  const auto before = place_of(app.state());
  app.app.apply(SetCell{some_cell(app.state()), 0.5});
  const bool was_there = app.state().job != nullptr;
  app.frame();
  if (was_there) {  // unless it was quicker than the action
    app.text_with("Computing the numbers anew");
    app.press(ImGuiKey_Escape);
  }
  for (int n = 0; n < 10'000 && app.state().job; ++n) app.frame();
  CHECK_FALSE(app.state().job);
  if (app.state().undo.empty()) CHECK(place_of(app.state()) == before);
  test::require_whole(app.state(), app.app.words());
  // one that is left alone ends without the learner's doing anything
  app.app.apply(DrawExample{});
  for (int n = 0; n < 100'000 && app.state().job; ++n) app.frame();
  CHECK_FALSE(app.state().job);
  CHECK(app.state().session.setup().text != before.setup.text);
  // and a window may be closed while it runs
  app.app.apply(OpenModel{"translation"});
}

TEST_CASE("a sentence that a job refuses stays in its field", "[simulator][app][patience][job]") {
  core::Result<App> made = App::make(jobs_only("sentiment"));
  REQUIRE(made);
  AppOnNull app(*std::move(made), {1600, 900});
  app.settle();
  const std::string sentence = app.state().session.text();
  app.click(app.record.with_role("field").front()->rect.centre());
  app.press(ImGuiKey_A, test::NullBackend::Modifier::control);
  app.type("nowhere at all");
  app.press(ImGuiKey_Enter);
  for (int n = 0; n < 10'000 && (app.state().job || app.state().walk); ++n) app.frame();
  app.settle();
  CHECK(app.state().session.text() == sentence);
  REQUIRE(app.state().message);
  CHECK(app.record.with_role("field").front()->full == "nowhere at all");
}

}  // namespace headscope::simulator
