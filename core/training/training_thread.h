// A run on a thread of its own: commands go in, progress and snapshots come out, and nobody waits for the
// other.
#pragma once

#include "core/training/run.h"
#include "core/training/watch.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace headscope::core {

enum class TrainingPhase : std::uint8_t { paused, running, stopped, failed };

/// What the interface shows of a running training; a copy.
struct TrainingProgress {
  TrainingPhase phase = TrainingPhase::paused;
  std::int64_t step = 0;
  std::int64_t n_steps = 0;  // of the stop condition
  StepReport report = {};
  std::optional<Evaluation> evaluation = {};  // the newest
  double steps_per_second = 0;                // lately; 0 until it is known
  std::optional<StopReason> stop_reason = {};
  /// Phase failed: the step that could not be done, the state being that before it; or the step that could
  /// not be kept.
  std::optional<Error> error = {};
  std::optional<Error> refused = {};  // the last change, if it was refused
};

/// What a viewer wants to see, by name: ids change with the graph, when dropout is turned on or off. Names
/// that the graph does not have at that time, and tensors of whole numbers, are left out.
struct WatchedNames {
  std::vector<std::string> tensors = {};
  std::int64_t row = 0;        // of the batch; the last one where it has fewer
  bool has_parameters = true;  // all parameters, too
};

/// Everything may be called from one other thread, the viewer's; nothing but with_run() waits for the
/// training.
class TrainingThread {
 public:
  /// Writes what is new of a run to disk (RunDirectory::update()): called on the run's thread after each step
  /// and each change. Where it fails the run pauses, phase failed; started again, it is called again.
  using Keep = std::function<Result<void>(const Run&)>;

  /// Starts the thread, paused.
  explicit TrainingThread(std::unique_ptr<Run> run, Keep keep = {});
  TrainingThread(const TrainingThread&) = delete;
  TrainingThread& operator=(const TrainingThread&) = delete;
  ~TrainingThread();  // stops between two steps; what was commanded and not begun is dropped

  void start();        // goes on until paused or stopped by its conditions
  void pause();        // after the step that is running
  void single_step();  // one step, even after a stop; then paused
  /// Before the next step, paused or not; a refusal appears in progress().refused and changes nothing.
  void change(Change change);
  /// From the next step on.
  void watch(WatchedNames watched);
  TrainingProgress progress() const;
  /// The newest snapshot of what is watched, which stays as it is until the next call; null where none is
  /// newer than the last one.
  const Snapshot<float>* take_snapshot();
  /// The graph that the ids in the last snapshot are of; null before the first.
  std::shared_ptr<const Graph> snapshot_graph() const { return viewed_ ? viewed_->graph : nullptr; }
  /// Lends the run out while the function runs, between two steps: to save, to scrub, to look at a whole
  /// workspace. Waits for the step that is running, and what it writes to disk. Goes on afterwards if it was
  /// running.
  void with_run(const std::function<void(Run&)>& function);

 private:
  /// What is watched in one graph, at one capacity.
  struct Watching {
    std::shared_ptr<const Graph> graph;
    const TrainStep<float>* training;  // to compare only
    std::int64_t row;
    Watch<float> watch;
  };

  void serve();
  bool has_work() const;
  void do_changes(const std::vector<Change>& changes, std::unique_lock<std::mutex>& lock);
  void do_step(std::unique_lock<std::mutex>& lock);
  void publish(const StepReport& report);
  void show_run();
  void measure_speed();

  std::unique_ptr<Run> run_;  // the thread's while it computes, the borrower's while it is lent
  Keep keep_;

  mutable std::mutex mutex_;  // of all below; never held while anything is computed
  std::condition_variable wake_, idle_;
  bool is_over_ = false, is_running_ = false, is_computing_ = false, is_lent_ = false;
  int n_single_ = 0;     // steps to do although it is paused
  int n_borrowers_ = 0;  // who wait for the run
  std::vector<Change> changes_;
  std::optional<WatchedNames> wanted_;
  bool is_newly_wanted_ = false;
  std::shared_ptr<Watching> watching_;
  TrainingProgress progress_;

  std::shared_ptr<Watching> viewed_;  // the viewer's alone
  // the thread's alone
  std::chrono::steady_clock::time_point speed_since_{};
  std::int64_t speed_step_ = -1;
  std::thread thread_;
};

}  // namespace headscope::core
