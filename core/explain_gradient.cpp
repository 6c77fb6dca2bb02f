// The terms behind every gradient: for each operation what it sends back to each of its operands, beside the
// forward formula that it differentiates. g is the gradient of the operation's result.
#include "core/explain_parts.h"
#include "core/formulas.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace headscope::core {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Form slope_form(Activation function) {
  switch (function) {
    case Activation::relu:
      return Form::relu_slope;
    case Activation::gelu:
      return Form::gelu_slope;
    case Activation::gelu_tanh:
      return Form::gelu_tanh_slope;
  }
  return Form::relu_slope;
}

/// Appends what one operation sent back to the explanation's cell.
template <class T>
struct GradientExplainer {
  const Trace<T>& trace;
  Explanation& explanation;
  std::size_t operation;
  std::string_view& masked_reason;  // set where a mask lets nothing through

  TensorId tensor() const { return explanation.tensor; }
  const Cell& cell() const { return explanation.cell; }
  Factor number(TensorId of, const Cell& at) const { return cell_factor(trace, of, at); }
  std::int64_t integer(TensorId of, const Cell& at) const {
    return static_cast<std::int64_t>(trace.value(of, at));
  }
  Axis axis(TensorId of, int place) const { return trace.graph().spec(of).shape[place].axis; }

  /// g[at]: none where a person set output[at] by hand, since what was computed there went nowhere.
  std::optional<Factor> upstream(TensorId output, const Cell& at) const {
    if (trace.set_by_hand(output, at)) {
      ++explanation.n_by_hand;
      return std::nullopt;
    }
    const bool is_loss = !trace.workspace().has_gradient(output);
    return is_loss ? constant(1, "∂L/∂L") : cell_factor(trace, output, at, Quantity::gradient);
  }
  void append(Form form, std::vector<Factor> factors, Axis over, std::int64_t index) const {
    if (index >= 0)
      explanation.over = explanation.terms.empty() || explanation.over == over ? over : Axis::one;
    add_term(explanation, form, std::move(factors), index);
    explanation.terms.back().operation = operation;
  }
  /// A term of g[at] and the factors. `index` counts along `over`.
  void send(TensorId output, const Cell& at, std::vector<Factor> factors, Axis over = Axis::one,
            std::int64_t index = -1, Form form = Form::product) const {
    std::optional<Factor> g = upstream(output, at);
    if (!g) return;
    factors.insert(factors.begin(), *std::move(g));
    append(form, std::move(factors), over, index);
  }
  void send(TensorId output, const Cell& at) const { send(output, at, {}); }

  /// visit(b, i) for the cells of a tensor's first two sides.
  template <class Visit>
  void each_token(TensorId of, const Visit& visit) const {
    const Shape& shape = trace.shape(of);
    for (std::int64_t b = 0; b < shape[0]; ++b)
      for (std::int64_t i = 0; i < shape[1]; ++i) visit(b, i);
  }

  // forward: output[b][i][c] = table[ids[b][i]][c]
  void operator()(const Lookup& op) const {
    each_token(op.ids, [&](std::int64_t b, std::int64_t i) {
      if (integer(op.ids, {b, i}) == cell()[0]) send(op.output, {b, i, cell()[1]}, {}, Axis::query, i);
    });
  }

  // nothing to send
  void operator()(const SinusoidalPositions&) const {}
  void operator()(const DropoutMask&) const {}
  void operator()(const HeadContribution&) const {}

  // forward: output[b][i][c] = input[b][i][c] + positions[i][c]
  void operator()(const AddPositions& op) const {
    const Shape& out = trace.shape(op.output);
    if (tensor() == op.input) send(op.output, cell());
    if (tensor() == op.positions && cell()[0] < out[1])
      for (std::int64_t b = 0; b < out[0]; ++b)
        send(op.output, {b, cell()[0], cell()[1]}, {}, Axis::batch, b);
  }

