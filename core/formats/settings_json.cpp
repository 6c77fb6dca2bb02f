#include "core/formats/settings_json.h"

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace headscope::core {

namespace {
constexpr std::array<std::string_view, 2> kOptimisers = {"adamw", "sgd"};
constexpr std::array<std::string_view, 3> kSchedules = {"constant", "cosine", "linear"};
constexpr std::array<std::string_view, 2> kSizes = {"pocket", "full"};
}  // namespace

template <>
constexpr std::span<const std::string_view> spellings<OptimiserKind>() {
  return kOptimisers;
}
template <>
constexpr std::span<const std::string_view> spellings<Schedule>() {
  return kSchedules;
}
template <>
constexpr std::span<const std::string_view> spellings<TaskSize>() {
  return kSizes;
}

void read_task(JsonMembers& members, TaskConfig& task) {
  members.read_required("name", task.name);
  members.read("size", task.size);
  members.read_object("settings", [&task](JsonMembers& settings) {
    for (const JsonMember& member : settings.object()) {
      std::string value;
      settings.read(member.name, value);
      task.settings.emplace_back(member.name, std::move(value));
    }
  });
}

JsonObject task_json(const TaskConfig& task) {
  JsonObject settings;
  for (const auto& [key, value] : task.settings) settings.push_back({key, Json{value}});
  return {{"name", Json{task.name}},
          {"size", Json{std::string(spelling(task.size))}},
          {"settings", Json{std::move(settings)}}};
}

void read_optimiser(JsonMembers& members, OptimiserConfig& optimiser) {
  members.read_required("optimiser", optimiser.kind);
  members.read_required("lr", optimiser.rate);
  members.read("beta1", optimiser.beta1);
  members.read("beta2", optimiser.beta2);
  members.read("epsilon", optimiser.epsilon);
  members.read("momentum", optimiser.momentum);
  members.read("weight_decay", optimiser.weight_decay);
  members.read("clip", optimiser.clip_norm);
  members.read("schedule", optimiser.schedule);
  members.read("warm_up", optimiser.warm_up);
  members.read("total_steps", optimiser.total_steps);
  members.read("final_share", optimiser.final_share);
  members.read("decay_from", optimiser.decay_from);
}

JsonObject optimiser_json(const OptimiserConfig& optimiser) {
  return {{"optimiser", Json{std::string(spelling(optimiser.kind))}},
          {"lr", Json{optimiser.rate}},
          {"beta1", Json{optimiser.beta1}},
          {"beta2", Json{optimiser.beta2}},
          {"epsilon", Json{optimiser.epsilon}},
          {"momentum", Json{optimiser.momentum}},
          {"weight_decay", Json{optimiser.weight_decay}},
          {"clip", Json{optimiser.clip_norm}},
          {"schedule", Json{std::string(spelling(optimiser.schedule))}},
          {"warm_up", Json{optimiser.warm_up}},
          {"total_steps", Json{optimiser.total_steps}},
          {"final_share", Json{optimiser.final_share}},
          {"decay_from", Json{optimiser.decay_from}}};
}

}  // namespace headscope::core
