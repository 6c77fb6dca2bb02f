// How much of a large matrix stands on the stage at once: as far as its numbers can be read, or its cells be
// told apart.
#include "simulator/panels/stage_matrix.h"

#include <algorithm>
#include <optional>

namespace headscope::simulator {
namespace {

/// How far numbers can be read.
int numbers_window(core::Axis axis) {
  switch (axis) {
    case core::Axis::vocabulary:
      return 8;
    case core::Axis::query:
    case core::Axis::key:
    case core::Axis::position:
      return 12;
    default:
      return 16;
  }
}

constexpr std::int64_t kPatternPage = 64;
/// A draw list of the browser has 65,535 vertices, four for a cell and four for a negative one's bar, and
/// words need some.
constexpr std::int64_t kMostCells = 6000;

/// Rows above each other, at four pixels each: what a window of 900 pixels leaves beside titles and buttons.
constexpr std::int64_t kMostStacked = 80;

/// The longest side of which all matrices together stay within the cells that can be drawn.
std::int64_t pattern_window(const StagePlan& plan) {
  std::int64_t window = kPatternPage;
  const auto n_cells = [&] {
    std::int64_t n = 0;
    for (const StageItem& item : plan.items)
      n += std::min(item.slice.rows.size, window) * std::min(item.slice.columns.size, window);
    return n;
  };
  // in a product the upper operand stands above the result
  const auto n_stacked = [&] {
    if (plan.shape != StageShape::product) return std::int64_t{0};
    const auto result = std::ranges::find(plan.items.rbegin(), plan.items.rend(), false,
                                          [](const auto& item) { return item.role == StageRole::small; });
    const std::int64_t above = plan.items[1].slice.rows.size, below = result->slice.rows.size;
    return std::min(above, window) + std::min(below, window);
  };
  while (window > 16 && (n_cells() > kMostCells || n_stacked() > kMostStacked)) window -= 8;
  return window;
}

/// From here on a page of numbers is too small a part of a matrix to stand for it.
constexpr std::int64_t kPatternFrom = 65;

}  // namespace

bool has_detail(const StagePlan& plan) {
  return std::ranges::any_of(plan.items, [](const StageItem& item) {
    if (item.role == StageRole::small) return false;
    return item.slice.rows.size > numbers_window(item.slice.rows.axis) ||
           item.slice.columns.size > numbers_window(item.slice.columns.axis);
  });
}

Detail detail_of(const WindowState& window, const StagePlan& plan) {
  if (window.detail) return *window.detail;
  if (!window.numbers.fit) return Detail::pattern;
  const bool is_large = std::ranges::any_of(plan.items, [](const StageItem& item) {
    return std::min(item.slice.rows.size, item.slice.columns.size) >= kPatternFrom;
  });
  return is_large ? Detail::pattern : Detail::numbers;
}

int window_of(const StagePlan& plan, const SliceSide& side, Detail detail) {
  const std::int64_t most = detail == Detail::numbers ? numbers_window(side.axis) : pattern_window(plan);
  return static_cast<int>(std::min(side.size, most));
}

std::optional<int> lit_index(const View& view, core::Axis axis) {
  if (!view.lit) return std::nullopt;
  for (const StageItem& item : view.stage.items) {
    if (item.slice.tensor != view.lit->tensor || item.slice.quantity != view.lit->quantity) continue;
    const std::optional<Slice::Place> place = item.slice.find(view.lit->cell);
    if (place && item.slice.rows.axis == axis) return static_cast<int>(place->row);
    if (place && item.slice.columns.axis == axis) return static_cast<int>(place->column);
  }
  return std::nullopt;
}

}  // namespace headscope::simulator
