// The gradients that an operation's backward pass by activations reads and writes, for some rows of the
// batch: what the files of backward arithmetic share.
#pragma once

#include "core/simd.h"
#include "core/views.h"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace headscope::core {

/// Where a gradient goes: nowhere (null), into the place of what was there, or on top of it.
template <class T>
struct Sink {
  T* data = nullptr;
  Into into = Into::replace;

  explicit operator bool() const { return data != nullptr; }
};

template <class T>
struct GradientViews {
  RowViews<T> views;
  std::size_t index;  // of the operation

  /// The gradient of the operation's result.
  const T* sent(TensorId tensor) const {
    return std::as_const(views.workspace).gradients(tensor).data() + views.rows.begin * views.per_row(tensor);
  }
  /// The gradient of an activation that the operation reads.
  Sink<T> sink(TensorId tensor) const {
    if (!views.workspace.has_gradient(tensor)) return {};
    return {views.workspace.gradients(tensor).data() + views.rows.begin * views.per_row(tensor),
            views.workspace.gradient_plan().is_first(index, tensor) ? Into::replace : Into::add};
  }
};

/// What most operations send: the gradient of n cells is function(…) of numbers in the same places.
template <class T, class Function>
void emit(std::int64_t n, const Sink<T>& to, const T* from, const Function& function) {
  if (!to) return;
  if (to.into == Into::replace) return map_numbers<T>(n, from, to.data, function);
  map_numbers<T>(n, from, to.data, to.data,
                 [&](const Vector<T>& number, const Vector<T>& before) { return before + function(number); });
}

template <class T, class Function>
void emit(std::int64_t n, const Sink<T>& to, const T* left, const T* right, const Function& function) {
  if (!to) return;
  for_vectors<T>(n, [&](std::int64_t at, std::int64_t count) {
    const Vector<T> number = function(load_some<T>(left + at, count), load_some<T>(right + at, count));
    store_some<T>(to.data + at, to.into == Into::add ? load_some<T>(to.data + at, count) + number : number,
                  count);
  });
}

template <class T>
void pass_on(std::int64_t n, const Sink<T>& to, const T* from) {
  if (to && to.into == Into::replace)
    copy_numbers(from, n, to.data);
  else
    emit(n, to, from, [](const Vector<T>& gradient) { return gradient; });
}

/// Cells that get nothing.
template <class T>
void pass_nothing(std::int64_t n, const Sink<T>& to) {
  if (to && to.into == Into::replace) fill_numbers(to.data, n, T{0});
}

template <class T>
Sink<T> beyond(const Sink<T>& to, std::int64_t n) {
  return {to.data + n, to.into};
}

template <class T>
void put_vector(const Sink<T>& to, const Vector<T>& numbers, std::int64_t count) {
  store_some<T>(to.data, to.into == Into::add ? load_some<T>(to.data, count) + numbers : numbers, count);
}

template <class T>
void put(const Sink<T>& to, T number) {
  *to.data = to.into == Into::add ? *to.data + number : number;
}

}  // namespace headscope::core
