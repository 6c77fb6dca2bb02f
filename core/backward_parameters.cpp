// Backward arithmetic by parameters: sums over all rows of the batch. A part writes a share of a parameter's
// cells, each of them whole, so that neither the number of parts nor of threads changes a bit.
#include "core/backward.h"

#include "core/simd.h"
#include "core/views.h"

#include <algorithm>
#include <array>
#include <variant>

namespace headscope::core {
namespace {

struct Range {
  std::int64_t begin = 0, end = 0;
  std::int64_t count() const { return end - begin; }
};

template <class T>
struct ParameterRunner {
  RowViews<T> views;
  std::size_t index;  // of the operation
  Part part;

  const T* sent(TensorId tensor) const { return std::as_const(views.workspace).gradients(tensor).data(); }
  bool is_parameter(TensorId tensor) const {
    return views.workspace.has_gradient(tensor) &&
           views.workspace.plan().offset(tensor) < views.workspace.plan().n_parameters();
  }
  T* sum_of_all(TensorId tensor) const { return views.workspace.gradients(tensor).data(); }
  Into into(TensorId tensor) const {
    return views.workspace.gradient_plan().is_first(index, tensor) ? Into::replace : Into::add;
  }
  /// This part's share of n rows or columns; whole vectors, so that no two parts share a cache line.
  Range share(std::int64_t n) const {
    constexpr std::int64_t kGrain = 16;
    const std::int64_t n_grains = (n + kGrain - 1) / kGrain;
    return {std::min(n, n_grains * part.index / part.count * kGrain),
            std::min(n, n_grains * (part.index + 1) / part.count * kGrain)};
  }
  bool is_last_part() const { return part.index + 1 == part.count; }

  // No parameters.
  void operator()(const SinusoidalPositions&) const {}
  void operator()(const Scores&) const {}
  void operator()(const ScaleScores&) const {}
  void operator()(const MaskScores&) const {}
  void operator()(const MaskPositions&) const {}
  void operator()(const Softmax&) const {}
  void operator()(const DropoutMask&) const {}
  void operator()(const ApplyDropout&) const {}
  void operator()(const MixValues&) const {}
  void operator()(const ConcatHeads&) const {}
  void operator()(const HeadContribution&) const {}  // nothing reads its result
  void operator()(const Add&) const {}
  void operator()(const RowMean&) const {}
  void operator()(const Centre&) const {}
  void operator()(const InverseDeviation&) const {}
  void operator()(const ScaleRows&) const {}
  void operator()(const Activate&) const {}
  void operator()(const Pool&) const {}
  void operator()(const SelectPosition&) const {}
  void operator()(const PointAt&) const {}
  void operator()(const CrossEntropy&) const {}
  void operator()(const MeanLoss&) const {}

  // forward: output[b][i] = table[ids[b][i]]
  // grad_table[v] = Σ over (b, i) with ids[b][i] = v of grad_output[b][i]
  void operator()(const Lookup& op) const {
    if (!is_parameter(op.table)) return;
    const std::int64_t d_model = views.width(op.table);
    const Range some = share(views.shape(op.table)[0]);
    T* const table = sum_of_all(op.table);
    if (into(op.table) == Into::replace)
      std::fill(table + some.begin * d_model, table + some.end * d_model, T{0});
    const std::span<const std::int32_t> ids = std::as_const(views.workspace).integers(op.ids);
    const T* gradient = sent(op.output);
    for (const std::int32_t id : ids) {
      if (id >= some.begin && id < some.end) add(d_model, gradient, table + id * d_model);
      gradient += d_model;
    }
  }

