// How far two spellings lie apart: what "did you mean" chooses by.
#pragma once

#include <cstddef>
#include <string_view>

namespace headscope::core {

/// Levenshtein's distance: how many bytes must be put in, left out or replaced to make one of the other.
std::size_t edit_distance(std::string_view left, std::string_view right);

}  // namespace headscope::core
