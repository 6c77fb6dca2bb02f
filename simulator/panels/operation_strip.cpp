#include "simulator/panels/operation_strip.h"

#include "simulator/slice.h"
#include "simulator/tensor_facts.h"
#include "simulator/widgets/controls.h"
#include "simulator/widgets/matrix.h"
#include "simulator/widgets/scale_bar.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace headscope::simulator {
namespace {

/// One place of the strip: an operation's result, or, where the update has come, a parameter.
struct Thumbnail {
  core::TensorId tensor;
  std::string word;
  std::size_t position = 0;               // where a click moves the cursor
  std::optional<std::size_t> operation;   // none: a parameter
  bool is_done = false, is_back = false;  // it has run, forward; backward
};

constexpr float kPitch = 44, kIcon = 34, kIconHeight = 36, kArrowHead = 4;

std::string short_word(const Panel& panel, core::TensorId tensor) {
  const core::TensorSpec& spec = panel.state.session.graph().spec(tensor);
  const std::string key = text_key(spec) + ".short";
  return panel.words.formulas.has(key) ? panel.words.formulas.text(key) : spec.symbol;
}

/// Of `all` places those that fit, around the current one.
std::size_t first_shown(std::size_t all, std::size_t current, std::size_t n_fit) {
  if (all <= n_fit) return 0;
  return std::min(current > n_fit / 2 ? current - n_fit / 2 : 0, all - n_fit);
}

/// The strip's places that fit, the current one among them; nothing is made for those that do not.
struct Strip {
  std::vector<Thumbnail> shown;
  std::optional<std::size_t> current;  // of `shown`
};

Strip parameters_strip(const Panel& panel, const core::Step& last, std::size_t n_fit) {
  const core::StepList& steps = panel.state.session.steps();
  const std::span<const core::TensorId> parameters = steps.parameters();
  const auto current =
      static_cast<std::size_t>(std::ranges::find(parameters, last.parameter) - parameters.begin());
  const std::size_t first = first_shown(parameters.size(), current, n_fit);
  Strip strip{.current = current - first};
  for (std::size_t at = first; at < std::min(parameters.size(), first + n_fit); ++at)
    strip.shown.push_back({.tensor = parameters[at],
                           .word = short_word(panel, parameters[at]),
                           .position = steps.update_begin() + at + 1,
                           .is_done = at <= current});
  return strip;
}

Strip operations_strip(const Panel& panel, const std::optional<core::Step>& last, std::size_t n_fit) {
  const core::Session& session = panel.state.session;
  const core::Graph& graph = session.graph();
  const core::StepList& steps = session.steps();
  const core::Trace<float> trace = panel.state.trace();
  const std::span<const std::size_t> backward = trace.workspace().gradient_plan().operations();
  const bool is_backward = last && last->phase == core::Phase::backward;
  const std::size_t n = graph.operations().size(), current = last ? last->operation : 0;
  const std::size_t first = first_shown(n, current, n_fit);
  Strip strip;
  if (last) strip.current = current - first;
  for (std::size_t at = first; at < std::min(n, first + n_fit); ++at) {
    const core::TensorId tensor = core::result(graph.operations()[at]);
    Thumbnail thumbnail{.tensor = tensor,
                        .word = short_word(panel, tensor),
                        .position = at + 1,
                        .operation = at,
                        .is_done = at < panel.state.cursor().position()};
    const auto place = static_cast<std::size_t>(std::ranges::find(backward, at) - backward.begin());
    thumbnail.is_back = place < trace.backward_done();
    // among backward passes a click stays among them
    if (is_backward && place < backward.size()) thumbnail.position = steps.backward_begin() + place + 1;
    strip.shown.push_back(std::move(thumbnail));
  }
  return strip;
}

/// What the short word stands for: the operation's title, the parameter's name.
std::string whole_words(const Panel& panel, const Thumbnail& thumbnail) {
  const std::string key = text_key(panel.state.session.graph().spec(thumbnail.tensor));
  return panel.text("tensor." + key + (thumbnail.operation ? ".title" : ".name"));
}

void draw_picture(Panel& panel, const Rect& box, const Thumbnail& thumbnail) {
  const core::Session& session = panel.state.session;
  const core::Trace<float> trace = panel.state.trace();
  if (!trace.is_computed(thumbnail.tensor)) return draw_empty_thumbnail(panel.painter(), box);
  const Slice slice = slice_of(trace, thumbnail.tensor, panel.view.step.head);
  // a thumbnail shows as much as has a pixel or two
  const std::int64_t rows = std::min<std::int64_t>(slice.rows.size, 16),
                     columns = std::min<std::int64_t>(slice.columns.size, 16);
  std::vector<float> values;
  std::vector<CellFlags> flags;
  double largest = 0;
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t column = 0; column < columns; ++column) {
      values.push_back(static_cast<float>(trace.value(thumbnail.tensor, slice.cell_at(row, column))));
      flags.push_back(std::isinf(values.back()) ? kMasked : CellFlags{0});
      if (std::isfinite(values.back()))
        largest = std::max(largest, std::abs(static_cast<double>(values.back())));
    }
  const ColourMap map = range_of(session.graph().spec(thumbnail.tensor)) == Range::shares
                            ? ColourMap::probability
                            : ColourMap::signed_values;
  draw_thumbnail(panel.painter(), box,
                 {values.data(), static_cast<int>(rows), static_cast<int>(columns),
                  static_cast<std::ptrdiff_t>(columns), 1},
                 map, round_scale(largest), flags);
}

