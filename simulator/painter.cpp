// Draws with ImDrawList. Positions of text are rounded to whole pixels, as ImGui would cut them off
// otherwise.
#include "simulator/painter.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <numbers>

namespace headscope::simulator {

namespace {

ImVec2 operator+(ImVec2 a, ImVec2 b) {
  return {a.x + b.x, a.y + b.y};
}

float width_in(const Face& face, std::string_view text) {
  return face.font->CalcTextSizeA(face.size, FLT_MAX, 0, text.data(), text.data() + text.size()).x;
}

/// The last place at or before `at` where a character begins.
std::size_t character_begin(std::string_view text, std::size_t at) {
  while (at > 0 && at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
  return at;
}

/// Where the character that begins there ends.
std::size_t character_end(std::string_view text, std::size_t at) {
  ++at;
  while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) ++at;
  return at;
}

struct Segment {
  ImVec2 from, to;
};

/// The part of the line x sin a + y cos a = k that lies in the box (Liang and Barsky 1984).
bool clip_line(const Rect& box, float angle, float k, Segment& inside) {
  const float sine = std::sin(angle), cosine = std::cos(angle);
  const ImVec2 base = {k * sine, k * cosine};  // the point nearest to the origin
  const ImVec2 along = {cosine, -sine};
  float first = -FLT_MAX, last = FLT_MAX;
  const auto limit = [&](float position, float speed, float low, float high) {
    if (std::fabs(speed) < 1e-6F) return position >= low && position <= high;
    const float a = (low - position) / speed, b = (high - position) / speed;
    first = std::max(first, std::min(a, b));
    last = std::min(last, std::max(a, b));
    return true;
  };
  if (!limit(base.x, along.x, box.min.x, box.max.x) || !limit(base.y, along.y, box.min.y, box.max.y))
    return false;
  inside = {{base.x + along.x * first, base.y + along.y * first},
            {base.x + along.x * last, base.y + along.y * last}};
  return first < last;
}

}  // namespace

Rect rect_at(ImVec2 top_left, ImVec2 size) {
  return {top_left, top_left + size};
}

Rect joined(const Rect& a, const Rect& b) {
  return {{std::min(a.min.x, b.min.x), std::min(a.min.y, b.min.y)},
          {std::max(a.max.x, b.max.x), std::max(a.max.y, b.max.y)}};
}

std::vector<const TextEntry*> TextRecord::with_role(std::string_view role) const {
  std::vector<const TextEntry*> found;
  for (const TextEntry& entry : entries)
    if (entry.role == role) found.push_back(&entry);
  return found;
}

const TextEntry* TextRecord::find(std::string_view text) const {
  for (const TextEntry& entry : entries)
    if (entry.text == text || entry.full == text) return &entry;
  return nullptr;
}

float Painter::stroke(float width) const {
  return std::max(1.0F, px(width));
}

float Painter::line_height(TypeStyle type) const {
  return std::round(px(theme_->size_of(type, fonts_->sizing()).line));
}

float Painter::width_of(std::string_view text, const TextStyle& style) const {
  return width_in(fonts_->face(style.type, style.weight), text);
}

float Painter::base_line(TypeStyle type) const {
  const Face& face = fonts_->face(type, Weight::of_style);
  return std::round((line_height(type) - face.size) / 2 + face.ascent);
}

void Painter::note(std::string_view text, std::string_view full, const Rect& rect, const TextStyle& style,
                   bool is_upright) const {
  if (record_ == nullptr || text.empty()) return;
  TextStyle kept = style;
  kept.role = {};  // it may not outlive the frame
  kept.colour = colour_of(style);
  record_->entries.push_back({std::string(text),
                              std::string(full),
                              rect,
                              {list_->GetClipRectMin(), list_->GetClipRectMax()},
                              kept,
                              std::string(style.role),
                              scrolls_,
                              is_upright});
}

Rect Painter::draw(ImVec2 at, std::string_view text, std::string_view full, const TextStyle& style) {
  fonts_->want(text);
  const Face& face = fonts_->face(style.type, style.weight);
  const ImVec2 place = {std::round(at.x), std::round(at.y + base_line(style.type) - face.ascent)};
  list_->AddText(face.font, face.size, place, colour_of(style), text.data(), text.data() + text.size());
  const Rect box = rect_at({std::round(at.x), at.y}, {width_in(face, text), line_height(style.type)});
  note(text, full, box, style);
  return box;
}

Rect Painter::text(ImVec2 at, std::string_view text, const TextStyle& style) {
  return draw(at, text, text, style);
}

Rect Painter::text_in(const Rect& box, std::string_view text, const TextStyle& style, Align align) {
  const float spare = box.width() - width_of(text, style);
  const float share = align == Align::left ? 0 : align == Align::centre ? spare / 2 : spare;
  return draw({box.min.x + share, box.min.y + (box.height() - line_height(style.type)) / 2}, text, text,
              style);
}

Rect Painter::text_to(ImVec2 top_right, std::string_view text, const TextStyle& style) {
  return draw({top_right.x - width_of(text, style), top_right.y}, text, text, style);
}

std::string Painter::fitted(std::string_view text, float width, const TextStyle& style) const {
  // half a pixel: a box measured from this very text must hold it
  if (width_of(text, style) <= width + 0.5F) return std::string(text);
  constexpr std::string_view kMore = "\u2026";
  const auto shortened = [&](std::size_t n) { return std::string(text.substr(0, n)) + std::string(kMore); };
  // halving: a sentence may have thousands of letters, and is measured in every frame
  std::size_t fits = 0, too_long = text.size();
  while (true) {
    std::size_t middle = character_begin(text, fits + (too_long - fits) / 2);
    if (middle <= fits) middle = character_end(text, fits);
    if (middle >= too_long) return shortened(fits);
    (width_of(shortened(middle), style) <= width ? fits : too_long) = middle;
  }
}

Rect Painter::fit_text(ImVec2 at, std::string_view text, float width, const TextStyle& style, Align align) {
  const std::string shown = fitted(text, width, style);
  const float spare = width - width_of(shown, style);
  const float share = align == Align::left ? 0 : align == Align::centre ? spare / 2 : spare;
  const Rect box = draw({at.x + share, at.y}, shown, text, style);
  point_out(box, shown, text, style.source);
  return box;
}

void Painter::point_out(const Rect& box, std::string_view shown, std::string_view full, Source source) const {
  if (pointed_ != nullptr && shown != full && ImGui::IsWindowHovered() &&
      ImGui::IsMouseHoveringRect(box.min, box.max))
    *pointed_ = {std::string(full), source};
}

Rect Painter::fit_text_up(ImVec2 foot, std::string_view text, float length, const TextStyle& style) {
  const std::string shown = fitted(text, length, style);
  fonts_->want(shown);
  const Face& face = fonts_->face(style.type, style.weight);
  const float line = line_height(style.type), width = width_in(face, shown);
  const ImVec2 corner = {std::round(foot.x - line / 2),
                         std::round(foot.y)};  // where the text's top left goes
  const ImVec2 place = {0, base_line(style.type) - face.ascent};
  const int first = list_->VtxBuffer.Size;
  constexpr float kFar = 1e6F;  // nothing is left out where it lies before it is turned
  face.font->RenderText(list_, face.size, place, colour_of(style), {-kFar, -kFar, kFar, kFar}, shown.data(),
                        shown.data() + shown.size());
  for (ImDrawVert* vertex = list_->VtxBuffer.Data + first; vertex != list_->VtxBuffer.end(); ++vertex)
    vertex->pos = {corner.x + vertex->pos.y, corner.y - vertex->pos.x};
  const Rect box = {{corner.x, corner.y - width}, {corner.x + line, corner.y}};
  note(shown, text, box, style, true);
  point_out(box, shown, text, style.source);
  return box;
}

Rect Painter::fit_text_in(const Rect& box, std::string_view text, float margin, const TextStyle& style) {
  return fit_text({box.min.x + margin, box.centre().y - line_height(style.type) / 2}, text,
                  box.width() - 2 * margin, style, Align::centre);
}

float Painter::script_width(std::string_view text, const TextStyle& style) const {
  return width_in(fonts_->script_face(style.type, style.weight), text);
}

Rect Painter::script(ImVec2 at, std::string_view text, const TextStyle& style, float drop) {
  fonts_->want(text);
  const Face& face = fonts_->script_face(style.type, style.weight);
  const ImVec2 place = {std::round(at.x), std::round(at.y + base_line(style.type) + drop - face.ascent)};
  list_->AddText(face.font, face.size, place, colour_of(style), text.data(), text.data() + text.size());
  const Rect box = rect_at(place, {width_in(face, text), face.size});
  note(text, text, box, style);
  return box;
}

void Painter::ground(const Rect& box, ImU32 colour) {
  if (box.width() <= 0 || box.height() <= 0) return;
  if (grounds_)
    grounds_->push_back({box.min.x, box.min.y, box.max.x, box.max.y, colour});
  else
    fill(box, colour);
}

void Painter::fill(const Rect& box, ImU32 colour, float radius) {
  if (box.width() <= 0 || box.height() <= 0) return;
  const float most = std::min(box.width(), box.height()) / 2;
  list_->AddRectFilled(box.min, box.max, colour, std::min(radius, most));
}

void Painter::frame(const Rect& box, ImU32 colour, float width, float radius) {
  // ImGui strokes half a pixel inside its rectangle, and centres the stroke there
  const float inset = width / 2 - 0.5F;
  list_->AddRect({box.min.x + inset, box.min.y + inset}, {box.max.x - inset, box.max.y - inset}, colour,
                 radius, 0, width);
}

void Painter::dashed_frame(const Rect& box, ImU32 colour, float width, Dash dash) {
  const float half = width / 2;
  const ImVec2 a = {box.min.x + half, box.min.y + half}, b = {box.max.x - half, box.max.y - half};
  dashed_line({box.min.x, a.y}, {box.max.x, a.y}, colour, width, dash);
  dashed_line({box.min.x, b.y}, {box.max.x, b.y}, colour, width, dash);
  dashed_line({a.x, box.min.y}, {a.x, box.max.y}, colour, width, dash);
  dashed_line({b.x, box.min.y}, {b.x, box.max.y}, colour, width, dash);
}

void Painter::line(ImVec2 from, ImVec2 to, ImU32 colour, float width) {
  const float half = width / 2;
  // level and upright lines as rectangles on whole pixels: crisp, and cheaper than an anti-aliased stroke
  if (from.y == to.y) {
    const float top = std::round(from.y - half);
    list_->AddRectFilled({std::min(from.x, to.x), top}, {std::max(from.x, to.x), top + std::max(1.0F, width)},
                         colour);
  } else if (from.x == to.x) {
    const float left = std::round(from.x - half);
    list_->AddRectFilled({left, std::min(from.y, to.y)},
                         {left + std::max(1.0F, width), std::max(from.y, to.y)}, colour);
  } else {
    list_->AddLine(from, to, colour, width);
  }
}

void Painter::dashed_line(ImVec2 from, ImVec2 to, ImU32 colour, float width, Dash dash) {
  const float length = std::hypot(to.x - from.x, to.y - from.y);
  if (length <= 0) return;
  // whole periods, ending on a dash: corners of frames stay closed
  const float on = px(dash.on), off = px(dash.off);
  const int n = std::max(1, static_cast<int>(std::lround((length + off) / (on + off))));
  const float period = (length + off) / static_cast<float>(n), drawn = period * on / (on + off);
  const ImVec2 step = {(to.x - from.x) / length, (to.y - from.y) / length};
  for (int i = 0; i < n; ++i) {
    const float begin = static_cast<float>(i) * period, end = std::min(length, begin + drawn);
    line({from.x + step.x * begin, from.y + step.y * begin}, {from.x + step.x * end, from.y + step.y * end},
         colour, width);
  }
}

void Painter::hatch(const Rect& box, ImU32 colour) {
  const float angle = theme_->line.hatch_angle * std::numbers::pi_v<float> / 180;
  const float spacing = px(theme_->line.hatch_spacing), width = stroke(theme_->line.hatch_width);
  const auto k_of = [&](float x, float y) { return x * std::sin(angle) + y * std::cos(angle); };
  const auto [least, most] = std::minmax({k_of(box.min.x, box.min.y), k_of(box.max.x, box.min.y),
                                          k_of(box.min.x, box.max.y), k_of(box.max.x, box.max.y)});
  // counted from the screen's corner, so that the lines of neighbouring cells meet
  const int first = static_cast<int>(std::ceil(least / spacing)),
            last = static_cast<int>(std::floor(most / spacing));
  for (int k = first; k <= last; ++k) {
    Segment inside;
    if (clip_line(box, angle, static_cast<float>(k) * spacing, inside))
      list_->AddLine(inside.from, inside.to, colour, width);
  }
}

void Painter::diagonal(const Rect& box, ImU32 colour) {
  const float inset = std::min(box.width(), box.height()) * 0.25F;
  list_->AddLine({box.min.x + inset, box.max.y - inset}, {box.max.x - inset, box.min.y + inset}, colour,
                 stroke(theme_->line.hatch_width));
}

float Painter::tag_size(TypeStyle type) const {
  const float label = theme_->size_of(TypeStyle::label, fonts_->sizing()).size;
  const float size = theme_->size_of(type, fonts_->sizing()).size;
  return std::round(px(size > label * 1.3F ? size : label * 1.23F));
}

Rect Painter::tag(ImVec2 at, Concept which, TypeStyle type) {
  const float side = tag_size(type);
  const Rect box = rect_at({std::round(at.x), std::round(at.y)}, {side, side});
  fill(box, theme_->hue(which), px(theme_->radius.tag));
  const TextStyle style{.type = side > px(20) ? TypeStyle::number : TypeStyle::small,
                        .weight = side > px(20) ? Weight::bold : Weight::semibold,
                        .colour = theme_->colour.on_accent,
                        .source = Source::tensor,  // a symbol, the same in every language
                        .role = "tag"};
  text_in(box, theme_->mark(which), style);
  return box;
}

Rect Painter::tag_in_line(ImVec2 at, Concept which, TypeStyle type) {
  return tag({at.x, at.y + (line_height(type) - tag_size(type)) / 2}, which, type);
}

float Painter::disc_size() const {
  constexpr float kLines = 22.0F / 18;  // grows with the words beside it, which presentation raises
  return std::round(line_height(TypeStyle::small) * kLines);
}

void Painter::head_disc(ImVec2 centre, std::size_t head) {
  const float radius = disc_size() / 2;
  const ImU32 hue = theme_->head_hue(head);
  list_->AddCircleFilled(centre, radius, hue);
  const Palette& c = theme_->colour;
  const TextStyle style{
      .type = TypeStyle::label,
      .weight = Weight::semibold,
      .colour = contrast(c.on_accent, hue) >= contrast(c.primary, hue) ? c.on_accent : c.primary,
      .source = Source::number,
      .role = "head"};
  text_in({{centre.x - radius, centre.y - radius}, {centre.x + radius, centre.y + radius}},
          std::to_string(head), style);
}

void Painter::sign(ImVec2 c, Sign which, ImU32 colour, float size) {
  const float h = size / 2, width = std::max(1.5F, size / 6.5F);
  const auto polyline = [&](std::initializer_list<ImVec2> points) {
    for (const ImVec2 p : points) list_->PathLineTo({c.x + p.x * h, c.y + p.y * h});
    list_->PathStroke(colour, 0, width);
  };
  switch (which) {
    case Sign::tick:
      return polyline({{-0.9F, 0.05F}, {-0.3F, 0.65F}, {0.9F, -0.65F}});
    case Sign::cross:
      polyline({{-0.65F, -0.65F}, {0.65F, 0.65F}});
      return polyline({{-0.65F, 0.65F}, {0.65F, -0.65F}});
    case Sign::warning:
      return list_->AddTriangleFilled({c.x, c.y - h * 0.85F}, {c.x + h, c.y + h * 0.8F},
                                      {c.x - h, c.y + h * 0.8F}, colour);
    case Sign::chevron_up:
      return polyline({{-0.7F, 0.35F}, {0, -0.35F}, {0.7F, 0.35F}});
    case Sign::chevron_down:
      return polyline({{-0.7F, -0.35F}, {0, 0.35F}, {0.7F, -0.35F}});
  }
}

void Painter::push_clip(const Rect& box) {
  list_->PushClipRect(box.min, box.max, true);
}
void Painter::pop_clip() {
  list_->PopClipRect();
}

}  // namespace headscope::simulator
