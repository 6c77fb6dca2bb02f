#include "core/tasks/letters.h"

#include "core/random.h"

#include <cstddef>
#include <string>
#include <utility>

namespace headscope::core {

Vocabulary letters(std::int32_t n_small, std::int32_t n_capitals) {
  std::vector<std::string> tokens = {"<pad>"};
  for (std::int32_t at = 0; at < n_small; ++at) tokens.emplace_back(1, static_cast<char>('a' + at));
  for (std::int32_t at = 0; at < n_capitals; ++at) tokens.emplace_back(1, static_cast<char>('A' + at));
  return Vocabulary::make(std::move(tokens), "").value();  // no token twice: it cannot fail
}

std::string spaced(std::span<const std::int32_t> ids, const Vocabulary& vocabulary) {
  std::string text;
  for (const std::int32_t id : ids) text.append(text.empty() ? "" : " ").append(vocabulary.token(id));
  return text;
}

std::uint64_t hash_row(const std::vector<std::int32_t>& row) {
  std::string bytes;
  for (const std::int32_t id : row) bytes += static_cast<char>(id);
  // FNV-1a alone will not do: its lowest bit is the parity of the bytes', which a repeated segment fixes
  return Rng(0, bytes).next();
}

}  // namespace headscope::core
