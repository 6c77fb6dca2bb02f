// A value, or the one error that kept it from being made. Errors carry a key and values, never a sentence:
// assets/text/LANGUAGE.toml holds the words, so that the same failure can be told in any language.
#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace headscope::core {

/// One expected failure: a file, a lesson, an argument. `key` names an entry `[error.KEY]` of the text file
/// (`what` and `hint` with `{placeholders}`), `where` is the path, line or argument at fault, and `values`
/// fill the placeholders.
struct Error {
  std::string key;
  std::string where;
  std::vector<std::pair<std::string, std::string>> values = {};

  bool operator==(const Error&) const = default;
};

/// Either a T or an Error. Reading the wrong one is a programmer's error.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  T& value() & { return assert(has_value()), *std::get_if<0>(&state_); }
  const T& value() const& { return assert(has_value()), *std::get_if<0>(&state_); }
  T&& value() && { return assert(has_value()), std::move(*std::get_if<0>(&state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const { return assert(!has_value()), *std::get_if<1>(&state_); }

 private:
  std::variant<T, Error> state_;
};

/// Success without a value.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  bool has_value() const { return !error_.has_value(); }
  explicit operator bool() const { return has_value(); }
  const Error& error() const { return assert(error_.has_value()), *error_; }

 private:
  std::optional<Error> error_;
};

}  // namespace headscope::core
