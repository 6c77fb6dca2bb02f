#include "simulator/panels/stage_matrix.h"

#include "simulator/tensor_facts.h"
#include "simulator/widgets/scale_bar.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

namespace headscope::simulator {
namespace {

/// The tensor that is -∞ at the cells that a mask hides from the item: of a score and its gradient the masked
/// scores; of a weight the scores that it was made from.
std::optional<core::TensorId> masked_by(const core::Graph& graph, const StagePlan& plan,
                                        const StageItem& item) {
  const core::TensorId tensor = item.slice.tensor;
  const bool is_gradient = item.slice.quantity == core::Quantity::gradient;
  if (const std::optional<std::size_t> producer = graph.producer(tensor)) {
    const core::Operation& operation = graph.operations()[*producer];
    if (std::holds_alternative<core::MaskScores>(operation)) return tensor;
    if (const auto* softmax = std::get_if<core::Softmax>(&operation)) {
      // the gradient of a hidden key's weight is a number, which the softmax lets no further
      const bool passes_on = is_gradient && plan.operation != producer;
      if (!passes_on) return softmax->input;
    }
  }
  if (!is_gradient) return std::nullopt;
  for (const core::Operation& operation : graph.operations())
    if (const auto* mask = std::get_if<core::MaskScores>(&operation); mask && mask->input == tensor)
      return mask->output;
  return std::nullopt;
}

Concept hue_of(const core::TensorSpec& spec) {
  return concept_of_name(quantity_of(spec.name)).value_or(Concept::none);
}

Concept hue_of(const core::TensorSpec& spec, const StageItem& item) {
  if (item.source == NumberSource::local || item.source == NumberSource::target) return Concept::none;
  return item.slice.quantity == core::Quantity::gradient ? Concept::gradient : hue_of(spec);
}

/// The key of a title that says which of a parameter's numbers is meant; empty: the name alone.
std::string_view quantity_key(const StagePlan& plan, const StageItem& item) {
  if (item.source == NumberSource::local) return "stage.local";
  if (item.source == NumberSource::target) return "stage.target";
  switch (item.slice.quantity) {
    case core::Quantity::gradient:
      if (item.source != NumberSource::branch) return "stage.gradient";
      return item.role == StageRole::small ? "stage.branch_short" : "stage.branch";
    case core::Quantity::first_moment:
      return "stage.first_moment";
    case core::Quantity::second_moment:
      return "stage.second_moment";
    case core::Quantity::previous_value:
      return "stage.value_before";
    case core::Quantity::previous_first:
      return "stage.first_moment_before";
    case core::Quantity::previous_second:
      return "stage.second_moment_before";
    case core::Quantity::value:
      break;
  }
  if (!plan.step || plan.step->phase != core::Phase::update) return "";
  return item.role == StageRole::result ? "stage.value_after" : "stage.value_before";
}

}  // namespace

StageMatrix::StageMatrix(const Panel& panel, const StageItem& item)
    : item_(item), trace_(panel.state.trace()) {
  const core::TensorSpec& tensor = panel.state.session.graph().spec(item.slice.tensor);
  const bool is_value = item.source == NumberSource::stored && item.slice.quantity == core::Quantity::value;
  const Range range = is_value ? range_of(tensor) : Range::signed_values;
  spec.map = range == Range::shares || item.source == NumberSource::target ? ColourMap::probability
             : range == Range::whole_numbers                               ? ColourMap::plain
                                                                           : ColourMap::signed_values;
  spec.kind = is_value                                                ? number_kind_of(tensor)
              : item.source == NumberSource::target                   ? lessons::NumberKind::probability
              : item.slice.quantity == core::Quantity::previous_value ? number_kind_of(tensor)
                                                                      : lessons::NumberKind::gradient;
  is_there_ = is_there(trace_, panel.view.stage, item);
  compare(panel);
  write_title(panel);
  // those under the others are to show the whole
  const Detail detail =
      item.role == StageRole::small ? Detail::pattern : detail_of(panel.window, panel.view.stage);
  rows_shown_ = window_of(panel.view.stage, item.slice.rows, detail);
  columns_shown_ = window_of(panel.view.stage, item.slice.columns, detail);
  turn_pages(panel);
  gather_values(panel);
  label_sides(panel);
  mark_cells(panel);
  frame_operands(panel);
  set_scale(panel, largest_);
}

/// A difference needs the same cells on both sides, and both numbers.
void StageMatrix::compare(const Panel& panel) {
  const core::Session* session = panel.state.comparison.before.get();
  if (!session || !is_there_) return;
  const core::Trace<float> before = session->trace();
  const core::TensorId tensor = item_.slice.tensor;
  if (trace_.graph().spec(tensor).element == core::Element::integer) {
    no_comparison_ = panel.text("stage.no_difference_of_ids");
  } else if (before.shape(tensor) != trace_.shape(tensor)) {
    no_comparison_ = panel.text("stage.no_difference_of_lengths");
  } else if (!is_there(before, panel.view.stage, item_)) {
    no_comparison_ = panel.text("stage.no_difference_yet");
  } else {
    before_.emplace(before);
    spec.map = ColourMap::signed_values;
  }
}

std::optional<ComparedNumber> StageMatrix::compared_at(CellIndex cell) const {
  if (!before_) return std::nullopt;
  return ComparedNumber{ItemNumbers(trace_, item_).at(cell.row, cell.column),
                        ItemNumbers(*before_, item_).at(cell.row, cell.column)};
}

void StageMatrix::write_title(const Panel& panel) {
  const core::TensorSpec& tensor = panel.state.session.graph().spec(item_.slice.tensor);
  const StagePlan& plan = panel.view.stage;
  spec.title.hue = hue_of(tensor, item_);
  spec.title.text = panel.text("tensor." + text_key(tensor) + ".name");
  const int head = tensor.shape.find(core::Axis::head);
  // one of several heads, each with a matrix of its own
  const auto is_another_head = [&](const StageItem& other) {
    return head >= 0 && other.slice.tensor == item_.slice.tensor &&
           other.slice.base[head] != item_.slice.base[head];
  };
  if (std::ranges::any_of(plan.items, is_another_head))
    spec.title.text = panel.text(
        "stage.of_head", {{"name", spec.title.text}, {"head", std::to_string(item_.slice.base[head])}});
  if (const std::string_view key = quantity_key(plan, item_); !key.empty()) {
    const core::TensorId from = core::result(panel.state.session.graph().operations()[item_.operation]);
    spec.title.text = panel.text(
        key, {{"name", spec.title.text},
              {"from", panel.text("tensor." + text_key(panel.state.session.graph().spec(from)) + ".name")}});
  }
  if (item_.turn == Turn::transposed)
    spec.title.text = panel.text("stage.transposed", {{"name", spec.title.text}});
  if (is_difference()) spec.title.text = panel.text("stage.difference", {{"name", spec.title.text}});
  spec.title.note = no_comparison_;
}

void StageMatrix::set_scale(const Panel& panel, double largest) {
  spec.scale = round_scale(largest);
  const bool is_plain_value =
      item_.source == NumberSource::stored && item_.slice.quantity == core::Quantity::value;
  if (spec.map != ColourMap::signed_values || !is_there_ || !no_comparison_.empty()) return;
  if (is_plain_value && !is_difference()) return;
  spec.title.note = panel.text(
      "stage.scale",
      {{"scale", lessons::format_number(spec.scale, lessons::NumberKind::gradient, panel.theme().numbers)}});
}

void share_scales(const Panel& panel, std::span<const std::unique_ptr<StageMatrix>> matrices) {
  const auto items_in_group = [](const StageItem& left, const StageItem& right) {
    const auto is_local = [](const StageItem& item) {
      return item.source == NumberSource::local || item.source == NumberSource::target;
    };
    if (is_local(left) || is_local(right)) return &left == &right;
    const auto is_value = [](const StageItem& item) {
      return item.slice.quantity == core::Quantity::value ||
             item.slice.quantity == core::Quantity::previous_value;
    };
    if (is_value(left) || is_value(right)) return is_value(left) && is_value(right);
    return left.slice.quantity == right.slice.quantity && left.slice.tensor == right.slice.tensor;
  };
  // differences are small here and large there: each has its own
  const auto in_group = [&](const StageMatrix& left, const StageMatrix& right) {
    if (left.is_difference() || right.is_difference()) return &left == &right;
    return items_in_group(left.item(), right.item());
  };
  for (const std::unique_ptr<StageMatrix>& matrix : matrices) {
    double largest = 0;
    for (const std::unique_ptr<StageMatrix>& other : matrices)
      if (other->spec.map == ColourMap::signed_values && in_group(*matrix, *other))
        largest = std::max(largest, other->largest());
    matrix->set_scale(panel, largest);
  }
}

void share_pagers(std::span<const std::unique_ptr<StageMatrix>> matrices) {
  std::set<std::pair<core::Axis, std::int64_t>> turned;  // sides whose pages turn together
  for (const std::unique_ptr<StageMatrix>& matrix : matrices) {
    const Slice& slice = matrix->item().slice;
    bool turns = false;
    const auto take = [&](const SliceSide& side, int shown) {
      if (shown < side.size) turns |= turned.emplace(side.axis, side.size).second;
    };
    take(slice.rows, matrix->rows_shown());
    take(slice.columns, matrix->columns_shown());
    if (!turns) matrix->spec.pager = Pager::hidden;
  }
}

void StageMatrix::turn_pages(const Panel& panel) {
  const auto first = [&](const SliceSide& side, int shown) {
    const auto found = panel.window.first_shown.find(side.axis);
    int wanted = found == panel.window.first_shown.end() ? 0 : found->second;
    // the page was turned to the lit cell as if more rows had room; where fewer have, it must not fall out
    if (const std::optional<int> lit = lit_index(panel.view, side.axis); lit && *lit >= wanted) {
      const int page = window_of(panel.view.stage, side, detail_of(panel.window, panel.view.stage));
      if (*lit < wanted + page) wanted = std::max(wanted, *lit - shown + 1);
    }
    return std::clamp(wanted, 0, std::max(0, static_cast<int>(side.size) - shown));
  };
  page_ = {first(item_.slice.rows, rows_shown_), first(item_.slice.columns, columns_shown_)};
}

int StageMatrix::fewest_rows() const {
  constexpr int kFewestRows = 8;
  return labels_are_tokens(item_.slice.rows) ? std::min(rows_shown_, kFewestRows) : rows_shown_;
}

bool StageMatrix::show_fewer_rows(const Panel& panel) {
  if (detail_of(panel.window, panel.view.stage) == Detail::pattern) return false;
  if (rows_shown_ <= fewest_rows()) return false;
  --rows_shown_;
  turn_pages(panel);
  return true;
}

/// The page alone: a matrix may have millions of cells.
void StageMatrix::gather_values(const Panel& panel) {
  const core::Trace<float>& trace = trace_;
  const Slice& slice = item_.slice;
  const auto n = static_cast<std::size_t>(rows_shown_) * static_cast<std::size_t>(columns_shown_);
  values_.reserve(n);
  flags_.reserve(n);
  const std::optional<core::TensorId> mask = masked_by(panel.state.session.graph(), panel.view.stage, item_);
  const auto is_masked = [&](std::int64_t row, std::int64_t column) {
    if (!mask) return false;
    core::Cell cell = slice.cell_at(row, column);
    if (trace.value(*mask, cell) == -HUGE_VAL) return true;
    if (item_.source != NumberSource::local) return false;
    cell[slice.rows.place] = row;  // hidden where either of the two keys is
    return trace.value(*mask, cell) == -HUGE_VAL;
  };
  const core::Edits& edits = panel.state.session.edits();
  const bool may_be_edited = slice.quantity == core::Quantity::value && !edits.empty();
  std::optional<ItemNumbers> numbers, before;
  if (is_there_) numbers.emplace(trace, item_);
  if (before_) before.emplace(*before_, item_);
  for (std::int64_t row = page_.first_row; row < page_.first_row + rows_shown_; ++row)
    for (std::int64_t column = page_.first_column; column < page_.first_column + columns_shown_; ++column) {
      CellFlags flags = 0;
      if (!is_there_) flags |= kNotComputed;
      if (is_there_ && is_masked(row, column)) flags |= kMasked;
      if (may_be_edited && edits.contains({slice.tensor, slice.cell_at(row, column)})) flags |= kEdited;
      const double now = numbers ? numbers->at(row, column) : 0;
      const double value = before ? now - before->at(row, column) : now;
      if ((flags & kMasked) == 0 && std::isfinite(value)) largest_ = std::max(largest_, std::abs(value));
      values_.push_back(static_cast<float>(value));
      flags_.push_back(flags);
    }
  spec.values = {.data = values_.data(),
                 .rows = static_cast<int>(slice.rows.size),
                 .columns = static_cast<int>(slice.columns.size),
                 .row_stride = columns_shown_,
                 .column_stride = 1,
                 .first_row = page_.first_row,
                 .first_column = page_.first_column};
  spec.flags = flags_;
}

AxisLabel* StageMatrix::row_label(int row) {
  const int at = row - spec.values.first_row;
  return at < 0 || at >= static_cast<int>(spec.row_labels.size())
             ? nullptr
             : &spec.row_labels[static_cast<std::size_t>(at)];
}

AxisLabel* StageMatrix::column_label(int column) {
  const int at = column - spec.values.first_column;
  return at < 0 || at >= static_cast<int>(spec.column_labels.size())
             ? nullptr
             : &spec.column_labels[static_cast<std::size_t>(at)];
}

void StageMatrix::label_sides(const Panel& panel) {
  const auto label = [&](const SliceSide& side, int first, int n) {
    std::vector<AxisLabel> labels;
    if (side.place < 0 || side.axis == core::Axis::one) return labels;
    const core::Session& session = panel.state.session;
    if (side.axis == core::Axis::edge) {
      for (std::int64_t index = first; index < first + n; ++index)
        labels.push_back({edge_word(panel.words.text, index), Source::catalog, Concept::none});
      return labels;
    }
    const bool is_position = side.axis == core::Axis::query || side.axis == core::Axis::key;
    for (std::int64_t index = first; index < first + n; ++index) {
      const auto at = static_cast<std::size_t>(index);
      const bool is_unknown = is_position && at < session.n_positions(side.text()) &&
                              session.token_at(at, side.text()).is_unknown;
      labels.push_back({side_label(session, side, index),
                        labels_are_words(session, side) ? Source::token : Source::tensor, Concept::none,
                        is_unknown ? WordMark::unknown : WordMark::none});
    }
    return labels;
  };
  spec.row_labels = label(item_.slice.rows, page_.first_row, rows_shown_);
  spec.column_labels = label(item_.slice.columns, page_.first_column, columns_shown_);
  if (item_.source == NumberSource::local) {
    spec.row_caption = panel.text("stage.local_rows");
    spec.column_caption = panel.text("stage.local_columns");
    return;
  }
  const bool is_square =
      item_.slice.columns.axis == core::Axis::key || item_.slice.rows.axis == core::Axis::key;
  if (item_.slice.rows.axis == core::Axis::query)
    spec.row_caption = panel.text(is_square ? "stage.query_axis" : "stage.position_axis");
  if (item_.slice.rows.axis == core::Axis::key) spec.row_caption = panel.text("stage.key_row_axis");
  if (item_.slice.columns.axis == core::Axis::key) spec.column_caption = panel.text("stage.key_axis");
}

void StageMatrix::mark_cells(const Panel& panel) {
  const auto index_of = [&](const std::optional<CellAddress>& address) -> std::optional<CellIndex> {
    if (!address || address->tensor != item_.slice.tensor || !has_cells(item_) ||
        address->quantity != item_.slice.quantity)
      return std::nullopt;
    const std::optional<Slice::Place> place = item_.slice.find(address->cell);
    if (!place) return std::nullopt;
    return CellIndex{static_cast<int>(place->row), static_cast<int>(place->column)};
  };
  spec.hovered = index_of(panel.window.seen.cell);
  spec.twin = index_of(panel.window.seen.factor);
  if (panel.view.is_locked) spec.locked = index_of(panel.view.lit);
  if (panel.window.focus.shows_ring()) spec.focus = index_of(panel.window.focus_cell);
  // of the whole matrices under a softmax's row, the row
  const std::vector<StageItem>& items = panel.view.stage.items;
  const auto local = std::ranges::find(items, NumberSource::local, &StageItem::source);
  if (item_.role == StageRole::small && local != items.end() && item_.slice.rows.place >= 0)
    spec.frames.push_back({FrameKind::neutral, Concept::none,
                           static_cast<int>(local->slice.base[item_.slice.rows.place]), 0, 1,
                           spec.values.columns});
  if (is_there_ && item_.slice.quantity == core::Quantity::gradient && item_.source != NumberSource::local &&
      item_.source != NumberSource::target)
    spec.frames.push_back(
        {FrameKind::gradient, Concept::gradient, 0, 0, spec.values.rows, spec.values.columns});
  if (panel.window.seen.tensor == item_.slice.tensor && item_.slice.quantity == core::Quantity::value)
    spec.frames.push_back({FrameKind::neutral, Concept::none, 0, 0, spec.values.rows, spec.values.columns});
}

void StageMatrix::frame_operands(const Panel& panel) {
  if (!panel.view.narration || !panel.view.lit) return;
  const core::TensorSpec& tensor = panel.state.session.graph().spec(item_.slice.tensor);
  if (!has_cells(item_)) return;
  if (panel.view.lit->tensor == item_.slice.tensor && panel.view.lit->quantity == item_.slice.quantity) {
    const std::optional<Slice::Place> place = item_.slice.find(panel.view.lit->cell);
    if (place) {
      const auto row = static_cast<int>(place->row), column = static_cast<int>(place->column);
      spec.frames.push_back({FrameKind::result, hue_of(tensor, item_), row, column, 1, 1});
      if (AxisLabel* label = row_label(row); label && labels_are_tokens(item_.slice.rows))
        label->lit = Concept::queries;
      if (AxisLabel* label = column_label(column); label && item_.slice.columns.axis == core::Axis::key)
        label->lit = Concept::keys;
    }
  }
  frame_factors(*panel.view.narration, hue_of(tensor, item_));
}

/// One frame round a block of operands that fill it, else a frame each.
void StageMatrix::frame_factors(const Narration& narration, Concept hue) {
  std::set<Slice::Place> places;
  for (const NarratedTerm& term : narration.terms)
    for (const CellAddress& cell : term.cells)
      if (cell.tensor == item_.slice.tensor && cell.quantity == item_.slice.quantity)
        if (const auto place = item_.slice.find(cell.cell)) places.insert(*place);
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
  if (AxisLabel* label = row_label(static_cast<int>(top)); label && labels_are_tokens(item_.slice.rows))
    label->lit = item_.slice.rows.axis == core::Axis::key ? Concept::keys : Concept::queries;
}

}  // namespace headscope::simulator
