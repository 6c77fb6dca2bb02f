// headscope trace: a forward pass into a file.
#include "core/formats/trace_file.h"
#include "core/printable.h"
#include "simulator/command_line/commands.h"
#include "simulator/command_line/model_run.h"

#include <ostream>

namespace headscope::simulator {
namespace {

template <class T>
core::Result<void> trace(const ModelAndBatch& loaded, const TraceCommand& command,
                         const CommandContext& context) {
  const core::Workspace<T> workspace = run_model<T>(loaded);
  const core::Trace<T> whole = whole_trace(loaded, workspace);
  if (core::Result<void> written = core::write_trace(command.out, whole); !written) return written;
  context.out << context.text.text("command.trace.done",
                                   {{"count", std::to_string(core::traced_tensors(whole).size())},
                                    {"rows", std::to_string(loaded.batch.sizes.batch)},
                                    {"positions", std::to_string(loaded.batch.sizes.source)},
                                    {"path", core::printable(command.out.string())}})
              << "\n";
  return {};
}

}  // namespace

core::Result<void> run(const TraceCommand& command, const CommandContext& context) {
  const core::Result<ModelAndBatch> loaded = read_model_and_batch(command.input);
  if (!loaded) return loaded.error();
  print_warnings(*loaded, context);
  return command.input.precision == Precision::twofold ? trace<double>(*loaded, command, context)
                                                       : trace<float>(*loaded, command, context);
}

}  // namespace headscope::simulator
