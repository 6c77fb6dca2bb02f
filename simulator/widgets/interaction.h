// What the pointer and the keyboard do to a rectangle. The order of Tab is ours: controls enter it in the
// order in which they are drawn, whatever ImGui's version makes of Tab.
#pragma once

#include "simulator/painter.h"

#include <imgui.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace headscope::simulator {

/// Who has the keyboard. One lives as long as the window; `begin_frame` after ImGui::NewFrame.
class Focus {
 public:
  /// Reads Tab and Shift+Tab and moves along the order of the last frame. A click anywhere hides the ring.
  void begin_frame();
  /// Puts a control into this frame's order. Returns whether it has the focus.
  bool enter(ImGuiID id);
  bool has(ImGuiID id) const { return id != 0 && id == focused_; }
  /// Keys act on the focused control, and its ring is drawn, only after the keyboard was used to get there: a
  /// click leaves Space and the arrows to the transport.
  bool shows_ring() const { return ring_; }
  bool takes_keys(ImGuiID id) const { return ring_ && has(id); }
  /// Tab has just moved to this control: scroll to it.
  bool arrived_at(ImGuiID id) const { return arrived_ && has(id); }
  /// What follows in this frame lies over everything before it, and Tab stays within it.
  void begin_sheet();
  void give(ImGuiID id) { focused_ = id; }
  void clear() { focused_ = 0, ring_ = false; }
  ImGuiID focused() const { return focused_; }
  /// Whether a control that this frame drew has the keys: the window's shortcuts, asked last, leave those to
  /// it. One that is gone (the last step has no "next") keeps none.
  bool holds_keys() const {
    return ring_ && std::find(order_.begin(), order_.end(), focused_) != order_.end();
  }

 private:
  std::vector<ImGuiID> order_, last_order_;
  ImGuiID focused_ = 0;
  bool ring_ = false, arrived_ = false;
};

/// All that a widget needs.
struct Ui {
  Painter& painter;
  Focus& focus;
};

struct Touch {
  bool hovered = false;
  bool held = false;     // the button is down and went down here
  bool clicked = false;  // released here, or Enter or Space with the focus
  bool double_clicked = false;
  bool focused = false;
  ImVec2 mouse = {0, 0};
  ImGuiID id = 0;
};

enum class Reach : std::uint8_t { pointer, pointer_and_tab, none };

/// An invisible control over the box, in the current ImGui window.
Touch touch(Ui& ui, std::string_view id, const Rect& box, Reach reach = Reach::pointer_and_tab);

/// The 2 px ring, 4 outside, when the control has the focus and the ring is shown.
void draw_focus_ring(Ui& ui, const Rect& box, const Touch& touched, float radius = 6);

enum class Key : std::uint8_t {
  tab,
  left,
  right,
  up,
  down,
  page_up,
  page_down,
  home,
  end,
  enter,
  escape,
  space,
  y,  // with Ctrl: redo
  z   // with Ctrl: undo
};
enum class Repeat : std::uint8_t { once, repeating };
/// Whether the key went down in this frame; works with ImGui 1.86 and its later key enumeration.
bool key_pressed(Key key, Repeat repeat = Repeat::once);
/// Whether this character was typed in this frame with no text field active ('e' also for 'E').
bool typed(char letter);

}  // namespace headscope::simulator