  // forward: output[b][i] = input[b][i] + positions[i]
  // grad_positions[i] = Σ_b grad_output[b][i]
  void operator()(const AddPositions& op) const {
    if (!is_parameter(op.positions)) return;
    const Shape& out = views.shape(op.output);
    const std::int64_t d_model = out[2];
    const Range some = share(views.shape(op.positions)[0]);
    T* const positions = sum_of_all(op.positions);
    if (into(op.positions) == Into::replace)
      std::fill(positions + some.begin * d_model, positions + some.end * d_model, T{0});
    const std::int64_t n = std::max<std::int64_t>(0, std::min(some.end, out[1]) - some.begin);
    for (std::int64_t b = 0; b < out[0]; ++b)
      add(n * d_model, sent(op.output) + (b * out[1] + some.begin) * d_model,
          positions + some.begin * d_model);
  }

  // forward: output[b][h][i][j] = input[b][h][i][j] + table[h][j - i + max_tokens - 1]
  // grad_table[h][distance] = Σ over (b, i, j) with j - i = distance of grad_output
  void operator()(const AddRelativeBias& op) const {
    if (!is_parameter(op.table)) return;
    const Shape& out = views.shape(op.output);
    const std::int64_t n_distances = views.width(op.table), zero = n_distances / 2;
    for (std::int64_t h = out[1] * part.index / part.count; h < out[1] * (part.index + 1) / part.count; ++h) {
      T* const table = sum_of_all(op.table) + h * n_distances;
      if (into(op.table) == Into::replace) std::fill_n(table, n_distances, T{0});
      for (std::int64_t b = 0; b < out[0]; ++b)
        for (std::int64_t i = 0; i < out[2]; ++i)
          add(out[3], sent(op.output) + ((b * out[1] + h) * out[2] + i) * out[3], table + zero - i);
    }
  }

  // forward: output[b][h] = input[b] · weight[h] + bias[h]
  // grad_weight[h] = Σ_b input[b]ᵀ · grad_output[b][h], grad_bias[h] = Σ_(b, i) grad_output[b][h][i]
  void operator()(const ProjectHeads& op) const {
    const MatrixView<const T> gradient =
        side_by_side(sent(op.output), views.shape(op.output), views.n_batch());
    if (is_parameter(op.weight))
      outer_product(op.input, gradient, weights_side_by_side(sum_of_all(op.weight), views.shape(op.weight)),
                    into(op.weight));
    if (op.bias && is_parameter(*op.bias) && is_last_part()) {
      const Shape& out = views.shape(op.output);
      T* const bias = sum_of_all(*op.bias);
      if (into(*op.bias) == Into::replace) std::fill_n(bias, out[1] * out[3], T{0});
      for (std::int64_t b = 0; b < out[0]; ++b)
        for (std::int64_t h = 0; h < out[1]; ++h)
          add_lines(out[2], out[3], sent(op.output) + (b * out[1] + h) * out[2] * out[3], bias + h * out[3]);
    }
  }

  // forward: output = input · weight + bias
  // grad_weight = inputᵀ · grad_output, grad_bias = Σ over rows of grad_output
  void operator()(const Linear& op) const {
    const std::int64_t n_out = views.width(op.output);
    if (is_parameter(op.weight))
      outer_product(op.input, views.lines(sent(op.output), op.output),
                    row_major(sum_of_all(op.weight), views.width(op.input), n_out, n_out), into(op.weight));
    if (op.bias && is_parameter(*op.bias) && is_last_part()) sum_lines(op.output, n_out, *op.bias);
  }

  // forward: output[b][i][o] = input[b][i] · weight[o] + bias[o]
  void operator()(const ProjectOutputs& op) const {
    const std::int64_t n_columns = views.shape(op.weight)[0] * views.shape(op.weight)[2];
    if (is_parameter(op.weight))
      outer_product(op.input, row_major(sent(op.output), views.n_lines(op.input), n_columns, n_columns),
                    weights_side_by_side(sum_of_all(op.weight), views.shape(op.weight)), into(op.weight));
    if (op.bias && is_parameter(*op.bias) && is_last_part()) sum_lines(op.output, n_columns, *op.bias);
  }

