// A model of 512 tokens and 64 heads in the window: every level, forward and back, is drawn whole and shows
// numbers or their pictures.
#include "tests/simulator/app_fixture.h"
#include "tests/simulator/frame_check.h"
#include "tests/simulator/large_state.h"

#include <algorithm>
#include <string>
#include <vector>

namespace headscope::simulator {
namespace {

using test::AppOnNull;

/// Behind the last step, in a direction, of the operation that makes a tensor with this name's end.
std::size_t behind(const AppState& state, const std::string& leaf, core::Phase phase) {
  const core::StepList& steps = state.session.steps();
  const core::Graph& graph = state.session.graph();
  std::size_t position = 0;
  for (std::size_t place = 0; place < state.session.n_steps(); ++place)
    if (steps[place].phase == phase &&
        core::leaf(graph.spec(core::result(graph.operations()[steps[place].operation])).name) == leaf)
      position = place + 1;
  REQUIRE(position > 0);
  return position;
}

TEST_CASE("512 tokens and 64 heads are drawn whole, forward and back", "[simulator][stage][app][long][.]") {
  const ImVec2 window = GENERATE(ImVec2{1600, 900}, ImVec2{2560, 1440});
  AppOnNull app(test::app_of(test::large_state()), window);
  app.settle();
  const auto check = [&](const std::string& what) {
    app.frame();
    INFO(what);
    const std::vector<std::string> faults = test::faults_of(app.record, window);
    INFO((faults.empty() ? std::string() : faults.front()));
    CHECK(faults.empty());
    CHECK(app.record.entries.size() > 8);
    for (const TextEntry& entry : app.record.entries) CHECK_FALSE(entry.text.starts_with("Too little room"));
  };
  for (const core::Phase phase : {core::Phase::forward, core::Phase::backward})
    for (const std::string leaf : {"queries", "scores", "weights"}) {
      app.app.apply(MoveCursor{behind(app.state(), leaf, phase)});
      const std::string name = leaf + (phase == core::Phase::forward ? "" : " back");
      for (const StageLevel level : {StageLevel::model, StageLevel::block, StageLevel::part,
                                     StageLevel::heads, StageLevel::head, StageLevel::matrix}) {
        app.app.apply(OpenPlace{level});
        app.settle();
        check(name + ", level " + std::to_string(static_cast<int>(level)));
      }
      // and with the other choice of what a page is to show
      for (const Detail detail : {Detail::numbers, Detail::pattern}) {
        const std::string word = detail == Detail::numbers ? "numbers" : "pattern";
        app.click(app.text_with(word, "chip").rect.centre());
        check(name + ", " + word);
      }
    }
}

}  // namespace
}  // namespace headscope::simulator
