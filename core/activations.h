// The activation functions and their slopes over vectors: in float with simd.h's approximations, in double as
// core/formulas.h has them.
#pragma once

#include "core/formulas.h"
#include "core/simd.h"

namespace headscope::core {

/// gelu_tanh's constants in float.
inline constexpr auto kTanhScaleFloat = static_cast<float>(kTanhScale);
inline constexpr auto kTanhCubicFloat = static_cast<float>(kTanhCubic);

/// (1 + tanh(u)) / 2 = 1 / (1 + exp(-2u)) for gelu_tanh's u = √(2/π) (x + 0.044715 x³).
inline Vector<float> tanh_share(const Vector<float>& x) {
  const Vector<float> twice = (2 * kTanhScaleFloat) * (x + kTanhCubicFloat * x * x * x);
  // exp() is good to 88; there the share is below 1e-38
  return 1.0F / (1.0F + exponential<float>(-twice > 88.0F ? broadcast(88.0F) : -twice));
}

/// f(x) in every lane.
template <class T, Activation kFunction>
Vector<T> activated(const Vector<T>& x) {
  if constexpr (kFunction == Activation::relu)
    // x - x: 0, or NaN of an infinity, so that no overflow is lost here
    return x <= T{0} ? x - x : x;  // NOLINT(misc-redundant-expression)
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
    const Vector<T> one = broadcast(T{1});
    return x <= T{0} ? Vector<T>{} : x > T{0} ? one : x;  // NaN stays NaN
  } else if constexpr (std::is_same_v<T, double>) {
    return each_lane<T>(x, [](double number) { return activation_slope(kFunction, number); });
  } else if constexpr (kFunction == Activation::gelu) {
    // forward: x · Φ(x); Φ' is the normal density exp(-x²/2) / √(2π)
    return normal_share<T>(x) + x * 0.3989422804F * exponential<T>(-0.5F * x * x);
  } else {
    // forward: x · s, s = (1 + tanh(u)) / 2; s' = 2 s (1 - s) u'
    const Vector<T> share = tanh_share(x);
    return share + x * 2.0F * share * (1.0F - share) * kTanhScaleFloat * (1.0F + 3 * kTanhCubicFloat * x * x);
  }
}

}  // namespace headscope::core
