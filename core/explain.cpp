// The terms behind every value, one function per operation, beside the same formula as in operations.h; and
// how terms recombine. Gradients are in explain_gradient.cpp, updates in explain_update.cpp.
#include "core/explain.h"

#include "core/explain_parts.h"
#include "core/formulas.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace headscope::core {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Form form_of(Activation function) {
  switch (function) {
    case Activation::relu:
      return Form::relu;
    case Activation::gelu:
      return Form::gelu;
    case Activation::gelu_tanh:
      return Form::gelu_tanh;
  }
  return Form::relu;
}

template <class T>
struct ValueExplainer {
  const Trace<T>& trace;
  Explanation& explanation;

  const Cell& cell() const { return explanation.cell; }
  Factor factor(TensorId tensor, const Cell& at) const { return cell_factor(trace, tensor, at); }
  std::int64_t integer(TensorId tensor, const Cell& at) const {
    return static_cast<std::int64_t>(trace.value(tensor, at));
  }
  void add(Form form, std::vector<Factor> factors, std::int64_t index = -1) const {
    add_term(explanation, form, std::move(factors), index);
  }
  void add_product(Factor left, Factor right, std::int64_t index = -1) const {
    add(Form::product, {std::move(left), std::move(right)}, index);
  }
  void add_number(Factor number, std::int64_t index = -1) const {
    add(Form::product, {std::move(number)}, index);
  }
  void sum_over(Axis axis) const {
    explanation.combine = Combine::sum;
    explanation.over = axis;
  }
  void sum_one() const { sum_over(Axis::one); }

  // output[b][i][c] = table[ids[b][i]][c]
  void operator()(const Lookup& op) const {
    sum_one();
    add_number(factor(op.table, {integer(op.ids, {cell()[0], cell()[1]}), cell()[2]}));
  }

  // output[p][c] = sin or cos of p / wavelength
  void operator()(const SinusoidalPositions& op) const {
    sum_one();
    const std::int64_t c = cell()[1], d_model = trace.shape(op.output)[1];
    const std::string exponent = std::to_string(c - c % 2) + "/" + std::to_string(d_model);
    add(c % 2 == 0 ? Form::sine : Form::cosine,
        {whole(cell()[0]), constant(position_wavelength(c, d_model), "10000^{" + exponent + "}")});
  }

  // output[b][i][c] = input[b][i][c] + positions[i][c]
  void operator()(const AddPositions& op) const {
    sum_one();
    add_number(factor(op.input, cell()));
    add_number(factor(op.positions, {cell()[1], cell()[2]}));
  }

  // output[b][h][i][c] = Σ_d input[b][i][d] · weight[h][d][c] + bias[h][c]
  void operator()(const ProjectHeads& op) const {
    sum_over(Axis::model);
    const std::int64_t b = cell()[0], h = cell()[1], i = cell()[2], c = cell()[3];
    for (std::int64_t d = 0; d < trace.shape(op.input)[2]; ++d)
      add_product(factor(op.input, {b, i, d}), factor(op.weight, {h, d, c}), d);
    if (op.bias) add_number(factor(*op.bias, {h, c}));
  }

  // output[b][h][i][j] = Σ_c queries[b][h][i][c] · keys[b][h][j][c]
  void operator()(const Scores& op) const {
    sum_over(Axis::head_channel);
    const std::int64_t b = cell()[0], h = cell()[1], i = cell()[2], j = cell()[3];
    for (std::int64_t c = 0; c < trace.shape(op.queries)[3]; ++c)
      add_product(factor(op.queries, {b, h, i, c}), factor(op.keys, {b, h, j, c}), c);
  }

  // output = input / (√width · temperature)
  void operator()(const ScaleScores& op) const {
    sum_one();
    const std::optional<Factor> divisor = divisor_factor(op);
    if (!divisor) return add_number(factor(op.input, cell()));
    add(Form::quotient, {factor(op.input, cell()), *divisor});
  }

  // output[b][h][i][j] = input[b][h][i][j] + table[h][j - i + max_tokens - 1]
  void operator()(const AddRelativeBias& op) const {
    sum_one();
    const std::int64_t middle = (trace.shape(op.table)[1] - 1) / 2;
    add_number(factor(op.input, cell()));
    add_number(factor(op.table, {cell()[1], cell()[3] - cell()[2] + middle}));
  }

