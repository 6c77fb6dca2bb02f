// Invisible buttons under our own drawing, our own order of Tab, and keys across versions of ImGui.
#include "simulator/widgets/interaction.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace headscope::simulator {

namespace {

constexpr float kRingOutset = 4;

ImGuiKey imgui_key(Key key) {
  switch (key) {
    case Key::tab:
      return ImGuiKey_Tab;
    case Key::left:
      return ImGuiKey_LeftArrow;
    case Key::right:
      return ImGuiKey_RightArrow;
    case Key::up:
      return ImGuiKey_UpArrow;
    case Key::down:
      return ImGuiKey_DownArrow;
    case Key::page_up:
      return ImGuiKey_PageUp;
    case Key::page_down:
      return ImGuiKey_PageDown;
    case Key::home:
      return ImGuiKey_Home;
    case Key::end:
      return ImGuiKey_End;
    case Key::enter:
      return ImGuiKey_Enter;
    case Key::escape:
      return ImGuiKey_Escape;
    case Key::space:
      return ImGuiKey_Space;
    case Key::y:
      return ImGuiKey_Y;
    case Key::z:
      return ImGuiKey_Z;
  }
  return ImGuiKey_Tab;
}

/// Scrolls the current window so that the box, reached by Tab, is seen.
void bring_into_view(const Rect& box) {
  const ImVec2 position = ImGui::GetWindowPos();
  const float height = ImGui::GetWindowSize().y;
  if (box.min.y >= position.y && box.max.y <= position.y + height) return;
  ImGui::SetScrollFromPosY(box.min.y - position.y, 0.3F);
}

}  // namespace

void Focus::begin_sheet() {
  if (std::ranges::find(order_, focused_) != order_.end()) focused_ = 0;
  order_.clear();
}

void Focus::begin_frame() {
  last_order_.swap(order_);
  order_.clear();
  arrived_ = false;
  if (ImGui::IsMouseClicked(0)) ring_ = false;
  if (!key_pressed(Key::tab, Repeat::repeating) || last_order_.empty()) return;
  const auto n = static_cast<std::ptrdiff_t>(last_order_.size());
  const auto found = std::find(last_order_.begin(), last_order_.end(), focused_);
  const std::ptrdiff_t step = ImGui::GetIO().KeyShift ? -1 : 1;
  std::ptrdiff_t next = step == 1 ? 0 : n - 1;
  if (found != last_order_.end()) next = (found - last_order_.begin() + step + n) % n;
  focused_ = last_order_[static_cast<std::size_t>(next)];
  ring_ = true;
  arrived_ = true;
}

bool Focus::enter(ImGuiID id) {
  order_.push_back(id);
  return has(id);
}

Touch touch(Ui& ui, std::string_view id, const Rect& box, Reach reach) {
  Touch result;
  const std::string name(id);
  result.id = ImGui::GetID(name.c_str());
  result.mouse = ImGui::GetIO().MousePos;
  if (reach == Reach::none) return result;
  ImGui::SetCursorScreenPos(box.min);
  const bool released =
      ImGui::InvisibleButton(name.c_str(), {std::max(1.0F, box.width()), std::max(1.0F, box.height())});
  result.hovered = ImGui::IsItemHovered();
  result.held = ImGui::IsItemActive();
  result.clicked = released;
  result.double_clicked = result.hovered && ImGui::IsMouseDoubleClicked(0);
  if (reach == Reach::pointer) return result;
  if (ImGui::IsItemActivated()) ui.focus.give(result.id);
  result.focused = ui.focus.enter(result.id);
  if (ui.focus.arrived_at(result.id)) bring_into_view(box);
  if (ui.focus.takes_keys(result.id) && (key_pressed(Key::enter) || key_pressed(Key::space)))
    result.clicked = true;
  return result;
}

void draw_focus_ring(Ui& ui, const Rect& box, const Touch& touched, float radius) {
  if (!touched.focused || !ui.focus.shows_ring()) return;
  Painter& painter = ui.painter;
  const float width = painter.stroke(painter.theme().line.focus);
  painter.frame(box.grown(painter.px(kRingOutset - 1) + width / 2), painter.colour().focus, width,
                painter.px(radius + kRingOutset - 1));
}

bool key_pressed(Key key, Repeat repeat) {
  const bool repeats = repeat == Repeat::repeating;
#if IMGUI_VERSION_NUM >= 18700
  return ImGui::IsKeyPressed(imgui_key(key), repeats);
#else
  // an unmapped key has index -1, for which this is false
  const bool pressed = ImGui::IsKeyPressed(ImGui::GetKeyIndex(imgui_key(key)), repeats);
  return pressed ||
         (key == Key::enter && ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_KeyPadEnter), repeats));
#endif
}

bool typed(char letter) {
  const ImGuiIO& io = ImGui::GetIO();
  if (io.WantTextInput || io.KeyCtrl || io.KeyAlt) return false;
  const auto lower = [](unsigned c) {
    return c < 0x80 ? static_cast<unsigned>(std::tolower(static_cast<int>(c))) : c;
  };
  for (const ImWchar character : io.InputQueueCharacters)
    if (lower(character) == lower(static_cast<unsigned char>(letter))) return true;
  return false;
}

}  // namespace headscope::simulator
