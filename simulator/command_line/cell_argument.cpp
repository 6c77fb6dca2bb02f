#include "simulator/command_line/cell_argument.h"

#include "lessons/expression.h"

#include <charconv>
#include <optional>
#include <system_error>
#include <vector>

namespace headscope::simulator {
namespace {

/// "0,1,2,3", blanks and brackets allowed; nothing where it is anything else.
std::optional<core::Cell> parse_cell(std::string_view text) {
  std::vector<std::int64_t> indices;
  bool wants_number = true;
  for (std::size_t place = 0; place < text.size();) {
    const char sign = text[place];
    if (sign == ' ' || sign == '[' || sign == ']') {
      ++place;
    } else if (sign == ',' && !wants_number) {
      wants_number = true;
      ++place;
    } else if (wants_number) {
      std::int64_t index = 0;
      const auto [end, failure] = std::from_chars(text.data() + place, text.data() + text.size(), index);
      if (failure != std::errc() || indices.size() == core::kMaxRank) return std::nullopt;
      indices.push_back(index);
      place = static_cast<std::size_t>(end - text.data());
      wants_number = false;
    } else {
      return std::nullopt;
    }
  }
  if (wants_number) return std::nullopt;
  core::Cell cell;
  for (const std::int64_t index : indices) cell.push_back(index);
  return cell;
}

}  // namespace

core::Result<core::TensorId> tensor_argument(const core::Graph& graph, const std::string& name,
                                             const std::string& option) {
  if (const std::optional<core::TensorId> tensor = graph.find(name)) return *tensor;
  return core::Error{.key = "explain.unknown_tensor",
                     .where = option,
                     .values = {{"name", name}, {"closest", lessons::closest_tensor(graph, name, "")}}};
}

core::Result<core::Cell> cell_argument(const core::Graph& graph, core::TensorId tensor,
                                       const core::Shape& shape, std::string_view text,
                                       const std::string& option) {
  const std::optional<core::Cell> cell = parse_cell(text);
  if (cell && shape.contains(*cell)) return *cell;
  return core::Error{.key = "explain.no_such_cell",
                     .where = option,
                     .values = {{"given", std::string(text)},
                                {"tensor", graph.spec(tensor).name},
                                {"shape", index_list(shape, shape.rank())}}};
}

}  // namespace headscope::simulator
