// The runner: every step resolves, right answers are accepted and wrong ones refused, whatever the sentence.
#include "lessons/runner.h"

#include "lesson_files.h"
#include "lessons/lesson_scope.h"
#include "lessons/question_rules.h"

#include <algorithm>
#include <set>

using namespace headscope;
using namespace headscope::lessons;

namespace {

struct Taken {
  LessonRunner runner;
  core::Session session;
  StepView view() const { return view_step(runner, session); }
};

Taken take(Lesson lesson) {
  core::Session session = test::session_of(lesson);
  return {start_lesson(std::move(lesson)), std::move(session)};
}

/// The right answer of the current step's question, as the program computes it.
Given right_given(Taken& taken, std::size_t question) {
  LessonRunner copy = taken.runner;
  reveal(copy, taken.session, question);
  const QuestionView view = view_step(copy, taken.session).questions.at(question);
  const Question& asked = taken.runner.lesson->steps[taken.runner.step].questions[question];
  Given given;
  given.choices = view.right_choices;
  const Scope scope =
      lesson_scope(*taken.runner.lesson, taken.session, current_head(taken.runner, taken.session));
  const auto right = right_answer(asked, scope);
  REQUIRE(std::holds_alternative<RightAnswer>(right));
  given.number = std::get<RightAnswer>(right).number;
  return given;
}

/// An answer that is surely wrong.
Given wrong_given(const Taken& taken, std::size_t question, Given right) {
  const QuestionView view = taken.view().questions.at(question);
  const auto n_choices = static_cast<std::int64_t>(view.choices.size());
  switch (view.kind) {
    case QuestionKind::number:
      right.number += 1;
      break;
    case QuestionKind::token:
    case QuestionKind::head:
      right.choices[0] = (right.choices[0] + 1) % n_choices;
      break;
    case QuestionKind::cell:
      right.choices[1] = (right.choices[1] + 1) % 6;
      break;
    case QuestionKind::statements:
      right.choices = right.choices.size() == 1 ? std::vector<std::int64_t>{} : std::vector<std::int64_t>{0};
      break;
    case QuestionKind::order:
      std::reverse(right.choices.begin(), right.choices.end());
      break;
  }
  return right;
}

std::string text_of(const std::vector<ProseBlock>& blocks) {
  std::string text;
  for (const ProseBlock& block : blocks)
    for (const ProseRun& run : block.runs) text += run.text;
  return text;
}

}  // namespace

TEST_CASE("every step of every shipped lesson resolves", "[lessons][runner]") {
  for (const char* name : {"1", "2"}) {
    Taken taken = take(test::shipped(name));
    std::set<std::size_t> steps;
    for (;; next_step(taken.runner)) {
      const StepView view = taken.view();
      INFO(name << " " << view.title);
      steps.insert(view.step);
      REQUIRE(view.stop);
      CHECK_FALSE(view.shown.empty());
      CHECK(view.notices.empty());
      CHECK_FALSE(view.prose.empty());
      CHECK(view.lit_tensor.has_value() == view.lit_cell.has_value());
      const core::Cursor cursor(taken.session.graph().operations().size(), view.cursor);
      for (core::TensorId tensor : view.shown) CHECK(taken.session.trace(cursor).is_computed(tensor));
      if (view.lit_cell) CHECK(taken.session.trace().shape(*view.lit_tensor).contains(*view.lit_cell));
      CHECK(text_of(view.prose).find("…") == std::string::npos);
      for (const ProseBlock& block : view.prose)
        for (const ProseRun& run : block.runs) {
          CHECK_FALSE(run.error);
          if (run.kind == Run::Kind::tensor_link) CHECK(run.tensor);
        }
      if (is_last_step(taken.runner)) break;
    }
    CHECK(steps.size() == taken.runner.lesson->steps.size());
  }
}

