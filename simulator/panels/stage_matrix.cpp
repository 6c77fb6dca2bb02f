#include "simulator/panels/stage_matrix.h"

#include "simulator/tensor_facts.h"
#include "simulator/widgets/fields.h"
#include "simulator/widgets/scale_bar.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace headscope::simulator {
namespace {

/// What a hidden key shows as: a masked score is -∞; a weight is masked where its score is.
bool is_masked(const core::Session& session, core::TensorId tensor, const core::Cell& cell) {
  const core::Trace<float> trace = session.trace();
  const auto producer = session.graph().producer(tensor);
  if (!producer) return false;
  const core::Operation& operation = session.graph().operations()[*producer];
  if (std::holds_alternative<core::MaskScores>(operation)) return trace.value(tensor, cell) == -HUGE_VAL;
  if (const auto* softmax = std::get_if<core::Softmax>(&operation))
    return trace.value(softmax->input, cell) == -HUGE_VAL;
  return false;
}

Concept hue_of(const core::TensorSpec& spec) {
  return concept_of_name(quantity_of(spec.name)).value_or(Concept::none);
}

}  // namespace

int window_of(core::Axis axis) {
  switch (axis) {
    case core::Axis::vocabulary:
      return 8;
    case core::Axis::query:
    case core::Axis::key:
    case core::Axis::position:
      return 12;
    default:
      return 16;
  }
}

StageMatrix::StageMatrix(const Panel& panel, const StageItem& item) : item_(item) {
  const core::TensorSpec& tensor = panel.state.session.graph().spec(item.slice.tensor);
  const Range range = range_of(tensor);
  spec.map = range == Range::shares          ? ColourMap::probability
             : range == Range::whole_numbers ? ColourMap::plain
                                             : ColourMap::signed_values;
  spec.scale = round_scale(panel.view.scale);
  spec.kind = number_kind_of(tensor);
  spec.title.hue = hue_of(tensor);
  spec.title.text = panel.text("tensor." + text_key(tensor) + ".name");
  if (item.turn == Turn::transposed)
    spec.title.text = panel.text("stage.transposed", {{"name", spec.title.text}});
  const auto is_same = [&](const StageItem& other) { return other.slice.tensor == item.slice.tensor; };
  if (std::ranges::count_if(panel.view.stage.items, is_same) > 1)  // one of several heads
    spec.title.text = panel.text(
        "stage.of_head", {{"name", spec.title.text},
                          {"head", std::to_string(item.slice.base[tensor.shape.find(core::Axis::head)])}});
  const auto limit = [&](const SliceSide& side) {
    return static_cast<int>(std::min<std::int64_t>(side.size, window_of(side.axis)));
  };
  rows_shown_ = limit(item.slice.rows);
  columns_shown_ = limit(item.slice.columns);
  turn_pages(panel);
  gather_values(panel);
  label_sides(panel);
  mark_cells(panel);
  frame_operands(panel);
}

void StageMatrix::turn_pages(const Panel& panel) {
  const auto first = [&](const SliceSide& side, int shown) {
    const auto found = panel.window.first_shown.find(side.axis);
    const int wanted = found == panel.window.first_shown.end() ? 0 : found->second;
    return std::clamp(wanted, 0, std::max(0, static_cast<int>(side.size) - shown));
  };
  page_ = {first(item_.slice.rows, rows_shown_), first(item_.slice.columns, columns_shown_)};
}

bool StageMatrix::show_fewer_rows(const Panel& panel) {
  constexpr int kFewestRows = 8;
  if (!labels_are_tokens(item_.slice.rows) || rows_shown_ <= kFewestRows) return false;
  --rows_shown_;
  turn_pages(panel);
  return true;
}

void StageMatrix::gather_values(const Panel& panel) {
  const core::Trace<float> trace = panel.state.trace();
  const Slice& slice = item_.slice;
  values_.reserve(static_cast<std::size_t>(slice.rows.size * slice.columns.size));
  flags_.reserve(values_.capacity());
  const bool is_computed = trace.is_computed(slice.tensor);
  for (std::int64_t row = 0; row < slice.rows.size; ++row)
    for (std::int64_t column = 0; column < slice.columns.size; ++column) {
      const core::Cell cell = slice.cell_at(row, column);
      values_.push_back(static_cast<float>(trace.value(slice.tensor, cell)));
      CellFlags flags = 0;
      if (!is_computed) flags |= kNotComputed;
      if (is_computed && is_masked(panel.state.session, slice.tensor, cell)) flags |= kMasked;
      if (panel.state.session.edits().contains({slice.tensor, cell})) flags |= kEdited;
      flags_.push_back(flags);
    }
  spec.values = {values_.data(), static_cast<int>(slice.rows.size), static_cast<int>(slice.columns.size),
                 static_cast<std::ptrdiff_t>(slice.columns.size), 1};
  spec.flags = flags_;
}

