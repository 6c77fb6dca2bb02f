// Past steps: which checkpoints stay, and replay between them to the bit.
#include "core/training/history.h"
#include "tests/core/training_run.h"

#include <catch2/catch.hpp>

#include <cmath>

namespace headscope::core {
namespace {

using namespace test;
using Keep = History::Keep;

constexpr std::size_t kNumbers = 100;
constexpr std::size_t kBytes = 3 * kNumbers * sizeof(float);

TrainState state_of(std::int64_t step) {
  const auto number = static_cast<float>(step);
  return {step, AlignedVector<float>(kNumbers, number), AlignedVector<float>(kNumbers, number),
          AlignedVector<float>(kNumbers, number)};
}

std::vector<std::int64_t> steps_of(const History& history) {
  std::vector<std::int64_t> steps;
  for (const auto& [step, state] : history.checkpoints()) {
    CHECK(state.step == step);
    steps.push_back(step);
  }
  return steps;
}

TEST_CASE("the distance doubles when the bound is reached, and every past step stays near",
          "[core][history]") {
  History history(20 * kBytes);
  for (std::int64_t step = 0; step <= 5000; ++step) {
    if (history.is_due(step)) history.add(state_of(step), Keep::evenly);
    REQUIRE(history.n_bytes() <= 20 * kBytes);
  }
  CHECK(history.distance() == 320);
  CHECK(history.n_bytes() == history.checkpoints().size() * kBytes);
  for (std::int64_t step = 0; step <= 5000; ++step) {
    const TrainState* const before = history.before(step);
    REQUIRE(before);
    REQUIRE(before->step <= step);
    REQUIRE(step - before->step < history.distance());
  }
  CHECK(history.before(-1) == nullptr);
}

TEST_CASE("pinned checkpoints stay; of too many the oldest go, and the first one never", "[core][history]") {
  History history(20 * kBytes);
  history.add(state_of(0), Keep::pinned);
  history.add(state_of(7), Keep::pinned);
  for (std::int64_t step = 10; step <= 2000; step += 10)
    if (history.is_due(step)) history.add(state_of(step), Keep::evenly);
  CHECK(history.checkpoints().contains(0));
  CHECK(history.checkpoints().contains(7));
  for (std::int64_t step = 2001; step < 2030; ++step) history.add(state_of(step), Keep::pinned);
  const std::vector<std::int64_t> steps = steps_of(history);
  CHECK(history.n_bytes() <= 20 * kBytes);
  CHECK(steps.front() == 0);
  CHECK_FALSE(history.checkpoints().contains(7));
  for (std::int64_t step = 2021; step < 2030; ++step) CHECK(history.checkpoints().contains(step));
  CHECK(std::count_if(steps.begin(), steps.end(), [](auto step) { return step <= 2000; }) > 3);
}

TEST_CASE("a state that was not due gives way to the next", "[core][history]") {
  History history(100 * kBytes);
  for (const std::int64_t step : {0, 10, 13, 17}) history.add(state_of(step), Keep::evenly);
  CHECK(steps_of(history) == std::vector<std::int64_t>{0, 10, 17});
  history.add(state_of(20), Keep::evenly);
  CHECK(steps_of(history) == std::vector<std::int64_t>{0, 10, 20});
}

TEST_CASE("where two states do not fit, the first and the newest stay", "[core][history]") {
  History history(kBytes / 2);
  for (std::int64_t step = 0; step <= 1000; ++step)
    if (history.is_due(step)) history.add(state_of(step), Keep::evenly);
  CHECK(steps_of(history).size() == 2);
  CHECK(steps_of(history).front() == 0);
}

TEST_CASE("what is forgotten frees its room, pins too", "[core][history]") {
  History history(100 * kBytes);
  for (const std::int64_t step : {0, 10, 20, 30}) history.add(state_of(step), Keep::pinned);
  history.add(state_of(10), Keep::evenly);  // again
  history.forget_after(10);
  CHECK(steps_of(history) == std::vector<std::int64_t>{0, 10});
  CHECK(history.n_bytes() == 2 * kBytes);
  history.add(state_of(14), Keep::evenly);
  history.add(state_of(15), Keep::evenly);
  CHECK(steps_of(history) == std::vector<std::int64_t>{0, 10, 15});
}

TEST_CASE("any step is made again to the bit, whichever way the replayer comes", "[core][history]") {
  const CountingTask task;
  const auto trainer = make_trainer(counting_run(), &task);
  History history(std::size_t{1} << 16);  // a handful of states
  std::vector<TrainState> states;
  for (std::int64_t step = 0; step <= 120; ++step) {
    run_to(*trainer, step);
    states.push_back(trainer->state());
    if (history.is_due(step)) history.add(trainer->state(), Keep::evenly);
    if (step == 33) {
      history.add(trainer->state(), Keep::pinned);
      REQUIRE(trainer->change(SetDropout{0}));
    }
    if (step == 77) REQUIRE(trainer->change(SetRate{1e-3}));
  }
  CHECK(history.checkpoints().size() < 10);
  const Result<std::unique_ptr<Trainer>> replayer = trainer->make_replayer();
  REQUIRE(replayer);
  for (const std::int64_t step : {120, 0, 119, 33, 34, 32, 35, 77, 78, 1, 64, 63, 65}) {
    INFO(step);
    REQUIRE(go_to_step(**replayer, history, step, 120));
    CHECK(same_state((*replayer)->state(), states[static_cast<std::size_t>(step)]));
  }
  for (const std::int64_t step : {-1, 121}) {
    const Result<void> refused = go_to_step(**replayer, history, step, 120);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().key == "history.no_step");
    CHECK(value_of(refused.error(), "last") == "120");
  }
}

TEST_CASE("two states differ by what lies between them, tensor by tensor", "[core][history]") {
  const CountingTask task;
  const auto trainer = make_trainer(counting_run(), &task);
  const TrainState a = trainer->state();
  TrainState b = a;
  const Plan& plan = trainer->training().workspace().plan();
  const TensorId query = *trainer->graph().find("decoder.block0.self_attention.w_query");
  const TensorId bias = *trainer->graph().find("decoder.block0.self_attention.b_query");  // all 0
  b.parameters[plan.offset(query) + 5] += 3;
  b.parameters[plan.offset(query) + 7] -= 4;
  b.parameters[plan.offset(bias)] = 2;
  for (const TensorDifference& difference : compare_states(trainer->graph(), a, b)) {
    INFO(trainer->graph().spec(difference.tensor).name);
    if (difference.tensor == query) {
      CHECK(difference.norm == Approx(5));
      CHECK(difference.largest == Approx(4));
      CHECK(difference.largest_cell == plan.shape(query).cell(7));
      CHECK(difference.relative_norm > 0.5);
      CHECK(difference.relative_norm < 5);
    } else if (difference.tensor == bias) {
      CHECK(difference.norm == 2);
      CHECK(std::isinf(difference.relative_norm));
    } else {
      CHECK(difference.norm == 0);
      CHECK(difference.relative_norm == 0);
    }
  }
}

}  // namespace
}  // namespace headscope::core
