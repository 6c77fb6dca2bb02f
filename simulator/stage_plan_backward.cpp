// The matrices of backward passes and updates. A backward pass is planned for one of the operands that get a
// gradient: products at their crossing as forward ones are, the rest as lines with signs.
#include "simulator/sent_back.h"
#include "simulator/stage_plan.h"
#include "simulator/words.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace headscope::simulator {
namespace {

using core::Axis;
using core::Quantity;
using core::TensorId;

/// At most so many heads, or branches of a sum, stand side by side.
constexpr std::int64_t kMostSideBySide = 4;

/// g is the gradient of the operation's result, `result_` the operand whose gradient is planned.
class BackwardPlanner {
 public:
  BackwardPlanner(const core::Trace<float>& trace, const StageChoice& choice, StagePlan& plan)
      : trace_(trace), choice_(choice), plan_(plan), result_(plan.results[plan.chosen].tensor) {}

  void operator()(const core::Lookup& op) { line({value(op.ids), gradient(op.output)}, {"→", "→"}); }
  void operator()(const core::AddPositions& op) { line({gradient(op.output)}, {"→"}); }

  // forward: output[h] = input · weight[h] + bias[h]
  void operator()(const core::ProjectHeads& op) {
    if (result_ == op.input) {
      // every head sends something back: their channels side by side
      Slice g = gradient(op.output), weight = value(op.weight);
      g.columns = joined_side(trace_, op.output, Axis::concat, 1, 3);
      weight.rows = joined_side(trace_, op.weight, Axis::concat, 0, 2);
      weight.columns = whole_side(trace_, op.weight, 1);
      product(g, Turn::none, weight, Turn::transposed);
    } else if (result_ == op.weight) {
      product(value(op.input, Turn::transposed), Turn::transposed, gradient(op.output), Turn::none);
    } else {
      line({gradient(op.output)}, {"Σ ="});
    }
  }
  // forward: output = queries · keysᵀ
  void operator()(const core::Scores& op) {
    if (result_ == op.queries)
      product(gradient(op.output), Turn::none, value(op.keys), Turn::none);
    else
      product(gradient(op.output, Turn::transposed), Turn::transposed, value(op.queries), Turn::none);
  }
  // forward: output = weights · values
  void operator()(const core::MixValues& op) {
    if (result_ == op.weights)
      product(gradient(op.output), Turn::none, value(op.values, Turn::transposed), Turn::transposed);
    else
      product(value(op.weights, Turn::transposed), Turn::transposed, gradient(op.output), Turn::none);
  }
  void operator()(const core::Linear& op) { matrix_product(op); }
  void operator()(const core::ProjectOutputs& op) { matrix_product(op); }
  // forward: output[:][0] = input · start, output[:][1] = input · end
  void operator()(const core::PointAt& op) {
    if (result_ == op.input)
      return line({gradient(op.output), value(op.start), value(op.end)}, {"·", "|", "="});
    Slice g = gradient(op.output);  // of this end alone, as a row
    g.base[2] = result_ == op.start ? 0 : 1;
    g.columns = std::exchange(g.rows, {});
    product(g, Turn::transposed, value(op.input), Turn::none);
  }

  void operator()(const core::ScaleScores& op) {
    const std::string width = op.width > 0 ? "√" + std::to_string(op.width) : std::string();
    const bool is_plain = op.temperature == 1;
    line({gradient(op.output)}, {width.empty() && is_plain ? "="
                                 : is_plain                ? "÷ " + width + " ="
                                                           : "÷ (" + width + " T) ="});
  }
  void operator()(const core::AddRelativeBias& op) {
    line({gradient(op.output)}, {result_ == op.input ? "=" : "Σ ="});
  }
  void operator()(const core::MaskScores& op) { line({gradient(op.output)}, {"→"}); }
  void operator()(const core::MaskPositions& op) { line({gradient(op.output)}, {"→"}); }

