#include "core/formats/model_note.h"

#include "core/formats/atomic_file.h"
#include "core/formats/json.h"
#include "core/formats/json_members.h"
#include "core/formats/settings_json.h"

#include <string_view>
#include <utility>

namespace headscope::core {

namespace {

constexpr std::string_view kFormat = "headscope-model-note";
constexpr std::int64_t kVersion = 1;
constexpr std::uint64_t kMaxNoteBytes = 1 << 20;
constexpr std::int64_t kMostSteps = 1'000'000'000'000'000;
constexpr std::int64_t kMostExamples = 1'000'000;

void check_range(JsonMembers& members, std::string_view key, double value, std::int64_t lowest,
                 std::int64_t highest) {
  // a NaN, which no JSON has, would be out of range as well
  if (value >= static_cast<double>(lowest) && value <= static_cast<double>(highest)) return;
  members.fail("config.range", key,
               {{"value", format_number(value)},
                {"lowest", std::to_string(lowest)},
                {"highest", std::to_string(highest)}});
}

}  // namespace

Result<ModelNote> parse_model_note(const std::string& text, const std::string& where) {
  const Result<Json> json = parse_json(text, where);
  if (!json) return json.error();
  const JsonObject* object = json->object();
  if (!object) return Error{"config.not_an_object", where};
  if (std::optional<Error> error = check_format(*object, kFormat, kVersion, where)) return *std::move(error);
  ModelNote note;
  JsonMembers members(*object, where);
  members.require("task");
  members.read_object("task", [&note](JsonMembers& task) { read_task(task, note.task); });
  members.read_required("seed", note.seed);
  members.read_required("steps", note.n_steps);
  check_range(members, "steps", static_cast<double>(note.n_steps), 0, kMostSteps);
  members.read_required("score", note.score);
  check_range(members, "score", note.score, 0, 1);
  members.read("n_held_out", note.n_held_out);
  check_range(members, "n_held_out", static_cast<double>(note.n_held_out), 1, kMostExamples);
  members.read("command", note.command);
  if (members.error()) return *members.error();
  return note;
}

Result<std::optional<ModelNote>> read_model_note(const std::filesystem::path& directory) {
  const std::filesystem::path path = directory / "model.json";
  const Result<std::string> text = read_file(path, kMaxNoteBytes);
  if (!text && text.error().key == "file.missing") return std::optional<ModelNote>();
  if (!text) return text.error();
  Result<ModelNote> note = parse_model_note(*text, path.string());
  if (!note) return note.error();
  return std::optional(*std::move(note));
}

}  // namespace headscope::core
