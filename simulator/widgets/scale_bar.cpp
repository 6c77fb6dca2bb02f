// The gradient is drawn stop by stop, so that it holds the very colours of the cells.
#include "simulator/widgets/scale_bar.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace headscope::simulator {

namespace {

constexpr float kBarHeight = 8;
constexpr float kNumberGap = 8;  // at least, between the numbers under the bar
constexpr float kMostOut = 14;   // a number may reach over the bar's end so far

void draw_gradient(Painter& painter, const Rect& box, const std::vector<ImU32>& stops) {
  const float step = box.width() / static_cast<float>(stops.size() - 1);
  for (std::size_t i = 0; i + 1 < stops.size(); ++i) {
    const float x = box.min.x + step * static_cast<float>(i);
    painter.list().AddRectFilledMultiColor({x, box.min.y}, {x + step, box.max.y}, stops[i], stops[i + 1],
                                           stops[i + 1], stops[i]);
  }
}

const std::vector<ImU32>& stops_of(const Painter& painter, ColourMap map) {
  return map == ColourMap::probability ? painter.colour().probability_map : painter.colour().signed_map;
}

/// Fewest digits that say the scale: 3, 0.5, 0.25.
std::string scale_number(const Painter& painter, double x) {
  const lessons::NumberRules& rules = painter.theme().numbers;
  for (int digits = 0; digits < 3; ++digits)
    if (std::fabs(x - std::round(x * std::pow(10, digits)) / std::pow(10, digits)) <= 1e-9 * std::fabs(x))
      return x == 0 ? "0" : lessons::format_digits(x, digits, rules);
  return lessons::format_number(x, lessons::NumberKind::gradient, rules);
}

Rect draw_bar(Painter& painter, ImVec2 at, float width, ColourMap map,
              const std::array<std::string, 3>& numbers, std::string_view note) {
  const TextStyle style{.type = TypeStyle::small,
                        .colour = painter.colour().tertiary,
                        .source = Source::number,
                        .role = "scale"};
  const float left = painter.width_of(numbers[0], style), right = painter.width_of(numbers[2], style);
  const float gap = painter.px(kNumberGap), out = painter.px(kMostOut);
  const Rect bar = rect_at(at, {std::max(width, left + gap + right - 2 * out), painter.px(kBarHeight)});
  draw_gradient(painter, bar, stops_of(painter, map));
  const float y = bar.max.y + painter.px(4);
  // in the middle under its end, as far as that does not reach out over the margin
  const float first = bar.min.x - std::min(left / 2, out),
              last = bar.max.x + std::min(right / 2, out) - right;
  Rect bounds = joined(bar, painter.text({first, y}, numbers[0], style));
  const float half = painter.width_of(numbers[1], style) / 2, centre = bar.centre().x;
  if (centre - half - gap >= first + left && centre + half + gap <= last)
    painter.text({centre - half, y}, numbers[1], style);
  bounds = joined(bounds, painter.text({last, y}, numbers[2], style));
  if (note.empty()) return bounds;
  const TextStyle words{.type = TypeStyle::small, .colour = painter.colour().tertiary, .role = "scale_note"};
  const float line = painter.line_height(TypeStyle::small);
  return joined(bounds, painter.text({bar.max.x + painter.px(28), bar.centre().y - line / 2}, note, words));
}

}  // namespace

Rect draw_scale_bar(Painter& painter, ImVec2 at, float width, ColourMap map, double scale,
                    std::string_view note) {
  const double low = map == ColourMap::probability ? 0 : -scale,
               high = map == ColourMap::probability ? 1 : scale;
  return draw_bar(
      painter, at, width, map,
      {scale_number(painter, low), scale_number(painter, (low + high) / 2), scale_number(painter, high)},
      note);
}

Rect draw_sign_bar(Painter& painter, ImVec2 at, float width, std::string_view note) {
  return draw_bar(painter, at, width, ColourMap::signed_values, {painter.theme().numbers.minus, "0", "+"},
                  note);
}

Rect draw_scale_line(Painter& painter, ImVec2 at, float width, ColourMap map, double scale) {
  const TextStyle style{.type = TypeStyle::small,
                        .colour = painter.colour().tertiary,
                        .source = Source::number,
                        .role = "scale"};
  const std::string low = scale_number(painter, map == ColourMap::probability ? 0 : -scale);
  const std::string high = scale_number(painter, map == ColourMap::probability ? 1 : scale);
  const float line = painter.line_height(TypeStyle::small), gap = painter.px(10);
  const Rect left = painter.text(at, low, style);
  const Rect bar = rect_at({left.max.x + gap, at.y + (line - painter.px(kBarHeight)) / 2},
                           {width, painter.px(kBarHeight)});
  draw_gradient(painter, bar, stops_of(painter, map));
  return joined(left, painter.text({bar.max.x + gap, at.y}, high, style));
}

double round_scale(double largest) {
  if (!std::isfinite(largest) || largest <= 0) return 1;
  const double decade = std::pow(10, std::floor(std::log10(largest)));
  for (const double step : {1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0})
    if (step * decade >= largest * (1 - 1e-9)) return step * decade;
  return 10 * decade;
}

}  // namespace headscope::simulator
