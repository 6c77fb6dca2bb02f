// A state of training as a safetensors file: parameters by their names, first_moments.NAME and
// second_moments.NAME (AdamW), all F32; its metadata say the step and a checksum.
#pragma once

#include "core/graph.h"
#include "core/result.h"
#include "core/training/trainer.h"

#include <string>
#include <string_view>

namespace headscope::core {

/// The file's bytes. `__metadata__`: format "headscope-checkpoint", version "1", step, and checksum, 16
/// hexadecimal digits: FNV-1a, 64 bits, of the step's decimal digits and then of all bytes of the numbers, in
/// the order of the file. Precondition: a state of a run with this graph.
std::string format_checkpoint(const Graph& graph, const TrainState& state);

/// The state, exactly as it was written. Errors (where: the path): those of parse_safetensors();
/// checkpoint.format (no checkpoint, or of another version), checkpoint.step (not a step),
/// checkpoint.checksum (bytes have changed), model.tensor_missing, model.tensor_unknown, model.tensor_shape.
Result<TrainState> parse_checkpoint(std::string_view bytes, const Graph& graph, const std::string& where);

}  // namespace headscope::core
