// BLEU: how many runs of words a translation shares with a reference.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace headscope::core {

struct Bleu {
  double score = 0;                       // in [0, 100]
  std::array<double, 4> precisions = {};  // of runs of 1 to 4 words, in [0, 100], smoothed
  double brevity_penalty = 0;             // in [0, 1]
  std::int64_t n_words = 0, n_reference_words = 0;
};

/// BLEU of a whole text (Papineni et al. 2002, section 2.3), as sacreBLEU 2 defines the score (Post 2018):
/// runs of up to four words, counts clipped at the most that one reference has, the reference of the closest
/// length (the shorter of two), and exponential smoothing: the k-th length without any match counts as 1 /
/// 2^k of a match. The words are taken as they are; no tokenizer is run. `references` has, for each sentence,
/// one or several. Precondition: as many as sentences, none empty.
Bleu corpus_bleu(std::span<const std::vector<std::string>> sentences,
                 std::span<const std::vector<std::vector<std::string>>> references);

}  // namespace headscope::core
