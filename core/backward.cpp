// Backward arithmetic by activations: each operation sends the gradient of its result to what it read, for
// some rows of the batch. By parameters: backward_parameters.cpp.
#include "core/backward.h"

#include "core/activations.h"
#include "core/simd.h"
#include "core/views.h"

#include <algorithm>
#include <cassert>
#include <variant>

namespace headscope::core {
namespace {

/// Where a gradient goes: nowhere (null), into the place of what was there, or on top of it.
template <class T>
struct Sink {
  T* data = nullptr;
  Into into = Into::replace;

  explicit operator bool() const { return data != nullptr; }
};

template <class T>
struct BackwardRunner : RowViews<T> {
  using RowViews<T>::workspace;
  using RowViews<T>::rows;
  using RowViews<T>::shape;
  using RowViews<T>::read;
  using RowViews<T>::read_whole;
  using RowViews<T>::read_integers;
  using RowViews<T>::n_batch;
  using RowViews<T>::n_lines;
  using RowViews<T>::n_numbers;
  using RowViews<T>::width;
  using RowViews<T>::lines;

  std::size_t index;  // of the operation

  BackwardRunner(Workspace<T>& numbers, Rows some, std::size_t operation)
      : RowViews<T>(numbers, some), index(operation) {}

  /// The gradient of the operation's result.
  const T* sent(TensorId tensor) const {
    return std::as_const(workspace).gradients(tensor).data() + rows.begin * this->per_row(tensor);
  }
  /// The gradient of an activation that the operation reads.
  Sink<T> sink(TensorId tensor) const {
    if (!workspace.has_gradient(tensor)) return {};
    return {workspace.gradients(tensor).data() + rows.begin * this->per_row(tensor),
            workspace.gradient_plan().is_first(index, tensor) ? Into::replace : Into::add};
  }

  // What most operations need: the gradient of n cells is function(…) of numbers in the same places.

  template <class Function>
  static void emit(std::int64_t n, const Sink<T>& to, const T* from, const Function& function) {
    if (!to) return;
    if (to.into == Into::replace) return map_numbers<T>(n, from, to.data, function);
    map_numbers<T>(n, from, to.data, to.data, [&](const Vector<T>& number, const Vector<T>& before) {
      return before + function(number);
    });
  }
  template <class Function>
  static void emit(std::int64_t n, const Sink<T>& to, const T* left, const T* right,
                   const Function& function) {
    if (!to) return;
    for_vectors<T>(n, [&](std::int64_t at, std::int64_t count) {
      const Vector<T> number = function(load_some<T>(left + at, count), load_some<T>(right + at, count));
      store_some<T>(to.data + at, to.into == Into::add ? load_some<T>(to.data + at, count) + number : number,
                    count);
    });
  }
  static void pass_on(std::int64_t n, const Sink<T>& to, const T* from) {
    if (to && to.into == Into::replace)
      copy_numbers(from, n, to.data);
    else
      emit(n, to, from, [](const Vector<T>& gradient) { return gradient; });
  }
  /// Cells that get nothing.
  static void pass_nothing(std::int64_t n, const Sink<T>& to) {
    if (to && to.into == Into::replace) fill_numbers(to.data, n, T{0});
  }
  static Sink<T> beyond(const Sink<T>& to, std::int64_t n) { return {to.data + n, to.into}; }

  // forward: output[b][i] = table[ids[b][i]]; the table is a parameter
  void operator()(const Lookup&) const {}
  void operator()(const SinusoidalPositions&) const {}
  void operator()(const DropoutMask&) const {}
  void operator()(const HeadContribution&) const {}  // nothing reads its result

  // forward: output = input + positions
  void operator()(const AddPositions& op) const {
    pass_on(n_numbers(op.output), sink(op.input), sent(op.output));
  }

