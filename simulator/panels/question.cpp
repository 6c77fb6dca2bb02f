#include "simulator/panels/question.h"

#include "lessons/markdown.h"
#include "lessons/number_format.h"
#include "simulator/panels/prose.h"
#include "simulator/slice.h"
#include "simulator/widgets/controls.h"
#include "simulator/widgets/fields.h"

#include <algorithm>
#include <string>
#include <vector>

namespace headscope::simulator {
namespace {

using lessons::AnswerState;
using lessons::QuestionKind;

class QuestionDrawer {
 public:
  QuestionDrawer(Panel& panel, ImVec2 at, float width, std::size_t index)
      : panel_(panel),
        question_(panel.view.step.questions[index]),
        index_(index),
        x_(at.x),
        y_(at.y),
        width_(width) {}

  float draw() {
    const float top = y_;
    panel_.painter().text(
        {x_, y_}, panel_.text("lesson.predict"),
        {.type = TypeStyle::small, .weight = Weight::semibold, .colour = colour().secondary});
    y_ += panel_.painter().line_height(TypeStyle::small) + panel_.px(6);
    y_ += draw_prose(panel_, {x_, y_}, width_, question_.ask, {.colour = colour().primary}) + panel_.px(12);
    if (question_.error) {
      note(Note::warning, panel_.words.text.error(*question_.error));
      return y_ - top;
    }
    draw_choices();
    draw_outcome();
    return y_ - top;
  }

 private:
  const Palette& colour() const { return panel_.painter().colour(); }
  bool is_open() const {
    return question_.state == AnswerState::unanswered || question_.state == AnswerState::wrong;
  }
  std::string id(std::string_view part, std::size_t at = 0) const {
    return "question" + std::to_string(index_) + std::string(part) + std::to_string(at);
  }
  Draft& draft() { return panel_.window.drafts[{panel_.view.step.step, index_}]; }
  void answer(std::vector<std::int64_t> choices, double number = 0) {
    panel_.actions.push_back(AnswerQuestion{index_, {std::move(choices), number}});
    await_verdict();
  }
  void reveal() {
    panel_.actions.push_back(RevealAnswer{index_});
    await_verdict();
  }
  void await_verdict() {
    panel_.window.answered = lessons::ItemId{panel_.view.step.step, index_};
    panel_.window.answered_at = panel_.view.revision;
  }
  void note(Note kind, const std::string& words, Source source = Source::catalog) {
    y_ += note_line(panel_.painter(), {x_, y_}, width_, kind, words, source) + panel_.px(6);
  }

  void draw_choices() {
    switch (question_.kind) {
      case QuestionKind::token:
      case QuestionKind::head:
        return draw_chips();
      case QuestionKind::number:
        return draw_number();
      case QuestionKind::cell:
        return draw_cell();
      case QuestionKind::statements:
        return draw_statements();
      case QuestionKind::order:
        return draw_order();
    }
  }

  void draw_chips() {
    std::vector<std::string> words;
    for (const lessons::Choice& choice : question_.choices) words.push_back(choice.label);
    std::optional<int> chosen;
    for (std::size_t at = 0; at < question_.choices.size(); ++at)
      if (question_.choices[at].is_chosen) chosen = static_cast<int>(at);
    if (!is_open() && !question_.right_choices.empty())
      chosen = static_cast<int>(question_.right_choices.front());
    const Source source = question_.kind == QuestionKind::token ? Source::token : Source::number;
    const ChipChoice response = chip_choice(panel_.ui, id("chips"), {x_, y_}, width_, words, chosen, source,
                                            is_open() ? Ability::enabled : Ability::disabled);
    if (response.pressed && is_open()) answer({*response.pressed});
    y_ += response.height + panel_.px(10);
  }

  void draw_number() {
    if (!is_open()) return;
    Draft& typed = draft();
    const float field = std::min(panel_.px(120), width_ / 2);
    const std::string hint = panel_.text("lesson.number_hint");
    const FieldResponse response =
        text_field(panel_.ui, id("number"), {x_, y_}, typed.number, {.width = field, .hint = hint});
    const std::string check = panel_.text("lesson.check_answer");
    const bool pressed = button(panel_.ui, id("check"), {x_ + field + panel_.px(10), y_}, check).clicked;
    y_ += response.height + panel_.px(10);
    const std::optional<double> number = lessons::parse_number(typed.number);
    if ((response.committed || pressed) && number) answer({}, *number);
    if (!typed.number.empty() && !number) note(Note::error, panel_.text("lesson.not_a_number"));
  }

  /// The cell is picked on the stage: the one that the learner locks.
  void draw_cell() {
    if (!is_open()) return;
    const RichBlock block =
        lay_out(panel_.painter(), {Run{.text = panel_.text("lesson.pick_cell"), .source = Source::catalog}},
                {.type = TypeStyle::label, .width = width_, .colour = colour().tertiary});
    simulator::draw(panel_.painter(), {x_, y_}, block);
    y_ += block.height + panel_.px(6);
    if (panel_.state.trail.empty() || !question_.tensor) return;
    // a table of the same rows and columns beside the asked one names the same cell
    const CellAddress& picked = panel_.state.trail.back();
    const core::Graph& graph = panel_.state.session.graph();
    if (graph.spec(picked.tensor).shape != graph.spec(*question_.tensor).shape) return;
    const Slice slice = slice_of(panel_.state.session, *question_.tensor, question_.head);
    const std::optional<Slice::Place> place = slice.find(picked.cell);
    if (!place) return;
    const std::string word = panel_.text("lesson.check_answer") + " " +
                             address_text(panel_.state.session, panel_.state.trail.back());
    if (button(panel_.ui, id("check"), {x_, y_}, word).clicked) answer({place->row, place->column});
    y_ += button_size(panel_.painter(), word).y + panel_.px(8);
  }

