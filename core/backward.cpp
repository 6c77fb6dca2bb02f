// Backward arithmetic by activations: each operation but attention's (backward_attention.cpp) sends the
// gradient of its result to what it read, for some rows of the batch. By parameters: backward_parameters.cpp.
#include "core/backward.h"

#include "core/activations.h"
#include "core/backward_attention.h"
#include "core/gradient_views.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>

namespace headscope::core {
namespace {

template <class T>
struct BackwardRunner {
  RowViews<T> views;
  GradientViews<T> gradients;

  // forward: output[b][i] = table[ids[b][i]]; the table is a parameter
  void operator()(const Lookup&) const {}
  void operator()(const SinusoidalPositions&) const {}
  void operator()(const DropoutMask&) const {}

  // forward: output = input + positions
  void operator()(const AddPositions& op) const {
    pass_on(views.n_numbers(op.output), gradients.sink(op.input), gradients.sent(op.output));
  }

  // forward: output = input · mask
  void operator()(const ApplyDropout& op) const {
    emit(views.n_numbers(op.output), gradients.sink(op.input), gradients.sent(op.output), views.read(op.mask),
         [](const Vector<T>& gradient, const Vector<T>& mask) { return gradient * mask; });
  }

  // forward: output = input · weight + bias
  // grad_input = grad_output · weightᵀ
  void operator()(const Linear& op) const {
    const std::int64_t n_in = views.width(op.input), n_out = views.width(op.output);
    if (const Sink<T> to = gradients.sink(op.input))
      multiply<T>(views.lines(gradients.sent(op.output), op.output),
                  transposed(row_major(views.read_whole(op.weight), n_in, n_out, n_out)),
                  views.lines(to.data, op.input), to.into);
  }

  // forward: output[b][i][o] = input[b][i] · weight[o] + bias[o]
  // grad_input = Σ_o grad_output[o] · weight[o]ᵀ
  void operator()(const ProjectOutputs& op) const {
    const std::int64_t n_columns = views.shape(op.weight)[0] * views.shape(op.weight)[2];
    if (const Sink<T> to = gradients.sink(op.input))
      multiply<T>(row_major(gradients.sent(op.output), views.n_lines(op.input), n_columns, n_columns),
                  transposed(weights_side_by_side(views.read_whole(op.weight), views.shape(op.weight))),
                  views.lines(to.data, op.input), to.into);
  }

  // forward: output = left + right: the gradient goes both ways
  void operator()(const Add& op) const {
    pass_on(views.n_numbers(op.output), gradients.sink(op.left), gradients.sent(op.output));
    pass_on(views.n_numbers(op.output), gradients.sink(op.right), gradients.sent(op.output));
  }

  // forward: output[line] = Σ_c input[line][c] / D
  void operator()(const RowMean& op) const {
    const std::int64_t n = views.width(op.input);
    const T* gradient = gradients.sent(op.output);
    Sink<T> to = gradients.sink(op.input);
    if (!to) return;
    for (std::int64_t line = 0; line < views.n_lines(op.input); ++line, to = beyond(to, n)) {
      const T share = gradient[line] / static_cast<T>(n);
      emit(n, to, to.data, [&](const Vector<T>&) { return broadcast(share); });
    }
  }

  // forward: output[line][c] = input[line][c] - mean[line]
  // grad_input = grad_output, grad_mean = Σ_c -grad_output
  void operator()(const Centre& op) const {
    const std::int64_t n = views.width(op.input);
    const T* gradient = gradients.sent(op.output);
    pass_on(views.n_numbers(op.output), gradients.sink(op.input), gradient);
    const Sink<T> to = gradients.sink(op.mean);
    if (!to) return;
    for (std::int64_t line = 0; line < views.n_lines(op.input); ++line, gradient += n)
      put(beyond(to, line), -sum_numbers<T>(n, [&](std::int64_t at, std::int64_t count) {
            return load_some<T>(gradient + at, count);
          }));
  }

  // forward: r[line] = 1 / √(Σ_c input[line][c]² / D + ε)
  // grad_input[c] = grad_r · (-r³ · input[c] / D)
  void operator()(const InverseDeviation& op) const {
    const std::int64_t n = views.width(op.input);
    const T* input = views.read(op.input);
    const T* const deviations = views.read(op.output);
    const T* const gradient = gradients.sent(op.output);
    Sink<T> to = gradients.sink(op.input);
    if (!to) return;
    for (std::int64_t line = 0; line < views.n_lines(op.input); ++line, input += n, to = beyond(to, n)) {
      const T r = deviations[line];
      const T factor = -gradient[line] * r * r * r / static_cast<T>(n);
      emit(n, to, input, [&](const Vector<T>& x) { return x * factor; });
    }
  }

