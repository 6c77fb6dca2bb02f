// Scalar formulas that both an operation and its explanation need.
#pragma once

#include "core/operations.h"

#include <cstddef>
#include <cstdint>
#include <numbers>
#include <span>

namespace headscope::core {

/// 10000^(2c/D) of the pair that `channel` belongs to (Vaswani et al. 2017, section 3.5).
double position_wavelength(std::int64_t channel, std::int64_t d_model);

/// -ln softmax(logits)[target], finite whenever the logits are.
template <class T>
T negative_log_probability(std::span<const T> logits, std::size_t target);

/// The same for `count` logits that lie `stride` apart.
template <class T>
T negative_log_probability(const T* logits, std::int64_t count, std::int64_t stride, std::int64_t target);

/// √(2/π) and the cubic's factor of gelu_tanh.
inline constexpr double kTanhScale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi, kTanhCubic = 0.044715;

/// relu: max(0, x). gelu: x · Φ(x), Φ(x) = (1 + erf(x/√2)) / 2. gelu_tanh: x/2 · (1 + tanh(√(2/π) (x +
/// 0.044715 x³))) (Hendrycks and Gimpel 2016, section 2).
double activation_value(Activation function, double x);

/// Its derivative by x. relu: 1 above 0, otherwise 0. gelu: Φ(x) + x · exp(-x²/2) / √(2π). gelu_tanh, with t
/// the tanh and u its argument: (1 + t)/2 + x/2 · (1 - t²) · u', u' = √(2/π) (1 + 3 · 0.044715 x²).
double activation_slope(Activation function, double x);

/// y[v] of a cross-entropy over n classes: 1 - smoothing + smoothing / n where v is the target, smoothing / n
/// elsewhere (Szegedy et al. 2016, section 7).
double smoothed_target(double smoothing, std::int64_t n_classes, std::int64_t v, std::int64_t target);

}  // namespace headscope::core
