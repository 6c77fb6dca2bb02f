// Checkpoints: one that is accepted has every number of its model, and is written so that it is read as the
// same.
#include "core/formats/checkpoint.h"
#include "tests/fuzz/small_decoder.h"
#include "tests/fuzz/targets.h"

#include <cstring>

namespace headscope::fuzz {

void try_checkpoint(std::string_view bytes) {
  const core::Result<core::Graph> graph = core::build_graph(small_decoder(), "bytes");
  const core::Result<core::TrainState> state = core::parse_checkpoint(bytes, *graph, "bytes");
  if (!state) return;
  promise(state->step >= 0, "a step is not negative");
  promise(state->parameters.size() == state->first_moments.size(), "each parameter has its moment");
  const core::Result<core::TrainState> again =
      core::parse_checkpoint(core::format_checkpoint(*graph, *state), *graph, "bytes");
  promise(again.has_value() && again->step == state->step &&
              again->second_moments.size() == state->second_moments.size() &&
              std::memcmp(again->parameters.data(), state->parameters.data(),
                          state->parameters.size() * sizeof(float)) == 0,
          "a checkpoint is read as it was written");
}

}  // namespace headscope::fuzz
