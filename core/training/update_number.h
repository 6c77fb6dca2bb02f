// The arithmetic of one update of one number, in its own precision: for loops over arrays (which compilers
// turn into wide instructions) and for the explanation of a single cell. No branches, no conversions.
#pragma once

#include "core/simd.h"
#include "core/training/optimiser.h"

namespace headscope::core {

/// All that an AdamW update needs, in the precision of the numbers; gathered once a step.
template <class T>
struct AdamwConstants {
  T gradient_scale;       // of clipping
  T beta1, rest1;         // β1, 1 - β1
  T beta2, rest2;         // β2, 1 - β2
  T keep;                 // 1 - rate · weight_decay
  T step;                 // rate / correction1
  T inverse_correction2;  // 1 / correction2
  T epsilon;

  AdamwConstants(const OptimiserConfig& config, const UpdateFactors& factors)
      : gradient_scale(static_cast<T>(factors.gradient_scale)),
        beta1(static_cast<T>(config.beta1)),
        rest1(static_cast<T>(1 - config.beta1)),
        beta2(static_cast<T>(config.beta2)),
        rest2(static_cast<T>(1 - config.beta2)),
        keep(static_cast<T>(1 - factors.rate * config.weight_decay)),
        step(static_cast<T>(factors.rate / factors.correction1)),
        inverse_correction2(static_cast<T>(1 / factors.correction2)),
        epsilon(static_cast<T>(config.epsilon)) {}
};

/// The same for SGD.
template <class T>
struct SgdConstants {
  T gradient_scale, momentum, weight_decay, rate;

  SgdConstants(const OptimiserConfig& config, const UpdateFactors& factors)
      : gradient_scale(static_cast<T>(factors.gradient_scale)),
        momentum(static_cast<T>(config.momentum)),
        weight_decay(static_cast<T>(config.weight_decay)),
        rate(static_cast<T>(factors.rate)) {}
};

/// One number's AdamW update, formula at update_number(); Number is T or a vector of them, each lane a number
/// of its own. `gradient` is as the backward pass left it.
template <class T, class Number = T>
inline Updated<Number> adamw_number(const AdamwConstants<T>& constants, const Number& value,
                                    const Number& gradient, const Number& first, const Number& second) {
  const Number g = gradient * constants.gradient_scale;
  const Number m = constants.beta1 * first + constants.rest1 * g;
  const Number v = constants.beta2 * second + constants.rest2 * g * g;
  const Number divisor = square_root(v * constants.inverse_correction2) + constants.epsilon;
  return {value * constants.keep - constants.step * m / divisor, m, v};
}

/// One number's SGD update, formula at update_number().
template <class T, class Number = T>
inline Updated<Number> sgd_number(const SgdConstants<T>& constants, const Number& value,
                                  const Number& gradient, const Number& first, const Number& second) {
  const Number g = gradient * constants.gradient_scale;
  const Number m = constants.momentum * first + (g + constants.weight_decay * value);
  return {value - constants.rate * m, m, second};
}

}  // namespace headscope::core
