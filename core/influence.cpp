// Which cells of its result each operation computes from a given operand cell: index bookkeeping alone.
#include "core/influence.h"

#include "core/explain_parts.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>
#include <variant>

namespace headscope::core {
namespace {

using Index = std::optional<std::int64_t>;
constexpr Index kAll = std::nullopt;

template <class T>
struct Finder {
  const Trace<T>& trace;
  TensorId tensor;
  Cell cell;
  std::size_t operation;
  std::vector<Influence>& found;

  void add(TensorId result, std::initializer_list<Index> indices) const {
    std::size_t place = 0;
    Region region{static_cast<int>(indices.size()), {}};
    for (const Index& index : indices) region.indices[place++] = index;
    found.push_back({operation, result, region});
  }
  /// The result's cells of the same address, open along `place`.
  void same(TensorId result, int open = -1) const {
    Region region = one_cell(cell);
    if (open >= 0) region.indices[static_cast<std::size_t>(open)] = kAll;
    found.push_back({operation, result, region});
  }
  /// All cells of the result whose last index is `v`: of a bias, a gain, a column of a weight.
  void column(TensorId result, std::int64_t v) const {
    Region region{trace.shape(result).rank(), {}};
    region.indices[static_cast<std::size_t>(region.rank - 1)] = v;
    found.push_back({operation, result, region});
  }
  std::int64_t integer(TensorId of, const Cell& at) const {
    return static_cast<std::int64_t>(trace.value(of, at));
  }

