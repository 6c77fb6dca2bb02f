#include "simulator/widgets/slider.h"

#include <algorithm>
#include <cmath>

namespace headscope::simulator {
namespace {

constexpr float kHeight = 32, kHandle = 7, kLine = 3, kKeyStep = 0.02F;

}  // namespace

float slider_height(const Painter& painter) {
  return painter.px(kHeight);
}

SliderResponse slider(Ui& ui, std::string_view id, ImVec2 at, float width, float share) {
  Painter& painter = ui.painter;
  const Palette& colours = painter.colour();
  const Rect box = rect_at(at, {width, slider_height(painter)});
  const Touch touched = touch(ui, id, box);
  const float handle = painter.px(kHandle), begin = at.x + handle, room = std::max(1.0F, width - 2 * handle),
              y = std::round(box.centre().y);
  SliderResponse response;
  response.began = touched.held && ImGui::IsMouseClicked(0);
  if (touched.held) {
    const float wanted = std::clamp((touched.mouse.x - begin) / room, 0.0F, 1.0F);
    if (wanted != share) response.moved = wanted;
  }
  if (ui.focus.takes_keys(touched.id)) {
    const int step = (key_pressed(Key::right, Repeat::repeating) ? 1 : 0) -
                     (key_pressed(Key::left, Repeat::repeating) ? 1 : 0);
    if (step != 0) {
      response.moved = std::clamp(share + kKeyStep * static_cast<float>(step), 0.0F, 1.0F);
      response.began = true;
    }
  }
  const float x = begin + std::clamp(response.moved.value_or(share), 0.0F, 1.0F) * room;
  const float half = painter.px(kLine) / 2;
  painter.fill({{begin, y - half}, {begin + room, y + half}}, colours.hair, half);
  painter.fill({{begin, y - half}, {x, y + half}}, colours.secondary, half);
  painter.list().AddCircleFilled({x, y}, handle,
                                 touched.hovered || touched.held ? colours.accent_hover : colours.accent, 32);
  draw_focus_ring(ui, box, touched, 6);
  return response;
}

}  // namespace headscope::simulator
