// How numbers are written for people ("Numbers" in the look's rules). Plain text work: no ImGui, no locale;
// the terminal writes its numbers with this too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::lessons {

/// What a number is decides its digits after the point: value 2, gradient 3, probability 2, loss 3, check 7,
/// integer none.
enum class NumberKind : std::uint8_t { value, gradient, probability, loss, check, integer };

/// A plus is written for differences and costs only.
enum class Plus : std::uint8_t { never, always };

/// `[number_format]` of the theme; the defaults are the shipped theme's.
struct NumberRules {
  std::string decimal_point = ".";
  std::string minus = "\u2212";  // U+2212, the true minus
  int value_digits = 2;
  int gradient_digits = 3;
  int probability_digits = 2;
  double scientific_below = 0.0005;  // |x| under this is written 3.1e−5
  double scientific_above = 99999;   // and from this + 1 on; integers never, they stay exact

  bool operator==(const NumberRules&) const = default;
};

/// The number as displayed: true minus, exactly 0 is "0", what rounds to zero loses its sign ("0.00"), one
/// digit less from |x| >= 100 (as rounded), "3.1e−5", "∞", "−∞", "NaN". A check keeps 7 digits in scientific
/// form too, since one digit could not tell two close numbers apart.
std::string format_number(double x, NumberKind kind, const NumberRules& rules = {}, Plus plus = Plus::never);

/// With exactly that many digits after the point (percentages, axis ticks); the other rules hold.
std::string format_digits(double x, int digits, const NumberRules& rules = {}, Plus plus = Plus::never);

/// What a person typed: either minus sign, a decimal comma, a plus, ∞, surrounding blanks. Nothing for
/// anything else.
std::optional<double> parse_number(std::string_view text);

/// The forms of a number for ever less room, longest first: all digits; one digit less; for a probability
/// under 1 (or a difference of two) ".96" in place of "one digit less" (both are equally wide, and "1.0" for
/// 0.96 would be wrong by more), ".00" where it is written as a power of ten otherwise.
/// Nothing fits: draw no number.
std::vector<std::string> number_ladder(double x, NumberKind kind, const NumberRules& rules = {});

}  // namespace headscope::lessons
