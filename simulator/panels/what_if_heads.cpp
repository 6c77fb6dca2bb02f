// The switches of heads and of whole attentions.
#include "core/graph_paths.h"
#include "simulator/changes.h"
#include "simulator/panels/what_if.h"

#include <algorithm>
#include <array>
#include <variant>

namespace headscope::simulator {
namespace {

using core::AttentionTensors;
using core::HeadAddress;
using core::HeadMode;

std::optional<HeadMode> mode_of(const Panel& panel, const HeadAddress& head) {
  const auto& heads = panel.state.session.setup().heads;
  const auto found = heads.find(head);
  return found == heads.end() ? std::nullopt : std::optional(found->second.mode);
}

/// What a head does that is not on: over its disc, so that no hue need tell it.
void draw_mark(Painter& painter, const Rect& box, std::size_t head, std::optional<HeadMode> mode) {
  const Palette& colours = painter.colour();
  if (!mode) return painter.head_disc(box.centre(), head);
  const float radius = painter.disc_size() / 2;
  painter.list().AddCircle(box.centre(), radius - painter.stroke(1) / 2, colours.control, 24,
                           painter.stroke(1.5f));
  switch (*mode) {
    case HeadMode::off:
      return painter.sign(box.centre(), Sign::cross, colours.primary, radius);
    case HeadMode::mean:
    case HeadMode::uniform:
      painter.text_in(box, *mode == HeadMode::mean ? "x̄" : "=",
                      {.type = TypeStyle::small,
                       .weight = Weight::semibold,
                       .colour = colours.primary,
                       .role = "head_mark"});
  }
}

/// The heads of one attention in rows that wrap.
void draw_discs(Column& column, const AttentionTensors& attention, const HeadAddress& shown) {
  Panel& panel = column.panel();
  Painter& painter = panel.painter();
  const float size = std::max(panel.px(30), painter.disc_size() + panel.px(8));
  float x = column.x(), y = column.y();
  for (std::int64_t number = 0; number < attention.n_heads; ++number) {
    if (x > column.x() && x + size > column.x() + column.width()) x = column.x(), y += size;
    const HeadAddress head{attention.head_output, number};
    const Rect box = rect_at({x, y}, {size, size});
    const Touch touched = touch(panel.ui, attention.path + ".head" + std::to_string(number), box);
    if (touched.clicked) panel.window.what_if.head = head;
    if (head == shown)
      painter.fill(box, painter.colour().hair, panel.px(panel.theme().radius.chip));
    else if (touched.hovered)
      painter.fill(box, painter.colour().inset, panel.px(panel.theme().radius.chip));
    draw_mark(painter, box, static_cast<std::size_t>(number), mode_of(panel, head));
    draw_focus_ring(panel.ui, box, touched, panel.theme().radius.chip);
    x += size;
  }
  column.take(y + size - column.y());
  column.space(6);
}

/// What may be done to the head that is shown.
void draw_modes(Column& column, const HeadAddress& head) {
  static constexpr std::array<std::optional<HeadMode>, 4> kModes = {std::nullopt, HeadMode::off,
                                                                    HeadMode::mean, HeadMode::uniform};
  Panel& panel = column.panel();
  const core::Graph& graph = panel.state.session.graph();
  const std::string place = place_name(graph, graph.spec(head.head_output).name, panel.words);
  const std::string name = column.text("what_if.head_name", {{"head", std::to_string(head.head)}});
  column.say_loud(place.empty() ? name : place + ", " + name);
  const bool has_means = panel.state.task != nullptr;
  const std::optional<HeadMode> mode = mode_of(panel, head);
  // a mean is over other sentences, which only a task can make
  std::vector<std::optional<HeadMode>> modes;
  std::vector<std::string> words;
  std::optional<int> chosen;
  for (const std::optional<HeadMode> one : kModes) {
    if (one == HeadMode::mean && !has_means) continue;
    if (one == mode) chosen = static_cast<int>(modes.size());
    modes.push_back(one);
    words.push_back(column.text(!one                     ? "what_if.head_on"
                                : *one == HeadMode::off  ? "what_if.head_off"
                                : *one == HeadMode::mean ? "what_if.head_mean"
                                                         : "what_if.head_uniform"));
  }
  if (const auto pressed = column.choose("mode", words, chosen))
    panel.actions.push_back(SetHead{head, modes[static_cast<std::size_t>(*pressed)]});
  if (!has_means) column.say(column.text("what_if.no_means"));
  if (mode)
    column.say(column.text(*mode == HeadMode::off    ? "what_if.head_off_means"
                           : *mode == HeadMode::mean ? "what_if.head_mean_means"
                                                     : "what_if.head_uniform_means"));
}

bool is_causal(const core::Session& session, const AttentionTensors& attention) {
  // a switch may have taken the mask away: the other attentions of its kind tell nothing, its own setup does
  const auto& attentions = session.setup().attentions;
  const auto found = attentions.find(attention.scores);
  if (found != attentions.end() && found->second.leaks_future) return true;
  for (const core::Operation& operation : session.graph().operations())
    if (const auto* mask = std::get_if<core::MaskScores>(&operation))
      if (core::lies_in(session.graph().spec(mask->output).name, attention.path))
        return mask->mask == core::Mask::causal_and_padding;
  return false;
}

/// The switches of the attentions that are set together.
class AttentionPart {
 public:
  explicit AttentionPart(Column& column) : column_(column), panel_(column.panel()) {
    for (AttentionTensors& attention : core::find_attentions(session().graph()))
      attentions_.push_back(std::move(attention));
  }