  // forward: weights = softmax(scores); a row of ∂scores = the row of ∂weights · local
  void operator()(const core::Softmax& op) {
    const core::Cell row = softmax_row(op);
    const auto row_of = [&](TensorId tensor) {
      Slice slice = gradient(tensor);
      slice.rows = {};
      slice.columns = whole_side(trace_, tensor, op.axis);
      slice.base = row;
      return slice;
    };
    Slice local = row_of(op.output);
    local.rows = local.columns;
    plan_.shape = StageShape::product;
    add(row_of(op.output), StageRole::left);
    add(local, StageRole::upper, {}, Turn::none, NumberSource::local);
    add(row_of(op.input), StageRole::result);
    // the wholes are those of the row's head, whichever was chosen
    const int head = trace_.graph().spec(op.output).shape.find(Axis::head);
    if (head >= 0) plan_.head = row[head];
    for (Slice whole : {value(op.output), gradient(op.output), gradient(op.input)}) {
      if (head >= 0) whole.base[head] = row[head];
      add(whole, StageRole::small);
    }
  }
  void operator()(const core::ApplyDropout& op) { line({gradient(op.output), value(op.mask)}, {"×", "="}); }
  void operator()(const core::ConcatHeads& op) {
    const std::int64_t n_heads = trace_.shape(op.input)[1];
    line({gradient(op.output)}, {"→"});
    if (n_heads > kMostSideBySide) return;
    plan_.items.pop_back();
    for (std::int64_t head = 0; head < n_heads; ++head) {
      Slice slice = slice_of(trace_, op.input, head);
      slice.quantity = Quantity::gradient;
      add(slice, StageRole::result, head == 0 ? "→" : "|");
    }
  }
  void operator()(const core::Add& op) { line({gradient(op.output)}, {"="}); }
  void operator()(const core::RowMean& op) {
    line({gradient(op.output)}, {"÷ " + std::to_string(trace_.shape(op.input)[2]) + " ="});
  }
  void operator()(const core::Centre& op) {
    line({gradient(op.output)}, {result_ == op.input ? "=" : "−Σ ="});
  }
  void operator()(const core::InverseDeviation& op) {
    const std::string width = std::to_string(trace_.shape(op.input)[2]);
    line({gradient(op.output), value(op.output), value(op.input)}, {"×", "³ ×", "÷ −" + width + " ="});
  }
  void operator()(const core::ScaleRows& op) {
    if (result_ == op.input)
      line({gradient(op.output), value(op.factor)}, {"×", "="});
    else
      line({gradient(op.output), value(op.input)}, {"×", "Σ ="});
  }
  void operator()(const core::ScaleAndShift& op) {
    if (result_ == op.input)
      line({gradient(op.output), value(op.gain)}, {"×", "="});
    else if (result_ == op.gain)
      line({gradient(op.output), value(op.input)}, {"×", "Σ ="});
    else
      line({gradient(op.output)}, {"Σ ="});
  }
  void operator()(const core::Activate& op) { line({gradient(op.output), value(op.input)}, {"× f′", "="}); }
  void operator()(const core::Pool& op) { line({gradient(op.output)}, {"→"}); }
  void operator()(const core::SelectPosition& op) {
    line({value(op.positions), gradient(op.output)}, {"→", "→"});
  }
  // forward: losses = -Σ y · ln softmax(logits)
  void operator()(const core::CrossEntropy& op) {
    add(gradient(op.output), StageRole::left);
    add(value(op.probabilities), StageRole::left, "× (");
    add(value(op.logits), StageRole::left, "−", Turn::none, NumberSource::target);
    add_result(") =");
  }
  void operator()(const core::MeanLoss& op) {
    const auto targets = trace_.workspace().integers(op.targets);
    const auto n = std::ranges::count_if(targets, [](std::int32_t target) { return target >= 0; });
    line({gradient(op.output)}, {"÷ " + std::to_string(n) + " ="});
  }

  // they send nothing back
  void operator()(const core::SinusoidalPositions& /*op*/) {}
  void operator()(const core::DropoutMask& /*op*/) {}
  void operator()(const core::HeadContribution& /*op*/) {}

