// The keys, over everything else; closed by ? or Esc.
#include "simulator/panels/sheet.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace headscope::simulator {
namespace {

// the caps' words and what the keys do
constexpr std::array<std::pair<std::string_view, std::string_view>, 25> kKeys = {{
    {"key.space", "help.next_step"},
    {"key.page_up", "help.previous_step"},
    {"key.left_right", "help.operations"},
    {"key.shift_left_right", "help.layers"},
    {"key.home_end", "help.first_last"},
    {"key.play", "help.play"},
    {"key.next_training_step", "help.next_training_step"},
    {"key.enter", "help.enter"},
    {"key.escape", "help.escape"},
    {"key.edit", "help.edit"},
    {"key.drag", "help.drag"},
    {"key.quantity", "help.quantity"},
    {"key.check", "help.check"},
    {"key.difference", "help.difference"},
    {"key.mark", "help.mark"},
    {"key.undo", "help.undo"},
    {"key.restore", "help.restore"},
    {"key.head", "help.head"},
    {"key.theme", "help.theme"},
    {"key.presentation", "help.presentation"},
    {"key.size", "help.size"},
    {"key.tab", "help.tab"},
    {"key.up_down", "help.cells"},
    {"key.help", "help.help"},
    {"key.open", "help.open"},
}};

void draw_keys(Column& column) {
  Panel& panel = column.panel();
  Painter& painter = panel.painter();
  float caps = 0;
  for (const auto& [key, word] : kKeys) caps = std::max(caps, key_cap_width(painter, column.text(key), ""));
  const float gap = panel.px(14), line = painter.line_height(TypeStyle::label);
  // beside its cap, or under it where there is no room
  const bool is_beside = column.width() - caps - gap >= panel.px(110);
  for (const auto& [key, word] : kKeys) {
    key_cap(painter, column.at(), column.text(key), "");
    if (!is_beside) column.take(line + panel.px(2));
    const float indent = is_beside ? caps + gap : 0;
    const RichBlock block = lay_out(
        painter, {Run{.text = column.text(word), .source = Source::catalog}},
        {.type = TypeStyle::label, .width = column.width() - indent, .colour = column.colour().secondary});
    draw(painter, {column.x() + indent, column.y()}, block);
    column.take(block.height);
    column.space(5);
  }
}

}  // namespace

void draw_help(Panel& panel, const Rect& box) {
  if (draw_sheet(panel, box, "help_keys", panel.text("help.heading"), 460, panel.window.sheet_height,
                 draw_keys))
    panel.window.help = Shown::no;
}

}  // namespace headscope::simulator
