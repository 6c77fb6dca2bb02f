// Forward arithmetic of every operation, for some rows of the batch. Each is a plain loop or a product; the
// formula stands above it.
#include "core/forward.h"

#include "core/activations.h"
#include "core/formulas.h"
#include "core/random.h"
#include "core/simd.h"
#include "core/views.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <span>
#include <type_traits>
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
struct ForwardRunner : RowViews<T> {
  using RowViews<T>::workspace;
  using RowViews<T>::rows;
  using RowViews<T>::shape;
  using RowViews<T>::read;
  using RowViews<T>::write;
  using RowViews<T>::read_whole;
  using RowViews<T>::read_integers;
  using RowViews<T>::n_batch;
  using RowViews<T>::n_lines;
  using RowViews<T>::n_numbers;
  using RowViews<T>::width;
  using RowViews<T>::lines;

  const RunOptions& options;

  ForwardRunner(Workspace<T>& numbers, Rows some, const RunOptions& how)
      : RowViews<T>(numbers, some), options(how) {}

  // output[b][i][:] = table[ids[b][i]][:]
  void operator()(const Lookup& op) const {
    const std::int64_t d_model = width(op.table);
    const T* const table = read_whole(op.table);
    const std::int32_t* const ids = read_integers(op.ids);
    T* output = write(op.output);
    for (std::int64_t token = 0; token < n_lines(op.output); ++token, output += d_model) {
      assert(ids[token] >= 0 && ids[token] < shape(op.table)[0]);
      copy_numbers(table + ids[token] * d_model, d_model, output);
    }
  }

  // output[p][2c] = sin(p / 10000^(2c/D)), output[p][2c+1] = cos(same); in double, so that both precisions
  // agree
  void operator()(const SinusoidalPositions& op) const {
    const Shape& out = shape(op.output);
    T* output = workspace.values(op.output).data();
    for (std::int64_t p = 0; p < out[0]; ++p)
      for (std::int64_t c = 0; c < out[1]; ++c) {
        const double angle = static_cast<double>(p) / position_wavelength(c, out[1]);
        *output++ = static_cast<T>(c % 2 == 0 ? std::sin(angle) : std::cos(angle));
      }
  }

  // output[b][i][:] = input[b][i][:] + positions[i][:]
  void operator()(const AddPositions& op) const {
    const std::int64_t per_row = shape(op.output)[1] * shape(op.output)[2];
    const T* input = read(op.input);
    const T* const positions = read_whole(op.positions);
    T* output = write(op.output);
    for (std::int64_t b = 0; b < n_batch(); ++b, input += per_row, output += per_row)
      for (std::int64_t cell = 0; cell < per_row; ++cell) output[cell] = input[cell] + positions[cell];
  }

  // output[b][h] = input[b] · weight[h] + bias[h]; all heads in one product
  void operator()(const ProjectHeads& op) const {
    multiply<T>(lines(read(op.input), op.input),
                weights_side_by_side(read_whole(op.weight), shape(op.weight)),
                side_by_side(write(op.output), shape(op.output), n_batch()), Into::replace,
                op.bias ? read_whole(*op.bias) : nullptr);
  }

  // output[b][h] = queries[b][h] · keys[b][h]ᵀ
  void operator()(const Scores& op) const {
    const Shape& out = shape(op.output);  // [n_batch, n_heads, i, j]
    const std::int64_t d_head = shape(op.queries)[3];
    multiply<T>(row_major(read(op.queries), out[2], d_head, d_head),
                transposed(row_major(read(op.keys), out[3], d_head, d_head)),
                row_major(write(op.output), out[2], out[3], out[3]), Into::replace, nullptr,
                {n_batch() * out[1], out[2] * d_head, out[3] * d_head, out[2] * out[3]});
  }

  // output = input / (√width · temperature)
  void operator()(const ScaleScores& op) const {
    const T factor = T{1} / score_divisor<T>(op);
    map_numbers<T>(n_numbers(op.output), read(op.input), write(op.output),
                   [&](const Vector<T>& score) { return score * factor; });
  }

  // output[b][h][i][j] = input[b][h][i][j] + table[h][j - i + max_tokens - 1]
  void operator()(const AddRelativeBias& op) const {
    const Shape& out = shape(op.output);
    const std::int64_t n_distances = width(op.table), zero = n_distances / 2;
    const T* input = read(op.input);
    T* output = write(op.output);
    for (std::int64_t b = 0; b < n_batch(); ++b)
      for (std::int64_t h = 0; h < out[1]; ++h)
        for (std::int64_t i = 0; i < out[2]; ++i, input += out[3], output += out[3]) {
          const T* const bias = read_whole(op.table) + h * n_distances + zero - i;
          for (std::int64_t j = 0; j < out[3]; ++j) output[j] = input[j] + bias[j];
        }
  }

