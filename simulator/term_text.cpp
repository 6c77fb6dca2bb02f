#include "simulator/term_text.h"

#include <vector>

namespace headscope::simulator {

std::string joined_factors(const core::Term& term,
                           const std::function<std::string(const core::Factor&)>& write) {
  std::vector<std::string> factor;
  for (const core::Factor& each : term.factors) factor.push_back(write(each));
  switch (term.form) {
    case core::Form::product:
      break;
    case core::Form::quotient:
      return factor.at(0) + " ÷ " + factor.at(1);
    case core::Form::exponential:
      return "exp(" + factor.at(0) + " − " + factor.at(1) + ")";
    case core::Form::negative_log:
      return "−ln(" + factor.at(0) + ")" + (factor.size() > 1 ? " × " + factor[1] : "");
    case core::Form::sine:
      return "sin(" + factor.at(0) + " ÷ " + factor.at(1) + ")";
    case core::Form::cosine:
      return "cos(" + factor.at(0) + " ÷ " + factor.at(1) + ")";
    case core::Form::relu:
      return "relu(" + factor.at(0) + ")";
    case core::Form::gelu:
      return "gelu(" + factor.at(0) + ")";
    case core::Form::gelu_tanh:
      return "gelu_tanh(" + factor.at(0) + ")";
    case core::Form::relu_slope:
      return factor.at(0) + " × relu′(" + factor.at(1) + ")";
    case core::Form::gelu_slope:
      return factor.at(0) + " × gelu′(" + factor.at(1) + ")";
    case core::Form::gelu_tanh_slope:
      return factor.at(0) + " × gelu_tanh′(" + factor.at(1) + ")";
    case core::Form::mean_square:
      return "(" + factor.at(0) + ")² ÷ " + factor.at(1);
    case core::Form::error:
      return factor.at(0) + " × (" + factor.at(1) + " − " + factor.at(2) + ")";
    case core::Form::decay:
      return "−" + factor.at(0) + " × " + factor.at(1) + " × " + factor.at(2);
    case core::Form::adam_step:
      return "−" + factor.at(0) + " × (" + factor.at(1) + " ÷ " + factor.at(3) + ") ÷ (√(" + factor.at(2) +
             " ÷ " + factor.at(4) + ") + " + factor.at(5) + ")";
    case core::Form::random:
      return factor.at(0);
  }
  std::string product;
  for (const std::string& each : factor) product += (product.empty() ? "" : " × ") + each;
  return product;
}

}  // namespace headscope::simulator