  // forward: output[b][h][i][c] = Σ_d input[b][i][d] · weight[h][d][c] + bias[h][c]
  void operator()(const ProjectHeads& op) const {
    const Shape& out = trace.shape(op.output);
    if (tensor() == op.input)
      for (std::int64_t h = 0; h < out[1]; ++h)
        for (std::int64_t c = 0; c < out[3]; ++c)
          send(op.output, {cell()[0], h, cell()[1], c}, {number(op.weight, {h, cell()[2], c})}, Axis::concat,
               h * out[3] + c);
    if (tensor() == op.weight)
      each_token(op.input, [&](std::int64_t b, std::int64_t i) {
        send(op.output, {b, cell()[0], i, cell()[2]}, {number(op.input, {b, i, cell()[1]})}, Axis::query, i);
      });
    if (tensor() == op.bias)
      each_token(op.input, [&](std::int64_t b, std::int64_t i) {
        send(op.output, {b, cell()[0], i, cell()[1]}, {}, Axis::query, i);
      });
  }

  // forward: output[b][h][i][j] = Σ_c queries[b][h][i][c] · keys[b][h][j][c]
  void operator()(const Scores& op) const {
    const Shape& out = trace.shape(op.output);
    const Cell& at = cell();
    if (tensor() == op.queries)
      for (std::int64_t j = 0; j < out[3]; ++j)
        send(op.output, {at[0], at[1], at[2], j}, {number(op.keys, {at[0], at[1], j, at[3]})}, Axis::key, j);
    if (tensor() == op.keys)
      for (std::int64_t i = 0; i < out[2]; ++i)
        send(op.output, {at[0], at[1], i, at[2]}, {number(op.queries, {at[0], at[1], i, at[3]})}, Axis::query,
             i);
  }

  // forward: output = input / (√width · temperature)
  void operator()(const ScaleScores& op) const {
    const std::optional<Factor> divisor = divisor_factor(op);
    if (!divisor) return send(op.output, cell());
    send(op.output, cell(), {*divisor}, Axis::one, -1, Form::quotient);
  }

  // forward: output[b][h][i][j] = input[b][h][i][j] + table[h][j - i + max_tokens - 1]
  void operator()(const AddRelativeBias& op) const {
    const Shape& out = trace.shape(op.output);
    if (tensor() == op.input) send(op.output, cell());
    if (tensor() != op.table) return;
    const std::int64_t distance = cell()[1] - (trace.shape(op.table)[1] - 1) / 2;  // j - i
    for (std::int64_t b = 0; b < out[0]; ++b)
      for (std::int64_t i = std::max<std::int64_t>(0, -distance); i < out[2] && i + distance < out[3]; ++i)
        send(op.output, {b, cell()[0], i, i + distance}, {}, Axis::query, i);
  }

  // forward: output = input, or -∞ where j ≥ lengths[b] or (causal) j > i: there nothing comes back
  void operator()(const MaskScores& op) const { send_unless_masked(op); }

  // forward: output = input, or -∞ where i ≥ lengths[b]
  void operator()(const MaskPositions& op) const { send_unless_masked(op); }

  template <class Op>
  void send_unless_masked(const Op& op) const {
    if (const std::string_view reason = mask_reason(trace, op, cell()); !reason.empty())
      masked_reason = reason;
    else
      send(op.output, cell());
  }

  /// What the softmax itself made of a cell: its Jacobian is of that, also where another number was set by
  /// hand.
  Factor own_share(const Softmax& op, const Cell& at) const {
    if (!trace.set_by_hand(op.output, at)) return number(op.output, at);
    double largest = -kInfinity, sum = 0;
    for (std::int64_t k = 0; k < trace.shape(op.input)[op.axis]; ++k)
      largest = std::max(largest, trace.value(op.input, with(at, op.axis, k)));
    for (std::int64_t k = 0; k < trace.shape(op.input)[op.axis]; ++k)
      sum += std::exp(trace.value(op.input, with(at, op.axis, k)) - largest);
    return constant(std::exp(trace.value(op.input, at) - largest) / sum, "softmax");
  }

