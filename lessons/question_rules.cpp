// Right answers, computed from the session, kind by kind.
#include "lessons/question_rules.h"

#include "core/random.h"
#include "lessons/number_format.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace headscope::lessons {
namespace {

using Indices = std::vector<std::int64_t>;

ExpressionError refusal(std::string key) {
  return {1, {std::move(key), "", {}}};
}

bool has_words(core::Axis axis) {
  return axis == core::Axis::query || axis == core::Axis::key || axis == core::Axis::position;
}

/// The indices that a value names (several where tied), or nothing where it is no place of `rank` axes.
std::optional<std::vector<Indices>> places(const Value& value, std::size_t rank) {
  if (const Place* place = std::get_if<Place>(&value)) {
    if (place->indices.size() != rank) return std::nullopt;
    std::vector<Indices> all = {place->indices};
    all.insert(all.end(), place->ties.begin(), place->ties.end());
    return all;
  }
  const std::int64_t* whole = std::get_if<std::int64_t>(&value);
  if (!whole || rank != 1) return std::nullopt;
  return std::vector<Indices>{{*whole}};
}

bool are_within(const std::vector<Indices>& all, const Indices& sizes) {
  return std::all_of(all.begin(), all.end(), [&](const Indices& indices) {
    for (std::size_t side = 0; side < sizes.size(); ++side)
      if (indices[side] < 0 || indices[side] >= sizes[side]) return false;
    return true;
  });
}

ExpressionResult<RightAnswer> right_token(const Value& value, const Scope& scope) {
  const auto all = places(value, 1);
  const Place* place = std::get_if<Place>(&value);
  const bool is_word = !place || has_words(place->axes[0]);
  const auto n_positions = static_cast<std::int64_t>(scope.session.n_positions());
  if (!all || !is_word || !are_within(*all, {n_positions})) return refusal("question.no_position");
  RightAnswer right;
  right.text = scope.session.token_at(static_cast<std::size_t>(all->front()[0])).text;
  right.choices = *all;
  return right;
}

ExpressionResult<RightAnswer> right_head(const Value& value, const Scope& scope) {
  const auto all = places(value, 1);
  const Place* place = std::get_if<Place>(&value);
  const bool is_head = !place || place->axes[0] == core::Axis::head;
  if (!all || !is_head || !are_within(*all, {scope.session.config().n_heads}))
    return refusal("question.no_head");
  return RightAnswer{.text = std::to_string(all->front()[0]), .choices = *all};
}

/// The two sides of a cell question's tensor that stay open once batch and head are fixed.
std::optional<Indices> cell_sides(const Question& question, const Scope& scope) {
  const auto tensor = find_tensor(scope.session.graph(), question.tensor.text, scope.inside);
  if (!tensor) return std::nullopt;
  const core::ShapeSpec& spec = scope.session.graph().spec(*tensor).shape;
  const core::Trace<float> trace = scope.session.forward_trace();
  Indices sides;
  for (int side = 0; side < spec.rank(); ++side)
    if (spec[side].axis != core::Axis::batch && spec[side].axis != core::Axis::head)
      sides.push_back(trace.shape(*tensor)[side]);
  if (sides.size() != 2) return std::nullopt;
  return sides;
}

ExpressionResult<RightAnswer> right_cell(const Question& question, const Value& value, const Scope& scope) {
  const auto all = places(value, 2);
  const std::optional<Indices> sides = cell_sides(question, scope);
  if (!all || !sides || !are_within(*all, *sides)) return refusal("question.no_cell");
  return RightAnswer{.text = value_text(value, scope.session), .choices = *all};
}

ExpressionResult<RightAnswer> right_number(const Value& value, const Scope& scope) {
  const std::optional<double> number = as_number(value);
  if (!number || !std::isfinite(*number)) return refusal("question.not_finite");
  return RightAnswer{.text = value_text(value, scope.session), .number = *number};
}

/// An error in the statement or its place in the file is told by the statement's own line: see check.cpp.
ExpressionResult<RightAnswer> right_statements(const Question& question, const Scope& scope) {
  Indices chosen;
  for (std::size_t number = 0; number < question.statements.size(); ++number) {
    ExpressionResult<Value> value = evaluate(question.statements[number].when.expression, scope);
    if (const auto* error = std::get_if<ExpressionError>(&value)) return *error;
    const std::optional<bool> truth = as_truth(std::get<Value>(value));
    if (!truth) return refusal("question.no_truth");
    if (*truth) chosen.push_back(static_cast<std::int64_t>(number));
  }
  return RightAnswer{.choices = {chosen}};
}

/// Place of a tensor in the graph's order; what is given comes first.
std::size_t place_in_graph(const core::Graph& graph, core::TensorId tensor) {
  const std::optional<std::size_t> producer = graph.producer(tensor);
  return producer ? *producer + 1 : 0;
}

ExpressionResult<RightAnswer> right_order(const Question& question, const Scope& scope) {
  const core::Graph& graph = scope.session.graph();
  RightAnswer right;
  for (const PlacedText& item : question.items) {
    const auto tensor = find_tensor(graph, item.text, scope.inside);
    if (!tensor)
      return ExpressionError{
          1,
          {"expression.unknown_tensor",
           "",
           {{"name", item.text}, {"closest", closest_tensor(graph, item.text, scope.inside)}}}};
    right.order.push_back(*tensor);
  }
  Indices order(question.items.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  const auto tensor = [&](std::int64_t item) { return right.order[static_cast<std::size_t>(item)]; };
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t left, std::int64_t right_item) {
    return place_in_graph(graph, tensor(left)) < place_in_graph(graph, tensor(right_item));
  });
  for (std::int64_t item : order)
    right.text += (right.text.empty() ? "" : ", ") + question.items[static_cast<std::size_t>(item)].text;
  right.choices = {std::move(order)};
  return right;
}

