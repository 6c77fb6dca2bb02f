// Buttons, icons, key caps, progress, notes: no hue, everything from the theme.
#include "simulator/widgets/controls.h"

#include "simulator/rich_text.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace headscope::simulator {

namespace {

constexpr float kButtonHeight = 32, kButtonPadding = 12;
constexpr float kDisabledAlpha = 0.45F;
constexpr float kKeyHeight = 19, kKeyPadding = 6, kKeyGap = 6;
constexpr float kDashWidth = 10, kDashHeight = 3, kLeastDash = 4, kDashGap = 4;

Reach reach_of(Ability ability) {
  return ability == Ability::enabled ? Reach::pointer_and_tab : Reach::none;
}

ImU32 dimmed(ImU32 colour, Ability ability) {
  return ability == Ability::enabled ? colour : with_alpha(colour, kDisabledAlpha);
}

void stroke_path(Painter& painter, ImVec2 centre, std::initializer_list<ImVec2> points, ImU32 colour,
                 float width) {
  for (const ImVec2 p : points)
    painter.list().PathLineTo({centre.x + painter.px(p.x), centre.y + painter.px(p.y)});
  painter.list().PathStroke(colour, 0, painter.px(width));
}

void draw_play(Painter& painter, ImVec2 c, ImU32 colour) {
  painter.list().AddTriangleFilled({c.x - painter.px(4), c.y - painter.px(6)}, {c.x + painter.px(7), c.y},
                                   {c.x - painter.px(4), c.y + painter.px(6)}, colour);
}

void draw_pause(Painter& painter, ImVec2 c, ImU32 colour) {
  for (const float x : {-4.5F, 1.5F})
    painter.fill({{c.x + painter.px(x), c.y - painter.px(6)}, {c.x + painter.px(x + 3), c.y + painter.px(6)}},
                 colour, painter.px(1));
}

void draw_icon(Painter& painter, ImVec2 c, Icon icon, ImU32 colour) {
  constexpr float kWidth = 2;
  switch (icon) {
    case Icon::first:
      stroke_path(painter, c, {{-5, -5}, {-5, 5}}, colour, kWidth);
      return stroke_path(painter, c, {{5, -5}, {0, 0}, {5, 5}}, colour, kWidth);
    case Icon::last:
      stroke_path(painter, c, {{5, -5}, {5, 5}}, colour, kWidth);
      return stroke_path(painter, c, {{-5, -5}, {0, 0}, {-5, 5}}, colour, kWidth);
    case Icon::previous:
      return stroke_path(painter, c, {{3.5F, -6}, {-3, 0}, {3.5F, 6}}, colour, kWidth);
    case Icon::next:
      return stroke_path(painter, c, {{-3.5F, -6}, {3, 0}, {-3.5F, 6}}, colour, kWidth);
    case Icon::pager_back:
      return stroke_path(painter, c, {{2, -4}, {-2, 0}, {2, 4}}, colour, 1.5F);
    case Icon::pager_on:
      return stroke_path(painter, c, {{-2, -4}, {2, 0}, {-2, 4}}, colour, 1.5F);
    case Icon::close:
      return painter.sign(c, Sign::cross, colour, painter.px(13));
    case Icon::play:
      return draw_play(painter, c, colour);
    case Icon::pause:
      return draw_pause(painter, c, colour);
    case Icon::help: {
      const float half = painter.px(12);
      painter.text_in(
          {{c.x - half, c.y - half}, {c.x + half, c.y + half}}, "?",
          {.type = TypeStyle::small, .weight = Weight::semibold, .colour = colour, .role = "icon"});
      return;
    }
  }
}

TextStyle button_style(Emphasis emphasis, const Palette& colours, Ability ability) {
  const ImU32 colour = emphasis == Emphasis::dark ? colours.on_accent : colours.primary;
  return {TypeStyle::number, Weight::medium, dimmed(colour, ability), Source::catalog, "button"};
}

}  // namespace

ImVec2 button_size(const Painter& painter, std::string_view word) {
  const TextStyle style{.type = TypeStyle::number, .weight = Weight::medium};
  return {std::round(painter.width_of(word, style)) + 2 * painter.px(kButtonPadding),
          painter.px(kButtonHeight)};
}

