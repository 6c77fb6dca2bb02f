// The model that runs and checkpoints are read for: as small as one can be.
#pragma once

#include "core/model.h"

namespace headscope::fuzz {

/// No positions, biases or feed-forward part.
inline core::ModelConfig small_decoder() {
  core::ModelConfig config;
  config.vocab_size = 2;
  config.d_model = 2;
  config.d_head = 2;
  config.max_tokens = 2;
  config.positions = core::Positions::none;
  return config;
}

}  // namespace headscope::fuzz
