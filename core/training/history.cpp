#include "core/training/history.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

namespace headscope::core {

void History::add(TrainState state, Keep keep) {
  const std::int64_t step = state.step;
  const auto found = checkpoints_.find(step);
  if (found != checkpoints_.end()) n_bytes_ -= found->second.n_bytes();
  n_bytes_ += state.n_bytes();
  checkpoints_.insert_or_assign(step, std::move(state));
  if (keep == Keep::pinned) pinned_.insert(step);
  // what was the newest may have stayed for that alone
  if (checkpoints_.size() > 1) erase_undue(std::prev(checkpoints_.end(), 2)->first);
  erase_undue(step);
  make_room();
}

std::map<std::int64_t, TrainState>::iterator History::erase(std::map<std::int64_t, TrainState>::iterator at) {
  n_bytes_ -= at->second.n_bytes();
  return checkpoints_.erase(at);
}

/// Removes the checkpoint if it is neither due at this distance, nor pinned, nor the first or the newest.
void History::erase_undue(std::int64_t step) {
  if (is_due(step) || pinned_.contains(step)) return;
  const auto at = checkpoints_.find(step);
  if (at != checkpoints_.begin() && at != std::prev(checkpoints_.end())) erase(at);
}

/// The same for all of them.
void History::thin() {
  if (checkpoints_.size() < 3) return;
  for (auto at = std::next(checkpoints_.begin()); at != std::prev(checkpoints_.end());)
    at = is_due(at->first) || pinned_.contains(at->first) ? std::next(at) : erase(at);
}

void History::make_room() {
  const std::size_t each = checkpoints_.begin()->second.n_bytes();
  while (pinned_.size() > 1 && pinned_.size() * each > limit_ / 2) {
    // the first checkpoint's own pin would be no use to take
    const auto oldest =
        *pinned_.begin() == checkpoints_.begin()->first ? std::next(pinned_.begin()) : pinned_.begin();
    const std::int64_t step = *oldest;
    pinned_.erase(oldest);
    erase_undue(step);
  }
  const auto may_go = [this] {
    if (checkpoints_.size() < 3) return false;
    return std::any_of(std::next(checkpoints_.begin()), std::prev(checkpoints_.end()),
                       [this](const auto& entry) { return !pinned_.contains(entry.first); });
  };
  while (n_bytes_ > limit_ && may_go()) {
    distance_ *= 2;
    thin();
  }
}

void History::forget_after(std::int64_t step) {
  for (auto at = checkpoints_.upper_bound(step); at != checkpoints_.end();) at = erase(at);
  pinned_.erase(pinned_.upper_bound(step), pinned_.end());
}

const TrainState* History::before(std::int64_t step) const {
  const auto after = checkpoints_.upper_bound(step);
  return after == checkpoints_.begin() ? nullptr : &std::prev(after)->second;
}

Result<void> go_to_step(Trainer& replayer, const History& history, std::int64_t step, std::int64_t last) {
  const TrainState* const from = history.before(step);
  if (!from || step > last) {
    const auto& checkpoints = history.checkpoints();
    return Error{"history.no_step",
                 "",
                 {{"step", std::to_string(step)},
                  {"first", std::to_string(checkpoints.empty() ? 0 : checkpoints.begin()->first)},
                  {"last", std::to_string(last)}}};
  }
  if (replayer.step() > step || replayer.step() < from->step) replayer.restore(*from);
  while (replayer.step() < step)
    if (const Result<StepReport> report = replayer.run_step(); !report) return report.error();
  return {};
}

std::vector<TensorDifference> compare_states(const Graph& graph, const TrainState& a, const TrainState& b) {
  const Plan plan(graph, GradientPlan(graph), Sizes{});
  assert(a.parameters.size() == plan.n_parameters() && b.parameters.size() == plan.n_parameters());
  std::vector<TensorDifference> differences;
  for (std::uint32_t index = 0; index < graph.n_tensors(); ++index) {
    if (graph.spec({index}).role != Role::parameter) continue;
    TensorDifference difference{.tensor = {index}};
    double squares = 0, squares_before = 0;
    std::int64_t largest_place = 0;
    const Shape& shape = plan.shape({index});
    for (std::int64_t place = 0; place < shape.count(); ++place) {
      const std::size_t at = plan.offset({index}) + static_cast<std::size_t>(place);
      const double before = static_cast<double>(a.parameters[at]);
      const double moved = std::abs(static_cast<double>(b.parameters[at]) - before);
      squares += moved * moved;
      squares_before += before * before;
      if (moved <= difference.largest) continue;
      difference.largest = moved;
      largest_place = place;
    }
    difference.norm = std::sqrt(squares);
    if (squares > 0)
      difference.relative_norm = squares_before > 0 ? difference.norm / std::sqrt(squares_before)
                                                    : std::numeric_limits<double>::infinity();
    difference.largest_cell = shape.cell(largest_place);
    differences.push_back(difference);
  }
  return differences;
}

}  // namespace headscope::core
