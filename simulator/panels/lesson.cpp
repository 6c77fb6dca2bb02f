// The lesson: where we are in it, its prose, its questions (predict, then reveal) and its experiments.
#include "simulator/panels/notices.h"
#include "simulator/panels/panel.h"
#include "simulator/panels/prose.h"
#include "simulator/panels/question.h"
#include "simulator/widgets/controls.h"
#include "simulator/widgets/scroll_area.h"

#include <algorithm>
#include <string>

namespace headscope::simulator {
namespace {

float draw_title(Panel& panel, ImVec2 at, float width) {
  const RichBlock title = lay_out(panel.painter(), {Run{.text = panel.view.step.title}},
                                  {.type = TypeStyle::title, .width = width, .role = "step_title"});
  draw(panel.painter(), at, title);
  return title.height;
}

/// What the learner's own sentence and numbers do to the lesson, and the way back. Returns the height.
float draw_own_changes(Panel& panel, ImVec2 at, float width) {
  const core::Session& session = panel.state.session;
  float y = at.y;
  const auto note = [&](const std::string& words) {
    y += note_line(panel.painter(), {at.x, y}, width, Note::warning, words) + panel.px(4);
  };
  const auto take_back = [&](std::string_view id, const Action& action) {
    const std::string word = panel.text("lesson.take_back");
    if (button(panel.ui, id, {at.x, y}, word).clicked) panel.actions.push_back(action);
    y += button_size(panel.painter(), word).y + panel.px(panel.theme().space.m);
  };
  if (session.text() != panel.state.lesson().sentence) {
    note(panel.text("lesson.own_sentence", {{"sentence", panel.state.lesson().sentence}}));
    take_back("restore_sentence", RestoreSentence{});
  }
  if (!session.edits().empty()) {
    const std::size_t n_edits = session.edits().size();
    note(n_edits == 1 ? panel.text("lesson.own_number")
                      : panel.text("lesson.own_numbers", {{"n", std::to_string(n_edits)}}));
    take_back("restore_cells", RestoreCells{});
  }
  for (const core::Error& notice : panel.view.step.notices) note(panel.words.text.error(notice));
  return y - at.y;
}

/// Words that the vocabulary lacks, and a sentence that was cut.
float draw_sentence_notices(Panel& panel, ImVec2 at, float width) {
  float y = at.y;
  for (const std::string& notice : sentence_notices(panel))
    y += note_line(panel.painter(), {at.x, y}, width, Note::warning, notice) + panel.px(6);
  return y - at.y;
}

/// The hint of an experiment, once it is asked for.
float draw_hint(Panel& panel, ImVec2 at, float width, std::size_t index) {
  const lessons::ExperimentView& experiment = panel.view.step.experiments[index];
  const lessons::ItemId item{panel.view.step.step, index};
  if (experiment.hint.empty()) return 0;
  if (panel.window.hints.contains(item))
    return draw_prose(panel, at, width, experiment.hint,
                      {.type = TypeStyle::label, .colour = panel.painter().colour().secondary});
  const std::string word = panel.text("lesson.hint");
  if (button(panel.ui, "hint" + std::to_string(index), at, word).clicked) panel.window.hints.insert(item);
  return button_size(panel.painter(), word).y;
}

float draw_experiment(Panel& panel, ImVec2 at, float width, std::size_t index) {
  const lessons::ExperimentView& experiment = panel.view.step.experiments[index];
  const Palette& colour = panel.painter().colour();
  float y = at.y;
  panel.painter().text({at.x, y}, panel.text("lesson.try"),
                       {.type = TypeStyle::small, .weight = Weight::semibold, .colour = colour.secondary});
  y += panel.painter().line_height(TypeStyle::small) + panel.px(6);
  y += draw_prose(panel, {at.x, y}, width, experiment.task, {.colour = colour.primary}) + panel.px(8);
  if (experiment.error) {
    y += note_line(panel.painter(), {at.x, y}, width, Note::warning,
                   panel.words.text.error(*experiment.error));
  } else if (experiment.is_reached || experiment.was_reached) {
    y += note_line(panel.painter(), {at.x, y}, width, Note::success, panel.text("lesson.goal_reached"));
  } else {
    const RichBlock open =
        lay_out(panel.painter(), {Run{.text = panel.text("lesson.goal_open"), .source = Source::catalog}},
                {.type = TypeStyle::label, .width = width, .colour = colour.tertiary});
    draw(panel.painter(), {at.x, y}, open);
    y += open.height + panel.px(4);
    y += draw_hint(panel, {at.x, y}, width, index);
  }
  return y - at.y;
}

/// The way on and back, for the mouse; after the last step, to the next lesson.
float draw_ways(Panel& panel, ImVec2 at) {
  const auto& library = panel.state.library;
  const bool is_last = lessons::is_last_step(panel.state.runner);
  const auto here = std::ranges::find(library, panel.state.lesson().number, &lessons::LessonEntry::number);
  const bool has_next_lesson = here != library.end() && here + 1 != library.end();
  float y = at.y + panel.px(panel.theme().space.xl), x = at.x;
  if (is_last) {
    panel.painter().text({x, y}, panel.text("lesson.end"),
                         {.type = TypeStyle::label, .colour = panel.painter().colour().tertiary});
    y += panel.painter().line_height(TypeStyle::label) + panel.px(8);
  }
  float height = 0;
  const auto way = [&](std::string_view key, Emphasis emphasis, const Action& action) {
    const std::string word = panel.text(key);
    if (button(panel.ui, key, {x, y}, word, emphasis).clicked) panel.actions.push_back(action);
    x += button_size(panel.painter(), word).x + panel.px(panel.theme().space.s);
    height = button_size(panel.painter(), word).y;
  };
  if (!is_last) way("lesson.next", Emphasis::dark, NextStep{});
  if (is_last && has_next_lesson) way("lesson.next_lesson", Emphasis::dark, OpenLesson{(here + 1)->name});
  if (!lessons::is_first_step(panel.state.runner)) way("lesson.back", Emphasis::filled, PreviousStep{});
  return y + height - at.y;
}

/// A question that was just answered is scrolled into sight with its verdict.
void note_answered(Panel& panel, std::size_t index, const Rect& box) {
  const lessons::ItemId item{panel.view.step.step, index};
  if (panel.window.answered != item || panel.view.revision == panel.window.answered_at) return;
  panel.window.reveal = box;
  panel.window.answered.reset();
}

/// The presenter's notes of the step, behind a button. Returns the height.
float draw_notes(Panel& panel, ImVec2 at, float width) {
  if (panel.view.step.notes.empty()) return 0;
  const std::string word = panel.text("lesson.notes");
  if (button(panel.ui, "notes", at, word, Emphasis::quiet).clicked)
    panel.window.notes = panel.window.notes == Shown::yes ? Shown::no : Shown::yes;
  const float height = button_size(panel.painter(), word).y;
  if (panel.window.notes == Shown::no) return height;
  return height + panel.px(4) +
         draw_prose(panel, {at.x, at.y + height + panel.px(4)}, width, panel.view.step.notes,
                    {.type = TypeStyle::label, .colour = panel.painter().colour().secondary});
}

float draw_content(Panel& panel, ImVec2 at, float width) {
  const Palette& colour = panel.painter().colour();
  const float section = panel.px(panel.theme().space.xl);
  float y = at.y;
  y += draw_own_changes(panel, {at.x, y}, width);
  y += draw_sentence_notices(panel, {at.x, y}, width);
  if (y > at.y) y += panel.px(panel.theme().space.m);
  y += draw_title(panel, {at.x, y}, width) + panel.px(panel.theme().space.m);
  if (!panel.view.step.introduction.empty())
    y += draw_prose(panel, {at.x, y}, width, panel.view.step.introduction, {.colour = colour.secondary}) +
         panel.px(panel.theme().space.paragraph);
  y += draw_prose(panel, {at.x, y}, width, panel.view.step.prose, {.colour = colour.secondary});
  for (std::size_t index = 0; index < panel.view.step.questions.size(); ++index) {
    y += section;
    const float height = draw_question(panel, {at.x, y}, width, index);
    note_answered(panel, index, rect_at({at.x, y}, {width, height}));
    y += height;
  }
  for (std::size_t index = 0; index < panel.view.step.experiments.size(); ++index) {
    y += section;
    y += draw_experiment(panel, {at.x, y}, width, index);
  }
  y += draw_ways(panel, {at.x, y});
  y += panel.px(panel.theme().space.m);
  y += draw_notes(panel, {at.x, y}, width);
  return y - at.y + section;
}

}  // namespace

void draw_lesson(Panel& panel, const Rect& box) {
  Painter& painter = panel.painter();
  painter.ground(box, painter.colour().chrome);
  const float gutter = panel.px(panel.theme().space.gutter) * (box.width() < panel.px(360) ? 0.6f : 1.0f);
  const ImVec2 top{box.min.x + gutter, box.min.y + panel.px(20)};
  const float width = box.width() - 2 * gutter;
  const auto number = static_cast<int>(panel.view.step.step) + 1,
             all = static_cast<int>(panel.view.step.n_steps);
  const Rect dashes = progress_dashes(
      painter, top, panel.text("lesson.step", {{"step", std::to_string(number)}, {"n", std::to_string(all)}}),
      number, all);

  const float pad = panel.px(4);  // for focus rings at the text's edge
  const Rect area{{top.x - pad, dashes.max.y + panel.px(12)},
                  {box.max.x - panel.px(6), box.max.y - panel.px(4)}};
  ScrollArea scroll(panel.ui, "lesson", area);
  if (panel.window.scrolled_step != panel.view.step.step) {
    scroll.scroll_to_top();
    panel.window.scrolled_step = panel.view.step.step;
  }
  Ui inner{scroll.painter(), panel.ui.focus};
  Panel inside = panel.with(inner);
  scroll.set_content_height(draw_content(inside, {scroll.origin().x + pad, scroll.origin().y}, width));
  if (panel.window.reveal) scroll.reveal(*panel.window.reveal);
  panel.window.reveal.reset();
}

}  // namespace headscope::simulator