  // forward: w = softmax(s); ∂w_k / ∂s_j = w_k · (δ_jk - w_j): the Jacobian's row of j, key by key
  void operator()(const Softmax& op) const {
    const std::int64_t j = cell()[op.axis];
    const auto at = [&](std::int64_t k) { return with(cell(), op.axis, k); };
    if (trace.value(op.input, cell()) == -kInfinity) {
      masked_reason = "masked";
      return;
    }
    for (std::int64_t k = 0; k < trace.shape(op.input)[op.axis]; ++k) {
      if (trace.value(op.input, at(k)) == -kInfinity) {
        ++explanation.n_masked;  // w_k is exactly 0
        continue;
      }
      const Factor own = own_share(op, cell());
      send(op.output, at(k), {own_share(op, at(k)), k == j ? complement(own) : negated(own)},
           axis(op.output, op.axis), k);
    }
  }

  // forward: output = input · mask
  void operator()(const ApplyDropout& op) const { send(op.output, cell(), {number(op.mask, cell())}); }

  // forward: output[b][h][i][c] = Σ_j weights[b][h][i][j] · values[b][h][j][c]
  void operator()(const MixValues& op) const {
    const Cell& at = cell();
    const std::int64_t n_queries = trace.shape(op.output)[2], d_head = trace.shape(op.output)[3];
    if (tensor() == op.weights)
      for (std::int64_t c = 0; c < d_head; ++c)
        send(op.output, {at[0], at[1], at[2], c}, {number(op.values, {at[0], at[1], at[3], c})},
             Axis::head_channel, c);
    if (tensor() == op.values)
      for (std::int64_t i = 0; i < n_queries; ++i)
        send(op.output, {at[0], at[1], i, at[3]}, {number(op.weights, {at[0], at[1], i, at[2]})}, Axis::query,
             i);
  }

  // forward: output[b][i][h·d_head + c] = input[b][h][i][c]
  void operator()(const ConcatHeads& op) const {
    send(op.output, {cell()[0], cell()[2], cell()[1] * trace.shape(op.input)[3] + cell()[3]});
  }

  // forward: output[…][v] = Σ_c input[…][c] · weight[c][v] + bias[v]
  void operator()(const Linear& op) const {
    const Shape &out = trace.shape(op.output), &weight = trace.shape(op.weight);
    const int last = out.rank() - 1;
    const std::int64_t n_out = out[last];
    if (tensor() == op.input)
      for (std::int64_t v = 0; v < n_out; ++v)
        send(op.output, with(cell(), last, v), {number(op.weight, weight.cell(cell()[last] * n_out + v))},
             axis(op.output, last), v);
    const bool is_weight = tensor() == op.weight;
    if (!is_weight && tensor() != op.bias) return;
    const std::int64_t place = is_weight ? weight.flat(cell()) : cell()[0];
    for (std::int64_t row = 0; row < out.count() / n_out; ++row) {
      const Cell at = out.cell(row * n_out + place % n_out);
      std::vector<Factor> factors;
      if (is_weight) factors.push_back(number(op.input, with(at, last, place / n_out)));
      send(op.output, at, std::move(factors), axis(op.output, last - 1), at[last - 1]);
    }
  }