  void draw() {
    if (attentions_.empty()) return;
    column_.heading(column_.text("what_if.attention"));
    choose_attention();
    const bool has_causal =
        std::ranges::any_of(shown_, [&](const AttentionTensors* one) { return is_causal(session(), *one); });
    const auto leaks = [](const core::AttentionSwitches& one) { return one.leaks_future; };
    const auto scales = [](const core::AttentionSwitches& one) { return one.leaves_scale; };
    if (has_causal && column_.check("leak", column_.text("what_if.leak"), all(leaks, true)))
      set([on = all(leaks, true) == Chosen::no](auto& one) { one.leaks_future = on; }, new_stroke());
    if (session().config().scale_scores &&
        column_.check("scale", column_.text("what_if.scale"), all(scales, true)))
      set([on = all(scales, true) == Chosen::no](auto& one) { one.leaves_scale = on; }, new_stroke());
    draw_temperature();
  }

 private:
  const core::Session& session() const { return panel_.state.session; }
  std::uint32_t new_stroke() const { return column_.new_stroke(); }

  core::AttentionSwitches switches_of(const AttentionTensors& attention) const {
    const auto& set = session().setup().attentions;
    const auto found = set.find(attention.scores);
    return found == set.end() ? core::AttentionSwitches{} : found->second;
  }

  void choose_attention() {
    std::optional<core::TensorId>& chosen = panel_.window.what_if.attention;
    std::vector<std::string> words = {column_.text("what_if.all_attentions")};
    int at = 0;
    for (const AttentionTensors& attention : attentions_) {
      const std::string place = place_name(session().graph(), attention.path + ".scores", panel_.words);
      words.push_back(place.empty() ? attention.path : place);
      if (chosen == attention.scores) at = static_cast<int>(words.size()) - 1;
    }
    if (attentions_.size() > 1)
      if (const auto pressed = column_.choose("attention", words, at)) {
        at = *pressed;
        chosen = at == 0 ? std::nullopt : std::optional(attentions_[static_cast<std::size_t>(at) - 1].scores);
      }
    for (std::size_t i = 0; i < attentions_.size(); ++i)
      if (at == 0 || static_cast<int>(i) == at - 1) shown_.push_back(&attentions_[i]);
  }

  template <class Get>
  Chosen all(const Get& get, bool wanted) const {
    return std::ranges::all_of(shown_,
                               [&](const AttentionTensors* one) {
                                 const bool counts = get(switches_of(*one)) == wanted;
                                 // of attentions set together, those without a causal mask have none to leak
                                 return counts || (one != shown_.front() && !is_causal(session(), *one));
                               })
               ? Chosen::yes
               : Chosen::no;
  }

  template <class Change>
  void set(const Change& change, std::uint32_t stroke) {
    for (const AttentionTensors* attention : shown_) {
      core::AttentionSwitches switches = switches_of(*attention);
      change(switches);
      if (!is_causal(session(), *attention)) switches.leaks_future = false;
      if (switches != switches_of(*attention))
        panel_.actions.push_back(SetAttention{attention->scores, switches, stroke});
    }
  }

  void draw_temperature() {
    constexpr double kLowest = 0.1, kHighest = 10;  // of the slider; the field takes all that a session does
    const double temperature = switches_of(*shown_.front()).temperature;
    column_.say(column_.text("what_if.temperature_about"));
    const auto slid =
        column_.power_slider("temperature", temperature, kLowest, kHighest, lessons::NumberKind::value);
    if (!slid) return;
    const std::uint32_t stroke = slid->is_drag ? panel_.window.strokes : new_stroke();
    set([value = slid->value](auto& one) { one.temperature = value; }, stroke);
  }

  Column& column_;
  Panel& panel_;
  std::vector<AttentionTensors> attentions_;
  std::vector<const AttentionTensors*> shown_;
};

}  // namespace

void draw_heads_part(Column& column) {
  Panel& panel = column.panel();
  const core::Graph& graph = panel.state.session.graph();
  const std::vector<AttentionTensors> attentions = core::find_attentions(graph);
  if (attentions.empty()) return;
  column.heading(column.text("what_if.heads"));
  HeadAddress shown = panel.window.what_if.head.value_or(HeadAddress{attentions.front().head_output, 0});
  for (const AttentionTensors& attention : attentions) {
    const std::string place = place_name(graph, attention.path + ".scores", panel.words);
    if (!place.empty()) column.say(place);
    draw_discs(column, attention, shown);
  }
  draw_modes(column, shown);
}

void draw_attention_part(Column& column) {
  AttentionPart(column).draw();
}

}  // namespace headscope::simulator
