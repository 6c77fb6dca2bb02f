#include "core/interventions.h"

#include "core/interventions_run.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

namespace headscope::core {
namespace {

/// A region of the tensor that is open along all sides.
Region whole(int rank) {
  Region region;
  region.rank = rank;
  return region;
}

/// Cells of one head, the side `place` being the heads'.
Region head_region(const Graph& graph, TensorId tensor, std::optional<std::int64_t> head) {
  const ShapeSpec& spec = graph.spec(tensor).shape;
  const int place = spec.find(Axis::head);
  assert(place >= 0);
  Region region = whole(spec.rank());
  region.indices[static_cast<std::size_t>(place)] = head;
  return region;
}

/// The cell's number in a table: a side for each open side of the region; an index beyond the last takes the
/// last.
double table_value(const Override& override, const Cell& cell) {
  Cell at;
  for (int place = 0; place < cell.rank(); ++place) {
    if (override.region.indices[static_cast<std::size_t>(place)]) continue;
    at.push_back(std::min(cell[place], override.table[at.rank()] - 1));
  }
  return override.values[static_cast<std::size_t>(override.table.flat(at))];
}

/// Of a softmax: 1 / n over the n cells of its row that are not -∞, 0 elsewhere.
template <class T>
class UniformWeights {
 public:
  UniformWeights(const Graph& graph, const Workspace<T>& workspace, TensorId weights) {
    const auto producer = graph.producer(weights);
    const auto* softmax = producer ? std::get_if<Softmax>(&graph.operations()[*producer]) : nullptr;
    if (!softmax) return;  // of nothing else is it asked
    axis_ = softmax->axis;
    shape_ = workspace.shape(softmax->input);
    scores_ = workspace.values(softmax->input);
  }

  T at(const Cell& cell) {
    if (!is_seen(cell)) return 0;
    Cell row = cell;
    row[axis_] = 0;
    if (row_ != shape_.flat(row)) count(row);
    return 1 / n_seen_;
  }

 private:
  bool is_seen(const Cell& cell) const {
    return scores_[static_cast<std::size_t>(shape_.flat(cell))] != -std::numeric_limits<T>::infinity();
  }
  void count(Cell at) {
    row_ = shape_.flat(at);
    n_seen_ = 0;
    for (; at[axis_] < shape_[axis_]; ++at[axis_])
      if (is_seen(at)) n_seen_ += 1;
  }

