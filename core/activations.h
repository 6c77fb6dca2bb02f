// The activation functions and their slopes over vectors: in float with simd.h's approximations, in double as
// core/formulas.h has them.
#pragma once

#include "core/formulas.h"
#include "core/simd.h"

namespace headscope::core {

/// √(2/π) and the cubic's factor of gelu_tanh.
inline constexpr float kTanhScale = 0.7978845608F, kTanhCubic = 0.044715F;

/// (1 + tanh(u)) / 2 = 1 / (1 + exp(-2u)) for gelu_tanh's u = √(2/π) (x + 0.044715 x³).
inline Vector<float> tanh_share(const Vector<float>& x) {
  const Vector<float> twice = (2 * kTanhScale) * (x + kTanhCubic * x * x * x);
  // exp() is good to 88; there the share is below 1e-38
  return 1.0F / (1.0F + exponential<float>(-twice > 88.0F ? broadcast(88.0F) : -twice));
}

/// f(x) in every lane.
template <class T, Activation kFunction>
Vector<T> activated(const Vector<T>& x) {
  if constexpr (kFunction == Activation::relu)
    return x > T{0} ? x : Vector<T>{};
  else if constexpr (std::is_same_v<T, double>)
    return each_lane<T>(x, [](double number) { return activation_value(kFunction, number); });
  else if constexpr (kFunction == Activation::gelu)
    return x * normal_share<T>(x);
  else
    return x * tanh_share(x);
}

/// f'(x) in every lane.
template <class T, Activation kFunction>
Vector<T> activation_slopes(const Vector<T>& x) {
  if constexpr (kFunction == Activation::relu) {
    return x > T{0} ? broadcast(T{1}) : Vector<T>{};
  } else if constexpr (std::is_same_v<T, double>) {
    return each_lane<T>(x, [](double number) { return activation_slope(kFunction, number); });
  } else if constexpr (kFunction == Activation::gelu) {
    // forward: x · Φ(x); Φ' is the normal density exp(-x²/2) / √(2π)
    return normal_share<T>(x) + x * 0.3989422804F * exponential<T>(-0.5F * x * x);
  } else {
    // forward: x · s, s = (1 + tanh(u)) / 2; s' = 2 s (1 - s) u'
    const Vector<T> share = tanh_share(x);
    return share + x * 2.0F * share * (1.0F - share) * kTanhScale * (1.0F + 3 * kTanhCubic * x * x);
  }
}

}  // namespace headscope::core
