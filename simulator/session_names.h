// How a session file spells the states of a window and of a setup. One list for reading, writing and errors.
#pragma once

#include "core/config_names.h"
#include "core/setup.h"
#include "lessons/runner.h"
#include "simulator/app_state.h"

#include <array>
#include <span>
#include <string_view>

namespace headscope::simulator::names {
inline constexpr std::string_view kFormat = "headscope-session";
inline constexpr std::int64_t kVersion = 1;
inline constexpr std::string_view kTrained = "trained.";  // before the names of a trained state's tensors
inline constexpr std::array<std::string_view, 3> kMoments = {"", "first_moments.", "second_moments."};

inline constexpr std::array<std::string_view, 6> kLevels = {"model", "block", "part",
                                                            "heads", "head",  "matrix"};
inline constexpr std::array<std::string_view, 3> kPlayBy = {"operation", "layer", "training_step"};
inline constexpr std::array<std::string_view, 2> kAppearances = {"light", "dark"};
inline constexpr std::array<std::string_view, 2> kLayouts = {"study", "presentation"};
inline constexpr std::array<std::string_view, 2> kLeftPanels = {"lesson", "what_if"};
inline constexpr std::array<std::string_view, 3> kOrigins = {"none", "given", "assumed"};
inline constexpr std::array<std::string_view, 3> kHeadModes = {"off", "mean", "uniform"};
inline constexpr std::array<std::string_view, 7> kQuantities = {
    "value",          "gradient",       "first_moment",   "second_moment",
    "previous_value", "previous_first", "previous_second"};
inline constexpr std::array<std::string_view, 4> kAnswers = {"unanswered", "right", "wrong", "revealed"};
}  // namespace headscope::simulator::names

namespace headscope::core {
template <>
constexpr std::span<const std::string_view> spellings<simulator::StageLevel>() {
  return simulator::names::kLevels;
}
template <>
constexpr std::span<const std::string_view> spellings<simulator::PlayBy>() {
  return simulator::names::kPlayBy;
}
template <>
constexpr std::span<const std::string_view> spellings<simulator::Appearance>() {
  return simulator::names::kAppearances;
}
template <>
constexpr std::span<const std::string_view> spellings<simulator::Layout>() {
  return simulator::names::kLayouts;
}
template <>
constexpr std::span<const std::string_view> spellings<simulator::LeftPanel>() {
  return simulator::names::kLeftPanels;
}
template <>
constexpr std::span<const std::string_view> spellings<Gold::Origin>() {
  return simulator::names::kOrigins;
}
template <>
constexpr std::span<const std::string_view> spellings<HeadMode>() {
  return simulator::names::kHeadModes;
}
template <>
constexpr std::span<const std::string_view> spellings<Quantity>() {
  return simulator::names::kQuantities;
}
template <>
constexpr std::span<const std::string_view> spellings<lessons::AnswerState>() {
  return simulator::names::kAnswers;
}
}  // namespace headscope::core