  // forward: output[line][c] = input[line][c] · factor[line]
  // grad_input = grad_output · factor, grad_factor = Σ_c grad_output · input
  void operator()(const ScaleRows& op) const {
    const std::int64_t n = views.width(op.input);
    const T* input = views.read(op.input);
    const T* const factors = views.read(op.factor);
    const T* gradient = gradients.sent(op.output);
    Sink<T> to = gradients.sink(op.input);
    const Sink<T> to_factor = gradients.sink(op.factor);
    for (std::int64_t line = 0; line < views.n_lines(op.input); ++line, input += n, gradient += n) {
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
    const std::int64_t n = views.width(op.input);
    const T* gradient = gradients.sent(op.output);
    Sink<T> to = gradients.sink(op.input);
    if (!to) return;
    for (std::int64_t line = 0; line < views.n_lines(op.input); ++line, gradient += n, to = beyond(to, n))
      emit(n, to, gradient, views.read_whole(op.gain),
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
    emit(views.n_numbers(op.output), gradients.sink(op.input), gradients.sent(op.output),
         views.read(op.input), [](const Vector<T>& gradient, const Vector<T>& x) {
           return gradient * activation_slopes<T, kFunction>(x);
         });
  }

  // forward: output[b] = Σ_(i < n) input[b][i] / n, or input[b][0]
  void operator()(const Pool& op) const {
    const Shape& in = views.shape(op.input);
    const std::int32_t* const lengths = views.read_integers(op.lengths);
    const T* gradient = gradients.sent(op.output);
    Sink<T> to = gradients.sink(op.input);
    if (!to) return;
    for (std::int64_t b = 0; b < views.n_batch(); ++b, gradient += in[2]) {
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
    const Shape& in = views.shape(op.input);
    const std::int32_t* const positions = views.read_integers(op.positions);
    const Sink<T> to = gradients.sink(op.input);
    if (!to) return;
    pass_nothing(views.n_numbers(op.input), to);
    for (std::int64_t b = 0; b < views.n_batch(); ++b)
      pass_on(in[2], beyond(to, (b * in[1] + positions[b]) * in[2]), gradients.sent(op.output) + b * in[2]);
  }

  // forward: output[b][i][e] = Σ_c edge_e[b][c] · input[b][i][c], e in start, end
  // grad_edge_e[b] = Σ_i grad_output[b][i][e] · input[b][i]
  // grad_input[b][i] = grad_output[b][i][0] · start[b] + grad_output[b][i][1] · end[b]
  void operator()(const PointAt& op) const {
    const Shape& in = views.shape(op.input);
    for (std::int64_t b = 0; b < views.n_batch(); ++b) {
      const T* const gradient = gradients.sent(op.output) + b * in[1] * 2;
      const T* const input = views.read(op.input) + b * in[1] * in[2];
      std::int64_t edge = 0;
      for (const TensorId query : {op.start, op.end}) {
        if (const Sink<T> to = gradients.sink(query))
          multiply<T>({gradient + edge, {1, 1}, {in[1], 2}}, row_major(input, in[1], in[2], in[2]),
                      row_major(to.data + b * in[2], 1, in[2], in[2]), to.into);
        ++edge;
      }
      const T* const start = views.read(op.start) + b * in[2];
      const T* const end = views.read(op.end) + b * in[2];
      const Sink<T> to = gradients.sink(op.input);
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
    Line line = line_along(views.shape(op.logits), op.axis);
    line.outer = views.n_numbers(op.logits) / (line.count * line.stride);
    const std::int32_t* targets = views.read_integers(op.targets);
    const T* gradient = gradients.sent(op.output);
    const Sink<T> to = gradients.sink(op.logits);
    if (!to) return;
    for (std::int64_t outer = 0; outer < line.outer; ++outer)
      for (std::int64_t inner = 0; inner < line.stride; ++inner, ++targets, ++gradient) {
        const std::int64_t first = outer * line.count * line.stride + inner;
        cross_entropy(op, line, first, *targets, *targets < 0 ? T{0} : *gradient, beyond(to, first));
      }
  }
  void cross_entropy(const CrossEntropy& op, const Line& line, std::int64_t first, std::int64_t target,
                     T gradient, const Sink<T>& to) const {
    const T* const probabilities = views.read(op.probabilities) + first;
    if (line.stride == 1 && op.smoothing == 0) {
      assert(to.into == Into::replace && "nothing but its softmax and its loss reads the logits");
      emit(line.count, to, probabilities, [&](const Vector<T>& p) { return gradient * p; });
      // not p · g - g: where p is nearly 1 that would cancel
      if (target >= 0) to.data[target] = gradient * (probabilities[target] - 1);
      return;
    }
    const T* const logits = views.read(op.logits) + first;
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
    const std::span<const std::int32_t> targets = std::as_const(views.workspace).integers(op.targets);
    const auto n =
        std::count_if(targets.begin(), targets.end(), [](std::int32_t target) { return target >= 0; });
    const std::int32_t* const some = views.read_integers(op.targets);
    const Sink<T> to = gradients.sink(op.input);
    for (std::int64_t cell = 0; to && cell < views.n_numbers(op.input); ++cell)
      put(beyond(to, cell), some[cell] >= 0 ? T{1} / static_cast<T>(n) : T{0});
  }
};

}  // namespace

template <class T>
void run_backward_operation(const Operation& operation, std::size_t index, Workspace<T>& workspace,
                            Rows rows) {
  const RowViews<T> views{workspace, rows};
  const GradientViews<T> gradients{views, index};
  const AttentionBackward<T> attention{views, gradients};
  const BackwardRunner<T> others{views, gradients};
  std::visit(
      [&](const auto& op) {
        if constexpr (std::is_invocable_v<const AttentionBackward<T>&, decltype(op)>)
          attention(op);
        else
          others(op);
      },
      operation);
}
template void run_backward_operation(const Operation&, std::size_t, Workspace<float>&, Rows);
template void run_backward_operation(const Operation&, std::size_t, Workspace<double>&, Rows);

}  // namespace headscope::core
