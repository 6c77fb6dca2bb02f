// Matrices a few dozen pixels large, for the operation strip.
#include "simulator/widgets/matrix.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace headscope::simulator {

namespace {

constexpr float kLeastCell = 2;  // smaller ones are left out, evenly
constexpr Dash kDots = {2, 3};

int n_shown(float room, int all) {
  return std::clamp(static_cast<int>(room / kLeastCell), 1, std::max(1, all));
}

}  // namespace

void draw_thumbnail(Painter& painter, const Rect& box, const MatrixValues& values, ColourMap map,
                    double scale, std::span<const CellFlags> flags) {
  const int rows = n_shown(box.height(), values.rows), columns = n_shown(box.width(), values.columns);
  const auto edge = [](float begin, float length, int i, int n) {
    return std::round(begin + length * static_cast<float>(i) / static_cast<float>(n));
  };
  const Theme& theme = painter.theme();
  ImDrawList& list = painter.list();
  std::vector<float> sides(static_cast<std::size_t>(columns) + 1);
  for (int j = 0; j <= columns; ++j)
    sides[static_cast<std::size_t>(j)] = edge(box.min.x, box.width(), j, columns);
  for (int i = 0; i < rows; ++i) {
    const float top = edge(box.min.y, box.height(), i, rows),
                bottom = edge(box.min.y, box.height(), i + 1, rows);
    // a picture has a thousand cells, a page of heads sixty pictures: room for a row at a time
    list.PrimReserve(columns * 6, columns * 4);
    for (int j = 0; j < columns; ++j) {
      const int row = i * values.rows / rows, column = j * values.columns / columns;
      const auto place = static_cast<std::size_t>(row) * static_cast<std::size_t>(values.columns) +
                         static_cast<std::size_t>(column);
      const double value = values.at(row, column);
      ImU32 colour = theme.colour.inset;
      const bool hidden = !flags.empty() && (flags[place] & (kMasked | kNotComputed)) != 0;
      if (!hidden && std::isfinite(value) && map != ColourMap::plain)
        colour = map == ColourMap::probability ? theme.probability_colour(value)
                                               : theme.signed_colour(value, scale);
      list.PrimRect({sides[static_cast<std::size_t>(j)], top},
                    {sides[static_cast<std::size_t>(j) + 1], bottom}, colour);
    }
  }
}

void draw_empty_thumbnail(Painter& painter, const Rect& box) {
  painter.dashed_frame(box, painter.colour().control, painter.stroke(painter.theme().line.hair), kDots);
}

}  // namespace headscope::simulator
