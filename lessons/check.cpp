// Holds a lesson against its own model and sentence: every name, word, expression, question and goal.
#include "lessons/check.h"

#include "core/graph_paths.h"
#include "lessons/lesson_blocks.h"
#include "lessons/lesson_scope.h"
#include "lessons/question_rules.h"
#include "lessons/text_file.h"

#include <algorithm>
#include <set>
#include <utility>

namespace headscope::lessons {
namespace {

using Values = std::vector<std::pair<std::string, std::string>>;

/// What an expression may be about.
enum class Use { shown, answer, mistake };

class Checker {
 public:
  Checker(const Lesson& lesson, const core::Session& session, Problems& problems)
      : lesson_(lesson), session_(session), words_(session_words(session)), problems_(problems) {}
  void check();

 private:
  void add(int line, int column, std::string key, Values values = {}) {
    add_problem(problems_, lesson_.path.string(), line, column, std::move(key), std::move(values));
  }
  void add(const PlacedExpression& at, const ExpressionError& error) {
    add(at.line, at.column + error.column - 1, error.error.key, error.error.values);
  }
  /// Whether the scope of short names exists; without it every short name would be a problem of its own.
  bool check_scope();
  void check_step(const Step& step);
  void check_shown(const Step& step, core::TensorId stop);
  void check_light(const Step& step, core::TensorId stop);
  void check_prose(const std::vector<Block>& blocks);
  void check_words(const Expression& expression, int line, int column);
  std::optional<core::TensorId> check_tensor(const PlacedText& name);
  /// Evaluates; nothing where there is a problem, which is told.
  std::optional<Value> check_expression(const PlacedExpression& at, Use use);
  void check_question(const Question& question);
  void check_answer(const Question& question);
  void check_statements(const Question& question);
  void check_items(const Question& question);
  void check_mistakes(const Question& question);
  void check_experiment(const Experiment& experiment);
  Scope scope() const { return lesson_scope(lesson_, session_, head_); }
  std::size_t place(core::TensorId tensor) const {
    const auto producer = session_.graph().producer(tensor);
    return producer ? *producer + 1 : 0;
  }

