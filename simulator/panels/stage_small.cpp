// The wholes and branches in a row under the other matrices.
#include "simulator/panels/stage_layout_parts.h"

#include <string>
#include <vector>

namespace headscope::simulator {

using namespace stage_parts;

namespace {

/// Of the stage's height, and never more than that.
constexpr float kSmallShare = 0.28f, kSmallHighest = 230, kSmallLowest = 96;
constexpr float kLargestSmallCell = 26;

float small_top(const Panel& panel) {
  return panel.painter().line_height(TypeStyle::label) + panel.px(14);
}

}  // namespace

float small_height(const Panel& panel, float height, std::span<const std::unique_ptr<StageMatrix>> small) {
  if (small.empty()) return 0;
  const float room = std::min(height * kSmallShare, panel.px(kSmallHighest));
  return room < panel.px(kSmallLowest) ? 0 : room;
}

void draw_small(Panel& panel, const Rect& box, std::span<const std::unique_ptr<StageMatrix>> small) {
  float signs = 0, rows = 1, columns = 0;
  for (const std::unique_ptr<StageMatrix>& matrix : small) {
    MatrixSpec& spec = matrix->spec;
    spec.row_labels.clear(), spec.column_labels.clear();
    spec.row_caption.clear(), spec.column_caption.clear();
    spec.pager = Pager::hidden;
    signs += matrix->item().sign.empty() ? panel.px(panel.theme().space.l) : panel.px(kSignWidth);
    rows = std::max(rows, static_cast<float>(matrix->rows_shown()));
    columns = std::max(columns, static_cast<float>(matrix->columns_shown()));
  }
  // each has a column of the same width, in which its title fits as far as it can
  const auto n = static_cast<float>(small.size());
  const float width = (box.width() - signs) / n;
  const float high = box.height() - small_top(panel) - panel.px(8);
  const float side = std::min({panel.px(kLargestSmallCell), high / rows, (width - panel.px(8)) / columns});
  const ImVec2 cell = floored({side, side});
  std::vector<Placed> placed;
  float x = box.min.x;
  for (const std::unique_ptr<StageMatrix>& matrix : small) {
    matrix->spec.title.room = width - panel.px(8);
    const std::string& sign = matrix->item().sign;
    const float before = sign.empty() ? 0 : panel.px(kSignWidth);
    const ImVec2 room{
        std::max(cell.x, std::min(width - panel.px(8), cell.x * static_cast<float>(matrix->columns_shown()))),
        std::max(cell.y, std::min(high, cell.y * static_cast<float>(matrix->rows_shown())))};
    placed.push_back(
        {matrix.get(), place_matrix(panel.painter(), matrix->spec, {x + before, box.min.y + small_top(panel)},
                                    cell, room, matrix->page())});
    const Rect cells = placed.back().layout.cells;
    if (!sign.empty())
      panel.painter().text_in(
          {{x, cells.min.y}, {x + before - panel.px(6), cells.max.y}}, sign,
          {.type = TypeStyle::heading, .weight = Weight::regular, .source = Source::tensor});
    x += before + width + (sign.empty() ? panel.px(panel.theme().space.l) : 0);
  }
  draw_placed(panel, placed, "small");
}

}  // namespace headscope::simulator
