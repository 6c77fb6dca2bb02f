#include "simulator/command_line/train_advice.h"

#include "core/printable.h"
#include "simulator/command_line/train_report.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

namespace headscope::simulator {
namespace {

/// A rate that is clearly lower.
std::string lower_rate(const core::Run& run) {
  return rounded(run.trainer().optimiser().rate / 10);
}

float largest(const core::TrainState& state) {
  float most = 0;
  for (const float value : state.parameters) most = std::max(most, std::abs(value));
  return most;
}

/// The run's loss over time, of the held-out examples where there are any: at the beginning and now.
std::optional<std::pair<double, double>> first_and_last_loss(const core::Run& run) {
  std::optional<std::pair<double, double>> losses;
  for (const core::SeriesRow& row : run.series()) {
    if (run.evaluator() ? !row.evaluation : row.step == 0) continue;
    const double loss = row.evaluation ? row.evaluation->loss : row.report.loss;
    if (!losses)
      losses = {loss, loss};
    else
      losses->second = loss;
  }
  return losses;
}

std::string way_back(const core::Run& run, const std::filesystem::path& path) {
  return resume_line(path) + " --back-to " + std::to_string(sound_step(run)) + " --lr " + lower_rate(run);
}

}  // namespace

std::string shell_word(const std::filesystem::path& path) {
  std::string word = core::printable(path.string());
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+=:,@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string resume_line(const std::filesystem::path& path) {
  return "headscope train --resume " + shell_word(path);
}

std::int64_t sound_step(const core::Run& run) {
  const auto& checkpoints = run.history().checkpoints();
  const std::vector<core::SeriesRow>& series = run.series();
  const auto loss_after = [&series](std::int64_t step) -> std::optional<double> {
    const auto row = std::ranges::lower_bound(series, step + 1, {}, &core::SeriesRow::step);
    return row == series.end() || row->step != step + 1 ? std::nullopt : std::optional(row->report.loss);
  };
  constexpr float kMost = 10;
  const std::optional<double> first_loss = loss_after(0);
  const float first_largest = largest(checkpoints.begin()->second);
  for (auto at = checkpoints.rbegin(); at != checkpoints.rend(); ++at) {
    const auto& [step, state] = *at;
    const std::optional<double> loss = loss_after(step);
    if (loss && first_loss && *loss <= *first_loss && largest(state) <= kMost * first_largest) return step;
  }
  return checkpoints.begin()->first;
}

std::optional<core::Error> offer_after(const core::Error& failure, const core::Run& run,
                                       const std::filesystem::path& path) {
  if (failure.key == "training.parameter_not_finite") return std::nullopt;
  core::Error offer{.key = "train.failed_update",
                    .where = core::printable(path.string()),
                    .values = {{"step", std::to_string(run.trainer().step())},
                               {"command", resume_line(path) + " --lr " + lower_rate(run)}}};
  // the step is computed before the rate is asked for: with the same parameters it fails at any rate
  if (failure.key != "training.update_not_finite") {
    offer.key = "train.failed";
    offer.values.back().second = way_back(run, path);
  }
  return offer;
}

std::string remark_on_loss(const core::Run& run, const std::filesystem::path& path,
                           const lessons::TextCatalog& text) {
  const std::optional<std::pair<double, double>> losses = first_and_last_loss(run);
  if (!losses || losses->second <= losses->first) return "";
  return text.text("command.train.loss_rose", {{"first", fixed(losses->first, 4)},
                                               {"rate", rounded(run.trainer().optimiser().rate)},
                                               {"command", way_back(run, path)}});
}

}  // namespace headscope::simulator
