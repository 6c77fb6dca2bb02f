#include "simulator/stage_plan.h"

#include <algorithm>
#include <variant>

namespace headscope::simulator {
namespace {

class OperationPlanner {
 public:
  OperationPlanner(const core::Trace<float>& trace, std::int64_t head, StagePlan& plan)
      : trace_(trace), head_(head), plan_(plan) {}

  // left · upper = result
  void operator()(const core::ProjectHeads& op) {
    product(op.input, op.weight, Turn::none, op.output, op.bias);
  }
  void operator()(const core::Scores& op) { product(op.queries, op.keys, Turn::transposed, op.output, {}); }
  void operator()(const core::MixValues& op) { product(op.weights, op.values, Turn::none, op.output, {}); }
  void operator()(const core::HeadContribution& op) {
    product(op.input, op.weight, Turn::none, op.output, {});
    // of W_O, whose heads stand below one another, this head's rows
    Slice& weight = plan_.items[1].slice;
    weight.rows = {core::Axis::head_channel, weight.shape[1], 1};
    weight.base[0] = head_;
  }
  void operator()(const core::Linear& op) { product(op.input, op.weight, Turn::none, op.output, op.bias); }
  void operator()(const core::ProjectOutputs& op) {
    product(op.input, op.weight, Turn::none, op.output, op.bias);
  }

  void operator()(const core::Lookup& op) { line({op.ids, op.output}, {"→"}); }
  void operator()(const core::SinusoidalPositions& op) { line({op.output}, {}); }
  void operator()(const core::AddPositions& op) { line({op.input, op.positions, op.output}, {"+", "="}); }
  void operator()(const core::ScaleScores& op) { line({op.input, op.output}, {"→"}); }
  void operator()(const core::AddRelativeBias& op) { line({op.input, op.table, op.output}, {"+", "="}); }
  void operator()(const core::MaskScores& op) { line({op.input, op.output}, {"→"}); }
  void operator()(const core::MaskPositions& op) { line({op.input, op.output}, {"→"}); }
  void operator()(const core::Softmax& op) { line({op.input, op.output}, {"→"}); }
  void operator()(const core::DropoutMask& op) { line({op.output}, {}); }
  void operator()(const core::ApplyDropout& op) { line({op.input, op.mask, op.output}, {"×", "="}); }
  void operator()(const core::ConcatHeads& op) {
    for (std::int64_t head = 0; head < trace_.shape(op.input)[1]; ++head)
      plan_.items.push_back(
          {slice_of(trace_, op.input, head), StageRole::left, head > 0 ? "|" : "", Turn::none});
    plan_.items.push_back({slice_of(trace_, op.output, head_), StageRole::result, "=", Turn::none});
  }
  void operator()(const core::Add& op) { line({op.left, op.right, op.output}, {"+", "="}); }
  void operator()(const core::RowMean& op) { line({op.input, op.output}, {"→"}); }
  void operator()(const core::Centre& op) { line({op.input, op.mean, op.output}, {"−", "="}); }
  void operator()(const core::InverseDeviation& op) { line({op.input, op.output}, {"→"}); }
  void operator()(const core::ScaleRows& op) { line({op.input, op.factor, op.output}, {"×", "="}); }
  void operator()(const core::ScaleAndShift& op) {
    line({op.input, op.gain, op.offset, op.output}, {"×", "+", "="});
  }
  void operator()(const core::Activate& op) { line({op.input, op.output}, {"→"}); }
  void operator()(const core::Pool& op) { line({op.input, op.output}, {"→"}); }
  void operator()(const core::SelectPosition& op) { line({op.input, op.positions, op.output}, {"", "→"}); }
  // two products with one matrix, each a column of the result: a product has room for one
  void operator()(const core::PointAt& op) { line({op.start, op.end, op.input, op.output}, {"|", "·", "="}); }
  void operator()(const core::CrossEntropy& op) {
    line({op.probabilities, op.targets, op.output}, {"", "→"});
  }
  void operator()(const core::MeanLoss& op) { line({op.input, op.output}, {"→"}); }

 private:
  void product(core::TensorId left, core::TensorId upper, Turn turn, core::TensorId result,
               std::optional<core::TensorId> addend) {
    plan_.shape = StageShape::product;
    plan_.items.push_back({slice_of(trace_, left, head_), StageRole::left, "", Turn::none});
    plan_.items.push_back({slice_of(trace_, upper, head_, turn), StageRole::upper, "", turn});
    if (addend) plan_.items.push_back({slice_of(trace_, *addend, head_), StageRole::addend, "", Turn::none});
    plan_.items.push_back({slice_of(trace_, result, head_), StageRole::result, "", Turn::none});
  }

  void line(const std::vector<core::TensorId>& tensors, const std::vector<std::string>& signs) {
    for (std::size_t at = 0; at < tensors.size(); ++at) {
      const StageRole role = at + 1 == tensors.size() ? StageRole::result : StageRole::left;
      plan_.items.push_back(
          {slice_of(trace_, tensors[at], head_), role, at > 0 ? signs[at - 1] : "", Turn::none});
    }
  }

