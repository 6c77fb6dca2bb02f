// How the terms of an explanation make its cell again, and the scale of the rounding between the two.
#include "core/explain.h"
#include "core/formulas.h"

#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

namespace headscope::core {
namespace {

/// What rounding in a term is in proportion to: the term itself, and what cancels within it.
double scale_of(const Term& term) {
  const std::vector<Factor>& factors = term.factors;
  const auto size = [&](std::size_t place) { return std::abs(factors[place].value); };
  switch (term.form) {
    case Form::product: {  // 1 - w counts as 1 + |w|
      double scale = 1;
      for (const Factor& factor : factors)
        scale *=
            factor.take == Factor::Take::complement ? 1 + std::abs(1 - factor.value) : std::abs(factor.value);
      return scale;
    }
    case Form::negative_log:  // ln rounds its argument, which is near 1 where the term is near 0
      return std::abs(term.value) + (factors.size() > 1 ? size(1) : 1);
    case Form::gelu:  // x · Φ(x): Φ = (1 + erf) / 2 cancels where x is far below 0
    case Form::gelu_tanh:
      return size(0);
    case Form::gelu_slope:  // Φ(x) + x · density
    case Form::gelu_tanh_slope:
      return size(0) * (1 + size(1));
    case Form::error:
      return size(0) * (size(1) + size(2));
    case Form::quotient:
    case Form::exponential:
    case Form::sine:
    case Form::cosine:
    case Form::relu:
    case Form::relu_slope:
    case Form::mean_square:
    case Form::decay:
    case Form::adam_step:
    case Form::random:
      break;
  }
  return std::abs(term.value);
}

}  // namespace

double value_of(Form form, std::span<const Factor> factors) {
  const auto x = [&](std::size_t place) { return factors[place].value; };
  switch (form) {
    case Form::product:
      return std::accumulate(factors.begin(), factors.end(), 1.0,
                             [](double product, const Factor& factor) { return product * factor.value; });
    case Form::quotient:
      return x(0) / x(1);
    case Form::exponential:
      return std::exp(x(0) - x(1));
    case Form::negative_log:
      return -std::log(x(0)) * (factors.size() > 1 ? x(1) : 1);
    case Form::sine:
      return std::sin(x(0) / x(1));
    case Form::cosine:
      return std::cos(x(0) / x(1));
    case Form::relu:
      return activation_value(Activation::relu, x(0));
    case Form::gelu:
      return activation_value(Activation::gelu, x(0));
    case Form::gelu_tanh:
      return activation_value(Activation::gelu_tanh, x(0));
    case Form::relu_slope:
      return x(0) * activation_slope(Activation::relu, x(1));
    case Form::gelu_slope:
      return x(0) * activation_slope(Activation::gelu, x(1));
    case Form::gelu_tanh_slope:
      return x(0) * activation_slope(Activation::gelu_tanh, x(1));
    case Form::mean_square:
      return x(0) * x(0) / x(1);
    case Form::error:
      return x(0) * (x(1) - x(2));
    case Form::decay:
      return -x(0) * x(1) * x(2);
    case Form::adam_step:
      return -x(0) * (x(1) / x(3)) / (std::sqrt(x(2) / x(4)) + x(5));
    case Form::random:
      return x(0);
  }
  return 0;
}

double Explanation::combined() const {
  const double sum = std::accumulate(terms.begin(), terms.end(), 0.0,
                                     [](double partial, const Term& term) { return partial + term.value; });
  switch (combine) {
    case Combine::given:
    case Combine::by_hand:
      return value;
    case Combine::masked:
      return std::isinf(value) ? -std::numeric_limits<double>::infinity() : 0.0;
    case Combine::sum:
      return sum;
    case Combine::share:
      return terms[chosen].value / sum;
    case Combine::inverse_root:
      return 1 / std::sqrt(sum);
  }
  return value;
}

double Explanation::magnitude() const {
  if (combine == Combine::inverse_root) return std::abs(combined());
  // exp() turns the rounding of its argument, in proportion to that, into a relative error of the share
  if (combine == Combine::share) {
    const std::vector<Factor>& factors = terms[chosen].factors;
    return std::abs(combined()) * (1 + std::abs(factors[0].value - factors[1].value));
  }
  return std::accumulate(terms.begin(), terms.end(), 0.0,
                         [](double sum, const Term& term) { return sum + scale_of(term); });
}

}  // namespace headscope::core