void StageMatrix::label_sides(const Panel& panel) {
  const auto label = [&](const SliceSide& side) {
    std::vector<AxisLabel> labels;
    if (side.place < 0 || side.axis == core::Axis::one) return labels;
    const core::Session& session = panel.state.session;
    const bool is_position =
        !side.is_target && (side.axis == core::Axis::query || side.axis == core::Axis::key);
    for (std::int64_t index = 0; index < side.size; ++index) {
      const bool is_unknown = is_position && session.token_at(static_cast<std::size_t>(index)).is_unknown;
      labels.push_back({side_label(session, side, index),
                        labels_are_tokens(side) ? Source::token : Source::tensor, Concept::none,
                        is_unknown ? WordMark::unknown : WordMark::none});
    }
    return labels;
  };
  spec.row_labels = label(item_.slice.rows);
  spec.column_labels = label(item_.slice.columns);
  const bool is_square =
      item_.slice.columns.axis == core::Axis::key || item_.slice.rows.axis == core::Axis::key;
  if (item_.slice.rows.axis == core::Axis::query)
    spec.row_caption = panel.text(is_square ? "stage.query_axis" : "stage.position_axis");
  if (item_.slice.rows.axis == core::Axis::key) spec.row_caption = panel.text("stage.key_row_axis");
  if (item_.slice.columns.axis == core::Axis::key) spec.column_caption = panel.text("stage.key_axis");
}

void StageMatrix::mark_cells(const Panel& panel) {
  const auto index_of = [&](const std::optional<CellAddress>& address) -> std::optional<CellIndex> {
    if (!address || address->tensor != item_.slice.tensor) return std::nullopt;
    const std::optional<Slice::Place> place = item_.slice.find(address->cell);
    if (!place) return std::nullopt;
    return CellIndex{static_cast<int>(place->row), static_cast<int>(place->column)};
  };
  spec.hovered = index_of(panel.window.seen.cell);
  spec.twin = index_of(panel.window.seen.factor);
  if (panel.view.is_locked) spec.locked = index_of(panel.view.lit);
  if (panel.window.focus.shows_ring()) spec.focus = index_of(panel.window.focus_cell);
  if (panel.window.seen.tensor == item_.slice.tensor)
    spec.frames.push_back({FrameKind::neutral, Concept::none, 0, 0, spec.values.rows, spec.values.columns});
}

void StageMatrix::frame_operands(const Panel& panel) {
  if (!panel.view.narration || !panel.view.lit) return;
  const core::TensorSpec& tensor = panel.state.session.graph().spec(item_.slice.tensor);
  if (panel.view.lit->tensor == item_.slice.tensor) {
    const std::optional<Slice::Place> place = item_.slice.find(panel.view.lit->cell);
    if (place) {
      const auto row = static_cast<int>(place->row), column = static_cast<int>(place->column);
      spec.frames.push_back({FrameKind::result, hue_of(tensor), row, column, 1, 1});
      if (!spec.row_labels.empty() && labels_are_tokens(item_.slice.rows))
        spec.row_labels[static_cast<std::size_t>(row)].lit = Concept::queries;
      if (!spec.column_labels.empty() && item_.slice.columns.axis == core::Axis::key)
        spec.column_labels[static_cast<std::size_t>(column)].lit = Concept::keys;
    }
  }
  frame_factors(*panel.view.narration, hue_of(tensor));
}

/// One frame round a block of operands that fill it, else a frame each.
void StageMatrix::frame_factors(const Narration& narration, Concept hue) {
  std::set<Slice::Place> places;
  for (const NarratedTerm& term : narration.terms)
    for (const NarratedFactor& factor : term.factors)
      if (factor.target && factor.target->tensor == item_.slice.tensor)
        if (const auto place = item_.slice.find(factor.target->cell)) places.insert(*place);
  if (places.empty()) return;
  std::int64_t top = INT64_MAX, left = INT64_MAX, bottom = -1, right = -1;
  for (const Slice::Place& place : places) {
    top = std::min(top, place.row), bottom = std::max(bottom, place.row);
    left = std::min(left, place.column), right = std::max(right, place.column);
  }
  const auto frame = [&](std::int64_t row, std::int64_t column, std::int64_t rows, std::int64_t columns) {
    spec.frames.push_back({FrameKind::operand, hue, static_cast<int>(row), static_cast<int>(column),
                           static_cast<int>(rows), static_cast<int>(columns)});
  };
  const auto n_block = static_cast<std::size_t>((bottom - top + 1) * (right - left + 1));
  if (n_block == places.size())
    frame(top, left, bottom - top + 1, right - left + 1);
  else
    for (const Slice::Place& place : places) frame(place.row, place.column, 1, 1);
  if (top != bottom) return;
  if (labels_are_tokens(item_.slice.rows) && !spec.row_labels.empty())
    spec.row_labels[static_cast<std::size_t>(top)].lit =
        item_.slice.rows.axis == core::Axis::key ? Concept::keys : Concept::queries;
}

