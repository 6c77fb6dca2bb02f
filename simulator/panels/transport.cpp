// The transport: first, back, play, on, last; the track of all operations; how far we are.
#include "simulator/panels/panel.h"
#include "simulator/tensor_facts.h"
#include "simulator/widgets/controls.h"
#include "simulator/widgets/track.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace headscope::simulator {
namespace {

constexpr float kShortestTrack = 150;  // the words of its segments
constexpr float kWalkWidth = 236;      // of the five buttons
constexpr std::array<double, 4> kSpeeds = {0.5, 1, 2, 4};

double next_speed(double speed) {
  const auto here = std::ranges::find(kSpeeds, speed);
  return here == kSpeeds.end() || here + 1 == kSpeeds.end() ? kSpeeds.front() : *(here + 1);
}

std::string_view key_of(PlayBy by) {
  switch (by) {
    case PlayBy::operation:
      return "transport.by_operation";
    case PlayBy::layer:
      return "transport.by_layer";
    case PlayBy::training_step:
      break;
  }
  return "transport.by_training_step";
}

PlayBy next_of(PlayBy by) {
  return by == PlayBy::operation ? PlayBy::layer
         : by == PlayBy::layer   ? PlayBy::training_step
                                 : PlayBy::operation;
}

/// First, back, play, on, last.
void draw_walk(Panel& panel, ImVec2 at) {
  const core::Cursor& cursor = panel.state.cursor();
  const std::size_t end = panel.state.session.n_steps();
  const float size = panel.px(36), pitch = panel.px(44);
  const Ability back = cursor.at_begin() ? Ability::disabled : Ability::enabled;
  const Ability on = cursor.position() >= end ? Ability::disabled : Ability::enabled;
  float x = at.x + size / 2;
  const auto press = [&](std::string_view id, Icon icon, Ability ability, float radius,
                         const Action& action) {
    const Touch touched = icon_button(panel.ui, id, {x, at.y}, radius, icon, ability);
    if (touched.clicked) panel.actions.push_back(action);
    if (touched.hovered)
      tooltip(panel.painter(), touched.mouse,
              panel.text(icon == Icon::pause ? "transport.pause" : "transport.to_" + std::string(id)));
    x += pitch;
  };
  press("first", Icon::first, back, size, MoveCursor{0});
  press("previous", Icon::previous, back, size, PreviousOperation{});
  const bool is_playing = panel.state.playing == Playing::yes;
  press("play", is_playing ? Icon::pause : Icon::play, Ability::enabled, panel.px(44),
        SetPlaying{is_playing ? Playing::no : Playing::yes});
  press("next", Icon::next, on, size, NextOperation{});
  press("last", Icon::last, on, size, MoveCursor{end});
}

/// Layers back and on, the next training step, what playing walks by, its speed: those for which there is
/// room, the keys do the same.
void draw_links(Panel& panel, ImVec2 at, float right) {
  Painter& painter = panel.painter();
  const float gap = panel.px(14);
  const auto link = [&](std::string_view id, const std::string& word, Ability ability, auto press) {
    const TextStyle style{
        .type = TypeStyle::small,
        .colour = ability == Ability::enabled ? painter.colour().secondary : painter.colour().control,
        .role = "transport_link"};
    const float width = painter.width_of(word, style);
    if (at.x + width > right) return;
    if (ability == Ability::disabled)
      painter.text(at, word, style);
    else if (text_link(panel.ui, id, at, word, style).clicked)
      press();
    at.x += width + gap;
  };
  const core::Cursor& cursor = panel.state.cursor();
  const auto able = [](bool is_able) { return is_able ? Ability::enabled : Ability::disabled; };
  link("layer_back", panel.text("transport.layer_back"), able(!cursor.at_begin()),
       [&] { panel.actions.push_back(PreviousLayer{}); });
  link("layer_on", panel.text("transport.layer_on"), able(cursor.position() < panel.state.session.n_steps()),
       [&] { panel.actions.push_back(NextLayer{}); });
  link("train", panel.text("transport.train"), able(panel.state.session.has_gold()),
       [&] { panel.actions.push_back(NextTrainingStep{}); });
  link("play_by", panel.text(key_of(panel.state.play_by)), Ability::enabled,
       [&] { panel.actions.push_back(SetPlayBy{next_of(panel.state.play_by)}); });
  const std::string speed =
      lessons::format_digits(panel.window.speed, panel.window.speed < 1 ? 1 : 0, panel.theme().numbers);
  link("speed", panel.text("transport.speed", {{"speed", speed}}), Ability::enabled,
       [&] { panel.window.speed = next_speed(panel.window.speed); });
}

void draw_buttons(Panel& panel, const Rect& box) {
  const float line = panel.painter().line_height(TypeStyle::small), walk = panel.px(44);
  const float gap = panel.px(2), height = walk + gap + line;
  if (height > box.height()) return draw_walk(panel, {box.min.x, box.centre().y});
  const float top = box.centre().y - height / 2;
  draw_walk(panel, {box.min.x, top + walk / 2});
  draw_links(panel, {box.min.x, top + walk + gap}, box.max.x);
}

/// Operations up to the probabilities belong to the forward pass, those behind them to the loss. What cannot
/// be reached without a gold answer has no ticks.
std::vector<TrackSegment> segments(const Panel& panel) {
  const core::Session& session = panel.state.session;
  const core::StepList& steps = session.steps();
  int loss = 0;
  for (const core::Operation& operation : session.graph().operations())
    loss += std::holds_alternative<core::CrossEntropy>(operation) ||
                    std::holds_alternative<core::MeanLoss>(operation)
                ? 1
                : 0;
  const bool has_gold = session.has_gold();
  const auto ticks = [&](std::size_t n) { return has_gold ? static_cast<int>(n) : 0; };
  const int forward =
      has_gold ? static_cast<int>(steps.n_forward()) - loss : static_cast<int>(session.n_steps());
  return {{panel.text("transport.forward"), forward, Stroke::solid, Concept::none},
          {panel.text("transport.loss"), has_gold ? loss : 0, Stroke::solid, Concept::none},
          {panel.text("transport.backward"), ticks(steps.n_backward()), Stroke::dashed, Concept::gradient},
          {panel.text("transport.update"), ticks(steps.parameters().size()), Stroke::solid, Concept::none}};
}

/// Under the playhead.
std::string step_label(const Panel& panel) {
  const std::optional<core::Step> step = panel.state.last_step();
  return step ? step_name(panel.state.session.graph(), *step, panel.words.text) : std::string();
}

/// Why loss, backward pass and update cannot be reached.
std::string no_gold_words(const Panel& panel) {
  if (panel.state.session.has_gold()) return {};
  const bool has_loss = panel.state.session.steps().n_backward() > 0;
  return panel.text(has_loss ? "transport.no_gold" : "transport.no_loss");
}

void draw_track(Panel& panel, const Rect& box) {
  const std::vector<TrackSegment> list = segments(panel);
  // low: without what stands under the track, rather than below the window
  const bool is_low = track_height(panel.painter()) > box.height();
  const float y =
      box.centre().y - (is_low ? bare_track_height(panel.painter()) : track_height(panel.painter())) / 2;
  const TrackResponse response = track(panel.ui, "track", {box.min.x, y}, box.width(),
                                       {.segments = list,
                                        .position = static_cast<int>(panel.state.cursor().position()),
                                        .label = is_low ? std::string() : step_label(panel),
                                        .note = is_low ? std::string() : no_gold_words(panel)});
  if (response.moved)
    panel.actions.push_back(MoveCursor{static_cast<std::size_t>(std::max(0, *response.moved))});
}

/// How far we are, at the top of the box.
void draw_position_words(Panel& panel, const Rect& box) {
  Painter& painter = panel.painter();
  const core::Cursor& cursor = panel.state.cursor();
  const std::string n = std::to_string(panel.state.session.n_steps());
  const std::string words =
      cursor.at_begin()
          ? panel.text("transport.before_first", {{"n", n}})
          : panel.text("transport.operation", {{"step", std::to_string(cursor.position())}, {"n", n}});
  painter.fit_text(box.min, words, box.width(),
                   {.type = TypeStyle::label, .colour = painter.colour().secondary, .role = "position"});
}

void draw_position(Panel& panel, const Rect& box) {
  Painter& painter = panel.painter();
  float y = box.centre().y - painter.line_height(TypeStyle::label);
  draw_position_words(panel, {{box.min.x, y}, box.max});
  y += painter.line_height(TypeStyle::label) + panel.px(4);
  // a model has no lesson's steps: there the space bar is an arrow, and N is what a learner would look for
  const auto cap = [&](std::string_view key, std::string_view does) {
    return std::pair(panel.text(key), panel.text(does));
  };
  const auto arrows = cap("key.left_right", "transport.operations");
  const bool has_lesson = panel.state.has_lesson();
  const auto first = has_lesson ? cap("key.space", "transport.next_step") : arrows;
  const auto second = has_lesson ? arrows : cap("key.next_training_step", "transport.training_step");
  const float beside = key_cap_width(painter, first.first, first.second) + panel.px(14);
  key_cap(painter, {box.min.x, y}, first.first, first.second);
  if (beside + key_cap_width(painter, second.first, second.second) <= box.width())
    key_cap(painter, {box.min.x + beside, y}, second.first, second.second);
}

}  // namespace

