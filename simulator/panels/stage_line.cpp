// Matrices side by side on the stage, in as many rows as read best.
#include "simulator/panels/stage_layout_parts.h"

#include <string>
#include <utility>
#include <vector>

namespace headscope::simulator {

using namespace stage_parts;

namespace {

/// Where rows begin with a sign, the first one leaves its room too, so that columns stand under each other.
float sign_room(const Panel& panel, Matrices matrices, std::size_t at, int per_row) {
  const auto n = static_cast<std::size_t>(per_row);
  const bool is_under = at % n == 0 && n < matrices.size();
  const bool has_signs =
      std::ranges::any_of(matrices, [](const auto& matrix) { return !matrix->item().sign.empty(); });
  const std::string& sign = matrices[at]->item().sign;
  if (sign.empty()) return is_under && has_signs ? panel.px(kSignWidth) : 0;
  const float width = panel.painter().width_of(sign, {.type = TypeStyle::heading, .weight = Weight::regular});
  return std::max(panel.px(kSignWidth), width + panel.px(12));
}

/// Room for labels at the left: the same down a column of matrices, so that their cells stand under each
/// other.
float left_margin(const Panel& panel, Matrices matrices, std::size_t at, int per_row) {
  float widest = 0;
  for (std::size_t other = at % static_cast<std::size_t>(per_row); other < matrices.size();
       other += static_cast<std::size_t>(per_row))
    widest = std::max(widest, margins_of(panel.painter(), matrices[other]->spec).left);
  return widest;
}

/// The width of the rows' widest, with cells so wide; titles may be wider than their matrices.
float line_width(const Panel& panel, Matrices matrices, int per_row, float cell) {
  float widest = 0, width = 0;
  for (std::size_t at = 0; at < matrices.size(); ++at) {
    if (at % static_cast<std::size_t>(per_row) == 0) width = 0;
    const MatrixSpec& spec = matrices[at]->spec;
    width += left_margin(panel, matrices, at, per_row) + sign_room(panel, matrices, at, per_row) +
             panel.px(panel.theme().space.m) +
             std::max(cell * static_cast<float>(matrices[at]->columns_shown()),
                      shortest_title(panel.painter(), spec));
    widest = std::max(widest, width);
  }
  return widest;
}

struct LineSize {
  int per_row = 1;
  ImVec2 cell;
};

/// The size of cells when `per_row` matrices stand in a row; its width is 0 where titles and labels alone are
/// wider than the room.
ImVec2 cell_for(const Panel& panel, ImVec2 room, Matrices matrices, int per_row) {
  float wide = 0, columns = 1, high = 0, rows = 0;
  for (std::size_t first = 0; first < matrices.size(); first += static_cast<std::size_t>(per_row)) {
    float row_wide = 0, row_columns = 0, row_high = 0, row_rows = 0;
    const std::size_t last = std::min(matrices.size(), first + static_cast<std::size_t>(per_row));
    for (std::size_t at = first; at < last; ++at) {
      const MatrixMargins margins = margins_of(panel.painter(), matrices[at]->spec);
      row_wide += left_margin(panel, matrices, at, per_row) + sign_room(panel, matrices, at, per_row) +
                  panel.px(panel.theme().space.m);
      row_columns += static_cast<float>(matrices[at]->columns_shown());
      row_high = std::max(row_high, margins.top + margins.bottom + pager_room(panel, *matrices[at]));
      row_rows = std::max(row_rows, static_cast<float>(matrices[at]->rows_shown()));
    }
    // the row that leaves least for a cell decides
    if (columns * (room.x - row_wide) < row_columns * (room.x - wide) || first == 0)
      wide = row_wide, columns = row_columns;
    high += row_high + panel.px(panel.theme().space.m);
    rows += row_rows;
  }
  ImVec2 cell{(room.x - wide) / std::max(1.0f, columns), (room.y - high) / std::max(1.0f, rows)};
  const auto fits = [&] { return line_width(panel, matrices, per_row, cell.x) <= room.x + 1; };
  while (cell.x > kSmallestCell && !fits()) cell.x -= 1;
  return {fits() ? cell.x : 0, cell.y};
}

/// How well numbers read in such a cell: 1 once two digits after the point fit in comfort.
float legibility(const Panel& panel, ImVec2 cell) {
  return std::min({1.0f, cell.x / panel.px(42), cell.y / panel.px(26)});
}

LineSize choose_rows(const Panel& panel, const Rect& box, ImVec2 room, Matrices matrices) {
  LineSize best;
  float best_score = -1;
  const ImVec2 most = largest_cell(panel, box);
  for (int per_row = static_cast<int>(matrices.size()); per_row >= 1; --per_row) {
    const ImVec2 cell = cell_for(panel, room, matrices, per_row);
    const float score = legibility(panel, cell);
    if (score <= best_score + 0.01f) continue;  // fewer rows where they read as well
    best_score = score;
    best = {per_row, {std::floor(std::min(cell.x, most.x)), std::floor(std::min(cell.y, most.y))}};
  }
  return best;
}

void place_lines(const Panel& panel, const Rect& room, Matrices matrices, const LineSize& size,
                 Arrangement& arrangement) {
  std::vector<Placed>& placed = arrangement.placed;
  float y = room.min.y;
  for (std::size_t first = 0; first < matrices.size(); first += static_cast<std::size_t>(size.per_row)) {
    const std::size_t last = std::min(matrices.size(), first + static_cast<std::size_t>(size.per_row));
    float top = 0, height = 0;
    for (std::size_t at = first; at < last; ++at)
      top = std::max(top, margins_of(panel.painter(), matrices[at]->spec).top);
    float x = room.min.x;
    for (std::size_t at = first; at < last; ++at) {
      StageMatrix& matrix = *matrices[at];
      const MatrixMargins margins = margins_of(panel.painter(), matrix.spec);
      const float sign = sign_room(panel, matrices, at, size.per_row);
      const float left = left_margin(panel, matrices, at, size.per_row), before = x;
      x += sign + left;
      placed.push_back(place(panel, matrix, {x, y + top}, size.cell));
      const Rect cells = placed.back().layout.cells;
      if (!matrix.item().sign.empty())
        arrangement.signs.push_back(
            {{{before, cells.min.y}, {before + sign, cells.max.y}}, &matrix.item().sign});
      matrix.spec.title.room = matrix.pager_room = room.max.x - cells.min.x;
      if (at > first) {
        // of the one before, the title as far as this one's, the pager as far as this one's labels
        const float left_cells = placed[placed.size() - 2].layout.cells.min.x;
        matrices[at - 1]->spec.title.room = cells.min.x - panel.px(panel.theme().space.m) - left_cells;
        matrices[at - 1]->pager_room = before - left_cells;
      }
      const float titled = cells.min.x + shortest_title(panel.painter(), matrix.spec);
      x = std::max(cells.max.x, titled) + panel.px(panel.theme().space.m);
      height = std::max(height, top + cells.height() + margins.bottom + pager_room(panel, matrix));
    }
    y += height + panel.px(panel.theme().space.m);
  }
}

}  // namespace

std::optional<Arrangement> arrange_line(Panel& panel, const Rect& box, Matrices matrices,
                                        ChoiceOfWords choice) {
  Rect room = box;
  const auto fits = [](const LineSize& size) {
    return size.cell.x >= kSmallestCell && size.cell.y >= kSmallestCell;
  };
  LineSize size;
  const auto choose = [&](float top) {
    room.min.y = top;
    turn_level(matrices);
    size = choose_rows(panel, box, room.size(), matrices);
    if (turn_cut_words(panel, matrices, size.cell)) {
      const LineSize level = std::exchange(size, choose_rows(panel, box, room.size(), matrices));
      if (!stays_legible(panel, matrices, size.cell, level.cell)) {
        turn_level(matrices);
        size = level;
      }
    }
    while (size.cell.y < panel.px(kLowestCell) && show_fewer_rows(panel, matrices))
      size = choose_rows(panel, box, room.size(), matrices);
    return fits(size);
  };
  const auto fits_under = [&](DrawWords words) {
    const float height = words(panel, box.min, box.width(), Ink::none);
    return choose(box.min.y + height + panel.px(panel.theme().space.l));
  };
  const auto words = std::ranges::find_if(choice, fits_under);
  if (words == choice.end()) choose(box.min.y);  // words give way to matrices
  if (!fits(size)) {                             // and names to cells
    for (const std::unique_ptr<StageMatrix>& matrix : matrices) {
      MatrixSpec& spec = matrix->spec;
      spec.row_caption.clear(), spec.column_caption.clear();
      spec.row_labels.clear(), spec.column_labels.clear();
    }
    size = choose_rows(panel, box, room.size(), matrices);
    if (!fits(size)) return std::nullopt;
  }
  Arrangement arrangement{.words_at = box.min, .words_width = box.width()};
  if (words != choice.end()) arrangement.words = *words;
  place_lines(panel, room, matrices, size, arrangement);
  return arrangement;
}

}  // namespace headscope::simulator
