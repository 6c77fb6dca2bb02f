// What is changed by hand in a run, as run.json keeps it.
#include "simulator/command_line/intervention_options.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headscope::simulator {
namespace {

core::Json list_of(const std::vector<std::string>& texts) {
  core::JsonArray list;
  for (const std::string& text : texts) list.push_back({text});
  return {std::move(list)};
}

std::optional<std::vector<std::string>> texts_of(const core::Json& json) {
  const core::JsonArray* list = json.array();
  if (!list) return std::nullopt;
  std::vector<std::string> texts;
  for (const core::Json& member : *list) {
    if (!member.text()) return std::nullopt;
    texts.push_back(*member.text());
  }
  return texts;
}

std::optional<double> number_of(const core::Json& json) {
  if (const auto* whole = json.integer()) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&json.value)) return *real;
  return std::nullopt;
}

template <class Value>
bool assign(const std::optional<Value>& value, Value& target) {
  if (value) target = *value;
  return value.has_value();
}

/// Whether the member was one of ours, and of its type.
bool read_member(const core::JsonMember& member, InterventionOptions& options) {
  if (member.name == "zero_head") return assign(texts_of(member.value), options.zero_heads);
  if (member.name == "uniform_attention") return assign(texts_of(member.value), options.uniform_attentions);
  if (member.name == "set") return assign(texts_of(member.value), options.cells);
  if (member.name == "temperature")
    return assign(number_of(member.value), options.temperature) && options.temperature > 0;
  const bool* flag = member.value.boolean();
  if (!flag) return false;
  if (member.name == "no_scale") return options.leaves_scale = !*flag, true;
  if (member.name == "leak_future") return options.leaks_future = *flag, true;
  return false;
}

}  // namespace

core::Json to_json(const InterventionOptions& options) {
  core::JsonObject object;
  if (!options.zero_heads.empty()) object.push_back({"zero_head", list_of(options.zero_heads)});
  if (!options.uniform_attentions.empty())
    object.push_back({"uniform_attention", list_of(options.uniform_attentions)});
  if (!options.cells.empty()) object.push_back({"set", list_of(options.cells)});
  if (options.temperature != 1) object.push_back({"temperature", {options.temperature}});
  if (!options.leaves_scale) object.push_back({"no_scale", {true}});
  if (options.leaks_future) object.push_back({"leak_future", {true}});
  return object.empty() ? core::Json{nullptr} : core::Json{std::move(object)};
}

core::Result<InterventionOptions> read_interventions_json(const core::Json& json, const std::string& where) {
  InterventionOptions options;
  if (std::holds_alternative<std::nullptr_t>(json.value)) return options;
  const auto wrong = [&where](const std::string& key) {
    return core::Error{.key = "intervention.stored", .where = where, .values = {{"key", key}}};
  };
  if (!json.object()) return wrong("interventions");
  for (const core::JsonMember& member : *json.object())
    if (!read_member(member, options)) return wrong(member.name);
  return options;
}

}  // namespace headscope::simulator
