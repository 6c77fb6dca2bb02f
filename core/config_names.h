// How config.json spells the values of a model's configuration. One list for reading, writing and error
// values.
#pragma once

#include "core/model.h"

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace headscope::core {

/// The spellings of an enumeration, in the order of its values.
template <class E>
constexpr std::span<const std::string_view> spellings();

namespace detail {
inline constexpr std::array<std::string_view, 3> kArchitectures = {"encoder", "decoder", "encoder-decoder"};
inline constexpr std::array<std::string_view, 5> kObjectives = {"language_model", "classification", "span",
                                                                "token_classification", "none"};
inline constexpr std::array<std::string_view, 4> kPositions = {"learned", "sinusoidal", "none", "relative"};
inline constexpr std::array<std::string_view, 3> kNorms = {"pre", "post", "none"};
inline constexpr std::array<std::string_view, 3> kActivations = {"relu", "gelu", "gelu_tanh"};
inline constexpr std::array<std::string_view, 2> kPoolings = {"mean", "first"};
inline constexpr std::array<std::string_view, 2> kSpanReaders = {"token", "pointer"};
}  // namespace detail

template <>
constexpr std::span<const std::string_view> spellings<Architecture>() {
  return detail::kArchitectures;
}
template <>
constexpr std::span<const std::string_view> spellings<Objective>() {
  return detail::kObjectives;
}
template <>
constexpr std::span<const std::string_view> spellings<Positions>() {
  return detail::kPositions;
}
template <>
constexpr std::span<const std::string_view> spellings<Norm>() {
  return detail::kNorms;
}
template <>
constexpr std::span<const std::string_view> spellings<Activation>() {
  return detail::kActivations;
}
template <>
constexpr std::span<const std::string_view> spellings<Pooling>() {
  return detail::kPoolings;
}
template <>
constexpr std::span<const std::string_view> spellings<SpanReader>() {
  return detail::kSpanReaders;
}

/// "encoder-decoder" of Architecture::encoder_decoder.
template <class E>
constexpr std::string_view spelling(E value) {
  return spellings<E>()[static_cast<std::size_t>(value)];
}

/// The value that is spelled so, or none.
template <class E>
constexpr std::optional<E> parse_spelling(std::string_view text) {
  for (std::size_t index = 0; index < spellings<E>().size(); ++index)
    if (spellings<E>()[index] == text) return static_cast<E>(index);
  return std::nullopt;
}

/// "a, b, c", for an error's list of what is allowed.
inline std::string join(std::span<const std::string_view> names) {
  std::string text;
  for (const std::string_view name : names) text.append(text.empty() ? "" : ", ").append(name);
  return text;
}

}  // namespace headscope::core