bool is_projection(const Panel& panel, const Thumbnail& thumbnail) {
  return thumbnail.operation && std::holds_alternative<core::ProjectHeads>(
                                    panel.state.session.graph().operations()[*thumbnail.operation]);
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

/// From one operation to the next: what flowed forward; dashed to the left where its gradient came back.
void draw_link(Panel& panel, const Thumbnail& to, ImVec2 left, ImVec2 right) {
  Painter& painter = panel.painter();
  const float hair = panel.px(panel.theme().line.hair);
  if (to.is_back) {
    const ImU32 hue = panel.theme().hue(Concept::gradient);
    const float head = std::min(panel.px(kArrowHead), (right.x - left.x) / 2);
    painter.dashed_line({left.x + head, left.y}, right, hue, painter.stroke(1.5f),
                        panel.theme().line.gradient_dash);
    painter.list().AddTriangleFilled(left, {left.x + head, left.y - head}, {left.x + head, left.y + head},
                                     hue);
  } else if (to.is_done) {
    painter.line(left, right, painter.colour().control, hair);
  } else {
    painter.dashed_line(left, right, painter.colour().control, hair, {2, 2});
  }
}

}  // namespace

float draw_operation_strip(Panel& panel, const Rect& box) {
  Painter& painter = panel.painter();
  const auto n_fit = static_cast<std::size_t>(std::max(3.0f, std::floor(box.width() / panel.px(kPitch))));
  const std::optional<core::Step> last = panel.state.last_step();
  const bool is_update = last && last->phase == core::Phase::update;
  const bool is_backward = last && last->phase == core::Phase::backward;
  const Strip strip =
      is_update ? parameters_strip(panel, *last, n_fit) : operations_strip(panel, last, n_fit);
  const std::vector<Thumbnail>& shown = strip.shown;
  const float pitch = box.width() / static_cast<float>(std::max<std::size_t>(1, shown.size()));
  const float icon = std::min(panel.px(kIcon), pitch - panel.px(6)), icon_height = panel.px(kIconHeight);
  const float label_height = painter.line_height(TypeStyle::small);
  const float height = icon_height + panel.px(4) + label_height;
  draw_group(panel, shown, box.min.x, box.min.y, pitch, height + panel.px(4));
  for (std::size_t at = 0; at < shown.size(); ++at) {
    const Thumbnail& thumbnail = shown[at];
    const float centre = box.min.x + pitch * (static_cast<float>(at) + 0.5f);
    const Rect picture = rect_at({centre - icon / 2, box.min.y}, {icon, icon_height});
    draw_picture(panel, picture, thumbnail);
    const bool is_joined = at > 0 && thumbnail.operation &&
                           !(is_projection(panel, thumbnail) && is_projection(panel, shown[at - 1]));
    if (is_joined)
      draw_link(panel, thumbnail, {centre - pitch + icon / 2 + panel.px(2), picture.centre().y},
                {picture.min.x - panel.px(2), picture.centre().y});
    const bool is_current = strip.current == at;
    const Concept hue =
        is_backward ? Concept::gradient
                    : concept_of_name(quantity_of(panel.state.session.graph().spec(thumbnail.tensor).name))
                          .value_or(Concept::none);
    const ImU32 current_colour = is_backward ? panel.theme().hue(hue) : painter.colour().primary;
    const Rect label = rect_at({centre - pitch / 2, picture.max.y + panel.px(4)}, {pitch, label_height});
    const TextStyle style{.type = TypeStyle::small,
                          .weight = is_current ? Weight::semibold : Weight::regular,
                          .colour = is_current ? current_colour : painter.colour().secondary,
                          .source = Source::tensor,
                          .role = "strip"};
    painter.text_in(label, painter.fitted(thumbnail.word, pitch - panel.px(2), style), style);
    if (is_current)
      painter.fill(rect_at({centre - icon / 2, label.max.y + panel.px(1)}, {icon, panel.px(2)}),
                   panel.theme().hue(hue));
    const Rect target{{centre - pitch / 2, box.min.y}, {centre + pitch / 2, label.max.y}};
    const std::string id =
        (thumbnail.operation ? "strip" : "strip_of_update") + std::to_string(thumbnail.position);
    const Touch touched = touch(panel.ui, id, target, Reach::pointer);
    if (touched.hovered) {
      panel.window.pointed.tensor = thumbnail.tensor;
      tooltip(painter, touched.mouse, whole_words(panel, thumbnail));
    }
    if (touched.clicked) panel.actions.push_back(MoveCursor{thumbnail.position});
  }
  return height;
}

}  // namespace headscope::simulator