  const core::Trace<float>& trace_;
  std::int64_t head_;
  StagePlan& plan_;
};

/// The operation that tells of a tensor: what made it, else the first that reads it.
std::optional<std::size_t> operation_about(const core::Graph& graph, core::TensorId tensor) {
  if (const auto producer = graph.producer(tensor)) return producer;
  for (std::size_t index = 0; index < graph.operations().size(); ++index)
    if (std::ranges::count(core::operands(graph.operations()[index]), tensor) > 0) return index;
  return std::nullopt;
}

StagePlan plan_shown(const core::Session& session, const std::vector<core::TensorId>& tensors,
                     std::int64_t head) {
  StagePlan plan;
  plan.head = head;
  for (const core::TensorId tensor : tensors)
    plan.items.push_back({slice_of(session, tensor, head), StageRole::shown, "", Turn::none});
  return plan;
}

/// Whether the step shows just what an operation reads (integer inputs may be left out) and writes.
bool is_operation(const core::Graph& graph, std::size_t operation, std::vector<core::TensorId> shown) {
  std::vector<core::TensorId> all = core::operands(graph.operations()[operation]);
  all.push_back(core::result(graph.operations()[operation]));
  const auto is_integer = [&](core::TensorId id) { return graph.spec(id).element == core::Element::integer; };
  if (std::ranges::none_of(shown, is_integer)) std::erase_if(all, is_integer);
  std::ranges::sort(all);
  std::ranges::sort(shown);
  return all == shown;
}

/// The plan before the table of positions is cut to the sentence.
StagePlan plan_whole(const AppState& state, const lessons::StepView& step, const StageChoice& choice) {
  const core::Graph& graph = state.session.graph();
  if (state.cursor().position() == step.cursor && !step.shown.empty()) {
    const std::optional<std::size_t> operation =
        step.stop ? graph.producer(*step.stop) : std::optional<std::size_t>();
    return operation && is_operation(graph, *operation, step.shown)
               ? plan_operation(state.session, *operation, step.head)
               : plan_shown(state.session, step.shown, step.head);
  }
  if (state.shown)
    if (const std::optional<std::size_t> about = operation_about(graph, *state.shown))
      return plan_operation(state.session, *about, step.head);
  if (const std::optional<core::Step> last = state.last_step())
    return plan_step(state.trace(), *last, choice);
  return plan_shown(state.session, {core::find_inputs(graph).ids}, step.head);
}

/// The last step that made a number of this kind; none where an operation forward did, or none did yet.
std::optional<core::Step> step_of(const AppState& state, const CellAddress& address) {
  const core::Trace<float> trace = state.trace();
  const core::GradientPlan& gradients = trace.workspace().gradient_plan();
  if (address.quantity == core::Quantity::value) return std::nullopt;
  if (address.quantity != core::Quantity::gradient)
    return core::Step{.phase = core::Phase::update, .parameter = address.tensor};
  const std::size_t n_written = trace.gradient_writers_done(address.tensor);
  if (n_written == 0) return std::nullopt;
  return core::Step{.phase = core::Phase::backward,
                    .operation = gradients.operations()[gradients.writers(address.tensor)[n_written - 1]]};
}

/// The plan that shows the cell that the learner followed to.
StagePlan plan_followed(const AppState& state, const CellAddress& lit, std::int64_t step_head) {
  const core::Graph& graph = state.session.graph();
  const int head_place = graph.spec(lit.tensor).shape.find(core::Axis::head);
  const std::int64_t head = head_place >= 0 ? lit.cell[head_place] : step_head;
  if (const std::optional<core::Step> step = step_of(state, lit)) {
    StagePlan followed = plan_step(state.trace(), *step, {.head = head, .result = lit.tensor, .lit = lit});
    if (is_on(followed, lit)) return followed;
  }
  if (const std::optional<std::size_t> about = operation_about(graph, lit.tensor)) {
    StagePlan followed = plan_operation(state.session, *about, head);
    if (is_on(followed, lit)) return followed;
  }
  StagePlan alone = plan_shown(state.session, {lit.tensor}, head);
  alone.items.front().slice.quantity = lit.quantity;
  return alone;
}

}  // namespace

bool is_on(const StagePlan& plan, const CellAddress& address) {
  return std::ranges::any_of(plan.items, [&](const StageItem& item) {
    return has_cells(item) && item.slice.tensor == address.tensor &&
           item.slice.quantity == address.quantity && item.slice.find(address.cell).has_value();
  });
}

StagePlan plan_operation(const core::Trace<float>& trace, std::size_t operation, std::int64_t head) {
  StagePlan plan;
  plan.operation = operation;
  plan.head = head;
  std::visit(OperationPlanner(trace, head, plan), trace.graph().operations()[operation]);
  return plan;
}

StagePlan plan_operation(const core::Session& session, std::size_t operation, std::int64_t head) {
  return plan_operation(session.trace(), operation, head);
}

StagePlan plan_stage(const AppState& state, const lessons::StepView& step,
                     const std::optional<CellAddress>& lit) {
  // a held cell's head is the one whose matrices stand there, all of them
  std::int64_t head = step.head;
  if (!state.trail.empty()) {
    const CellAddress& held = state.trail.back();
    const int place = state.session.graph().spec(held.tensor).shape.find(core::Axis::head);
    if (place >= 0 && held.quantity != core::Quantity::value) head = held.cell[place];
  }
  StagePlan plan = plan_whole(state, step, {.head = head, .result = state.chosen, .lit = lit});
  if (!state.trail.empty() && !is_on(plan, state.trail.back()))
    plan = plan_followed(state, state.trail.back(), step.head);
  // of the table of positions, those that the sentence has
  const auto n_positions = static_cast<std::int64_t>(state.session.n_positions());
  for (StageItem& item : plan.items)
    for (SliceSide* side : {&item.slice.rows, &item.slice.columns})
      if (side->axis == core::Axis::position) side->size = std::min(side->size, n_positions);
  return plan;
}

}  // namespace headscope::simulator
