// Tokens that are single letters, for the tasks that need no language.
#pragma once

#include "core/random.h"
#include "core/vocabulary.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace headscope::core {

/// "<pad>", then "a", "b" …, then "A", "B" …. Precondition: at most 26 of each.
Vocabulary letters(std::int32_t n_small, std::int32_t n_capitals);

/// The id of one of the first `n` small letters, each equally likely.
inline std::int32_t letter(Rng& rng, std::int32_t n) {
  return 1 + static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(n)));
}

/// "a b C".
std::string spaced(std::span<const std::int32_t> ids, const Vocabulary& vocabulary);

/// A hash of the whole row.
std::uint64_t hash_row(const std::vector<std::int32_t>& row);

}  // namespace headscope::core
