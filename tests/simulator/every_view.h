// What the tests of every view share: the windows, an application to be walked through, the report of faults.
#pragma once

#include "tests/simulator/any_state.h"
#include "tests/simulator/app_fixture.h"
#include "tests/simulator/frame_check.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headscope::simulator::test {

struct Window {
  ImVec2 size;
  double text_scale;
};

inline std::vector<Window> windows() {
  std::vector<Window> all;
  for (const ImVec2 size : {ImVec2{800, 600}, ImVec2{1280, 720}, ImVec2{2560, 1440}})
    for (const double scale : {0.75, 1.0, 3.0}) all.push_back({size, scale});
  all.push_back({{1280, 720}, 2.25});  // where bars are low, and still have all that they hold
  return all;
}

inline constexpr std::array<StageLevel, 6> kLevels = {StageLevel::model, StageLevel::block,
                                                      StageLevel::part,  StageLevel::heads,
                                                      StageLevel::head,  StageLevel::matrix};

/// One application in one window; it steps through everything that it is told to show.
class Viewer {
 public:
  Viewer(AppState state, std::string name, const Window& window)
      : name_(std::move(name)), window_(window), app_(app_of(std::move(state)), window.size) {
    app_.app.apply(SetTextScale{window.text_scale});
    app_.settle();
  }
  Viewer(const core::test::NamedConfig& named, const Window& window)
      : Viewer(open_any(named), named.name, window) {}

  void show(std::size_t position, StageLevel level) {
    app_.app.apply(MoveCursor{position});
    app_.app.apply(OpenPlace{level});
    app_.settle();
    check("level " + std::to_string(static_cast<int>(level)));
  }

  /// The cell nearest the middle of what the last step wrote, value or gradient; none at the beginning.
  std::optional<CellAddress> middle() const {
    const std::optional<core::Step> step = app_.state().last_step();
    if (!step) return std::nullopt;
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
    if (shape.count() == 0) return std::nullopt;
    address.cell = shape.cell(shape.count() / 2);
    return address;
  }

  void lock() {
    const std::optional<CellAddress> address = middle();
    if (!address) return;
    app_.app.apply(LockCell{*address});
    app_.settle();
    check("a held cell");
  }

  void act(const Action& action) {
    app_.app.apply(action);
    app_.settle();
  }

  /// Looks at the frame as it stands.
  void check(const std::string& what) { check(what, app_.record); }

  void check(const std::string& what, const TextRecord& record) {
    const std::string where = name_ + ", " + std::to_string(static_cast<int>(window_.size.x)) + "×" +
                              std::to_string(static_cast<int>(window_.size.y)) + " at " +
                              std::to_string(static_cast<int>(window_.text_scale * 100)) + " %, position " +
                              std::to_string(app_.state().cursor().position()) + ", " + what;
    for (const std::string& fault : faults_of(record, window_.size)) faults_.push_back(where + ": " + fault);
    // a stage that shows nothing at all says at least why: few strings are a sentence or two
    std::size_t n_letters = 0;
    for (const TextEntry& entry : record.entries) n_letters += entry.text.size();
    if (record.entries.size() < 4 && n_letters < 40) faults_.push_back(where + ": almost nothing is drawn");
  }

  std::size_t n_steps() const { return app_.state().session.n_steps(); }
  const std::vector<std::string>& faults() const { return faults_; }
  AppOnNull& app() { return app_; }
  const AppState& state() const { return app_.state(); }

 private:
  std::string name_;
  Window window_;
  AppOnNull app_;
  std::vector<std::string> faults_;
};

/// Fails the test where there are faults, and says which. The variable HEADSCOPE_FAULTS names a file that all
/// of them are added to.
inline void report(const std::vector<std::string>& faults) {
  constexpr std::size_t kMostShown = 12;
  std::string words;
  for (std::size_t at = 0; at < std::min(faults.size(), kMostShown); ++at) words += faults[at] + "\n";
  if (const char* file = std::getenv("HEADSCOPE_FAULTS")) {
    std::ofstream out(file, std::ios::app);
    for (const std::string& fault : faults) out << fault << "\n";
  }
  INFO(faults.size() << " faults, the first are:\n" << words);
  CHECK(faults.empty());
}

}  // namespace headscope::simulator::test
