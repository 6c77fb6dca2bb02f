#include "core/formats/run_file.h"

#include "core/formats/json_members.h"
#include "core/formats/settings_json.h"

#include <array>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

namespace headscope::core {

namespace {

constexpr std::string_view kFormat = "headscope-run";
constexpr std::int64_t kVersion = 1;
constexpr std::int64_t kMostSteps = 1'000'000'000'000'000;

/// What an event sets, in the order of Change's alternatives.
enum class Kind : std::uint8_t { rate, weight_decay, dropout, batch_size, parameter };
constexpr std::array<std::string_view, 5> kKinds = {"rate", "weight_decay", "dropout", "batch_size",
                                                    "parameter"};

}  // namespace

template <>
constexpr std::span<const std::string_view> spellings<Kind>() {
  return kKinds;
}

namespace {

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

Error range_error(std::string_view key, std::int64_t value, std::int64_t lowest, const std::string& where) {
  return {"train.range",
          where,
          {{"key", std::string(key)},
           {"value", std::to_string(value)},
           {"lowest", std::to_string(lowest)},
           {"highest", std::to_string(kMostSteps)}}};
}

void read_path(JsonMembers& members, std::string_view key, std::optional<std::filesystem::path>& path) {
  std::optional<std::string> text;
  members.read(key, text);
  if (text) path = *text;
}

void read_data(JsonMembers& members, DataConfig& data) {
  members.read_object("task", [&data](JsonMembers& task) { read_task(task, data.task.emplace()); });
  read_path(members, "data", data.file);
  read_path(members, "held_out", data.held_out);
  members.read("full_batch", data.is_full_batch);
}

Change read_change(JsonMembers& members) {
  Kind kind = Kind::rate;
  members.read_required("set", kind);
  if (kind == Kind::batch_size) {
    SetBatchSize set;
    members.read_required("value", set.batch_size);
    return set;
  }
  double value = 0;
  members.read_required("value", value);
  if (kind == Kind::rate) return SetRate{value};
  if (kind == Kind::weight_decay) return SetWeightDecay{value};
  if (kind == Kind::dropout) return SetDropout{value};
  SetParameter set{.tensor = {}, .cell = {}, .value = value};
  members.read_required("tensor", set.tensor);
  std::vector<std::int64_t> cell;
  members.read_required("cell", cell);
  if (cell.size() > static_cast<std::size_t>(kMaxRank)) {
    members.fail("config.not_list", "cell");
    return set;
  }
  for (const std::int64_t index : cell) set.cell.push_back(index);
  return set;
}

void read_run(JsonMembers& members, RunFile& file) {
  RunConfig& config = file.config;
  read_data(members, config.data);
  read_path(members, "from", config.start.from);
  members.read("embedding_deviation", config.start.embedding_deviation);
  members.read("equal_heads", config.start.has_equal_heads);
  members.read("head_noise", config.start.head_noise);
  read_optimiser(members, config.optimiser);
  members.read("dropout", config.graph.dropout);
  members.read("label_smoothing", config.graph.label_smoothing);
  members.read("head_contributions", config.graph.head_contributions);
  members.read("freeze", config.frozen);
  members.read("batch_size", config.batch_size);
  members.read_required("seed", config.seed);
  members.read_required("steps", config.stop.n_steps);
  members.read("target_score", config.stop.target_score);
  std::int64_t plateau = 0;
  members.read("plateau", plateau);
  if (plateau < 0 || plateau > std::numeric_limits<int>::max())
    members.fail("config.range", "plateau",
                 {{"value", std::to_string(plateau)},
                  {"lowest", "0"},
                  {"highest", std::to_string(std::numeric_limits<int>::max())}});
  else
    config.stop.plateau = static_cast<int>(plateau);
  members.read("evaluate_every", config.evaluate_every);
  members.read("n_held_out", config.n_held_out);
  members.read("done", file.n_steps);
  members.read("data_hash", file.data_hash);
  members.read_objects("events", [&file](JsonMembers& event) {
    std::int64_t step = 0;
    event.read_required("step", step);
    file.events.push_back({step, read_change(event)});
  });
}

/// Checks what no field's type says: the numbers of steps, and the order of events.
std::optional<Error> check_steps(const RunFile& file, const std::string& where) {
  if (file.n_steps < 0 || file.n_steps > kMostSteps) return range_error("done", file.n_steps, 0, where);
  std::int64_t before = 1;
  for (const Event& event : file.events) {
    if (event.step < 1 || event.step > kMostSteps) return range_error("events.step", event.step, 1, where);
    if (event.step < before) return Error{"train.event_order", where, {{"step", std::to_string(event.step)}}};
    before = event.step;
  }
  return std::nullopt;
}

std::string unsigned_text(std::uint64_t number) {
  const std::string digits = std::to_string(number);
  // many readers keep whole numbers in 64 bits with a sign
  return number <= std::uint64_t{std::numeric_limits<std::int64_t>::max()} ? digits : '"' + digits + '"';
}

std::string event_json(const Event& event) {
  std::string text = "{\"step\": " + std::to_string(event.step) + ", \"set\": \"" +
                     std::string(kKinds[event.change.index()]) + "\"";
  const std::string value = std::visit(
      Overloaded{[](const SetRate& set) { return format_number(set.rate); },
                 [](const SetWeightDecay& set) { return format_number(set.weight_decay); },
                 [](const SetDropout& set) { return format_number(set.dropout); },
                 [](const SetBatchSize& set) { return std::to_string(set.batch_size); },
                 [&text](const SetParameter& set) {
                   std::vector<std::int64_t> cell;
                   for (int side = 0; side < set.cell.rank(); ++side) cell.push_back(set.cell[side]);
                   text += ", \"tensor\": " + quote_json(set.tensor) + ", \"cell\": " + format_list(cell);
                   return format_number(set.value);
                 }},
      event.change);
  return text + ", \"value\": " + value + "}";
}

}  // namespace

Result<RunFile> parse_run_file(const std::string& text, const ModelConfig& model, const std::string& where) {
  const Result<Json> json = parse_json(text, where);
  if (!json) return json.error();
  const JsonObject* object = json->object();
  if (!object) return Error{"config.not_an_object", where};
  if (std::optional<Error> error = check_format(*object, kFormat, kVersion, where)) return *std::move(error);
  RunFile file;
  file.config.model = model;
  JsonMembers members(*object, where);
  read_run(members, file);
  if (members.error()) return *members.error();
  if (const Json* interventions = find_member(*object, "interventions")) file.interventions = *interventions;
  if (file.config.data.task.has_value() == file.config.data.file.has_value())
    return Error{"train.data", where};
  if (Result<void> valid = validate(file.config, where); !valid) return valid.error();
  if (std::optional<Error> error = check_steps(file, where)) return *std::move(error);
  return file;
}

std::string format_run_file(const RunFile& file) {
  const RunConfig& config = file.config;
  JsonLines lines;
  lines.add_text("format", kFormat);
  lines.add_integer("version", kVersion);
  if (config.data.task) lines.add("task", format_json(Json{task_json(*config.data.task)}));
  if (config.data.file) lines.add_text("data", config.data.file->string());
  if (config.data.held_out) lines.add_text("held_out", config.data.held_out->string());
  lines.add_boolean("full_batch", config.data.is_full_batch);
  if (file.data_hash != 0) lines.add("data_hash", unsigned_text(file.data_hash));
  if (config.start.from) lines.add_text("from", config.start.from->string());
  lines.add_number("embedding_deviation", config.start.embedding_deviation);
  lines.add_boolean("equal_heads", config.start.has_equal_heads);
  lines.add_number("head_noise", config.start.head_noise);
  lines.add_integer("steps", config.stop.n_steps);
  lines.add_integer("done", file.n_steps);
  if (config.stop.target_score) lines.add_number("target_score", *config.stop.target_score);
  lines.add_integer("plateau", config.stop.plateau);
  lines.add("seed", unsigned_text(config.seed));
  lines.add_integer("batch_size", config.batch_size);
  lines.add_integer("evaluate_every", config.evaluate_every);
  lines.add_integer("n_held_out", config.n_held_out);
  for (const JsonMember& member : optimiser_json(config.optimiser))
    if (const double* number = std::get_if<double>(&member.value.value))
      lines.add_number(member.name, *number);
    else
      lines.add(member.name, format_json(member.value));
  lines.add_number("dropout", config.graph.dropout);
  lines.add_number("label_smoothing", config.graph.label_smoothing);
  lines.add_boolean("head_contributions", config.graph.head_contributions);
  JsonArray frozen;
  for (const std::string& name : config.frozen) frozen.push_back(Json{name});
  lines.add("freeze", format_json(Json{std::move(frozen)}));
  lines.add("interventions", format_json(file.interventions));
  std::string events = "[";
  for (const Event& event : file.events)
    events.append(events.size() > 1 ? ",\n    " : "\n    ").append(event_json(event));
  lines.add("events", events + (file.events.empty() ? "]" : "\n  ]"));
  return lines.finish();
}

}  // namespace headscope::core
