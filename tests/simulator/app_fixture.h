// The whole application on the null back end: a lesson opened from the shipped files, frames, input, and the
// record of every drawn string.
#pragma once

#include "simulator/app.h"
#include "tests/simulator/app_of.h"
#include "tests/simulator/null_backend.h"
#include "tests/source_folder.h"

#include <catch2/catch.hpp>

#include <filesystem>
#include <string>
#include <utility>

namespace headscope::simulator::test {

using headscope::tests::source_folder;

inline AppState open_shipped(const std::string& lesson) {
  core::Result<AppState> state =
      open_lesson(source_folder() / "assets", source_folder() / "lessons/content/en", lesson);
  if (!state) throw std::runtime_error(state.error().key + " " + state.error().where);
  return *std::move(state);
}

class AppOnNull {
 public:
  explicit AppOnNull(const std::string& lesson, ImVec2 display = {1600, 900})
      : AppOnNull(app_of(open_shipped(lesson)), display) {}
  AppOnNull(App made_app, ImVec2 display) : backend(display), app(std::move(made_app)) {}

  /// Frames until the application rests.
  void settle() {
    for (int n = 0; n < 12; ++n) {
      frame();
      if (next.within > 0) return;
    }
  }
  void frame() {
    prepare();
    ImGui::NewFrame();
    draw();
    ImGui::Render();
    time += 1.0 / 60;
  }

  void click(ImVec2 at) {
    backend.move_mouse(at);
    frame(), frame();
    backend.mouse_button(NullBackend::Button::down);
    frame();
    backend.mouse_button(NullBackend::Button::up);
    frame();
    settle();
  }
  void double_click(ImVec2 at) {
    backend.move_mouse(at);
    frame(), frame();
    for (const auto state : {NullBackend::Button::down, NullBackend::Button::up, NullBackend::Button::down,
                             NullBackend::Button::up}) {
      backend.mouse_button(state);
      frame();
    }
    settle();
  }
  void press(ImGuiKey key, NullBackend::Modifier modifier = NullBackend::Modifier::none) {
    backend.hold(key, modifier);
    frame();
    backend.release(key);
    settle();
  }
  /// One frame with the wheel turned by so many lines; negative: down.
  void turn_wheel(float lines) {
#if IMGUI_VERSION_NUM < 18700
    ImGui::GetIO().MouseWheel = lines;
#else
    ImGui::GetIO().AddMouseWheelEvent(0, lines);
#endif
    frame();
    settle();
  }
  void type(std::string_view text) {
    backend.each_character(text, [this] { frame(); });
    settle();
  }

  const AppState& state() const {
    return app.state();
  }
  const View& view() const {
    return app.view();
  }

  /// The drawn string with this role, or the first with this text; fails the test where there is none.
  const TextEntry& text_with(std::string_view text, std::string_view role = {}) const {
    for (const TextEntry& entry : record.entries)
      if (entry.text == text && (role.empty() || entry.role == role)) return entry;
    INFO("no text \"" << text << "\" with role \"" << role << "\" on the screen");
    REQUIRE(false);
    return record.entries.front();
  }

  NullBackend backend;
  App app;
  TextRecord record;
  platform::NextFrame next;
  double time = 0;

 private:
  void prepare() {
    const core::Result<platform::FontAtlas> prepared = app.prepare(this_frame());
    if (!prepared) throw std::runtime_error(prepared.error().key + " " + prepared.error().where);
    unsigned char* pixels = nullptr;
    int width = 0, height = 0;
    ImGui::GetIO().Fonts->GetTexDataAsAlpha8(&pixels, &width, &height);
  }
  platform::Frame this_frame() const {
    const ImVec2 size = ImGui::GetIO().DisplaySize;
    return {.width = size.x, .height = size.y, .time = time, .scale = {}};
  }
  void draw() {
    next = app.draw(this_frame(), &record);
  }
};

}  // namespace headscope::simulator::test