void begin_edit(Panel& panel, const CellAddress& address) {
  const core::Session& session = panel.state.session;
  if (session.graph().spec(address.tensor).role == core::Role::activation) {
    panel.actions.push_back(SetCell{address, 0});  // refused with the reason, which the explainer shows
    return;
  }
  const double value = session.trace().value(address.tensor, address.cell);
  panel.actions.push_back(LockCell{address});
  const std::string number = lessons::format_number(
      value, number_kind_of(session.graph().spec(address.tensor)), panel.theme().numbers);
  panel.window.edit = CellEdit{address, number, number};
}

namespace {

/// The keyboard in a matrix: it begins at the lit cell, arrows move and light, Enter locks.
void follow_focus(Panel& panel, const StageMatrix& matrix, const MatrixLayout& layout,
                  const MatrixResponse& response) {
  const Slice& slice = matrix.item().slice;
  std::optional<CellAddress>& focus = panel.window.focus_cell;
  const auto is_here = [&](const std::optional<CellAddress>& cell) {
    return cell && cell->tensor == slice.tensor && slice.find(cell->cell);
  };
  if (!response.focused) {
    if (is_here(focus)) focus.reset();
    return;
  }
  if (!is_here(focus))
    focus = is_here(panel.view.lit)
                ? *panel.view.lit
                : CellAddress{slice.tensor, slice.cell_at(layout.first_row, layout.first_column)};
  if (response.moved)
    focus = CellAddress{slice.tensor, slice.cell_at(response.moved->row, response.moved->column)};
  if (response.moved || response.entered) panel.actions.push_back(LockCell{*focus});
}

}  // namespace

void touch_matrix(Panel& panel, std::string_view id, const StageMatrix& matrix, const MatrixLayout& layout) {
  const Slice& slice = matrix.item().slice;
  const auto page_words = [&](const char* key, int first, int shown, int all) {
    return panel.text(key, {{"first", std::to_string(first + 1)},
                            {"last", std::to_string(first + shown)},
                            {"n", std::to_string(all)}});
  };
  const MatrixResponse response = matrix_input(
      panel.ui, id, matrix.spec, layout,
      {page_words("stage.rows_page", layout.first_row, layout.rows, layout.all_rows),
       page_words("stage.columns_page", layout.first_column, layout.columns, layout.all_columns)});
  const auto address = [&](CellIndex index) {
    return CellAddress{slice.tensor, slice.cell_at(index.row, index.column)};
  };
  if (response.hovered) panel.window.pointed.cell = address(*response.hovered);
  if (response.turned) {
    panel.window.first_shown[slice.rows.axis] = response.turned->first_row;
    panel.window.first_shown[slice.columns.axis] = response.turned->first_column;
  }
  if (response.double_clicked)
    begin_edit(panel, address(*response.double_clicked));
  else if (response.clicked)
    panel.actions.push_back(LockCell{address(*response.clicked)});
  follow_focus(panel, matrix, layout, response);
}

void edit_cell(Panel& panel, const StageMatrix& matrix, const MatrixLayout& layout) {
  std::optional<CellEdit>& edit = panel.window.edit;
  if (!edit || edit->address.tensor != matrix.item().slice.tensor) return;
  const std::optional<Slice::Place> place = matrix.item().slice.find(edit->address.cell);
  if (!place) return;
  const CellIndex index{static_cast<int>(place->row), static_cast<int>(place->column)};
  if (!layout.shows(index)) return;
  const Rect cell = layout.rect_of(index);
  // wide enough to type in, however small the cell
  const float width = std::max(cell.width(), panel.px(72)), height = std::max(cell.height(), panel.px(32));
  const Rect box = rect_at({cell.centre().x - width / 2, cell.centre().y - height / 2}, {width, height});
  const NumberEdit result = number_editor(panel.ui, "cell_edit", box, edit->text);
  if (result.value && edit->text != edit->opened_with)
    panel.actions.push_back(SetCell{edit->address, *result.value});
  if (result.value || result.cancelled) edit.reset();
}

}  // namespace headscope::simulator
