#include "core/training/run_config.h"

#include "core/formats/json.h"

#include <limits>
#include <optional>
#include <string_view>

namespace headscope::core {
namespace {

constexpr double kMostSteps = 1e15;  // counted in double, too, by the schedules
constexpr double kMostRows = 65536;
constexpr double kMostDeviation = 1e6;

struct Range {
  std::string_view key;
  double value, lowest, highest;
};

Error range_error(const Range& range, const std::string& where) {
  return {"train.range",
          where,
          {{"key", std::string(range.key)},
           {"value", format_number(range.value)},
           {"lowest", format_number(range.lowest)},
           {"highest", format_number(range.highest)}}};
}

}  // namespace

Result<void> validate(const RunConfig& config, const std::string& where) {
  if (Result<void> valid = validate(config.model, where); !valid) return valid;
  if (Result<void> valid = validate(config.optimiser, where); !valid) return valid;
  for (const auto& [key, value] : {std::pair{"dropout", config.graph.dropout},
                                   std::pair{"label_smoothing", config.graph.label_smoothing}})
    if (!(value >= 0 && value < 1))
      return Error{"config.fraction", where, {{"key", key}, {"value", format_number(value)}}};
  const auto count = [](std::int64_t value) { return static_cast<double>(value); };
  const Range ranges[] = {
      {"batch_size", count(config.batch_size), 1, kMostRows},
      {"steps", count(config.stop.n_steps), 0, kMostSteps},
      {"target_score", config.stop.target_score.value_or(0), 0, 1},
      {"plateau", static_cast<double>(config.stop.plateau), 0, std::numeric_limits<int>::max()},
      {"evaluate_every", count(config.evaluate_every), 1, kMostSteps},
      {"n_held_out", count(config.n_held_out), 1, kMostRows},
      {"embedding_deviation", config.start.embedding_deviation, 0, kMostDeviation},
      {"head_noise", config.start.head_noise, 0, kMostDeviation}};
  for (const Range& range : ranges)
    if (!(range.value >= range.lowest && range.value <= range.highest)) return range_error(range, where);
  return {};
}

}  // namespace headscope::core