  // forward: output[b][h] = input[b] · weight[h] + bias[h]
  // grad_input[b] = Σ_h grad_output[b][h] · weight[h]ᵀ: one sum over [h][c]
  void operator()(const ProjectHeads& op) const {
    if (const Sink<T> to = sink(op.input))
      multiply<T>(side_by_side(sent(op.output), shape(op.output), n_batch()),
                  transposed(weights_side_by_side(read_whole(op.weight), shape(op.weight))),
                  lines(to.data, op.input), to.into);
  }

  // forward: output[b][h] = queries[b][h] · keys[b][h]ᵀ
  // grad_queries = grad_output · keys, grad_keys = grad_outputᵀ · queries
  void operator()(const Scores& op) const {
    const Shape& out = shape(op.output);  // [n_batch, n_heads, i, j]
    const std::int64_t d_head = shape(op.queries)[3];
    const std::int64_t n = n_batch() * out[1], query_step = out[2] * d_head, key_step = out[3] * d_head;
    const MatrixView<const T> gradient = row_major(sent(op.output), out[2], out[3], out[3]);
    if (const Sink<T> to = sink(op.queries))
      multiply<T>(gradient, row_major(read(op.keys), out[3], d_head, d_head),
                  row_major(to.data, out[2], d_head, d_head), to.into, nullptr,
                  {n, out[2] * out[3], key_step, query_step});
    if (const Sink<T> to = sink(op.keys))
      multiply<T>(transposed(gradient), row_major(read(op.queries), out[2], d_head, d_head),
                  row_major(to.data, out[3], d_head, d_head), to.into, nullptr,
                  {n, out[2] * out[3], query_step, key_step});
  }

  // forward: output = input / divisor
  void operator()(const ScaleScores& op) const {
    const T factor = T{1} / score_divisor<T>(op);
    emit(n_numbers(op.output), sink(op.input), sent(op.output),
         [&](const Vector<T>& gradient) { return gradient * factor; });
  }

  // forward: output = input + bias by distance
  void operator()(const AddRelativeBias& op) const {
    pass_on(n_numbers(op.output), sink(op.input), sent(op.output));
  }

  // forward: output = input, or -∞ where the key is hidden: no gradient goes there
  void operator()(const MaskScores& op) const {
    const Shape& out = shape(op.output);
    const std::int32_t* const lengths = read_integers(op.lengths);
    const T* gradient = sent(op.output);
    Sink<T> to = sink(op.input);
    if (!to) return;
    for (std::int64_t b = 0; b < n_batch(); ++b)
      for (std::int64_t h = 0; h < out[1]; ++h)
        for (std::int64_t i = 0; i < out[2]; ++i, gradient += out[3], to = beyond(to, out[3])) {
          const std::int64_t n_visible = visible_keys(op.mask, lengths[b], i, out[3]);
          pass_on(n_visible, to, gradient);
          pass_nothing(out[3] - n_visible, beyond(to, n_visible));
        }
  }

  // forward: output[b][i] = input, or -∞ where i ≥ lengths[b]
  void operator()(const MaskPositions& op) const {
    const std::int64_t per_row = shape(op.output)[1] * shape(op.output)[2];
    const std::int32_t* const lengths = read_integers(op.lengths);
    const T* gradient = sent(op.output);
    Sink<T> to = sink(op.input);
    if (!to) return;
    for (std::int64_t b = 0; b < n_batch(); ++b, gradient += per_row, to = beyond(to, per_row)) {
      const std::int64_t n_kept = std::min(lengths[b] * shape(op.output)[2], per_row);
      pass_on(n_kept, to, gradient);
      pass_nothing(per_row - n_kept, beyond(to, n_kept));
    }
  }

