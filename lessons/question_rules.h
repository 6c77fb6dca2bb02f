// What is right for a question in a session, and what a given answer is worth. Used by the runner and the
// check.
#pragma once

#include "lessons/expression.h"
#include "lessons/lesson.h"
#include "lessons/runner.h"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace headscope::lessons {

/// What a right answer is.
struct RightAnswer {
  std::string text = {};  // for people: "sat", "1.45"
  double number = 0;      // number
  std::vector<std::vector<std::int64_t>> choices =
      {};                                  // like Given::choices, the first one is shown; more where tied
  std::vector<core::TensorId> order = {};  // order: the items' tensors, as the author wrote them
};

/// Evaluates the question's answer. Errors: those of evaluate(); question.no_position, question.no_head,
/// question.no_cell, question.not_finite (the answer is not of the question's kind or out of range),
/// question.no_truth (a statement that is neither true nor false), question.none_true,
/// expression.unknown_tensor.
ExpressionResult<RightAnswer> right_answer(const Question& question, const Scope& scope);

/// Whether the answer is right. For an order, `given` has items as the author numbered them, and
///  any order counts in which no tensor precedes one that it needs.
bool is_right(const Question& question, const RightAnswer& right, const Given& given, const Scope& scope);

/// The order in which the items are offered: shuffled by the question's line, not already right (unless any
/// order is).
std::vector<std::int64_t> shuffled_items(const Question& question, const RightAnswer& right,
                                         const Scope& scope);

/// An order question's answer from choices (in the offered order) to items (as the author numbered them), and
/// the right order from items to choices.
Given to_items(const Question& question, const RightAnswer& right, const Given& given, const Scope& scope);
std::vector<std::int64_t> from_items(const Question& question, const RightAnswer& right, const Scope& scope);

/// The mistake whose condition holds for the answer, or null. `given` as in is_right().
const Mistake* find_mistake(const Question& question, const Given& given, const Scope& scope);

/// Whether the mistake's condition holds for the answer. Errors: those of evaluate(); question.no_truth.
ExpressionResult<bool> mistake_holds(const Question& question, const Mistake& mistake, const Given& given,
                                     const Scope& scope);

/// Whether the tensor is computed from the other, by way of any operations.
bool depends_on(const core::Graph& graph, core::TensorId tensor, core::TensorId other);

}  // namespace headscope::lessons
