// Takes a learner through a lesson: where they are, what they answered, and what a face (window or terminal)
// shows for the current step. Plain state; the face owns the session, whatever sentence and edits it has by
// now.
#pragma once

#include "core/session.h"
#include "lessons/expression.h"
#include "lessons/lesson.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace headscope::lessons {

/// A step and the number of the question (or experiment) in it.
struct ItemId {
  std::size_t step = 0;
  std::size_t item = 0;
  auto operator<=>(const ItemId&) const = default;
};

/// What the learner chose. token: {position}; head: {head}; cell: {row, column}; statements: the chosen ones,
/// ascending; order: the indices of QuestionView::choices in the learner's order; number: `number`.
struct Given {
  std::vector<std::int64_t> choices;
  double number = 0;
  bool operator==(const Given&) const = default;
};

enum class AnswerState : std::uint8_t { unanswered, right, wrong, revealed };

struct Answer {
  Given given;
  AnswerState state = AnswerState::unanswered;
  std::uint64_t session_mark =
      0;  // of the sentence, edits and head for which it was given; see answer_mark()
};

struct LessonRunner {
  std::shared_ptr<const Lesson> lesson;
  std::size_t step = 0;
  std::optional<std::int64_t> head = {};  // the learner's choice for this step; the step's own otherwise
  std::map<ItemId, Answer> answers = {};
  std::set<ItemId> goals_reached = {};  // once reached, a goal stays reached
};

/// A runner at the first step. Precondition: the lesson has a step.
LessonRunner start_lesson(Lesson lesson);
/// Puts a new reading of the same file in place (after a save), staying at the step.
void replace_lesson(LessonRunner& runner, Lesson lesson);

bool is_first_step(const LessonRunner& runner);
bool is_last_step(const LessonRunner& runner);
void next_step(LessonRunner& runner);
void previous_step(LessonRunner& runner);
/// Clamped to the lesson's steps.
void go_to_step(LessonRunner& runner, std::size_t step);
void choose_head(LessonRunner& runner, std::int64_t head);
/// The current head: the learner's choice or the step's, within the model's heads.
std::int64_t current_head(const LessonRunner& runner, const core::Session& session);

/// Answers the current step's question and returns right or wrong (unanswered where the question cannot be
/// asked of this sentence). A wrong answer may be given again.
AnswerState answer(LessonRunner& runner, const core::Session& session, std::size_t question,
                   const Given& given);
/// Whether an answer that was kept has the form that its question asks for, as answer() demands it; one that
/// was revealed needs none.
bool fits(const Question& question, const Answer& answer, const core::Session& session);
/// Shows the answer without one having been given.
void reveal(LessonRunner& runner, const core::Session& session, std::size_t question);
/// Notes which of the current step's goals are reached now; call after every change of session, step or head.
void update_goals(LessonRunner& runner, const core::Session& session);

/// A fingerprint of sentence, edits and head: an answer counts only for the numbers for which it was given.
std::uint64_t session_mark(const core::Session& session, std::int64_t head);
/// The same for one question: comparing heads and ordering tensors, the learner may look at any head.
std::uint64_t answer_mark(const Question& question, const core::Session& session, std::int64_t head);

/// A run of prose with its live expression evaluated.
struct ProseRun {
  Run::Kind kind = Run::Kind::text;
  std::string text;  // what is shown
  bool strong = false;
  bool emphasis = false;
  std::string address;                   // web links
  std::optional<core::TensorId> tensor;  // links, and live expressions that are one tensor
  std::optional<core::Cell> cell;        // live expressions that are one cell
  std::optional<core::Error> error;      // could not be evaluated for this sentence; text is then "…"
};

struct ProseBlock {
  Block::Kind kind = Block::Kind::paragraph;
  int level = 0, depth = 0, number = 0;  // as in Block
  std::string info;
  std::vector<ProseRun> runs;
};

struct Choice {
  std::string label;             // a word, a head's number, a tensor's short name; empty for statements
  std::vector<ProseBlock> text;  // statements
  std::optional<core::TensorId> tensor;  // order
  bool is_chosen = false;
  std::optional<bool> is_right;  // known once the question is right or revealed
};

struct QuestionView {
  QuestionKind kind = QuestionKind::token;
  AnswerState state = AnswerState::unanswered;
  std::vector<ProseBlock> ask;
  std::vector<Choice>
      choices;  // token, head, statements, order (shuffled, the same each time); empty for cell, number
  std::optional<core::TensorId> tensor;  // cell: pick a row and a column of this one, at `head`
  std::int64_t head = 0;
  std::optional<Given> given;               // while the answer counts
  std::vector<ProseBlock> feedback;         // after a wrong answer: the likely mistake; may be empty
  std::string answer;                       // once right or revealed: as text ("sat", "1.45")
  std::vector<std::int64_t> right_choices;  // once right or revealed: like Given::choices
  std::vector<ProseBlock> explain;          // once right or revealed
  std::optional<core::Error> error;         // cannot be asked of this sentence: say so gently
};

struct ExperimentView {
  std::vector<ProseBlock> task, hint;
  bool is_reached = false;   // now
  bool was_reached = false;  // ever
  std::optional<core::Error> error;
};

/// Everything that a face shows for the current step.
struct StepView {
  std::size_t step = 0, n_steps = 0;
  std::string title;
  std::vector<ProseBlock> introduction;  // first step only
  std::vector<ProseBlock> prose, notes;
  std::size_t cursor = 0;              // Cursor position: the operations before it have run
  std::optional<core::TensorId> stop;  // the tensor that has just been computed
  std::vector<core::TensorId> shown;   // operands, then the result, unless the step says otherwise
  std::int64_t head = 0;
  std::optional<core::TensorId> lit_tensor;  // set with lit_cell
  std::optional<core::Cell> lit_cell;
  std::vector<QuestionView> questions;
  std::vector<ExperimentView> experiments;
  std::vector<core::Error> notices;  // what this sentence could not give (a word that it does not have)
};

StepView view_step(const LessonRunner& runner, const core::Session& session);

}  // namespace headscope::lessons
