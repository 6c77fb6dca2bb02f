// An operation's tensors as pointers and matrices for some rows of the batch: what the files of
// forward and backward arithmetic share. Which matrix a product multiplies is said here once for both
// directions.
#pragma once

#include "core/execute.h"
#include "core/matrix.h"
#include "core/workspace.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace headscope::core {

/// [n_batch, n_heads, i, c] as the matrix [(b, i)] × [(h, c)]: heads side by side.
template <class T>
MatrixView<T> side_by_side(T* data, const Shape& shape, std::int64_t n_batch) {
  const std::int64_t n_heads = shape[1], n_tokens = shape[2], width = shape[3];
  return {data,
          {n_batch * n_tokens, width, n_tokens, n_heads * n_tokens * width},
          {n_heads * width, 1, width, n_tokens * width}};
}

/// [n_groups, n_in, n_out] as the matrix [n_in] × [(group, n_out)]: the groups' matrices side by side.
template <class T>
MatrixView<T> weights_side_by_side(T* data, const Shape& shape) {
  const std::int64_t n_groups = shape[0], n_in = shape[1], n_out = shape[2];
  return {data, {n_in, n_out}, {n_groups * n_out, 1, n_out, n_in * n_out}};
}

/// The values (and gradients) that an operation touches for some rows of the batch.
template <class T>
struct RowViews {
  Workspace<T>& workspace;
  Rows rows;

  const Shape& shape(TensorId tensor) const { return workspace.shape(tensor); }
  std::int64_t n_batch() const { return rows.end - rows.begin; }

  /// Numbers of a tensor that belong to one row of the batch.
  std::int64_t per_row(TensorId tensor) const {
    const Shape& sides = shape(tensor);
    return sides[0] == 0 ? 0 : sides.count() / sides[0];
  }
  /// The first number of the first row. Precondition: the tensor's first side is the batch.
  const T* read(TensorId tensor) const {
    return std::as_const(workspace).values(tensor).data() + rows.begin * per_row(tensor);
  }
  T* write(TensorId tensor) const { return workspace.values(tensor).data() + rows.begin * per_row(tensor); }
  const std::int32_t* read_integers(TensorId tensor) const {
    return std::as_const(workspace).integers(tensor).data() + rows.begin * per_row(tensor);
  }
  /// The first number of a tensor that has no side for the batch: a parameter, a table.
  const T* read_whole(TensorId tensor) const { return std::as_const(workspace).values(tensor).data(); }

  std::int64_t width(TensorId tensor) const { return shape(tensor)[shape(tensor).rank() - 1]; }
  /// How many rows of `width` numbers the rows of the batch have.
  std::int64_t n_lines(TensorId tensor) const { return n_batch() * per_row(tensor) / width(tensor); }
  std::int64_t n_numbers(TensorId tensor) const { return n_batch() * per_row(tensor); }

  /// All sides but the last as rows, the last as columns.
  template <class Number>
  MatrixView<Number> lines(Number* data, TensorId tensor) const {
    return row_major(data, n_lines(tensor), width(tensor), width(tensor));
  }
};

/// What a score is divided by: √width · temperature.
template <class T>
T score_divisor(const ScaleScores& op) {
  return (op.width > 0 ? std::sqrt(static_cast<T>(op.width)) : T{1}) * static_cast<T>(op.temperature);
}

/// How many of `n_keys` keys the mask leaves to query i of a row of `length` tokens: always the first.
inline std::int64_t visible_keys(Mask mask, std::int64_t length, std::int64_t i, std::int64_t n_keys) {
  const std::int64_t n_visible = std::min(length, n_keys);
  return mask == Mask::causal_and_padding ? std::min(n_visible, i + 1) : n_visible;
}

/// The side that a softmax or a loss runs along: `count` numbers, `stride` apart.
struct Line {
  std::int64_t outer = 1, count = 1, stride = 1;  // outer: lines in sequence, each of count · stride numbers
};
inline Line line_along(const Shape& shape, int axis) {
  Line line;
  for (int side = 0; side < shape.rank(); ++side) {
    if (side < axis) line.outer *= shape[side];
    if (side == axis) line.count = shape[side];
    if (side > axis) line.stride *= shape[side];
  }
  return line;
}

}  // namespace headscope::core
