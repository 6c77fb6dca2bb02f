// Where everything of a matrix stands.
#include "simulator/widgets/matrix_parts.h"

namespace headscope::simulator {

using namespace matrix_parts;

namespace {

constexpr float kPagerGap = 6, kPagerHeight = 24;
constexpr float kWidestRatio = 2.2F;  // width : height of a cell; numbers are wide, strips look torn
constexpr float kNoGapUnder = 7;      // cells smaller than this touch

float longest_label(const Painter& painter, const MatrixSpec& spec) {
  float longest = 0;
  for (const AxisLabel& label : spec.row_labels) {
    // as if lit: the margin must not move when a label becomes semibold
    TextStyle style = row_label_style(spec, label, painter);
    style.weight = Weight::semibold;
    longest = std::max(longest, painter.width_of(label.text, style));
  }
  return std::min(std::ceil(longest), painter.px(kLongestLabel));
}

float gap_of(const Painter& painter, ImVec2 cell) {
  if (std::min(cell.x, cell.y) < kNoGapUnder) return 0;
  return painter.stroke(painter.theme().line.cell_gap) *
         (painter.fonts().sizing() == Sizing::presentation ? 2 : 1);
}

int fitting(float room, float pitch, int all) {
  if (room <= 0) return all;
  return std::clamp(static_cast<int>(std::floor((room + 1) / pitch)), 1, all);
}

}  // namespace

float pager_height(const Painter& painter) {
  return painter.px(kPagerGap + kPagerHeight);
}

MatrixMargins margins_of(const Painter& painter, const MatrixSpec& spec) {
  MatrixMargins margins;
  const float label_gap = painter.px(kLabelGap);
  const TextStyle caption = caption_style(painter);
  const float labels = longest_label(painter, spec);
  if (!spec.row_labels.empty()) margins.left = labels + label_gap;
  const std::string& at_left = spec.row_caption.empty() ? spec.column_caption : spec.row_caption;
  if (!at_left.empty()) margins.left = std::max(margins.left, painter.width_of(at_left, caption) + label_gap);
  const float title_line = painter.line_height(TypeStyle::label);
  if (has_label_line(spec)) margins.top = column_label_height(painter, spec) + painter.px(kColumnLabelGap);
  if (has_title_above(spec))
    margins.top += title_line + painter.px(has_label_line(spec) ? kTitleLabelGap : kTitleGap);
  if (has_title_below(spec)) margins.bottom += title_line + painter.px(kTitleGap);
  return margins;
}

ImVec2 choose_cell(const Painter& painter, const MatrixSpec& spec, ImVec2 room, const CellLimits& limits) {
  const MatrixMargins margins = margins_of(painter, spec);
  const auto pitch = [&](float space, int n, float smallest, float largest) {
    const float best = std::floor(space / static_cast<float>(std::max(1, n)));
    return std::clamp(best, std::min(smallest, largest), largest);
  };
  const float x = pitch(room.x - margins.left, spec.values.columns, limits.smallest.x,
                        std::round(painter.px(limits.largest.x)));
  const float y = pitch(room.y - margins.top - margins.bottom, spec.values.rows, limits.smallest.y,
                        std::round(painter.px(limits.largest.y)));
  // never taller than wide, never a strip
  const float height = std::min(x, y);
  return {std::min(x, std::max(limits.smallest.x, std::floor(height * kWidestRatio))), height};
}

MatrixLayout place_matrix(const Painter& painter, const MatrixSpec& spec, ImVec2 origin, ImVec2 cell,
                          ImVec2 room_for_cells, const MatrixPage& page) {
  MatrixLayout layout;
  layout.cell = cell;
  layout.gap = gap_of(painter, cell);
  layout.all_rows = spec.values.rows;
  layout.all_columns = spec.values.columns;
  layout.rows = fitting(room_for_cells.y, cell.y, layout.all_rows);
  layout.columns = fitting(room_for_cells.x, cell.x, layout.all_columns);
  layout.first_row = std::clamp(page.first_row, 0, layout.all_rows - layout.rows);
  layout.first_column = std::clamp(page.first_column, 0, layout.all_columns - layout.columns);
  const ImVec2 corner = {std::round(origin.x), std::round(origin.y)};
  layout.cells = rect_at(corner, {cell.x * static_cast<float>(layout.columns) - layout.gap,
                                  cell.y * static_cast<float>(layout.rows) - layout.gap});
  const MatrixMargins margins = margins_of(painter, spec);
  layout.bounds = {{layout.cells.min.x - margins.left, layout.cells.min.y - margins.top},
                   {layout.cells.max.x, layout.cells.max.y + margins.bottom}};
  if (has_title_above(spec) && !spec.title.text.empty()) {
    const float width = std::min(title_width(painter, spec.title), painter.px(kShortestTitle));
    layout.bounds.max.x = std::max(layout.bounds.max.x, layout.cells.min.x + width);
  }
  if (layout.is_paged() && spec.pager == Pager::shown) {
    const float top = layout.bounds.max.y + painter.px(kPagerGap);
    layout.pager = {{layout.cells.min.x, top}, {layout.cells.max.x, top + painter.px(kPagerHeight)}};
    layout.bounds.max.y = layout.pager.max.y;
  }
  return layout;
}

Rect MatrixLayout::rect_of(CellIndex index) const {
  return rect_of(index.row, index.column, 1, 1);
}

Rect MatrixLayout::rect_of(int row, int column, int n_rows, int n_columns) const {
  const ImVec2 corner = {cells.min.x + cell.x * static_cast<float>(column - first_column),
                         cells.min.y + cell.y * static_cast<float>(row - first_row)};
  return rect_at(corner,
                 {cell.x * static_cast<float>(n_columns) - gap, cell.y * static_cast<float>(n_rows) - gap});
}

bool MatrixLayout::shows(CellIndex index) const {
  return index.row >= first_row && index.row < first_row + rows && index.column >= first_column &&
         index.column < first_column + columns;
}

std::optional<CellIndex> MatrixLayout::cell_at(ImVec2 position) const {
  if (!cells.contains(position)) return std::nullopt;
  return CellIndex{first_row + static_cast<int>((position.y - cells.min.y) / cell.y),
                   first_column + static_cast<int>((position.x - cells.min.x) / cell.x)};
}

}  // namespace headscope::simulator
