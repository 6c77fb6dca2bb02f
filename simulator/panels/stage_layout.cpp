#include "simulator/panels/stage_layout_parts.h"

#include "simulator/panels/cell_edit.h"

#include <string>

namespace headscope::simulator {

using namespace stage_parts;

ImVec2 stage_parts::largest_cell(const Panel& panel, const Rect& box) {
  return box.width() > panel.px(1000) ? ImVec2{panel.px(96), panel.px(64)}
                                      : ImVec2{panel.px(62), panel.px(44)};
}

bool stage_parts::show_fewer_rows(const Panel& panel, Matrices matrices) {
  bool could = false;
  for (const std::unique_ptr<StageMatrix>& matrix : matrices) could |= matrix->show_fewer_rows(panel);
  return could;
}

float stage_parts::pager_room(const Panel& panel, const StageMatrix& matrix) {
  const bool is_paged =
      matrix.rows_shown() < matrix.spec.values.rows || matrix.columns_shown() < matrix.spec.values.columns;
  if (matrix.spec.pager == Pager::hidden) return 0;
  return is_paged ? pager_height(panel.painter()) : 0;
}

Placed stage_parts::place(const Panel& panel, StageMatrix& matrix, ImVec2 origin, ImVec2 cell) {
  const ImVec2 room{cell.x * static_cast<float>(matrix.columns_shown()),
                    cell.y * static_cast<float>(matrix.rows_shown())};
  return {&matrix, place_matrix(panel.painter(), matrix.spec, origin, cell, room, matrix.page())};
}

bool stage_parts::turn_cut_words(const Panel& panel, Matrices matrices, ImVec2 cell) {
  bool turned = false;
  for (const std::unique_ptr<StageMatrix>& matrix : matrices) {
    if (!cuts_column_words(panel.painter(), matrix->spec, cell.x)) continue;
    matrix->spec.column_label_turn = LabelTurn::upright;
    turned = true;
  }
  return turned;
}

void stage_parts::turn_level(Matrices matrices) {
  for (const std::unique_ptr<StageMatrix>& matrix : matrices)
    matrix->spec.column_label_turn = LabelTurn::level;
}

bool stage_parts::stays_legible(const Panel& panel, Matrices matrices, ImVec2 turned, ImVec2 level) {
  constexpr float kLowestOfPattern = 9;
  if (detail_of(panel.window, panel.view.stage) == Detail::pattern)
    return turned.y >= std::min(level.y, panel.px(kLowestOfPattern));
  int shown = 0, fewest = 0;
  for (const std::unique_ptr<StageMatrix>& matrix : matrices)
    shown += matrix->rows_shown(), fewest += matrix->fewest_rows();
  const float lowest = turned.y * static_cast<float>(shown) / static_cast<float>(std::max(1, fewest));
  return lowest >= std::min(level.y, panel.px(kLowestCell));
}

void draw_placed(Panel& panel, std::span<const Placed> placed, const std::string& id) {
  for (const Placed& one : placed) {
    draw_matrix(panel.painter(), one.matrix->spec, one.layout);
    one.matrix->note =
        has_room_for_note(panel.painter(), one.matrix->spec, one.layout) ? Shown::yes : Shown::no;
  }
  // the open field comes first: of two controls in one place the first gets the pointer
  for (const Placed& one : placed) edit_cell(panel, *one.matrix, one.layout);
  for (std::size_t at = 0; at < placed.size(); ++at)
    touch_matrix(panel, id + std::to_string(at), *placed[at].matrix, placed[at].layout);
}

namespace {

/// The bands that join the lit result's row and column with its operands.
void draw_bands(Panel& panel, const Placed& left, const Placed& upper, const Placed& result) {
  for (const MatrixFrame& frame : result.matrix->spec.frames) {
    if (frame.kind != FrameKind::result || !result.layout.shows({frame.row, frame.column})) continue;
    draw_row_band(panel.painter(), left.layout, result.layout, frame.row);
    draw_column_band(panel.painter(), upper.layout, result.layout, frame.column);
  }
}

}  // namespace

void draw_arrangement(Panel& panel, const Arrangement& arrangement) {
  const std::vector<Placed>& placed = arrangement.placed;
  if (arrangement.words) arrangement.words(panel, arrangement.words_at, arrangement.words_width, Ink::drawn);
  if (arrangement.shape == StageShape::product) draw_bands(panel, placed[0], placed[1], placed.back());
  for (const PlacedSign& sign : arrangement.signs)
    panel.painter().text_in(
        sign.box, *sign.text,
        {.type = TypeStyle::heading, .weight = Weight::regular, .source = Source::tensor});
  draw_placed(panel, placed, "matrix");
}

ImVec2 smallest_cell(const Arrangement& arrangement) {
  ImVec2 smallest{HUGE_VALF, HUGE_VALF};
  for (const Placed& one : arrangement.placed)
    smallest = {std::min(smallest.x, one.layout.cell.x), std::min(smallest.y, one.layout.cell.y)};
  return smallest;
}

}  // namespace headscope::simulator