Touch button(Ui& ui, std::string_view id, ImVec2 at, std::string_view word, Emphasis emphasis,
             Ability ability) {
  Painter& painter = ui.painter;
  const Palette& colours = painter.colour();
  const Rect box = rect_at(at, button_size(painter, word));
  const Touch touched = touch(ui, id, box, reach_of(ability));
  const float radius = painter.px(painter.theme().radius.chip);
  if (emphasis == Emphasis::dark)
    painter.fill(box, dimmed(touched.hovered ? colours.accent_hover : colours.accent, ability), radius);
  else if (emphasis == Emphasis::filled || touched.hovered)
    painter.fill(box, touched.hovered && emphasis == Emphasis::filled ? colours.hair : colours.inset, radius);
  painter.text_in(box, word, button_style(emphasis, colours, ability));
  draw_focus_ring(ui, box, touched, painter.theme().radius.chip);
  return touched;
}

Touch icon_button(Ui& ui, std::string_view id, ImVec2 centre, float size, Icon icon, Ability ability) {
  Painter& painter = ui.painter;
  const Palette& colours = painter.colour();
  const float half = size / 2;
  const Rect box = {{centre.x - half, centre.y - half}, {centre.x + half, centre.y + half}};
  const Touch touched = touch(ui, id, box, reach_of(ability));
  const bool in_disc = icon == Icon::play || icon == Icon::pause;
  if (in_disc)
    painter.list().AddCircleFilled(
        centre, half, dimmed(touched.hovered ? colours.accent_hover : colours.accent, ability), 48);
  else if (touched.hovered || icon == Icon::help)
    painter.list().AddCircleFilled(centre, half, touched.hovered ? colours.hair : colours.inset, 32);
  const bool far = icon == Icon::first || icon == Icon::last || icon == Icon::help;
  const ImU32 colour = in_disc ? colours.on_accent : far ? colours.secondary : colours.primary;
  draw_icon(painter, centre, icon, dimmed(colour, ability));
  draw_focus_ring(ui, box, touched, half / painter.px(1));
  return touched;
}

float key_cap_width(const Painter& painter, std::string_view key, std::string_view word) {
  const float cap = std::max(painter.width_of(key, {.type = TypeStyle::small}) + 2 * painter.px(kKeyPadding),
                             painter.px(kKeyHeight));
  if (word.empty()) return cap;
  return cap + painter.px(kKeyGap) + painter.width_of(word, {.type = TypeStyle::small});
}

Rect key_cap(Painter& painter, ImVec2 at, std::string_view key, std::string_view word) {
  const Palette& colours = painter.colour();
  const float line = painter.line_height(TypeStyle::small), height = painter.px(kKeyHeight);
  const Rect cap = rect_at({at.x, at.y + (line - height) / 2}, {key_cap_width(painter, key, ""), height});
  painter.fill(cap, colours.inset, painter.px(painter.theme().radius.key));
  painter.text_in(cap, key, {.type = TypeStyle::small, .colour = colours.primary, .role = "key"});
  if (word.empty()) return cap;
  const Rect text = painter.text({cap.max.x + painter.px(kKeyGap), at.y}, word,
                                 {.type = TypeStyle::small, .colour = colours.tertiary, .role = "key_word"});
  return joined(cap, text);
}

Rect progress_dashes(Painter& painter, ImVec2 at, std::string_view words, int done, int all, Concept hue) {
  const Palette& colours = painter.colour();
  Rect bounds =
      painter.text(at, words, {.type = TypeStyle::small, .colour = colours.tertiary, .role = "progress"});
  const float y = std::round(bounds.centre().y - painter.px(kDashHeight) / 2);
  float x = std::round(bounds.max.x + painter.px(20));
  for (int i = 0; i < all; ++i) {
    const Rect dash = rect_at({x, y}, {painter.px(kDashWidth), painter.px(kDashHeight)});
    const ImU32 lit = hue == Concept::none ? colours.secondary : painter.theme().hue(hue);
    painter.fill(dash, i < done ? lit : colours.hair, painter.px(kDashHeight) / 2);
    bounds = joined(bounds, dash);
    x += painter.px(kDashWidth + kDashGap);
  }
  return bounds;
}

