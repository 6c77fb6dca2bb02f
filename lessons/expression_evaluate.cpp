// Evaluates expressions over a session's numbers.
#include "lessons/expression.h"

#include "lessons/expression_arrays.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace headscope::lessons {
namespace {

using Kind = ExpressionNode::Kind;
using core::Axis;

/// Thrown inside this file only; evaluate() turns it into a result.
struct Failure {
  ExpressionError error;
};

[[noreturn]] void fail(int column, std::string key,
                       std::vector<std::pair<std::string, std::string>> values = {}) {
  throw Failure{{column, {std::move(key), "", std::move(values)}}};
}

std::string_view axis_name(Axis axis) {
  switch (axis) {
    case Axis::batch:
      return "batch";
    case Axis::head:
      return "head";
    case Axis::query:
      return "query";
    case Axis::key:
      return "key";
    case Axis::model:
    case Axis::head_channel:
    case Axis::concat:
    case Axis::feed_forward:
      return "channel";
    case Axis::vocabulary:
      return "vocabulary";
    case Axis::position:
      return "position";
    case Axis::class_label:
      return "class";
    case Axis::output:
      return "output";
    case Axis::edge:
      return "edge";
    case Axis::distance:
      return "distance";
    case Axis::token_type:
      return "type";
    case Axis::one:
      return "one";
  }
  return "";
}

/// The index of a tensor: one entry a side, nothing for a side that stays open.
struct Selection {
  core::TensorId tensor;
  std::vector<std::optional<std::int64_t>> indices;
};

class Evaluator {
 public:
  Evaluator(const Expression& expression, const Scope& scope)
      : nodes_(expression.nodes), scope_(scope), words_(session_words(scope.session)) {}

  Value run() const { return value(static_cast<int>(nodes_.size()) - 1); }
  Selection select_root() const { return select(nodes_.back()); }

 private:
  const ExpressionNode& node(int index) const { return nodes_[static_cast<std::size_t>(index)]; }
  Value value(int index) const;
  double number(const ExpressionNode& parent, int index) const;
  bool truth(const ExpressionNode& parent, int index) const;
  Value name(const ExpressionNode& node) const;
  std::optional<Value> constant(std::string_view name) const;
  Value unary(const ExpressionNode& node) const;
  Value binary(const ExpressionNode& node) const;
  Value arithmetic(const ExpressionNode& node, const Value& left, const Value& right) const;
  Value comparison(const ExpressionNode& node, const Value& left, const Value& right) const;
  bool compare_numbers(const ExpressionNode& node, double left, double right) const;
  Value call(const ExpressionNode& node) const;
  Value call_scalar(const ExpressionNode& node) const;
  std::int64_t position(const ExpressionNode& node) const;
  bool is_before(const ExpressionNode& node) const;
  bool is_chosen(const ExpressionNode& node) const;
  std::int64_t word_position(const ExpressionNode& node) const;
  core::TensorId tensor(const ExpressionNode& node) const;
  Selection select(const ExpressionNode& node) const;
  std::int64_t index_along(int index, Axis axis, std::int64_t size, const ExpressionNode& node) const;
  Value read(const Selection& selection) const;
  bool mentions_given(int index) const;