TEST_CASE("right answers are accepted, wrong ones refused, in every shipped question", "[lessons][runner]") {
  std::set<QuestionKind> kinds;
  for (const char* name : {"1", "2"}) {
    Taken taken = take(test::shipped(name));
    for (;; next_step(taken.runner)) {
      const std::size_t n_questions = taken.view().questions.size();
      for (std::size_t question = 0; question < n_questions; ++question) {
        INFO(name << " " << taken.view().title << ", question " << question);
        const QuestionView before = taken.view().questions[question];
        CHECK(before.state == AnswerState::unanswered);
        CHECK(before.answer.empty());
        CHECK(before.explain.empty());
        kinds.insert(before.kind);
        const Given right = right_given(taken, question);
        CHECK(answer(taken.runner, taken.session, question, wrong_given(taken, question, right)) ==
              AnswerState::wrong);
        CHECK(taken.view().questions[question].explain.empty());
        CHECK(answer(taken.runner, taken.session, question, right) == AnswerState::right);
        const QuestionView after = taken.view().questions[question];
        CHECK_FALSE(after.explain.empty());
        CHECK(text_of(after.explain).find("…") == std::string::npos);
        CHECK(after.given == right);
      }
      if (is_last_step(taken.runner)) break;
    }
  }
  CHECK(kinds.size() == 6);
}

TEST_CASE("the likely mistake is named", "[lessons][runner]") {
  Taken taken = take(test::small_lesson());
  const auto feedback = [&](std::size_t question, const Given& given) {
    CHECK(answer(taken.runner, taken.session, question, given) == AnswerState::wrong);
    return text_of(taken.view().questions[question].feedback);
  };
  const auto& trace = taken.session.trace();
  const auto scores = *taken.session.graph().find("decoder.block0.self_attention.scores");
  const double score = trace.value(scores, {0, 0, 3, 2});
  CHECK(feedback(1, {{}, score / 4}) == "The root.");
  CHECK(feedback(1, {{}, score / 4 + 0.015}) == "The root.");
  CHECK(feedback(1, {{}, 50}).empty());
  CHECK(answer(taken.runner, taken.session, 1, {{}, score / 2 + 0.0199}) == AnswerState::right);
  next_step(taken.runner);
  CHECK(feedback(0, {{0, 1}, 0}) == "Hidden.");
  CHECK(feedback(1, {{1}, 0}) == "The wrong axis.");
  CHECK(feedback(1, {{0, 1}, 0}) == "The wrong axis.");
  const QuestionView order = taken.view().questions[2];
  Given given;
  for (const char* name : {"scores", "weights", "masked_scores"})
    for (std::size_t choice = 0; choice < order.choices.size(); ++choice)
      if (order.choices[choice].label == name) given.choices.push_back(static_cast<std::int64_t>(choice));
  CHECK(feedback(2, given) == "The mask after the softmax.");
}

TEST_CASE("an order is right in every way that the graph allows", "[lessons][runner]") {
  const std::string text = test::spoiled("items = [\"scores\", \"masked_scores\", \"weights\"]",
                                         "items = [\"queries\", \"keys\", \"scores\"]");
  ParsedLesson parsed = parse_lesson(text, "01_small.md", test::assets());
  REQUIRE(parsed.lesson);
  Taken taken = take(*std::move(parsed.lesson));
  next_step(taken.runner);
  const QuestionView view = taken.view().questions[2];
  const auto order = [&](std::vector<std::string> names) {
    Given given;
    for (const std::string& name : names)
      for (std::size_t choice = 0; choice < view.choices.size(); ++choice)
        if (view.choices[choice].label == name) given.choices.push_back(static_cast<std::int64_t>(choice));
    return answer(taken.runner, taken.session, 2, given);
  };
  CHECK(order({"queries", "keys", "scores"}) == AnswerState::right);
  CHECK(order({"keys", "queries", "scores"}) == AnswerState::right);
  CHECK(order({"queries", "scores", "keys"}) == AnswerState::wrong);
}

