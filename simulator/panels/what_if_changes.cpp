// What was changed, and the ways back; what it is held against.
#include "simulator/changes.h"
#include "simulator/panels/what_if.h"

#include <algorithm>

namespace headscope::simulator {
namespace {

/// Changes that are listed; an edit of a thousand cells is not read one by one.
constexpr std::size_t kMostListed = 40;

void draw_change(Column& column, const Change& change, std::size_t index) {
  Panel& panel = column.panel();
  const float size = panel.px(24);
  const float room = column.width() - (change.take_back ? size + panel.px(6) : 0);
  const RichBlock block =
      lay_out(panel.painter(), {Run{.text = change.words, .source = Source::tensor}},
              {.type = TypeStyle::label, .width = room, .colour = column.colour().primary, .role = "change"});
  const float height = std::max(block.height, size);
  draw(panel.painter(), {column.x(), column.y() + (height - block.height) / 2}, block);
  if (change.take_back &&
      icon_button(panel.ui, "take_back" + std::to_string(index),
                  {column.x() + column.width() - size / 2, column.y() + height / 2}, size, Icon::close)
          .clicked)
    panel.actions.push_back(*change.take_back);
  column.take(height);
  column.space(4);
}

/// A button, and in words what it would do.
void draw_way(Column& column, std::string_view id, std::string_view key,
              const std::vector<Document>& documents, const std::vector<Change>& changes,
              const Action& action) {
  if (documents.empty()) return;
  Panel& panel = column.panel();
  if (column.press(id, column.text(key))) panel.actions.push_back(action);
  column.say(summary_of(changes, panel.words), Source::tensor);
}

}  // namespace

void draw_changes_part(Column& column) {
  Panel& panel = column.panel();
  const AppState& state = panel.state;
  const core::Setup& now = state.session.setup();
  const auto between = [&](const core::Setup& from, const core::Setup& to) {
    return changes_between(state, from, to, panel.words, panel.theme().numbers);
  };
  column.heading(column.text("what_if.changes"));
  const std::vector<Change> changes = between(state.initial, now);
  if (changes.empty()) column.say(column.text("what_if.no_changes"));
  for (std::size_t index = 0; index < std::min(changes.size(), kMostListed); ++index)
    draw_change(column, changes[index], index);
  if (changes.size() > kMostListed)
    column.say(column.text("explainer.more", {{"n", std::to_string(changes.size() - kMostListed)}}));
  if (!state.undo.empty())
    draw_way(column, "undo", "what_if.undo", state.undo, between(state.undo.back().setup, now), Undo{});
  if (!state.redo.empty())
    draw_way(column, "redo", "what_if.redo", state.redo, between(now, state.redo.back().setup), Redo{});
  if (!changes.empty() && column.press("reset", column.text("what_if.reset")))
    panel.actions.push_back(Reset{});
  column.say(column.text("what_if.unbreakable"));
}

void draw_difference_part(Column& column) {
  Panel& panel = column.panel();
  const Comparison& comparison = panel.state.comparison;
  column.heading(column.text("what_if.before_and_after"));
  const bool shows = comparison.is_shown;
  if (column.check("difference", column.text("what_if.show_difference"), shows ? Chosen::yes : Chosen::no))
    panel.actions.push_back(SetDifference{shows ? Shows::no : Shows::yes});
  const bool is_marked = comparison.marked.has_value();
  column.say(column.text(is_marked ? "what_if.before_is_marked" : "what_if.before_is_opened"));
  const bool is_now = is_marked && *comparison.marked == panel.state.session.setup();
  if (column.press("mark", column.text(is_now ? "what_if.forget_mark" : "what_if.mark")))
    panel.actions.push_back(MarkBefore{});
}

}  // namespace headscope::simulator