  // output = input, or -∞ where j ≥ lengths[b] or (causal) j > i
  void operator()(const MaskScores& op) const { explain_mask(op); }

  // output = input, or -∞ where i ≥ lengths[b]
  void operator()(const MaskPositions& op) const { explain_mask(op); }

  // output[…][j] = exp(input[…][j] - max) / Σ_k exp(input[…][k] - max)
  void operator()(const Softmax& op) const {
    const std::int64_t width = trace.shape(op.input)[op.axis];
    const auto at = [&](std::int64_t k) { return with(cell(), op.axis, k); };
    if (trace.value(op.input, cell()) == -kInfinity) return explain_masked(explanation, "masked");
    std::int64_t largest = 0;
    for (std::int64_t k = 1; k < width; ++k)
      if (trace.value(op.input, at(k)) > trace.value(op.input, at(largest))) largest = k;
    for (std::int64_t k = 0; k < width; ++k) {
      if (trace.value(op.input, at(k)) == -kInfinity) {
        ++explanation.n_masked;
        continue;
      }
      if (k == cell()[op.axis]) explanation.chosen = explanation.terms.size();
      add(Form::exponential, {factor(op.input, at(k)), factor(op.input, at(largest))}, k);
    }
    explanation.combine = Combine::share;
    explanation.over = trace.graph().spec(op.input).shape[op.axis].axis;
  }

  // output: 0 with probability rate, otherwise 1 / (1 - rate)
  void operator()(const DropoutMask& op) const {
    sum_one();
    add(Form::random, {plain(trace.value(op.output, cell()))});
  }

  // output = input · mask
  void operator()(const ApplyDropout& op) const {
    sum_one();
    add_product(factor(op.input, cell()), factor(op.mask, cell()));
  }

  // output[b][h][i][c] = Σ_j weights[b][h][i][j] · values[b][h][j][c]
  void operator()(const MixValues& op) const {
    sum_over(Axis::key);
    const std::int64_t b = cell()[0], h = cell()[1], i = cell()[2], c = cell()[3];
    for (std::int64_t j = 0; j < trace.shape(op.weights)[3]; ++j)
      add_product(factor(op.weights, {b, h, i, j}), factor(op.values, {b, h, j, c}), j);
  }

  // output[b][i][h·K + c] = input[b][h][i][c]
  void operator()(const ConcatHeads& op) const {
    sum_one();
    const std::int64_t d_head = trace.shape(op.input)[3];
    add_number(factor(op.input, {cell()[0], cell()[2] / d_head, cell()[1], cell()[2] % d_head}));
  }

  // output[b][h][i][v] = Σ_c input[b][h][i][c] · weight[h][c][v]
  void operator()(const HeadContribution& op) const {
    sum_over(Axis::head_channel);
    const std::int64_t h = cell()[1], v = cell()[3];
    for (std::int64_t c = 0; c < trace.shape(op.input)[3]; ++c)
      add_product(factor(op.input, with(cell(), 3, c)), factor(op.weight, {h, c, v}), c);
  }

  // output[…][v] = Σ_c input[…][c] · weight[c][v] + bias[v]
  void operator()(const Linear& op) const {
    const int last = cell().rank() - 1;
    sum_over(trace.graph().spec(op.input).shape[last].axis);
    const Shape& weight = trace.shape(op.weight);
    const std::int64_t v = cell()[last], n_out = weight[weight.rank() - 1];
    for (std::int64_t c = 0; c < trace.shape(op.input)[last]; ++c)
      add_product(factor(op.input, with(cell(), last, c)), factor(op.weight, weight.cell(c * n_out + v)), c);
    if (op.bias) add_number(factor(*op.bias, {v}));
  }

  // output[b][i][o][v] = Σ_c input[b][i][c] · weight[o][c][v] + bias[o][v]
  void operator()(const ProjectOutputs& op) const {
    sum_over(Axis::model);
    const std::int64_t b = cell()[0], i = cell()[1], o = cell()[2], v = cell()[3];
    for (std::int64_t c = 0; c < trace.shape(op.input)[2]; ++c)
      add_product(factor(op.input, {b, i, c}), factor(op.weight, {o, c, v}), c);
    if (op.bias) add_number(factor(*op.bias, {o, v}));
  }

