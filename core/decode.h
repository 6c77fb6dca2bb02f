// Translation word by word: the encoder-decoder run again and again on what it has said so far.
#pragma once

#include "core/graph.h"
#include "core/interventions.h"
#include "core/model.h"
#include "core/progress.h"
#include "core/workspace.h"

#include <cstdint>
#include <span>
#include <vector>

namespace headscope::core {

struct DecodeOptions {
  std::int32_t begin = 0, end = 0;  // of the target vocabulary
  int beam_width = 1;               // 1: greedy
  /// α of the length penalty ((5 + n) / 6)^α by which a sentence's log-probability is divided (Wu et al.
  /// 2016, equation 14), n counting the end; at least 0. 0: none, short sentences are then preferred.
  double length_penalty = 0;
  const Interventions* interventions = nullptr;
  Progress progress = {};  // told after every token
};

/// What was decoded for one source.
struct Hypothesis {
  std::vector<std::int32_t> tokens;  // without begin and end
  double log_probability = 0;        // natural, of all its tokens and the end
  double score = 0;                  // log_probability / length penalty
  bool is_complete = false;          // it said the end; otherwise it was cut at max_tokens
};

/// The best hypothesis for each source by beam search, each row of the batch a beam; where two are equal the
/// one with the lower ids; none at all where it was stopped. `parameters` as Workspace::parameters().
/// Preconditions: an encoder-decoder's graph; sources within max_tokens and the vocabulary, not all empty;
/// beam_width ≥ 1, length_penalty ≥ 0.
std::vector<Hypothesis> decode(const Graph& graph, const ModelConfig& config,
                               std::span<const float> parameters,
                               std::span<const std::vector<std::int32_t>> sources,
                               const DecodeOptions& options);

}  // namespace headscope::core
