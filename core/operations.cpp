// Forward arithmetic of every operation. Each is a plain loop or a product; the formula stands above it.
#include "core/execute.h"
#include "core/formulas.h"
#include "core/matrix.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>
#include <limits>
#include <span>
#include <utility>
#include <variant>

namespace headscope::core {
namespace {

template <class T>
struct ForwardRunner {
  Workspace<T>& workspace;

  const Shape& shape(TensorId tensor) const { return workspace.shape(tensor); }
  const T* read(TensorId tensor) const { return std::as_const(workspace).values(tensor).data(); }
  T* write(TensorId tensor) const { return workspace.values(tensor).data(); }

  // output[b][i][:] = table[ids[b][i]][:]
  void operator()(const Lookup& op) const {
    const std::int64_t n_model = shape(op.table)[1];
    const T* table = read(op.table);
    T* output = write(op.output);
    for (std::int32_t id : workspace.integers(op.ids)) {
      assert(id >= 0 && id < shape(op.table)[0]);
      output = std::copy_n(table + id * n_model, n_model, output);
    }
  }

  // output[p][2c] = sin(p / 10000^(2c/D)), output[p][2c+1] = cos(same); in double, so that both precisions
  // agree
  void operator()(const SinusoidalPositions& op) const {
    const Shape& out = shape(op.output);
    T* output = write(op.output);
    for (std::int64_t p = 0; p < out[0]; ++p)
      for (std::int64_t c = 0; c < out[1]; ++c) {
        const double angle = static_cast<double>(p) / position_wavelength(c, out[1]);
        *output++ = static_cast<T>(c % 2 == 0 ? std::sin(angle) : std::cos(angle));
      }
  }

  // output[b][i][:] = input[b][i][:] + positions[i][:]
  void operator()(const AddPositions& op) const {
    const Shape& out = shape(op.output);
    const T* input = read(op.input);
    T* output = write(op.output);
    for (std::int64_t b = 0; b < out[0]; ++b) {
      const T* position = read(op.positions);
      for (std::int64_t cell = 0; cell < out[1] * out[2]; ++cell) *output++ = *input++ + *position++;
    }
  }

  // output[b][h] = input[b] · weight[h] + bias[h]; head by head, so that a head's bits do not depend on its
  // index
  void operator()(const ProjectHeads& op) const {
    const Shape& out = shape(op.output);  // [n_batch, n_heads, i, d_head]
    const std::int64_t n_tokens = out[2], d_head = out[3], d_model = shape(op.input)[2];
    for (std::int64_t b = 0; b < out[0]; ++b)
      for (std::int64_t h = 0; h < out[1]; ++h) {
        T* block = write(op.output) + (b * out[1] + h) * n_tokens * d_head;
        multiply<T>({read(op.input) + b * n_tokens * d_model, n_tokens, d_model, d_model},
                    {read(op.weight) + h * d_model * d_head, d_model, d_head, d_head}, Transpose::no,
                    {block, n_tokens, d_head, d_head});
        if (op.bias)
          add_to_rows(read(*op.bias) + h * d_head, d_head,
                      {block, static_cast<std::size_t>(n_tokens * d_head)});
      }
  }

  // output[b][h] = queries[b][h] · keys[b][h]ᵀ
  void operator()(const Scores& op) const {
    const Shape& out = shape(op.output);  // [n_batch, n_heads, i, j]
    const std::int64_t d_head = shape(op.queries)[3];
    for (std::int64_t bh = 0; bh < out[0] * out[1]; ++bh)
      multiply<T>({read(op.queries) + bh * out[2] * d_head, out[2], d_head, d_head},
                  {read(op.keys) + bh * out[3] * d_head, out[3], d_head, d_head}, Transpose::yes,
                  {write(op.output) + bh * out[2] * out[3], out[2], out[3], out[3]});
  }

  // output = input / √width
  void operator()(const ScaleScores& op) const {
    const T divisor = op.width > 0 ? std::sqrt(static_cast<T>(op.width)) : T{1};
    const std::span<const T> input = std::as_const(workspace).values(op.input);
    std::transform(input.begin(), input.end(), write(op.output),
                   [divisor](T score) { return score / divisor; });
  }

  // output[b][h][i][j] = input, or -∞ where j ≥ lengths[b] or (causal) j > i
  void operator()(const MaskScores& op) const {
    const Shape& out = shape(op.output);
    const std::span<const std::int32_t> lengths = std::as_const(workspace).integers(op.lengths);
    const T* input = read(op.input);
    T* output = write(op.output);
    for (std::int64_t b = 0; b < out[0]; ++b)
      for (std::int64_t h = 0; h < out[1]; ++h)
        for (std::int64_t i = 0; i < out[2]; ++i) {
          std::int64_t n_visible = std::min<std::int64_t>(lengths[static_cast<std::size_t>(b)], out[3]);
          if (op.mask == Mask::causal_and_padding) n_visible = std::min(n_visible, i + 1);
          std::copy_n(input, n_visible, output);
          std::fill(output + n_visible, output + out[3], -std::numeric_limits<T>::infinity());
          input += out[3], output += out[3];
        }
  }

