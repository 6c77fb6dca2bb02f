// Moving through a lesson, answering, reaching goals. What is shown is in runner_view.cpp.
#include "lessons/runner.h"

#include "core/hash.h"
#include "lessons/lesson_scope.h"
#include "lessons/question_rules.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>
#include <utility>

namespace headscope::lessons {
namespace {

const Step& current_step(const LessonRunner& runner) {
  return runner.lesson->steps[runner.step];
}

/// A hash of numbers and texts, one after the other.
class Fingerprint {
 public:
  void add(std::uint64_t number) {
    const auto bytes = std::bit_cast<std::array<char, sizeof number>>(number);
    add(std::string_view(bytes.data(), bytes.size()));
  }
  void add(std::string_view text) { value_ = core::fnv1a(text, value_); }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = core::kFnv1aStart;
};

bool is_within(const Given& given, std::int64_t size) {
  return std::all_of(given.choices.begin(), given.choices.end(),
                     [&](std::int64_t choice) { return choice >= 0 && choice < size; });
}

/// Whether the answer has the form that the question's kind asks for.
bool fits(const Question& question, const Given& given, const core::Session& session) {
  switch (question.kind) {
    case QuestionKind::number:
      return true;
    case QuestionKind::token:
      return given.choices.size() == 1 && is_within(given, static_cast<std::int64_t>(session.n_positions()));
    case QuestionKind::head:
      return given.choices.size() == 1 && is_within(given, session.config().n_heads);
    case QuestionKind::cell:
      return given.choices.size() == 2;
    case QuestionKind::statements:
      return is_within(given, static_cast<std::int64_t>(question.statements.size())) &&
             std::is_sorted(given.choices.begin(), given.choices.end());
    case QuestionKind::order:
      return given.choices.size() == question.items.size() &&
             is_within(given, static_cast<std::int64_t>(question.items.size()));
  }
  return false;
}

}  // namespace

bool fits(const Question& question, const Answer& answer, const core::Session& session) {
  return (answer.state == AnswerState::revealed && answer.given == Given{}) ||
         fits(question, answer.given, session);
}

LessonRunner start_lesson(Lesson lesson) {
  LessonRunner runner;
  runner.lesson = std::make_shared<const Lesson>(std::move(lesson));
  return runner;
}

void replace_lesson(LessonRunner& runner, Lesson lesson) {
  const std::size_t last = lesson.steps.size() - 1;
  runner.lesson = std::make_shared<const Lesson>(std::move(lesson));
  runner.step = std::min(runner.step, last);
  runner.answers.clear();  // the questions may be others now
  runner.goals_reached.clear();
}

bool is_first_step(const LessonRunner& runner) {
  return runner.step == 0;
}
bool is_last_step(const LessonRunner& runner) {
  return runner.step + 1 >= runner.lesson->steps.size();
}

void next_step(LessonRunner& runner) {
  go_to_step(runner, runner.step + 1);
}
void previous_step(LessonRunner& runner) {
  go_to_step(runner, runner.step == 0 ? 0 : runner.step - 1);
}

void go_to_step(LessonRunner& runner, std::size_t step) {
  const std::size_t wanted = std::min(step, runner.lesson->steps.size() - 1);
  if (wanted != runner.step) runner.head.reset();
  runner.step = wanted;
}

void choose_head(LessonRunner& runner, std::int64_t head) {
  runner.head = head;
}

std::int64_t current_head(const LessonRunner& runner, const core::Session& session) {
  const std::int64_t wanted = runner.head.value_or(current_step(runner).head);
  return std::clamp<std::int64_t>(wanted, 0, session.config().n_heads - 1);
}

AnswerState answer(LessonRunner& runner, const core::Session& session, std::size_t question,
                   const Given& given) {
  const Question& asked = current_step(runner).questions.at(question);
  if (!fits(asked, given, session)) return AnswerState::unanswered;
  const Scope scope = lesson_scope(*runner.lesson, session, current_head(runner, session));
  const ExpressionResult<RightAnswer> right = right_answer(asked, scope);
  if (!std::holds_alternative<RightAnswer>(right)) return AnswerState::unanswered;
  Given as_written = given;
  if (asked.kind == QuestionKind::order)
    as_written = to_items(asked, std::get<RightAnswer>(right), given, scope);
  const bool is_correct = is_right(asked, std::get<RightAnswer>(right), as_written, scope);
  Answer& kept = runner.answers[{runner.step, question}];
  kept = {given, is_correct ? AnswerState::right : AnswerState::wrong,
          answer_mark(asked, session, scope.head)};
  return kept.state;
}

void reveal(LessonRunner& runner, const core::Session& session, std::size_t question) {
  Answer& kept = runner.answers[{runner.step, question}];
  const std::uint64_t mark =
      answer_mark(current_step(runner).questions.at(question), session, current_head(runner, session));
  if (kept.session_mark != mark) kept.given = {};
  if (kept.session_mark != mark || kept.state != AnswerState::right) kept.state = AnswerState::revealed;
  kept.session_mark = mark;
}

void update_goals(LessonRunner& runner, const core::Session& session) {
  const Scope scope = lesson_scope(*runner.lesson, session, current_head(runner, session));
  const std::vector<Experiment>& experiments = current_step(runner).experiments;
  for (std::size_t number = 0; number < experiments.size(); ++number) {
    const ExpressionResult<Value> value = evaluate(experiments[number].goal.expression, scope);
    const Value* found = std::get_if<Value>(&value);
    if (found && as_truth(*found).value_or(false)) runner.goals_reached.insert({runner.step, number});
  }
}

std::uint64_t answer_mark(const Question& question, const core::Session& session, std::int64_t head) {
  const bool is_of_one_head = question.kind != QuestionKind::head && question.kind != QuestionKind::order;
  return session_mark(session, is_of_one_head ? head : 0);
}

std::uint64_t session_mark(const core::Session& session, std::int64_t head) {
  Fingerprint mark;
  mark.add(session.text());
  mark.add(static_cast<std::uint64_t>(head));
  for (const auto& [place, value] : session.edits()) {
    mark.add(place.first.index);
    for (int side = 0; side < place.second.rank(); ++side)
      mark.add(static_cast<std::uint64_t>(place.second[side]));
    mark.add(std::bit_cast<std::uint64_t>(value));
  }
  return mark.value();
}

}  // namespace headscope::lessons
