// Numbers to text and back, one rule for the whole program.
#include "lessons/number_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

namespace headscope::lessons {
namespace {

constexpr std::string_view kMinus = "−";

std::string printed(double value, std::chars_format format, int digits) {
  std::array<char, 400> buffer{};  // the largest double has 309 digits before the point
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, format, digits).ptr;
  return {buffer.data(), end};
}

/// "3.1e-05" becomes "3.1e−5".
std::string scientific(double magnitude) {
  const std::string text = printed(magnitude, std::chars_format::scientific, 1);
  const std::size_t e = text.find('e');
  const int exponent = std::stoi(text.substr(e + 1));
  return text.substr(0, e + 1) + (exponent < 0 ? std::string(kMinus) : "") +
         std::to_string(std::abs(exponent));
}

}  // namespace

std::string number_text(double value, int digits) {
  if (std::isnan(value)) return "NaN";
  const std::string sign = value < 0 ? std::string(kMinus) : "";
  const double magnitude = std::abs(value);
  if (std::isinf(value)) return sign + "∞";
  if (magnitude == 0) return "0";
  if (magnitude < 0.0005 || magnitude >= 100000) return sign + scientific(magnitude);
  const int places = std::max(0, magnitude >= 100 ? digits - 1 : digits);
  const std::string text = printed(magnitude, std::chars_format::fixed, places);
  // 0.001 with two digits: a zero has no sign
  const bool shows_zero = text.find_first_not_of("0.") == std::string::npos;
  return shows_zero ? text : sign + text;
}

std::optional<double> parse_number(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size();) {
    if (text.substr(at, kMinus.size()) == kMinus) {
      plain += '-';
      at += kMinus.size();
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
  if (error != std::errc() || end != plain.data() + plain.size()) return std::nullopt;
  return value;
}

}  // namespace headscope::lessons
