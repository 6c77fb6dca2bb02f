// headscope history: any past step of a run, made again bit for bit, and what changed between two.
#include "core/formats/model_directory.h"
#include "core/formats/run_directory.h"
#include "core/printable.h"
#include "simulator/command_line/cell_argument.h"
#include "simulator/command_line/commands.h"
#include "simulator/command_line/intervention_options.h"
#include "simulator/command_line/train_report.h"
#include "simulator/terminal/text_layout.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace headscope::simulator {
namespace {

/// To look at: the run may be going on in another process meanwhile.
core::Result<std::unique_ptr<core::Run>> open_run(const std::filesystem::path& directory,
                                                  const CommandContext& context) {
  core::Result<core::StoredRun> stored = core::read_run_directory(directory, core::RunAccess::look);
  if (!stored) return stored.error();
  const core::Result<InterventionOptions> interventions =
      read_interventions_json(stored->file.interventions, (directory / "run.json").string());
  if (!interventions) return interventions.error();
  for (const core::Error& warning : stored->warnings) context.errors << context.text.error(warning) << "\n";
  const core::Intervene intervene = intervene_in_run(*interventions, stored->file.config);
  return core::reopen_run(*std::move(stored), {.assets = context.data.assets, .intervene = intervene});
}

/// The state after a step, and a line about how it was found.
core::Result<core::TrainState> visit(core::Run& run, std::int64_t step, const CommandContext& context) {
  const core::TrainState* before = run.history().before(step);
  const std::string from = std::to_string(before ? before->step : 0);
  const auto start = std::chrono::steady_clock::now();
  core::Result<core::TrainState> state = run.state_at(step);
  if (!state) return state;
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  context.out << context.text.text("command.history.visited", {{"step", std::to_string(step)},
                                                               {"from", from},
                                                               {"milliseconds", fixed(took.count(), 0)}})
              << "\n";
  return state;
}

void print_comparison(const core::Graph& graph, const core::TrainState& a, const core::TrainState& b,
                      const CommandContext& context) {
  std::vector<core::TensorDifference> differences = core::compare_states(graph, a, b);
  std::ranges::stable_sort(differences, std::ranges::greater{}, &core::TensorDifference::relative_norm);
  std::size_t width = 0;
  for (const core::TensorDifference& difference : differences)
    width = std::max(width, graph.spec(difference.tensor).name.size());
  context.out << context.text.text("command.history.compared",
                                   {{"a", std::to_string(a.step)}, {"b", std::to_string(b.step)}})
              << "\n";
  for (const core::TensorDifference& difference : differences)
    context.out << "  " << terminal::pad(graph.spec(difference.tensor).name, width + 2, terminal::Align::left)
                << context.text.text(
                       "command.history.difference",
                       {{"norm", fixed(difference.norm, 4)},
                        {"percent", fixed(100 * difference.relative_norm, 1)},
                        {"largest", fixed(difference.largest, 4)},
                        {"cell", index_list(difference.largest_cell, difference.largest_cell.rank())}})
                << "\n";
}

/// The number of a parameter's cell in a state.
float number_in(const core::Run& run, const core::TrainState& state, core::TensorId tensor,
                const core::Cell& cell) {
  const core::Workspace<float>& workspace = run.trainer().training().workspace();
  const std::size_t offset =
      static_cast<std::size_t>(workspace.values(tensor).data() - workspace.parameters().data());
  return state.parameters[offset + static_cast<std::size_t>(workspace.shape(tensor).flat(cell))];
}

/// A parameter's cell that was asked for.
struct AskedCell {
  core::TensorId tensor;
  core::Cell cell;
};

core::Result<AskedCell> find_cell(const core::Run& run, const HistoryCommand& command) {
  const core::Graph& graph = run.trainer().graph();
  const core::Result<core::TensorId> tensor = tensor_argument(graph, *command.tensor, "--tensor");
  if (!tensor) return tensor.error();
  if (graph.spec(*tensor).role != core::Role::parameter)
    return core::Error{
        .key = "history.no_parameter", .where = "--tensor", .values = {{"name", *command.tensor}}};
  const core::Shape& shape = run.trainer().training().workspace().shape(*tensor);
  const core::Result<core::Cell> cell = cell_argument(graph, *tensor, shape, *command.cell, "--cell");
  if (!cell) return cell.error();
  return AskedCell{*tensor, *cell};
}

void print_cell(const core::Run& run, const AskedCell& asked, const core::TrainState& state,
                const CommandContext& context) {
  context.out << context.text.text("command.history.cell",
                                   {{"step", std::to_string(state.step)},
                                    {"name", run.trainer().graph().spec(asked.tensor).name +
                                                 index_list(asked.cell, asked.cell.rank())},
                                    {"value", digits(number_in(run, state, asked.tensor, asked.cell))}})
              << "\n";
}

}  // namespace

core::Result<void> run(const HistoryCommand& command, const CommandContext& context) {
  const core::Result<std::unique_ptr<core::Run>> opened = open_run(command.run, context);
  if (!opened) return opened.error();
  core::Run& run = **opened;
  std::optional<AskedCell> asked;
  if (command.tensor) {
    const core::Result<AskedCell> found = find_cell(run, command);
    if (!found) return found.error();
    asked = *found;
  }
  core::Result<core::TrainState> state = visit(run, command.step, context);
  if (!state) return state.error();
  if (command.out) {
    const core::Graph& graph = run.trainer().graph();
    core::Workspace<float> workspace(graph, {});
    std::ranges::copy(state->parameters, workspace.parameters().begin());
    const core::Vocabularies& vocabularies = run.trainer().vocabularies();
    if (core::Result<void> written = core::write_model_directory<float>(
            *command.out, run.config().model, graph, workspace, vocabularies.source, vocabularies.target);
        !written)
      return written;
    context.out << context.text.text("command.history.written",
                                     {{"path", core::printable(command.out->string())}})
                << "\n";
  }
  if (asked) print_cell(run, *asked, *state, context);
  if (!command.compared) return {};
  const core::Result<core::TrainState> other = visit(run, *command.compared, context);
  if (!other) return other.error();
  if (asked)
    print_cell(run, *asked, *other, context);
  else
    print_comparison(run.trainer().graph(), *state, *other, context);
  return {};
}

}  // namespace headscope::simulator
