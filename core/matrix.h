// Matrix views over arena memory, and the one function through which every product goes, so that a better one
// can take its place.
#pragma once

#include <cstdint>

namespace headscope::core {

/// Where the rows, or the columns, of a matrix lie: `stride` numbers apart, in groups of `group` whose starts
/// are `group_stride` apart. So the columns of heads side by side, [h][c], are columns of one matrix although
/// each head has a block of its own.
struct Places {
  std::int64_t count = 0;
  std::int64_t stride = 1;
  std::int64_t group = 0;  // 0: one group
  std::int64_t group_stride = 0;

  std::int64_t at(std::int64_t index) const {
    return group == 0 ? index * stride : index / group * group_stride + index % group * stride;
  }
};

/// A view of numbers: element (r, c) at data[rows.at(r) + columns.at(c)].
template <class T>
struct MatrixView {
  T* data = nullptr;
  Places rows, columns;
};

/// A row-major matrix; its rows are `row_stride` apart.
template <class T>
MatrixView<T> row_major(T* data, std::int64_t rows, std::int64_t columns, std::int64_t row_stride) {
  return {data, {rows, row_stride}, {columns, 1}};
}
template <class T>
MatrixView<T> transposed(const MatrixView<T>& view) {
  return {view.data, view.columns, view.rows};
}

enum class Into : std::uint8_t { replace, add };

/// Several products of the same shapes, each `step` numbers after the one before.
struct Batch {
  std::int64_t count = 1;
  std::int64_t left_step = 0, right_step = 0, result_step = 0;
};

/// result = left · right (+ bias, a row that is added to every row; null: none), or result += left · right;
/// for every product of the batch.
///
/// Each cell is one chain of multiply-adds over the summed index, in its order, in blocks whose bounds depend
/// on the summed side alone: its bits depend on the numbers of its row and column and on nothing else, not on
/// where it stands, how many rows or heads there are, or how work is split. Preconditions: the shapes fit,
/// the result overlaps neither operand, a bias only with Into::replace.
template <class T>
void multiply(const MatrixView<const T>& left, const MatrixView<const T>& right, const MatrixView<T>& result,
              Into into = Into::replace, const T* bias = nullptr, const Batch& batch = {});

}  // namespace headscope::core
