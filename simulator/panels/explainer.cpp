// "Why this number?": the cell's value, its sentence, its terms with bars, where it came from and goes to.
#include "simulator/panels/explainer_writer.h"
#include "simulator/panels/panel.h"
#include "simulator/panels/stage_matrix.h"
#include "simulator/tensor_facts.h"
#include "simulator/widgets/controls.h"
#include "simulator/widgets/scroll_area.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace headscope::simulator {
namespace {

/// The keys stay below the text, unless they took more of the panel than this.
constexpr float kMostKeysShare = 0.3F;

using KeyCap = std::pair<std::string, std::string>;

std::vector<KeyCap> keys_of(const Panel& panel, const Narration& narration) {
  const core::Graph& graph = panel.state.session.graph();
  const core::TensorId tensor = narration.cell.tensor;
  const bool can_edit =
      narration.cell.quantity == core::Quantity::value &&
      (graph.spec(tensor).role != core::Role::activation || core::can_be_set_by_hand(graph, tensor));
  std::vector<KeyCap> keys;
  if (!narration.terms.empty()) keys.emplace_back(panel.text("key.enter"), panel.text("explainer.follow"));
  if (narration.quantities.size() > 1)
    keys.emplace_back(panel.text("key.quantity"), panel.text("explainer.other_quantity"));
  if (narration.cell.quantity == core::Quantity::gradient &&
      panel.state.session.trace().workspace().has_gradient(tensor))
    keys.emplace_back(panel.text("key.check"), panel.text("explainer.check_key"));
  if (can_edit) keys.emplace_back(panel.text("key.edit"), panel.text("explainer.edit"));
  if (panel.view.is_locked)
    keys.emplace_back(panel.text("key.escape"),
                      panel.text(panel.state.trail.size() > 1 ? "explainer.back" : "explainer.unlock"));
  return keys;
}

/// Where each key cap stands in rows that wrap; `height` of all. A word that is wider than the row is left
/// out.
struct KeyRows {
  std::vector<KeyCap> keys;
  std::vector<ImVec2> places;  // relative
  float height = 0;
};

KeyRows place_keys(const Panel& panel, std::vector<KeyCap> keys, float width) {
  KeyRows rows;
  const float line = panel.painter().line_height(TypeStyle::body);
  ImVec2 at{0, 0};
  for (KeyCap& key : keys) {
    if (key_cap_width(panel.painter(), key.first, key.second) > width) key.second.clear();
    const float cap = key_cap_width(panel.painter(), key.first, key.second);
    if (at.x > 0 && at.x + cap > width) at = {0, at.y + line};
    rows.places.push_back(at);
    at.x += cap + panel.px(14);
  }
  rows.keys = std::move(keys);
  if (!rows.keys.empty()) rows.height = at.y + line;
  return rows;
}

void write_edited(Panel& panel, ExplainerWriter& writer, const Narration& narration) {
  const auto& edits = panel.state.session.edits();
  const core::TensorSpec& spec = panel.state.session.graph().spec(narration.cell.tensor);
  if (narration.cell.quantity != core::Quantity::value || spec.role == core::Role::activation ||
      !edits.contains({narration.cell.tensor, narration.cell.cell}))
    return;
  const double before = panel.state.session.unedited_value(narration.cell.tensor, narration.cell.cell);
  writer.space(6);
  writer.note(
      Note::warning,
      panel.text("explainer.edited",
                 {{"value", lessons::format_number(before, number_kind_of(spec), panel.theme().numbers)}}));
}

void write_narration(Panel& panel, ExplainerWriter& writer, const Narration& narration) {
  const Palette& colour = panel.painter().colour();
  writer.trail();
  writer.quantities(narration);
  writer.title(narration);
  writer.sentence(narration.sentence);
  if (!narration.not_yet.empty()) {
    writer.space(6);
    writer.note(Note::warning, narration.not_yet);
  }
  write_edited(panel, writer, narration);
  writer.space(14);
  writer.terms(narration);
  if (!narration.conclusion.empty()) writer.words(narration.conclusion, colour.primary, Source::number);
  if (!narration.left_out.empty()) writer.words(narration.left_out, colour.tertiary);
  writer.check(narration);
  if (!narration.rounded.empty()) writer.words(narration.rounded, colour.tertiary);
  writer.gradient_check(narration);
  writer.links(narration.from, "explainer.where_from");
  writer.links(narration.to, "explainer.where_to");
}

}  // namespace

void draw_explainer(Panel& panel, const Rect& box) {
  Painter& painter = panel.painter();
  painter.ground(box, painter.colour().chrome);
  const float gutter = panel.px(panel.theme().space.gutter) * (box.width() < panel.px(360) ? 0.6f : 1.0f);
  const Rect content{{box.min.x + gutter, box.min.y + panel.px(36)},
                     {box.max.x - gutter, box.max.y - panel.px(8)}};
  painter.fit_text(content.min, panel.text("explainer.heading"), content.width(),
                   {.type = TypeStyle::label, .colour = painter.colour().secondary});
  const float top = content.min.y + painter.line_height(TypeStyle::label) + panel.px(16);

  KeyRows keys;
  if (panel.view.narration) keys = place_keys(panel, keys_of(panel, *panel.view.narration), content.width());
  const bool has_keys = keys.height > 0 && keys.height <= box.height() * kMostKeysShare;
  const float keys_top = content.max.y - (has_keys ? keys.height : 0);
  if (has_keys)
    for (std::size_t at = 0; at < keys.keys.size(); ++at)
      key_cap(painter, {content.min.x + keys.places[at].x, keys_top + keys.places[at].y}, keys.keys[at].first,
              keys.keys[at].second);

  // the area is wider than the text, so that bars and bands may reach over its right
  const Rect area{{content.min.x - panel.px(10), top}, {box.max.x - panel.px(6), keys_top - panel.px(6)}};
  if (area.height() < painter.line_height(TypeStyle::label)) return;
  ScrollArea scroll(panel.ui, "explainer", area);
  Ui inner{scroll.painter(), panel.ui.focus};
  Panel inside = panel.with(inner);
  const ImVec2 origin{scroll.origin().x + panel.px(10), scroll.origin().y};
  ExplainerWriter writer(inside, origin, content.width());
  if (const core::Error* message = panel.message()) {
    writer.note(Note::error, panel.words.text.error(*message));
    writer.space(10);
  }
  if (panel.view.narration)
    write_narration(inside, writer, *panel.view.narration);
  else
    writer.words(panel.text("explainer.empty"), painter.colour().secondary);
  scroll.set_content_height(writer.y() - origin.y + panel.px(16));
}

}  // namespace headscope::simulator
