// The same slices that the window draws as heat maps.
#include "simulator/terminal/tensor_table.h"

#include "core/graph.h"
#include "simulator/number_format.h"
#include "simulator/slice.h"
#include "simulator/tensor_facts.h"

#include <algorithm>
#include <string>

namespace headscope::simulator::terminal {
namespace {

constexpr std::size_t kLabelColumns = 16;  // of a word; longer ones are shortened

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
  std::string line = text.text(key, {{"tensor", short_name(spec)}, {"rows", rows}, {"columns", columns}});
  if (has_head) line += " " + text.text("terminal.table.head", {{"head", std::to_string(state.head())}});
  return line;
}

Table columns_of(const AppState& state, const Slice& slice, std::int64_t first, std::int64_t last) {
  const core::TensorSpec& spec = state.session.graph().spec(slice.tensor);
  const core::Trace<float> trace = state.trace();
  Table table;
  table.columns.assign(static_cast<std::size_t>(last - first) + 1, Align::right);
  table.columns.front() = Align::left;
  std::vector<std::string> head{""};
  for (std::int64_t column = first; column < last; ++column)
    head.push_back(shorten(side_label(state.session, slice.columns, column), kLabelColumns));
  if (slice.columns.place >= 0) table.rows.push_back(std::move(head));
  for (std::int64_t row = 0; row < slice.rows.size; ++row) {
    std::vector<std::string> cells{shorten(side_label(state.session, slice.rows, row), kLabelColumns)};
    for (std::int64_t column = first; column < last; ++column)
      cells.push_back(
          format_number(trace.value(slice.tensor, slice.cell_at(row, column)), number_kind_of(spec)));
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
  const std::int64_t n_columns = slice.columns.size;
  for (std::int64_t first = 0; first < n_columns;) {
    std::int64_t last = n_columns;
    Table table = columns_of(state, slice, first, last);
    while (last - first > 1 && width_of(table) + 2 > printer.columns())
      table = columns_of(state, slice, first, --last);
    if (last - first < n_columns)
      printer.paragraph(text.text("terminal.table.part", {{"first", std::to_string(first + 1)},
                                                          {"last", std::to_string(last)},
                                                          {"count", std::to_string(n_columns)}}),
                        2, 2);
    printer.table(table, 2);
    first = last;
  }
}

}  // namespace headscope::simulator::terminal