 private:
  Slice value(TensorId tensor, Turn turn = Turn::none) const {
    return slice_of(trace_, tensor, choice_.head, turn);
  }
  Slice gradient(TensorId tensor, Turn turn = Turn::none) const {
    Slice slice = value(tensor, turn);
    slice.quantity = Quantity::gradient;
    return slice;
  }

  void add(Slice slice, StageRole role, std::string sign = {}, Turn turn = Turn::none,
           NumberSource source = NumberSource::stored) {
    plan_.items.push_back({slice, role, std::move(sign), turn, source, *plan_.operation});
  }

  /// The planned gradient: of several branches that have come, what this operation sends.
  void add_result(std::string sign) {
    const bool is_branch = plan_.n_written > 1;
    add(gradient(result_), StageRole::result, std::move(sign), Turn::none,
        is_branch ? NumberSource::branch : NumberSource::stored);
    if (is_branch) add_branches();
  }

  /// branch + branch = the sum so far, as it is stored; of many branches the first ones may be left out, and
  /// this one, then, stands against the sum alone.
  void add_branches() {
    const auto& gradients = trace_.workspace().gradient_plan();
    std::vector<std::size_t> sent;
    for (const std::size_t place : gradients.writers(result_))
      if (const std::size_t operation = gradients.operations()[place]; place < trace_.backward_done())
        sent.push_back(operation);
    if (sent.size() > kMostSideBySide) sent.clear();
    for (std::size_t at = 0; at < sent.size(); ++at) {
      add(gradient(result_), StageRole::small, at > 0 ? "+" : "", Turn::none, NumberSource::branch);
      plan_.items.back().operation = sent[at];
    }
    add(gradient(result_), StageRole::small, sent.empty() ? "" : "=");
  }

  void product(Slice left, Turn left_turn, Slice upper, Turn upper_turn) {
    plan_.shape = StageShape::product;
    add(left, StageRole::left, {}, left_turn);
    add(upper, StageRole::upper, {}, upper_turn);
    add_result({});
  }

  /// The matrices with a sign before each but the first, and before the result.
  void line(std::vector<Slice> slices, const std::vector<std::string>& signs) {
    for (std::size_t at = 0; at < slices.size(); ++at)
      add(slices[at], StageRole::left, at > 0 ? signs[at - 1] : "");
    add_result(signs.back());
  }

  // forward: output = input · weight + bias
  template <class Op>
  void matrix_product(const Op& op) {
    if (result_ == op.input)
      product(gradient(op.output), Turn::none, value(op.weight, Turn::transposed), Turn::transposed);
    else if (result_ == op.weight)
      product(value(op.input, Turn::transposed), Turn::transposed, gradient(op.output), Turn::none);
    else
      line({gradient(op.output)}, {"Σ ="});
  }

  /// The first cell of the row that a person looks at, else of the last row, which a causal mask leaves most.
  core::Cell softmax_row(const core::Softmax& op) const {
    core::Cell row = value(op.input).base;
    if (const auto& lit = choice_.lit; lit && (lit->tensor == op.input || lit->tensor == op.output))
      for (int place = 0; place < row.rank(); ++place) row[place] = lit->cell[place];
    else if (op.axis > 0)
      row[op.axis - 1] = trace_.shape(op.input)[op.axis - 1] - 1;
    row[op.axis] = 0;
    return row;
  }