  // output[…][:] = softmax(input[…][:])
  void operator()(const Softmax& op) const {
    const Shape& out = shape(op.output);
    const std::int64_t width = out[out.rank() - 1];
    const T* input = read(op.input);
    T* output = write(op.output);
    for (std::int64_t row = 0; row < out.count() / width; ++row, input += width, output += width)
      softmax_row({input, static_cast<std::size_t>(width)}, output);
  }

  static void softmax_row(std::span<const T> scores, T* weights) {
    const T largest = *std::max_element(scores.begin(), scores.end());
    if (largest == -std::numeric_limits<T>::infinity()) {  // every key masked: no weight anywhere
      std::fill_n(weights, scores.size(), T{0});
      return;
    }
    // subtract the row maximum: exp() stays finite, the result is unchanged
    T sum = 0;
    for (std::size_t j = 0; j < scores.size(); ++j) sum += weights[j] = std::exp(scores[j] - largest);
    for (std::size_t j = 0; j < scores.size(); ++j) weights[j] /= sum;
  }

  // output[b][h] = weights[b][h] · values[b][h]
  void operator()(const MixValues& op) const {
    const Shape& weights = shape(op.weights);  // [n_batch, n_heads, i, j]
    const std::int64_t n_queries = weights[2], n_keys = weights[3], d_head = shape(op.values)[3];
    for (std::int64_t bh = 0; bh < weights[0] * weights[1]; ++bh)
      multiply<T>({read(op.weights) + bh * n_queries * n_keys, n_queries, n_keys, n_keys},
                  {read(op.values) + bh * n_keys * d_head, n_keys, d_head, d_head}, Transpose::no,
                  {write(op.output) + bh * n_queries * d_head, n_queries, d_head, d_head});
  }

  // output[b][i][h·K + c] = input[b][h][i][c]
  void operator()(const ConcatHeads& op) const {
    const Shape& in = shape(op.input);  // [n_batch, n_heads, i, d_head]
    const T* input = read(op.input);
    T* output = write(op.output);
    for (std::int64_t b = 0; b < in[0]; ++b)
      for (std::int64_t h = 0; h < in[1]; ++h)
        for (std::int64_t i = 0; i < in[2]; ++i, input += in[3])
          std::copy_n(input, in[3], output + ((b * in[2] + i) * in[1] + h) * in[3]);
  }

  // output[b] = input[b] · weight + bias
  void operator()(const Linear& op) const {
    const Shape& out = shape(op.output);  // [n_batch, i, n_out]
    const std::int64_t n_rows = out[0] * out[1], n_out = out[2], n_in = shape(op.input)[2];
    multiply<T>({read(op.input), n_rows, n_in, n_in}, {read(op.weight), n_in, n_out, n_out}, Transpose::no,
                {write(op.output), n_rows, n_out, n_out});
    if (op.bias) add_to_rows(read(*op.bias), n_out, workspace.values(op.output));
  }

  // output = left + right
  void operator()(const Add& op) const {
    const std::span<const T> left = std::as_const(workspace).values(op.left);
    std::transform(left.begin(), left.end(), read(op.right), write(op.output), std::plus<T>());
  }

  // output = mean over the targets of ln Σ exp(logits) - logits[target]
  void operator()(const CrossEntropy& op) const {
    const std::int64_t width = shape(op.logits)[2];
    const T* logits = read(op.logits);
    T sum = 0;
    std::int64_t n_targets = 0;
    for (std::int32_t target : std::as_const(workspace).integers(op.targets)) {
      if (target >= 0) {
        sum += negative_log_probability(std::span<const T>(logits, static_cast<std::size_t>(width)),
                                        static_cast<std::size_t>(target));
        ++n_targets;
      }
      logits += width;
    }
    *write(op.output) = n_targets > 0 ? sum / static_cast<T>(n_targets) : T{0};
  }

  static void add_to_rows(const T* bias, std::int64_t width, std::span<T> rows) {
    for (std::size_t at = 0; at < rows.size(); at += static_cast<std::size_t>(width))
      std::transform(bias, bias + width, &rows[at], &rows[at], std::plus<T>());
  }
};

}  // namespace

double position_wavelength(std::int64_t channel, std::int64_t d_model) {
  return std::pow(10000.0, static_cast<double>(channel - channel % 2) / static_cast<double>(d_model));
}

template <class T>
T negative_log_probability(std::span<const T> logits, std::size_t target) {
  const T largest = *std::max_element(logits.begin(), logits.end());
  T sum = 0;
  for (T logit : logits) sum += std::exp(logit - largest);
  return std::log(sum) + (largest - logits[target]);  // small where the target is the largest, however large
}
template float negative_log_probability(std::span<const float>, std::size_t);
template double negative_log_probability(std::span<const double>, std::size_t);

template <class T>
void run_forward(const Graph& graph, Workspace<T>& workspace, std::size_t begin, std::size_t end) {
  const ForwardRunner<T> runner{workspace};
  for (const Operation& operation : graph.operations().subspan(begin, end - begin))
    std::visit(runner, operation);
}
template void run_forward(const Graph&, Workspace<float>&, std::size_t, std::size_t);
template void run_forward(const Graph&, Workspace<double>&, std::size_t, std::size_t);

}  // namespace headscope::core
