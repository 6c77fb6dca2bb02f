// How training goes on: the optimiser, its rate, the next step, and the loss on the way.
#include "simulator/panels/what_if.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace headscope::simulator {
namespace {

/// Of the slider; the field takes all that an optimiser does.
constexpr double kLowestRate = 1e-5, kHighestRate = 1;
/// Steps that the curve shows.
constexpr std::size_t kMostPoints = 200;
constexpr float kCurveHeight = 56;

/// The curve is of one sentence and one answer; a step taken back leaves it.
void note_loss(Panel& panel, double loss) {
  WhatIfWindow& window = panel.window.what_if;
  const core::Setup& setup = panel.state.session.setup();
  std::vector<LossPoint>& losses = window.losses;
  if (window.losses_of.text != setup.text || window.losses_of.gold != setup.gold) losses.clear();
  window.losses_of.text = setup.text;
  window.losses_of.gold = setup.gold;
  const std::int64_t step = panel.state.session.training_step();
  std::erase_if(losses, [step](const LossPoint& point) { return point.step >= step; });
  if (!losses.empty() && losses.back().step != step - 1) losses.clear();
  losses.push_back({step, loss});
  if (losses.size() > kMostPoints) losses.erase(losses.begin());
}

std::string loss_text(const Panel& panel, double loss) {
  return lessons::format_number(loss, lessons::NumberKind::loss, panel.theme().numbers);
}

void draw_curve(Column& column) {
  Panel& panel = column.panel();
  const std::vector<LossPoint>& losses = panel.window.what_if.losses;
  if (losses.size() < 2) return;
  Painter& painter = panel.painter();
  const Palette& colours = painter.colour();
  const Rect box = rect_at(column.at(), {column.width(), panel.px(kCurveHeight)});
  double highest = 0;
  for (const LossPoint& point : losses)
    if (std::isfinite(point.loss)) highest = std::max(highest, point.loss);
  if (highest <= 0) highest = 1;
  const float pitch = box.width() / static_cast<float>(losses.size() - 1);
  const auto place = [&](std::size_t at) {
    const double share = std::isfinite(losses[at].loss) ? losses[at].loss / highest : 1;
    return ImVec2{box.min.x + pitch * static_cast<float>(at),
                  box.max.y - static_cast<float>(share) * (box.height() - panel.px(4)) - panel.px(2)};
  };
  painter.line({box.min.x, box.max.y}, box.max, colours.hair, painter.stroke(panel.theme().line.axis));
  for (std::size_t at = 0; at + 1 < losses.size(); ++at)
    painter.line(place(at), place(at + 1), colours.primary, painter.stroke(panel.theme().line.curve));
  painter.list().AddCircleFilled(place(losses.size() - 1), panel.px(3), colours.primary, 16);
  const Touch touched = touch(panel.ui, "loss_curve", box, Reach::pointer);
  if (touched.hovered) {
    const auto at = static_cast<std::size_t>(std::clamp(std::round((touched.mouse.x - box.min.x) / pitch),
                                                        0.0f, static_cast<float>(losses.size() - 1)));
    painter.list().AddCircle(place(at), panel.px(4), colours.primary, 16, painter.stroke(1.5f));
    tooltip(painter, touched.mouse,
            panel.text("what_if.loss_at", {{"step", std::to_string(losses[at].step)},
                                           {"loss", loss_text(panel, losses[at].loss)}}));
  }
  column.take(box.height());
  column.space(8);
}

}  // namespace

void draw_training_part(Column& column) {
  Panel& panel = column.panel();
  const core::Session& session = panel.state.session;
  if (session.config().objective == core::Objective::none) return;
  column.heading(column.text("what_if.training"));
  static constexpr std::array<core::OptimiserKind, 2> kKinds = {core::OptimiserKind::adamw,
                                                                core::OptimiserKind::sgd};
  std::vector<std::string> names;
  for (const core::OptimiserKind kind : kKinds)
    names.push_back(column.text("what_if." + std::string(optimiser_key(kind))));
  core::OptimiserConfig optimiser = session.setup().optimiser;
  if (const auto pressed = column.choose("optimiser", names, optimiser.kind == kKinds[0] ? 0 : 1)) {
    optimiser.kind = kKinds[static_cast<std::size_t>(*pressed)];
    panel.actions.push_back(SetOptimiser{optimiser});
  }
  column.say(column.text("what_if.rate"));
  if (const auto slid = column.power_slider("rate", optimiser.rate, kLowestRate, kHighestRate,
                                            lessons::NumberKind::gradient)) {
    optimiser.rate = slid->value;
    panel.actions.push_back(SetOptimiser{optimiser, slid->is_drag ? panel.window.strokes : 0});
  }
  column.say_loud(column.text("what_if.training_step", {{"n", std::to_string(session.training_step())}}));
  if (const std::optional<double> loss = loss_of(session)) {
    note_loss(panel, *loss);
    column.say_loud(column.text("what_if.loss_now", {{"loss", loss_text(panel, *loss)}}));
    draw_curve(column);
  }
  const bool can_train = session.has_gold();
  if (column.press("next_training_step", column.text("what_if.next_training_step"), Emphasis::filled,
                   can_train ? Ability::enabled : Ability::disabled))
    panel.actions.push_back(NextTrainingStep{});
  if (!can_train) column.say(column.text("what_if.no_training"));
}

}  // namespace headscope::simulator
