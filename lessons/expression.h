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
  std::string text = {};    // text: the string; name, index, call: the name; unary, binary: the operator
  bool names_word = false;  // a name in an index, position() or word(): a word of the sentence
  std::vector<int> children = {};
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

/// Parses. Errors: expression.empty, expression.too_long, expression.too_deep, expression.unexpected (found),
/// expression.unexpected_end, expression.expected (symbol, found), expression.unclosed_string,
/// expression.number (found), expression.chained_comparison, expression.unknown_function (name, known),
/// expression.arguments (name).
ExpressionResult<Expression> parse_expression(std::string_view source);

/// Whether the expression names no tensor, no word of the sentence and no constant of the model, so that its
/// value could have been typed by the author: such an answer is refused.
bool is_literal(const Expression& expression);

/// What an expression may name beside the numbers. The spans and the session must outlive it.
struct Scope {
  const core::Session& session;
  std::string inside = {};  // where short tensor names are looked up first, then outwards
  // The lesson's own sentence: a word that the learner's sentence lacks stands for its position in this one.
  std::span<const std::string> lesson_words = {};
  std::int64_t head = 0;                             // the current head
  std::optional<Value> given = {};                   // the learner's answer
  double tolerance = 0;                              // for comparisons with `given`
  std::span<const core::TensorId> given_order = {};  // the learner's order, for before()
  std::span<const std::int64_t> given_statements =
      {};  // the statements that the learner chose (from 0), for chosen()
};

/// Evaluates. Errors: expression.unknown_tensor (name, closest),
/// expression.unknown_word (word), expression.word_gone (word: the learner's sentence is too short to have
/// it), expression.indices (tensor, expected), expression.index_range (index, size), expression.not_an_index
/// (tensor, axis), expression.not_a_number (at), expression.not_a_truth (at), expression.not_an_array (at),
/// expression.not_comparable (at), expression.sides (at), expression.no_given (name).
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

/// Whether the expression calls before() or chosen() or names `given`: only mistakes may.
bool mentions_given(const Expression& expression);

/// A name or word in an expression as written ("the#2"), for the check.
struct Mention {
  std::string text;
  int column = 1;
};
std::vector<Mention> mentioned_words(const Expression& expression);

/// A word of a sentence, "sat" or "the#2" for its second occurrence; and how often the word stands there.
struct WordPlace {
  std::optional<std::int64_t> position;
  int n_occurrences = 0;
  bool is_numbered = false;  // written with its "#2"
};
WordPlace find_word(std::string_view word, std::span<const std::string> words);
/// The words that are fed, one per position.
std::vector<std::string> session_words(const core::Session& session);

/// Where two numbers count as equal: |a - b| ≤ 1e-5 · max(1, |a|, |b|), the rounding of single-precision
/// sums.
bool nearly_equal(double left, double right);
/// A truth, or nothing for other kinds of value.
std::optional<bool> as_truth(const Value& value);
/// A number (a place with one axis counts), or nothing.
std::optional<double> as_number(const Value& value);

/// The value as a person reads it: numbers by format_number(), a position along queries or keys as its word,
/// a head or channel as a number, a cell as its words.
std::string value_text(const Value& value, const core::Session& session);

}  // namespace headscope::lessons
