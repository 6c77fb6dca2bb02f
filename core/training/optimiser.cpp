#include "core/training/optimiser.h"

#include "core/training/update_number.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <string_view>

namespace headscope::core {
namespace {

constexpr double kBelowOne = 0.999999;  // a moment that never forgets has no bias correction
constexpr double kMaxRate = 1e3;
constexpr double kMaxNorm = 1e9;
constexpr double kMaxSteps = 1e12;
/// Above 0, so that a number without any gradient is divided by something; well above a float's smallest.
constexpr double kMinEpsilon = 1e-30;

struct Range {
  std::string_view key;
  double value, lowest, highest;
};

std::string number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%g", value);
  return text.data();
}

/// 0 at `begin` and before, 1 at `end` and after.
double progress(double step, double begin, double end) {
  return step >= end ? 1 : std::max(0.0, (step - begin) / (end - begin));
}

/// Each vector of numbers through number(value, gradient, first, second).
template <class T, class UpdateNumber>
void update_each(std::span<T> values, std::span<const T> gradients, std::span<T> first, std::span<T> second,
                 const UpdateNumber& number) {
  for_vectors<T>(static_cast<std::int64_t>(values.size()), [&](std::int64_t at, std::int64_t count) {
    const auto updated =
        number(load_some<T>(values.data() + at, count), load_some<T>(gradients.data() + at, count),
               load_some<T>(first.data() + at, count),
               second.empty() ? Vector<T>{} : load_some<T>(second.data() + at, count));
    store_some<T>(values.data() + at, updated.value, count);
    store_some<T>(first.data() + at, updated.first, count);
    if (!second.empty()) store_some<T>(second.data() + at, updated.second, count);
  });
}

}  // namespace

Result<void> validate(const OptimiserConfig& config, const std::string& where) {
  const double first_total = config.schedule == Schedule::constant ? 0 : 1;
  const std::array ranges = {
      Range{"rate", config.rate, 0, kMaxRate},
      Range{"beta1", config.beta1, 0, kBelowOne},
      Range{"beta2", config.beta2, 0, kBelowOne},
      Range{"epsilon", config.epsilon, kMinEpsilon, 1},
      Range{"momentum", config.momentum, 0, kBelowOne},
      Range{"weight_decay", config.weight_decay, 0, kMaxRate},
      Range{"clip_norm", config.clip_norm, 0, kMaxNorm},
      Range{"warm_up", static_cast<double>(config.warm_up), 0, kMaxSteps},
      Range{"total_steps", static_cast<double>(config.total_steps), first_total, kMaxSteps},
      Range{"final_share", config.final_share, 0, 1},
      Range{"decay_from", config.decay_from, 0, 1},
  };
  for (const Range& range : ranges)
    if (!(range.value >= range.lowest && range.value <= range.highest))  // so that NaN is refused, too
      return Error{"optimiser.range",
                   where,
                   {{"key", std::string(range.key)},
                    {"value", number(range.value)},
                    {"lowest", number(range.lowest)},
                    {"highest", number(range.highest)}}};
  if (config.rate * config.weight_decay > 1)
    return Error{"optimiser.decay",
                 where,
                 {{"rate", number(config.rate)}, {"weight_decay", number(config.weight_decay)}}};
  return {};
}

double rate_at(const OptimiserConfig& config, std::int64_t step) {
  const auto now = static_cast<double>(step), warm_up = static_cast<double>(config.warm_up);
  const auto end = static_cast<double>(config.total_steps);
  if (step < config.warm_up) return config.rate * now / warm_up;
  const double last = config.final_share * config.rate;
  switch (config.schedule) {
    case Schedule::constant:
      return config.rate;
    case Schedule::cosine:
      return last + (config.rate - last) * (1 + std::cos(std::numbers::pi * progress(now, warm_up, end))) / 2;
    case Schedule::linear:
      return last +
             (config.rate - last) * (1 - progress(now, std::max(config.decay_from * end, warm_up), end));
  }
  return config.rate;
}

UpdateFactors factors_at(const OptimiserConfig& config, std::int64_t step, double gradient_norm) {
  UpdateFactors factors;
  factors.rate = rate_at(config, step);
  if (config.clip_norm > 0 && gradient_norm > config.clip_norm)
    factors.gradient_scale = config.clip_norm / gradient_norm;
  if (config.kind == OptimiserKind::adamw) {
    factors.correction1 = 1 - std::pow(config.beta1, static_cast<double>(step));
    factors.correction2 = 1 - std::pow(config.beta2, static_cast<double>(step));
  }
  return factors;
}

template <class T>
Updated<T> update_number(const OptimiserConfig& config, const UpdateFactors& factors, T value, T gradient,
                         T first, T second) {
  switch (config.kind) {
    case OptimiserKind::adamw:
      return adamw_number(AdamwConstants<T>(config, factors), value, gradient, first, second);
    case OptimiserKind::sgd:
      return sgd_number(SgdConstants<T>(config, factors), value, gradient, first, second);
  }
  return {value, first, second};
}
template Updated<float> update_number(const OptimiserConfig&, const UpdateFactors&, float, float, float,
                                      float);
template Updated<double> update_number(const OptimiserConfig&, const UpdateFactors&, double, double, double,
                                       double);

template <class T>
void update_numbers(const OptimiserConfig& config, const UpdateFactors& factors, std::span<T> values,
                    std::span<const T> gradients, std::span<T> first, std::span<T> second) {
  using Numbers = Vector<T>;
  if (config.kind == OptimiserKind::adamw) {
    const AdamwConstants<T> constants(config, factors);
    update_each<T>(values, gradients, first, second,
                   [&](const Numbers& value, const Numbers& gradient, const Numbers& m, const Numbers& v) {
                     return adamw_number(constants, value, gradient, m, v);
                   });
  } else {
    const SgdConstants<T> constants(config, factors);
    update_each<T>(values, gradients, first, second,
                   [&](const Numbers& value, const Numbers& gradient, const Numbers& m, const Numbers& v) {
                     return sgd_number(constants, value, gradient, m, v);
                   });
  }
}
template void update_numbers(const OptimiserConfig&, const UpdateFactors&, std::span<float>,
                             std::span<const float>, std::span<float>, std::span<float>);
template void update_numbers(const OptimiserConfig&, const UpdateFactors&, std::span<double>,
                             std::span<const double>, std::span<double>, std::span<double>);

template <class T>
double square_sum(std::span<const T> piece) {
  return static_cast<double>(
      sum_numbers<T>(static_cast<std::int64_t>(piece.size()), [&](std::int64_t at, std::int64_t count) {
        const Vector<T> gradient = load_some<T>(piece.data() + at, count);
        return gradient * gradient;
      }));
}
template double square_sum(std::span<const float>);
template double square_sum(std::span<const double>);

}  // namespace headscope::core
