// Chips and lines to choose among.
#include "simulator/widgets/controls.h"

#include "simulator/rich_text.h"

#include <algorithm>
#include <cmath>

namespace headscope::simulator {

namespace {

constexpr float kChipHeight = 32, kChipPadding = 11, kChipGap = 8;
constexpr float kMarkSize = 16, kMarkIndent = 26;

TextStyle chip_style(const Palette& colours, Chosen chosen, Source source) {
  return {TypeStyle::number, Weight::medium, chosen == Chosen::yes ? colours.on_accent : colours.primary,
          source, "chip"};
}

void draw_mark(Painter& painter, ImVec2 centre, MarkShape shape, Chosen chosen, ImU32 outline) {
  const Palette& colours = painter.colour();
  const float half = painter.px(kMarkSize) / 2;
  const Rect box = {{centre.x - half, centre.y - half}, {centre.x + half, centre.y + half}};
  const float radius = shape == MarkShape::radio ? half : painter.px(3);
  if (chosen == Chosen::no) {
    painter.fill(box, colours.stage, radius);
    painter.frame(box, outline, painter.stroke(1.25F), radius);
    return;
  }
  painter.fill(box, colours.accent, radius);
  if (shape == MarkShape::radio)
    painter.list().AddCircleFilled(centre, half * 0.4F, colours.on_accent);
  else
    painter.sign(centre, Sign::tick, colours.on_accent, half * 1.3F);
}

}  // namespace

ImVec2 chip_size(const Painter& painter, std::string_view word) {
  const float text = painter.width_of(word, {.type = TypeStyle::number, .weight = Weight::medium});
  return {std::round(text) + 2 * painter.px(kChipPadding), painter.px(kChipHeight)};
}

Touch chip(Ui& ui, std::string_view id, ImVec2 at, std::string_view word, Chosen chosen, Source source,
           Ability ability) {
  Painter& painter = ui.painter;
  const Palette& colours = painter.colour();
  const Rect box = rect_at(at, chip_size(painter, word));
  const Touch touched =
      touch(ui, id, box, ability == Ability::enabled ? Reach::pointer_and_tab : Reach::none);
  const ImU32 fill = chosen == Chosen::yes ? colours.accent : touched.hovered ? colours.hair : colours.inset;
  painter.fill(box, fill, painter.px(painter.theme().radius.chip));
  painter.text_in(box, word, chip_style(colours, chosen, source));
  draw_focus_ring(ui, box, touched, painter.theme().radius.chip);
  return touched;
}

ChipChoice chip_choice(Ui& ui, std::string_view id, ImVec2 at, float width,
                       std::span<const std::string> words, std::optional<int> chosen, Source source,
                       Ability ability) {
  ChipChoice result;
  Painter& painter = ui.painter;
  std::vector<ImGuiID> ids;
  std::optional<std::size_t> focused;
  ImVec2 place = at;
  const float gap = painter.px(kChipGap), height = painter.px(kChipHeight);
  const float longest = width - 2 * painter.px(kChipPadding);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string word =
        painter.fitted(words[i], longest, {.type = TypeStyle::number, .weight = Weight::medium});
    const ImVec2 size = chip_size(painter, word);
    if (place.x > at.x && place.x + size.x > at.x + width) place = {at.x, place.y + height + gap};
    const Chosen is_chosen = chosen == static_cast<int>(i) ? Chosen::yes : Chosen::no;
    const Touch touched =
        chip(ui, std::string(id) + std::to_string(i), place, word, is_chosen, source, ability);
    if (touched.clicked) result.pressed = static_cast<int>(i);
    if (ui.focus.takes_keys(touched.id)) focused = i;
    ids.push_back(touched.id);
    place.x += size.x + gap;
  }
  result.height = words.empty() ? 0 : place.y + height - at.y;
  if (!focused) return result;
  const int step = (key_pressed(Key::right, Repeat::repeating) ? 1 : 0) -
                   (key_pressed(Key::left, Repeat::repeating) ? 1 : 0);
  if (step == 0) return result;
  const auto next = static_cast<std::ptrdiff_t>(*focused) + step;
  if (next >= 0 && next < static_cast<std::ptrdiff_t>(ids.size()))
    ui.focus.give(ids[static_cast<std::size_t>(next)]);
  return result;
}

ChoiceLine choice_line(Ui& ui, std::string_view id, ImVec2 at, float width, std::string_view sentence,
                       MarkShape shape, Chosen chosen, Source source, Ability ability) {
  Painter& painter = ui.painter;
  const Palette& colours = painter.colour();
  const float indent = painter.px(kMarkIndent), line = painter.line_height(TypeStyle::body);
  const ImU32 colour = chosen == Chosen::yes ? colours.primary : colours.secondary;
  const RichBlock block =
      lay_out(painter, {{.text = std::string(sentence), .colour = colour, .source = source}},
              {.type = TypeStyle::body, .width = width - indent, .role = "choice"});
  const Rect box = rect_at(at, {width, block.height});
  ChoiceLine result;
  result.height = block.height;
  result.touch = touch(ui, id, box, ability == Ability::enabled ? Reach::pointer_and_tab : Reach::none);
  draw_mark(painter, {at.x + painter.px(kMarkSize) / 2, at.y + line / 2}, shape, chosen,
            result.touch.hovered ? colours.primary : colours.control);
  draw(painter, {at.x + indent, at.y}, block);
  draw_focus_ring(ui, box, result.touch, 4);
  return result;
}

}  // namespace headscope::simulator
