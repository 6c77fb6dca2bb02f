// Every view of the stage at every step (forward, loss, backward, update) of a model of each architecture and
// objective, in windows from the smallest to the largest and text from 75 % to 300 %: nothing is cut off or
// written over, nothing is blank.
#include "tests/simulator/any_state.h"
#include "tests/simulator/app_fixture.h"
#include "tests/simulator/frame_check.h"

#include <array>
#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace headscope::simulator {
namespace {

struct Window {
  ImVec2 size;
  double text_scale;
};

std::vector<Window> windows() {
  std::vector<Window> all;
  for (const ImVec2 size : {ImVec2{800, 600}, ImVec2{1280, 720}, ImVec2{2560, 1440}})
    for (const double scale : {0.75, 1.0, 3.0}) all.push_back({size, scale});
  return all;
}

constexpr std::array<StageLevel, 6> kLevels = {StageLevel::model, StageLevel::block, StageLevel::part,
                                               StageLevel::heads, StageLevel::head,  StageLevel::matrix};

/// One application in one window; it steps through everything that it is told to show.
class Viewer {
 public:
  Viewer(const core::test::NamedConfig& named, const Window& window)
      : name_(named.name), window_(window), app_(made(named), window.size) {
    app_.app.apply(SetTextScale{window.text_scale});
    app_.settle();
  }

  void show(std::size_t position, StageLevel level) {
    app_.app.apply(MoveCursor{position});
    app_.app.apply(OpenPlace{level});
    app_.settle();
    check("level " + std::to_string(static_cast<int>(level)));
  }

  /// The cell nearest the middle of what the last step wrote, value or gradient, held.
  void lock() {
    const std::optional<core::Step> step = app_.state().last_step();
    if (!step) return;
    CellAddress address;
    if (step->phase == core::Phase::update) {
      address = {step->parameter, {}, core::Quantity::value};
    } else {
      const core::Operation& operation = app_.state().session.graph().operations()[step->operation];
      address.tensor = core::result(operation);
      if (step->phase == core::Phase::backward) {
        for (const core::Operand& operand : core::operands_of(operation))
          if (app_.state().trace().has(operand.tensor, core::Quantity::gradient))
            address.tensor = operand.tensor;
        address.quantity = core::Quantity::gradient;
      }
    }
    const core::Shape& shape = app_.state().trace().shape(address.tensor);
    if (shape.count() == 0) return;
    address.cell = shape.cell(shape.count() / 2);
    app_.app.apply(LockCell{address});
    app_.settle();
    check("a held cell");
  }

  std::size_t n_steps() const { return app_.state().session.n_steps(); }
  const std::vector<std::string>& faults() const { return faults_; }

 private:
  static App made(const core::test::NamedConfig& named) {
    core::Result<App> app = App::make(test::open_any(named));
    if (!app) throw std::runtime_error(app.error().key);
    return *std::move(app);
  }

  void check(const std::string& what) {
    const std::string where = name_ + ", " + std::to_string(static_cast<int>(window_.size.x)) + "×" +
                              std::to_string(static_cast<int>(window_.size.y)) + " at " +
                              std::to_string(static_cast<int>(window_.text_scale * 100)) + " %, position " +
                              std::to_string(app_.state().cursor().position()) + ", " + what;
    for (const std::string& fault : test::faults_of(app_.record, window_.size))
      faults_.push_back(where + ": " + fault);
    // a stage that shows nothing at all says at least why
    if (app_.record.entries.size() < 4) faults_.push_back(where + ": almost nothing is drawn");
  }

  std::string name_;
  Window window_;
  test::AppOnNull app_;
  std::vector<std::string> faults_;
};

void report(const std::vector<std::string>& faults) {
  constexpr std::size_t kMostShown = 12;
  std::string words;
  for (std::size_t at = 0; at < std::min(faults.size(), kMostShown); ++at) words += faults[at] + "\n";
  if (const char* file = std::getenv("HEADSCOPE_FAULTS")) {  // all of them, to work through
    std::ofstream out(file, std::ios::app);
    for (const std::string& fault : faults) out << fault << "\n";
  }
  INFO(faults.size() << " faults, the first are:\n" << words);
  CHECK(faults.empty());
}

TEST_CASE("every step of every kind of model is drawn whole, in windows and levels by turns",
          "[simulator][every_view]") {
  // each step appears in one window and at two levels; together they go through all of both
  const std::vector<Window> sizes = windows();
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
    for (const Window& window : windows()) {
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
