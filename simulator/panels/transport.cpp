// The transport: first, back, play, on, last; the track of all operations; how far we are.
#include "simulator/panels/panel.h"
#include "simulator/tensor_facts.h"
#include "simulator/widgets/controls.h"
#include "simulator/widgets/track.h"

#include <algorithm>
#include <array>
#include <string>
#include <variant>
#include <vector>

namespace headscope::simulator {
namespace {

void draw_buttons(Panel& panel, const Rect& box) {
  const core::Cursor& cursor = panel.state.cursor();
  const float size = panel.px(36), pitch = panel.px(44), y = box.centre().y;
  const Ability back = cursor.at_begin() ? Ability::disabled : Ability::enabled;
  const Ability on = cursor.at_end() ? Ability::disabled : Ability::enabled;
  float x = box.min.x + size / 2;
  const auto press = [&](std::string_view id, Icon icon, Ability ability, float radius,
                         const Action& action) {
    if (icon_button(panel.ui, id, {x, y}, radius, icon, ability).clicked) panel.actions.push_back(action);
    x += pitch;
  };
  press("first", Icon::first, back, size, MoveCursor{0});
  press("previous", Icon::previous, back, size, PreviousOperation{});
  const bool is_playing = panel.state.playing == Playing::yes;
  press("play", is_playing ? Icon::pause : Icon::play, Ability::enabled, panel.px(44),
        SetPlaying{is_playing ? Playing::no : Playing::yes});
  press("next", Icon::next, on, size, NextOperation{});
  press("last", Icon::last, on, size, MoveCursor{cursor.end()});

  constexpr std::array<double, 4> kSpeeds = {0.5, 1, 2, 4};
  const auto here = std::ranges::find(kSpeeds, panel.window.speed);
  std::string speed =
      lessons::format_digits(panel.window.speed, panel.window.speed < 1 ? 1 : 0, panel.theme().numbers);
  const std::string word = panel.text("transport.speed", {{"speed", speed}});
  const TextStyle style{.type = TypeStyle::label, .colour = panel.painter().colour().secondary};
  const float width = panel.painter().width_of(word, style), right = box.max.x;
  if (right - width < x - pitch / 2) return;  // no room: narrow windows play at the speed that was set
  const ImVec2 at{right - width, y - panel.painter().line_height(TypeStyle::label) / 2};
  if (text_link(panel.ui, "speed", at, word, style).clicked)
    panel.window.speed = here == kSpeeds.end() || here + 1 == kSpeeds.end() ? kSpeeds.front() : *(here + 1);
}

/// Operations up to the probabilities belong to the forward pass, the rest to the loss.
std::vector<TrackSegment> segments(const Panel& panel) {
  int forward = 0, loss = 0;
  for (const core::Operation& operation : panel.state.session.graph().operations()) {
    const bool is_loss = std::holds_alternative<core::CrossEntropy>(operation) ||
                         std::holds_alternative<core::MeanLoss>(operation);
    (is_loss ? loss : forward) += 1;
  }
  std::vector<TrackSegment> list{{panel.text("transport.forward"), forward, Stroke::solid, Concept::none}};
  if (loss > 0) list.push_back({panel.text("transport.loss"), loss, Stroke::solid, Concept::none});
  return list;
}

void draw_track(Panel& panel, const Rect& box) {
  const std::vector<TrackSegment> list = segments(panel);
  const std::size_t position = panel.state.cursor().position();
  std::string label;
  if (position > 0) {
    const core::Graph& graph = panel.state.session.graph();
    const core::Step step = *panel.state.last_step();
    const core::TensorId tensor =
        step.phase == core::Phase::update ? step.parameter : core::result(graph.operations()[step.operation]);
    label = panel.text("tensor." + text_key(graph.spec(tensor)) + ".name");
  }
  const float y = box.centre().y - track_height(panel.painter()) / 2;
  const TrackResponse response =
      track(panel.ui, "track", {box.min.x, y}, box.width(),
            {.segments = list, .position = static_cast<int>(position), .label = label});
  if (response.moved)
    panel.actions.push_back(MoveCursor{static_cast<std::size_t>(std::max(0, *response.moved))});
}

void draw_position(Panel& panel, const Rect& box) {
  Painter& painter = panel.painter();
  const core::Cursor& cursor = panel.state.cursor();
  const std::string n = std::to_string(cursor.end());
  const std::string words =
      cursor.at_begin()
          ? panel.text("transport.before_first", {{"n", n}})
          : panel.text("transport.operation", {{"step", std::to_string(cursor.position())}, {"n", n}});
  float y = box.centre().y - painter.line_height(TypeStyle::label);
  painter.fit_text({box.min.x, y}, words, box.width(),
                   {.type = TypeStyle::label, .colour = painter.colour().secondary, .role = "position"});
  y += painter.line_height(TypeStyle::label) + panel.px(4);
  const std::string space = panel.text("key.space"), arrows = panel.text("key.left_right");
  const std::string next = panel.text("transport.next_step"), operations = panel.text("transport.operations");
  const float first = key_cap_width(painter, space, next);
  key_cap(painter, {box.min.x, y}, space, next);
  if (first + panel.px(14) + key_cap_width(painter, arrows, operations) <= box.width())
    key_cap(painter, {box.min.x + first + panel.px(14), y}, arrows, operations);
}

}  // namespace

void draw_transport(Panel& panel, const Rect& box) {
  Painter& painter = panel.painter();
  const Theme& theme = panel.theme();
  painter.fill(box, painter.colour().chrome);
  const float side = std::min(panel.px(theme.region.lesson), box.width() * 0.3f);
  const float gutter = panel.px(theme.space.gutter) * (side < panel.px(360) ? 0.6f : 1.0f);
  const float buttons = std::max(side, panel.px(290));
  draw_buttons(panel, {{box.min.x + gutter, box.min.y}, {box.min.x + buttons - gutter, box.max.y}});
  const bool shows_position = box.width() > panel.px(900);
  const float right = shows_position ? side : gutter;
  draw_track(panel, {{box.min.x + buttons, box.min.y}, {box.max.x - right, box.max.y}});
  if (shows_position)
    draw_position(panel, {{box.max.x - side + gutter, box.min.y}, {box.max.x - gutter / 2, box.max.y}});
}

}  // namespace headscope::simulator