  const Lesson& lesson_;
  const core::Session& session_;
  std::vector<std::string> words_;
  Problems& problems_;
  std::int64_t head_ = 0;
};

void Checker::check() {
  if (session_.sentence().n_cut > 0)
    add(lesson_.sentence_line, 1, "lesson.sentence_cut",
        {{"count", std::to_string(session_.sentence().n_cut)}});
  if (!check_scope()) return;
  check_prose(lesson_.introduction);
  for (const Step& step : lesson_.steps) check_step(step);
}

bool Checker::check_scope() {
  if (lesson_.inside.empty()) return true;
  const std::string prefix = lesson_.inside + ".";
  const auto names = session_.graph().names();
  const bool is_known = std::any_of(names.begin(), names.end(),
                                    [&](const auto& name) { return name.first.starts_with(prefix); });
  if (is_known) return true;
  const std::string closest(core::owner(closest_tensor(session_.graph(), prefix + "scores", "")));
  add(lesson_.inside_line, 1, "lesson.unknown_scope", {{"name", lesson_.inside}, {"closest", closest}});
  return false;
}

std::optional<core::TensorId> Checker::check_tensor(const PlacedText& name) {
  const auto found = find_tensor(session_.graph(), name.text, lesson_.inside);
  if (!found)
    add(name.line, name.column, "expression.unknown_tensor",
        {{"name", name.text}, {"closest", closest_tensor(session_.graph(), name.text, lesson_.inside)}});
  return found;
}

void Checker::check_step(const Step& step) {
  const std::int64_t n_heads = session_.config().n_heads;
  if (step.head < 0 || step.head >= n_heads)
    add(step.line, 1, "lesson.head_range",
        {{"head", std::to_string(step.head)}, {"last", std::to_string(n_heads - 1)}});
  head_ = std::clamp<std::int64_t>(step.head, 0, n_heads - 1);
  if (const auto stop = check_tensor(step.stop)) {
    check_shown(step, *stop);
    check_light(step, *stop);
  }
  check_prose(step.prose);
  check_prose(step.notes);
  for (const Question& question : step.questions) check_question(question);
  for (const Experiment& experiment : step.experiments) check_experiment(experiment);
}

void Checker::check_shown(const Step& step, core::TensorId stop) {
  for (const PlacedText& name : step.show) {
    const auto tensor = check_tensor(name);
    if (tensor && place(*tensor) > place(stop))
      add(name.line, name.column, "lesson.shown_too_early", {{"name", name.text}, {"stop", step.stop.text}});
  }
}

void Checker::check_light(const Step& step, core::TensorId stop) {
  if (!step.light || !check_expression(*step.light, Use::shown)) return;
  const auto light = referenced_cell(step.light->expression, scope());
  if (!light || !light->cell) return add(step.light->line, step.light->column, "lesson.light_no_cell");
  std::vector<core::TensorId> shown;
  for (const PlacedText& name : step.show)
    if (const auto tensor = find_tensor(session_.graph(), name.text, lesson_.inside))
      shown.push_back(*tensor);
  if (step.show.empty()) {
    const auto producer = session_.graph().producer(stop);
    if (producer) shown = core::operands(session_.graph().operations()[*producer]);
    shown.push_back(stop);
  }
  if (std::find(shown.begin(), shown.end(), light->tensor) == shown.end())
    add(step.light->line, step.light->column, "lesson.light_not_shown",
        {{"light", step.light->expression.source}});
}

void Checker::check_prose(const std::vector<Block>& blocks) {
  for (const Block& block : blocks)
    for (const Run& run : block.runs) {
      if (run.kind == Run::Kind::tensor_link) check_tensor({run.target, run.line, run.column});
      if (run.kind != Run::Kind::live) continue;
      const ExpressionResult<Expression> parsed = parse_expression(run.target);
      if (const auto* error = std::get_if<ExpressionError>(&parsed))
        add(run.line, run.column + error->column - 1, error->error.key, error->error.values);
      else
        check_expression({std::get<Expression>(parsed), run.line, run.column}, Use::shown);
    }
}

void Checker::check_words(const Expression& expression, int line, int column) {
  for (const Mention& mention : mentioned_words(expression)) {
    const WordPlace found = find_word(mention.text, words_);
    if (found.position && (found.n_occurrences == 1 || found.is_numbered)) continue;
    if (!found.position) continue;  // evaluation says that the word is unknown
    const auto n_times = std::count(words_.begin(), words_.end(), mention.text);
    if (n_times > 1)
      add(line, column + mention.column - 1, "lesson.ambiguous_word",
          {{"word", mention.text}, {"count", std::to_string(n_times)}});
  }
}

std::optional<Value> Checker::check_expression(const PlacedExpression& at, Use use) {
  check_words(at.expression, at.line, at.column);
  if (use != Use::mistake && mentions_given(at.expression)) {
    add(at.line, at.column, "lesson.given_outside_mistake");
    return std::nullopt;
  }
  if (use == Use::answer && is_literal(at.expression)) {
    add(at.line, at.column, "lesson.literal", {{"expression", at.expression.source}});
    return std::nullopt;
  }
  ExpressionResult<Value> value = evaluate(at.expression, scope());
  if (const auto* error = std::get_if<ExpressionError>(&value)) {
    add(at, *error);
    return std::nullopt;
  }
  return std::get<Value>(std::move(value));
}

void Checker::check_question(const Question& question) {
  check_prose(question.ask);
  check_prose(question.explain);
  for (const Statement& statement : question.statements) check_prose(statement.text);
  for (const Mistake& mistake : question.mistakes) check_prose(mistake.say);
  const std::size_t n_before = problems_.size();
  if (question.kind == QuestionKind::statements)
    check_statements(question);
  else if (question.kind == QuestionKind::order)
    check_items(question);
  else
    check_answer(question);
  if (problems_.size() == n_before) check_mistakes(question);
}

void Checker::check_answer(const Question& question) {
  if (question.kind == QuestionKind::cell && !check_tensor(question.tensor)) return;
  if (!check_expression(*question.answer, Use::answer)) return;
  const ExpressionResult<RightAnswer> right = right_answer(question, scope());
  if (const auto* error = std::get_if<ExpressionError>(&right)) add(*question.answer, *error);
}

void Checker::check_statements(const Question& question) {
  std::size_t n_true = 0, n_told = 0;
  for (const Statement& statement : question.statements) {
    const std::optional<Value> value = check_expression(statement.when, Use::answer);
    const std::optional<bool> truth = value ? as_truth(*value) : std::nullopt;
    if (value && !truth) add(statement.when.line, statement.when.column, "question.no_truth");
    if (truth) ++n_told;
    if (truth.value_or(false)) ++n_true;
  }
  if (n_told == question.statements.size() && n_true == 0) add(question.line, 1, "question.none_true");
}

void Checker::check_items(const Question& question) {
  std::set<core::TensorId> seen;
  for (const PlacedText& item : question.items) {
    const auto tensor = check_tensor(item);
    if (!tensor) continue;
    if (!session_.graph().producer(*tensor))
      add(item.line, item.column, "lesson.item_not_computed", {{"name", item.text}});
    if (!seen.insert(*tensor).second) add(item.line, item.column, "lesson.item_twice", {{"name", item.text}});
  }
}

/// A mistake that the right answer makes as well would scold a learner who is right.
void Checker::check_mistakes(const Question& question) {
  const ExpressionResult<RightAnswer> found = right_answer(question, scope());
  const auto* right = std::get_if<RightAnswer>(&found);
  if (!right) return;
  Given given;
  given.number = right->number;
  if (!right->choices.empty()) given.choices = right->choices.front();
  for (const Mistake& mistake : question.mistakes) {
    check_words(mistake.when.expression, mistake.when.line, mistake.when.column);
    if (!mentions_given(mistake.when.expression)) {
      add(mistake.when.line, mistake.when.column, "lesson.mistake_without_given");
      continue;
    }
    const ExpressionResult<bool> holds = mistake_holds(question, mistake, given, scope());
    if (const auto* error = std::get_if<ExpressionError>(&holds))
      add(mistake.when, *error);
    else if (std::get<bool>(holds))
      add(mistake.when.line, mistake.when.column, "lesson.mistake_is_right");
  }
}

void Checker::check_experiment(const Experiment& experiment) {
  check_prose(experiment.task);
  check_prose(experiment.hint);
  const std::optional<Value> value = check_expression(experiment.goal, Use::answer);
  if (!value) return;
  const std::optional<bool> is_reached = as_truth(*value);
  if (!is_reached) add(experiment.goal.line, experiment.goal.column, "question.no_truth");
  if (is_reached.value_or(false)) add(experiment.goal.line, experiment.goal.column, "lesson.goal_reached");
}

}  // namespace

Problems check_lesson_text(std::string_view text, const std::filesystem::path& path,
                           const std::filesystem::path& assets) {
  ParsedLesson parsed = parse_lesson(text, path, assets);
  if (!parsed.lesson) return std::move(parsed.problems);
  Problems problems;
  const core::Result<core::Session> session = make_session(*parsed.lesson);
  if (!session)
    add_problem(problems, path.string(), parsed.lesson->sentence_line, 1, session.error().key,
                session.error().values);
  else
    Checker(*parsed.lesson, *session, problems).check();
  sort_by_place(problems);
  return problems;
}

Problems check_lesson(const std::filesystem::path& path, const std::filesystem::path& assets) {
  const core::Result<std::string> text = read_text_file(path);
  if (!text) return {{path.string(), 1, 1, text.error()}};
  return check_lesson_text(*text, path, assets);
}

}  // namespace headscope::lessons
