// What a face shows for the current step.
#include "lessons/lesson_scope.h"
#include "lessons/prose.h"
#include "lessons/question_rules.h"
#include "lessons/runner.h"

#include <algorithm>
#include <utility>

namespace headscope::lessons {
namespace {

bool is_open(AnswerState state) {
  return state == AnswerState::right || state == AnswerState::revealed;
}

Choice labelled(std::string label) {
  Choice choice;
  choice.label = std::move(label);
  return choice;
}

std::vector<Choice> order_choices(const Question& question, const RightAnswer& right, const Scope& scope) {
  std::vector<Choice> choices;
  for (std::int64_t item : shuffled_items(question, right, scope)) {
    const auto place = static_cast<std::size_t>(item);
    choices.push_back(labelled(question.items[place].text));
    choices.back().tensor = right.order[place];
  }
  return choices;
}

std::vector<Choice> list_choices(const Question& question, const RightAnswer& right, const Scope& scope) {
  std::vector<Choice> choices;
  switch (question.kind) {
    case QuestionKind::token:
      for (const std::string& word : session_words(scope.session)) choices.push_back(labelled(word));
      break;
    case QuestionKind::head:
      for (std::int64_t head = 0; head < scope.session.config().n_heads; ++head)
        choices.push_back(labelled(std::to_string(head)));
      break;
    case QuestionKind::statements:
      for (const Statement& statement : question.statements) {
        choices.emplace_back();
        choices.back().text = resolve_prose(statement.text, scope);
      }
      break;
    case QuestionKind::order:
      return order_choices(question, right, scope);
    case QuestionKind::cell:
    case QuestionKind::number:
      break;
  }
  return choices;
}

void mark_choices(QuestionView& view) {
  const auto holds = [](const std::vector<std::int64_t>& choices, std::size_t index) {
    return std::find(choices.begin(), choices.end(), static_cast<std::int64_t>(index)) != choices.end();
  };
  for (std::size_t index = 0; index < view.choices.size(); ++index) {
    Choice& choice = view.choices[index];
    choice.is_chosen = view.given && holds(view.given->choices, index);
    if (is_open(view.state) && view.kind != QuestionKind::order)
      choice.is_right = holds(view.right_choices, index);
  }
}

void open_answer(const Question& question, const RightAnswer& right, const Scope& scope, QuestionView& view) {
  view.answer = right.text;
  view.explain = resolve_prose(question.explain, scope);
  view.right_choices = right.choices.empty() ? std::vector<std::int64_t>{} : right.choices.front();
  if (question.kind == QuestionKind::order) view.right_choices = from_items(question, right, scope);
  // tied with another answer, the learner's own is the right one to show
  const bool is_tied = view.given && view.state == AnswerState::right && question.kind != QuestionKind::order;
  if (is_tied) view.right_choices = view.given->choices;
}

QuestionView view_question(const Question& question, const Answer* kept, const Scope& scope) {
  QuestionView view;
  view.kind = question.kind;
  view.head = scope.head;
  view.ask = resolve_prose(question.ask, scope);
  if (question.kind == QuestionKind::cell)
    view.tensor = find_tensor(scope.session.graph(), question.tensor.text, scope.inside);
  const ExpressionResult<RightAnswer> found = right_answer(question, scope);
  if (const auto* error = std::get_if<ExpressionError>(&found)) {
    view.error = error->error;
    return view;
  }
  const RightAnswer& right = std::get<RightAnswer>(found);
  view.choices = list_choices(question, right, scope);
  const bool counts = kept && kept->session_mark == answer_mark(question, scope.session, scope.head);
  if (counts) {
    view.state = kept->state;
    if (kept->given != Given{} || kept->state != AnswerState::revealed) view.given = kept->given;
  }
  if (is_open(view.state)) open_answer(question, right, scope, view);
  if (view.state == AnswerState::wrong) {
    const bool is_order = question.kind == QuestionKind::order;
    const Given given = is_order ? to_items(question, right, *view.given, scope) : *view.given;
    if (const Mistake* mistake = find_mistake(question, given, scope))
      view.feedback = resolve_prose(mistake->say, scope);
  }
  mark_choices(view);
  return view;
}

ExperimentView view_experiment(const Experiment& experiment, const Scope& scope) {
  ExperimentView view;
  view.task = resolve_prose(experiment.task, scope);
  view.hint = resolve_prose(experiment.hint, scope);
  const ExpressionResult<Value> value = evaluate(experiment.goal.expression, scope);
  if (const auto* error = std::get_if<ExpressionError>(&value)) view.error = error->error;
  if (const Value* found = std::get_if<Value>(&value)) view.is_reached = as_truth(*found).value_or(false);
  return view;
}

void view_tensors(const Step& step, const Scope& scope, StepView& view) {
  const core::Graph& graph = scope.session.graph();
  view.stop = find_tensor(graph, step.stop.text, scope.inside);
  for (const PlacedText& name : step.show)
    if (const auto tensor = find_tensor(graph, name.text, scope.inside)) view.shown.push_back(*tensor);
  if (view.stop) {
    const std::optional<std::size_t> producer = graph.producer(*view.stop);
    view.cursor = producer ? *producer + 1 : 0;
    if (step.show.empty() && producer) view.shown = core::operands(graph.operations()[*producer]);
    if (step.show.empty()) view.shown.push_back(*view.stop);
  }
  if (!step.light) return;
  const std::optional<CellReference> light = referenced_cell(step.light->expression, scope);
  if (!light || !light->cell) {
    const ExpressionResult<Value> value = evaluate(step.light->expression, scope);
    if (const auto* error = std::get_if<ExpressionError>(&value)) view.notices.push_back(error->error);
    return;
  }
  view.lit_tensor = light->tensor;
  view.lit_cell = light->cell;
}

}  // namespace

StepView view_step(const LessonRunner& runner, const core::Session& session) {
  const Lesson& lesson = *runner.lesson;
  const Step& step = lesson.steps[runner.step];
  const Scope scope = lesson_scope(lesson, session, current_head(runner, session));
  StepView view;
  view.step = runner.step;
  view.n_steps = lesson.steps.size();
  view.title = step.title;
  view.head = scope.head;
  if (runner.step == 0) view.introduction = resolve_prose(lesson.introduction, scope);
  view.prose = resolve_prose(step.prose, scope);
  view.notes = resolve_prose(step.notes, scope);
  view_tensors(step, scope, view);
  collect_errors(view.prose, view.notices);
  for (std::size_t number = 0; number < step.questions.size(); ++number) {
    const auto kept = runner.answers.find({runner.step, number});
    const Answer* answer = kept == runner.answers.end() ? nullptr : &kept->second;
    view.questions.push_back(view_question(step.questions[number], answer, scope));
  }
  for (std::size_t number = 0; number < step.experiments.size(); ++number) {
    view.experiments.push_back(view_experiment(step.experiments[number], scope));
    view.experiments.back().was_reached = runner.goals_reached.contains({runner.step, number});
  }
  return view;
}

}  // namespace headscope::lessons
