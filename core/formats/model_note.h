// model.json: what a model directory says about itself beyond what is needed to run it. Optional.
#pragma once

#include "core/result.h"
#include "core/tasks/task.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace headscope::core {

struct ModelNote {
  TaskConfig task;                // that it was trained on: its examples have gold answers
  std::uint64_t seed = 0;         // of its run
  std::int64_t n_steps = 0;       // that it was trained for
  double score = 0;               // held-out, as Task::score_kind() says, in [0, 1]
  std::int64_t n_held_out = 256;  // the examples that the score is of
  std::string command = {};       // that makes it again, for people; may be empty
};

/// Keys that no version knows are passed over. Errors: those of parse_json(), config.not_an_object,
/// config.key_missing, config.not_integer, config.not_number, config.not_text, config.format,
/// config.version, config.range (key, value, lowest, highest). Whether there is such a task, make_task()
/// knows.
Result<ModelNote> parse_model_note(const std::string& text, const std::string& where);

/// The note of a model directory, or none where there is no model.json. Errors: those of read_file() and
/// parse_model_note().
Result<std::optional<ModelNote>> read_model_note(const std::filesystem::path& directory);

}  // namespace headscope::core
