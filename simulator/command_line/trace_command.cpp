// headscope trace: a forward pass, and on request the backward pass, into a file.
#include "core/formats/trace_file.h"
#include "core/printable.h"
#include "simulator/command_line/cell_argument.h"
#include "simulator/command_line/commands.h"
#include "simulator/command_line/model_run.h"

#include <algorithm>
#include <optional>
#include <ostream>
#include <string>

namespace headscope::simulator {
namespace {

template <class T>
core::Result<void> write(const core::Trace<T>& trace, const ModelAndBatch& loaded,
                         const TraceCommand& command, const CommandContext& context) {
  if (core::Result<void> written = core::write_trace(command.out, trace); !written) return written;
  if (const std::optional<core::NotFinite> bad = core::find_not_finite(trace))
    context.errors << context.text.text("command.trace.not_finite",
                                        {{"name", bad->name},
                                         {"cell", index_list(bad->cell, bad->cell.rank())},
                                         {"count", std::to_string(bad->n_numbers)},
                                         {"tensors", std::to_string(bad->n_tensors)}})
                   << "\n";
  const core::Sizes& sizes = loaded.batch.sizes;
  context.out << context.text.text("command.trace.done",
                                   {{"count", std::to_string(core::traced_tensors(trace).size())},
                                    {"rows", std::to_string(sizes.batch)},
                                    {"positions", std::to_string(std::max(sizes.source, sizes.target))},
                                    {"path", core::printable(command.out.string())}})
              << "\n";
  return {};
}

template <class T>
core::Result<void> trace(const ModelAndBatch& loaded, const TraceCommand& command,
                         const CommandContext& context) {
  if (command.passes == Passes::forward) {
    const core::Workspace<T> workspace = run_model<T>(loaded);
    const core::Cursor cursor(loaded.model.graph.operations().size(), loaded.n_operations());
    return write(core::Trace<T>(loaded.model.graph, workspace, cursor), loaded, command, context);
  }
  if (core::Result<void> required = require_loss(loaded, command.input); !required) return required;
  core::Stepper<T> stepper(loaded.model.graph, loaded.batch.sizes);
  start(loaded, stepper);
  stepper.move_to(stepper.steps().update_begin());
  return write(stepper.trace(), loaded, command, context);
}

}  // namespace

core::Result<void> run(const TraceCommand& command, const CommandContext& context) {
  const core::Result<ModelAndBatch> loaded = read_model_and_batch(
      command.input, command.passes == Passes::backward ? Keeps::training : Keeps::values);
  if (!loaded) return loaded.error();
  print_warnings(*loaded, context);
  return command.input.precision == Precision::twofold ? trace<double>(*loaded, command, context)
                                                       : trace<float>(*loaded, command, context);
}

}  // namespace headscope::simulator