  // output[b][h][i][j] = input, or -∞ where j ≥ lengths[b] or (causal) j > i
  void operator()(const MaskScores& op) const {
    const Shape& out = shape(op.output);
    const std::int32_t* const lengths = read_integers(op.lengths);
    const T* input = read(op.input);
    T* output = write(op.output);
    for (std::int64_t b = 0; b < n_batch(); ++b)
      for (std::int64_t h = 0; h < out[1]; ++h)
        for (std::int64_t i = 0; i < out[2]; ++i, input += out[3], output += out[3]) {
          const std::int64_t n_visible = visible_keys(op.mask, lengths[b], i, out[3]);
          keep_finite(n_visible, input, output);
          fill_numbers(output + n_visible, out[3] - n_visible, kMinusInfinity<T>);
        }
  }

  /// Copies scores. One that is itself infinite, by overflow, becomes NaN: nobody may take it for a masked
  /// one.
  static void keep_finite(std::int64_t n, const T* scores, T* to) {
    // NOLINTNEXTLINE(misc-redundant-expression): the difference is 0, or NaN of an infinity
    map_numbers<T>(n, scores, to, [](const Vector<T>& score) { return score + (score - score); });
  }

  // output[b][i][:] = input, or -∞ where i ≥ lengths[b]
  void operator()(const MaskPositions& op) const {
    const std::int64_t per_row = shape(op.output)[1] * shape(op.output)[2];
    const std::int32_t* const lengths = read_integers(op.lengths);
    const T* input = read(op.input);
    T* output = write(op.output);
    for (std::int64_t b = 0; b < n_batch(); ++b, input += per_row, output += per_row) {
      const std::int64_t n_kept = std::min(lengths[b] * shape(op.output)[2], per_row);
      keep_finite(n_kept, input, output);
      std::fill(output + n_kept, output + per_row, kMinusInfinity<T>);
    }
  }

  // output = softmax(input) along one side
  void operator()(const Softmax& op) const {
    Line line = line_along(shape(op.output), op.axis);
    line.outer = n_numbers(op.output) / (line.count * line.stride);
    const T* input = read(op.input);
    T* output = write(op.output);
    for (std::int64_t outer = 0; outer < line.outer; ++outer) {
      if (line.stride == 1)
        softmax_row(line.count, input, output);
      else
        for (std::int64_t inner = 0; inner < line.stride; ++inner)
          softmax_strided(line, input + inner, output + inner);
      input += line.count * line.stride, output += line.count * line.stride;
    }
  }

  static void softmax_row(std::int64_t n, const T* scores, T* weights) {
    Vector<T> most = broadcast(kMinusInfinity<T>);
    for_vectors<T>(n, [&](std::int64_t at, std::int64_t count) {
      most = larger<T>(most, load_some<T>(scores + at, count, kMinusInfinity<T>));
    });
    const T largest = largest_of<T>(most);
    if (largest == kMinusInfinity<T>) {  // every key masked: no weight anywhere
      map_numbers<T>(n, scores, weights, [](const Vector<T>& score) {
        return score == kMinusInfinity<T> ? Vector<T>{} : score;  // NaN stays NaN
      });
      return;
    }
    // subtract the row maximum: exp() stays finite, the result is unchanged
    const T sum = sum_numbers<T>(n, [&](std::int64_t at, std::int64_t count) {
      const Vector<T> power = exponential<T>(load_some<T>(scores + at, count, kMinusInfinity<T>) - largest);
      store_some<T>(weights + at, power, count);
      return power;
    });
    const T share = T{1} / sum;
    map_numbers<T>(n, weights, weights, [&](const Vector<T>& power) { return power * share; });
  }

  /// A span's softmax runs over positions, `stride` apart.
  static void softmax_strided(const Line& line, const T* scores, T* weights) {
    T largest = kMinusInfinity<T>, sum = 0;
    for (std::int64_t k = 0; k < line.count; ++k) largest = std::max(largest, scores[k * line.stride]);
    for (std::int64_t k = 0; k < line.count; ++k) {
      T& weight = weights[k * line.stride];
      const T score = scores[k * line.stride];
      weight = score == kMinusInfinity<T> ? T{0}
                                          : std::exp(score - (largest == kMinusInfinity<T> ? T{0} : largest));
      sum += weight;
    }
    for (std::int64_t k = 0; k < line.count && sum != 0; ++k) weights[k * line.stride] /= sum;
  }

