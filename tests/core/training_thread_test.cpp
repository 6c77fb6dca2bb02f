// A run on its own thread: the same bits whatever is commanded and looked at meanwhile.
#include "core/training/training_thread.h"
#include "tests/core/training_run.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>

namespace headscope::core {
namespace {

using namespace test;
using Phase = TrainingPhase;

RunConfig small_run() {
  RunConfig config;
  config.data.task = TaskConfig{.name = "look-ups"};
  const Result<std::unique_ptr<const Task>> task = make_task(*config.data.task, "");
  REQUIRE(task);
  config.model = (*task)->form();
  config.model.d_model = 8;
  config.model.n_heads = 2;
  config.model.d_head = 4;
  config.model.n_layers = 1;
  config.optimiser.rate = 1e-2;
  config.graph.dropout = 0.1;
  config.batch_size = 4;
  config.stop.n_steps = 120;
  config.evaluate_every = 40;
  config.n_held_out = 4;
  return config;
}

std::unique_ptr<Run> make_run(const RunConfig& config, int n_threads = 1) {
  Result<std::unique_ptr<Run>> run = Run::make(config, {.n_threads = n_threads});
  if (!run) FAIL("make: " << run.error().key);
  return *std::move(run);
}

/// Waits until the condition holds; a minute is for a machine that is very busy.
template <class Condition>
bool wait_for(const Condition& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  return true;
}

bool wait_for_phase(const TrainingThread& thread, Phase phase) {
  return wait_for([&] { return thread.progress().phase == phase; });
}

TrainState state_of(TrainingThread& thread) {
  TrainState state;
  thread.with_run([&state](Run& run) { state = run.trainer().state(); });
  return state;
}

TEST_CASE("a run on a thread, paused, stepped, watched and lent out, gives the same bits",
          "[core][training_thread]") {
  const auto alone = make_run(small_run());
  while (!alone->stop_reason()) REQUIRE(alone->run_step());

  TrainingThread thread(make_run(small_run(), 2));
  CHECK(thread.progress().phase == Phase::paused);
  CHECK(thread.progress().step == 0);
  CHECK(thread.progress().evaluation);
  thread.watch({.tensors = {"decoder.block0.self_attention.weights", "loss", "source.ids", "no such"}});
  thread.single_step();
  REQUIRE(wait_for([&] { return thread.progress().step == 1; }));
  CHECK(thread.progress().phase == Phase::paused);
  std::int64_t last_seen = 0;
  int n_seen = 0;
  for (int time = 0; thread.progress().phase != Phase::stopped; ++time) {
    REQUIRE(time < 100000);
    thread.start();
    if (time % 3 == 0) thread.pause();
    if (time % 7 == 0) thread.with_run([](Run& run) { REQUIRE(run.state_at(run.trainer().step() / 2)); });
    if (const Snapshot<float>* snapshot = thread.take_snapshot()) {
      ++n_seen;
      CHECK(snapshot->step > last_seen);
      last_seen = snapshot->step;
      REQUIRE(snapshot->parts.size() == 2);
      const Snapshot<float>::Part& weights = snapshot->parts[0];
      CHECK(thread.snapshot_graph()->spec(weights.tensor).name == "decoder.block0.self_attention.weights");
      double sum = 0;  // of each row of a softmax: 1
      for (std::size_t place = 0; place < weights.count; ++place)
        sum += static_cast<double>(snapshot->numbers[weights.values + place]);
      CHECK(sum == Approx(static_cast<double>(weights.shape[1] * weights.shape[2])).epsilon(1e-5));
    }
    std::this_thread::sleep_for(std::chrono::microseconds(300));
  }
  CHECK(n_seen > 0);
  const TrainingProgress progress = thread.progress();
  CHECK(progress.stop_reason == StopReason::steps);
  CHECK(progress.step == 120);
  CHECK(progress.n_steps == 120);
  CHECK(progress.report.loss == alone->series().back().report.loss);
  CHECK(progress.evaluation->loss == alone->evaluation()->loss);
  CHECK(same_state(state_of(thread), alone->trainer().state()));
  thread.single_step();  // even after the stop
  REQUIRE(wait_for([&] { return thread.progress().step == 121; }));
}

TEST_CASE("changes are made between steps, a refused one is said, and a replay knows them",
          "[core][training_thread]") {
  TrainingThread thread(make_run(small_run()));
  thread.watch({.tensors = {"logits"}, .row = 3});
  thread.change(SetRate{5e-3});
  REQUIRE(wait_for([&] {
    bool is_there = false;
    thread.with_run([&](Run& run) { is_there = run.trainer().events().size() == 1; });
    return is_there;
  }));
  CHECK(thread.progress().step == 0);  // made although it is paused
  thread.start();
  REQUIRE(wait_for([&] { return thread.progress().step > 10; }));
  thread.change(SetDropout{0});  // another graph
  thread.change(SetBatchSize{9});
  REQUIRE(wait_for([&] { return thread.progress().step > 40; }));
  thread.change(SetBatchSize{2});  // the watched row is no longer there
  thread.change(SetRate{-1});
  REQUIRE(wait_for([&] { return thread.progress().refused.has_value(); }));
  CHECK(thread.progress().refused->key == "optimiser.range");
  REQUIRE(wait_for_phase(thread, Phase::stopped));
  const Snapshot<float>* const snapshot = thread.take_snapshot();
  REQUIRE(snapshot);
  CHECK(snapshot->parts.size() == 1);
  thread.with_run([&](Run& run) {
    CHECK(run.trainer().events().size() == 4);
    const TrainState now = run.trainer().state();
    Result<std::unique_ptr<Trainer>> replayer = run.trainer().make_replayer();
    REQUIRE(replayer);
    (*replayer)->restore(run.history().checkpoints().begin()->second);
    run_to(**replayer, now.step);
    CHECK(same_state((*replayer)->state(), now));
  });
}

TEST_CASE("a step that fails stops the thread, and a smaller rate lets it go on", "[core][training_thread]") {
  RunConfig config = small_run();
  config.optimiser = {.kind = OptimiserKind::sgd, .rate = 1000};
  config.stop.n_steps = 1000;
  TrainingThread thread(make_run(config));
  thread.start();
  REQUIRE(wait_for([&] {
    const Phase phase = thread.progress().phase;
    return phase == Phase::failed || phase == Phase::stopped;
  }));
  const TrainingProgress progress = thread.progress();
  REQUIRE(progress.phase == Phase::failed);
  REQUIRE(progress.error);
  CHECK(progress.error->key.starts_with("training."));
  CHECK(value_of(*progress.error, "step") == std::to_string(progress.step + 1));
  // back to where all was well, with another rate
  thread.with_run([](Run& run) {
    REQUIRE(run.go_back_to(0));
    REQUIRE(run.change(SetRate{1e-3}));
    run.set_stop({.n_steps = 30});
  });
  CHECK(thread.progress().step == 0);
  thread.start();
  REQUIRE(wait_for_phase(thread, Phase::stopped));
  CHECK(thread.progress().step == 30);
  CHECK_FALSE(thread.progress().error);
}

TEST_CASE("a run that cannot be kept stops, loses nothing, and tries again", "[core][training_thread]") {
  std::atomic<bool> is_full = true;
  std::atomic<std::int64_t> kept_step = -1;
  TrainingThread thread(make_run(small_run()), [&](const Run& run) -> Result<void> {
    if (is_full && run.trainer().step() >= 5) return Error{"file.disk_full", "somewhere"};
    kept_step = run.trainer().step();
    return {};
  });
  thread.start();
  REQUIRE(wait_for_phase(thread, Phase::failed));
  CHECK(thread.progress().error->key == "file.disk_full");
  CHECK(thread.progress().step == 5);
  CHECK(kept_step == 4);
  is_full = false;
  thread.start();
  REQUIRE(wait_for_phase(thread, Phase::stopped));
  CHECK(kept_step == 120);
}

TEST_CASE("a thread can be ended at any time", "[core][training_thread]") {
  for (int time = 0; time < 20; ++time) {
    TrainingThread thread(make_run(small_run()));
    thread.watch({.tensors = {"loss"}});
    if (time % 2 == 1) thread.start();
    if (time % 3 == 1) thread.change(SetRate{1e-3});
    if (time % 5 == 1) thread.single_step();
    if (time % 4 == 1) thread.with_run([](Run&) {});
    std::this_thread::sleep_for(std::chrono::microseconds(150 * time));
    thread.take_snapshot();
  }
  SUCCEED();
}

}  // namespace
}  // namespace headscope::core
