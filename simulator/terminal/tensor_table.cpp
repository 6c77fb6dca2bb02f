// The same slices that the window draws as heat maps.
#include "simulator/terminal/tensor_table.h"

#include "core/graph.h"
#include "lessons/number_format.h"
#include "simulator/slice.h"
#include "simulator/tensor_facts.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace headscope::simulator::terminal {
namespace {

constexpr std::size_t kLabelColumns = 16;  // of a word; longer ones are shortened
constexpr std::size_t kIndent = 2;

std::string axis_words(core::Axis axis, const lessons::TextCatalog& text) {
  switch (axis) {
    case core::Axis::batch:
      return text.text("terminal.axis.batch");
    case core::Axis::head:
      return text.text("terminal.axis.head");
    case core::Axis::query:
      return text.text("terminal.axis.query");
    case core::Axis::key:
      return text.text("terminal.axis.key");
    case core::Axis::model:
      return text.text("terminal.axis.model");
    case core::Axis::head_channel:
      return text.text("terminal.axis.head_channel");
    case core::Axis::concat:
      return text.text("terminal.axis.concat");
    case core::Axis::vocabulary:
      return text.text("terminal.axis.vocabulary");
    case core::Axis::position:
      return text.text("terminal.axis.position");
    case core::Axis::feed_forward:
      return text.text("terminal.axis.feed_forward");
    case core::Axis::class_label:
      return text.text("terminal.axis.class_label");
    case core::Axis::output:
      return text.text("terminal.axis.output");
    case core::Axis::edge:
      return text.text("terminal.axis.edge");
    case core::Axis::distance:
      return text.text("terminal.axis.distance");
    case core::Axis::token_type:
      return text.text("terminal.axis.token_type");
    case core::Axis::one:
      break;
  }
  return text.text("terminal.axis.one");
}

std::string announcement(const AppState& state, const Slice& slice, const lessons::TextCatalog& text) {
  const core::TensorSpec& spec = state.session.graph().spec(slice.tensor);
  const int head_place = spec.shape.find(core::Axis::head);
  const bool has_head =
      head_place >= 0 && slice.rows.place != head_place && slice.columns.place != head_place;
  const std::string rows = slice.rows.place < 0 ? "" : axis_words(slice.rows.axis, text);
  const std::string columns = slice.columns.place < 0 ? "" : axis_words(slice.columns.axis, text);
  std::string key = "terminal.table.one";
  if (!rows.empty() && !columns.empty())
    key = "terminal.table.rows_and_columns";
  else if (!rows.empty())
    key = "terminal.table.rows";
  else if (!columns.empty())
    key = "terminal.table.columns";
  const std::string head =
      has_head ? text.text("terminal.table.head", {{"head", std::to_string(state.head())}}) : "";
  return text.text(key, {{"tensor", short_name(spec)}, {"head", head}, {"rows", rows}, {"columns", columns}});
}

/// The indices to print along a side: all, but of a whole table of words or positions those of the sentence.
std::vector<std::int64_t> shown_indices(const AppState& state, const SliceSide& side) {
  std::vector<std::int64_t> indices;
  if (side.axis == core::Axis::vocabulary && !side.is_target) {
    for (std::size_t position = 0; position < state.session.n_positions(); ++position)
      indices.push_back(state.session.token_at(position).id);
    std::ranges::sort(indices);
    indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
    return indices;
  }
  // of the table of positions, those that the sentence takes
  const auto n_positions = static_cast<std::int64_t>(state.session.n_positions());
  const std::int64_t n_shown =
      side.axis == core::Axis::position ? std::min(side.size, n_positions) : side.size;
  for (std::int64_t index = 0; index < n_shown; ++index) indices.push_back(index);
  return indices;
}

Table table_of(const AppState& state, const Slice& slice, std::span<const std::int64_t> rows,
               std::span<const std::int64_t> columns) {
  const core::TensorSpec& spec = state.session.graph().spec(slice.tensor);
  const core::Trace<float> trace = state.trace();
  Table table;
  table.columns.assign(columns.size() + 1, Align::right);
  table.columns.front() = Align::left;
  const auto label = [&](const SliceSide& side, std::int64_t index) {
    return shorten(side_label(state.session, side, index), kLabelColumns);
  };
  std::vector<std::string> head{""};
  for (const std::int64_t column : columns) head.push_back(label(slice.columns, column));
  if (slice.columns.place >= 0) table.rows.push_back(std::move(head));
  for (const std::int64_t row : rows) {
    std::vector<std::string> cells{label(slice.rows, row)};
    for (const std::int64_t column : columns)
      cells.push_back(lessons::format_number(trace.value(slice.tensor, slice.cell_at(row, column)),
                                             number_kind_of(spec)));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

std::size_t width_of(const Table& table) {
  std::size_t width = 0;
  for (const std::string& line : table_lines(table)) width = std::max(width, display_width(line));
  return width;
}

}  // namespace

void print_tensor(Printer& printer, const AppState& state, core::TensorId tensor,
                  const lessons::TextCatalog& text) {
  const Slice slice = slice_of(state.session, tensor, state.head());
  const core::TensorSpec& spec = state.session.graph().spec(tensor);
  if (!state.trace().is_computed(tensor)) {
    printer.paragraph(text.text("terminal.table.not_computed", {{"tensor", short_name(spec)}}));
    return;
  }
  printer.paragraph(announcement(state, slice, text));
  const std::vector<std::int64_t> rows = shown_indices(state, slice.rows);
  const std::vector<std::int64_t> columns = shown_indices(state, slice.columns);
  const auto is_words = [](const SliceSide& side) {
    return side.axis == core::Axis::vocabulary && !side.is_target;
  };
  if (is_words(slice.rows) || is_words(slice.columns))
    printer.paragraph(text.text("terminal.table.words_only",
                                {{"count", std::to_string(state.session.vocabulary().size())}}));
  if (slice.rows.axis == core::Axis::position)
    printer.paragraph(
        text.text("terminal.table.positions_only", {{"count", std::to_string(slice.rows.size)}}));
  for (std::span<const std::int64_t> left = columns; !left.empty();) {
    // a column takes three places at least: a digit and the gap
    std::size_t n_shown = std::min(left.size(), printer.columns() / 3);
    Table table = table_of(state, slice, rows, left.first(n_shown));
    while (n_shown > 1 && width_of(table) + kIndent > printer.columns())
      table = table_of(state, slice, rows, left.first(--n_shown));
    const std::size_t first = columns.size() - left.size();
    if (n_shown < columns.size())
      printer.paragraph(text.text("terminal.table.part", {{"first", std::to_string(first + 1)},
                                                          {"last", std::to_string(first + n_shown)},
                                                          {"count", std::to_string(columns.size())}}),
                        kIndent, kIndent);
    printer.table(table, kIndent);
    left = left.subspan(n_shown);
  }
}

}  // namespace headscope::simulator::terminal