  // forward: w = softmax(input) along one side
  // grad_input[j] = Σ_k g[k] · w[k] · (δ_jk - w[j]) = w[j] · (g[j] - Σ_k g[k] · w[k])
  void operator()(const Softmax& op) const {
    Line line = line_along(shape(op.output), op.axis);
    line.outer = n_numbers(op.output) / (line.count * line.stride);
    const T* weights = read(op.output);
    const T* gradient = sent(op.output);
    Sink<T> to = sink(op.input);
    if (!to) return;
    for (std::int64_t outer = 0; outer < line.outer; ++outer) {
      if (line.stride == 1)
        softmax_row(line.count, weights, gradient, to);
      else
        for (std::int64_t inner = 0; inner < line.stride; ++inner)
          softmax_strided(line, weights + inner, gradient + inner, beyond(to, inner));
      const std::int64_t n = line.count * line.stride;
      weights += n, gradient += n, to = beyond(to, n);
    }
  }

  static void softmax_row(std::int64_t n, const T* weights, const T* gradient, const Sink<T>& to) {
    const T mean = sum_numbers<T>(n, [&](std::int64_t at, std::int64_t count) {
      return load_some<T>(weights + at, count) * load_some<T>(gradient + at, count);
    });
    emit(n, to, weights, gradient,
         [&](const Vector<T>& weight, const Vector<T>& sent_back) { return weight * (sent_back - mean); });
  }
  static void softmax_strided(const Line& line, const T* weights, const T* gradient, const Sink<T>& to) {
    T mean = 0;
    for (std::int64_t k = 0; k < line.count; ++k)
      mean += weights[k * line.stride] * gradient[k * line.stride];
    for (std::int64_t j = 0; j < line.count; ++j) {
      const std::int64_t at = j * line.stride;
      const T sent_back = weights[at] * (gradient[at] - mean);
      to.data[at] = to.into == Into::add ? to.data[at] + sent_back : sent_back;
    }
  }

  // forward: output = input · mask
  void operator()(const ApplyDropout& op) const {
    emit(n_numbers(op.output), sink(op.input), sent(op.output), read(op.mask),
         [](const Vector<T>& gradient, const Vector<T>& mask) { return gradient * mask; });
  }

  // forward: output[b][h] = weights[b][h] · values[b][h]
  // grad_weights = grad_output · valuesᵀ, grad_values = weightsᵀ · grad_output
  void operator()(const MixValues& op) const {
    const Shape& sides = shape(op.weights);  // [n_batch, n_heads, i, j]
    const std::int64_t n_queries = sides[2], n_keys = sides[3], d_head = shape(op.values)[3];
    const std::int64_t n = n_batch() * sides[1], weight_step = n_queries * n_keys;
    const std::int64_t value_step = n_keys * d_head, output_step = n_queries * d_head;
    const MatrixView<const T> gradient = row_major(sent(op.output), n_queries, d_head, d_head);
    if (const Sink<T> to = sink(op.weights))
      multiply<T>(gradient, transposed(row_major(read(op.values), n_keys, d_head, d_head)),
                  row_major(to.data, n_queries, n_keys, n_keys), to.into, nullptr,
                  {n, output_step, value_step, weight_step});
    if (const Sink<T> to = sink(op.values))
      multiply<T>(transposed(row_major(read(op.weights), n_queries, n_keys, n_keys)), gradient,
                  row_major(to.data, n_keys, d_head, d_head), to.into, nullptr,
                  {n, weight_step, output_step, value_step});
  }

  // forward: output[b][i][h·K + c] = input[b][h][i][c]
  void operator()(const ConcatHeads& op) const {
    const Shape& in = shape(op.input);  // [n_batch, n_heads, i, d_head]
    Sink<T> to = sink(op.input);
    if (!to) return;
    for (std::int64_t b = 0; b < n_batch(); ++b)
      for (std::int64_t h = 0; h < in[1]; ++h)
        for (std::int64_t i = 0; i < in[2]; ++i, to = beyond(to, in[3]))
          pass_on(in[3], to, sent(op.output) + ((b * in[2] + i) * in[1] + h) * in[3]);
  }

  // forward: output = input · weight + bias
  // grad_input = grad_output · weightᵀ
  void operator()(const Linear& op) const {
    const std::int64_t n_in = width(op.input), n_out = width(op.output);
    if (const Sink<T> to = sink(op.input))
      multiply<T>(lines(sent(op.output), op.output),
                  transposed(row_major(read_whole(op.weight), n_in, n_out, n_out)), lines(to.data, op.input),
                  to.into);
  }

