#include "core/formulas.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace headscope::core {

double position_wavelength(std::int64_t channel, std::int64_t d_model) {
  return std::pow(10000.0, static_cast<double>(channel - channel % 2) / static_cast<double>(d_model));
}

template <class T>
T negative_log_probability(const T* logits, std::int64_t count, std::int64_t stride, std::int64_t target) {
  std::int64_t largest = 0;
  for (std::int64_t v = 1; v < count; ++v)
    if (logits[v * stride] > logits[largest * stride]) largest = v;
  T others = 0;  // the largest itself is exp(0) = 1: apart, so that a small rest is not rounded away
  for (std::int64_t v = 0; v < count; ++v)
    if (v != largest) others += std::exp(logits[v * stride] - logits[largest * stride]);
  return std::log1p(others) + (logits[largest * stride] - logits[target * stride]);
}
template float negative_log_probability(const float*, std::int64_t, std::int64_t, std::int64_t);
template double negative_log_probability(const double*, std::int64_t, std::int64_t, std::int64_t);

template <class T>
T negative_log_probability(std::span<const T> logits, std::size_t target) {
  return negative_log_probability(logits.data(), static_cast<std::int64_t>(logits.size()), 1,
                                  static_cast<std::int64_t>(target));
}
template float negative_log_probability(std::span<const float>, std::size_t);
template double negative_log_probability(std::span<const double>, std::size_t);

double activation_value(Activation function, double x) {
  switch (function) {
    case Activation::relu:
      return x <= 0 ? x - x : x;  // NaN and infinities are not lost here
    case Activation::gelu:
      return x * (1 + std::erf(x / std::numbers::sqrt2)) / 2;
    case Activation::gelu_tanh:
      return x * (1 + std::tanh(kTanhScale * (x + kTanhCubic * x * x * x))) / 2;
  }
  return 0;
}

double activation_slope(Activation function, double x) {
  switch (function) {
    case Activation::relu:
      return x <= 0 ? 0 : x > 0 ? 1 : x;
    case Activation::gelu: {
      // forward: x · Φ(x); Φ' is the normal density
      const double density = std::exp(-x * x / 2) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
      return (1 + std::erf(x / std::numbers::sqrt2)) / 2 + x * density;
    }
    case Activation::gelu_tanh: {
      // forward: x/2 · (1 + tanh(u)), u = √(2/π) (x + 0.044715 x³)
      const double t = std::tanh(kTanhScale * (x + kTanhCubic * x * x * x));
      return (1 + t) / 2 + x / 2 * (1 - t * t) * kTanhScale * (1 + 3 * kTanhCubic * x * x);
    }
  }
  return 0;
}

double smoothed_target(double smoothing, std::int64_t n_classes, std::int64_t v, std::int64_t target) {
  const double share = smoothing / static_cast<double>(n_classes);
  return v == target ? 1 - smoothing + share : share;
}

}  // namespace headscope::core
