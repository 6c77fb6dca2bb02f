// Chips and lines to choose among.
#include "simulator/widgets/controls.h"

#include "simulator/rich_text.h"

#include <algorithm>
#include <cmath>

namespace headscope::simulator {

namespace {

constexpr float kChipHeight = 32, kChipPadding = 11, kChipGap = 8;
constexpr float kTabGap = 22, kLeastTabGap = 8;
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

/// How long a word may be so that all of them stay within `room`: the longest are cut alike.
float longest_of(const Painter& painter, std::span<const std::string> words, const TextStyle& style,
                 float room) {
  std::vector<float> widths;
  for (const std::string& word : words) widths.push_back(painter.width_of(word, style));
  std::ranges::sort(widths);
  float left = std::max(0.0F, room);
  for (std::size_t at = 0; at < widths.size(); ++at) {
    const float share = left / static_cast<float>(widths.size() - at);
    if (widths[at] > share) return share;
    left -= widths[at];
  }
  return widths.empty() ? 0 : widths.back();
}

}  // namespace

ImVec2 chip_size(const Painter& painter, std::string_view word, float most_width) {
  const float text = painter.width_of(word, {.type = TypeStyle::number, .weight = Weight::medium});
  const float wanted = std::round(text) + 2 * painter.px(kChipPadding);
  return {most_width > 0 ? std::min(wanted, most_width) : wanted, painter.px(kChipHeight)};
}

Touch chip(Ui& ui, std::string_view id, ImVec2 at, std::string_view word, Chosen chosen, Source source,
           Ability ability, float most_width) {
  Painter& painter = ui.painter;
  const Palette& colours = painter.colour();
  const Rect box = rect_at(at, chip_size(painter, word, most_width));
  const Touch touched =
      touch(ui, id, box, ability == Ability::enabled ? Reach::pointer_and_tab : Reach::none);
  const ImU32 fill = chosen == Chosen::yes ? colours.accent : touched.hovered ? colours.hair : colours.inset;
  painter.fill(box, fill, painter.px(painter.theme().radius.chip));
  painter.fit_text_in(box, word, painter.px(kChipPadding), chip_style(colours, chosen, source));
  draw_focus_ring(ui, box, touched, painter.theme().radius.chip);
  return touched;
}

ChipChoice chip_choice(Ui& ui, std::string_view id, ImVec2 at, float width,
                       std::span<const std::string> words, std::optional<int> chosen, Source source,
                       Ability ability) {
  std::vector<Chosen> marks(words.size(), Chosen::no);
  if (chosen && *chosen >= 0 && static_cast<std::size_t>(*chosen) < marks.size())
    marks[static_cast<std::size_t>(*chosen)] = Chosen::yes;
  return chip_choice(ui, id, at, width, words, marks, source, ability);
}

ChipChoice chip_choice(Ui& ui, std::string_view id, ImVec2 at, float width,
                       std::span<const std::string> words, std::span<const Chosen> chosen, Source source,
                       Ability ability) {
  ChipChoice result;
  Painter& painter = ui.painter;
  std::vector<ImGuiID> ids;
  std::optional<std::size_t> focused;
  ImVec2 place = at;
  const float gap = painter.px(kChipGap), height = painter.px(kChipHeight);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const ImVec2 size = chip_size(painter, words[i], width);
    if (place.x > at.x && place.x + size.x > at.x + width) place = {at.x, place.y + height + gap};
    const Touch touched =
        chip(ui, std::string(id) + std::to_string(i), place, words[i], chosen[i], source, ability, width);
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

std::optional<int> tab_bar(Ui& ui, std::string_view id, const Rect& box, std::span<const std::string> words,
                           int chosen) {
  Painter& painter = ui.painter;
  const Palette& colours = painter.colour();
  const float line = painter.line_height(TypeStyle::label), mark = painter.stroke(2);
  std::optional<int> pressed;
  float wanted = 0;
  const auto style = [&](int at) {
    return TextStyle{.type = TypeStyle::label,
                     .weight = at == chosen ? Weight::semibold : Weight::regular,
                     .colour = at == chosen ? colours.primary : colours.secondary,
                     .role = "tab"};
  };
  for (std::size_t i = 0; i < words.size(); ++i)
    wanted += painter.width_of(words[i], style(chosen)) + painter.px(kTabGap);
  // narrow: first the gaps give way, then the words, the longest first
  const auto n = static_cast<float>(words.size());
  const float words_only = wanted - n * painter.px(kTabGap);
  const float gap = std::clamp((box.width() - words_only) / std::max(1.0F, n - 1), painter.px(kLeastTabGap),
                               painter.px(kTabGap));
  const float most = longest_of(painter, words, style(chosen), box.width() - gap * (n - 1));
  float x = box.min.x;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const int at = static_cast<int>(i);
    const float room = std::min(most, painter.width_of(words[i], style(chosen)));
    const Rect tab{{x, box.min.y}, {x + room, box.max.y}};
    const Touch touched = touch(ui, std::string(id) + std::to_string(i), tab);
    if (touched.clicked && at != chosen) pressed = at;
    painter.fit_text({x, box.centre().y - line / 2}, words[i], room, style(at));
    if (at == chosen || touched.hovered)
      painter.fill({{x, box.centre().y + line / 2 + painter.px(2)},
                    {x + room, box.centre().y + line / 2 + painter.px(2) + mark}},
                   at == chosen ? colours.primary : colours.control);
    draw_focus_ring(ui, tab, touched, 4);
    x += room + gap;
  }
  return pressed;
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