TEST_CASE("malformed answers are not counted", "[lessons][runner]") {
  Taken taken = take(test::small_lesson());
  for (const Given& given : {Given{}, Given{{6}, 0}, Given{{-1}, 0}, Given{{1, 2}, 0}})
    CHECK(answer(taken.runner, taken.session, 0, given) == AnswerState::unanswered);
  next_step(taken.runner);
  CHECK(answer(taken.runner, taken.session, 0, Given{{1}, 0}) == AnswerState::unanswered);
  CHECK(answer(taken.runner, taken.session, 1, Given{{7}, 0}) == AnswerState::unanswered);
  CHECK(answer(taken.runner, taken.session, 2, Given{{0, 1, 9}, 0}) == AnswerState::unanswered);
  CHECK(answer(taken.runner, taken.session, 2, Given{{0, 0, 1}, 0}) == AnswerState::wrong);
  CHECK(taken.view().questions[2].state == AnswerState::wrong);
}

TEST_CASE("revealing shows the answer without one given", "[lessons][runner]") {
  Taken taken = take(test::small_lesson());
  reveal(taken.runner, taken.session, 0);
  const QuestionView view = taken.view().questions[0];
  CHECK(view.state == AnswerState::revealed);
  CHECK_FALSE(view.given);
  CHECK(view.answer == "sat");
  CHECK(view.right_choices == std::vector<std::int64_t>{2});
  CHECK(view.choices.at(2).is_right == true);
  CHECK(view.choices.at(1).is_right == false);
  CHECK(text_of(view.explain) == "It is 1.43.");
}

TEST_CASE("an answer counts for the sentence, edits and head for which it was given", "[lessons][runner]") {
  Taken taken = take(test::small_lesson());
  REQUIRE(answer(taken.runner, taken.session, 0, right_given(taken, 0)) == AnswerState::right);
  REQUIRE(taken.session.set("the dog sat on the mat", {}));
  CHECK(taken.view().questions[0].state == AnswerState::unanswered);
  REQUIRE(taken.session.set("the cat sat on the mat", {}));
  CHECK(taken.view().questions[0].state == AnswerState::right);
  choose_head(taken.runner, 1);
  CHECK(taken.view().questions[0].state == AnswerState::unanswered);
  choose_head(taken.runner, 0);
  const auto w_query = *taken.session.graph().find("decoder.block0.self_attention.w_query");
  REQUIRE(taken.session.set("the cat sat on the mat", {{{w_query, {0, 0, 0}}, 2.0}}));
  CHECK(taken.view().questions[0].state == AnswerState::unanswered);
}

TEST_CASE("a question that compares heads stays answered while heads are looked at", "[lessons][runner]") {
  Taken taken = take(test::shipped("2"));
  go_to_step(taken.runner, 6);
  REQUIRE(taken.view().questions.at(0).kind == QuestionKind::head);
  REQUIRE(answer(taken.runner, taken.session, 0, right_given(taken, 0)) == AnswerState::right);
  choose_head(taken.runner, 0);
  CHECK(taken.view().questions.at(0).state == AnswerState::right);
}

TEST_CASE("steps move within the lesson and forget the chosen head", "[lessons][runner]") {
  Taken taken = take(test::small_lesson());
  CHECK(is_first_step(taken.runner));
  previous_step(taken.runner);
  CHECK(taken.runner.step == 0);
  choose_head(taken.runner, 1);
  CHECK(taken.view().head == 1);
  CHECK(taken.view().lit_cell == core::Cell{0, 1, 3, 2});
  next_step(taken.runner);
  CHECK(taken.view().head == 0);
  CHECK(is_last_step(taken.runner));
  next_step(taken.runner);
  CHECK(taken.runner.step == 1);
  choose_head(taken.runner, 99);
  CHECK(taken.view().head == 1);
  go_to_step(taken.runner, 100);
  CHECK(taken.runner.step == 1);
}

TEST_CASE("a step shows the operation's operands and its result unless told otherwise", "[lessons][runner]") {
  Taken taken = take(test::small_lesson());
  const core::Graph& graph = taken.session.graph();
  const std::string attention = "decoder.block0.self_attention.";
  const auto id = [&](const std::string& name) { return *graph.find(attention + name); };
  CHECK(taken.view().shown == std::vector<core::TensorId>{id("queries"), id("keys"), id("scores")});
  CHECK(taken.view().cursor == *graph.producer(id("scores")) + 1);
  next_step(taken.runner);
  CHECK(taken.view().shown == std::vector<core::TensorId>{id("masked_scores"), id("weights")});
}

