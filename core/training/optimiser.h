// How gradients change parameters: AdamW and SGD with momentum, the learning rate's schedule, clipping. The
// formulas are written once, for one number; the training step runs them over all, the explanation over one.
#pragma once

#include "core/result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace headscope::core {

enum class OptimiserKind : std::uint8_t { adamw, sgd };
enum class Schedule : std::uint8_t { constant, cosine, linear };

struct OptimiserConfig {
  OptimiserKind kind = OptimiserKind::adamw;
  double rate = 1e-3;       // the schedule's highest
  double beta1 = 0.9;       // AdamW
  double beta2 = 0.999;     // AdamW
  double epsilon = 1e-8;    // AdamW
  double momentum = 0;      // SGD
  double weight_decay = 0;  // decoupled (AdamW); SGD adds it to the gradient, as PyTorch does
  double clip_norm = 0;     // the largest global norm of the gradient; 0: no clipping
  Schedule schedule = Schedule::constant;
  std::int64_t warm_up = 0;      // steps over which the rate rises linearly to `rate`, whatever the schedule
  std::int64_t total_steps = 0;  // where cosine and linear schedules end
  double final_share = 0;        // of `rate`, at the end of a cosine or linear schedule
  double decay_from =
      0;  // share of total_steps at which a linear schedule begins to fall, not before the warm-up's end
  bool operator==(const OptimiserConfig&) const = default;
};

/// Errors: optimiser.range (key, value, lowest, highest): a number out of range or not finite;
/// optimiser.decay (rate, weight_decay): rate · weight_decay is above 1. At 1 a step takes all of a number
/// away; from 2 on it would grow at each step without any gradient, until it is no number.
Result<void> validate(const OptimiserConfig& config, const std::string& where);

/// The rate of a step, from 1. Warm-up: rate · step / warm_up while step < warm_up. Cosine (Loshchilov and
/// Hutter 2017, equation 5): final + (rate - final) · (1 + cos(π · progress)) / 2, progress rising from 0 at
/// warm_up to 1 at total_steps. Linear: final + (rate - final) · (1 - progress), progress rising from 0 at
/// decay_from · total_steps. final = final_share · rate, reached at the step
/// total_steps and kept after it: with final_share 0 the last step moves the moments and no parameter.
double rate_at(const OptimiserConfig& config, std::int64_t step);

/// What one update does to every number, apart from that number's own gradient and moments.
struct UpdateFactors {
  double rate = 0;            // rate_at(step)
  double gradient_scale = 1;  // min(1, clip_norm / norm)
  double correction1 = 1;     // 1 - β1^step (AdamW)
  double correction2 = 1;     // 1 - β2^step
};
UpdateFactors factors_at(const OptimiserConfig& config, std::int64_t step, double gradient_norm);

/// Numbers of one piece of a gradient: a norm's bits depend on it.
inline constexpr std::size_t kNormPiece = 16384;

/// Σ g² of a piece of at most kNormPiece numbers, lanes first; pieces are then added in order, in double.
template <class T>
double square_sum(std::span<const T> piece);

/// One number and its moments (SGD: the first is the momentum buffer, the second is unused).
template <class T>
struct Updated {
  T value, first, second;
};

/// AdamW (Loshchilov and Hutter 2019, algorithm 2):
///   m' = β1 m + (1 - β1) g,  v' = β2 v + (1 - β2) g²,
///   value' = value - rate · weight_decay · value - rate · (m' / correction1) / (√(v' / correction2) + ε)
/// SGD: m' = momentum · m + g + weight_decay · value, value' = value - rate · m'.
/// g = gradient_scale · gradient, the gradient being as the backward pass left it. For whole arrays see
/// core/training/update_number.h, the same arithmetic.
template <class T>
Updated<T> update_number(const OptimiserConfig& config, const UpdateFactors& factors, T value, T gradient,
                         T first, T second);

/// The same for runs of numbers of equal length, in place, vector by vector: a number's bits do not depend on
/// where it stands. `second` is empty for SGD.
template <class T>
void update_numbers(const OptimiserConfig& config, const UpdateFactors& factors, std::span<T> values,
                    std::span<const T> gradients, std::span<T> first, std::span<T> second);

}  // namespace headscope::core
