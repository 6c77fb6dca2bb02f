// The top bar: which lesson or model, the sentence (to be typed over), what the model is, what else there is.
#include "simulator/panels/panel.h"
#include "simulator/panels/what_if.h"
#include "simulator/widgets/controls.h"
#include "simulator/widgets/fields.h"

#include <algorithm>
#include <string>
#include <vector>

namespace headscope::simulator {
namespace {

std::string_view architecture_key(core::Architecture architecture) {
  switch (architecture) {
    case core::Architecture::encoder:
      return "top_bar.encoder";
    case core::Architecture::decoder:
      return "top_bar.decoder";
    case core::Architecture::encoder_decoder:
      return "top_bar.encoder_decoder";
  }
  return "top_bar.encoder";
}

/// What is said of the model, the least needed last.
std::vector<std::string> model_facts(const Panel& panel) {
  const core::Session& session = panel.state.session;
  const core::ModelConfig& config = session.config();
  const auto counted = [&](std::string_view one, std::string_view many, std::int64_t n) {
    return n == 1 ? panel.text(one) : panel.text(many, {{"n", std::to_string(n)}});
  };
  const std::optional<std::uint64_t>& seed = session.seed();
  return {panel.text(architecture_key(config.architecture)),
          counted("top_bar.block", "top_bar.blocks", config.n_layers),
          counted("top_bar.one_head", "top_bar.heads", config.n_heads),
          panel.text("top_bar.training_step", {{"n", std::to_string(session.training_step())}}),
          seed ? panel.text("top_bar.seed", {{"seed", std::to_string(*seed)}}) : panel.text("top_bar.loaded"),
          panel.text("top_bar.width", {{"n", std::to_string(config.d_head)}})};
}

/// As many facts as fit; none where even the first is too long.
std::string fitted_facts(const Panel& panel, float room, const TextStyle& style) {
  std::string words;
  for (const std::string& fact : model_facts(panel)) {
    std::string longer = words.empty() ? fact : words + " · " + fact;
    if (panel.painter().width_of(longer, style) > room) break;
    words = std::move(longer);
  }
  return words;
}

/// Places from the right and the left towards the middle, as long as the sentence keeps its room.
class TopBar {
 public:
  TopBar(Panel& panel, const Rect& box)
      : panel_(panel),
        box_(box),
        gap_(panel.px(box.width() < panel.px(700) ? 10 : 24)),
        left_(box.min.x + panel.px(box.width() < panel.px(700) ? 12 : 32)),
        right_(box.max.x - panel.px(box.width() < panel.px(700) ? 12 : 32)) {}

  void draw() {
    panel_.painter().ground(box_, panel_.painter().colour().chrome);
    // from the left, in the order of Tab: name, sentence, facts, open, help; measured before
    const std::string open = panel_.text("top_bar.open");
    const float help = panel_.px(28), open_width = button_size(panel_.painter(), open).x;
    const float help_x = right_ - help / 2, open_x = right_ - help - gap_ / 2 - open_width;
    right_ = open_x - gap_;
    draw_name();
    draw_sentence();
    draw_facts();
    const float height = button_size(panel_.painter(), open).y;
    if (button(panel_.ui, "open", {open_x, box_.centre().y - height / 2}, open, Emphasis::quiet).clicked)
      panel_.window.opening = panel_.window.opening == Shown::yes ? Shown::no : Shown::yes;
    const Touch keys = icon_button(panel_.ui, "help", {help_x, box_.centre().y}, help, Icon::help);
    if (keys.hovered) tooltip(panel_.painter(), keys.mouse, panel_.text("help.heading"));
    if (keys.clicked) panel_.window.help = panel_.window.help == Shown::yes ? Shown::no : Shown::yes;
  }

 private:
  float field_least() const { return panel_.px(box_.width() < panel_.px(700) ? 96 : 220); }
  float y_of(TypeStyle type) const { return box_.centre().y - panel_.painter().line_height(type) / 2; }

  /// The product's name where there is plenty of room; the lesson's or the model's as far as it fits.
  void draw_name() {
    const TextStyle product{.type = TypeStyle::body, .weight = Weight::bold};
    if (box_.width() > panel_.px(1100))
      left_ =
          panel_.painter().text({left_, y_of(TypeStyle::body)}, panel_.text("top_bar.name"), product).max.x +
          gap_;
    const std::string title = panel_.state.has_lesson()
                                  ? std::to_string(panel_.state.lesson().number) + "   " + panel_.state.name
                                  : panel_.state.name;
    const TextStyle style{.type = TypeStyle::body, .source = Source::lesson, .role = "lesson_title"};
    const float room = right_ - left_ - gap_ - field_least(),
                wanted = panel_.painter().width_of(title, style);
    if (room < std::min(wanted, panel_.px(60))) return;
    left_ = panel_.painter()
                .fit_text({left_, y_of(TypeStyle::body)}, title, std::min(room, wanted), style)
                .max.x +
            gap_;
  }

  void draw_sentence() {
    const std::string label = panel_.text("top_bar.sentence");
    const TextStyle style{.type = TypeStyle::label, .colour = panel_.painter().colour().secondary};
    const float label_width = panel_.painter().width_of(label, style) + panel_.px(10);
    // over the stage where it can be
    const float stage_x = box_.min.x + panel_.px(panel_.theme().region.lesson) + panel_.px(48);
    if (right_ - stage_x > panel_.px(420) + label_width) left_ = std::max(left_, stage_x);
    if (right_ - left_ >= label_width + field_least()) {
      panel_.painter().text({left_, y_of(TypeStyle::label)}, label, style);
      left_ += label_width;
    }
    const std::string& current = panel_.state.session.text();
    const float width = std::min(right_ - left_, panel_.px(420));
    const std::string hint = panel_.text("top_bar.sentence_hint");
    const DraftField response =
        draft_field(panel_, "sentence", {left_, box_.centre().y - field_height(panel_.painter()) / 2}, width,
                    current, hint, {.reason = Reason::over});
    if (response.committed && *response.committed != current)
      panel_.actions.push_back(SetSentence{*response.committed});
    left_ += width + gap_;
  }

  void draw_facts() {
    const TextStyle style{
        .type = TypeStyle::label, .colour = panel_.painter().colour().secondary, .role = "model_facts"};
    const std::string facts = fitted_facts(panel_, right_ - left_, style);
    if (!facts.empty()) panel_.painter().text_to({right_, y_of(TypeStyle::label)}, facts, style);
  }

  Panel& panel_;
  const Rect& box_;
  float gap_, left_, right_;  // what is still free
};

}  // namespace

void draw_top_bar(Panel& panel, const Rect& box) {
  TopBar(panel, box).draw();
}

}  // namespace headscope::simulator