  void draw_statements() {
    Draft& chosen = draft();
    for (std::size_t at = 0; at < question_.choices.size(); ++at) {
      const auto index = static_cast<std::int64_t>(at);
      const lessons::Choice& choice = question_.choices[at];
      const bool is_marked =
          is_open() ? std::ranges::count(chosen.choices, index) > 0 : choice.is_right.value_or(false);
      const ChoiceLine line =
          choice_line(panel_.ui, id("statement", at), {x_, y_}, width_, plain(choice.text), MarkShape::check,
                      is_marked ? Chosen::yes : Chosen::no, Source::lesson,
                      is_open() ? Ability::enabled : Ability::disabled);
      if (line.touch.clicked && is_open()) {
        if (is_marked)
          std::erase(chosen.choices, index);
        else
          chosen.choices.push_back(index);
        std::ranges::sort(chosen.choices);
      }
      y_ += line.height + panel_.px(6);
    }
    if (!is_open()) return;
    const std::string check = panel_.text("lesson.check_answer");
    const Ability ability = chosen.choices.empty() ? Ability::disabled : Ability::enabled;
    if (button(panel_.ui, id("check"), {x_, y_}, check, Emphasis::filled, ability).clicked)
      answer(chosen.choices);
    y_ += button_size(panel_.painter(), check).y + panel_.px(8);
  }

  static std::string plain(const std::vector<lessons::ProseBlock>& blocks) {
    std::string text;
    for (const lessons::ProseBlock& block : blocks)
      for (const lessons::ProseRun& run : block.runs) text += run.text;
    return text;
  }

  /// Chips in a shuffled order; clicking appends to the learner's.
  void draw_order() {
    Draft& order = draft();
    if (!is_open()) order.choices.clear();
    const std::vector<std::int64_t>& placed = is_open() ? order.choices : question_.right_choices;
    std::string so_far;
    for (const std::int64_t at : placed)
      so_far += (so_far.empty() ? "" : "  →  ") + question_.choices[static_cast<std::size_t>(at)].label;
    if (!so_far.empty()) {
      const RichBlock block = lay_out(
          panel_.painter(), {Run{.text = so_far, .weight = Weight::semibold, .source = Source::tensor}},
          {.type = TypeStyle::label, .width = width_});
      simulator::draw(panel_.painter(), {x_, y_}, block);
      y_ += block.height + panel_.px(8);
    }
    if (!is_open()) return;
    std::vector<std::string> words;
    std::vector<std::int64_t> indices;
    for (std::size_t at = 0; at < question_.choices.size(); ++at)
      if (std::ranges::count(order.choices, static_cast<std::int64_t>(at)) == 0) {
        words.push_back(question_.choices[at].label);
        indices.push_back(static_cast<std::int64_t>(at));
      }
    const ChipChoice response =
        chip_choice(panel_.ui, id("order"), {x_, y_}, width_, words, std::nullopt, Source::tensor);
    y_ += response.height + panel_.px(6);
    if (response.pressed) order.choices.push_back(indices[static_cast<std::size_t>(*response.pressed)]);
    if (order.choices.size() == question_.choices.size()) {
      answer(order.choices);
      order.choices.clear();
    } else if (!order.choices.empty()) {
      const std::string again = panel_.text("lesson.order_again");
      if (button(panel_.ui, id("again"), {x_, y_}, again, Emphasis::quiet).clicked) order.choices.clear();
      y_ += button_size(panel_.painter(), again).y + panel_.px(6);
    }
  }

  void draw_outcome() {
    const ProseStyle small{.type = TypeStyle::label, .colour = colour().secondary};
    switch (question_.state) {
      case AnswerState::unanswered:
        break;
      case AnswerState::right:
        note(Note::success, question_.answer.empty()
                                ? panel_.text("lesson.right_alone")
                                : panel_.text("lesson.right", {{"answer", question_.answer}}));
        break;
      case AnswerState::wrong:
        note(Note::error, panel_.text("lesson.wrong"));
        y_ += draw_prose(panel_, {x_, y_}, width_, question_.feedback, small) + panel_.px(6);
        break;
      case AnswerState::revealed: {
        const RichBlock block =
            lay_out(panel_.painter(),
                    {Run{.text = panel_.text("lesson.shown", {{"answer", question_.answer}}),
                         .weight = Weight::semibold,
                         .source = Source::catalog}},
                    {.type = TypeStyle::label, .width = width_});
        simulator::draw(panel_.painter(), {x_, y_}, block);
        y_ += block.height + panel_.px(6);
        break;
      }
    }
    if (!is_open()) {
      y_ += draw_prose(panel_, {x_, y_}, width_, question_.explain, small);
      return;
    }
    const std::string word = panel_.text("lesson.show_answer");
    if (button(panel_.ui, id("reveal"), {x_, y_}, word, Emphasis::quiet).clicked) reveal();
    y_ += button_size(panel_.painter(), word).y;
  }

  Panel& panel_;
  const lessons::QuestionView& question_;
  std::size_t index_;
  float x_, y_, width_;
};

}  // namespace

float draw_question(Panel& panel, ImVec2 at, float width, std::size_t index) {
  return QuestionDrawer(panel, at, width, index).draw();
}

}  // namespace headscope::simulator
