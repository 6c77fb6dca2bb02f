#include "simulator/sent_back.h"

#include "core/explain.h"
#include "core/formulas.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <variant>

namespace headscope::simulator {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The sums over a whole width are written out, since a page of them is made for every frame; what sends
/// back a term or two is read off the explanation. g is the gradient of the operation's result.
struct SentBack {
  const core::Trace<float>& trace;
  std::size_t operation;
  core::TensorId tensor;
  const core::Cell& cell;

  /// g[at]: 0 where a person set the result by hand, since what was computed there went nowhere.
  double upstream(core::TensorId output, const core::Cell& at) const {
    return trace.set_by_hand(output, at) ? 0 : trace.number(output, at, core::Quantity::gradient);
  }
  double weight(core::TensorId id, std::int64_t place) const {
    return static_cast<double>(trace.workspace().values(id)[static_cast<std::size_t>(place)]);
  }

  double explained() const {
    double sum = 0;
    for (const core::Term& term : core::explain(trace, tensor, cell, core::Quantity::gradient).terms)
      if (term.operation == operation) sum += term.value;
    return sum;
  }
  template <class Op>
  double operator()(const Op& /*op*/) const {
    return explained();
  }

  // Σ_h Σ_c g[b][h][i][c] · weight[h][d][c]
  double operator()(const core::ProjectHeads& op) const {
    if (tensor != op.input) return explained();
    const core::Shape& out = trace.shape(op.output);
    const std::int64_t d_model = trace.shape(op.weight)[1];
    double sum = 0;
    for (std::int64_t h = 0; h < out[1]; ++h)
      for (std::int64_t c = 0; c < out[3]; ++c)
        sum += upstream(op.output, {cell[0], h, cell[1], c}) *
               weight(op.weight, (h * d_model + cell[2]) * out[3] + c);
    return sum;
  }

  // Σ_v g[…][v] · weight[c][v]
  double operator()(const core::Linear& op) const {
    if (tensor != op.input) return explained();
    const core::Shape& out = trace.shape(op.output);
    const int last = out.rank() - 1;
    double sum = 0;
    core::Cell at = cell;
    for (std::int64_t v = 0; v < out[last]; ++v) {
      at[last] = v;
      sum += upstream(op.output, at) * weight(op.weight, cell[last] * out[last] + v);
    }
    return sum;
  }

  // Σ_o Σ_v g[b][i][o][v] · weight[o][c][v]
  double operator()(const core::ProjectOutputs& op) const {
    if (tensor != op.input) return explained();
    const core::Shape& out = trace.shape(op.output);
    const std::int64_t d_model = trace.shape(op.weight)[1];
    double sum = 0;
    for (std::int64_t o = 0; o < out[2]; ++o)
      for (std::int64_t v = 0; v < out[3]; ++v)
        sum += upstream(op.output, {cell[0], cell[1], o, v}) *
               weight(op.weight, (o * d_model + cell[2]) * out[3] + v);
    return sum;
  }

  // g, once for each side that the tensor stands on
  double operator()(const core::Add& op) const {
    const double g = upstream(op.output, cell);
    return (tensor == op.left ? g : 0) + (tensor == op.right ? g : 0);
  }
  double operator()(const core::Centre& op) const {
    return tensor == op.input ? upstream(op.output, cell) : explained();
  }
  // g[b][i] / d_model
  double operator()(const core::RowMean& op) const {
    return upstream(op.output, {cell[0], cell[1]}) / static_cast<double>(trace.shape(op.input)[2]);
  }
};

}  // namespace

double sent_back(const core::Trace<float>& trace, std::size_t operation, core::TensorId tensor,
                 const core::Cell& cell) {
  return std::visit(SentBack{trace, operation, tensor, cell}, trace.graph().operations()[operation]);
}

double own_share(const core::Trace<float>& trace, const core::Softmax& softmax, const core::Cell& cell,
                 std::int64_t k) {
  const auto at = [&](std::int64_t index) {
    core::Cell other = cell;
    other[softmax.axis] = index;
    return other;
  };
  const std::int64_t n = trace.shape(softmax.input)[softmax.axis];
  const auto is_by_hand = [&] {
    for (std::int64_t index = 0; index < n; ++index)
      if (trace.set_by_hand(softmax.output, at(index)) != nullptr) return true;
    return false;
  };
  if (!trace.interventions() || !is_by_hand()) return trace.value(softmax.output, at(k));
  double largest = -kInfinity, sum = 0;
  for (std::int64_t index = 0; index < n; ++index)
    largest = std::max(largest, trace.value(softmax.input, at(index)));
  if (largest == -kInfinity) return 0;
  for (std::int64_t index = 0; index < n; ++index)
    sum += std::exp(trace.value(softmax.input, at(index)) - largest);
  return std::exp(trace.value(softmax.input, at(k)) - largest) / sum;
}

double local_derivative(const core::Trace<float>& trace, const core::Softmax& softmax, const core::Cell& cell,
                        std::int64_t k, std::int64_t j) {
  return own_share(trace, softmax, cell, k) * ((k == j ? 1 : 0) - own_share(trace, softmax, cell, j));
}

double target_share(const core::Trace<float>& trace, const core::CrossEntropy& op, const core::Cell& cell) {
  core::Cell row;
  for (int place = 0; place < cell.rank(); ++place)
    if (place != op.axis) row.push_back(cell[place]);
  const auto target = static_cast<std::int64_t>(trace.value(op.targets, row));
  if (target < 0 || trace.value(op.logits, cell) == -kInfinity) return 0;
  if (op.smoothing == 0) return cell[op.axis] == target ? 1 : 0;
  std::int64_t n_classes = 0;
  for (std::int64_t v = 0; v < trace.shape(op.logits)[op.axis]; ++v) {
    core::Cell at = cell;
    at[op.axis] = v;
    n_classes += trace.value(op.logits, at) > -kInfinity ? 1 : 0;
  }
  return core::smoothed_target(op.smoothing, n_classes, cell[op.axis], target);
}

}  // namespace headscope::simulator