bool is_right_order(const RightAnswer& right, const Indices& given, const core::Graph& graph) {
  if (given.size() != right.order.size() ||
      !std::is_permutation(given.begin(), given.end(), right.choices[0].begin()))
    return false;
  for (std::size_t later = 0; later < given.size(); ++later)
    for (std::size_t earlier = 0; earlier < later; ++earlier) {
      const core::TensorId first = right.order[static_cast<std::size_t>(given[earlier])];
      const core::TensorId second = right.order[static_cast<std::size_t>(given[later])];
      if (depends_on(graph, first, second)) return false;
    }
  return true;
}

}  // namespace

bool depends_on(const core::Graph& graph, core::TensorId tensor, core::TensorId other) {
  std::vector<core::TensorId> open = {tensor};
  std::vector<bool> is_seen(graph.n_tensors(), false);
  while (!open.empty()) {
    const core::TensorId next = open.back();
    open.pop_back();
    if (is_seen[next.index]) continue;
    is_seen[next.index] = true;
    const std::optional<std::size_t> producer = graph.producer(next);
    if (!producer) continue;
    for (core::TensorId operand : core::operands(graph.operations()[*producer])) {
      if (operand == other) return true;
      open.push_back(operand);
    }
  }
  return false;
}

ExpressionResult<RightAnswer> right_answer(const Question& question, const Scope& scope) {
  if (question.kind == QuestionKind::statements) return right_statements(question, scope);
  if (question.kind == QuestionKind::order) return right_order(question, scope);
  ExpressionResult<Value> value = evaluate(question.answer->expression, scope);
  if (const auto* error = std::get_if<ExpressionError>(&value)) return *error;
  const Value& found = std::get<Value>(value);
  if (question.kind == QuestionKind::token) return right_token(found, scope);
  if (question.kind == QuestionKind::head) return right_head(found, scope);
  if (question.kind == QuestionKind::cell) return right_cell(question, found, scope);
  return right_number(found, scope);
}

