// A whole run: its series, why it ends, and how it goes back and on.
#include "core/training/run.h"
#include "tests/core/training_run.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <sstream>

namespace headscope::core {
namespace {

using namespace test;

RunConfig look_up_run() {
  RunConfig config;
  config.data.task = TaskConfig{.name = "look-ups"};
  const Result<std::unique_ptr<const Task>> task = make_task(*config.data.task, "");
  REQUIRE(task);
  config.model = (*task)->form();
  config.model.d_model = 16;
  config.model.n_heads = 2;
  config.model.d_head = 8;
  config.model.n_layers = 1;
  config.optimiser.rate = 1e-2;
  config.graph.dropout = 0.1;
  config.batch_size = 8;
  config.stop.n_steps = 60;
  config.evaluate_every = 20;
  config.n_held_out = 16;
  return config;
}

std::unique_ptr<Run> make_run(const RunConfig& config, const Run::Options& options = {}) {
  Result<std::unique_ptr<Run>> run = Run::make(config, options);
  if (!run) FAIL("make: " << run.error().key);
  return *std::move(run);
}

void run_to(Run& run, std::int64_t step) {
  while (run.trainer().step() < step) REQUIRE(run.run_step());
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST_CASE("evaluating more often changes no bit of the training", "[core][run]") {
  RunConfig often = look_up_run();
  often.evaluate_every = 1;
  const auto seldom = make_run(look_up_run()), always = make_run(often);
  const auto trainer = make_trainer(look_up_run(), seldom->trainer().task());
  run_to(*seldom, 30);
  run_to(*always, 30);
  test::run_to(*trainer, 30);
  CHECK(same_state(seldom->trainer().state(), always->trainer().state()));
  CHECK(same_state(seldom->trainer().state(), trainer->state()));
}

TEST_CASE("the series has a row a step, an evaluation where due, and a column for every head",
          "[core][run]") {
  const auto run = make_run(look_up_run());
  while (!run->stop_reason()) REQUIRE(run->run_step());
  CHECK(run->stop_reason() == StopReason::steps);
  REQUIRE(run->series().size() == 61);
  for (std::size_t step = 0; step <= 60; ++step) {
    CHECK(run->series()[step].step == static_cast<std::int64_t>(step));
    CHECK(run->series()[step].evaluation.has_value() == (step % 20 == 0));
  }
  CHECK(run->evaluation() == &*run->series().back().evaluation);
  const std::vector<std::string> lines = lines_of(format_series(*run));
  REQUIRE(lines.size() == 62);
  CHECK(lines[0].starts_with("step,loss,gradient_norm,rate,held_out_loss,held_out_score,"));
  CHECK(lines[0].find(":decoder.block0.self_attention:1") != std::string::npos);
  CHECK(lines[1].starts_with("0,,,,"));
  CHECK(lines[2].starts_with("1,"));
  for (const std::string& line : lines)
    CHECK(std::count(line.begin(), line.end(), ',') == std::count(lines[0].begin(), lines[0].end(), ','));
}

TEST_CASE("a run ends at its score, and a change or a later end lets it go on", "[core][run]") {
  RunConfig config = look_up_run();
  config.stop.target_score = 0;  // any evaluation reaches it
  const auto run = make_run(config);
  CHECK(run->stop_reason() == StopReason::target_score);
  REQUIRE(run->change(SetRate{5e-3}));
  CHECK_FALSE(run->stop_reason());
  const Result<std::int64_t> n_steps = run->run_for(1e9);
  REQUIRE(n_steps);
  CHECK(*n_steps == 20);
  CHECK(run->stop_reason() == StopReason::target_score);
  run->set_stop({.n_steps = 25});
  CHECK_FALSE(run->stop_reason());
  CHECK(*run->run_for(1e9) == 5);
  CHECK(run->stop_reason() == StopReason::steps);
  CHECK(*run->run_for(1e9) == 0);
  CHECK(run->series().back().evaluation);  // the last step is always evaluated
}

TEST_CASE("a run without progress ends at its plateau", "[core][run]") {
  RunConfig config = look_up_run();
  config.optimiser.rate = 0;  // every evaluation is the first one's
  config.evaluate_every = 2;
  config.stop.plateau = 3;
  const auto run = make_run(config);
  CHECK(*run->run_for(1e9) == 6);
  CHECK(run->stop_reason() == StopReason::plateau);
  REQUIRE(run->change(SetRate{1e-2}));
  CHECK_FALSE(run->stop_reason());
}

TEST_CASE("a time that is over allows one step", "[core][run]") {
  const auto run = make_run(look_up_run());
  CHECK(*run->run_for(0) == 1);
  CHECK(*run->run_for(-1) == 1);
  CHECK(run->trainer().step() == 2);
}

TEST_CASE("a past step is looked at without moving the run, and shows the changes of its time",
          "[core][run]") {
  const auto run = make_run(look_up_run());
  std::vector<TrainState> states;
  for (std::int64_t step = 0; step <= 50; ++step) {
    run_to(*run, step);
    states.push_back(run->trainer().state());
    if (step == 17) REQUIRE(run->change(SetBatchSize{12}));
    if (step == 31) REQUIRE(run->change(SetDropout{0}));
    if (step == 24) CHECK(same_state(*run->state_at(15), states[15]));
  }
  CHECK(run->history().checkpoints().contains(17));
  for (const std::size_t step : {50U, 3U, 17U, 18U, 31U, 32U, 0U, 44U})
    CHECK(same_state(*run->state_at(static_cast<std::int64_t>(step)), states[step]));
  CHECK((*run->replay_to(44))->training().workspace().sizes().batch == 12);
  CHECK(same_state(run->trainer().state(), states[50]));
  const Result<TrainState> future = run->state_at(51);
  REQUIRE_FALSE(future);
  CHECK(future.error().key == "history.no_step");
}

TEST_CASE("going back begins another future, or the same one again", "[core][run]") {
  const auto run = make_run(look_up_run());
  run_to(*run, 12);
  const TrainState twelfth = run->trainer().state();
  REQUIRE(run->change(SetRate{5e-3}));
  run_to(*run, 40);
  const TrainState fortieth = run->trainer().state();
  REQUIRE(run->go_back_to(12));
  CHECK(same_state(run->trainer().state(), twelfth));
  CHECK(run->trainer().events().empty());
  CHECK(run->series().back().step == 12);
  CHECK(run->history().checkpoints().rbegin()->first <= 12);
  run_to(*run, 40);
  CHECK_FALSE(same_state(run->trainer().state(), fortieth));
  const TrainState other = *run->state_at(20);
  REQUIRE(run->go_back_to(12));
  REQUIRE(run->change(SetRate{5e-3}));
  run_to(*run, 20);
  CHECK_FALSE(same_state(run->trainer().state(), other));
  run_to(*run, 40);
  CHECK(same_state(run->trainer().state(), fortieth));
  REQUIRE_FALSE(run->go_back_to(41));
  CHECK(same_state(run->trainer().state(), fortieth));
}

TEST_CASE("a run taken up at any checkpoint gives the bits of one that never stopped", "[core][run]") {
  const auto run = make_run(look_up_run());
  run_to(*run, 15);
  REQUIRE(run->change(SetBatchSize{11}));
  run_to(*run, 22);
  REQUIRE(run->change(SetDropout{0.2}));
  run_to(*run, 60);
  std::vector<TrainState> checkpoints;
  for (const auto& [step, state] : run->history().checkpoints()) {
    checkpoints.push_back(state);
    RunPast past{.checkpoints = checkpoints, .events = run->trainer().events()};
    Result<std::unique_ptr<Run>> resumed =
        Run::resume(look_up_run(), std::move(past), {.n_threads = 1 + static_cast<int>(step) % 3});
    REQUIRE(resumed);
    CHECK((*resumed)->trainer().step() == step);
    REQUIRE((*resumed)->take_series(format_series(*run), "history.csv"));
    CHECK((*resumed)->series().back().step == step);
    run_to(**resumed, 60);
    CHECK(same_state((*resumed)->trainer().state(), run->trainer().state()));
    CHECK(format_series(**resumed) == format_series(*run));
    CHECK(same_state(*(*resumed)->state_at(13), *run->state_at(13)));
  }
  checkpoints.back().parameters.pop_back();
  const Result<std::unique_ptr<Run>> refused = Run::resume(look_up_run(), {.checkpoints = checkpoints}, {});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().key == "train.past_size");
}

TEST_CASE("an evaluation that is not finite is kept like any other", "[core][run]") {
  RunConfig config = look_up_run();
  config.evaluate_every = 1;
  config.batch_size = 1;
  const auto run = make_run(config);
  // a capital that the first row does not have, and held-out ones do
  const std::vector<std::int32_t> row = run->trainer().batch_at(1)->source[0];
  std::int64_t capital = run->config().model.vocab_size - 1;
  while (std::ranges::find(row, static_cast<std::int32_t>(capital)) != row.end()) --capital;
  REQUIRE(
      run->change(SetParameter{.tensor = "decoder.token_embedding", .cell = {capital, 0}, .value = 3e38}));
  REQUIRE(run->run_step());
  REQUIRE(run->evaluation());
  REQUIRE_FALSE(std::isfinite(run->evaluation()->loss));
  const std::string csv = format_series(*run);
  REQUIRE(run->take_series(csv, "history.csv"));
  CHECK(format_series(*run) == csv);
  CHECK(run->evaluation() == &*run->series().back().evaluation);
  // by hand: every name that a number without an end can have
  const std::size_t at = csv.find_last_of('\n', csv.size() - 2) + 1;
  std::string last = csv.substr(at);
  std::size_t loss = 0;
  for (int commas = 0; commas < 4; ++commas) loss = last.find(',', loss) + 1;
  for (const char* name : {"nan", "-nan", "inf", "-inf", "1.5"}) {
    std::string text = csv;
    text.replace(at + loss, last.find(',', loss) - loss, name);
    REQUIRE(run->take_series(text, "history.csv"));
    CHECK(format_series(*run) == text);
  }
}

TEST_CASE("a series that is not this run's is refused, and names the line", "[core][run]") {
  const auto run = make_run(look_up_run());
  run_to(*run, 25);
  const std::string csv = format_series(*run);
  const auto line_of_refusal = [&](const std::string& text) {
    const Result<void> taken = run->take_series(text, "history.csv");
    if (taken) return std::string();
    CHECK(taken.error().key == "run.series");
    return value_of(taken.error(), "line");
  };
  CHECK(line_of_refusal(csv) == "");
  CHECK(format_series(*run) == csv);
  CHECK(line_of_refusal("") == "1");
  CHECK(line_of_refusal("step,loss\n") == "1");
  for (std::size_t length = 0; length < csv.size(); length += 13)
    CHECK((csv[length - (length > 0 ? 1 : 0)] == '\n' || line_of_refusal(csv.substr(0, length)) != ""));
  const std::size_t third = csv.find("\n2,") + 1;
  const auto replaced = [&](const std::string& cells) {
    std::string text = csv;
    return text.replace(third, 2, cells);
  };
  CHECK(line_of_refusal(replaced("x,")) == "4");
  CHECK(line_of_refusal(replaced("1,")) == "4");  // twice
  CHECK(line_of_refusal(replaced("-2,")) == "4");
  CHECK(line_of_refusal(replaced("2,nan,")) == "4");
  CHECK(line_of_refusal(replaced("99999999999999999999,")) == "4");
  CHECK(line_of_refusal(replaced("")) == "4");
  CHECK(line_of_refusal(csv) == "");
}

// Hidden, as timings are never tested: core_tests "[.benchmark]" prints what scrubbing takes.
TEST_CASE("any step of 5,000 of a pocket model", "[.benchmark]") {
  RunConfig config = look_up_run();
  config.model.d_model = 32;
  config.model.d_head = 16;
  config.model.n_layers = 2;
  config.model.d_ff = 128;
  config.batch_size = 32;
  config.stop.n_steps = 5000;
  const auto run = make_run(config);
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  };
  const Clock::time_point begin = Clock::now();
  REQUIRE(run->run_for(1e9));
  const double training = since(begin);
  Rng rng(1);
  std::vector<double> times;
  for (int time = 0; time < 201; ++time) {
    const auto step = static_cast<std::int64_t>(rng.below(5001));
    const Clock::time_point asked = Clock::now();
    REQUIRE(run->state_at(step));
    times.push_back(since(asked));
  }
  std::sort(times.begin(), times.end());
  const std::size_t n_numbers = run->trainer().state().parameters.size();
  WARN(n_numbers << " parameters, " << training / 5000 << " ms a step, a checkpoint every "
                 << run->history().distance() << " steps in " << (run->history().n_bytes() >> 20)
                 << " MB; any step: median " << times[100] << " ms, longest " << times[200] << " ms");
}

TEST_CASE("a run needs one source of examples", "[core][run]") {
  RunConfig config = look_up_run();
  config.data.file = "rows.tokens.json";
  const Result<std::unique_ptr<Run>> both = Run::make(config, {});
  REQUIRE_FALSE(both);
  CHECK(both.error().key == "train.data");
}

}  // namespace
}  // namespace headscope::core
