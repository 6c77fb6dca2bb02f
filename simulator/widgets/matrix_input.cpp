// Pointer, keyboard and pager of a matrix.
#include "simulator/widgets/controls.h"
#include "simulator/widgets/matrix_parts.h"

#include <algorithm>
#include <string>

namespace headscope::simulator {

namespace {

constexpr float kPagerTarget = 24, kPagerGap = 16;

float turner_width(const Painter& painter, std::string_view words, float height) {
  return 2 * std::min(painter.px(kPagerTarget), height) + painter.px(8) +
         painter.width_of(words, {.type = TypeStyle::small});
}

/// Back, words, on; moves `first` by a page. Returns the right edge.
float draw_pager(Ui& ui, const std::string& id, ImVec2 at, float height, std::string_view words, int shown,
                 int all, int& first) {
  Painter& painter = ui.painter;
  const float target = std::min(painter.px(kPagerTarget), height), middle = at.y + height / 2;
  const auto ability = [](bool possible) { return possible ? Ability::enabled : Ability::disabled; };
  if (icon_button(ui, id + "_back", {at.x + target / 2, middle}, target, Icon::pager_back, ability(first > 0))
          .clicked)
    first = std::max(0, first - shown);
  const Rect text =
      painter.text({at.x + target + painter.px(4), middle - painter.line_height(TypeStyle::small) / 2}, words,
                   {.type = TypeStyle::small, .colour = painter.colour().tertiary, .role = "pager"});
  const float right = text.max.x + painter.px(4);
  const bool more = first + shown < all;
  if (icon_button(ui, id + "_on", {right + target / 2, middle}, target, Icon::pager_on, ability(more))
          .clicked)
    first = std::min(first + shown, all - shown);
  return right + target;
}

std::optional<CellIndex> moved_by_keys(const MatrixLayout& layout, CellIndex from) {
  // Page Up and Page Down are a presenter's clicker: they step the lesson, whatever has the focus
  const auto pressed = [](Key key) { return key_pressed(key, Repeat::repeating) ? 1 : 0; };
  CellIndex to = from;
  to.row += pressed(Key::down) - pressed(Key::up);
  to.column += pressed(Key::right) - pressed(Key::left);
  if (key_pressed(Key::home)) to.column = 0;
  if (key_pressed(Key::end)) to.column = layout.all_columns - 1;
  to.row = std::clamp(to.row, 0, layout.all_rows - 1);
  to.column = std::clamp(to.column, 0, layout.all_columns - 1);
  if (to == from) return std::nullopt;
  return to;
}

/// The page, moved by as little as shows the cell.
MatrixPage page_showing(const MatrixLayout& layout, CellIndex cell) {
  return {std::clamp(layout.first_row, cell.row - layout.rows + 1, cell.row),
          std::clamp(layout.first_column, cell.column - layout.columns + 1, cell.column)};
}

}  // namespace

float pager_width(const Painter& painter, const MatrixLayout& layout, const PagerWords& words) {
  const bool turns_rows = layout.rows < layout.all_rows, turns_columns = layout.columns < layout.all_columns;
  const float height = layout.pager.height();
  return (turns_rows ? turner_width(painter, words.rows, height) : 0) +
         (turns_rows && turns_columns ? painter.px(kPagerGap) : 0) +
         (turns_columns ? turner_width(painter, words.columns, height) : 0);
}

MatrixResponse matrix_input(Ui& ui, std::string_view id, const MatrixSpec& spec, const MatrixLayout& layout,
                            const PagerWords& words) {
  MatrixResponse response;
  const Touch touched = touch(ui, id, layout.cells, Reach::pointer);
  if (touched.held) ui.focus.give(touched.id);
  ui.focus.enter(touched.id);
  if (touched.hovered) response.hovered = layout.cell_at(touched.mouse);
  if (touched.clicked) response.clicked = layout.cell_at(touched.mouse);
  if (touched.double_clicked) response.double_clicked = layout.cell_at(touched.mouse);
  response.focused = ui.focus.takes_keys(touched.id);
  if (response.focused) {
    const CellIndex from = spec.focus.value_or(CellIndex{layout.first_row, layout.first_column});
    response.moved = moved_by_keys(layout, from);
    response.entered = key_pressed(Key::enter);
    if (response.moved && !layout.shows(*response.moved))
      response.turned = page_showing(layout, *response.moved);
  }
  if (!layout.is_paged() || spec.pager == Pager::hidden) return response;
  MatrixPage page = {layout.first_row, layout.first_column};
  const std::string name(id);
  // wider than the matrix, it must not run out of the stage
  PagerWords shown = words;
  const float gap = ui.painter.px(kPagerGap);
  const ImDrawList& list = ui.painter.list();
  const Rect clip{list.GetClipRectMin(), list.GetClipRectMax()};
  if (pager_width(ui.painter, layout, shown) > clip.width()) shown = {};
  float x = std::max(clip.min.x, std::min(layout.pager.min.x, clip.max.x - ui.painter.px(8) -
                                                                  pager_width(ui.painter, layout, shown)));
  if (layout.rows < layout.all_rows)
    x = draw_pager(ui, name + "_rows", {x, layout.pager.min.y}, layout.pager.height(), shown.rows,
                   layout.rows, layout.all_rows, page.first_row) +
        gap;
  if (layout.columns < layout.all_columns)
    draw_pager(ui, name + "_columns", {x, layout.pager.min.y}, layout.pager.height(), shown.columns,
               layout.columns, layout.all_columns, page.first_column);
  if (page.first_row != layout.first_row || page.first_column != layout.first_column) response.turned = page;
  return response;
}

}  // namespace headscope::simulator
