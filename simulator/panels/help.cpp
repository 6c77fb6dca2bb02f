// The keys, over everything else; closed by ? or Esc.
#include "simulator/panels/panel.h"
#include "simulator/widgets/controls.h"

#include <array>
#include <string>
#include <utility>

namespace headscope::simulator {

void draw_help(Panel& panel, const Rect& box) {
  // the caps' words and what the keys do
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 18> kKeys = {{
      {"key.space", "help.next_step"},
      {"key.page_up", "help.previous_step"},
      {"key.left_right", "help.operations"},
      {"key.home_end", "help.first_last"},
      {"key.play", "help.play"},
      {"key.enter", "help.enter"},
      {"key.escape", "help.escape"},
      {"key.quantity", "help.quantity"},
      {"key.check", "help.check"},
      {"key.edit", "help.edit"},
      {"key.undo", "help.undo"},
      {"key.restore", "help.restore"},
      {"key.head", "help.head"},
      {"key.theme", "help.theme"},
      {"key.presentation", "help.presentation"},
      {"key.size", "help.size"},
      {"key.tab", "help.tab"},
      {"key.up_down", "help.cells"},
  }};
  Painter& painter = panel.painter();
  const float pad = panel.px(panel.theme().space.xl),
              line = painter.line_height(TypeStyle::body) + panel.px(2);
  const float width = std::min(panel.px(460), box.width() - 2 * pad);
  const float height = std::min(2 * pad + painter.line_height(TypeStyle::heading) +
                                    line * static_cast<float>(kKeys.size()) + panel.px(12),
                                box.height());
  const Rect sheet = rect_at({box.centre().x - width / 2, box.centre().y - height / 2}, {width, height});
  painter.fill(box, with_alpha(painter.colour().chrome, 0.7f));
  painter.fill(sheet, painter.colour().popup, panel.px(panel.theme().radius.popup));
  painter.frame(sheet, painter.colour().hair, panel.px(panel.theme().line.hair),
                panel.px(panel.theme().radius.popup));
  painter.text({sheet.min.x + pad, sheet.min.y + pad}, panel.text("help.heading"),
               {.type = TypeStyle::heading});
  if (icon_button(panel.ui, "close_help", {sheet.max.x - pad, sheet.min.y + pad + panel.px(12)}, panel.px(28),
                  Icon::close)
          .clicked)
    panel.window.help = Shown::no;
  float y = sheet.min.y + pad + painter.line_height(TypeStyle::heading) + panel.px(12);
  float key_width = 0;
  for (const auto& [key, word] : kKeys)
    key_width = std::max(key_width, key_cap_width(painter, panel.text(key), ""));
  for (const auto& [key, word] : kKeys) {
    key_cap(painter, {sheet.min.x + pad, y}, panel.text(key), "");
    painter.fit_text({sheet.min.x + pad + key_width + panel.px(14), y}, panel.text(word),
                     width - 2 * pad - key_width - panel.px(14),
                     {.type = TypeStyle::label, .colour = painter.colour().secondary});
    y += line;
  }
}

}  // namespace headscope::simulator
