// A lesson as read from its Markdown file: plain data. docs/lesson-format.md describes the file.
#pragma once

#include "core/result.h"
#include "core/session.h"
#include "lessons/expression.h"
#include "lessons/markdown.h"
#include "lessons/problem.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::lessons {

/// A name as written, and its place in the file.
struct PlacedText {
  std::string text;
  int line = 0;
  int column = 0;
};

/// An expression as written, parsed, and its place in the file (of its first character).
struct PlacedExpression {
  Expression expression;
  int line = 0;
  int column = 0;
};

enum class QuestionKind { token, head, cell, number, statements, order };

struct Statement {
  std::vector<Block> text;
  PlacedExpression when;  // true: the statement holds
};

/// A wrong answer that tells what the learner likely did.
struct Mistake {
  PlacedExpression when;  // over `given`
  std::vector<Block> say;
};

struct Question {
  QuestionKind kind = QuestionKind::token;
  std::vector<Block> ask;
  std::vector<Block> explain;              // shown after the answer
  std::optional<PlacedExpression> answer;  // token, head, cell, number
  PlacedText tensor;                       // cell: whose cells are picked
  double tolerance = 0;                    // number
  std::vector<Statement> statements;
  std::vector<PlacedText> items;  // order: tensors; the right order is the graph's
  std::vector<Mistake> mistakes;
  int line = 0;
};

/// Something to bring about by editing; the program sees when it is reached.
struct Experiment {
  std::vector<Block> task;
  PlacedExpression goal;
  std::vector<Block> hint;
  int line = 0;
};

struct Step {
  std::string title;
  PlacedText stop;               // the tensor whose operation has just run
  std::vector<PlacedText> show;  // empty: the operation's operands and its result
  std::int64_t head = 0;
  std::optional<PlacedExpression> light;  // the cell that is lit
  std::vector<Block> prose;
  std::vector<Question> questions;
  std::vector<Experiment> experiments;
  std::vector<Block> notes;  // for the presenter
  int line = 0;
};

struct Lesson {
  std::filesystem::path path;
  std::string name;   // "query-key-value" of "01_query_key_value.md"
  int number = 0;     // 1
  std::string title;  // the file's # heading
  core::SeedModel model;
  std::string sentence;
  std::vector<std::string> words;          // the sentence's tokens, after the begin token where there is one
  std::string inside;                      // the scope of short tensor names
  int sentence_line = 1, inside_line = 1;  // where the two stand, for the check
  std::vector<Block> introduction;         // between the front matter and the first step
  std::vector<Step> steps;                 // at least one
};

/// What could be read, and everything that is wrong with the text alone (tensors and expressions are not yet
/// held against the model: see check.h). `lesson` is set where problems is empty.
struct ParsedLesson {
  std::optional<Lesson> lesson;
  Problems problems;
};

/// Parses a lesson. `assets` is the folder that has vocabulary/. `path` need not exist.
ParsedLesson parse_lesson(std::string_view text, const std::filesystem::path& path,
                          const std::filesystem::path& assets);

/// Reads a lesson file. The error is the first problem, or one of core::read_file().
core::Result<Lesson> load_lesson(const std::filesystem::path& path, const std::filesystem::path& assets);

/// The session in which a lesson begins: its model and its sentence.
core::Result<core::Session> make_session(const Lesson& lesson);

}  // namespace headscope::lessons