  // output = left + right
  void operator()(const Add& op) const {
    sum_one();
    add_number(factor(op.left, cell()));
    add_number(factor(op.right, cell()));
  }

  // output[b][i] = Σ_c input[b][i][c] / d_model
  void operator()(const RowMean& op) const {
    sum_over(Axis::model);
    const std::int64_t d_model = trace.shape(op.input)[2];
    for (std::int64_t c = 0; c < d_model; ++c)
      add(Form::quotient, {factor(op.input, {cell()[0], cell()[1], c}), whole(d_model)}, c);
  }

  // output[b][i][c] = input[b][i][c] - mean[b][i]
  void operator()(const Centre& op) const {
    sum_one();
    add_number(factor(op.input, cell()));
    add_number(negated(factor(op.mean, {cell()[0], cell()[1]})));
  }

  // output[b][i] = 1 / √(Σ_c input[b][i][c]² / d_model + epsilon)
  void operator()(const InverseDeviation& op) const {
    explanation.combine = Combine::inverse_root;
    explanation.over = Axis::model;
    const std::int64_t d_model = trace.shape(op.input)[2];
    for (std::int64_t c = 0; c < d_model; ++c)
      add(Form::mean_square, {factor(op.input, {cell()[0], cell()[1], c}), whole(d_model)}, c);
    add_number(constant(op.epsilon, "ε"));
  }

  // output[b][i][c] = input[b][i][c] · factor[b][i]
  void operator()(const ScaleRows& op) const {
    sum_one();
    add_product(factor(op.input, cell()), factor(op.factor, {cell()[0], cell()[1]}));
  }

  // output[b][i][c] = input[b][i][c] · gain[c] + offset[c]
  void operator()(const ScaleAndShift& op) const {
    sum_one();
    add_product(factor(op.input, cell()), factor(op.gain, {cell()[2]}));
    add_number(factor(op.offset, {cell()[2]}));
  }

  // output = relu, gelu or gelu_tanh of input
  void operator()(const Activate& op) const {
    sum_one();
    add(form_of(op.function), {factor(op.input, cell())});
  }

  // output[b][c] = Σ over i < lengths[b] of input[b][i][c] / lengths[b], or input[b][0][c]
  void operator()(const Pool& op) const {
    const std::int64_t b = cell()[0], c = cell()[1];
    if (op.pooling == Pooling::first) {
      sum_one();
      return add_number(factor(op.input, {b, 0, c}));
    }
    sum_over(Axis::query);
    const std::int64_t length = integer(op.lengths, {b});
    for (std::int64_t i = 0; i < length; ++i)
      add(Form::quotient, {factor(op.input, {b, i, c}), whole(length)}, i);
  }

  // output[b][c] = input[b][positions[b]][c]
  void operator()(const SelectPosition& op) const {
    sum_one();
    add_number(factor(op.input, {cell()[0], integer(op.positions, {cell()[0]}), cell()[1]}));
  }

  // output[b][i][e] = Σ_c (start, end)[b][c] · input[b][i][c]
  void operator()(const PointAt& op) const {
    sum_over(Axis::model);
    const TensorId pointer = cell()[2] == 0 ? op.start : op.end;
    for (std::int64_t c = 0; c < trace.shape(op.input)[2]; ++c)
      add_product(factor(pointer, {cell()[0], c}), factor(op.input, {cell()[0], cell()[1], c}), c);
  }

  // output[…] = Σ_v -ln probabilities[…][v] · y[v]; without smoothing the target's term alone; 0 without a
  // target
  void operator()(const CrossEntropy& op) const {
    sum_over(trace.graph().spec(op.logits).shape[op.axis].axis);
    const std::int64_t target = integer(op.targets, cell());
    if (target < 0) return;
    std::vector<double> logits;
    for (std::int64_t v = 0; v < trace.shape(op.logits)[op.axis]; ++v)
      logits.push_back(trace.value(op.logits, inserted(cell(), op.axis, v)));
    explanation.n_masked = std::count(logits.begin(), logits.end(), -kInfinity);
    const auto n_classes = static_cast<std::int64_t>(logits.size()) - explanation.n_masked;
    for (std::size_t place = 0; place < logits.size(); ++place) {
      const auto v = static_cast<std::int64_t>(place);
      const double y = smoothed_target(op.smoothing, n_classes, v, target);
      if (y == 0 || logits[place] == -kInfinity) continue;
      std::vector<Factor> factors{factor(op.probabilities, inserted(cell(), op.axis, v))};
      if (y != 1) factors.push_back(plain(y));
      const double value = y * negative_log_probability<double>(logits, place);
      explanation.terms.push_back({Form::negative_log, std::move(factors), value, v, std::nullopt});
    }
  }

