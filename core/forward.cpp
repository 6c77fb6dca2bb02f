// Forward arithmetic of every operation but attention's (forward_attention.cpp), for some rows of the batch.
// Each is a plain loop or a product; the formula stands above it.
#include "core/forward.h"

#include "core/activations.h"
#include "core/formulas.h"
#include "core/forward_attention.h"
#include "core/random.h"
#include "core/simd.h"
#include "core/views.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>

namespace headscope::core {
namespace {

template <class T>
constexpr T kMinusInfinity = -std::numeric_limits<T>::infinity();

/// The generator of one row's mask: a stream of its own for every run, step, mask and row.
Rng dropout_generator(const DropoutMask& op, const RunOptions& options, std::int64_t row) {
  std::uint64_t key = options.dropout_seed;
  for (const std::uint64_t part : {options.dropout_step, op.stream, static_cast<std::uint64_t>(row)}) {
    key = (key ^ part) * 0x9e3779b97f4a7c15U;  // 2^64 / golden ratio: spreads neighbouring numbers
    key ^= key >> 32U;
  }
  return Rng(key);
}

template <class T>
struct ForwardRunner {
  RowViews<T> views;
  const RunOptions& options;

  // output[b][i][:] = table[ids[b][i]][:]
  void operator()(const Lookup& op) const {
    const std::int64_t d_model = views.width(op.table);
    const T* const table = views.read_whole(op.table);
    const std::int32_t* const ids = views.read_integers(op.ids);
    T* output = views.write(op.output);
    for (std::int64_t token = 0; token < views.n_lines(op.output); ++token, output += d_model) {
      assert(ids[token] >= 0 && ids[token] < views.shape(op.table)[0]);
      copy_numbers(table + ids[token] * d_model, d_model, output);
    }
  }

  // output[p][2c] = sin(p / 10000^(2c/D)), output[p][2c+1] = cos(same); in double, so that both precisions
  // agree
  void operator()(const SinusoidalPositions& op) const {
    const Shape& out = views.shape(op.output);
    T* output = views.workspace.values(op.output).data();
    for (std::int64_t p = 0; p < out[0]; ++p)
      for (std::int64_t c = 0; c < out[1]; ++c) {
        const double angle = static_cast<double>(p) / position_wavelength(c, out[1]);
        *output++ = static_cast<T>(c % 2 == 0 ? std::sin(angle) : std::cos(angle));
      }
  }

  // output[b][i][:] = input[b][i][:] + positions[i][:]
  void operator()(const AddPositions& op) const {
    const std::int64_t per_row = views.shape(op.output)[1] * views.shape(op.output)[2];
    const T* input = views.read(op.input);
    const T* const positions = views.read_whole(op.positions);
    T* output = views.write(op.output);
    for (std::int64_t b = 0; b < views.n_batch(); ++b, input += per_row, output += per_row)
      for (std::int64_t cell = 0; cell < per_row; ++cell) output[cell] = input[cell] + positions[cell];
  }

  // output = 0 with probability rate, else 1 / (1 - rate); each row of the batch has a generator of its own
  void operator()(const DropoutMask& op) const {
    const std::int64_t per_row = views.per_row(op.output);
    T* output = views.write(op.output);
    if (options.dropout_step == 0 || op.rate == 0) {
      std::fill_n(output, views.n_batch() * per_row, T{1});
      return;
    }
    const T kept = static_cast<T>(1 / (1 - op.rate));
    for (std::int64_t b = views.rows.begin; b < views.rows.end; ++b) {
      Rng rng = dropout_generator(op, options, b);
      for (std::int64_t cell = 0; cell < per_row; ++cell) *output++ = rng.uniform() < op.rate ? T{0} : kept;
    }
  }

  // output = input · mask
  void operator()(const ApplyDropout& op) const {
    map_numbers<T>(views.n_numbers(op.output), views.read(op.input), views.read(op.mask),
                   views.write(op.output),
                   [](const Vector<T>& input, const Vector<T>& mask) { return input * mask; });
  }

  // output = input · weight + bias
  void operator()(const Linear& op) const {
    const std::int64_t n_in = views.width(op.input), n_out = views.width(op.output);
    multiply<T>(views.lines(views.read(op.input), op.input),
                row_major(views.read_whole(op.weight), n_in, n_out, n_out),
                views.lines(views.write(op.output), op.output), Into::replace,
                op.bias ? views.read_whole(*op.bias) : nullptr);
  }

  // output[b][i][o] = input[b][i] · weight[o] + bias[o]: [o][v] side by side are the output's own columns
  void operator()(const ProjectOutputs& op) const {
    const std::int64_t n_columns = views.shape(op.weight)[0] * views.shape(op.weight)[2];
    multiply<T>(views.lines(views.read(op.input), op.input),
                weights_side_by_side(views.read_whole(op.weight), views.shape(op.weight)),
                row_major(views.write(op.output), views.n_lines(op.input), n_columns, n_columns),
                Into::replace, op.bias ? views.read_whole(*op.bias) : nullptr);
  }

