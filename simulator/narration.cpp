#include "simulator/narration.h"

#include "simulator/narration_parts.h"

#include <algorithm>
#include <utility>

namespace headscope::simulator {
namespace {

using core::Quantity;

/// The numbers that a cell has with this model and optimiser, wherever the cursor stands.
std::vector<Quantity> quantities_of(const core::Session& session, const core::Trace<float>& trace,
                                    core::TensorId tensor) {
  std::vector<Quantity> quantities{Quantity::value};
  const core::Workspace<float>& workspace = trace.workspace();
  if (!session.has_gold()) return quantities;
  const bool is_loss = workspace.gradient_plan().has_loss() && tensor == workspace.gradient_plan().loss();
  if (workspace.has_gradient(tensor) || is_loss) quantities.push_back(Quantity::gradient);
  if (trace.update() == nullptr || trace.graph().spec(tensor).role != core::Role::parameter ||
      !workspace.has_gradient(tensor))
    return quantities;
  quantities.push_back(Quantity::first_moment);
  if (trace.update()->config.kind == core::OptimiserKind::adamw)
    quantities.push_back(Quantity::second_moment);
  return quantities;
}

/// Whether there is such a number at all: what core::explain() may be asked.
bool exists(const core::Session& session, const core::Trace<float>& trace, const CellAddress& cell) {
  switch (cell.quantity) {
    case Quantity::value:
      return true;
    case Quantity::gradient:
    case Quantity::first_moment:
    case Quantity::second_moment:
      return std::ranges::count(quantities_of(session, trace, cell.tensor), cell.quantity) > 0;
    case Quantity::previous_value:
    case Quantity::previous_first:
    case Quantity::previous_second:
      break;
  }
  return trace.has(cell.tensor, cell.quantity);
}

/// The number of the step, from 1, that updates a parameter.
std::size_t update_step(const core::StepList& steps, core::TensorId parameter) {
  const auto parameters = steps.parameters();
  const auto found = std::ranges::find(parameters, parameter);
  return steps.update_begin() + static_cast<std::size_t>(found - parameters.begin()) + 1;
}

/// What is missing at the cursor, and which step brings it.
std::string missing(const NarrationSource& source, const CellAddress& cell) {
  const core::Trace<float>& trace = source.trace;
  const auto step_text = [](std::size_t step) { return std::to_string(step); };
  switch (cell.quantity) {
    case Quantity::value:
      if (trace.is_computed(cell.tensor)) return {};
      return source.text("explainer.not_computed",
                         {{"step", step_text(*source.graph().producer(cell.tensor) + 1)}});
    case Quantity::gradient: {
      if (!trace.workspace().has_gradient(cell.tensor)) return {};
      const auto writers = trace.workspace().gradient_plan().writers(cell.tensor);
      const std::size_t done = trace.gradient_writers_done(cell.tensor);
      const std::size_t begin = source.steps().backward_begin();
      if (done == 0)
        return source.text("explainer.no_gradient_yet", {{"step", step_text(begin + writers.front() + 1)}});
      if (done == writers.size()) return {};
      return source.text("explainer.gradient_in_part", {{"done", step_text(done)},
                                                        {"n", step_text(writers.size())},
                                                        {"step", step_text(begin + writers.back() + 1)}});
    }
    case Quantity::first_moment:
    case Quantity::second_moment:
      if (trace.is_updated(cell.tensor)) return {};
      return source.text("explainer.not_updated",
                         {{"step", step_text(update_step(source.steps(), cell.tensor))}});
    case Quantity::previous_value:
    case Quantity::previous_first:
    case Quantity::previous_second:
      break;
  }
  return {};
}

}  // namespace

Narration narrate(const core::Session& session, const core::Trace<float>& trace, const CellAddress& cell,
                  const Words& words, const lessons::NumberRules& rules) {
  const NarrationSource source{session, trace, words, rules};
  Narration narration;
  narration.cell = cell;
  narration.name = source.name(cell);
  narration.quantities = quantities_of(session, trace, cell.tensor);
  if (!exists(session, trace, cell)) {
    narration.value = source.text("explainer.none");
    const bool is_gradient = cell.quantity == Quantity::gradient;
    narration.sentence = source.text(is_gradient ? "explain_gradient.none" : "explain_update.none");
    return narration;
  }
  const core::Explanation explanation = core::explain(trace, cell.tensor, cell.cell, cell.quantity);
  narration.value = own_number(source, explanation, explanation.value);
  narration.not_yet = missing(source, cell);
  narration.is_computed = narration.not_yet.empty();
  add_sentence(source, explanation, narration);
  add_terms(source, explanation, narration);
  add_links(source, explanation, narration);
  return narration;
}

Narration narrate(const core::Session& session, const core::Cursor& cursor, const CellAddress& cell,
                  const Words& words, const lessons::NumberRules& rules) {
  return narrate(session, session.trace(cursor), cell, words, rules);
}

}  // namespace headscope::simulator
