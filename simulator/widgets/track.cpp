// One line from the first operation to the last; a slot an operation, its tick in the middle of the slot.
#include "simulator/widgets/track.h"

#include <algorithm>
#include <cmath>

namespace headscope::simulator {

namespace {

constexpr float kSegmentGap = 14, kLine = 3, kTickLength = 6, kTickDrop = 8, kHandle = 8, kTarget = 26;
constexpr int kSlotsOfUnreachable = 4;
constexpr float kTrackDrop = 10, kLabelDrop = 16, kLeastPitch = 2, kNoteGap = 12;

struct Slot {
  float begin = 0, width = 0;  // of the segment
  int first = 0, n = 0;        // positions before it, slots
};

/// Every segment has room for its word; what is left is shared out by the slots.
std::vector<Slot> place_segments(const Painter& painter, float x, float width, const TrackSpec& spec) {
  const float gap = painter.px(kSegmentGap);
  const float gaps = gap * static_cast<float>(std::max<std::size_t>(spec.segments.size(), 1) - 1);
  int n_slots = 0;
  float words = 0;
  const auto slots_of = [](const TrackSegment& segment) {
    return segment.ticks > 0 ? segment.ticks : kSlotsOfUnreachable;
  };
  const auto word_width = [&](const TrackSegment& segment) {
    return painter.width_of(segment.word, {.type = TypeStyle::small, .weight = Weight::semibold});
  };
  for (const TrackSegment& segment : spec.segments)
    n_slots += slots_of(segment), words += word_width(segment);
  // too narrow for all words: they are cut alike
  const float share = std::min(1.0F, std::max(1.0F, width - gaps) / std::max(1.0F, words));
  const float pitch = std::max(0.0F, width - gaps - words) / static_cast<float>(std::max(1, n_slots));
  std::vector<Slot> slots;
  int first = 0;
  for (const TrackSegment& segment : spec.segments) {
    const float own = word_width(segment) * share + pitch * static_cast<float>(slots_of(segment));
    slots.push_back({x, own, first, segment.ticks});
    x += own + gap;
    first += segment.ticks;
  }
  return slots;
}

float tick_x(const Slot& slot, int position) {
  return slot.begin +
         slot.width * (static_cast<float>(position - slot.first) - 0.5F) / static_cast<float>(slot.n);
}

/// The segment that holds the position; 0 belongs to the first.
std::size_t segment_at(const std::vector<Slot>& slots, int position) {
  for (std::size_t i = 0; i < slots.size(); ++i)
    if (slots[i].n > 0 && position <= slots[i].first + slots[i].n) return i;
  return 0;
}

float playhead_x(const std::vector<Slot>& slots, int position) {
  if (slots.empty()) return 0;
  return position == 0 ? slots[0].begin : tick_x(slots[segment_at(slots, position)], position);
}

/// The nearest position to a place on the screen.
int position_at(const std::vector<Slot>& slots, float x) {
  int nearest = 0;
  float distance = slots.empty() ? 0 : std::fabs(x - slots[0].begin);
  for (const Slot& slot : slots)
    for (int position = slot.first + 1; position <= slot.first + slot.n; ++position)
      if (const float d = std::fabs(x - tick_x(slot, position)); d < distance)
        distance = d, nearest = position;
  return nearest;
}

void draw_segment(Painter& painter, const TrackSegment& segment, const Slot& slot, float y,
                  float done_until) {
  const Palette& colours = painter.colour();
  const float line = painter.px(kLine), end = slot.begin + slot.width;
  painter.fill({{slot.begin, y - line / 2}, {end, y + line / 2}}, colours.hair, line / 2);
  const float done = std::clamp(done_until, slot.begin, end);
  const ImU32 lit = segment.hue == Concept::none ? colours.secondary : painter.theme().hue(segment.hue);
  if (done > slot.begin && segment.stroke == Stroke::solid)
    painter.fill({{slot.begin, y - line / 2}, {done, y + line / 2}}, lit, line / 2);
  else if (done > slot.begin)
    painter.dashed_line({slot.begin, y}, {done, y}, lit, line, painter.theme().line.gradient_dash);
  if (slot.n == 0) return;
  // ticks that would run into each other tell nothing: then each fifth, each tenth, and so on
  const float pitch = slot.width / static_cast<float>(slot.n);
  int every = 1;
  while (pitch * static_cast<float>(every) < kLeastPitch + painter.stroke(1)) every *= every % 2 == 1 ? 5 : 2;
  for (int position = slot.first + every; position <= slot.first + slot.n; position += every) {
    const float x = tick_x(slot, position);
    const ImU32 colour = x <= done_until + 0.5F ? colours.secondary : colours.control;
    painter.line({x, y + painter.px(kTickDrop)}, {x, y + painter.px(kTickDrop + kTickLength)}, colour,
                 painter.stroke(1));
  }
}

/// Why there is no going on, under the segments that it is about, as far as the label leaves room.
void draw_note(Painter& painter, const TrackSpec& spec, const std::vector<Slot>& slots, ImVec2 at,
               float right) {
  if (spec.note.empty()) return;
  const auto unreachable = std::ranges::find(slots, 0, &Slot::n);
  const TextStyle style{.type = TypeStyle::small, .colour = painter.colour().tertiary, .role = "track_note"};
  const float width = painter.width_of(spec.note, style);
  const float wanted = unreachable == slots.end() ? at.x : unreachable->begin;
  const float left = std::max(at.x, std::min(wanted, right - width));
  if (right - left > painter.px(60)) painter.fit_text({left, at.y}, spec.note, right - left, style);
}

std::optional<int> key_move(Ui& ui, const Touch& touched, int position, int last) {
  if (!ui.focus.takes_keys(touched.id)) return std::nullopt;
  int wanted = position;
  if (key_pressed(Key::right, Repeat::repeating)) ++wanted;
  if (key_pressed(Key::left, Repeat::repeating)) --wanted;
  if (key_pressed(Key::home)) wanted = 0;
  if (key_pressed(Key::end)) wanted = last;
  wanted = std::clamp(wanted, 0, last);
  if (wanted == position) return std::nullopt;
  return wanted;
}

}  // namespace

float track_height(const Painter& painter) {
  return painter.line_height(TypeStyle::small) * 2 + painter.px(12 + kLabelDrop);
}

float bare_track_height(const Painter& painter) {
  return painter.line_height(TypeStyle::small) + painter.px(kTrackDrop + kTickDrop + kTickLength);
}

TrackResponse track(Ui& ui, std::string_view id, ImVec2 at, float width, const TrackSpec& spec) {
  Painter& painter = ui.painter;
  const Palette& colours = painter.colour();
  const std::vector<Slot> slots = place_segments(painter, at.x, width, spec);
  const float y = std::round(at.y + painter.line_height(TypeStyle::small) + painter.px(kTrackDrop));
  const float playhead = std::round(playhead_x(slots, spec.position));
  const std::size_t current = segment_at(slots, spec.position);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const TrackSegment& segment = spec.segments[i];
    const bool lit = i == current;
    const ImU32 colour = !lit                           ? colours.tertiary
                         : segment.hue == Concept::none ? colours.primary
                                                        : painter.theme().hue(segment.hue);
    painter.fit_text({slots[i].begin, at.y}, segment.word, slots[i].width + painter.px(kSegmentGap - 4),
                     {.type = TypeStyle::small,
                      .weight = lit ? Weight::semibold : Weight::regular,
                      .colour = colour,
                      .role = "segment"});
    draw_segment(painter, segment, slots[i], y, playhead);
  }
  const Rect target = {{at.x - painter.px(kHandle), y - painter.px(kTarget) / 2},
                       {at.x + width + painter.px(kHandle), y + painter.px(kTarget) / 2}};
  const Touch touched = touch(ui, id, target);
  const ImU32 handle = slots.empty() || spec.segments[current].hue == Concept::none
                           ? colours.accent
                           : painter.theme().hue(spec.segments[current].hue);
  painter.list().AddCircleFilled({playhead, y}, painter.px(kHandle), handle, 32);
  painter.list().AddCircleFilled({playhead, y}, painter.px(3), colours.stage, 24);
  float label_end = at.x;
  if (!spec.label.empty()) {
    const TextStyle style{.type = TypeStyle::small,
                          .weight = Weight::semibold,
                          .colour = handle == colours.accent ? colours.primary : handle,
                          .source = spec.label_source,
                          .role = "operation"};
    const float half = painter.width_of(spec.label, style) / 2;
    const float x = std::clamp(playhead, at.x + half, std::max(at.x + half, at.x + width - half));
    label_end =
        painter.fit_text({x - half, y + painter.px(kLabelDrop)}, spec.label, std::min(width, 2 * half), style)
            .max.x +
        painter.px(kNoteGap);
  }
  draw_note(painter, spec, slots, {label_end, y + painter.px(kLabelDrop)}, at.x + width);
  draw_focus_ring(ui, target, touched, 4);

  TrackResponse response;
  const int last = slots.empty() ? 0 : slots.back().first + slots.back().n;
  const int pointed = position_at(slots, touched.mouse.x);
  if (touched.hovered) response.hovered = pointed;
  if (touched.held && pointed != spec.position) response.moved = pointed;
  if (const std::optional<int> moved = key_move(ui, touched, spec.position, last)) response.moved = moved;
  return response;
}

}  // namespace headscope::simulator