  const core::Trace<float>& trace_;
  const StageChoice& choice_;
  StagePlan& plan_;
  TensorId result_;
};

StagePlan plan_backward(const core::Trace<float>& trace, const core::Step& step, const StageChoice& choice) {
  StagePlan plan;
  plan.operation = step.operation;
  plan.step = step;
  plan.head = choice.head;
  const core::Operation& operation = trace.graph().operations()[step.operation];
  const core::Workspace<float>& workspace = trace.workspace();
  for (const auto& [name, tensor] : backward_operands(operation))
    if (workspace.has_gradient(tensor)) plan.results.push_back({name, tensor});
  if (plan.results.empty()) return plan;
  const auto chosen = std::ranges::find_if(
      plan.results, [&](const StageResult& result) { return choice.result == result.tensor; });
  if (chosen != plan.results.end()) plan.chosen = static_cast<std::size_t>(chosen - plan.results.begin());
  const TensorId result = plan.results[plan.chosen].tensor;
  plan.n_writers = workspace.gradient_plan().writers(result).size();
  plan.n_written = trace.gradient_writers_done(result);
  std::visit(BackwardPlanner(trace, choice, plan), operation);
  return plan;
}

/// The parameter before, what changes it, and the parameter after.
StagePlan plan_update(const core::Trace<float>& trace, const core::Step& step, const StageChoice& choice) {
  StagePlan plan;
  plan.step = step;
  plan.head = choice.head;
  const auto add = [&](Quantity quantity, StageRole role, std::string sign) {
    Slice slice = slice_of(trace, step.parameter, choice.head);
    slice.quantity = quantity;
    plan.items.push_back({slice, role, std::move(sign)});
  };
  const bool is_updated = trace.is_updated(step.parameter);
  const core::OptimiserConfig config = trace.update() ? trace.update()->config : core::OptimiserConfig();
  add(is_updated ? Quantity::previous_value : Quantity::value, StageRole::left, "");
  add(Quantity::gradient, StageRole::left, "");
  if (config.kind == core::OptimiserKind::adamw) {
    add(Quantity::first_moment, StageRole::left, "");
    add(Quantity::second_moment, StageRole::left, "");
  } else if (config.momentum != 0) {
    add(Quantity::first_moment, StageRole::left, "");
  }
  add(Quantity::value, StageRole::result, "→");
  return plan;
}

}  // namespace

StagePlan plan_step(const core::Trace<float>& trace, const core::Step& step, const StageChoice& choice) {
  switch (step.phase) {
    case core::Phase::backward:
      return plan_backward(trace, step, choice);
    case core::Phase::update:
      return plan_update(trace, step, choice);
    case core::Phase::forward:
      break;
  }
  StagePlan plan = plan_operation(trace, step.operation, choice.head);
  plan.step = step;
  return plan;
}

ItemNumbers::ItemNumbers(const core::Trace<float>& trace, const StageItem& item)
    : trace_(trace), item_(item) {
  if (item.source == NumberSource::stored) stored_.emplace(trace, item.slice);
}

double ItemNumbers::at(std::int64_t row, std::int64_t column) const {
  if (stored_) return stored_->at(row, column);
  const core::Operation& operation = trace_.graph().operations()[item_.operation];
  const core::Cell cell = item_.slice.cell_at(row, column);
  switch (item_.source) {
    case NumberSource::branch:
      return sent_back(trace_, item_.operation, item_.slice.tensor, cell);
    case NumberSource::local:
      return local_derivative(trace_, std::get<core::Softmax>(operation), item_.slice.base, row, column);
    case NumberSource::target:
      return target_share(trace_, std::get<core::CrossEntropy>(operation), cell);
    case NumberSource::stored:
      break;
  }
  return 0;
}

bool is_there(const core::Trace<float>& trace, const StagePlan& plan, const StageItem& item) {
  const core::TensorId tensor = item.slice.tensor;
  const Quantity quantity = item.slice.quantity;
  if (item.source == NumberSource::local || item.source == NumberSource::target) return true;
  if (item.source == NumberSource::branch) {
    const auto run = trace.workspace().gradient_plan().operations().first(trace.backward_done());
    return std::ranges::find(run, item.operation) != run.end();
  }
  if (quantity == Quantity::gradient && !trace.workspace().has_gradient(tensor)) return true;  // ∂L/∂L is 1
  const bool is_after =
      plan.step && plan.step->phase == core::Phase::update && item.role == StageRole::result;
  if (is_after || (quantity != Quantity::value && quantity != Quantity::gradient && plan.step))
    return trace.is_updated(tensor);
  return trace.has(tensor, quantity);
}

}  // namespace headscope::simulator
