// The terms behind an update: a parameter's new number and its moments, from the numbers before and the
// gradient. Formulas as at update_number().
#include "core/explain_parts.h"

#include <string>
#include <utility>
#include <vector>

namespace headscope::core {
namespace {

template <class T>
struct UpdateExplainer {
  const Trace<T>& trace;
  Explanation& explanation;

  const OptimiserConfig& config() const { return trace.update()->config; }
  const UpdateFactors& factors() const { return trace.update()->factors; }
  Factor number(Quantity quantity) const {
    return cell_factor(trace, explanation.tensor, explanation.cell, quantity);
  }
  Factor rate() const { return constant(factors().rate, "η"); }

  /// `before`, then the gradient `times` times, each with the scale of clipping where that changed it.
  void add_gradient(std::vector<Factor> before, int times = 1) const {
    for (int time = 0; time < times; ++time) {
      if (factors().gradient_scale != 1) before.push_back(constant(factors().gradient_scale, "clip"));
      before.push_back(number(Quantity::gradient));
    }
    add_term(explanation, Form::product, std::move(before));
  }

  // m' = β1 m + (1 - β1) g
  void adamw_first() const {
    add_term(explanation, Form::product, {constant(config().beta1, "β_1"), number(Quantity::previous_first)});
    add_gradient({constant(1 - config().beta1, "(1 - β_1)")});
  }

  // v' = β2 v + (1 - β2) g²
  void adamw_second() const {
    add_term(explanation, Form::product,
             {constant(config().beta2, "β_2"), number(Quantity::previous_second)});
    add_gradient({constant(1 - config().beta2, "(1 - β_2)")}, 2);
  }

  // value' = value - rate · weight_decay · value - rate · (m' / correction1) / (√(v' / correction2) + ε)
  void adamw_value() const {
    add_term(explanation, Form::product, {number(Quantity::previous_value)});
    if (config().weight_decay != 0)
      add_term(explanation, Form::decay,
               {rate(), constant(config().weight_decay, "λ"), number(Quantity::previous_value)});
    const std::string t = std::to_string(trace.update()->step);
    add_term(explanation, Form::adam_step,
             {rate(), number(Quantity::first_moment), number(Quantity::second_moment),
              constant(factors().correction1, "(1 - β_1^{" + t + "})"),
              constant(factors().correction2, "(1 - β_2^{" + t + "})"), constant(config().epsilon, "ε")});
  }

  // m' = momentum · m + g + weight_decay · value
  void sgd_first() const {
    add_term(explanation, Form::product,
             {constant(config().momentum, "μ"), number(Quantity::previous_first)});
    add_gradient({});
    if (config().weight_decay != 0)
      add_term(explanation, Form::product,
               {constant(config().weight_decay, "λ"), number(Quantity::previous_value)});
  }

  // value' = value - rate · m'
  void sgd_value() const {
    add_term(explanation, Form::product, {number(Quantity::previous_value)});
    add_term(explanation, Form::product, {rate(), negated(number(Quantity::first_moment))});
  }
};

}  // namespace

template <class T>
void explain_update(const Trace<T>& trace, Explanation& explanation) {
  const UpdateExplainer<T> explainer{trace, explanation};
  const bool is_adamw = trace.update()->config.kind == OptimiserKind::adamw;
  explanation.combine = Combine::sum;
  switch (explanation.quantity) {
    case Quantity::first_moment:
      explanation.key = is_adamw ? "adamw.first_moment" : "sgd.first_moment";
      return is_adamw ? explainer.adamw_first() : explainer.sgd_first();
    case Quantity::second_moment:
      explanation.key = is_adamw ? "adamw.second_moment" : "sgd.second_moment";
      if (is_adamw) return explainer.adamw_second();
      break;  // SGD keeps no second moment
    case Quantity::value:
      explanation.key = is_adamw ? "adamw.value" : "sgd.value";
      return is_adamw ? explainer.adamw_value() : explainer.sgd_value();
    case Quantity::gradient:
    case Quantity::previous_value:
    case Quantity::previous_first:
    case Quantity::previous_second:
      break;
  }
  explanation.combine = Combine::given;
}
template void explain_update(const Trace<float>&, Explanation&);
template void explain_update(const Trace<double>&, Explanation&);

}  // namespace headscope::core
