// --zero-head, --set and their like, held against the model that they change.
#pragma once

#include "core/graph.h"
#include "core/interventions.h"
#include "core/result.h"
#include "simulator/command_line/commands.h"

namespace headscope::simulator {

/// Sets the switches in the graph, and returns the cells that are set by hand, in the order: heads,
/// attentions, cells (where two meet, the later holds). `sizes` are those of the batch. Errors:
/// intervention.attention (name, known), intervention.head (head, last, name), intervention.form (option,
/// given, form), intervention.not_computed (name: an input or a parameter), intervention.no_effect (option:
/// the model has nothing that it would change), those of tensor_argument() and cell_argument().
core::Result<core::Interventions> intervene(const InterventionOptions& options, core::Graph& graph,
                                            const core::Sizes& sizes);

}  // namespace headscope::simulator
