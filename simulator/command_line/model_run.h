// A model directory, fed and run: what trace and explain look at.
#pragma once

#include "core/execute.h"
#include "core/formats/model_directory.h"
#include "core/formats/token_batch.h"
#include "core/interventions.h"
#include "core/result.h"
#include "core/stepper.h"
#include "core/trace.h"
#include "simulator/command_line/commands.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace headscope::simulator {

/// A model that was read, the batch for it, and what is changed by hand.
struct ModelAndBatch {
  core::StoredModel model;  // with the switches of the interventions in its graph
  core::FedBatch batch;
  core::Interventions interventions;
  std::vector<std::string> unknown_words;  // of --text and --target-text, as typed

  core::RunOptions options() const { return {.interventions = &interventions}; }
  /// How many operations mean something: all, or without targets those up to the probabilities.
  std::size_t n_operations() const { return core::forward_end(model.graph, batch); }
};

/// What a command holds at once: values alone, or gradients and an optimiser's moments, too.
enum class Keeps : std::uint8_t { values, training };

/// Whether a batch of these sizes is within what the commands take. Error: batch.too_large.
core::Result<void> check_size(const core::Graph& graph, const core::Sizes& sizes, Keeps keeps,
                              const std::string& where);

/// Errors: those of read_model_directory(), read_token_batch(), tokenize(), feed(), check_size(),
/// intervene(); session.no_vocabulary (--text without vocab.json); arguments.not_for_model (option),
/// arguments.text_lacks (option), arguments.no_labels.
core::Result<ModelAndBatch> read_model_and_batch(const ModelInput& input, Keeps keeps);

/// Whether there is a loss to differentiate. Errors: those of require_targets(); arguments.text_lacks,
/// arguments.no_labels.
core::Result<void> require_loss(const ModelAndBatch& loaded, const ModelInput& input);

/// What was loaded with a warning, each as one line to context.errors.
void print_warnings(const core::StoredModel& model, const CommandContext& context);
/// What was loaded with a warning, and unknown words, each as one line to context.errors.
void print_warnings(const ModelAndBatch& loaded, const CommandContext& context);

/// Sets parameters and inputs.
template <class T>
void set_numbers(const ModelAndBatch& loaded, core::Workspace<T>& workspace) {
  core::set_parameters(loaded.model, workspace);
  core::set_inputs(loaded.model.graph, workspace, loaded.batch);
}

/// The workspace after a whole forward pass, without gradients. Precondition: `loaded` outlives it.
template <class T>
core::Workspace<T> run_model(const ModelAndBatch& loaded) {
  core::Workspace<T> workspace(loaded.model.graph, loaded.batch.sizes);
  set_numbers(loaded, workspace);
  core::run_forward(loaded.model.graph, workspace, 0, loaded.n_operations(), loaded.options());
  return workspace;
}

/// Puts a stepper of the loaded graph and sizes before its first step. Precondition: `loaded` outlives it.
template <class T>
void start(const ModelAndBatch& loaded, core::Stepper<T>& stepper) {
  set_numbers(loaded, stepper.workspace());
  stepper.set_options(loaded.options());
  stepper.restart();
}

}  // namespace headscope::simulator
