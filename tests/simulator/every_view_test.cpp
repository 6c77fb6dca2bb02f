// Every view of the stage at every step (forward, loss, backward, update) of a model of each architecture and
// objective, in windows from the smallest to the largest and text from 75 % to 300 %: nothing is cut off or
// written over, nothing is blank.
#include "tests/simulator/every_view.h"

#include <string>
#include <vector>

namespace headscope::simulator {
namespace {

using test::kLevels;
using test::report;
using test::Viewer;
using test::Window;

TEST_CASE("every step of every kind of model is drawn whole, in windows and levels by turns",
          "[simulator][every_view]") {
  // each step appears in one window and at two levels; together they go through all of both
  const std::vector<Window> sizes = test::windows();
  std::vector<std::string> faults;
  std::size_t turn = 0;
  for (const core::test::NamedConfig& named : core::test::every_objective()) {
    for (std::size_t at = 0; at < sizes.size(); ++at) {
      Viewer viewer(named, sizes[at]);
      for (std::size_t position = at; position <= viewer.n_steps(); position += sizes.size()) {
        viewer.show(position, StageLevel::matrix);
        if (turn % 3 == 0) viewer.lock();
        viewer.show(position, kLevels[turn++ % (kLevels.size() - 1)]);
      }
      faults.insert(faults.end(), viewer.faults().begin(), viewer.faults().end());
    }
  }
  report(faults);
}

TEST_CASE("every step of every kind of model is drawn whole in every window and at every level",
          "[simulator][every_view][long][.]") {
  for (const core::test::NamedConfig& named : core::test::every_config())
    for (const Window& window : test::windows()) {
      Viewer viewer(named, window);
      for (std::size_t position = 0; position <= viewer.n_steps(); ++position) {
        for (const StageLevel level : kLevels) viewer.show(position, level);
        viewer.lock();
      }
      report(viewer.faults());
    }
}

}  // namespace
}  // namespace headscope::simulator