TEST_CASE("live numbers in prose carry the cell that they come from", "[lessons][runner]") {
  Taken taken = take(test::small_lesson());
  const ProseBlock prose = taken.view().prose.at(0);
  const auto live = std::find_if(prose.runs.begin(), prose.runs.end(),
                                 [](const ProseRun& run) { return run.kind == Run::Kind::live; });
  REQUIRE(live != prose.runs.end());
  CHECK(live->text == "2.51");
  CHECK(live->tensor == taken.session.graph().find("decoder.block0.self_attention.scores"));
  CHECK(live->cell == core::Cell{0, 0, 3, 2});
}

TEST_CASE("the learner's own sentence still yields a usable step", "[lessons][runner]") {
  for (const char* sentence :
       {"the dog saw the cat", "a a a a a a", "Übung macht den Meister, sagt man!", "mat the on sat cat the",
        "one two three four five six seven eight nine ten"}) {
    for (const char* name : {"1", "2"}) {
      Taken taken = take(test::shipped(name));
      REQUIRE(taken.session.set(sentence, {}));
      for (;; next_step(taken.runner)) {
        const StepView view = taken.view();
        INFO(sentence << " | " << view.title);
        CHECK(view.stop);
        CHECK_FALSE(view.shown.empty());
        for (std::size_t question = 0; question < view.questions.size(); ++question) {
          if (view.questions[question].error) continue;
          const QuestionView& asked = view.questions[question];
          if (asked.kind == QuestionKind::token) CHECK(asked.choices.size() == taken.session.n_positions());
          CHECK(answer(taken.runner, taken.session, question, right_given(taken, question)) ==
                AnswerState::right);
        }
        if (is_last_step(taken.runner)) break;
      }
    }
  }
}

TEST_CASE("a sentence too short for a word is told gently", "[lessons][runner]") {
  Taken taken = take(test::shipped("2"));
  REQUIRE(taken.session.set("cat sat", {}));
  const StepView view = taken.view();
  CHECK(view.stop);
  CHECK_FALSE(view.lit_cell);  // there is no fourth word
  REQUIRE_FALSE(view.notices.empty());
  CHECK(view.notices[0].key == "expression.word_gone");
  CHECK(text_of(view.prose).find("…") != std::string::npos);
  go_to_step(taken.runner, 2);
  CHECK(taken.view().questions.at(0).error);
  CHECK(answer(taken.runner, taken.session, 0, {{}, 1}) == AnswerState::unanswered);
}

TEST_CASE("the goals of the shipped experiments can be reached with one edit of w_query",
          "[lessons][runner]") {
  for (const char* name : {"1", "2"}) {
    Taken taken = take(test::shipped(name));
    go_to_step(taken.runner, 100);
    REQUIRE(taken.view().experiments.size() == 1);
    CHECK_FALSE(taken.view().experiments[0].is_reached);
    update_goals(taken.runner, taken.session);
    CHECK(taken.runner.goals_reached.empty());
    const core::TensorId w_query = *taken.session.graph().find("decoder.block0.self_attention.w_query");
    const core::Shape shape = taken.session.trace().shape(w_query);
    const std::string sentence = taken.session.text();
    bool is_reached = false;
    for (std::int64_t place = 0; place < shape.count() && !is_reached; ++place)
      for (double value : {-4.0, 4.0}) {
        REQUIRE(taken.session.set(sentence, {{{w_query, shape.cell(place)}, value}}));
        is_reached = is_reached || taken.view().experiments[0].is_reached;
        if (is_reached) break;
      }
    CHECK(is_reached);
    update_goals(taken.runner, taken.session);
    REQUIRE(taken.session.set(sentence, {}));
    CHECK_FALSE(taken.view().experiments[0].is_reached);
    CHECK(taken.view().experiments[0].was_reached);
  }
}

TEST_CASE("a lesson that is saved again is taken up at the same step", "[lessons][runner]") {
  Taken taken = take(test::shipped("2"));
  go_to_step(taken.runner, 5);
  Lesson shorter = test::small_lesson();
  replace_lesson(taken.runner, shorter);
  CHECK(taken.runner.step == 1);
  CHECK(taken.view().title == "Weights");
}