  // output = left + right
  void operator()(const Add& op) const {
    map_numbers<T>(views.n_numbers(op.output), views.read(op.left), views.read(op.right),
                   views.write(op.output),
                   [](const Vector<T>& left, const Vector<T>& right) { return left + right; });
  }

  // output[b][i] = Σ_c input[b][i][c] / D
  void operator()(const RowMean& op) const {
    const std::int64_t n = views.width(op.input);
    const T* input = views.read(op.input);
    T* output = views.write(op.output);
    for (std::int64_t line = 0; line < views.n_lines(op.input); ++line, input += n)
      *output++ = sum_numbers<T>(n, [&](std::int64_t at,
                                        std::int64_t count) { return load_some<T>(input + at, count); }) /
                  static_cast<T>(n);
  }

  // output[b][i][c] = input[b][i][c] - mean[b][i]
  void operator()(const Centre& op) const {
    by_line(op.input, op.mean, op.output, [](const Vector<T>& x, T mean) { return x - mean; });
  }

  // output[b][i] = 1 / √(Σ_c input[b][i][c]² / D + ε)
  void operator()(const InverseDeviation& op) const {
    const std::int64_t n = views.width(op.input);
    const T* input = views.read(op.input);
    T* output = views.write(op.output);
    for (std::int64_t line = 0; line < views.n_lines(op.input); ++line, input += n) {
      const T sum = sum_numbers<T>(n, [&](std::int64_t at, std::int64_t count) {
        const Vector<T> x = load_some<T>(input + at, count);
        return x * x;
      });
      *output++ = T{1} / std::sqrt(sum / static_cast<T>(n) + static_cast<T>(op.epsilon));
    }
  }

  // output[b][i][c] = input[b][i][c] · factor[b][i]
  void operator()(const ScaleRows& op) const {
    by_line(op.input, op.factor, op.output, [](const Vector<T>& x, T factor) { return x * factor; });
  }

  // output[b][i][c] = input[b][i][c] · gain[c] + offset[c]
  void operator()(const ScaleAndShift& op) const {
    const std::int64_t n = views.width(op.input);
    const T* const gain = views.read_whole(op.gain);
    const T* const offset = views.read_whole(op.offset);
    const T* input = views.read(op.input);
    T* output = views.write(op.output);
    for (std::int64_t line = 0; line < views.n_lines(op.input); ++line, input += n, output += n)
      for_vectors<T>(n, [&](std::int64_t at, std::int64_t count) {
        const Vector<T> product = load_some<T>(input + at, count) * load_some<T>(gain + at, count);
        store_some<T>(output + at, product + load_some<T>(offset + at, count), count);
      });
  }

  // output = f(input)
  void operator()(const Activate& op) const {
    const std::int64_t n = views.n_numbers(op.output);
    switch (op.function) {
      case Activation::relu:
        return map_numbers<T>(n, views.read(op.input), views.write(op.output),
                              activated<T, Activation::relu>);
      case Activation::gelu:
        return map_numbers<T>(n, views.read(op.input), views.write(op.output),
                              activated<T, Activation::gelu>);
      case Activation::gelu_tanh:
        return map_numbers<T>(n, views.read(op.input), views.write(op.output),
                              activated<T, Activation::gelu_tanh>);
    }
  }

  // output[b][c] = Σ_(i < lengths[b]) input[b][i][c] / lengths[b], or input[b][0][c]
  void operator()(const Pool& op) const {
    const Shape& in = views.shape(op.input);
    const std::int32_t* const lengths = views.read_integers(op.lengths);
    for (std::int64_t b = 0; b < views.n_batch(); ++b) {
      const T* input = views.read(op.input) + b * in[1] * in[2];
      T* const output = views.write(op.output) + b * in[2];
      std::copy_n(input, in[2], output);
      if (op.pooling == Pooling::first) continue;
      for (std::int64_t i = 1; i < lengths[b]; ++i)
        for (std::int64_t c = 0; c < in[2]; ++c) output[c] += input[i * in[2] + c];
      const T divisor = static_cast<T>(lengths[b]);
      for (std::int64_t c = 0; c < in[2]; ++c) output[c] /= divisor;
    }
  }

  // output[b] = input[b][positions[b]]
  void operator()(const SelectPosition& op) const {
    const Shape& in = views.shape(op.input);
    const std::int32_t* const positions = views.read_integers(op.positions);
    for (std::int64_t b = 0; b < views.n_batch(); ++b)
      std::copy_n(views.read(op.input) + (b * in[1] + positions[b]) * in[2], in[2],
                  views.write(op.output) + b * in[2]);
  }

