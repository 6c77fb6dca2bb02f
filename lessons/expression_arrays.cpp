// Functions of arrays, and the equality of places.
#include "lessons/expression_arrays.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>

namespace headscope::lessons {
namespace {

bool has_indices(const Place& place, const std::vector<std::int64_t>& indices) {
  return place.indices == indices ||
         std::find(place.ties.begin(), place.ties.end(), indices) != place.ties.end();
}

Value extreme_place(const Array& array, bool (*is_better)(double, double)) {
  std::size_t best = 0;
  for (std::size_t place = 1; place < array.values.size(); ++place)
    if (std::isnan(array.values[best]) || is_better(array.values[place], array.values[best])) best = place;
  const auto indices = [&](std::size_t place) {
    std::vector<std::int64_t> result(array.sides.size());
    auto rest = static_cast<std::int64_t>(place);
    for (std::size_t side = array.sides.size(); side-- > 0; rest /= array.sides[side])
      result[side] = rest % array.sides[side];
    return result;
  };
  Place found{array.axes, indices(best)};
  for (std::size_t place = 0; place < array.values.size(); ++place)
    if (place != best && array.values[place] == array.values[best]) found.ties.push_back(indices(place));
  return found;
}

}  // namespace

std::optional<Value> call_on_array(std::string_view name, const Array& array) {
  const std::vector<double>& values = array.values;
  if (name == "sum") return std::accumulate(values.begin(), values.end(), 0.0);
  if (name == "mean")
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  if (name == "max") return *std::max_element(values.begin(), values.end());
  if (name == "min") return *std::min_element(values.begin(), values.end());
  if (name == "count")
    return std::int64_t{std::count_if(values.begin(), values.end(), [](double x) { return x != 0; })};
  if (name == "argmax") return extreme_place(array, [](double x, double y) { return x > y; });
  if (name == "argmin") return extreme_place(array, [](double x, double y) { return x < y; });
  if (name == "abs") return map_array(array, [](double x) { return std::abs(x); });
  if (name == "sqrt") return map_array(array, [](double x) { return std::sqrt(x); });
  if (name == "exp") return map_array(array, [](double x) { return std::exp(x); });
  if (name == "ln") return map_array(array, [](double x) { return std::log(x); });
  return std::nullopt;
}

bool same_place(const Place& left, const Place& right) {
  return has_indices(left, right.indices) || has_indices(right, left.indices);
}

bool is_at(const Place& place, double number) {
  return number == std::round(number) && std::abs(number) < 1e15 &&
         has_indices(place, {static_cast<std::int64_t>(number)});
}

}  // namespace headscope::lessons