  const std::vector<ExpressionNode>& nodes_;
  const Scope& scope_;
  std::vector<std::string> words_;
};

Value Evaluator::value(int index) const {
  const ExpressionNode& at = node(index);
  switch (at.kind) {
    case Kind::number:
      return at.number;
    case Kind::whole:
      return static_cast<std::int64_t>(at.number);
    case Kind::text:
      if (at.names_word) return word_position(at);
      return at.text;
    case Kind::name:
      return name(at);
    case Kind::index:
      return read(select(at));
    case Kind::all:
      break;  // stands in an index only, where select() reads it
    case Kind::unary:
      return unary(at);
    case Kind::binary:
      return binary(at);
    case Kind::call:
      return call(at);
  }
  fail(at.column, "expression.unexpected", {{"found", ":"}});
}

double Evaluator::number(const ExpressionNode& parent, int index) const {
  if (const std::optional<double> result = as_number(value(index))) return *result;
  fail(node(index).column, "expression.not_a_number", {{"at", parent.text}});
}

bool Evaluator::truth(const ExpressionNode& parent, int index) const {
  if (const std::optional<bool> result = as_truth(value(index))) return *result;
  fail(node(index).column, "expression.not_a_truth", {{"at", parent.text}});
}

std::optional<Value> Evaluator::constant(std::string_view name) const {
  const core::ModelConfig& config = scope_.session.config();
  if (name == "n_tokens") return static_cast<std::int64_t>(scope_.session.n_positions());
  if (name == "n_heads") return config.n_heads;
  if (name == "d_head") return config.d_head;
  if (name == "d_model") return config.d_model;
  if (name == "n_layers") return config.n_layers;
  if (name == "head") return Place{{Axis::head}, {scope_.head}};
  return std::nullopt;
}

Value Evaluator::name(const ExpressionNode& node) const {
  if (node.names_word) return word_position(node);
  if (const std::optional<Value> known = constant(node.text)) return *known;
  if (node.text == "given") {
    if (!scope_.given) fail(node.column, "expression.no_given", {{"name", node.text}});
    return *scope_.given;
  }
  return read(select(node));
}

std::int64_t Evaluator::word_position(const ExpressionNode& node) const {
  if (const auto position = find_word(node.text, words_).position) return *position;
  const std::optional<std::int64_t> there = find_word(node.text, scope_.lesson_words).position;
  if (!there) fail(node.column, "expression.unknown_word", {{"word", node.text}});
  if (*there >= static_cast<std::int64_t>(words_.size()))
    fail(node.column, "expression.word_gone", {{"word", node.text}});
  return *there;
}

core::TensorId Evaluator::tensor(const ExpressionNode& node) const {
  const core::Graph& graph = scope_.session.graph();
  if (const auto found = find_tensor(graph, node.text, scope_.inside)) return *found;
  fail(node.column, "expression.unknown_tensor",
       {{"name", node.text}, {"closest", closest_tensor(graph, node.text, scope_.inside)}});
}

/// Batch 0 is implied; so is the current head where one index less is given.
Selection Evaluator::select(const ExpressionNode& node) const {
  const core::TensorId id = tensor(node);
  const core::ShapeSpec& spec = scope_.session.graph().spec(id).shape;
  const core::Trace<float> trace = scope_.session.forward_trace();
  const core::Shape& shape = trace.shape(id);
  std::vector<int> sides;  // those that an index may name
  std::string expected;
  for (int side = 0; side < spec.rank(); ++side) {
    if (spec[side].axis == Axis::batch || spec[side].axis == Axis::one) continue;
    sides.push_back(side);
    expected += (expected.empty() ? "" : ", ") + std::string(axis_name(spec[side].axis));
  }
  Selection selection{id, std::vector<std::optional<std::int64_t>>(static_cast<std::size_t>(spec.rank()), 0)};
  const bool is_bare = node.kind == Kind::name;
  const std::size_t n_given = is_bare ? sides.size() : node.children.size();
  const auto head =
      std::find_if(sides.begin(), sides.end(), [&](int side) { return spec[side].axis == Axis::head; });
  const bool has_head = head != sides.end();
  if (has_head && (is_bare || n_given + 1 == sides.size())) {
    selection.indices[static_cast<std::size_t>(*head)] =
        std::clamp<std::int64_t>(scope_.head, 0, shape[*head] - 1);
    sides.erase(head);
  }
  if (!is_bare && n_given != sides.size())
    fail(node.column, "expression.indices", {{"tensor", node.text}, {"expected", expected}});
  for (std::size_t place = 0; place < sides.size(); ++place) {
    const int side = sides[place];
    std::optional<std::int64_t>& chosen = selection.indices[static_cast<std::size_t>(side)];
    if (is_bare || this->node(node.children[place]).kind == Kind::all)
      chosen.reset();
    else
      chosen = index_along(node.children[place], spec[side].axis, shape[side], node);
  }
  return selection;
}

std::int64_t Evaluator::index_along(int index, Axis axis, std::int64_t size,
                                    const ExpressionNode& owner) const {
  const ExpressionNode& at = node(index);
  const auto refuse = [&] {
    fail(at.column, "expression.not_an_index",
         {{"tensor", owner.text}, {"axis", std::string(axis_name(axis))}});
  };
  const bool has_words = axis == Axis::query || axis == Axis::key || axis == Axis::position;
  std::int64_t place = 0;
  if (at.names_word && axis == Axis::vocabulary) {
    place = scope_.session.token_at(static_cast<std::size_t>(word_position(at))).id;
  } else {
    if (at.names_word && !has_words) refuse();
    const std::optional<double> given = as_number(value(index));
    if (!given || !std::isfinite(*given) || std::abs(*given) > 1e15 || *given != std::round(*given)) refuse();
    place = static_cast<std::int64_t>(*given);
  }
  if (place < 0 || place >= size)
    fail(at.column, "expression.index_range",
         {{"index", std::to_string(place)}, {"size", std::to_string(size)}});
  return place;
}

Value Evaluator::read(const Selection& selection) const {
  const core::Trace<float> trace = scope_.session.forward_trace();
  const core::TensorSpec& spec = scope_.session.graph().spec(selection.tensor);
  const core::Shape& shape = trace.shape(selection.tensor);
  Array array;
  core::Cell cell;
  std::vector<int> open;
  for (int side = 0; side < shape.rank(); ++side) {
    const std::optional<std::int64_t>& index = selection.indices[static_cast<std::size_t>(side)];
    cell.push_back(index.value_or(0));
    if (index) continue;
    open.push_back(side);
    array.axes.push_back(spec.shape[side].axis);
    array.sides.push_back(shape[side]);
  }
  if (open.empty()) {
    const double stored = trace.value(selection.tensor, cell);
    if (spec.element == core::Element::integer) return static_cast<std::int64_t>(stored);
    return stored;
  }
  const std::int64_t n_cells =
      std::accumulate(array.sides.begin(), array.sides.end(), std::int64_t{1}, std::multiplies<>());
  for (std::int64_t count = 0; count < n_cells; ++count) {
    array.values.push_back(trace.value(selection.tensor, cell));
    for (std::size_t side = open.size(); side-- > 0;) {
      if (++cell[open[side]] < array.sides[side]) break;
      cell[open[side]] = 0;
    }
  }
  return array;
}

Value Evaluator::unary(const ExpressionNode& node) const {
  if (node.text == "not") return !truth(node, node.children[0]);
  const Value operand = value(node.children[0]);
  if (const auto* whole = std::get_if<std::int64_t>(&operand)) return -*whole;
  if (const Array* array = std::get_if<Array>(&operand))
    return map_array(*array, [](double x) { return -x; });
  if (const auto real = as_number(operand)) return -*real;
  fail(node.column, "expression.not_a_number", {{"at", node.text}});
}

Value Evaluator::binary(const ExpressionNode& node) const {
  if (node.text == "and") return truth(node, node.children[0]) && truth(node, node.children[1]);
  if (node.text == "or") return truth(node, node.children[0]) || truth(node, node.children[1]);
  const Value left = value(node.children[0]);
  const Value right = value(node.children[1]);
  const bool is_arithmetic = node.text == "+" || node.text == "-" || node.text == "*" || node.text == "/";
  return is_arithmetic ? arithmetic(node, left, right) : comparison(node, left, right);
}

/// Applies `f` number by number: two scalars, an array and a scalar, or two arrays of the same sides.
template <class F>
Value apply(const ExpressionNode& node, const Value& left, const Value& right, F&& f) {
  const Array* left_array = std::get_if<Array>(&left);
  const Array* right_array = std::get_if<Array>(&right);
  if (left_array && right_array) {
    if (left_array->sides != right_array->sides) fail(node.column, "expression.sides", {{"at", node.text}});
    Array result = *left_array;
    for (std::size_t place = 0; place < result.values.size(); ++place)
      result.values[place] = f(left_array->values[place], right_array->values[place]);
    return result;
  }
  const std::optional<double> left_number = as_number(left), right_number = as_number(right);
  if (left_array && right_number)
    return map_array(*left_array, [&](double x) { return f(x, *right_number); });
  if (right_array && left_number)
    return map_array(*right_array, [&](double x) { return f(*left_number, x); });
  if (!left_number || !right_number) fail(node.column, "expression.not_a_number", {{"at", node.text}});
  return f(*left_number, *right_number);
}

Value Evaluator::arithmetic(const ExpressionNode& node, const Value& left, const Value& right) const {
  const char op = node.text[0];
  const auto combine = [op](double x, double y) {
    return op == '+' ? x + y : op == '-' ? x - y : op == '*' ? x * y : x / y;
  };
  const bool are_whole = !std::holds_alternative<double>(left) && !std::holds_alternative<double>(right);
  Value result = apply(node, left, right, combine);
  // whole numbers stay whole (counts, positions), except under division
  const double* real = std::get_if<double>(&result);
  if (real && are_whole && op != '/' && std::abs(*real) < 1e15) return static_cast<std::int64_t>(*real);
  return result;
}

bool Evaluator::compare_numbers(const ExpressionNode& node, double left, double right) const {
  const bool is_answer =
      scope_.tolerance > 0 && (mentions_given(node.children[0]) || mentions_given(node.children[1]));
  // half a unit in the last place of single precision would refuse an answer that lies exactly on the border
  const bool is_equal =
      nearly_equal(left, right) || (is_answer && std::abs(left - right) <= scope_.tolerance * (1 + 1e-6));
  if (node.text == "==") return is_equal;
  if (node.text == "!=") return !is_equal;
  if (node.text == "<") return left < right && !is_equal;
  if (node.text == "<=") return left < right || is_equal;
  if (node.text == ">") return left > right && !is_equal;
  return left > right || is_equal;
}

Value Evaluator::comparison(const ExpressionNode& node, const Value& left, const Value& right) const {
  const bool is_equality = node.text == "==" || node.text == "!=";
  const auto verdict = [&](bool is_equal) { return is_equal == (node.text == "=="); };
  const Place* left_place = std::get_if<Place>(&left);
  const Place* right_place = std::get_if<Place>(&right);
  if (is_equality && left_place && right_place) return verdict(same_place(*left_place, *right_place));
  if (is_equality && left_place && as_number(right)) return verdict(is_at(*left_place, *as_number(right)));
  if (is_equality && right_place && as_number(left)) return verdict(is_at(*right_place, *as_number(left)));
  const std::string* left_text = std::get_if<std::string>(&left);
  const std::string* right_text = std::get_if<std::string>(&right);
  if (is_equality && (left_text || right_text)) {
    const bool are_words = (left_text || left_place) && (right_text || right_place);
    if (are_words) return verdict(value_text(left, scope_.session) == value_text(right, scope_.session));
  }
  if (is_equality && as_truth(left) && as_truth(right)) return verdict(as_truth(left) == as_truth(right));
  const bool are_arrays = std::holds_alternative<Array>(left) || std::holds_alternative<Array>(right);
  if (are_arrays)
    return apply(node, left, right,
                 [&](double x, double y) { return compare_numbers(node, x, y) ? 1.0 : 0.0; });
  const std::optional<double> left_number = as_number(left), right_number = as_number(right);
  if (!left_number || !right_number) fail(node.column, "expression.not_comparable", {{"at", node.text}});
  return compare_numbers(node, *left_number, *right_number);
}

bool Evaluator::mentions_given(int index) const {
  const ExpressionNode& at = node(index);
  if (at.kind == Kind::name && at.text == "given") return true;
  return std::any_of(at.children.begin(), at.children.end(),
                     [&](int child) { return mentions_given(child); });
}

/// max and min of several numbers, and the functions of one number.
Value Evaluator::call_scalar(const ExpressionNode& node) const {
  const std::string& name = node.text;
  if (name == "max" || name == "min") {
    double result = number(node, node.children[0]);
    for (int child : node.children)
      result = name == "max" ? std::max(result, number(node, child)) : std::min(result, number(node, child));
    return result;
  }
  const double x = number(node, node.children[0]);
  if (name == "abs") return std::abs(x);
  if (name == "sqrt") return std::sqrt(x);
  if (name == "exp") return std::exp(x);
  if (name == "ln") return std::log(x);
  fail(node.column, "expression.not_an_array", {{"at", name}});
}

/// The argument of position() and word(): a word, or the whole number of a position.
std::int64_t Evaluator::position(const ExpressionNode& node) const {
  const double position = number(node, node.children[0]);
  const auto n_words = static_cast<double>(words_.size());
  if (!(position >= 0 && position < n_words) || position != std::round(position))
    fail(this->node(node.children[0]).column, "expression.index_range",
         {{"index", value_text(position, scope_.session)}, {"size", std::to_string(words_.size())}});
  return static_cast<std::int64_t>(position);
}

bool Evaluator::is_before(const ExpressionNode& node) const {
  if (scope_.given_order.empty()) fail(node.column, "expression.no_given", {{"name", node.text}});
  const auto place = [&](int child) {
    const core::TensorId id = tensor(this->node(child));
    return std::find(scope_.given_order.begin(), scope_.given_order.end(), id) - scope_.given_order.begin();
  };
  return place(node.children[0]) < place(node.children[1]);
}

bool Evaluator::is_chosen(const ExpressionNode& node) const {
  const double wanted = number(node, node.children[0]);  // from 1
  return std::any_of(scope_.given_statements.begin(), scope_.given_statements.end(),
                     [&](std::int64_t chosen) { return static_cast<double>(chosen + 1) == wanted; });
}

Value Evaluator::call(const ExpressionNode& node) const {
  if (node.text == "word") return words_[static_cast<std::size_t>(position(node))];
  if (node.text == "position") return position(node);
  if (node.text == "before") return is_before(node);
  if (node.text == "chosen") return is_chosen(node);
  if (node.children.size() == 1) {
    const Value operand = value(node.children[0]);
    if (const Array* array = std::get_if<Array>(&operand)) {
      if (const std::optional<Value> result = call_on_array(node.text, *array)) return *result;
      fail(node.column, "expression.not_a_number", {{"at", node.text}});
    }
  }
  return call_scalar(node);
}

}  // namespace

ExpressionResult<Value> evaluate(const Expression& expression, const Scope& scope) {
  try {
    return Evaluator(expression, scope).run();
  } catch (const Failure& failure) {
    return failure.error;
  }
}

std::optional<CellReference> referenced_cell(const Expression& expression, const Scope& scope) {
  const ExpressionNode& root = expression.nodes.back();
  const bool is_name = root.kind == Kind::name && find_tensor(scope.session.graph(), root.text, scope.inside);
  if (root.kind != Kind::index && !is_name) return std::nullopt;
  try {
    const Selection selection = Evaluator(expression, scope).select_root();
    CellReference reference{selection.tensor, core::Cell{}};
    for (const std::optional<std::int64_t>& index : selection.indices) {
      if (!index) return CellReference{selection.tensor, std::nullopt};
      reference.cell->push_back(*index);
    }
    return reference;
  } catch (const Failure&) {
    return std::nullopt;
  }
}

}  // namespace headscope::lessons
