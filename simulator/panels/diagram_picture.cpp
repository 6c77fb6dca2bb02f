#include "simulator/panels/diagram_picture.h"

#include "simulator/slice.h"
#include "simulator/tensor_facts.h"
#include "simulator/widgets/matrix.h"
#include "simulator/widgets/scale_bar.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace headscope::simulator {
namespace {

constexpr int kMostSamples = 16, kFewestSamples = 3;
/// Rectangles of a frame's pictures: four corners each, and a draw list without vertex offsets has 65,536.
constexpr double kMostCells = 9000;
constexpr float kLeastCell = 2;  // of the thumbnail, pixels

}  // namespace

int samples_for(std::size_t n_pictures) {
  const double side = std::sqrt(kMostCells / static_cast<double>(std::max<std::size_t>(1, n_pictures)));
  return std::clamp(static_cast<int>(side), kFewestSamples, kMostSamples);
}

void draw_tensor_picture(Painter& painter, const core::Trace<float>& trace, core::TensorId tensor,
                         std::int64_t head, const Rect& box, int most) {
  if (!trace.is_computed(tensor)) return draw_empty_thumbnail(painter, box);
  const Slice slice = slice_of(trace, tensor, head);
  const auto n_of = [&](std::int64_t size, float room) {
    const std::int64_t fit = std::min<std::int64_t>(most, static_cast<std::int64_t>(room / kLeastCell));
    return std::clamp<std::int64_t>(fit, 1, std::max<std::int64_t>(1, size));
  };
  const std::int64_t rows = n_of(slice.rows.size, box.height()),
                     columns = n_of(slice.columns.size, box.width());
  const SliceNumbers numbers(trace, slice, rows, columns);
  std::vector<float> values;
  std::vector<CellFlags> flags;
  values.reserve(static_cast<std::size_t>(rows * columns));
  flags.reserve(static_cast<std::size_t>(rows * columns));
  double largest = 0;
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t column = 0; column < columns; ++column) {
      const double value = slice.rows.size == 0 || slice.columns.size == 0 ? 0 : numbers.at(row, column);
      values.push_back(static_cast<float>(value));
      flags.push_back(std::isinf(value) ? kMasked : CellFlags{0});
      if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
    }
  const ColourMap map = range_of(trace.graph().spec(tensor)) == Range::shares ? ColourMap::probability
                                                                              : ColourMap::signed_values;
  draw_thumbnail(painter, box,
                 {values.data(), static_cast<int>(rows), static_cast<int>(columns),
                  static_cast<std::ptrdiff_t>(columns), 1},
                 map, round_scale(largest), flags);
}

}  // namespace headscope::simulator
