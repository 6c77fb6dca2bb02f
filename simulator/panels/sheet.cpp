#include "simulator/panels/sheet.h"

#include "simulator/widgets/scroll_area.h"

#include <algorithm>
#include <string>

namespace headscope::simulator {

bool draw_sheet(Panel& panel, const Rect& box, std::string_view id, std::string_view heading,
                float most_width, float& content_height, const std::function<void(Column&)>& content) {
  panel.ui.focus.begin_sheet();
  Painter& painter = panel.painter();
  const bool is_small = box.width() < panel.px(560);
  const float pad = panel.px(is_small ? 14 : panel.theme().space.xl);
  const float width = std::min(panel.px(most_width), box.width() - (is_small ? 0 : 2 * pad));
  const float top = pad + painter.line_height(TypeStyle::heading) + panel.px(12);
  const float wanted = top + content_height + pad;
  const float height = std::min(wanted, box.height());
  const Rect sheet = rect_at({box.centre().x - width / 2, box.centre().y - height / 2}, {width, height});
  painter.fill(box, with_alpha(painter.colour().chrome, 0.7f));
  const float radius = panel.px(panel.theme().radius.popup);
  painter.fill(sheet, painter.colour().popup, radius);
  painter.frame(sheet, painter.colour().hair, panel.px(panel.theme().line.hair), radius);
  painter.text({sheet.min.x + pad, sheet.min.y + pad}, heading, {.type = TypeStyle::heading});
  const bool closed = icon_button(panel.ui, std::string("close_") + std::string(id),
                                  {sheet.max.x - pad - panel.px(4), sheet.min.y + pad + panel.px(12)},
                                  panel.px(28), Icon::close)
                          .clicked;
  const float ring = panel.px(4);
  const Rect area{{sheet.min.x + pad - ring, sheet.min.y + top},
                  {sheet.max.x - panel.px(4), sheet.max.y - panel.px(6)}};
  ScrollArea scroll(panel.ui, id, area);
  Ui inner{scroll.painter(), panel.ui.focus};
  Panel inside = panel.with(inner);
  const ImVec2 origin{scroll.origin().x + ring, scroll.origin().y + ring};
  Column column(inside, origin, width - 2 * pad);
  content(column);
  content_height = column.y() - scroll.origin().y;
  scroll.set_content_height(content_height);
  const bool is_left =
      ImGui::IsMouseClicked(ImGuiMouseButton_Left) && !sheet.contains(ImGui::GetIO().MousePos);
  return closed || is_left;
}

}  // namespace headscope::simulator
