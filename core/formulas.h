// Scalar formulas that both an operation and its explanation need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace headscope::core {

/// 10000^(2c/D) of the pair that `channel` belongs to (Vaswani et al. 2017, section 3.5).
double position_wavelength(std::int64_t channel, std::int64_t d_model);

/// -ln softmax(logits)[target], finite whenever the logits are.
template <class T>
T negative_log_probability(std::span<const T> logits, std::size_t target);

}  // namespace headscope::core