  // forward: output[b][i][o][v] = Σ_c input[b][i][c] · weight[o][c][v] + bias[o][v]
  void operator()(const ProjectOutputs& op) const {
    const Shape& out = trace.shape(op.output);
    const Cell& own = cell();
    if (tensor() == op.input)
      for (std::int64_t o = 0; o < out[2]; ++o)
        for (std::int64_t v = 0; v < out[3]; ++v)
          send(op.output, {own[0], own[1], o, v}, {number(op.weight, {o, own[2], v})}, Axis::class_label, v);
    if (tensor() == op.weight)
      each_token(op.input, [&](std::int64_t b, std::int64_t i) {
        send(op.output, {b, i, own[0], own[2]}, {number(op.input, {b, i, own[1]})}, Axis::query, i);
      });
    if (tensor() == op.bias)
      each_token(op.input, [&](std::int64_t b, std::int64_t i) {
        send(op.output, {b, i, own[0], own[1]}, {}, Axis::query, i);
      });
  }

  // forward: output = left + right
  void operator()(const Add& op) const {
    if (tensor() == op.left) send(op.output, cell());
    if (tensor() == op.right) send(op.output, cell());
  }

  // forward: output[b][i] = Σ_c input[b][i][c] / d_model
  void operator()(const RowMean& op) const {
    send(op.output, {cell()[0], cell()[1]}, {whole(trace.shape(op.input)[2])}, Axis::one, -1, Form::quotient);
  }

  // forward: output[b][i][c] = input[b][i][c] - mean[b][i]
  void operator()(const Centre& op) const {
    if (tensor() == op.input) send(op.output, cell());
    if (tensor() != op.mean) return;
    for (std::int64_t c = 0; c < trace.shape(op.output)[2]; ++c)
      if (const std::optional<Factor> g = upstream(op.output, {cell()[0], cell()[1], c}))
        append(Form::product, {negated(*g)}, Axis::model, c);
  }

  // forward: r = (Σ_c x_c² / D + ε)^(-1/2); ∂r / ∂x_c = -r³ · x_c / D
  void operator()(const InverseDeviation& op) const {
    const Cell row{cell()[0], cell()[1]};
    const std::int64_t d_model = trace.shape(op.input)[2];
    const Factor r = number(op.output, row);
    send(op.output, row,
         {r, r, r, number(op.input, cell()),
          constant(-1 / static_cast<double>(d_model), "-1/" + std::to_string(d_model))});
  }

  // forward: output[b][i][c] = input[b][i][c] · factor[b][i]
  void operator()(const ScaleRows& op) const {
    if (tensor() == op.input) send(op.output, cell(), {number(op.factor, {cell()[0], cell()[1]})});
    if (tensor() != op.factor) return;
    for (std::int64_t c = 0; c < trace.shape(op.output)[2]; ++c) {
      const Cell at{cell()[0], cell()[1], c};
      send(op.output, at, {number(op.input, at)}, Axis::model, c);
    }
  }

  // forward: output[b][i][c] = input[b][i][c] · gain[c] + offset[c]
  void operator()(const ScaleAndShift& op) const {
    if (tensor() == op.input) send(op.output, cell(), {number(op.gain, {cell()[2]})});
    if (tensor() == op.gain)
      each_token(op.input, [&](std::int64_t b, std::int64_t i) {
        const Cell at{b, i, cell()[0]};
        send(op.output, at, {number(op.input, at)}, Axis::query, i);
      });
    if (tensor() == op.offset)
      each_token(op.input, [&](std::int64_t b, std::int64_t i) {
        send(op.output, {b, i, cell()[0]}, {}, Axis::query, i);
      });
  }

  // forward: output = f(input)
  void operator()(const Activate& op) const {
    send(op.output, cell(), {number(op.input, cell())}, Axis::one, -1, slope_form(op.function));
  }

  // forward: output[b][c] = Σ over i < lengths[b] of input[b][i][c] / lengths[b], or input[b][0][c]
  void operator()(const Pool& op) const {
    const Cell at{cell()[0], cell()[2]};
    const std::int64_t length = integer(op.lengths, {cell()[0]});
    if (op.pooling == Pooling::first && cell()[1] == 0) send(op.output, at);
    if (op.pooling == Pooling::mean && cell()[1] < length)
      send(op.output, at, {whole(length)}, Axis::one, -1, Form::quotient);
  }

