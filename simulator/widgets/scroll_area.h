// A region that scrolls by itself, with a slim bar of ours.
#pragma once

#include "simulator/widgets/interaction.h"

namespace headscope::simulator {

/// Between `begin` and `end`, ImGui's current window is the area's child, widgets get `ui()`,
/// and content starts at `origin()` (already scrolled). Tell `end` where the content ends.
class ScrollArea {
 public:
  ScrollArea(Ui& ui, std::string_view id, const Rect& box);
  ~ScrollArea();
  ScrollArea(const ScrollArea&) = delete;
  ScrollArea& operator=(const ScrollArea&) = delete;

  ImVec2 origin() const { return origin_; }
  Rect visible() const { return box_; }
  /// The height of what was drawn, from origin(); before destruction.
  void set_content_height(float height) { content_height_ = height; }
  /// Scrolls in the next frame so that this (screen) rectangle is seen.
  void reveal(const Rect& box);
  void scroll_to_top();
  Painter& painter() { return painter_; }
  /// For the widgets inside.
  Ui& ui() { return inner_; }

 private:
  Painter painter_;
  Ui inner_;
  Rect box_;
  ImVec2 origin_;
  float content_height_ = 0;
};

/// Whether an area that this frame drew will stand elsewhere in the next: another frame is due.
bool is_scrolling();

}  // namespace headscope::simulator
