// The top bar: which lesson, the sentence (to be typed over), which model.
#include "simulator/panels/panel.h"
#include "simulator/widgets/controls.h"
#include "simulator/widgets/fields.h"

#include <algorithm>
#include <string>

namespace headscope::simulator {
namespace {

std::string model_words(const Panel& panel) {
  const core::ModelConfig& config = panel.state.session.config();
  const auto counted = [&](std::string_view one, std::string_view many, std::int64_t n) {
    return n == 1 ? panel.text(one) : panel.text(many, {{"n", std::to_string(n)}});
  };
  std::string words =
      panel.text(config.architecture == core::Architecture::decoder ? "top_bar.decoder" : "top_bar.encoder");
  words += " · " + counted("top_bar.block", "top_bar.blocks", config.n_layers);
  words += " · " + counted("top_bar.one_head", "top_bar.heads", config.n_heads);
  words += " · " + panel.text("top_bar.width", {{"n", std::to_string(config.d_head)}});
  const auto& seed = panel.state.session.seed();
  words += " · " + (seed ? panel.text("top_bar.seed", {{"seed", std::to_string(*seed)}})
                         : panel.text("top_bar.loaded"));
  return words;
}

/// The sentence stands in a field; Enter or leaving it feeds what was typed, Esc brings the old one back.
void draw_sentence_field(Panel& panel, ImVec2 at, float width) {
  std::string typed = panel.window.sentence_draft.value_or(panel.state.session.text());
  const std::string hint = panel.text("top_bar.sentence_hint");
  const FieldResponse response = text_field(panel.ui, "sentence", at, typed, {.width = width, .hint = hint});
  // a click elsewhere feeds what was typed as Enter does: nothing typed is lost
  const bool was_left = panel.window.sentence_draft && !response.active && !response.cancelled;
  if (response.committed || was_left) panel.actions.push_back(SetSentence{typed});
  if (response.committed || response.cancelled || !response.active)
    panel.window.sentence_draft.reset();
  else
    panel.window.sentence_draft = typed;
}

}  // namespace

void draw_top_bar(Panel& panel, const Rect& box) {
  Painter& painter = panel.painter();
  const Theme& theme = panel.theme();
  painter.fill(box, painter.colour().chrome);
  const float margin = panel.px(32), gap = panel.px(theme.space.xl);
  const float body_y = box.centre().y - painter.line_height(TypeStyle::body) / 2;

  Rect name{{box.min.x + margin, body_y}, {box.min.x + margin, body_y}};
  if (box.width() > panel.px(1100))
    name = painter.text({box.min.x + margin, body_y}, panel.text("top_bar.name"),
                        {.type = TypeStyle::body, .weight = Weight::bold});
  const float lesson_x = name.width() > 0 ? name.max.x + gap : name.min.x;

  const float help_size = panel.px(28);
  if (icon_button(panel.ui, "help", {box.max.x - margin, box.centre().y}, help_size, Icon::help).clicked)
    panel.window.help = panel.window.help == Shown::yes ? Shown::no : Shown::yes;
  float right = box.max.x - margin - help_size / 2 - panel.px(theme.space.m);
  const std::string model = model_words(panel);
  const TextStyle model_style{.type = TypeStyle::label, .colour = painter.colour().secondary};
  const float model_width = painter.width_of(model, model_style);
  if (box.width() > panel.px(1200)) {
    painter.text_to({right, box.centre().y - painter.line_height(TypeStyle::label) / 2}, model, model_style);
    right -= model_width + gap;
  }

  const std::string title = panel.state.has_lesson()
                                ? std::to_string(panel.state.lesson().number) + "   " + panel.state.name
                                : panel.state.name;
  const TextStyle title_style{.type = TypeStyle::body, .source = Source::lesson, .role = "lesson_title"};
  const float field_least = panel.px(220),
              label_width = painter.width_of(panel.text("top_bar.sentence"), model_style) + panel.px(10);
  const float title_room = std::max(0.0f, right - lesson_x - gap - label_width - field_least);
  const Rect drawn = painter.fit_text(
      {lesson_x, body_y}, title, std::min(title_room, painter.width_of(title, title_style)), title_style);
  const float stage_x = box.min.x + panel.px(theme.region.lesson) + panel.px(48);
  float x = std::max(drawn.max.x + gap, std::min(stage_x, right - label_width - field_least));
  painter.text({x, box.centre().y - painter.line_height(TypeStyle::label) / 2},
               panel.text("top_bar.sentence"), model_style);
  x += label_width;
  draw_sentence_field(panel, {x, box.centre().y - field_height(painter) / 2},
                      std::min(right - x, panel.px(420)));
}

}  // namespace headscope::simulator