  // output = 0 with probability rate, else 1 / (1 - rate); each row of the batch has a generator of its own
  void operator()(const DropoutMask& op) const {
    const std::int64_t per_row = this->per_row(op.output);
    T* output = write(op.output);
    if (options.dropout_step == 0 || op.rate == 0) {
      std::fill_n(output, n_batch() * per_row, T{1});
      return;
    }
    const T kept = static_cast<T>(1 / (1 - op.rate));
    for (std::int64_t b = rows.begin; b < rows.end; ++b) {
      Rng rng = dropout_generator(op, options, b);
      for (std::int64_t cell = 0; cell < per_row; ++cell) *output++ = rng.uniform() < op.rate ? T{0} : kept;
    }
  }

  // output = input · mask
  void operator()(const ApplyDropout& op) const {
    map_numbers<T>(n_numbers(op.output), read(op.input), read(op.mask), write(op.output),
                   [](const Vector<T>& input, const Vector<T>& mask) { return input * mask; });
  }

  // output[b][h] = weights[b][h] · values[b][h]
  void operator()(const MixValues& op) const {
    const Shape& sides = shape(op.weights);  // [n_batch, n_heads, i, j]
    const std::int64_t d_head = shape(op.values)[3];
    multiply<T>(row_major(read(op.weights), sides[2], sides[3], sides[3]),
                row_major(read(op.values), sides[3], d_head, d_head),
                row_major(write(op.output), sides[2], d_head, d_head), Into::replace, nullptr,
                {n_batch() * sides[1], sides[2] * sides[3], sides[3] * d_head, sides[2] * d_head});
  }

  // output[b][i][h·K + c] = input[b][h][i][c]
  void operator()(const ConcatHeads& op) const {
    const Shape& in = shape(op.input);  // [n_batch, n_heads, i, d_head]
    const T* input = read(op.input);
    T* output = write(op.output);
    for (std::int64_t b = 0; b < n_batch(); ++b)
      for (std::int64_t h = 0; h < in[1]; ++h)
        for (std::int64_t i = 0; i < in[2]; ++i, input += in[3])
          copy_numbers(input, in[3], output + ((b * in[2] + i) * in[1] + h) * in[3]);
  }

  // output[b][h] = input[b][h] · weight[h]: a product for each head, over all its rows
  void operator()(const HeadContribution& op) const {
    const Shape &in = shape(op.input), &weight = shape(op.weight);
    const std::int64_t n_heads = in[1], n_tokens = in[2], d_head = in[3], d_model = weight[2];
    for (std::int64_t h = 0; h < n_heads; ++h) {
      const auto of_head = [&](auto* data, std::int64_t n) {
        const Places places{n_batch() * n_tokens, n, n_tokens, n_heads * n_tokens * n};
        return MatrixView<std::remove_pointer_t<decltype(data)>>{data + h * n_tokens * n, places, {n, 1}};
      };
      multiply<T>(of_head(read(op.input), d_head),
                  row_major(read_whole(op.weight) + h * d_head * d_model, d_head, d_model, d_model),
                  of_head(write(op.output), d_model));
    }
  }

  // output = input · weight + bias
  void operator()(const Linear& op) const {
    const std::int64_t n_in = width(op.input), n_out = width(op.output);
    multiply<T>(lines(read(op.input), op.input), row_major(read_whole(op.weight), n_in, n_out, n_out),
                lines(write(op.output), op.output), Into::replace, op.bias ? read_whole(*op.bias) : nullptr);
  }

  // output[b][i][o] = input[b][i] · weight[o] + bias[o]: [o][v] side by side are the output's own columns
  void operator()(const ProjectOutputs& op) const {
    const std::int64_t n_columns = shape(op.weight)[0] * shape(op.weight)[2];
    multiply<T>(lines(read(op.input), op.input),
                weights_side_by_side(read_whole(op.weight), shape(op.weight)),
                row_major(write(op.output), n_lines(op.input), n_columns, n_columns), Into::replace,
                op.bias ? read_whole(*op.bias) : nullptr);
  }

  // output = left + right
  void operator()(const Add& op) const {
    map_numbers<T>(n_numbers(op.output), read(op.left), read(op.right), write(op.output),
                   [](const Vector<T>& left, const Vector<T>& right) { return left + right; });
  }