  // output[0] = Σ input / n over the n cells with a target; 0 where there is none
  void operator()(const MeanLoss& op) const {
    const Shape& shape = trace.shape(op.input);
    // what tells predictions apart: of words with one class each the word
    int side = shape.rank() - 1;
    while (side > 1 && shape[side] == 1) --side;
    sum_over(trace.graph().spec(op.input).shape[side].axis);
    const std::span<const std::int32_t> targets = trace.workspace().integers(op.targets);
    const std::int64_t n_targets =
        std::count_if(targets.begin(), targets.end(), [](std::int32_t target) { return target >= 0; });
    for (std::int64_t place = 0; place < shape.count(); ++place)
      if (targets[static_cast<std::size_t>(place)] >= 0)
        add(Form::quotient, {factor(op.input, shape.cell(place)), whole(n_targets)}, shape.cell(place)[side]);
  }

  template <class Op>
  void explain_mask(const Op& op) const {
    if (const std::string_view reason = mask_reason(trace, op, cell()); !reason.empty())
      return explain_masked(explanation, reason);
    sum_one();
    add_number(factor(op.input, cell()));
  }
};

}  // namespace

Factor plain(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%g", value);
  return constant(value, text.data());
}

std::optional<Factor> divisor_factor(const ScaleScores& op) {
  Factor divisor = constant(1, "");
  if (op.width > 0)
    divisor = constant(std::sqrt(static_cast<double>(op.width)), "√" + std::to_string(op.width));
  if (op.temperature != 1) {
    const std::string temperature = plain(op.temperature).symbol;
    divisor.symbol += divisor.symbol.empty() ? temperature : " · " + temperature;
    divisor.value *= op.temperature;
  }
  if (divisor.symbol.empty()) return std::nullopt;
  return divisor;
}

template <class T>
Explanation explain(const Trace<T>& trace, TensorId tensor, const Cell& cell) {
  return explain(trace, tensor, cell, Quantity::value);
}

template <class T>
Explanation explain(const Trace<T>& trace, TensorId tensor, const Cell& cell, Quantity quantity) {
  assert(trace.shape(tensor).contains(cell));
  Explanation explanation;
  explanation.tensor = tensor;
  explanation.cell = cell;
  explanation.quantity = quantity;
  explanation.key = leaf(trace.graph().spec(tensor).name);
  if (quantity == Quantity::gradient) {
    explain_gradient(trace, explanation);
    return explanation;
  }
  explanation.value = trace.number(tensor, cell, quantity);
  const bool is_updated = trace.update() && trace.is_updated(tensor);
  const bool is_previous = quantity == Quantity::previous_value || quantity == Quantity::previous_first ||
                           quantity == Quantity::previous_second;
  if (is_updated && !is_previous) {
    explain_update(trace, explanation);
  } else if (quantity == Quantity::value) {
    const std::optional<std::size_t> producer = trace.graph().producer(tensor);
    if (!producer) return explanation;
    if (trace.set_by_hand(tensor, cell)) {
      explanation.combine = Combine::by_hand;
      explanation.key += ".by_hand";
    } else {
      std::visit(ValueExplainer<T>{trace, explanation}, trace.graph().operations()[*producer]);
    }
  }
  return explanation;
}
template Explanation explain(const Trace<float>&, TensorId, const Cell&);
template Explanation explain(const Trace<double>&, TensorId, const Cell&);
template Explanation explain(const Trace<float>&, TensorId, const Cell&, Quantity);
template Explanation explain(const Trace<double>&, TensorId, const Cell&, Quantity);

}  // namespace headscope::core
