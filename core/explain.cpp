// The terms behind every cell, one function per operation, beside the same formula as in operations.cpp.
#include "core/explain.h"

#include "core/formulas.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace headscope::core {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// `cell` with the index at `place` replaced.
Cell with(Cell cell, int place, std::int64_t index) {
  cell[place] = index;
  return cell;
}

Factor constant(double value, std::string symbol) {
  return {value, std::nullopt, {}, std::move(symbol)};
}

template <class T>
struct Explainer {
  const Trace<T>& trace;
  Explanation& explanation;

  const Cell& cell() const { return explanation.cell; }
  Factor factor(TensorId tensor, const Cell& at) const { return {trace.value(tensor, at), tensor, at, {}}; }
  std::int64_t integer(TensorId tensor, const Cell& at) const {
    return static_cast<std::int64_t>(trace.value(tensor, at));
  }
  void add_term(Form form, std::vector<Factor> factors, double value, std::int64_t index = -1) const {
    explanation.terms.push_back({form, std::move(factors), value, index});
  }
  void add_product(Factor left, Factor right, std::int64_t index) const {
    const double value = left.value * right.value;
    add_term(Form::product, {std::move(left), std::move(right)}, value, index);
  }
  void add_number(Factor number, std::int64_t index = -1) const {
    const double value = number.value;
    add_term(Form::product, {std::move(number)}, value, index);
  }
  void sum_over(Axis axis) const {
    explanation.combine = Combine::sum;
    explanation.over = axis;
  }

  // output[b][i][c] = table[ids[b][i]][c]
  void operator()(const Lookup& op) const {
    sum_over(Axis::one);
    add_number(factor(op.table, {integer(op.ids, {cell()[0], cell()[1]}), cell()[2]}));
  }

  // output[p][c] = sin or cos of p / wavelength
  void operator()(const SinusoidalPositions& op) const {
    sum_over(Axis::one);
    const std::int64_t c = cell()[1], d_model = trace.shape(op.output)[1];
    const double p = static_cast<double>(cell()[0]), wavelength = position_wavelength(c, d_model);
    const std::string exponent = std::to_string(c - c % 2) + "/" + std::to_string(d_model);
    add_term(c % 2 == 0 ? Form::sine : Form::cosine,
             {constant(p, std::to_string(cell()[0])), constant(wavelength, "10000^{" + exponent + "}")},
             c % 2 == 0 ? std::sin(p / wavelength) : std::cos(p / wavelength));
  }

