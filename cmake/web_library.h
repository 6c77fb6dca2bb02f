// What Emscripten 3.1.6's standard library (libc++ 13) lacks of C++20 and the sources use; included before
// every file of a build for the web, and of no other. A newer library has it all, and this file then does
// nothing.
#pragma once

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <compare>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <ranges>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#if defined(_LIBCPP_VERSION) && _LIBCPP_VERSION < 14000

namespace std {

template <class To, class From>
constexpr To bit_cast(const From& from) noexcept {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, from);
}

template <class T, std::size_t n>
constexpr auto operator<=>(const array<T, n>& left, const array<T, n>& right) {
  using Order = decltype(left[0] <=> right[0]);
  for (std::size_t index = 0; index < n; ++index)
    if (const Order order = left[index] <=> right[index]; order != 0) return order;
  return Order(strong_ordering::equal);
}

constexpr strong_ordering operator<=>(const string& left, const string& right) {
  return left.compare(right) <=> 0;
}

namespace ranges {

template <class Range, class Out>
constexpr void copy(Range&& range, Out out) {
  std::copy(std::begin(range), std::end(range), std::move(out));
}
template <class Range, class Out, class Function>
constexpr void transform(Range&& range, Out out, Function function) {
  std::transform(std::begin(range), std::end(range), std::move(out), std::move(function));
}
template <class Range, class Value>
constexpr void fill(Range&& range, const Value& value) {
  std::fill(std::begin(range), std::end(range), value);
}
template <class Range>
constexpr void sort(Range&& range) {
  std::sort(std::begin(range), std::end(range));
}
template <class Range, class Less>
constexpr void sort(Range&& range, Less less) {
  std::sort(std::begin(range), std::end(range), std::move(less));
}
/// By a member, in its own order: `{}` stands for the usual less.
template <class Range, class Class, class Member>
void stable_sort(Range&& range, less, Member Class::*member) {
  std::stable_sort(std::begin(range), std::end(range),
                   [member](const Class& left, const Class& right) { return left.*member < right.*member; });
}
template <class Range, class Iterator, class Less>
constexpr void partial_sort(Range&& range, Iterator middle, Less less) {
  std::partial_sort(std::begin(range), std::move(middle), std::end(range), std::move(less));
}
template <class Range, class Value>
constexpr void replace(Range&& range, const Value& before, const Value& after) {
  std::replace(std::begin(range), std::end(range), before, after);
}
template <class Range>
constexpr void reverse(Range&& range) {
  std::reverse(std::begin(range), std::end(range));
}
template <class Range, class Predicate>
constexpr bool none_of(Range&& range, Predicate predicate) {
  return std::none_of(std::begin(range), std::end(range), std::move(predicate));
}
template <class Range>
constexpr auto max_element(Range&& range) {
  return std::max_element(std::begin(range), std::end(range));
}
template <class Range, class Less>
constexpr auto max_element(Range&& range, Less less) {
  return std::max_element(std::begin(range), std::end(range), std::move(less));
}
template <class Range, class Iterator>
constexpr void nth_element(Range&& range, Iterator nth) {
  std::nth_element(std::begin(range), std::move(nth), std::end(range));
}
template <class Range, class Iterator>
constexpr void rotate(Range&& range, Iterator first) {
  std::rotate(std::begin(range), std::move(first), std::end(range));
}
template <class Left, class Right>
constexpr bool equal(Left&& left, Right&& right) {
  return std::equal(std::begin(left), std::end(left), std::begin(right), std::end(right));
}
template <class Range, class Value>
constexpr auto count(Range&& range, const Value& value) {
  return std::count(std::begin(range), std::end(range), value);
}
template <class Range, class Value>
constexpr auto find(Range&& range, const Value& value) {
  return std::find(std::begin(range), std::end(range), value);
}
template <class Range, class Value, class Class, class Member>
constexpr auto find(Range&& range, const Value& value, Member Class::*member) {
  return std::find_if(std::begin(range), std::end(range),
                      [&](const Class& element) { return element.*member == value; });
}
template <class Range, class Predicate>
constexpr auto count_if(Range&& range, Predicate predicate) {
  return std::count_if(std::begin(range), std::end(range), std::move(predicate));
}
template <class Range, class Predicate>
constexpr auto find_if(Range&& range, Predicate predicate) {
  return std::find_if(std::begin(range), std::end(range), std::move(predicate));
}
template <class Range, class Predicate>
constexpr bool all_of(Range&& range, Predicate predicate) {
  return std::all_of(std::begin(range), std::end(range), std::move(predicate));
}
template <class Range, class Predicate>
constexpr bool any_of(Range&& range, Predicate predicate) {
  return std::any_of(std::begin(range), std::end(range), std::move(predicate));
}

}  // namespace ranges

// Numbers with a fraction as text, by the C library, whose digits are exact and which knows one locale here.

inline to_chars_result put_text(char* first, char* last, const std::string& text) {
  if (last - first < static_cast<std::ptrdiff_t>(text.size())) return {last, errc::value_too_large};
  return {std::copy(text.begin(), text.end(), first), errc()};
}
inline std::string print_number(double value, const char* format, int precision) {
  std::string text(static_cast<std::size_t>(std::snprintf(nullptr, 0, format, precision, value)), ' ');
  std::snprintf(text.data(), text.size() + 1, format, precision, value);
  return text;
}
inline to_chars_result to_chars(char* first, char* last, double value, chars_format format, int precision) {
  const char* const style = format == chars_format::fixed        ? "%.*f"
                            : format == chars_format::scientific ? "%.*e"
                                                                 : "%.*g";
  return put_text(first, last, print_number(value, style, precision));
}
/// The fewest digits that are read as the same number.
inline to_chars_result to_chars(char* first, char* last, double value) {
  int precision = 1;
  while (precision < 17 && std::strtod(print_number(value, "%.*g", precision).c_str(), nullptr) != value)
    ++precision;
  return put_text(first, last, print_number(value, "%.*g", precision));
}

/// Decimal numbers alone: neither white space nor a plus sign before it, no "0x", "inf" or "nan".
inline from_chars_result from_chars(const char* first, const char* last, double& value) {
  const std::string text(first, std::find_if(first, last, [](char letter) {
                           return std::string_view("0123456789.eE+-").find(letter) == std::string_view::npos;
                         }));
  char* stop = nullptr;
  errno = 0;
  const double read = text.empty() || text[0] == '+' ? 0 : std::strtod(text.c_str(), &stop);
  if (stop == nullptr || stop == text.c_str()) return {first, errc::invalid_argument};
  const char* const end = first + (stop - text.c_str());
  if (errno == ERANGE) return {end, errc::result_out_of_range};
  value = read;
  return {end, errc()};
}

}  // namespace std

#endif