Rect progress_line(Painter& painter, ImVec2 at, float width, int done, int all) {
  const Palette& colours = painter.colour();
  const float height = painter.px(kDashHeight), gap = painter.px(6);
  const float dash = (width - gap * static_cast<float>(all - 1)) / static_cast<float>(std::max(1, all));
  if (dash < painter.px(kLeastDash)) {  // too many to be told apart: one line
    const float share = static_cast<float>(std::clamp(done, 0, all)) / static_cast<float>(std::max(1, all));
    painter.fill(rect_at(at, {width, height}), colours.hair, height / 2);
    painter.fill(rect_at(at, {width * share, height}), colours.secondary, height / 2);
    return rect_at(at, {width, height});
  }
  for (int i = 0; i < all; ++i) {
    const float x = at.x + static_cast<float>(i) * (dash + gap);
    painter.fill(rect_at({x, at.y}, {dash, height}), i < done ? colours.secondary : colours.hair, height / 2);
  }
  return rect_at(at, {width, height});
}

Touch text_link(Ui& ui, std::string_view id, ImVec2 at, std::string_view word, const TextStyle& style,
                float most_width) {
  Painter& painter = ui.painter;
  const float wanted = painter.width_of(word, style);
  const float width = most_width > 0 ? std::min(wanted, most_width) : wanted;
  const Rect box = rect_at(at, {width, painter.line_height(style.type)});
  const Touch touched = touch(ui, id, box);
  painter.fit_text(at, word, width, style);
  if (touched.hovered) {
    const float y = at.y + painter.base_line(style.type) + std::round(painter.px(3));
    painter.fill({{box.min.x, y}, {box.max.x, y + painter.stroke(1)}},
                 style.colour != 0 ? style.colour : painter.colour().primary);
  }
  draw_focus_ring(ui, box, touched, 2);
  return touched;
}

void tooltip(Painter& painter, ImVec2 pointer, std::string_view text, Source source) {
  const Palette& colours = painter.colour();
  Painter above = painter.on(*ImGui::GetForegroundDrawList());
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  const float padding = above.px(10);
  RichStyle style{.type = TypeStyle::label,
                  .width = std::max(1.0F, std::min(above.px(280), screen.x - 2 * padding)),
                  .role = "tooltip"};
  const RichBlock block = lay_out(above, {{.text = std::string(text), .source = source}}, style);
  const ImVec2 size = {block.width + 2 * padding, block.height + 2 * above.px(6)};
  const float x = std::clamp(pointer.x + above.px(12), 0.0F, std::max(0.0F, screen.x - size.x));
  float y = pointer.y + above.px(18);
  if (y + size.y > screen.y) y = std::max(0.0F, pointer.y - size.y - above.px(8));
  const Rect box = rect_at({std::round(x), std::round(y)}, size);
  above.fill(box, colours.popup, above.px(above.theme().radius.popup));
  above.frame(box, colours.hair, above.stroke(above.theme().line.hair), above.px(above.theme().radius.popup));
  draw(above, {box.min.x + padding, box.min.y + above.px(6)}, block);
}

namespace {

/// From the note's left to its text.
float note_indent(const Painter& painter, Tone tone) {
  return painter.px(tone == Tone::loud ? 22 : 20);
}

RichBlock lay_out_note(const Painter& painter, float width, Run run, Tone tone) {
  if (tone == Tone::loud) run.weight = Weight::semibold;
  const TypeStyle type = tone == Tone::loud ? TypeStyle::body : TypeStyle::label;
  return lay_out(painter, {std::move(run)},
                 {.type = type, .width = width - note_indent(painter, tone), .role = "note"});
}

}  // namespace

float note_height(const Painter& painter, float width, std::string_view sentence, Tone tone) {
  return lay_out_note(painter, width, {.text = std::string(sentence)}, tone).height;
}

float note_line(Painter& painter, ImVec2 at, float width, Note kind, std::string_view sentence, Source source,
                Tone tone) {
  const Palette& colours = painter.colour();
  const ImU32 colour = kind == Note::success ? colours.success
                       : kind == Note::error ? colours.error
                                             : colours.warning;
  const Sign sign = kind == Note::success ? Sign::tick : kind == Note::error ? Sign::cross : Sign::warning;
  const TypeStyle type = tone == Tone::loud ? TypeStyle::body : TypeStyle::label;
  const float size = painter.px(tone == Tone::loud ? 13.0F : 11.0F);
  painter.sign({at.x + size / 2, at.y + painter.line_height(type) / 2}, sign, colour, size);
  Run run{.text = std::string(sentence), .colour = colour, .source = source};
  if (tone == Tone::quiet && kind != Note::error) run.colour = colours.secondary;
  const RichBlock block = lay_out_note(painter, width, std::move(run), tone);
  draw(painter, {at.x + note_indent(painter, tone), at.y}, block);
  return block.height;
}

}  // namespace headscope::simulator