  // output[b][i] = Σ_c input[b][i][c] / D
  void operator()(const RowMean& op) const {
    const std::int64_t n = width(op.input);
    const T* input = read(op.input);
    T* output = write(op.output);
    for (std::int64_t line = 0; line < n_lines(op.input); ++line, input += n)
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
    const std::int64_t n = width(op.input);
    const T* input = read(op.input);
    T* output = write(op.output);
    for (std::int64_t line = 0; line < n_lines(op.input); ++line, input += n) {
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
    const std::int64_t n = width(op.input);
    const T* const gain = read_whole(op.gain);
    const T* const offset = read_whole(op.offset);
    const T* input = read(op.input);
    T* output = write(op.output);
    for (std::int64_t line = 0; line < n_lines(op.input); ++line, input += n, output += n)
      for_vectors<T>(n, [&](std::int64_t at, std::int64_t count) {
        const Vector<T> product = load_some<T>(input + at, count) * load_some<T>(gain + at, count);
        store_some<T>(output + at, product + load_some<T>(offset + at, count), count);
      });
  }

  // output = f(input)
  void operator()(const Activate& op) const {
    const std::int64_t n = n_numbers(op.output);
    switch (op.function) {
      case Activation::relu:
        return map_numbers<T>(n, read(op.input), write(op.output), activated<T, Activation::relu>);
      case Activation::gelu:
        return map_numbers<T>(n, read(op.input), write(op.output), activated<T, Activation::gelu>);
      case Activation::gelu_tanh:
        return map_numbers<T>(n, read(op.input), write(op.output), activated<T, Activation::gelu_tanh>);
    }
  }

  // output[b][c] = Σ_(i < lengths[b]) input[b][i][c] / lengths[b], or input[b][0][c]
  void operator()(const Pool& op) const {
    const Shape& in = shape(op.input);
    const std::int32_t* const lengths = read_integers(op.lengths);
    for (std::int64_t b = 0; b < n_batch(); ++b) {
      const T* input = read(op.input) + b * in[1] * in[2];
      T* const output = write(op.output) + b * in[2];
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
    const Shape& in = shape(op.input);
    const std::int32_t* const positions = read_integers(op.positions);
    for (std::int64_t b = 0; b < n_batch(); ++b)
      std::copy_n(read(op.input) + (b * in[1] + positions[b]) * in[2], in[2], write(op.output) + b * in[2]);
  }

  // output[b][i] = (start[b] · input[b][i], end[b] · input[b][i])
  void operator()(const PointAt& op) const {
    const Shape& in = shape(op.input);
    const T* input = read(op.input);
    T* output = write(op.output);
    for (std::int64_t b = 0; b < n_batch(); ++b)
      for (std::int64_t i = 0; i < in[1]; ++i, input += in[2])
        for (const TensorId edge : {op.start, op.end}) {
          const T* const query = read(edge) + b * in[2];
          *output++ = sum_numbers<T>(in[2], [&](std::int64_t at, std::int64_t count) {
            return load_some<T>(query + at, count) * load_some<T>(input + at, count);
          });
        }
  }

  // output = -Σ_v y[v] ln p[v]
  void operator()(const CrossEntropy& op) const {
    Line line = line_along(shape(op.logits), op.axis);
    line.outer = n_numbers(op.logits) / (line.count * line.stride);
    const std::int32_t* targets = read_integers(op.targets);
    T* output = write(op.output);
    for (std::int64_t outer = 0; outer < line.outer; ++outer)
      for (std::int64_t inner = 0; inner < line.stride; ++inner) {
        const std::int64_t first = outer * line.count * line.stride + inner;
        const std::int32_t target = *targets++;
        *output++ = target < 0 ? T{0}
                               : cross_entropy(read(op.logits) + first, read(op.probabilities) + first, line,
                                               target, static_cast<T>(op.smoothing));
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
    const std::span<const T> losses = std::as_const(workspace).values(op.input);
    const std::span<const std::int32_t> targets = std::as_const(workspace).integers(op.targets);
    T sum = 0;
    std::int64_t n = 0;
    for (std::size_t cell = 0; cell < losses.size(); ++cell)
      if (targets[cell] >= 0) sum += losses[cell], ++n;
    workspace.values(op.output)[0] = n > 0 ? sum / static_cast<T>(n) : T{0};
  }

 private:
  /// output[line][c] = function(input[line][c], number[line]).
  template <class Function>
  void by_line(TensorId in, TensorId number, TensorId out, const Function& function) const {
    const std::int64_t n = width(in);
    const T* input = read(in);
    const T* numbers = read(number);
    T* output = write(out);
    for (std::int64_t line = 0; line < n_lines(in); ++line, input += n, output += n)
      map_numbers<T>(n, input, output, [&](const Vector<T>& x) { return function(x, numbers[line]); });
  }
};

}  // namespace

template <class T>
void run_forward_operation(const Operation& operation, Workspace<T>& workspace, Rows rows,
                           const RunOptions& options) {
  std::visit(ForwardRunner<T>(workspace, rows, options), operation);
}
template void run_forward_operation(const Operation&, Workspace<float>&, Rows, const RunOptions&);
template void run_forward_operation(const Operation&, Workspace<double>&, Rows, const RunOptions&);

}  // namespace headscope::core
