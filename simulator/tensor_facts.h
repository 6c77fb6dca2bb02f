// What the faces need to know of a tensor by its name: which quantity it is, how its numbers are written.
#pragma once

#include "core/graph.h"
#include "lessons/number_format.h"

#include <string>
#include <string_view>

namespace headscope::simulator {

/// "queries", "keys", "values", "scores", "weights", "output", or "" for a tensor with no hue of its own.
/// Learned matrices go with what they make: w_query is of the queries.
std::string_view quantity_of(std::string_view tensor_name);

/// How a tensor's numbers are written.
lessons::NumberKind number_kind_of(const core::TensorSpec& spec);

/// Whether its numbers are shares between 0 and 1, shown on the sequential map.
enum class Range : std::uint8_t { signed_values, shares, whole_numbers };
Range range_of(const core::TensorSpec& spec);

/// The leaf of the name, "scores"; two parts where the leaf alone says too little ("norm1.gain").
std::string short_name(const core::TensorSpec& spec);

}  // namespace headscope::simulator
