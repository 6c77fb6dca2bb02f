// An ImGui child window without its scroll bar, and a slim bar that can be dragged.
#include "simulator/widgets/scroll_area.h"

#include <imgui_internal.h>

#include <algorithm>
#include <cfloat>
#include <string>

namespace headscope::simulator {

namespace {

constexpr float kBarWidth = 4, kBarTarget = 12, kShortestThumb = 24, kRevealMargin = 24;

Painter begin(Ui& ui, std::string_view id, const Rect& box) {
  ImGui::SetCursorScreenPos(box.min);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::BeginChild(
      std::string(id).c_str(), box.size(), false,
      ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoSavedSettings);
  ImGui::PopStyleVar();
  return ui.painter.scrolling_on(*ImGui::GetWindowDrawList());
}

}  // namespace

ScrollArea::ScrollArea(Ui& ui, std::string_view id, const Rect& box)
    : painter_(begin(ui, id, box)),
      inner_{painter_, ui.focus},
      box_(box),
      origin_({box.min.x, box.min.y - ImGui::GetScrollY()}) {}

ScrollArea::~ScrollArea() {
  ImGui::SetCursorScreenPos({origin_.x, origin_.y + content_height_});
  ImGui::Dummy({1, 1});
  const float height = box_.height();
  if (content_height_ > height) {
    const float thumb = std::max(painter_.px(kShortestThumb), height * height / content_height_);
    const float furthest = content_height_ - height;
    const float position = std::clamp(ImGui::GetScrollY() / furthest, 0.0F, 1.0F);
    const float top = box_.min.y + (height - thumb) * position;
    const Rect target = {{box_.max.x - painter_.px(kBarTarget), top}, {box_.max.x, top + thumb}};
    const Touch touched = touch(inner_, "##scroll_thumb", target, Reach::pointer);
    if (touched.held && height > thumb)
      ImGui::SetScrollY(ImGui::GetScrollY() + ImGui::GetIO().MouseDelta.y * furthest / (height - thumb));
    const float right = box_.max.x - painter_.px(3), width = painter_.px(kBarWidth);
    const float alpha = touched.hovered || touched.held ? 0.9F : 0.45F;
    painter_.fill({{right - width, top + painter_.px(2)}, {right, top + thumb - painter_.px(2)}},
                  with_alpha(painter_.colour().control, alpha), width / 2);
  }
  ImGui::EndChild();
}

void ScrollArea::reveal(const Rect& box) {
  const float margin = std::min(painter_.px(kRevealMargin), box_.height() / 4);
  if (box.min.y < box_.min.y)
    ImGui::SetScrollY(ImGui::GetScrollY() + box.min.y - box_.min.y - margin);
  else if (box.max.y > box_.max.y)
    ImGui::SetScrollY(ImGui::GetScrollY() + box.max.y - box_.max.y + margin);
}

void ScrollArea::scroll_to_top() {
  ImGui::SetScrollY(0);
}

bool is_scrolling() {
  const ImVector<ImGuiWindow*>& windows = ImGui::GetCurrentContext()->Windows;
  return std::any_of(windows.begin(), windows.end(), [](const ImGuiWindow* window) {
    return window->Active && window->ScrollTarget.y < FLT_MAX;
  });
}

}  // namespace headscope::simulator
