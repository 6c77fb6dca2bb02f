// The small language of answers, truths and goals: expressions over a session's numbers. The grammar, with
// examples, is in docs/lesson-format.md. Plain data and free functions; evaluation never depends on the
// cursor.
#pragma once

#include "core/result.h"
#include "core/session.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace headscope::lessons {

/// A place along one or more axes, what argmax finds: a word's position, a head, a channel, a cell of a
/// matrix. Counts as a number where it has one axis. Ties are other places that are just as right.
struct Place {
  std::vector<core::Axis> axes;
  std::vector<std::int64_t> indices;                 // one per axis
  std::vector<std::vector<std::int64_t>> ties = {};  // each as `indices`
};

/// Numbers along the axes that an index left open with ':'.
struct Array {
  std::vector<core::Axis> axes;
  std::vector<std::int64_t> sides;
  std::vector<double> values;  // row-major
};

/// A real number, a whole number (a count, a constant, a position: shown without decimals), a truth, a word,
/// …
using Value = std::variant<double, std::int64_t, bool, std::string, Place, Array>;

/// One node of a parsed expression; children are indices into Expression::nodes.
struct ExpressionNode {
  enum class Kind { number, whole, text, name, index, all, unary, binary, call };
  Kind kind = Kind::number;
  int column = 1;           // in the source, in bytes from 1
  double number = 0;        // number, whole
  std::string text;         // text: the string; name, index, call: the name; unary, binary: the operator
  bool names_word = false;  // a bare name in an index or in position(): a word of the sentence
  std::vector<int> children;
};

struct Expression {
  std::string source;
  std::vector<ExpressionNode> nodes;  // children before parents; the last is the root
};

/// An expression that cannot be parsed or evaluated: error.where is empty, the caller knows the place.
struct ExpressionError {
  int column = 1;
  core::Error error;
};

template <class T>
using ExpressionResult = std::variant<T, ExpressionError>;

/// Parses. Errors: expression.syntax (found, expected), expression.number, expression.unclosed_string,
/// expression.too_deep, expression.too_long, expression.unknown_function, expression.arguments.
ExpressionResult<Expression> parse_expression(std::string_view source);

/// Whether the expression names no tensor, no word of the sentence and no constant of the model, so that its
/// value could have been typed by the author: such an answer is refused.
bool is_literal(const Expression& expression);

/// What an expression may name beside the numbers.
struct Scope {
  const core::Session& session;
  std::string inside;  // where short tensor names are looked up first, then outwards
  std::span<const std::string> lesson_words =
      {};  // the lesson's own sentence: words that the learner's lacks are bound to their position there
  std::int64_t head = 0;            // the current head
  std::optional<Value> given = {};  // the learner's answer
  double tolerance = 0;             // for comparisons with `given`
};

/// Evaluates. Errors: expression.unknown_name (closest), expression.unknown_tensor (closest),
/// expression.unknown_word, expression.word_gone (the learner's sentence is too short for it),
/// expression.ambiguous_word never (the first one counts; check tells), expression.indices (expected, found),
/// expression.index_range, expression.type, expression.shape, expression.no_given, expression.empty.
ExpressionResult<Value> evaluate(const Expression& expression, const Scope& scope);

/// The tensor and cell that an expression is, where it is nothing but one: "scores[on, sat]" (cell set) or
/// "scores", "scores[on, :]" (no cell).
struct CellReference {
  core::TensorId tensor;
  std::optional<core::Cell> cell;
};
std::optional<CellReference> referenced_cell(const Expression& expression, const Scope& scope);

/// The tensor of a short or full name: `inside`.name, then outwards, then the name alone.
std::optional<core::TensorId> find_tensor(const core::Graph& graph, std::string_view name,
                                          std::string_view inside);
/// The known short or full name that is most like `name`, for a hint.
std::string closest_tensor(const core::Graph& graph, std::string_view name, std::string_view inside);

/// The names (tensors, as written) and words (with their "#2") that an expression mentions, for the check.
struct Mention {
  std::string text;
  int column = 1;
};
std::vector<Mention> mentioned_words(const Expression& expression);

/// Where two numbers count as equal: |a - b| ≤ 1e-5 · max(1, |a|, |b|), the rounding of single-precision
/// sums.
bool nearly_equal(double left, double right);
/// A truth, or nothing for other kinds of value.
std::optional<bool> as_truth(const Value& value);
/// A number (a place with one axis counts), or nothing.
std::optional<double> as_number(const Value& value);

/// The value as a person reads it: numbers by number_text(), a position along queries or keys as its word, a
/// head or channel as a number, a cell as its words.
std::string value_text(const Value& value, const core::Session& session);

}  // namespace headscope::lessons
