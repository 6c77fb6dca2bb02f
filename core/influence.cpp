// Which cells of its result each operation computes from a given operand cell: index bookkeeping alone.
#include "core/influence.h"

#include <algorithm>
#include <initializer_list>
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
    Influence influence{operation, result, 0, {}};
    for (const Index& index : indices) influence.indices[static_cast<std::size_t>(influence.rank++)] = index;
    found.push_back(influence);
  }
  /// The result's cell of the same address.
  void same(TensorId result) const {
    Influence influence{operation, result, 0, {}};
    while (influence.rank < cell.rank() && influence.rank < kMaxRank) {
      influence.indices[static_cast<std::size_t>(influence.rank)] = cell[influence.rank];
      ++influence.rank;
    }
    found.push_back(influence);
  }

  void operator()(const Lookup& op) const {
    if (tensor == op.ids) add(op.output, {cell[0], cell[1], kAll});
    if (tensor != op.table) return;
    const std::span<const std::int32_t> ids = trace.workspace().integers(op.ids);
    const std::int64_t n_tokens = trace.shape(op.ids)[1];
    for (std::size_t place = 0; place < ids.size(); ++place)
      if (ids[place] == cell[0]) {
        const auto at = static_cast<std::int64_t>(place);
        add(op.output, {at / n_tokens, at % n_tokens, cell[1]});
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
  void operator()(const MaskScores& op) const {
    if (tensor == op.input) same(op.output);
    if (tensor == op.lengths) add(op.output, {cell[0], kAll, kAll, kAll});
  }
  void operator()(const Softmax& op) const {
    same(op.output);
    found.back().indices[static_cast<std::size_t>(cell.rank() - 1)] = kAll;
  }
  void operator()(const MixValues& op) const {
    if (tensor == op.weights) add(op.output, {cell[0], cell[1], cell[2], kAll});
    if (tensor == op.values) add(op.output, {cell[0], cell[1], kAll, cell[3]});
  }
  void operator()(const ConcatHeads& op) const {
    add(op.output, {cell[0], cell[2], cell[1] * trace.shape(op.input)[3] + cell[3]});
  }
  void operator()(const Linear& op) const {
    if (tensor == op.input) add(op.output, {cell[0], cell[1], kAll});
    if (tensor == op.weight) add(op.output, {kAll, kAll, cell[cell.rank() - 1]});
    if (tensor == op.bias) add(op.output, {kAll, kAll, cell[0]});
  }
  void operator()(const Add& op) const { same(op.output); }
  /// A row without a target has no part in the loss, and of probabilities only the target's.
  void operator()(const CrossEntropy& op) const {
    const std::int64_t n_tokens = trace.shape(op.targets)[1];
    const std::int32_t target =
        trace.workspace().integers(op.targets)[static_cast<std::size_t>(cell[0] * n_tokens + cell[1])];
    if (tensor == op.targets || (target >= 0 && (tensor == op.logits || cell[2] == target)))
      add(op.output, {0});
  }
};

}  // namespace

Cell Influence::cell(const Cell& fallback) const {
  Cell cell;
  for (int place = 0; place < rank; ++place)
    cell.push_back(
        indices[static_cast<std::size_t>(place)].value_or(place < fallback.rank() ? fallback[place] : 0));
  return cell;
}

template <class T>
std::vector<Influence> influences(const Trace<T>& trace, TensorId tensor, const Cell& cell) {
  std::vector<Influence> found;
  const std::span<const Operation> operations = trace.graph().operations();
  for (std::size_t index = 0; index < operations.size(); ++index)
    if (const std::vector<TensorId> read = operands(operations[index]); std::ranges::count(read, tensor) > 0)
      std::visit(Finder<T>{trace, tensor, cell, index, found}, operations[index]);
  return found;
}
template std::vector<Influence> influences(const Trace<float>&, TensorId, const Cell&);
template std::vector<Influence> influences(const Trace<double>&, TensorId, const Cell&);

}  // namespace headscope::core
