#include "simulator/panels/tabs.h"

#include "simulator/panels/message.h"
#include "simulator/widgets/controls.h"

#include <algorithm>
#include <string>
#include <vector>

namespace headscope::simulator {
namespace {

enum class Tab : std::uint8_t { lesson, what_if, stage, cell };

std::string_view key_of(Tab tab) {
  switch (tab) {
    case Tab::lesson:
      return "tabs.lesson";
    case Tab::what_if:
      return "tabs.what_if";
    case Tab::stage:
      return "tabs.stage";
    case Tab::cell:
      return "tabs.cell";
  }
  return "tabs.lesson";
}

bool shows_lesson(const Panel& panel) {
  return panel.state.has_lesson() && panel.state.left_panel == LeftPanel::lesson;
}

/// Draws the tabs over the box. Returns the one that was pressed.
std::optional<Tab> draw_tabs(Panel& panel, Rect& box, const std::vector<Tab>& tabs, Tab chosen) {
  Painter& painter = panel.painter();
  const bool is_narrow = box.width() < panel.px(360);
  const float gutter = panel.px(panel.theme().space.gutter) * (is_narrow ? 0.6f : 1.0f);
  const float height = painter.line_height(TypeStyle::label) + panel.px(16);
  const Rect bar{box.min, {box.max.x, box.min.y + height}};
  painter.ground(bar, painter.colour().chrome);
  std::vector<std::string> words;
  for (const Tab tab : tabs) words.push_back(panel.text(key_of(tab)));
  const auto at = static_cast<int>(std::ranges::find(tabs, chosen) - tabs.begin());
  const std::optional<int> pressed = tab_bar(
      panel.ui, "tabs", {{bar.min.x + gutter, bar.min.y}, {bar.max.x - gutter, bar.max.y}}, words, at);
  box.min.y = bar.max.y;
  if (!pressed) return std::nullopt;
  return tabs[static_cast<std::size_t>(*pressed)];
}

void draw_message_above(Panel& panel, Rect& box) {
  draw_message(panel, box, Edge::top, panel.px(24), panel.painter().colour().chrome);
}

void turn_to(Panel& panel, Tab tab) {
  if (tab == Tab::lesson) panel.actions.push_back(SetLeftPanel{LeftPanel::lesson});
  if (tab == Tab::what_if) panel.actions.push_back(SetLeftPanel{LeftPanel::what_if});
  panel.window.narrow_tab = tab == Tab::stage  ? NarrowTab::stage
                            : tab == Tab::cell ? NarrowTab::cell
                                               : NarrowTab::left;
}

void draw_left_alone(Panel& panel, const Rect& box) {
  if (shows_lesson(panel))
    draw_lesson(panel, box);
  else
    draw_what_if(panel, box);
}

std::vector<Tab> left_tabs(const Panel& panel) {
  if (panel.state.has_lesson()) return {Tab::lesson, Tab::what_if};
  return {Tab::what_if};
}

}  // namespace

void draw_left(Panel& panel, const Rect& box) {
  Rect rest = box;
  panel.window.what_if.shows_message = false;
  if (panel.state.has_lesson())
    if (const auto pressed =
            draw_tabs(panel, rest, left_tabs(panel), shows_lesson(panel) ? Tab::lesson : Tab::what_if))
      turn_to(panel, *pressed);
  draw_left_alone(panel, rest);
}

void draw_column(Panel& panel, const Rect& box) {
  Rect rest = box;
  const bool is_held = panel.view.is_locked && panel.view.lit.has_value();
  std::optional<CellAddress>& turned_from = panel.window.turned_from;
  if (!is_held) turned_from.reset();
  const bool shows_cell = is_held && turned_from != panel.view.lit;
  std::vector<Tab> tabs = left_tabs(panel);
  if (is_held) tabs.push_back(Tab::cell);
  const Tab chosen = shows_cell ? Tab::cell : shows_lesson(panel) ? Tab::lesson : Tab::what_if;
  if (tabs.size() > 1)
    if (const auto pressed = draw_tabs(panel, rest, tabs, chosen)) {
      turn_to(panel, *pressed);
      turned_from = *pressed == Tab::cell ? std::nullopt : panel.view.lit;
    }
  panel.window.what_if.shows_message = !shows_lesson(panel);
  if (shows_cell) return draw_explainer(panel, rest);
  if (shows_lesson(panel)) draw_message_above(panel, rest);
  draw_left_alone(panel, rest);
}

void draw_single(Panel& panel, const Rect& box) {
  Rect rest = box;
  std::vector<Tab> tabs = left_tabs(panel);
  tabs.push_back(Tab::stage);
  tabs.push_back(Tab::cell);
  const NarrowTab shown =
      panel.window.narrow_tab.value_or(panel.state.has_lesson() ? NarrowTab::left : NarrowTab::stage);
  const Tab chosen = shown == NarrowTab::stage  ? Tab::stage
                     : shown == NarrowTab::cell ? Tab::cell
                     : shows_lesson(panel)      ? Tab::lesson
                                                : Tab::what_if;
  if (const auto pressed = draw_tabs(panel, rest, tabs, chosen)) turn_to(panel, *pressed);
  panel.window.what_if.shows_message = true;
  if (chosen == Tab::cell) return draw_explainer(panel, rest);
  if (chosen != Tab::what_if) draw_message_above(panel, rest);
  if (chosen == Tab::stage) return draw_stage(panel, rest);
  draw_left_alone(panel, rest);
}

}  // namespace headscope::simulator
