// Pointer and keyboard on the stage's matrices.
#include "simulator/panels/cell_edit.h"
#include "simulator/panels/stage_matrix.h"
#include "simulator/sent_back.h"
#include "simulator/widgets/controls.h"

#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace headscope::simulator {
namespace {

/// The keyboard in a matrix: it begins at the lit cell, arrows move and light, Enter locks.
void follow_focus(Panel& panel, const StageMatrix& matrix, const MatrixLayout& layout,
                  const MatrixResponse& response) {
  const Slice& slice = matrix.item().slice;
  std::optional<CellAddress>& focus = panel.window.focus_cell;
  const auto is_here = [&](const std::optional<CellAddress>& cell) {
    return cell && cell->tensor == slice.tensor && cell->quantity == slice.quantity && slice.find(cell->cell);
  };
  if (!response.focused) {
    if (is_here(focus)) focus.reset();
    return;
  }
  if (!is_here(focus))
    focus =
        is_here(panel.view.lit)
            ? *panel.view.lit
            : CellAddress{slice.tensor, slice.cell_at(layout.first_row, layout.first_column), slice.quantity};
  if (response.moved)
    focus =
        CellAddress{slice.tensor, slice.cell_at(response.moved->row, response.moved->column), slice.quantity};
  if (response.moved || response.entered) panel.actions.push_back(LockCell{*focus});
}

/// How a softmax's local derivative comes of its weights: they belong to no tensor, and so to no explanation.
void draw_local_tip(Panel& panel, const StageItem& item, CellIndex index) {
  const core::Trace<float> trace = panel.state.trace();
  const auto& softmax = std::get<core::Softmax>(trace.graph().operations()[item.operation]);
  const auto share = [&](int key) { return own_share(trace, softmax, item.slice.base, key); };
  const auto number = [&](double value, lessons::NumberKind kind) {
    return lessons::format_number(value, kind, panel.theme().numbers);
  };
  const auto word = [&](int key) { return side_label(panel.state.session, item.slice.columns, key); };
  const double value = local_derivative(trace, softmax, item.slice.base, index.row, index.column);
  const lessons::TextValues values = {{"weight", word(index.row)},
                                      {"score", word(index.column)},
                                      {"a", number(share(index.row), lessons::NumberKind::gradient)},
                                      {"b", number(share(index.column), lessons::NumberKind::gradient)},
                                      {"value", number(value, lessons::NumberKind::gradient)}};
  tooltip(panel.painter(), ImGui::GetIO().MousePos,
          panel.text(index.row == index.column ? "stage.local_own" : "stage.local_other", values));
}

}  // namespace

void touch_matrix(Panel& panel, std::string_view id, const StageMatrix& matrix, const MatrixLayout& layout) {
  const Slice& slice = matrix.item().slice;
  const auto page_words = [&](const char* key, int first, int shown, int all) {
    return panel.text(key, {{"first", std::to_string(first + 1)},
                            {"last", std::to_string(first + shown)},
                            {"n", std::to_string(all)}});
  };
  PagerWords words{page_words("stage.rows_page", layout.first_row, layout.rows, layout.all_rows),
                   page_words("stage.columns_page", layout.first_column, layout.columns, layout.all_columns)};
  // buttons without words, where those would run into the next matrix
  if (matrix.pager_room > 0 && pager_width(panel.painter(), layout, words) > matrix.pager_room) words = {};
  const MatrixResponse response = matrix_input(panel.ui, id, matrix.spec, layout, words);
  const auto address = [&](CellIndex index) {
    return CellAddress{slice.tensor, slice.cell_at(index.row, index.column), slice.quantity};
  };
  if (response.turned) {
    panel.window.first_shown[slice.rows.axis] = response.turned->first_row;
    panel.window.first_shown[slice.columns.axis] = response.turned->first_column;
  }
  if (response.hovered && matrix.item().source == NumberSource::local)
    draw_local_tip(panel, matrix.item(), *response.hovered);
  if (!has_cells(matrix.item())) return;
  if (response.hovered) panel.window.pointed.cell = address(*response.hovered);
  const bool ends_drag = stroke_cell(panel, matrix, layout, response);
  if (response.double_clicked)
    begin_edit(panel, address(*response.double_clicked));
  else if (response.clicked && !ends_drag)
    panel.actions.push_back(LockCell{address(*response.clicked)});
  follow_focus(panel, matrix, layout, response);
}

}  // namespace headscope::simulator
