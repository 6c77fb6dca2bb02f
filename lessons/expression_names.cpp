// What names in expressions stand for: tensors, seen from a scope outwards, and words of a sentence. And how
// values read.
#include "lessons/expression.h"

#include "core/edit_distance.h"
#include "core/graph_paths.h"
#include "lessons/number_format.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace headscope::lessons {
namespace {

/// "the#2" is ("the", 2); a word without a number is ("the", nothing).
std::pair<std::string_view, std::optional<int>> split_number(std::string_view word) {
  const std::size_t mark = word.rfind('#');
  if (mark == std::string_view::npos || mark == 0) return {word, std::nullopt};
  int number = 0;
  const char* end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data() + mark + 1, end, number);
  if (error != std::errc() || stop != end || number < 1) return {word, std::nullopt};
  return {word.substr(0, mark), number};
}

bool is_word_axis(core::Axis axis) {
  return axis == core::Axis::query || axis == core::Axis::key || axis == core::Axis::position;
}

std::string index_text(core::Axis axis, std::int64_t index, const core::Session& session) {
  if (is_word_axis(axis) && index >= 0 && static_cast<std::size_t>(index) < session.n_positions())
    return session.token_at(static_cast<std::size_t>(index)).text;
  if (axis == core::Axis::vocabulary && index >= 0 && index < session.vocabulary().size())
    return session.vocabulary().token(static_cast<std::int32_t>(index));
  return std::to_string(index);
}

std::string array_text(const Array& array) {
  constexpr std::size_t kMostShown = 12;
  std::string text = "[";
  for (std::size_t place = 0; place < std::min(array.values.size(), kMostShown); ++place)
    text += (place > 0 ? ", " : "") + format_number(array.values[place], NumberKind::value);
  return text + (array.values.size() > kMostShown ? ", …]" : "]");
}

std::string whole_text(std::int64_t value) {
  return (value < 0 ? "−" : "") + std::to_string(value < 0 ? -value : value);
}

}  // namespace

std::optional<core::TensorId> find_tensor(const core::Graph& graph, std::string_view name,
                                          std::string_view inside) {
  for (std::string_view scope = inside; !scope.empty(); scope = core::owner(scope))
    if (const auto found = graph.find(std::string(scope) + "." + std::string(name))) return found;
  return graph.find(name);
}

std::string closest_tensor(const core::Graph& graph, std::string_view name, std::string_view inside) {
  std::string closest;
  std::size_t least = std::numeric_limits<std::size_t>::max();
  const auto consider = [&](const std::string& candidate) {
    const std::size_t apart = core::edit_distance(candidate, name);
    if (apart < least) least = apart, closest = candidate;
  };
  for (const auto& [full, tensor] : graph.names()) {
    const std::string short_name(core::leaf(full));
    if (find_tensor(graph, short_name, inside) == tensor) consider(short_name);
    consider(full);
    if (short_name == name && least > 0) least = 0, closest = full;  // its end alone: far from the whole name
  }
  return closest;
}

WordPlace find_word(std::string_view word, std::span<const std::string> words) {
  const auto nth = [&](std::string_view text, int number) {
    WordPlace place;
    for (std::size_t position = 0; position < words.size(); ++position)
      if (words[position] == text && ++place.n_occurrences == number)
        place.position = static_cast<std::int64_t>(position);
    return place;
  };
  WordPlace whole = nth(word, 1);  // a token may itself have a "#"
  if (whole.position) return whole;
  const auto [text, number] = split_number(word);
  if (!number) return whole;
  WordPlace numbered = nth(text, *number);
  numbered.is_numbered = true;
  return numbered;
}

std::vector<std::string> session_words(const core::Session& session) {
  std::vector<std::string> words;
  for (std::size_t position = 0; position < session.n_positions(); ++position)
    words.push_back(session.token_at(position).text);
  return words;
}

bool nearly_equal(double left, double right) {
  if (left == right) return true;  // infinities, too
  return std::abs(left - right) <= 1e-5 * std::max({1.0, std::abs(left), std::abs(right)});
}

std::optional<bool> as_truth(const Value& value) {
  if (const bool* truth = std::get_if<bool>(&value)) return *truth;
  return std::nullopt;
}

std::optional<double> as_number(const Value& value) {
  if (const double* real = std::get_if<double>(&value)) return *real;
  if (const std::int64_t* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  const Place* place = std::get_if<Place>(&value);
  if (place && place->indices.size() == 1) return static_cast<double>(place->indices[0]);
  return std::nullopt;
}

std::string value_text(const Value& value, const core::Session& session) {
  if (const double* real = std::get_if<double>(&value)) return format_number(*real, NumberKind::value);
  if (const std::int64_t* whole = std::get_if<std::int64_t>(&value)) return whole_text(*whole);
  if (const bool* truth = std::get_if<bool>(&value)) return *truth ? "✓" : "✗";
  if (const std::string* text = std::get_if<std::string>(&value)) return *text;
  if (const Array* array = std::get_if<Array>(&value)) return array_text(*array);
  const Place& place = std::get<Place>(value);
  std::string text;
  for (std::size_t side = 0; side < place.indices.size(); ++side)
    text += (side > 0 ? ", " : "") + index_text(place.axes[side], place.indices[side], session);
  return text;
}

}  // namespace headscope::lessons
