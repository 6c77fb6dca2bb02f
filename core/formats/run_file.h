// run.json: everything that makes a training run again, but for the model's configuration (config.json) and
// the numbers (checkpoints).
#pragma once

#include "core/formats/json.h"
#include "core/result.h"
#include "core/training/run_config.h"

#include <cstdint>
#include <string>
#include <vector>

namespace headscope::core {

struct RunFile {
  RunConfig config;
  std::vector<Event> events = {};
  std::int64_t n_steps = 0;     // that had been done when it was written
  std::uint64_t data_hash = 0;  // of what it learns from; 0: not known
  Json interventions = {};      // what is set by hand, in its owner's words; null: nothing
  bool operator==(const RunFile&) const = default;
};

/// run.json's text. Keys that no version knows are passed over. `model` is config.json's. Errors: those of
/// parse_json() and of validate(); config.not_an_object, those of JsonMembers; train.data (neither a task nor
/// a file, or both), train.range (key, value, lowest, highest), train.event_order.
Result<RunFile> parse_run_file(const std::string& text, const ModelConfig& model, const std::string& where);

/// parse_run_file() of it gives an equal one. Precondition: a valid configuration; texts are UTF-8.
std::string format_run_file(const RunFile& file);

}  // namespace headscope::core
