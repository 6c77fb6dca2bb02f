// Long ways and gradient checks go on frame by frame: to the same bits, stopped at any time, and nothing is
// lost on the way.
#include "tests/simulator/app_fixture.h"
#include "tests/simulator/impatient.h"
#include "tests/simulator/whole_state.h"

#include <string>
#include <vector>

namespace headscope::simulator {
namespace {

using test::AppOnNull;
using test::go_on;
using test::impatient;
using test::some_cell;

/// The same actions at once, and with a frame after each operation.
void check_same(const std::string& model, const std::vector<Action>& actions) {
  AppState at_once = test::open_bundled(model), slow = impatient(model);
  for (const Action& action : actions) {
    INFO(model << ", action " << action.index());
    apply_action(at_once, action);
    apply_action(slow, action);
    REQUIRE(go_on(slow));
    CHECK(test::place_of(slow) == test::place_of(at_once));
  }
}

}  // namespace

TEST_CASE("a long way is gone in pieces, to the same bits", "[simulator][actions][patience]") {
  for (const std::string model : {"look-ups", "translation", "sentiment"}) {
    const AppState state = test::open_bundled(model);
    const core::StepList& steps = state.session.steps();
    const std::size_t loss = steps.backward_begin(), end = steps.update_begin(), middle = (loss + end) / 2;
    check_same(model, {MoveCursor{middle}, MoveCursor{middle - 1}, MoveCursor{end + 2}, MoveCursor{end + 1},
                       MoveCursor{middle}, SetCell{some_cell(state), 0.5}, Undo{}, Redo{}, MoveCursor{3},
                       NextTrainingStep{}, Undo{}, NextTrainingStep{}, MoveCursor{middle}, NextTrainingStep{},
                       Reset{}, Undo{}, SetDifference{Shows::yes}, MoveCursor{loss + 1}, DrawExample{}});
  }
}

TEST_CASE("a way is stopped, turned, and survives a change", "[simulator][actions][patience]") {
  const AppState fresh = test::open_bundled("look-ups");
  const std::size_t loss = fresh.session.steps().backward_begin(), end = fresh.session.steps().update_begin();
  AppState state = impatient("look-ups");
  apply_action(state, MoveCursor{end});
  REQUIRE(state.walk);
  apply_action(state, GoOn{});
  const std::size_t here = state.cursor().position();
  CHECK((here > loss && here < end));
  apply_action(state, SetTextScale{1.5});  // no way of the cursor's
  CHECK(state.walk);
  apply_action(state, Stop{});
  CHECK_FALSE(state.walk);
  CHECK(state.cursor().position() == here);

  apply_action(state, MoveCursor{end});
  apply_action(state, MoveCursor{2});
  CHECK_FALSE(state.walk);
  CHECK(state.cursor().position() == 2);

  // a change begins anew on the way to where one was going
  apply_action(state, MoveCursor{end});
  apply_action(state, SetCell{some_cell(state), 0.5});
  CHECK(state.undo.size() == 1);
  CHECK(go_on(state).value_or(0) > 1);
  CHECK(state.cursor().position() == end);

  // a training step that is not reached is not taken
  apply_action(state, MoveCursor{0});
  apply_action(state, NextTrainingStep{});
  apply_action(state, Stop{});
  CHECK(state.session.training_step() == 1);
  CHECK(state.undo.size() == 1);
  apply_action(state, OpenModel{"nowhere"});
  REQUIRE(go_on(state));
  REQUIRE(state.message);
  apply_action(state, MoveCursor{end});
  apply_action(state, OpenModel{"nowhere"});
  REQUIRE(go_on(state));
  CHECK(state.message);  // it is read while the way goes on
}

TEST_CASE("a gradient is checked beside the drawing", "[simulator][app][patience]") {
  AppState expected = test::open_bundled("sentiment");
  const CellAddress cell = some_cell(expected, core::Quantity::gradient);
  apply_action(expected, CheckGradient{cell});
  REQUIRE(expected.checked);

  core::Result<App> made = App::make(impatient("sentiment"));
  REQUIRE(made);
  AppOnNull app(*std::move(made), {1600, 900});
  app.settle();
  app.app.apply(CheckGradient{cell});
  for (int n = 0; n < 100'000 && !app.state().checked; ++n) app.frame();
  REQUIRE(app.state().checked);
  CHECK_FALSE(app.state().checking);
  CHECK(app.state().checked->address == cell);
  CHECK(app.state().checked->check.numeric == expected.checked->check.numeric);

  app.app.apply(CheckGradient{cell});
  app.app.apply(Stop{});
  CHECK_FALSE(app.state().checking);
  // numbers that change take the check with them
  app.app.apply(CheckGradient{cell});
  app.app.apply(DrawExample{});
  CHECK_FALSE(app.state().checking);
  CHECK_FALSE(app.state().checked);
}

TEST_CASE("the window tells how far a long way is, and stops it", "[simulator][app][patience]") {
  core::Result<App> made = App::make(impatient("translation"));
  REQUIRE(made);
  AppOnNull app(*std::move(made), {1600, 900});
  app.settle();
  const std::size_t end = app.state().session.steps().update_begin();
  const auto set_out = [&] {
    app.app.apply(MoveCursor{0});
    app.app.apply(MoveCursor{end});
    app.frame(), app.frame();
    REQUIRE(app.state().walk);
    app.text_with("On the way: step " + std::to_string(app.state().cursor().position() - 1) + ", to step " +
                  std::to_string(end));
  };
  set_out();
  app.backend.hold(ImGuiKey_Escape, test::NullBackend::Modifier::none);
  app.frame();
  app.backend.release(ImGuiKey_Escape);
  CHECK_FALSE(app.state().walk);
  CHECK(app.state().cursor().position() < end);

  set_out();
  app.click(app.text_with("Stop (Esc)", "button").rect.centre());
  CHECK_FALSE(app.state().walk);
  CHECK(app.state().cursor().position() < end);
  app.frame();
  for (const TextEntry& entry : app.record.entries) CHECK_FALSE(entry.text.starts_with("On the way"));
  test::require_whole(app.state(), app.app.words());
}

}  // namespace headscope::simulator