  int axis_ = 0;
  Shape shape_;
  std::span<const T> scores_;
  std::int64_t row_ = -1;  // the first cell of the row that was counted
  T n_seen_ = 0;
};

}  // namespace

bool can_be_set_by_hand(const Graph& graph, TensorId tensor) {
  const std::optional<std::size_t> producer = graph.producer(tensor);
  if (!producer || std::holds_alternative<MeanLoss>(graph.operations()[*producer])) return false;
  return std::ranges::none_of(graph.operations(), [&](const Operation& operation) {
    const auto* entropy = std::get_if<CrossEntropy>(&operation);
    return entropy && entropy->probabilities == tensor;
  });
}

Cell Region::cell(const Cell& fallback) const {
  Cell cell;
  for (int place = 0; place < rank; ++place)
    cell.push_back(
        indices[static_cast<std::size_t>(place)].value_or(place < fallback.rank() ? fallback[place] : 0));
  return cell;
}

Region one_cell(const Cell& cell) {
  Region region = whole(cell.rank());
  for (int place = 0; place < std::min(cell.rank(), kMaxRank); ++place)
    region.indices[static_cast<std::size_t>(place)] = cell[place];
  return region;
}

const Override* Interventions::find(TensorId tensor, const Cell& cell) const {
  const auto found = std::find_if(overrides.rbegin(), overrides.rend(), [&](const Override& override) {
    return override.tensor == tensor && override.region.rank == cell.rank() && override.region.contains(cell);
  });
  return found == overrides.rend() ? nullptr : &*found;
}

Override zero_head(const Graph& graph, TensorId head_output, std::int64_t head) {
  return {head_output, head_region(graph, head_output, head), Override::Kind::constant, {0}, {}};
}

Override mean_head(const Graph& graph, TensorId head_output, std::int64_t head, const Shape& shape,
                   std::vector<double> means) {
  assert(shape.rank() == 2 && shape[0] > 0 && static_cast<std::int64_t>(means.size()) == shape.count());
  return {head_output, head_region(graph, head_output, head), Override::Kind::table, std::move(means),
          Shape{1, shape[0], shape[1]}};
}

Override uniform_attention(const Graph& graph, TensorId weights, std::optional<std::int64_t> head) {
  assert(std::holds_alternative<Softmax>(graph.operations()[*graph.producer(weights)]));
  return {weights, head_region(graph, weights, head), Override::Kind::uniform, {}, {}};
}

Override set_cell(TensorId tensor, const Cell& cell, double value) {
  return {tensor, one_cell(cell), Override::Kind::constant, {value}, {}};
}

Override freeze(TensorId tensor, const Shape& shape, std::vector<double> values) {
  assert(static_cast<std::int64_t>(values.size()) == shape.count());
  return {tensor, whole(shape.rank()), Override::Kind::table, std::move(values), shape};
}

void set_switches(Graph& graph, TensorId scores, const Graph& original, const AttentionSwitches& switches) {
  TensorId along = scores;  // from the scores to the mask
  for (std::size_t index = 0; index < original.operations().size(); ++index) {
    const Operation& operation = original.operations()[index];
    if (operands(operation).empty() || operands(operation)[0] != along) continue;
    if (const auto* scale = std::get_if<ScaleScores>(&operation)) {
      ScaleScores changed = *scale;
      changed.temperature = switches.temperature;
      if (!switches.leaves_scale) changed.width = 0;
      graph.replace_operation(index, changed);
    } else if (const auto* mask = std::get_if<MaskScores>(&operation)) {
      MaskScores changed = *mask;
      if (switches.leaks_future) changed.mask = Mask::padding;
      graph.replace_operation(index, changed);
      return;
    }
    along = result(operation);
  }
}

Rows rows_of(const Graph& graph, TensorId tensor, const Shape& shape, Rows rows) {
  const ShapeSpec& spec = graph.spec(tensor).shape;
  if (spec.rank() > 0 && spec[0].axis == Axis::batch) return rows;
  return {0, shape.rank() > 0 ? shape[0] : 1};
}

template <class T>
void apply_overrides(const Graph& graph, Workspace<T>& workspace, const Interventions& interventions,
                     TensorId result, Rows rows) {
  if (interventions.empty()) return;
  assert(can_be_set_by_hand(graph, result) ||
         std::ranges::none_of(interventions.overrides,
                              [&](const Override& override) { return override.tensor == result; }));
  const Shape& shape = workspace.shape(result);
  const std::span<T> values = workspace.values(result);
  UniformWeights<T> uniform(graph, workspace, result);
  for_each_overridden(interventions, result, shape, rows_of(graph, result, shape, rows),
                      [&](const Override& override, const Cell& cell, std::size_t place) {
                        switch (override.kind) {
                          case Override::Kind::constant:
                            values[place] = static_cast<T>(override.values[0]);
                            return;
                          case Override::Kind::table:
                            values[place] = static_cast<T>(table_value(override, cell));
                            return;
                          case Override::Kind::uniform:
                            values[place] = uniform.at(cell);
                            return;
                        }
                      });
}
template void apply_overrides(const Graph&, Workspace<float>&, const Interventions&, TensorId, Rows);
template void apply_overrides(const Graph&, Workspace<double>&, const Interventions&, TensorId, Rows);

template <class T>
HeldBackGradients<T>::HeldBackGradients(const Graph& graph, Workspace<T>& workspace,
                                        const Interventions* interventions, TensorId result, Rows rows)
    : workspace_(workspace), result_(result) {
  if (!interventions || interventions->empty() || !workspace.has_gradient(result)) return;
  const Shape& shape = workspace.shape(result);
  const std::span<T> gradients = workspace.gradients(result);
  for_each_overridden(*interventions, result, shape, rows_of(graph, result, shape, rows),
                      [&](const Override&, const Cell&, std::size_t place) {
                        held_.emplace_back(place, gradients[place]);
                        gradients[place] = 0;
                      });
}

template <class T>
HeldBackGradients<T>::~HeldBackGradients() {
  // backwards: where two overrides hold a cell, the first of them saw its gradient
  const std::span<T> gradients = held_.empty() ? std::span<T>() : workspace_.gradients(result_);
  for (auto held = held_.rbegin(); held != held_.rend(); ++held) gradients[held->first] = held->second;
}

template class HeldBackGradients<float>;
template class HeldBackGradients<double>;

}  // namespace headscope::core
