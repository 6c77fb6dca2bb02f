// A gradient held against differences of the loss, in words.
#include "simulator/narration.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace headscope::simulator {
namespace {

/// What a difference of the fourth order in double may be off by, in proportion to the gradient: the tests of
/// the core demand 1e-6 of every gradient, the rounding of the losses aside.
constexpr double kAgreement = 1e-5;
/// Double precision tells no finer differences.
constexpr int kMostPower = 15;

/// "9 parts in 100 million": `share` as one digit and a power of ten.
std::string parts(double share, const lessons::TextCatalog& text) {
  // rounded up, so that "9 parts" never is more than it says; 0.95 of a power becomes one of the next
  int power = static_cast<int>(std::floor(-std::log10(share))) + 1;
  auto count = static_cast<int>(std::ceil(share * std::pow(10.0, power) * (1 - 1e-12)));
  if (count >= 10) count = 1, --power;
  if (power > kMostPower) return text.text("explain_check.every_digit");
  static constexpr std::array<const char*, 6> kUnits = {"one",     "thousand", "million",
                                                        "billion", "trillion", "quadrillion"};
  const char* const before = power % 3 == 0 ? "1" : power % 3 == 1 ? "10" : "100";
  const std::string scale = text.text(
      std::string("explain_check.unit.") + kUnits[static_cast<std::size_t>(power / 3)], {{"n", before}});
  return text.text(count == 1 ? "explain_check.one_part" : "explain_check.parts",
                   {{"n", std::to_string(count)}, {"scale", scale}});
}

std::string short_number(double value, const lessons::NumberRules& rules) {
  return lessons::format_number(value, lessons::NumberKind::gradient, rules);
}

}  // namespace

NarratedCheck narrate_check(const core::GradientCheck& check, const lessons::TextCatalog& text,
                            const lessons::NumberRules& rules) {
  NarratedCheck narrated;
  const auto digits = [&](double value) {
    return lessons::format_number(value, lessons::NumberKind::check, rules);
  };
  narrated.lines = {{text.text("explain_check.numeric", {{"step", short_number(check.step, rules)}}),
                     digits(check.numeric)},
                    {text.text("explain_check.analytic"), digits(check.analytic)}};
  if (check.crosses_kink) narrated.kink = text.text("explain_check.kink");
  const double off = std::abs(check.numeric - check.analytic);
  const double size = std::max(std::abs(check.numeric), std::abs(check.analytic));
  narrated.agrees = off <= kAgreement * size + check.rounding;
  if (check.numeric == check.analytic)
    narrated.verdict = text.text("explain_check.equal");
  else if (narrated.agrees && off <= kAgreement * size)
    narrated.verdict = parts(off / size, text);
  else if (narrated.agrees)
    narrated.verdict =
        text.text("explain_check.within_rounding", {{"rounding", short_number(check.rounding, rules)}});
  else
    narrated.verdict = text.text("explain_check.differ", {{"difference", short_number(off, rules)}});
  return narrated;
}

}  // namespace headscope::simulator
