// A model directory, fed and run: what trace and explain look at.
#pragma once

#include "core/execute.h"
#include "core/formats/model_directory.h"
#include "core/formats/token_batch.h"
#include "core/result.h"
#include "core/trace.h"
#include "simulator/command_line/commands.h"

#include <string>
#include <utility>
#include <vector>

namespace headscope::simulator {

/// A model that was read, and the batch for it.
struct ModelAndBatch {
  core::StoredModel model;
  core::FedBatch batch;
  std::vector<std::string> unknown_words;  // of --text, as typed
};

/// Errors: those of read_model_directory(), read_token_batch(), tokenize(), feed(); session.no_vocabulary
/// (--text without vocab.json), batch.too_large.
core::Result<ModelAndBatch> read_model_and_batch(const ModelInput& input);

/// What was loaded with a warning, and unknown words, each as one line to context.errors.
void print_warnings(const ModelAndBatch& loaded, const CommandContext& context);

/// The workspace after a whole forward pass.
template <class T>
core::Workspace<T> run_model(const ModelAndBatch& loaded) {
  core::Workspace<T> workspace(loaded.model.graph, loaded.batch.sizes);
  core::set_parameters(loaded.model, workspace);
  core::set_inputs(loaded.model.graph, workspace, loaded.batch);
  core::run_forward(loaded.model.graph, workspace);
  return workspace;
}

/// A view of everything: the cursor stands at the end.
template <class T>
core::Trace<T> whole_trace(const ModelAndBatch& loaded, const core::Workspace<T>& workspace) {
  const std::size_t end = loaded.model.graph.operations().size();
  return {loaded.model.graph, workspace, core::Cursor(end, end)};
}

}  // namespace headscope::simulator