  void operator()(const Lookup& op) const {
    if (tensor == op.ids) add(op.output, {cell[0], cell[1], kAll});
    if (tensor != op.table) return;
    const std::span<const std::int32_t> ids = trace.workspace().integers(op.ids);
    for (std::size_t place = 0; place < ids.size(); ++place)
      if (ids[place] == cell[0]) {
        const Cell token = trace.shape(op.ids).cell(static_cast<std::int64_t>(place));
        add(op.output, {token[0], token[1], cell[1]});
      }
  }
  void operator()(const SinusoidalPositions&) const {}
  void operator()(const AddPositions& op) const {
    if (tensor == op.input) same(op.output);
    if (tensor == op.positions && cell[0] < trace.shape(op.output)[1])
      add(op.output, {kAll, cell[0], cell[1]});
  }
  void operator()(const ProjectHeads& op) const {
    if (tensor == op.input) add(op.output, {cell[0], kAll, cell[1], kAll});
    if (tensor == op.weight) add(op.output, {kAll, cell[0], kAll, cell[2]});
    if (tensor == op.bias) add(op.output, {kAll, cell[0], kAll, cell[1]});
  }
  void operator()(const Scores& op) const {
    if (tensor == op.queries) add(op.output, {cell[0], cell[1], cell[2], kAll});
    if (tensor == op.keys) add(op.output, {cell[0], cell[1], kAll, cell[2]});
  }
  void operator()(const ScaleScores& op) const { same(op.output); }
  /// The cells of a distance lie on a diagonal: one for each query.
  void operator()(const AddRelativeBias& op) const {
    if (tensor == op.input) same(op.output);
    if (tensor != op.table) return;
    const Shape& out = trace.shape(op.output);
    const std::int64_t distance = cell[1] - (trace.shape(op.table)[1] - 1) / 2;  // j - i
    for (std::int64_t i = std::max<std::int64_t>(0, -distance); i < out[2] && i + distance < out[3]; ++i)
      add(op.output, {kAll, cell[0], i, i + distance});
  }
  void operator()(const MaskScores& op) const {
    if (tensor == op.input) same(op.output);
    if (tensor == op.lengths) add(op.output, {cell[0], kAll, kAll, kAll});
  }
  void operator()(const MaskPositions& op) const {
    if (tensor == op.input) same(op.output);
    if (tensor == op.lengths) add(op.output, {cell[0], kAll, kAll});
  }
  void operator()(const Softmax& op) const { same(op.output, op.axis); }
  void operator()(const DropoutMask&) const {}
  void operator()(const ApplyDropout& op) const { same(op.output); }
  void operator()(const MixValues& op) const {
    if (tensor == op.weights) add(op.output, {cell[0], cell[1], cell[2], kAll});
    if (tensor == op.values) add(op.output, {cell[0], cell[1], kAll, cell[3]});
  }
  void operator()(const ConcatHeads& op) const {
    add(op.output, {cell[0], cell[2], cell[1] * trace.shape(op.input)[3] + cell[3]});
  }
  void operator()(const HeadContribution& op) const {
    if (tensor == op.input) same(op.output, 3);
    if (tensor == op.weight) add(op.output, {kAll, cell[0], kAll, cell[2]});
  }
  void operator()(const Linear& op) const {
    if (tensor == op.input) same(op.output, cell.rank() - 1);
    if (tensor == op.weight) column(op.output, cell[cell.rank() - 1]);
    if (tensor == op.bias) column(op.output, cell[0]);
  }
  void operator()(const ProjectOutputs& op) const {
    if (tensor == op.input) add(op.output, {cell[0], cell[1], kAll, kAll});
    if (tensor == op.weight) add(op.output, {kAll, kAll, cell[0], cell[2]});
    if (tensor == op.bias) add(op.output, {kAll, kAll, cell[0], cell[1]});
  }
  void operator()(const Add& op) const { same(op.output); }
  void operator()(const RowMean& op) const { add(op.output, {cell[0], cell[1]}); }
  void operator()(const Centre& op) const {
    if (tensor == op.input) same(op.output);
    if (tensor == op.mean) add(op.output, {cell[0], cell[1], kAll});
  }
  void operator()(const InverseDeviation& op) const { add(op.output, {cell[0], cell[1]}); }
  void operator()(const ScaleRows& op) const {
    if (tensor == op.input) same(op.output);
    if (tensor == op.factor) add(op.output, {cell[0], cell[1], kAll});
  }
  void operator()(const ScaleAndShift& op) const {
    if (tensor == op.input)
      same(op.output);
    else
      column(op.output, cell[0]);
  }
  void operator()(const Activate& op) const { same(op.output); }
  /// Padding has no part in a mean, and no position but the first in the other pooling.
  void operator()(const Pool& op) const {
    const bool is_mean = op.pooling == Pooling::mean;
    if (tensor == op.input && cell[1] < (is_mean ? integer(op.lengths, {cell[0]}) : 1))
      add(op.output, {cell[0], cell[2]});
    if (tensor == op.lengths && is_mean) add(op.output, {cell[0], kAll});
  }
  void operator()(const SelectPosition& op) const {
    if (tensor == op.input && cell[1] == integer(op.positions, {cell[0]})) add(op.output, {cell[0], cell[2]});
    if (tensor == op.positions) add(op.output, {cell[0], kAll});
  }
  void operator()(const PointAt& op) const {
    if (tensor == op.start) add(op.output, {cell[0], kAll, 0});
    if (tensor == op.end) add(op.output, {cell[0], kAll, 1});
    if (tensor == op.input) add(op.output, {cell[0], cell[1], kAll});
  }
  /// A row without a target has no part in the loss; of probabilities only the target's, unless it is
  /// smoothed.
  void operator()(const CrossEntropy& op) const {
    if (tensor == op.targets) return same(op.output);
    const Cell row = without(cell, op.axis);
    const std::int64_t target = integer(op.targets, row);
    if (target >= 0 && (tensor == op.logits || op.smoothing > 0 || cell[op.axis] == target))
      found.push_back({operation, op.output, one_cell(row)});
  }
  void operator()(const MeanLoss& op) const {
    if (tensor == op.targets || integer(op.targets, cell) >= 0) add(op.output, {0});
  }
};

/// Whether all cells of a region are set by hand, by one override.
bool is_set_by_hand(const Override& override, const Influence& influence) {
  if (override.tensor != influence.result || override.region.rank != influence.region.rank) return false;
  for (std::size_t place = 0; place < static_cast<std::size_t>(influence.region.rank); ++place) {
    const Index& fixed = override.region.indices[place];
    if (fixed && influence.region.indices[place] != fixed) return false;
  }
  return true;
}

}  // namespace

template <class T>
std::vector<Influence> influences(const Trace<T>& trace, TensorId tensor, const Cell& cell) {
  std::vector<Influence> found;
  const std::span<const Operation> operations = trace.graph().operations();
  for (std::size_t index = 0; index < operations.size(); ++index)
    if (const std::vector<TensorId> read = operands(operations[index]); std::ranges::count(read, tensor) > 0)
      std::visit(Finder<T>{trace, tensor, cell, index, found}, operations[index]);
  if (const Interventions* by_hand = trace.interventions())
    std::erase_if(found, [&](const Influence& influence) {
      return std::ranges::any_of(
          by_hand->overrides, [&](const Override& override) { return is_set_by_hand(override, influence); });
    });
  return found;
}
template std::vector<Influence> influences(const Trace<float>&, TensorId, const Cell&);
template std::vector<Influence> influences(const Trace<double>&, TensorId, const Cell&);

}  // namespace headscope::core