  // forward: output[b][i][o] = input[b][i] · weight[o] + bias[o]
  // grad_input = Σ_o grad_output[o] · weight[o]ᵀ
  void operator()(const ProjectOutputs& op) const {
    const std::int64_t n_columns = shape(op.weight)[0] * shape(op.weight)[2];
    if (const Sink<T> to = sink(op.input))
      multiply<T>(row_major(sent(op.output), n_lines(op.input), n_columns, n_columns),
                  transposed(weights_side_by_side(read_whole(op.weight), shape(op.weight))),
                  lines(to.data, op.input), to.into);
  }

  // forward: output = left + right: the gradient goes both ways
  void operator()(const Add& op) const {
    pass_on(n_numbers(op.output), sink(op.left), sent(op.output));
    pass_on(n_numbers(op.output), sink(op.right), sent(op.output));
  }

  // forward: output[line] = Σ_c input[line][c] / D
  void operator()(const RowMean& op) const {
    const std::int64_t n = width(op.input);
    const T* gradient = sent(op.output);
    Sink<T> to = sink(op.input);
    if (!to) return;
    for (std::int64_t line = 0; line < n_lines(op.input); ++line, to = beyond(to, n)) {
      const T share = gradient[line] / static_cast<T>(n);
      emit(n, to, to.data, [&](const Vector<T>&) { return broadcast(share); });
    }
  }

  // forward: output[line][c] = input[line][c] - mean[line]
  // grad_input = grad_output, grad_mean = Σ_c -grad_output
  void operator()(const Centre& op) const {
    const std::int64_t n = width(op.input);
    const T* gradient = sent(op.output);
    pass_on(n_numbers(op.output), sink(op.input), gradient);
    const Sink<T> to = sink(op.mean);
    if (!to) return;
    for (std::int64_t line = 0; line < n_lines(op.input); ++line, gradient += n)
      put(beyond(to, line), -sum_numbers<T>(n, [&](std::int64_t at, std::int64_t count) {
            return load_some<T>(gradient + at, count);
          }));
  }

  // forward: r[line] = 1 / √(Σ_c input[line][c]² / D + ε)
  // grad_input[c] = grad_r · (-r³ · input[c] / D)
  void operator()(const InverseDeviation& op) const {
    const std::int64_t n = width(op.input);
    const T* input = read(op.input);
    const T* const deviations = read(op.output);
    const T* const gradient = sent(op.output);
    Sink<T> to = sink(op.input);
    if (!to) return;
    for (std::int64_t line = 0; line < n_lines(op.input); ++line, input += n, to = beyond(to, n)) {
      const T r = deviations[line];
      const T factor = -gradient[line] * r * r * r / static_cast<T>(n);
      emit(n, to, input, [&](const Vector<T>& x) { return x * factor; });
    }
  }

  // forward: output[line][c] = input[line][c] · factor[line]
  // grad_input = grad_output · factor, grad_factor = Σ_c grad_output · input
  void operator()(const ScaleRows& op) const {
    const std::int64_t n = width(op.input);
    const T* input = read(op.input);
    const T* const factors = read(op.factor);
    const T* gradient = sent(op.output);
    Sink<T> to = sink(op.input);
    const Sink<T> to_factor = sink(op.factor);
    for (std::int64_t line = 0; line < n_lines(op.input); ++line, input += n, gradient += n) {
      const T factor = factors[line];
      const T sum = sum_numbers<T>(n, [&](std::int64_t at, std::int64_t count) {
        const Vector<T> sent_back = load_some<T>(gradient + at, count);
        if (to) put_vector(beyond(to, at), sent_back * factor, count);
        return sent_back * load_some<T>(input + at, count);
      });
      if (to) to = beyond(to, n);
      if (to_factor) put(beyond(to_factor, line), sum);
    }
  }

