// --zero-head, --set and their like, held against the model that they change.
#pragma once

#include "core/formats/json.h"
#include "core/formats/model_directory.h"
#include "core/formats/token_batch.h"
#include "core/interventions.h"
#include "core/result.h"
#include "core/training/run_config.h"
#include "simulator/command_line/commands.h"

namespace headscope::simulator {

/// Sets the switches in the model's graph, and returns the cells that are set by hand, in the order: frozen
/// activations, zeroed heads, mean heads, attentions, cells (where two meet, the later holds). Frozen values
/// and means are those of the model with nothing changed: of this batch to the bits of `precision`, and of
/// the held-out text in double. Errors: intervention.attention (name, known), intervention.head (head, last,
/// name), intervention.form (option, given, form), intervention.not_finite (given: no float),
/// intervention.not_computed (name: an input or a parameter), intervention.contradicts (name: the loss or
/// probabilities), intervention.no_effect (option: the model has nothing that it would change),
/// intervention.no_position (head: the held-out text has none of those where it asks), those of
/// tensor_argument() and cell_argument(); for the held-out text those of read_token_batch(), feed() and
/// check_size().
core::Result<core::Interventions> intervene(const InterventionOptions& options, core::StoredModel& model,
                                            const core::FedBatch& batch, Precision precision);

/// What a training run does by hand in each of its graphs, at its largest sizes. Precondition: no mean heads
/// and no frozen activations (a model in training would soon be another one). Its errors: as above, without
/// those of files.
core::Intervene intervene_in_run(const InterventionOptions& options, const core::RunConfig& run);

/// What a run keeps of the options; null where nothing is changed. Precondition: as above.
core::Json to_json(const InterventionOptions& options);
/// The reverse. Errors: intervention.stored (key: a member that to_json() does not write, or of another
/// type).
core::Result<InterventionOptions> read_interventions_json(const core::Json& json, const std::string& where);

}  // namespace headscope::simulator
