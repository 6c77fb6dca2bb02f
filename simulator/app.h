// The application: state, look and words together, drawn frame by frame for whatever platform asks.
#pragma once

#include "simulator/app_state.h"
#include "simulator/panels/panel.h"
#include "simulator/platform/frame.h"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headscope::simulator {

class App {
 public:
  /// Loads themes and words from the state's assets. Errors: those of load_theme() and Words::load().
  static core::Result<App> make(AppState state, const std::string& language = "en");

  /// The same with words of the caller's (tests: the pseudo language).
  static core::Result<App> make(AppState state, Words words);

  /// Before ImGui::NewFrame(): bakes the fonts on the first frame, and when the scale or the wanted
  /// characters changed. Errors: those of Fonts::build().
  core::Result<platform::FontAtlas> prepare(const platform::Frame& frame);

  /// Between ImGui::NewFrame() and ImGui::Render(): draws everything, applies what the learner did.
  platform::NextFrame draw(const platform::Frame& frame, TextRecord* record = nullptr);

  /// Applies an action from outside a frame (a test, the command line).
  void apply(const Action& action);

  /// The sessions that were left since the last call, for whoever keeps them.
  std::vector<std::shared_ptr<const LeftSession>> take_left();

  const AppState& state() const { return state_; }
  const View& view() const { return view_; }
  const WindowState& window() const { return window_; }
  const Theme& theme() const { return themes_[state_.appearance == Appearance::light ? 0 : 1]; }
  const Words& words() const { return words_; }

 private:
  App(AppState state, Words words, Theme light, Theme dark);
  void refresh_view();
  void forget_model();
  void turn_pages();
  std::string title() const;
  void play(double time, Actions& actions);
  double next_frame_within(double time) const;

  AppState state_;
  Words words_;
  std::array<Theme, 2> themes_;
  std::optional<Fonts> fonts_;
  WindowState window_;
  View view_;
  // what the window's drafts and pages belong to
  std::shared_ptr<const lessons::Lesson> lesson_;
  std::shared_ptr<const core::SessionModel> model_;
  std::optional<CellAddress> page_turned_to_;  // the lit cell for which pages were last turned
  bool follow_up_ =
      true;  // another frame is due: something was applied or lit that the last one did not show
};

}  // namespace headscope::simulator