  // forward: output[line][c] = input[line][c] · gain[c] + offset[c]
  void operator()(const ScaleAndShift& op) const {
    const std::int64_t n = width(op.input);
    const T* gradient = sent(op.output);
    Sink<T> to = sink(op.input);
    if (!to) return;
    for (std::int64_t line = 0; line < n_lines(op.input); ++line, gradient += n, to = beyond(to, n))
      emit(n, to, gradient, read_whole(op.gain),
           [](const Vector<T>& sent_back, const Vector<T>& gain) { return sent_back * gain; });
  }

  // forward: output = f(input)
  void operator()(const Activate& op) const {
    switch (op.function) {
      case Activation::relu:
        return activate<Activation::relu>(op);
      case Activation::gelu:
        return activate<Activation::gelu>(op);
      case Activation::gelu_tanh:
        return activate<Activation::gelu_tanh>(op);
    }
  }
  template <Activation kFunction>
  void activate(const Activate& op) const {
    emit(n_numbers(op.output), sink(op.input), sent(op.output), read(op.input),
         [](const Vector<T>& gradient, const Vector<T>& x) {
           return gradient * activation_slopes<T, kFunction>(x);
         });
  }

  // forward: output[b] = Σ_(i < n) input[b][i] / n, or input[b][0]
  void operator()(const Pool& op) const {
    const Shape& in = shape(op.input);
    const std::int32_t* const lengths = read_integers(op.lengths);
    const T* gradient = sent(op.output);
    Sink<T> to = sink(op.input);
    if (!to) return;
    for (std::int64_t b = 0; b < n_batch(); ++b, gradient += in[2]) {
      const std::int64_t n_pooled = op.pooling == Pooling::first ? 1 : lengths[b];
      const T divisor = static_cast<T>(n_pooled);
      for (std::int64_t i = 0; i < in[1]; ++i, to = beyond(to, in[2]))
        if (i < n_pooled)
          emit(in[2], to, gradient, [&](const Vector<T>& sent_back) { return sent_back / divisor; });
        else
          pass_nothing(in[2], to);
    }
  }

  // forward: output[b] = input[b][positions[b]]
  void operator()(const SelectPosition& op) const {
    const Shape& in = shape(op.input);
    const std::int32_t* const positions = read_integers(op.positions);
    const Sink<T> to = sink(op.input);
    if (!to) return;
    pass_nothing(n_numbers(op.input), to);
    for (std::int64_t b = 0; b < n_batch(); ++b)
      pass_on(in[2], beyond(to, (b * in[1] + positions[b]) * in[2]), sent(op.output) + b * in[2]);
  }

  // forward: output[b][i][e] = Σ_c edge_e[b][c] · input[b][i][c], e in start, end
  // grad_edge_e[b] = Σ_i grad_output[b][i][e] · input[b][i]
  // grad_input[b][i] = grad_output[b][i][0] · start[b] + grad_output[b][i][1] · end[b]
  void operator()(const PointAt& op) const {
    const Shape& in = shape(op.input);
    for (std::int64_t b = 0; b < n_batch(); ++b) {
      const T* const gradient = sent(op.output) + b * in[1] * 2;
      const T* const input = read(op.input) + b * in[1] * in[2];
      std::int64_t edge = 0;
      for (const TensorId query : {op.start, op.end}) {
        if (const Sink<T> to = sink(query))
          multiply<T>({gradient + edge, {1, 1}, {in[1], 2}}, row_major(input, in[1], in[2], in[2]),
                      row_major(to.data + b * in[2], 1, in[2], in[2]), to.into);
        ++edge;
      }
      const T* const start = read(op.start) + b * in[2];
      const T* const end = read(op.end) + b * in[2];
      const Sink<T> to = sink(op.input);
      for (std::int64_t i = 0; to && i < in[1]; ++i)
        emit(in[2], beyond(to, (b * in[1] + i) * in[2]), start, end,
             [&](const Vector<T>& from_start, const Vector<T>& from_end) {
               return from_start * gradient[2 * i] + from_end * gradient[2 * i + 1];
             });
    }
  }

