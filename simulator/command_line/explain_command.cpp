// headscope explain: one cell's arithmetic, forward, backward or through an update.
#include "core/explain.h"
#include "core/formats/json.h"
#include "core/stepper.h"
#include "simulator/command_line/cell_argument.h"
#include "simulator/command_line/commands.h"
#include "simulator/command_line/explanation_writer.h"
#include "simulator/command_line/model_run.h"

#include <cstddef>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace headscope::simulator {
namespace {

core::Error about_tensor(std::string key, const core::Graph& graph, core::TensorId tensor) {
  return {.key = std::move(key), .where = "--tensor", .values = {{"tensor", graph.spec(tensor).name}}};
}

template <class T>
class Asker {
 public:
  Asker(const ModelAndBatch& loaded, const ExplainCommand& command, const CommandContext& context)
      : loaded_(loaded),
        command_(command),
        context_(context),
        graph_(loaded.model.graph),
        stepper_(graph_, loaded.batch.sizes),
        writer_(graph_, command.input.precision, context.text) {}

  core::Result<void> run() {
    const core::Result<core::TensorId> tensor = tensor_argument(graph_, command_.tensor, "--tensor");
    if (!tensor) return tensor.error();
    const core::Result<core::Cell> cell =
        cell_argument(graph_, *tensor, stepper_.workspace().shape(*tensor), command_.cell, "--cell");
    if (!cell) return cell.error();
    if (core::Result<void> answerable = check_tensor(*tensor); !answerable) return answerable;
    start(loaded_, stepper_);
    stepper_.set_optimiser(command_.optimiser, 1, {}, {});
    if (core::Result<void> moved = move(*tensor); !moved) return moved;
    if (command_.asked == Asked::update)
      write_update(*tensor, *cell);
    else
      write_cell(*tensor, *cell);
    return {};
  }

 private:
  core::Quantity quantity() const {
    return command_.asked == Asked::gradient ? core::Quantity::gradient : core::Quantity::value;
  }

  /// Whether the tensor has what is asked for, wherever the cursor stands.
  core::Result<void> check_tensor(core::TensorId tensor) const {
    if (command_.asked == Asked::value) return {};
    if (core::Result<void> required = require_loss(loaded_, command_.input); !required) return required;
    const bool has_gradient = stepper_.workspace().has_gradient(tensor);
    if (command_.asked == Asked::gradient && !has_gradient)
      return about_tensor("explain.no_gradient", graph_, tensor);
    const bool is_updated = has_gradient && graph_.spec(tensor).role == core::Role::parameter;
    if (command_.asked == Asked::update && !is_updated)
      return about_tensor("explain.no_update", graph_, tensor);
    return {};
  }

  /// Moves to --step, or as far as the question needs.
  core::Result<void> move(core::TensorId tensor) {
    const core::StepList& steps = stepper_.steps();
    const std::size_t last = loaded_.batch.has_targets ? steps.size() : loaded_.n_operations();
    if (command_.step.value_or(0) > last)
      return core::Error{
          .key = "explain.no_such_step",
          .where = "--step",
          .values = {{"step", std::to_string(*command_.step)}, {"last", std::to_string(last)}}};
    const std::size_t latest = command_.asked == Asked::value      ? loaded_.n_operations()
                               : command_.asked == Asked::gradient ? steps.update_begin()
                                                                   : steps.size();
    stepper_.move_to(command_.step.value_or(latest));
    if (stepper_.trace().has(tensor, quantity())) return {};
    if (!command_.step) return require_loss(loaded_, command_.input);  // a loss without targets
    return core::Error{
        .key = "explain.not_yet",
        .where = "--step",
        .values = {{"tensor", (command_.asked == Asked::gradient ? "grad." : "") + command_.tensor},
                   {"step", std::to_string(*command_.step)},
                   {"first", std::to_string(first_step(tensor))}}};
  }

  /// The number of the step that first writes what is asked for.
  std::size_t first_step(core::TensorId tensor) const {
    if (command_.asked == Asked::value) return *graph_.producer(tensor) + 1;
    return stepper_.steps().backward_begin() + stepper_.workspace().gradient_plan().writers(tensor).front() +
           1;
  }

  void write_cell(core::TensorId tensor, const core::Cell& cell) const {
    const core::Explanation explanation = core::explain(stepper_.trace(), tensor, cell, quantity());
    std::optional<core::GradientCheck> check;
    if (command_.is_checked)
      check = core::check_gradient(graph_, stepper_.workspace(), loaded_.options(), tensor, cell);
    if (command_.format == OutputFormat::json) {
      context_.out << writer_.json(explanation, check ? ", \"check\": " + writer_.json(*check) : "") << "\n";
      return;
    }
    writer_.print(explanation, context_.out);
    if (check) writer_.print(*check, context_.out);
  }

  /// The moments, in the order in which they are computed, then the parameter's next value.
  void write_update(core::TensorId tensor, const core::Cell& cell) const {
    std::vector<std::pair<const char*, core::Quantity>> asked = {
        {"first_moment", core::Quantity::first_moment},
        {"second_moment", core::Quantity::second_moment},
        {"value", core::Quantity::value}};
    if (command_.optimiser.kind == core::OptimiserKind::sgd) asked.erase(asked.begin() + 1);
    const bool is_json = command_.format == OutputFormat::json;
    std::string json = "{\"tensor\": " + core::quote_json(graph_.spec(tensor).name) +
                       ", \"cell\": " + index_list(cell, cell.rank());
    for (const auto& [name, number] : asked) {
      const core::Explanation explanation = core::explain(stepper_.trace(), tensor, cell, number);
      if (is_json)
        json += ", \"" + std::string(name) + "\": " + writer_.json(explanation);
      else
        writer_.print(explanation, context_.out);
    }
    if (is_json) context_.out << json << "}\n";
  }

  const ModelAndBatch& loaded_;
  const ExplainCommand& command_;
  const CommandContext& context_;
  const core::Graph& graph_;
  core::Stepper<T> stepper_;
  ExplanationWriter writer_;
};

}  // namespace

core::Result<void> run(const ExplainCommand& command, const CommandContext& context) {
  const core::Result<ModelAndBatch> loaded = read_model_and_batch(command.input, Keeps::training);
  if (!loaded) return loaded.error();
  print_warnings(*loaded, context);
  return command.input.precision == Precision::twofold ? Asker<double>(*loaded, command, context).run()
                                                       : Asker<float>(*loaded, command, context).run();
}

}  // namespace headscope::simulator