  // output[b][i] = (start[b] · input[b][i], end[b] · input[b][i])
  void operator()(const PointAt& op) const {
    const Shape& in = views.shape(op.input);
    const T* input = views.read(op.input);
    T* output = views.write(op.output);
    for (std::int64_t b = 0; b < views.n_batch(); ++b)
      for (std::int64_t i = 0; i < in[1]; ++i, input += in[2])
        for (const TensorId edge : {op.start, op.end}) {
          const T* const query = views.read(edge) + b * in[2];
          *output++ = sum_numbers<T>(in[2], [&](std::int64_t at, std::int64_t count) {
            return load_some<T>(query + at, count) * load_some<T>(input + at, count);
          });
        }
  }

  // output = -Σ_v y[v] ln p[v]
  void operator()(const CrossEntropy& op) const {
    Line line = line_along(views.shape(op.logits), op.axis);
    line.outer = views.n_numbers(op.logits) / (line.count * line.stride);
    const std::int32_t* targets = views.read_integers(op.targets);
    T* output = views.write(op.output);
    for (std::int64_t outer = 0; outer < line.outer; ++outer)
      for (std::int64_t inner = 0; inner < line.stride; ++inner) {
        const std::int64_t first = outer * line.count * line.stride + inner;
        const std::int32_t target = *targets++;
        *output++ = target < 0
                        ? T{0}
                        : cross_entropy(views.read(op.logits) + first, views.read(op.probabilities) + first,
                                        line, target, static_cast<T>(op.smoothing));
      }
  }

  static T sum_row(const T* numbers, std::int64_t n) {
    return sum_numbers<T>(
        n, [&](std::int64_t at, std::int64_t count) { return load_some<T>(numbers + at, count); });
  }

  /// -ln of the target's probability, with all its digits: near 1 from what the others leave, near 0 from the
  /// logits, since a probability may underflow.
  static T negative_log(const T* logits, const T* probabilities, const Line& line, std::int64_t target) {
    constexpr T kLeast = static_cast<T>(1e-30), kMost = static_cast<T>(0.5);
    const T probability = probabilities[target * line.stride];
    if (probability < kLeast) return negative_log_probability(logits, line.count, line.stride, target);
    if (probability < kMost) return -std::log(probability);
    if (line.stride == 1)
      return -std::log1p(
          -(sum_row(probabilities, target) + sum_row(probabilities + target + 1, line.count - target - 1)));
    T others = 0;
    for (std::int64_t v = 0; v < line.count; ++v)
      if (v != target) others += probabilities[v * line.stride];
    return -std::log1p(-others);
  }

  static T cross_entropy(const T* logits, const T* probabilities, const Line& line, std::int64_t target,
                         T smoothing) {
    const T surprise = negative_log(logits, probabilities, line, target);
    if (smoothing == 0) return surprise;
    // Σ_v y_v (-ln p_v) = -ln p_target + Σ_v smoothing/n (logit_target - logit_v), over the n classes that
    // are not masked
    T sum = 0;
    std::int64_t n = 0;
    for (std::int64_t v = 0; v < line.count; ++v) {
      const T logit = logits[v * line.stride];
      if (logit == kMinusInfinity<T>) continue;
      sum += logits[target * line.stride] - logit;
      ++n;
    }
    return surprise + smoothing * sum / static_cast<T>(n);
  }

  // output[0] = Σ input / n over the n cells with a target
  void operator()(const MeanLoss& op) const {
    const std::span<const T> losses = std::as_const(views.workspace).values(op.input);
    const std::span<const std::int32_t> targets = std::as_const(views.workspace).integers(op.targets);
    T sum = 0;
    std::int64_t n = 0;
    for (std::size_t cell = 0; cell < losses.size(); ++cell)
      if (targets[cell] >= 0) sum += losses[cell], ++n;
    views.workspace.values(op.output)[0] = n > 0 ? sum / static_cast<T>(n) : T{0};
  }

 private:
  /// output[line][c] = function(input[line][c], number[line]).
  template <class Function>
  void by_line(TensorId in, TensorId number, TensorId out, const Function& function) const {
    const std::int64_t n = views.width(in);
    const T* input = views.read(in);
    const T* numbers = views.read(number);
    T* output = views.write(out);
    for (std::int64_t line = 0; line < views.n_lines(in); ++line, input += n, output += n)
      map_numbers<T>(n, input, output, [&](const Vector<T>& x) { return function(x, numbers[line]); });
  }
};

}  // namespace

template <class T>
void run_forward_operation(const Operation& operation, Workspace<T>& workspace, Rows rows,
                           const RunOptions& options) {
  const RowViews<T> views{workspace, rows};
  const AttentionForward<T> attention{views};
  const ForwardRunner<T> others{views, options};
  std::visit(
      [&](const auto& op) {
        if constexpr (std::is_invocable_v<const AttentionForward<T>&, decltype(op)>)
          attention(op);
        else
          others(op);
      },
      operation);
}
template void run_forward_operation(const Operation&, Workspace<float>&, Rows, const RunOptions&);
template void run_forward_operation(const Operation&, Workspace<double>&, Rows, const RunOptions&);

}  // namespace headscope::core