  // output[b][i][c] = input[b][i][c] + positions[i][c]
  void operator()(const AddPositions& op) const {
    sum_over(Axis::one);
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

  // output = input / √width
  void operator()(const ScaleScores& op) const {
    sum_over(Axis::one);
    const Factor score = factor(op.input, cell());
    if (op.width == 0) return add_number(score);
    const double root = std::sqrt(static_cast<double>(op.width));
    add_term(Form::quotient, {score, constant(root, "√" + std::to_string(op.width))}, score.value / root);
  }

  // output = input, or -∞ where j ≥ lengths[b] or (causal) j > i
  void operator()(const MaskScores& op) const {
    const std::int64_t b = cell()[0], i = cell()[2], j = cell()[3];
    if (op.mask == Mask::causal_and_padding && j > i) return masked("causal");
    if (j >= integer(op.lengths, {b})) return masked("padding");
    sum_over(Axis::one);
    add_number(factor(op.input, cell()));
  }

  // output[…][j] = exp(input[…][j] - max) / Σ_k exp(input[…][k] - max)
  void operator()(const Softmax& op) const {
    const int last = cell().rank() - 1;
    const std::int64_t width = trace.shape(op.input)[last];
    std::int64_t largest = 0;
    for (std::int64_t k = 1; k < width; ++k)
      if (trace.value(op.input, with(cell(), last, k)) > trace.value(op.input, with(cell(), last, largest)))
        largest = k;
    const Factor maximum = factor(op.input, with(cell(), last, largest));
    for (std::int64_t k = 0; k < width; ++k) {
      const Factor score = factor(op.input, with(cell(), last, k));
      if (score.value == -kInfinity) {
        ++explanation.n_masked;
        continue;
      }
      if (k == cell()[last]) explanation.chosen = explanation.terms.size();
      add_term(Form::exponential, {score, maximum}, std::exp(score.value - maximum.value), k);
    }
    if (trace.value(op.input, cell()) == -kInfinity) {
      explanation.terms.clear();
      return masked("masked");
    }
    explanation.combine = Combine::share;
    explanation.over = trace.graph().spec(op.input).shape[last].axis;
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
    sum_over(Axis::one);
    const std::int64_t d_head = trace.shape(op.input)[3];
    add_number(factor(op.input, {cell()[0], cell()[2] / d_head, cell()[1], cell()[2] % d_head}));
  }

  // output[b][i][v] = Σ_c input[b][i][c] · weight[c][v] + bias[v]
  void operator()(const Linear& op) const {
    sum_over(trace.graph().spec(op.input).shape[2].axis);
    const Shape& weight = trace.shape(op.weight);
    const std::int64_t n_out = weight[weight.rank() - 1];
    for (std::int64_t c = 0; c < trace.shape(op.input)[2]; ++c)
      add_product(factor(op.input, {cell()[0], cell()[1], c}),
                  factor(op.weight, weight.cell(c * n_out + cell()[2])), c);
    if (op.bias) add_number(factor(*op.bias, {cell()[2]}));
  }

  // output = left + right
  void operator()(const Add& op) const {
    sum_over(Axis::one);
    add_number(factor(op.left, cell()));
    add_number(factor(op.right, cell()));
  }

  // output[0] = Σ over targets of -ln p[b][i][target] / n_targets
  void operator()(const CrossEntropy& op) const {
    sum_over(Axis::query);
    const Shape& shape = trace.shape(op.logits);
    const std::span<const std::int32_t> targets = trace.workspace().integers(op.targets);
    const auto n_targets = static_cast<double>(
        std::count_if(targets.begin(), targets.end(), [](std::int32_t t) { return t >= 0; }));
    std::vector<double> logits(static_cast<std::size_t>(shape[2]));
    for (std::int64_t row = 0; row < shape[0] * shape[1]; ++row) {
      const std::int64_t target = targets[static_cast<std::size_t>(row)];
      if (target < 0) continue;
      const std::span<const T> stored = trace.workspace().values(op.logits);
      std::copy_n(stored.begin() + row * shape[2], shape[2], logits.begin());
      const double surprise =
          negative_log_probability<double>(logits, static_cast<std::size_t>(target)) / n_targets;
      add_term(Form::negative_log,
               {factor(op.probabilities, {row / shape[1], row % shape[1], target}),
                constant(n_targets, std::to_string(static_cast<std::int64_t>(n_targets)))},
               surprise, row % shape[1]);
    }
  }

  void masked(std::string_view reason) const {
    explanation.combine = Combine::masked;
    explanation.key += '.';
    explanation.key += reason;
  }
};

}  // namespace

double Explanation::combined() const {
  const auto add = [](double sum, const Term& term) { return sum + term.value; };
  switch (combine) {
    case Combine::given:
      return value;
    case Combine::masked:
      return std::isinf(value) ? -kInfinity : 0.0;
    case Combine::sum:
      return std::accumulate(terms.begin(), terms.end(), 0.0, add);
    case Combine::share:
      return terms[chosen].value / std::accumulate(terms.begin(), terms.end(), 0.0, add);
  }
  return value;
}

double Explanation::magnitude() const {
  // exp() turns the rounding of its argument, in proportion to that, into a relative error of the share
  if (combine == Combine::share) {
    const std::vector<Factor>& factors = terms[chosen].factors;
    return std::abs(combined()) * (1 + std::abs(factors[0].value - factors[1].value));
  }
  return std::accumulate(terms.begin(), terms.end(), 0.0,
                         [](double sum, const Term& term) { return sum + std::abs(term.value); });
}

template <class T>
Explanation explain(const Trace<T>& trace, TensorId tensor, const Cell& cell) {
  assert(trace.shape(tensor).contains(cell));
  Explanation explanation;
  explanation.tensor = tensor;
  explanation.cell = cell;
  explanation.value = trace.value(tensor, cell);
  explanation.key = leaf(trace.graph().spec(tensor).name);
  if (const std::optional<std::size_t> producer = trace.graph().producer(tensor))
    std::visit(Explainer<T>{trace, explanation}, trace.graph().operations()[*producer]);
  return explanation;
}
template Explanation explain(const Trace<float>&, TensorId, const Cell&);
template Explanation explain(const Trace<double>&, TensorId, const Cell&);

}  // namespace headscope::core