  // forward: output[b][c] = input[b][positions[b]][c]
  void operator()(const SelectPosition& op) const {
    if (cell()[1] == integer(op.positions, {cell()[0]})) send(op.output, {cell()[0], cell()[2]});
  }

  // forward: output[b][i][e] = Σ_c (start, end)[b][c] · input[b][i][c]
  void operator()(const PointAt& op) const {
    const TensorId pointers[] = {op.start, op.end};
    for (std::int64_t e = 0; e < 2; ++e) {
      const TensorId pointer = pointers[e];
      if (tensor() == pointer)
        for (std::int64_t i = 0; i < trace.shape(op.output)[1]; ++i)
          send(op.output, {cell()[0], i, e}, {number(op.input, {cell()[0], i, cell()[1]})}, Axis::query, i);
      if (tensor() == op.input)
        send(op.output, {cell()[0], cell()[1], e}, {number(pointer, {cell()[0], cell()[2]})}, Axis::edge, e);
    }
  }

  // forward: output = -Σ_v y[v] · ln softmax(logits)[v]; ∂output / ∂logits[v] = probabilities[v] - y[v]
  void operator()(const CrossEntropy& op) const {
    const Cell row = without(cell(), op.axis);
    const std::int64_t target = integer(op.targets, row);
    if (target < 0) return;
    if (trace.value(op.logits, cell()) == -kInfinity) {
      masked_reason = "masked";
      return;
    }
    std::int64_t n_classes = 0;  // that are not masked: the smoothed target lies on those alone
    for (std::int64_t v = 0; v < trace.shape(op.logits)[op.axis]; ++v)
      n_classes += trace.value(op.logits, with(cell(), op.axis, v)) > -kInfinity ? 1 : 0;
    const double y = smoothed_target(op.smoothing, n_classes, cell()[op.axis], target);
    send(op.output, row, {number(op.probabilities, cell()), plain(y)}, Axis::one, -1, Form::error);
  }

  // forward: output[0] = Σ input / n over the n cells with a target
  void operator()(const MeanLoss& op) const {
    const std::span<const std::int32_t> targets = trace.workspace().integers(op.targets);
    if (targets[static_cast<std::size_t>(trace.shape(op.input).flat(cell()))] < 0) return;
    const std::int64_t n_targets =
        std::count_if(targets.begin(), targets.end(), [](std::int32_t target) { return target >= 0; });
    send(op.output, {0}, {whole(n_targets)}, Axis::one, -1, Form::quotient);
  }
};

}  // namespace

template <class T>
void explain_gradient(const Trace<T>& trace, Explanation& explanation) {
  const TensorId tensor = explanation.tensor;
  const Workspace<T>& workspace = trace.workspace();
  explanation.key = "grad." + explanation.key;
  if (!workspace.has_gradient(tensor)) {
    explanation.value = workspace.gradient_plan().has_loss() && tensor == workspace.gradient_plan().loss();
    return;
  }
  explanation.combine = Combine::sum;
  // what has not been written yet is 0: the numbers there are from an earlier pass
  if (trace.gradient_writers_done(tensor) > 0)
    explanation.value = trace.number(tensor, explanation.cell, Quantity::gradient);
  std::string_view masked_reason;
  for (const std::size_t place : workspace.gradient_plan().writers(tensor)) {
    if (place >= trace.backward_done()) break;
    const std::size_t operation = workspace.gradient_plan().operations()[place];
    std::visit(GradientExplainer<T>{trace, explanation, operation, masked_reason},
               trace.graph().operations()[operation]);
  }
  if (explanation.terms.empty() && explanation.n_by_hand == 0 && !masked_reason.empty())
    explain_masked(explanation, masked_reason);
}
template void explain_gradient(const Trace<float>&, Explanation&);
template void explain_gradient(const Trace<double>&, Explanation&);

}  // namespace headscope::core
