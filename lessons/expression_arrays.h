// What expressions do with arrays and places. Used by expression_evaluate.cpp alone.
#pragma once

#include "lessons/expression.h"

#include <optional>
#include <string_view>
#include <vector>

namespace headscope::lessons {

/// The array with every number replaced by f(number).
template <class F>
Array map_array(const Array& array, F&& f) {
  Array result = array;
  for (double& value : result.values) value = f(value);
  return result;
}

/// A function of one array: sum, mean, max, min, count, argmax, argmin, or abs, sqrt, exp, ln number by
/// number. Nothing for any other name.
std::optional<Value> call_on_array(std::string_view name, const Array& array);

/// Whether two places, or any that are tied with them, are the same.
bool same_place(const Place& left, const Place& right);
/// Whether a place along one axis, or one tied with it, is the number's.
bool is_at(const Place& place, double number);

}  // namespace headscope::lessons
