// Matrix views over arena memory, and the one function through which every product goes, so that a better one
// can take its place.
#pragma once

#include <cstdint>

namespace headscope::core {

/// A view of row-major numbers: element (r, c) at data[r·row_stride + c].
template <class T>
struct MatrixView {
  T* data = nullptr;
  std::int64_t rows = 0, columns = 0;
  std::int64_t row_stride = 0;
};

enum class Transpose : std::uint8_t { no, yes };

/// result = left · right, or left · rightᵀ. Preconditions: the shapes fit, the result overlaps neither
/// operand. A cell's bits depend on the shapes and its row and column alone.
template <class T>
void multiply(MatrixView<const T> left, MatrixView<const T> right, Transpose right_is, MatrixView<T> result);

}  // namespace headscope::core
