#include "simulator/panels/operation_strip.h"

#include "simulator/slice.h"
#include "simulator/tensor_facts.h"
#include "simulator/widgets/matrix.h"
#include "simulator/widgets/scale_bar.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <variant>
#include <vector>

namespace headscope::simulator {
namespace {

struct Thumbnail {
  std::size_t operation;
  core::TensorId result;
  std::string word;
};

/// At most so many stand in the strip; a longer model shows those around the cursor.
constexpr float kPitch = 44, kIcon = 34, kIconHeight = 36;

std::vector<Thumbnail> thumbnails(const Panel& panel) {
  std::vector<Thumbnail> list;
  const core::Graph& graph = panel.state.session.graph();
  for (std::size_t index = 0; index < graph.operations().size(); ++index) {
    const core::TensorId result = core::result(graph.operations()[index]);
    const std::string key = text_key(graph.spec(result)) + ".short";
    list.push_back(
        {index, result, panel.words.formulas.has(key) ? panel.words.formulas.text(key) : std::string()});
  }
  return list;
}

/// The part of the list that fits, around the current operation.
std::vector<Thumbnail> visible(std::vector<Thumbnail> all, std::size_t current, std::size_t n_fit) {
  if (all.size() <= n_fit) return all;
  const std::size_t first = std::min(current > n_fit / 2 ? current - n_fit / 2 : 0, all.size() - n_fit);
  return {all.begin() + static_cast<std::ptrdiff_t>(first),
          all.begin() + static_cast<std::ptrdiff_t>(first + n_fit)};
}

void draw_picture(Panel& panel, const Rect& box, const Thumbnail& thumbnail) {
  const core::Session& session = panel.state.session;
  const core::Trace<float> trace = panel.state.trace();
  if (!trace.is_computed(thumbnail.result)) return draw_empty_thumbnail(panel.painter(), box);
  const Slice slice = slice_of(session, thumbnail.result, panel.view.step.head);
  // a thumbnail shows as much as has a pixel or two
  const std::int64_t rows = std::min<std::int64_t>(slice.rows.size, 16),
                     columns = std::min<std::int64_t>(slice.columns.size, 16);
  std::vector<float> values;
  std::vector<CellFlags> flags;
  double largest = 0;
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t column = 0; column < columns; ++column) {
      values.push_back(static_cast<float>(trace.value(thumbnail.result, slice.cell_at(row, column))));
      flags.push_back(std::isinf(values.back()) ? kMasked : CellFlags{0});
      if (std::isfinite(values.back()))
        largest = std::max(largest, std::abs(static_cast<double>(values.back())));
    }
  const ColourMap map = range_of(session.graph().spec(thumbnail.result)) == Range::shares
                            ? ColourMap::probability
                            : ColourMap::signed_values;
  draw_thumbnail(panel.painter(), box,
                 {values.data(), static_cast<int>(rows), static_cast<int>(columns),
                  static_cast<std::ptrdiff_t>(columns), 1},
                 map, round_scale(largest), flags);
}

bool is_projection(const Panel& panel, const Thumbnail& thumbnail) {
  return std::holds_alternative<core::ProjectHeads>(
      panel.state.session.graph().operations()[thumbnail.operation]);
}

/// The inset behind the three projections, which read the same input.
void draw_group(Panel& panel, const std::vector<Thumbnail>& shown, float x, float y, float pitch,
                float height) {
  for (std::size_t at = 0; at < shown.size(); ++at) {
    if (!is_projection(panel, shown[at]) || (at > 0 && is_projection(panel, shown[at - 1]))) continue;
    std::size_t last = at;
    while (last + 1 < shown.size() && is_projection(panel, shown[last + 1])) ++last;
    const Rect box{{x + pitch * static_cast<float>(at) + panel.px(1), y - panel.px(6)},
                   {x + pitch * static_cast<float>(last + 1) - panel.px(1), y + height}};
    panel.painter().fill(box, panel.painter().colour().inset, panel.px(panel.theme().radius.chip));
  }
}

}  // namespace

float draw_operation_strip(Panel& panel, const Rect& box) {
  Painter& painter = panel.painter();
  const std::size_t position = panel.state.cursor().position();
  const std::size_t current = position > 0 ? position - 1 : 0;
  const auto n_fit = static_cast<std::size_t>(std::max(3.0f, std::floor(box.width() / panel.px(kPitch))));
  const std::vector<Thumbnail> shown = visible(thumbnails(panel), current, n_fit);
  const float pitch = box.width() / static_cast<float>(shown.size());
  const float icon = std::min(panel.px(kIcon), pitch - panel.px(6)), icon_height = panel.px(kIconHeight);
  const float label_height = painter.line_height(TypeStyle::small);
  const float height = icon_height + panel.px(4) + label_height;
  draw_group(panel, shown, box.min.x, box.min.y, pitch, height + panel.px(4));
  for (std::size_t at = 0; at < shown.size(); ++at) {
    const Thumbnail& thumbnail = shown[at];
    const float centre = box.min.x + pitch * (static_cast<float>(at) + 0.5f);
    const Rect picture = rect_at({centre - icon / 2, box.min.y}, {icon, icon_height});
    draw_picture(panel, picture, thumbnail);
    if (at > 0 && !(is_projection(panel, thumbnail) && is_projection(panel, shown[at - 1]))) {
      const bool is_done = thumbnail.operation < position;
      const ImVec2 from{centre - pitch + icon / 2 + panel.px(2), picture.centre().y},
          to{picture.min.x - panel.px(2), picture.centre().y};
      if (is_done)
        painter.line(from, to, painter.colour().control, panel.px(panel.theme().line.hair));
      else
        painter.dashed_line(from, to, painter.colour().control, panel.px(panel.theme().line.hair), {2, 2});
    }
    const bool is_current = position > 0 && thumbnail.operation == current;
    const Concept hue = concept_of_name(quantity_of(panel.state.session.graph().spec(thumbnail.result).name))
                            .value_or(Concept::none);
    const Rect label = rect_at({centre - pitch / 2, picture.max.y + panel.px(4)}, {pitch, label_height});
    painter.text_in(label, painter.fitted(thumbnail.word, pitch - panel.px(2), {.type = TypeStyle::small}),
                    {.type = TypeStyle::small,
                     .weight = is_current ? Weight::semibold : Weight::regular,
                     .colour = is_current ? painter.colour().primary : painter.colour().secondary,
                     .source = Source::tensor,
                     .role = "strip"});
    if (is_current)
      painter.fill(rect_at({centre - icon / 2, label.max.y + panel.px(1)}, {icon, panel.px(2)}),
                   panel.theme().hue(hue));
    const Rect target{{centre - pitch / 2, box.min.y}, {centre + pitch / 2, label.max.y}};
    const Touch touched =
        touch(panel.ui, "strip" + std::to_string(thumbnail.operation), target, Reach::pointer);
    if (touched.hovered) panel.window.pointed.tensor = thumbnail.result;
    if (touched.clicked) panel.actions.push_back(MoveCursor{thumbnail.operation + 1});
  }
  return height;
}

}  // namespace headscope::simulator
