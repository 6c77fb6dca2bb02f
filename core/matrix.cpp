#include "core/matrix.h"

#include <Eigen/Core>

#include <cassert>

namespace headscope::core {
namespace {

template <class T>
using RowMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using ConstMap = Eigen::Map<const RowMajor<T>, Eigen::Unaligned, Eigen::OuterStride<>>;
template <class T>
using Map = Eigen::Map<RowMajor<T>, Eigen::Unaligned, Eigen::OuterStride<>>;

template <class T>
ConstMap<T> map(const MatrixView<const T>& view) {
  return ConstMap<T>(view.data, view.rows, view.columns, Eigen::OuterStride<>(view.row_stride));
}

}  // namespace

template <class T>
void multiply(MatrixView<const T> left, MatrixView<const T> right, Transpose right_is, MatrixView<T> result) {
  assert(left.columns == (right_is == Transpose::yes ? right.columns : right.rows));
  Map<T> out(result.data, result.rows, result.columns, Eigen::OuterStride<>(result.row_stride));
  if (right_is == Transpose::yes)
    out.noalias() = map(left) * map(right).transpose();
  else
    out.noalias() = map(left) * map(right);
}

template void multiply(MatrixView<const float>, MatrixView<const float>, Transpose, MatrixView<float>);
template void multiply(MatrixView<const double>, MatrixView<const double>, Transpose, MatrixView<double>);

}  // namespace headscope::core
