// Digits come from std::to_chars, which rounds exactly and knows no locale; the rest is rearranging text.
#include "lessons/number_format.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace headscope::lessons {

namespace {

constexpr int kCheckDigits = 7;
constexpr int kLossDigits = 3;
constexpr int kMantissaDigits = 1;
constexpr double kFewerDigitsFrom = 100;

int digits_of(NumberKind kind, const NumberRules& rules) {
  switch (kind) {
    case NumberKind::value:
      return rules.value_digits;
    case NumberKind::gradient:
      return rules.gradient_digits;
    case NumberKind::probability:
      return rules.probability_digits;
    case NumberKind::loss:
      return kLossDigits;
    case NumberKind::check:
      return kCheckDigits;
    case NumberKind::integer:
      return 0;
  }
  return 0;
}

/// |x| in fixed notation; 1e308 with 7 digits fits.
std::string fixed(double magnitude, int digits) {
  std::array<char, 352> buffer = {};
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), magnitude,
                                          std::chars_format::fixed, digits);
  return error == std::errc() ? std::string(buffer.data(), end) : std::string();
}

double number(const std::string& digits) {
  double value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

bool is_zero(std::string_view digits) {
  return digits.find_first_not_of("0.") == std::string_view::npos;
}

void set_decimal_point(std::string& digits, const NumberRules& rules) {
  if (const std::size_t point = digits.find('.'); point != std::string::npos)
    digits.replace(point, 1, rules.decimal_point);
}

/// "3.1e−5": no plus and no leading zeros in the exponent.
std::string scientific(double magnitude, int digits, const NumberRules& rules) {
  std::array<char, 64> buffer = {};
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), magnitude,
                                          std::chars_format::scientific, digits);
  if (error != std::errc()) return {};
  const std::string text(buffer.data(), end);
  const std::size_t at = text.find('e');
  std::string mantissa = text.substr(0, at);
  set_decimal_point(mantissa, rules);
  std::string exponent = text.substr(at + 2);
  exponent.erase(0, std::min(exponent.find_first_not_of('0'), exponent.size() - 1));
  return mantissa + "e" + (text[at + 1] == '-' ? rules.minus : "") + exponent;
}

std::string with_sign(double x, std::string digits, const NumberRules& rules, Plus plus) {
  if (is_zero(digits)) return digits;
  if (std::signbit(x)) return rules.minus + digits;
  return plus == Plus::always ? "+" + digits : digits;
}

struct Digits {
  int fixed;
  int mantissa;
};

std::string format(double x, Digits digits, const NumberRules& rules, Plus plus) {
  if (std::isnan(x)) return "NaN";
  if (std::isinf(x)) return with_sign(x, "\u221E", rules, plus);
  if (x == 0) return "0";
  const double magnitude = std::fabs(x);
  // the limits hold for what would be displayed: 99.999 becomes 100.0, 99,999.96 not 100000.0
  std::string text = fixed(magnitude, digits.fixed);
  if (digits.fixed > 0 && number(text) >= kFewerDigitsFrom) text = fixed(magnitude, digits.fixed - 1);
  const double displayed = number(text);
  if (magnitude < rules.scientific_below || displayed >= rules.scientific_above + 1)
    return with_sign(x, scientific(magnitude, digits.mantissa, rules), rules, plus);
  set_decimal_point(text, rules);
  return with_sign(x, text, rules, plus);
}

}  // namespace

std::string format_number(double x, NumberKind kind, const NumberRules& rules, Plus plus) {
  if (kind == NumberKind::integer) {
    if (!std::isfinite(x)) return format(x, {0, 0}, rules, plus);
    return with_sign(x, fixed(std::fabs(x), 0), rules, plus);
  }
  return format(x, {digits_of(kind, rules), kind == NumberKind::check ? kCheckDigits - 1 : kMantissaDigits},
                rules, plus);
}

std::string format_digits(double x, int digits, const NumberRules& rules, Plus plus) {
  if (!std::isfinite(x)) return format(x, {0, 0}, rules, plus);
  std::string text = fixed(std::fabs(x), digits);
  set_decimal_point(text, rules);
  return with_sign(x, text, rules, plus);
}

std::vector<std::string> number_ladder(double x, NumberKind kind, const NumberRules& rules) {
  std::vector<std::string> forms = {format_number(x, kind, rules)};
  if (!std::isfinite(x) || x == 0 || kind == NumberKind::integer) return forms;
  if (kind == NumberKind::probability) {
    // of a share too small for its digits ".00" remains; exactly 0 is "0"
    std::string digits_only = fixed(std::fabs(x), rules.probability_digits);
    if (digits_only.starts_with("0.")) {
      digits_only.erase(0, 1);
      set_decimal_point(digits_only, rules);
      forms.push_back(with_sign(x, digits_only, rules, Plus::never));
      return forms;
    }
  }
  // from 100 on the first form lost a digit already; a value then loses its last one
  const int digits = digits_of(kind, rules) - 1;
  std::string shorter = format(x, {digits, kMantissaDigits - 1}, rules, Plus::never);
  if (shorter != forms[0]) forms.push_back(std::move(shorter));
  return forms;
}

std::optional<double> parse_number(std::string_view text) {
  constexpr std::string_view minus = "\u2212";
  std::string plain;
  for (std::size_t at = 0; at < text.size();) {
    if (text.substr(at, minus.size()) == minus) {
      plain += '-';
      at += minus.size();
    } else {
      plain += text[at] == ',' ? '.' : text[at];
      ++at;
    }
  }
  const std::size_t begin = plain.find_first_not_of(" \t");
  if (begin == std::string::npos) return std::nullopt;
  plain = plain.substr(begin, plain.find_last_not_of(" \t") + 1 - begin);
  if (plain.front() == '+') plain.erase(0, 1);
  if (plain == "∞") return std::numeric_limits<double>::infinity();
  if (plain == "-∞") return -std::numeric_limits<double>::infinity();
  double value = 0;
  const auto [end, error] = std::from_chars(plain.data(), plain.data() + plain.size(), value);
  if (error != std::errc() || end != plain.data() + plain.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

}  // namespace headscope::lessons