bool is_right(const Question& question, const RightAnswer& right, const Given& given, const Scope& scope) {
  if (question.kind == QuestionKind::number) {
    // a hair more than the tolerance: an answer on its border must not fail by rounding
    const double slack = question.tolerance * (1 + 1e-6);
    return nearly_equal(given.number, right.number) || std::abs(given.number - right.number) <= slack;
  }
  if (question.kind == QuestionKind::order)
    return is_right_order(right, given.choices, scope.session.graph());
  return std::find(right.choices.begin(), right.choices.end(), given.choices) != right.choices.end();
}

std::vector<std::int64_t> shuffled_items(const Question& question, const RightAnswer& right,
                                         const Scope& scope) {
  Indices items(question.items.size());
  std::iota(items.begin(), items.end(), std::int64_t{0});
  core::Rng rng(static_cast<std::uint64_t>(question.line));
  for (std::size_t rest = items.size(); rest > 1; --rest)
    std::swap(items[rest - 1], items[static_cast<std::size_t>(rng.next() % rest)]);
  for (std::size_t turn = 0; turn < items.size() && is_right_order(right, items, scope.session.graph());
       ++turn)
    std::rotate(items.begin(), items.begin() + 1, items.end());
  return items;
}

Given to_items(const Question& question, const RightAnswer& right, const Given& given, const Scope& scope) {
  const Indices offered = shuffled_items(question, right, scope);
  Given items = given;
  for (std::int64_t& choice : items.choices) choice = offered[static_cast<std::size_t>(choice)];
  return items;
}

std::vector<std::int64_t> from_items(const Question& question, const RightAnswer& right, const Scope& scope) {
  const Indices offered = shuffled_items(question, right, scope);
  Indices choices;
  for (std::int64_t item : right.choices[0])
    choices.push_back(std::find(offered.begin(), offered.end(), item) - offered.begin());
  return choices;
}

ExpressionResult<bool> mistake_holds(const Question& question, const Mistake& mistake, const Given& given,
                                     const Scope& scope) {
  Scope with_answer = scope;
  with_answer.tolerance = question.tolerance;
  std::vector<core::TensorId> order;
  const auto along = [&](core::Axis axis) { return Place{{axis}, {given.choices.at(0)}}; };
  switch (question.kind) {
    case QuestionKind::number:
      with_answer.given = given.number;
      break;
    case QuestionKind::token:
      with_answer.given = along(core::Axis::key);
      break;
    case QuestionKind::head:
      with_answer.given = along(core::Axis::head);
      break;
    case QuestionKind::cell:
      with_answer.given = Place{{core::Axis::query, core::Axis::key}, given.choices};
      break;
    case QuestionKind::statements:
      with_answer.given_statements = given.choices;
      break;
    case QuestionKind::order:
      for (std::int64_t item : given.choices) {
        const PlacedText& name = question.items.at(static_cast<std::size_t>(item));
        if (const auto tensor = find_tensor(scope.session.graph(), name.text, scope.inside))
          order.push_back(*tensor);
      }
      with_answer.given_order = order;
      break;
  }
  ExpressionResult<Value> value = evaluate(mistake.when.expression, with_answer);
  if (const auto* error = std::get_if<ExpressionError>(&value)) return *error;
  const std::optional<bool> truth = as_truth(std::get<Value>(value));
  if (!truth) return refusal("question.no_truth");
  return *truth;
}

const Mistake* find_mistake(const Question& question, const Given& given, const Scope& scope) {
  for (const Mistake& mistake : question.mistakes) {
    const ExpressionResult<bool> holds = mistake_holds(question, mistake, given, scope);
    if (const bool* found = std::get_if<bool>(&holds); found && *found) return &mistake;
  }
  return nullptr;
}

}  // namespace headscope::lessons
