// Question and experiment blocks.
#include "lessons/lesson_question.h"

#include <array>
#include <utility>

namespace headscope::lessons {
namespace {

constexpr std::array<std::pair<std::string_view, QuestionKind>, 6> kKinds = {
    {{"token", QuestionKind::token},
     {"head", QuestionKind::head},
     {"cell", QuestionKind::cell},
     {"number", QuestionKind::number},
     {"statements", QuestionKind::statements},
     {"order", QuestionKind::order}}};
constexpr std::size_t kFewestStatements = 2;
constexpr std::size_t kFewestItems = 3;

std::optional<QuestionKind> read_kind(TableReader& reader) {
  const PlacedText written = reader.placed_text("kind", Presence::required);
  if (written.line == 0) return std::nullopt;
  std::string known;
  for (const auto& [name, kind] : kKinds) {
    if (name == written.text) return kind;
    known += (known.empty() ? "" : ", ") + std::string(name);
  }
  reader.problem(written.line, written.column, "lesson.unknown_value",
                 {{"key", "kind"}, {"value", written.text}, {"known", known}});
  return std::nullopt;
}

void read_statements(TableReader& reader, Question& question) {
  for (const TomlNode* node : reader.tables("statement")) {
    TableReader inner(*node, "statement", node->line, reader.file(), reader.problems());
    Statement statement;
    statement.text = inner.markdown("text", Presence::required);
    std::optional<PlacedExpression> when = inner.expression("when", Presence::required);
    inner.finish();
    if (!when) continue;
    statement.when = std::move(*when);
    question.statements.push_back(std::move(statement));
  }
  if (question.statements.size() < kFewestStatements)
    reader.problem(reader.line(), 1, "lesson.too_few_statements",
                   {{"least", std::to_string(kFewestStatements)}});
}

void read_mistakes(TableReader& reader, Question& question) {
  for (const TomlNode* node : reader.tables("mistake")) {
    TableReader inner(*node, "mistake", node->line, reader.file(), reader.problems());
    std::optional<PlacedExpression> when = inner.expression("when", Presence::required);
    std::vector<Block> say = inner.markdown("say", Presence::required);
    inner.finish();
    if (when) question.mistakes.push_back({std::move(*when), std::move(say)});
  }
}

void read_tolerance(TableReader& reader, Question& question) {
  question.tolerance = reader.number("tolerance", -1);
  if (question.tolerance >= 0) return;
  reader.problem(reader.line(), 1, "lesson.tolerance");
  question.tolerance = 0;
}

}  // namespace

Question read_question(TableReader& reader) {
  Question question;
  question.line = reader.line();
  const std::optional<QuestionKind> kind = read_kind(reader);
  question.ask = reader.markdown("ask", Presence::required);
  question.explain = reader.markdown("explain", Presence::required);
  read_mistakes(reader, question);
  if (!kind) return question;  // which keys belong here is not known
  question.kind = *kind;
  if (*kind == QuestionKind::statements) {
    read_statements(reader, question);
  } else if (*kind == QuestionKind::order) {
    question.items = reader.texts("items", Presence::required);
    if (question.items.size() < kFewestItems)
      reader.problem(reader.line(), 1, "lesson.too_few_items", {{"least", std::to_string(kFewestItems)}});
  } else {
    question.answer = reader.expression("answer", Presence::required);
    if (*kind == QuestionKind::cell) question.tensor = reader.placed_text("tensor", Presence::required);
    if (*kind == QuestionKind::number) read_tolerance(reader, question);
  }
  reader.finish();
  return question;
}

Experiment read_experiment(TableReader& reader) {
  Experiment experiment;
  experiment.line = reader.line();
  experiment.task = reader.markdown("task", Presence::required);
  if (std::optional<PlacedExpression> goal = reader.expression("goal", Presence::required))
    experiment.goal = std::move(*goal);
  experiment.hint = reader.markdown("hint", Presence::optional);
  reader.finish();
  return experiment;
}

}  // namespace headscope::lessons