  // forward: output = -Σ_v y[v] ln p[v], p = softmax(logits)
  // grad_logits[v] = grad_output · (p[v] - y[v])
  void operator()(const CrossEntropy& op) const {
    Line line = line_along(shape(op.logits), op.axis);
    line.outer = n_numbers(op.logits) / (line.count * line.stride);
    const std::int32_t* targets = read_integers(op.targets);
    const T* gradient = sent(op.output);
    const Sink<T> to = sink(op.logits);
    if (!to) return;
    for (std::int64_t outer = 0; outer < line.outer; ++outer)
      for (std::int64_t inner = 0; inner < line.stride; ++inner, ++targets, ++gradient) {
        const std::int64_t first = outer * line.count * line.stride + inner;
        cross_entropy(op, line, first, *targets, *targets < 0 ? T{0} : *gradient, beyond(to, first));
      }
  }
  void cross_entropy(const CrossEntropy& op, const Line& line, std::int64_t first, std::int64_t target,
                     T gradient, const Sink<T>& to) const {
    const T* const probabilities = read(op.probabilities) + first;
    if (line.stride == 1 && op.smoothing == 0) {
      assert(to.into == Into::replace && "nothing but its softmax and its loss reads the logits");
      emit(line.count, to, probabilities, [&](const Vector<T>& p) { return gradient * p; });
      // not p · g - g: where p is nearly 1 that would cancel
      if (target >= 0) to.data[target] = gradient * (probabilities[target] - 1);
      return;
    }
    const T* const logits = read(op.logits) + first;
    std::int64_t n_classes = 0;  // that are not masked: the smoothed target lies on those alone
    for (std::int64_t v = 0; v < line.count; ++v)
      n_classes += logits[v * line.stride] > -std::numeric_limits<T>::infinity() ? 1 : 0;
    for (std::int64_t v = 0; v < line.count; ++v) {
      const std::int64_t at = v * line.stride;
      const bool is_masked = !(logits[at] > -std::numeric_limits<T>::infinity());
      const T y = is_masked ? T{0} : static_cast<T>(smoothed_target(op.smoothing, n_classes, v, target));
      const T sent_back = gradient * (probabilities[at] - y);
      to.data[at] = to.into == Into::add ? to.data[at] + sent_back : sent_back;
    }
  }

  // forward: output[0] = Σ input / n over the n cells with a target
  void operator()(const MeanLoss& op) const {
    const std::span<const std::int32_t> targets = std::as_const(workspace).integers(op.targets);
    const auto n =
        std::count_if(targets.begin(), targets.end(), [](std::int32_t target) { return target >= 0; });
    const std::int32_t* const some = read_integers(op.targets);
    const Sink<T> to = sink(op.input);
    for (std::int64_t cell = 0; to && cell < n_numbers(op.input); ++cell)
      put(beyond(to, cell), some[cell] >= 0 ? T{1} / static_cast<T>(n) : T{0});
  }

 private:
  static void put_vector(const Sink<T>& to, const Vector<T>& numbers, std::int64_t count) {
    store_some<T>(to.data, to.into == Into::add ? load_some<T>(to.data, count) + numbers : numbers, count);
  }
  static void put(const Sink<T>& to, T number) {
    *to.data = to.into == Into::add ? *to.data + number : number;
  }
};

}  // namespace

template <class T>
void run_backward_operation(const Operation& operation, std::size_t index, Workspace<T>& workspace,
                            Rows rows) {
  std::visit(BackwardRunner<T>(workspace, rows, index), operation);
}
template void run_backward_operation(const Operation&, std::size_t, Workspace<float>&, Rows);
template void run_backward_operation(const Operation&, std::size_t, Workspace<double>&, Rows);

}  // namespace headscope::core
