// ImGui with no graphics: a context, frames at fixed times, and input fed as a back end would feed it.
#pragma once

#include "simulator/fonts.h"
#include "simulator/painter.h"
#include "simulator/theme.h"
#include "simulator/widgets/interaction.h"
#include "tests/source_folder.h"

#include <imgui.h>

#include <array>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace headscope::simulator::test {

/// The shipped theme; throws with the error's key if it does not load.
inline Theme shipped_theme(Variant variant = Variant::light) {
  core::Result<Theme> theme = load_theme(headscope::tests::source_folder() / "assets/theme.toml", variant);
  if (!theme) throw std::runtime_error(theme.error().key + " " + theme.error().where);
  return *theme;
}

/// One ImGui context for one test. Draw with `frame`, act between frames.
class NullBackend {
 public:
  explicit NullBackend(ImVec2 display = {1600, 900}) : context_(ImGui::CreateContext()) {
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.LogFilename = nullptr;
    io.DisplaySize = display;
    io.DeltaTime = 1.0F / 60;
    io.MousePos = {-1000, -1000};
    io.ConfigInputTextCursorBlink = false;
#if IMGUI_VERSION_NUM < 18700
    for (int key = 0; key < ImGuiKey_COUNT; ++key) io.KeyMap[key] = key;
#endif
    build_default_font();
  }
  ~NullBackend() {
    ImGui::DestroyContext(context_);
  }
  NullBackend(const NullBackend&) = delete;
  NullBackend& operator=(const NullBackend&) = delete;

  /// One frame; `draw` runs in a window that covers the display, with no padding and no decoration.
  void frame(const std::function<void()>& draw) {
    build_default_font();
    ImGui::NewFrame();
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
    ImGui::Begin("test", nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoBackground |
                     ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBringToFrontOnFocus |
                     ImGuiWindowFlags_NoNav);
    ImGui::PopStyleVar();
    draw();
    ImGui::End();
    ImGui::Render();
  }

  void move_mouse(ImVec2 to) {
#if IMGUI_VERSION_NUM < 18700
    ImGui::GetIO().MousePos = to;
#else
    ImGui::GetIO().AddMousePosEvent(to.x, to.y);
#endif
  }
  enum class Button : bool { up, down };
  void mouse_button(Button state) {
#if IMGUI_VERSION_NUM < 18700
    ImGui::GetIO().MouseDown[0] = state == Button::down;
#else
    ImGui::GetIO().AddMouseButtonEvent(0, state == Button::down);
#endif
  }
  /// Hover, press, release: a frame each, as a hand needs them.
  void click(ImVec2 at, const std::function<void()>& draw) {
    move_mouse(at);
    frame(draw);
    mouse_button(Button::down);
    frame(draw);
    mouse_button(Button::up);
    frame(draw);
  }
  /// Turns the wheel for one frame; negative: down.
  void scroll(float lines, const std::function<void()>& draw) {
#if IMGUI_VERSION_NUM < 18700
    ImGui::GetIO().MouseWheel = lines;
#else
    ImGui::GetIO().AddMouseWheelEvent(0, lines);
#endif
    frame(draw);
  }
  enum class Modifier { none, shift, control };
  /// Down for a frame, then up for one.
  void press(ImGuiKey key, const std::function<void()>& draw, Modifier modifier = Modifier::none) {
    set_key(key, true, modifier);
    frame(draw);
    set_key(key, false, modifier);
    frame(draw);
  }
  void hold(ImGuiKey key, Modifier modifier = Modifier::none) {
    set_key(key, true, modifier);
  }
  void release(ImGuiKey key) {
    set_key(key, false, Modifier::none);
  }
  /// Types UTF-8 text, one character a frame.
  void type(std::string_view text, const std::function<void()>& draw) {
    each_character(text, [&] { frame(draw); });
  }
  /// Feeds UTF-8 text, one character before each call of `run_frame`.
  static void each_character(std::string_view text, const std::function<void()>& run_frame) {
    for (std::size_t at = 0; at < text.size();) {
      std::size_t next = at + 1;
      while (next < text.size() && (static_cast<unsigned char>(text[next]) & 0xC0) == 0x80) ++next;
      ImGui::GetIO().AddInputCharactersUTF8(std::string(text.substr(at, next - at)).c_str());
      run_frame();
      at = next;
    }
  }

 private:
  /// ImGui wants an atlas before the first frame; tests without fonts of their own get its default.
  static void build_default_font() {
    unsigned char* pixels = nullptr;
    int width = 0, height = 0;
    if (!ImGui::GetIO().Fonts->IsBuilt()) ImGui::GetIO().Fonts->GetTexDataAsAlpha8(&pixels, &width, &height);
  }
  static void set_key(ImGuiKey key, bool down, Modifier modifier) {
    ImGuiIO& io = ImGui::GetIO();
    const bool shift = down && modifier == Modifier::shift, control = down && modifier == Modifier::control;
#if IMGUI_VERSION_NUM < 18700
    io.KeysDown[key] = down;
    io.KeyShift = shift;
    io.KeyCtrl = control;
#else
    io.AddKeyEvent(ImGuiMod_Shift, shift);
    io.AddKeyEvent(ImGuiMod_Ctrl, control);
    io.AddKeyEvent(key, down);
#endif
  }

  ImGuiContext* context_;
};

/// A null back end with the shipped look: theme, fonts, focus and a record of the drawn text.
class Look {
 public:
  explicit Look(ImVec2 display = {1600, 900}, const FontRequest& request = {},
                Variant variant = Variant::light)
      : backend(display), theme(shipped_theme(variant)), fonts(built(theme, request)) {}

  /// Draws one frame with `draw(ui)`; the record then holds that frame's text.
  template <class Draw>
  void frame(const Draw& draw) {
    backend.frame(in_ui(draw));
  }
  /// `draw(ui)` as what the back end's input functions take.
  template <class Draw>
  std::function<void()> in_ui(const Draw& draw) {
    return [this, &draw] {
      record.clear();
      focus.begin_frame();
      Painter painter(*ImGui::GetWindowDrawList(), theme, fonts, &record);
      Ui ui{painter, focus};
      draw(ui);
    };
  }

  NullBackend backend;
  Theme theme;
  Fonts fonts;
  Focus focus;
  TextRecord record;

 private:
  static Fonts built(const Theme& theme, const FontRequest& request) {
    core::Result<Fonts> fonts = Fonts::build(*ImGui::GetIO().Fonts, theme, request);
    if (!fonts) throw std::runtime_error(fonts.error().key + " " + fonts.error().where);
    return std::move(*fonts);
  }
};

}  // namespace headscope::simulator::test
