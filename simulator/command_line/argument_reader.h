// How typed words become numbers and choices, with one clear error where they cannot.
#pragma once

#include "core/model.h"
#include "core/result.h"
#include "simulator/command_line/typed_arguments.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace headscope::simulator {

// Errors: arguments.value (option, given, allowed), arguments.needs (option, needed), arguments.not_with
// (first, second).
core::Error bad_value(std::string option, std::string given, std::string allowed);
core::Error needs(std::string option, std::string needed);
core::Error not_with(std::string first, std::string second);

/// A whole text as a number: nothing else before or after it.
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

template <class Number>
std::optional<Number> whole_number(std::string_view text, Number lowest, Number highest) {
  const std::optional<Number> number = parse_number<Number>(text);
  return number && *number >= lowest && *number <= highest ? number : std::nullopt;
}

/// Reads options one after the other and keeps the first that was wrong.
class Reader {
 public:
  /// A whole number from `lowest` to `highest` into `target`, where the option was given.
  template <class Number, class Target>
  void whole(const std::string& option, const OptionalText& typed, Number lowest, Number highest,
             Target& target) {
    if (!typed) return;
    const std::optional<Number> number = whole_number<Number>(*typed, lowest, highest);
    if (number)
      target = *number;
    else
      fail(bad_value(option, *typed, std::to_string(lowest) + " … " + std::to_string(highest)));
  }
  /// A finite number for which `is_allowed` holds; `allowed` says so to people.
  template <class Allowed, class Target>
  void real(const std::string& option, const OptionalText& typed, const std::string& allowed,
            const Allowed& is_allowed, Target& target) {
    if (!typed) return;
    const std::optional<double> number = parse_number<double>(*typed);
    if (number && std::isfinite(*number) && is_allowed(*number))
      target = *number;
    else
      fail(bad_value(option, *typed, allowed));
  }
  /// One of the spellings, in the order of the enumeration's values.
  template <class Value, std::size_t kCount>
  void word(const std::string& option, const OptionalText& typed,
            const std::array<std::string_view, kCount>& spellings, Value& target) {
    if (!typed) return;
    std::string allowed;
    for (std::size_t place = 0; place < kCount; ++place) {
      if (spellings[place] == *typed) {
        target = static_cast<Value>(place);
        return;
      }
      allowed.append(allowed.empty() ? "" : ", ").append(spellings[place]);
    }
    fail(bad_value(option, *typed, allowed));
  }
  template <class Value, std::size_t kCount>
  void word(const std::string& option, const OptionalText& typed,
            const std::array<std::string_view, kCount>& spellings, std::optional<Value>& target) {
    if (Value value{}; typed) {
      word(option, typed, spellings, value);
      target = value;
    }
  }

  void fail(core::Error error) {
    if (!error_) error_ = std::move(error);
  }
  const std::optional<core::Error>& error() const { return error_; }

 private:
  std::optional<core::Error> error_;
};

/// Neither it nor what is divided by it leaves single precision.
inline bool is_temperature(double number) {
  return number >= 1e-6 && number <= 1e6;
}

inline bool is_deviation(double number) {
  return number >= 0 && number <= core::kLargestDeviation;
}
inline std::string deviations() {
  return "0 … " + std::to_string(static_cast<int>(core::kLargestDeviation));
}
inline bool is_positive(double number) {
  return number > 0;
}
inline bool is_not_negative(double number) {
  return number >= 0;
}
inline bool is_fraction(double number) {
  return number >= 0 && number < 1;
}
inline bool is_share(double number) {
  return number >= 0 && number <= 1;
}

inline constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();
inline constexpr int kMostThreads = 256;

/// Mean heads and frozen activations too, where the command has them.
void read_interventions(Reader& reader, const Typed& typed, InterventionOptions& options);

}  // namespace headscope::simulator
