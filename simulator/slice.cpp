#include "simulator/slice.h"

#include "core/graph.h"

#include <cstdlib>
#include <vector>

namespace headscope::simulator {
namespace {

using core::Axis;

std::string word_at(const core::Session& session, core::TextSide side, std::int64_t position) {
  const auto at = static_cast<std::size_t>(position);
  return at < session.n_positions(side) ? session.token_at(at, side).text : std::to_string(position);
}

/// `text` tells whose words positions and vocabulary are.
std::string index_label(const core::Session& session, core::TextSide text, Axis axis, std::int64_t index) {
  switch (axis) {
    case Axis::query:
    case Axis::key:
      return word_at(session, text, index);
    case Axis::vocabulary: {
      const bool is_target = text == core::TextSide::target && session.target_vocabulary();
      const core::Vocabulary& words = is_target ? *session.target_vocabulary() : session.vocabulary();
      return words.token(static_cast<std::int32_t>(index));
    }
    case Axis::position:
      return "p " + std::to_string(index);
    case Axis::head:
      return "h " + std::to_string(index);
    case Axis::concat: {
      const std::int64_t d_head = session.config().d_head;
      std::string label = "h";
      return label.append(std::to_string(index / d_head)).append("c").append(std::to_string(index % d_head));
    }
    case Axis::model:
    case Axis::head_channel:
    case Axis::feed_forward:
      return "c " + std::to_string(index);
    case Axis::class_label:
      return class_name(session, index).value_or("v " + std::to_string(index));
    case Axis::output:
      return "o " + std::to_string(index);
    case Axis::edge:
      return "e " + std::to_string(index);
    case Axis::distance: {  // j - i, from 1 - max_tokens on
      const std::int64_t distance = index - session.config().max_tokens + 1;
      return (distance < 0 ? "−" : distance > 0 ? "+" : "") + std::to_string(std::abs(distance));
    }
    case Axis::token_type:
      return "t " + std::to_string(index);
    case Axis::batch:
    case Axis::one:
      return "";
  }
  return "";
}

/// Both indices of a flattened pair: "o 1 v 0"; the class alone where there is one output.
std::string pair_label(const core::Session& session, const SliceSide& side, std::int64_t index) {
  if (side.size == side.joined_size)
    return index_label(session, core::TextSide::source, Axis::class_label, index);
  const std::int64_t outer = index / side.joined_size, inner = index % side.joined_size;
  return index_label(session, core::TextSide::source, Axis::output, outer) + " " +
         index_label(session, core::TextSide::source, Axis::class_label, inner);
}

/// Whether a side counts the positions or the vocabulary of an encoder-decoder's target.
bool is_of_target(const core::Graph& graph, core::TensorId tensor, int place) {
  const core::TensorSpec& spec = graph.spec(tensor);
  const core::Side& side = spec.shape[place];
  if (side.axis == Axis::vocabulary)
    return graph.find("target.ids").has_value() && !spec.name.starts_with("encoder.");
  return side.extent == core::Extent::target();
}

/// The moments of a parameter, or what it and they were before the update.
std::span<const float> of_update(const core::Trace<float>& trace, const Slice& slice) {
  const core::UpdateView<float>& update = *trace.update();
  const auto piece = [&](std::span<const float> all) {
    return all.subspan(trace.workspace().plan().offset(slice.tensor),
                       static_cast<std::size_t>(slice.shape.count()));
  };
  switch (slice.quantity) {
    case core::Quantity::first_moment:
      return piece(update.first);
    case core::Quantity::second_moment:
      return piece(update.second);
    case core::Quantity::previous_value:
      return piece(update.previous_value);
    case core::Quantity::previous_first:
      return piece(update.previous_first);
    case core::Quantity::previous_second:
      return piece(update.previous_second);
    case core::Quantity::value:
    case core::Quantity::gradient:
      break;
  }
  return {};
}

}  // namespace

SliceSide whole_side(const core::Trace<float>& trace, core::TensorId tensor, int place) {
  SliceSide side{trace.graph().spec(tensor).shape[place].axis, trace.shape(tensor)[place], place};
  side.is_target = is_of_target(trace.graph(), tensor, place);
  return side;
}

SliceSide whole_side(const core::Session& session, core::TensorId tensor, int place) {
  return whole_side(session.trace(), tensor, place);
}

SliceSide joined_side(const core::Trace<float>& trace, core::TensorId tensor, core::Axis axis, int outer,
                      int inner) {
  const core::Shape& shape = trace.shape(tensor);
  return {axis, shape[outer] * shape[inner], outer, inner, shape[inner]};
}

core::Cell Slice::cell_at(std::int64_t row, std::int64_t column) const {
  core::Cell cell = base;
  const auto put = [&](const SliceSide& side, std::int64_t index) {
    if (side.place < 0) return;
    if (side.joined_place < 0) {
      cell[side.place] = index;
    } else {
      cell[side.place] = index / shape[side.joined_place];
      cell[side.joined_place] = index % shape[side.joined_place];
    }
  };
  put(rows, row);
  put(columns, column);
  return cell;
}

std::optional<Slice::Place> Slice::find(const core::Cell& cell) const {
  const auto index = [&](const SliceSide& side) -> std::int64_t {
    if (side.place < 0) return 0;
    if (side.joined_place < 0) return cell[side.place];
    return cell[side.place] * shape[side.joined_place] + cell[side.joined_place];
  };
  if (!shape.contains(cell)) return std::nullopt;
  const Place place{index(rows), index(columns)};
  if (place.row >= rows.size || place.column >= columns.size) return std::nullopt;
  if (cell_at(place.row, place.column) != cell) return std::nullopt;
  return place;
}

Slice slice_of(const core::Trace<float>& trace, core::TensorId tensor, std::int64_t head, Turn turn) {
  const core::ShapeSpec& spec = trace.graph().spec(tensor).shape;
  Slice slice;
  slice.tensor = tensor;
  slice.shape = trace.shape(tensor);
  std::vector<int> shown;  // sides that are neither batch nor, beside two others, head
  for (int place = 0; place < spec.rank(); ++place) {
    slice.base.push_back(0);
    if (spec[place].axis != Axis::batch) shown.push_back(place);
  }
  if (shown.size() == 3 && core::leaf(trace.graph().spec(tensor).name) == "w_output") {
    // [n_heads, d_head, d_model] meets the concatenated heads: head and channel run down the rows together
    slice.rows = joined_side(trace, tensor, Axis::concat, 0, 1);
    slice.columns = whole_side(trace, tensor, 2);
  } else if (const int output = spec.find(Axis::output), label = spec.find(Axis::class_label);
             output >= 0 && label >= 0) {
    // the independent classifiers stand side by side, as the columns of one matrix
    slice.columns = joined_side(trace, tensor, Axis::output, output, label);
    std::erase_if(shown, [&](int place) { return place == output || place == label; });
    if (!shown.empty()) slice.rows = whole_side(trace, tensor, shown[0]);
  } else {
    const int head_place = spec.find(Axis::head);
    if (head_place >= 0 && shown.size() > 1) {
      std::erase(shown, head_place);
      slice.base[head_place] = head;
    }
    if (!shown.empty() && (shown.size() > 1 || spec[shown[0]].axis != Axis::query))
      slice.columns = whole_side(trace, tensor, shown.back());
    if (shown.size() > 1 || (shown.size() == 1 && spec[shown[0]].axis == Axis::query))
      slice.rows = whole_side(trace, tensor, shown[0]);
  }
  if (turn == Turn::transposed) std::swap(slice.rows, slice.columns);
  return slice;
}

Slice slice_of(const core::Session& session, core::TensorId tensor, std::int64_t head, Turn turn) {
  return slice_of(session.trace(), tensor, head, turn);
}

SliceNumbers::SliceNumbers(const core::Trace<float>& trace, const Slice& slice)
    : SliceNumbers(trace, slice, slice.rows.size, slice.columns.size) {}

SliceNumbers::SliceNumbers(const core::Trace<float>& trace, const Slice& slice, std::int64_t n_rows,
                           std::int64_t n_columns) {
  const core::Workspace<float>& workspace = trace.workspace();
  if (trace.graph().spec(slice.tensor).element == core::Element::integer)
    integers_ = workspace.integers(slice.tensor);
  else if (slice.quantity == core::Quantity::value)
    reals_ = workspace.values(slice.tensor);
  else if (slice.quantity == core::Quantity::gradient)
    reals_ =
        workspace.has_gradient(slice.tensor) ? workspace.gradients(slice.tensor) : std::span<const float>();
  else
    reals_ = of_update(trace, slice);
  if (slice.rows.size == 0 || slice.columns.size == 0) return;
  // a cell's place is the sum of what its row and its column add to that of the first
  const auto first = static_cast<std::size_t>(slice.shape.flat(slice.cell_at(0, 0)));
  rows_.reserve(static_cast<std::size_t>(n_rows));
  columns_.reserve(static_cast<std::size_t>(n_columns));
  for (std::int64_t row = 0; row < n_rows; ++row)
    rows_.push_back(
        static_cast<std::size_t>(slice.shape.flat(slice.cell_at(row * slice.rows.size / n_rows, 0))));
  for (std::int64_t column = 0; column < n_columns; ++column)
    columns_.push_back(static_cast<std::size_t>(
                           slice.shape.flat(slice.cell_at(0, column * slice.columns.size / n_columns))) -
                       first);
}

double SliceNumbers::at(std::int64_t row, std::int64_t column) const {
  const std::size_t place = rows_[static_cast<std::size_t>(row)] + columns_[static_cast<std::size_t>(column)];
  if (!integers_.empty()) return integers_[place];
  return reals_.empty() ? 1.0 : static_cast<double>(reals_[place]);
}

std::string side_label(const core::Session& session, const SliceSide& side, std::int64_t index) {
  if (side.axis == Axis::output && side.joined_size > 0) return pair_label(session, side, index);
  return index_label(session, side.text(), side.axis, index);
}

bool labels_are_tokens(const SliceSide& side) {
  return side.axis == Axis::query || side.axis == Axis::key || side.axis == Axis::vocabulary;
}

std::optional<std::string> class_name(const core::Session& session, std::int64_t index) {
  const std::vector<std::string>& names = session.class_names();
  const auto at = static_cast<std::size_t>(index);
  return index >= 0 && at < names.size() ? std::optional(names[at]) : std::nullopt;
}

bool labels_are_words(const core::Session& session, const SliceSide& side) {
  const bool has_classes =
      side.axis == Axis::class_label || (side.axis == Axis::output && side.joined_size > 0);
  return labels_are_tokens(side) || (has_classes && !session.class_names().empty());
}

std::string address_text(const core::Session& session, const CellAddress& address) {
  core::Region one;
  while (one.rank < address.cell.rank() && one.rank < core::kMaxRank) {
    one.indices[static_cast<std::size_t>(one.rank)] = address.cell[one.rank];
    ++one.rank;
  }
  return address_text(session, address, one);
}

std::string address_text(const core::Session& session, const CellAddress& address,
                         const core::Region& reached) {
  const core::ShapeSpec& spec = session.graph().spec(address.tensor).shape;
  std::string text;
  for (int place = 0; place < spec.rank(); ++place) {
    const Axis axis = spec[place].axis;
    if (axis == Axis::batch || axis == Axis::one) continue;
    if (axis == Axis::head && spec.rank() > 2) continue;
    if (!text.empty()) text += ", ";
    const bool is_word = axis == Axis::query || axis == Axis::key || axis == Axis::vocabulary ||
                         (axis == Axis::class_label && !session.class_names().empty());
    const core::TextSide words = is_of_target(session.graph(), address.tensor, place)
                                     ? core::TextSide::target
                                     : core::TextSide::source;
    const bool is_open =
        !reached.indices[static_cast<std::size_t>(place)] && session.trace().shape(address.tensor)[place] > 1;
    text += is_open   ? ":"
            : is_word ? index_label(session, words, axis, address.cell[place])
                      : std::to_string(address.cell[place]);
  }
  return text.empty() ? "" : "[" + text + "]";
}

}  // namespace headscope::simulator
