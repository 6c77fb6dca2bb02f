#include "simulator/panels/regions.h"

#include <algorithm>

namespace headscope::simulator {

WindowRegions arrange_regions(const Painter& painter, ImVec2 window) {
  const auto px = [&](float length) { return painter.px(length); };
  const Theme& theme = painter.theme();
  const float wide = window.x / px(1);  // in theme pixels at this text scale
  const float tall = window.y / px(1);
  const bool is_low = tall < 360;  // a small window with large text: the bars leave some room
  const float bar = px(is_low ? 42 : theme.region.top_bar);
  const float transport = px(is_low ? 50 : wide < 960 ? 68 : theme.region.transport);
  // beyond the drawn width the side panels grow, up to 460; below 1440 they shrink
  float side = theme.region.lesson;
  if (wide >= 1920) side = std::min(460.0f, theme.region.lesson + (wide - 1600) * 0.15f);
  if (wide < 1440) side = 320;
  if (wide < 960) side = std::min(320.0f, wide * 0.38f);

  WindowRegions regions;
  regions.top_bar = {{0, 0}, {window.x, bar}};
  regions.transport = {{0, window.y - transport}, {window.x, window.y}};
  const float top = bar, bottom = window.y - transport;
  regions.lesson = {{0, top}, {px(side), bottom}};
  regions.stage = {{px(side), top}, {window.x, bottom}};
  const Rect right{{window.x - px(side), top}, {window.x, bottom}};
  if (wide >= 1280) {
    regions.explainer = right;
    regions.stage.max.x = right.min.x;
  } else if (wide >= 960) {
    regions.drawer = right;
  } else if (wide >= 560) {
    regions.layout = WindowLayout::column;
  } else {
    regions.layout = WindowLayout::single;
    regions.lesson = regions.stage = {{0, top}, {window.x, bottom}};
  }
  return regions;
}

}  // namespace headscope::simulator
