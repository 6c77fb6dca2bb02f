// --zero-head, --set and their like, held against the model that they change.
#pragma once

#include "core/formats/model_directory.h"
#include "core/interventions.h"
#include "core/result.h"
#include "simulator/command_line/commands.h"

namespace headscope::simulator {

/// Sets the switches in the model's graph, and returns the cells that are set by hand, in the order: zeroed
/// heads, mean heads, attentions, cells (where two meet, the later holds). The means are those of the model
/// with nothing changed, in double. `sizes` are those of the batch. Errors: intervention.attention (name,
/// known), intervention.head (head, last, name), intervention.form (option, given, form),
/// intervention.not_computed (name: an input or a parameter), intervention.contradicts (name: the loss or
/// probabilities), intervention.no_effect (option: the model has nothing that it would change), those of
/// tensor_argument() and cell_argument(); for the held-out text those of read_token_batch(), feed() and
/// check_size().
core::Result<core::Interventions> intervene(const InterventionOptions& options, core::StoredModel& model,
                                            const core::Sizes& sizes);

}  // namespace headscope::simulator
