#include "core/formats/checkpoint.h"

#include "core/formats/checksum.h"
#include "core/formats/json.h"
#include "core/formats/safetensors.h"
#include "core/hash.h"
#include "core/workspace.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace headscope::core {
namespace {

constexpr std::string_view kFormat = "headscope-checkpoint";
constexpr std::string_view kVersion = "1";
constexpr std::int64_t kMostSteps = 1'000'000'000'000'000;

/// One of a state's vectors of numbers, with what stands before its tensors' names.
struct StatePart {
  std::string_view prefix;
  AlignedVector<float> TrainState::*numbers;
};
constexpr std::array<StatePart, 3> kParts = {{{"", &TrainState::parameters},
                                              {"first_moments.", &TrainState::first_moments},
                                              {"second_moments.", &TrainState::second_moments}}};

/// Where each parameter lies; no size of a batch matters.
Plan plan_of(const Graph& graph) {
  return {graph, GradientPlan(graph), Sizes{}};
}

std::vector<std::int64_t> shape_of(const Plan& plan, TensorId tensor) {
  const Shape& shape = plan.shape(tensor);
  return {shape.sides().begin(), shape.sides().end()};
}

/// Whether the file has exactly these tensors, for a state of `n_parts` of kParts.
std::optional<Error> check_tensors(const StoredTensors& tensors, const Graph& graph, const Plan& plan,
                                   std::size_t n_parts, const std::string& where) {
  std::size_t n_expected = 0;
  for (std::uint32_t index = 0; index < graph.n_tensors(); ++index) {
    if (graph.spec({index}).role != Role::parameter) continue;
    const std::vector<std::int64_t> expected = shape_of(plan, {index});
    for (std::size_t part = 0; part < n_parts; ++part, ++n_expected) {
      const std::string name = std::string(kParts[part].prefix) + graph.spec({index}).name;
      const auto found = tensors.find(name);
      if (found == tensors.end()) return Error{"model.tensor_missing", where, {{"name", name}}};
      if (found->second.shape != expected || found->second.type != StoredType::f32)
        return Error{"model.tensor_shape",
                     where,
                     {{"name", name},
                      {"shape", format_list(found->second.shape)},
                      {"expected", format_list(expected)}}};
    }
  }
  if (tensors.size() == n_expected) return std::nullopt;
  for (const auto& [name, tensor] : tensors) {  // there is one more, at least
    std::string_view parameter = name;
    for (const StatePart& part : kParts)
      if (!part.prefix.empty() && name.starts_with(part.prefix))
        parameter = std::string_view(name).substr(part.prefix.size());
    const std::optional<TensorId> id = graph.find(parameter);
    if (!id || graph.spec(*id).role != Role::parameter || graph.spec(*id).name != parameter)
      return Error{"model.tensor_unknown", where, {{"name", name}}};
  }
  return Error{"model.tensor_unknown", where, {{"name", tensors.rbegin()->first}}};
}

}  // namespace

std::string format_checkpoint(const Graph& graph, const TrainState& state) {
  const Plan plan = plan_of(graph);
  const std::string step = std::to_string(state.step);
  std::uint64_t hash = fnv1a(step);
  std::vector<TensorView> tensors;
  for (const StatePart& part : kParts) {
    const AlignedVector<float>& numbers = state.*part.numbers;
    if (numbers.empty()) continue;
    for (std::uint32_t index = 0; index < graph.n_tensors(); ++index) {
      if (graph.spec({index}).role != Role::parameter) continue;
      const std::span<const float> values = std::span(numbers).subspan(
          plan.offset({index}), static_cast<std::size_t>(plan.shape({index}).count()));
      hash = hash_numbers(values, hash);
      tensors.push_back(
          {std::string(part.prefix) + graph.spec({index}).name, shape_of(plan, {index}), values});
    }
  }
  return format_safetensors_views(tensors, {{"format", std::string(kFormat)},
                                            {"version", std::string(kVersion)},
                                            {"step", step},
                                            {"checksum", hexadecimal(hash)}});
}

Result<TrainState> parse_checkpoint(std::string_view bytes, const Graph& graph, const std::string& where) {
  const Result<StoredFile> file = parse_safetensors_file(bytes, where);
  if (!file) return file.error();
  if (find_metadata(file->metadata, "format") != kFormat ||
      find_metadata(file->metadata, "version") != kVersion)
    return Error{"checkpoint.format", where};
  const std::string step = find_metadata(file->metadata, "step");
  TrainState state;
  const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), state.step);
  if (error != std::errc() || std::to_string(state.step) != step || state.step < 0 || state.step > kMostSteps)
    return Error{"checkpoint.step", where, {{"step", step}}};
  if (hexadecimal(fnv1a(file->data, fnv1a(step))) != find_metadata(file->metadata, "checksum"))
    return Error{"checkpoint.checksum", where};

  const Plan plan = plan_of(graph);
  const bool has_second = std::ranges::any_of(
      file->tensors, [](const auto& entry) { return entry.first.starts_with(kParts[2].prefix); });
  const std::size_t n_parts = has_second ? 3 : 2;
  if (std::optional<Error> wrong = check_tensors(file->tensors, graph, plan, n_parts, where))
    return *std::move(wrong);
  for (std::size_t part = 0; part < n_parts; ++part) {
    AlignedVector<float>& numbers = state.*kParts[part].numbers;
    numbers.assign(plan.n_parameters(), 0);
    for (std::uint32_t index = 0; index < graph.n_tensors(); ++index) {
      if (graph.spec({index}).role != Role::parameter) continue;
      const StoredTensor& tensor =
          file->tensors.find(std::string(kParts[part].prefix) + graph.spec({index}).name)->second;
      std::transform(tensor.values.begin(), tensor.values.end(),
                     numbers.begin() + static_cast<std::ptrdiff_t>(plan.offset({index})),
                     [](double value) { return static_cast<float>(value); });
    }
  }
  return state;
}

}  // namespace headscope::core