  // forward: output[line] = input[line] · gain + offset
  // grad_gain = Σ_line grad_output[line] · input[line], grad_offset = Σ_line grad_output[line]
  void operator()(const ScaleAndShift& op) const {
    const std::int64_t n = views.width(op.output);
    if (is_parameter(op.offset) && is_last_part()) sum_lines(op.output, n, op.offset);
    if (!is_parameter(op.gain) || part.index != 0) return;
    T* const gain = sum_of_all(op.gain);
    if (into(op.gain) == Into::replace) std::fill_n(gain, n, T{0});
    const T* const input = views.read(op.input);
    const T* const gradient = sent(op.output);
    add_up(views.n_lines(op.output), n, gain, [&](std::int64_t at, std::int64_t count) {
      return load_some<T>(input + at, count) * load_some<T>(gradient + at, count);
    });
  }

 private:
  static void add(std::int64_t n, const T* from, T* to) {
    map_numbers<T>(n, from, to, to,
                   [](const Vector<T>& number, const Vector<T>& sum) { return sum + number; });
  }
  /// to[c] += Σ_line number(line · n + c), a few vectors of columns at a time so that lines are read in
  /// pieces.
  template <class Number>
  static void add_up(std::int64_t n_lines, std::int64_t n, T* to, const Number& number) {
    constexpr std::size_t kVectors = 4;
    constexpr std::int64_t kWidth = kVectors * std::int64_t{kLanes<T>};
    std::int64_t at = 0;
    for (; at + kWidth <= n; at += kWidth) {
      std::array<Vector<T>, kVectors> sums;
      for (std::size_t v = 0; v < kVectors; ++v)
        sums[v] = load(to + at + static_cast<std::int64_t>(v) * kLanes<T>);
      for (std::int64_t line = 0; line < n_lines; ++line)
        for (std::size_t v = 0; v < kVectors; ++v)
          sums[v] +=
              number(line * n + at + static_cast<std::int64_t>(v) * kLanes<T>, std::int64_t{kLanes<T>});
      for (std::size_t v = 0; v < kVectors; ++v)
        store(to + at + static_cast<std::int64_t>(v) * kLanes<T>, sums[v]);
    }
    for_vectors<T>(n - at, [&](std::int64_t rest, std::int64_t count) {
      Vector<T> sum = load_some<T>(to + at + rest, count);
      for (std::int64_t line = 0; line < n_lines; ++line) sum += number(line * n + at + rest, count);
      store_some<T>(to + at + rest, sum, count);
    });
  }
  /// to[c] += Σ_line from[line][c].
  static void add_lines(std::int64_t n_lines, std::int64_t n, const T* from, T* to) {
    add_up(n_lines, n, to,
           [&](std::int64_t at, std::int64_t count) { return load_some<T>(from + at, count); });
  }
  void sum_lines(TensorId tensor, std::int64_t n, TensorId parameter) const {
    T* const to = sum_of_all(parameter);
    if (into(parameter) == Into::replace) std::fill_n(to, n, T{0});
    add_lines(views.n_batch() * views.per_row(tensor) / n, n, sent(tensor), to);
  }
  /// result = inputᵀ · gradient, for this part's share of the result's rows.
  void outer_product(TensorId input, const MatrixView<const T>& gradient, const MatrixView<T>& result,
                     Into how) const {
    const Range some = share(views.width(input));
    if (some.count() == 0) return;
    MatrixView<const T> left = transposed(views.lines(views.read(input), input));
    left.data += some.begin, left.rows.count = some.count();
    MatrixView<T> to = result;
    to.data += result.rows.at(some.begin), to.rows.count = some.count();
    multiply<T>(left, gradient, to, how);
  }
};

}  // namespace

template <class T>
void run_backward_parameters(const Operation& operation, std::size_t index, Workspace<T>& workspace,
                             Part part) {
  std::visit(ParameterRunner<T>{{workspace, {0, workspace.sizes().batch}}, index, part}, operation);
}
template void run_backward_parameters(const Operation&, std::size_t, Workspace<float>&, Part);
template void run_backward_parameters(const Operation&, std::size_t, Workspace<double>&, Part);

}  // namespace headscope::core