void draw_transport(Panel& panel, const Rect& box) {
  Painter& painter = panel.painter();
  const Theme& theme = panel.theme();
  painter.ground(box, painter.colour().chrome);
  const float side = std::min(panel.px(theme.region.lesson), box.width() * 0.3f);
  const float gutter = panel.px(theme.space.gutter) * (side < panel.px(360) ? 0.6f : 1.0f);
  const float buttons = std::max(side, panel.px(290));
  draw_buttons(panel, {{box.min.x + gutter, box.min.y}, {box.min.x + buttons - gutter, box.max.y}});
  const bool shows_position = box.width() > panel.px(900);
  const float right = shows_position ? side : gutter;
  // a track too short to aim at helps nobody; buttons and keys walk as far
  const Rect track{{box.min.x + buttons, box.min.y}, {box.max.x - right, box.max.y}};
  if (track.width() >= panel.px(kShortestTrack))
    draw_track(panel, track);
  else if (!shows_position && track.max.x - box.min.x >= panel.px(kWalkWidth + 80))
    draw_position_words(panel, {{box.min.x + gutter + panel.px(kWalkWidth),
                                 box.centre().y - painter.line_height(TypeStyle::label) / 2},
                                track.max});
  if (shows_position)
    draw_position(panel, {{box.max.x - side + gutter, box.min.y}, {box.max.x - gutter / 2, box.max.y}});
}

}  // namespace headscope::simulator
