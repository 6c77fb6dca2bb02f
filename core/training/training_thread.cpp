#include "core/training/training_thread.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace headscope::core {

TrainingThread::TrainingThread(std::unique_ptr<Run> run, Keep keep)
    : run_(std::move(run)), keep_(std::move(keep)) {
  show_run();
  thread_ = std::thread([this] { serve(); });
}

TrainingThread::~TrainingThread() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void TrainingThread::start() {
  {
    const std::lock_guard lock(mutex_);
    is_running_ = true;
    progress_.phase = TrainingPhase::running;
    progress_.error.reset();
  }
  wake_.notify_all();
}

void TrainingThread::pause() {
  const std::lock_guard lock(mutex_);
  n_single_ = 0;
  if (!is_running_) return;
  is_running_ = false;
  progress_.phase = TrainingPhase::paused;
}

void TrainingThread::single_step() {
  {
    const std::lock_guard lock(mutex_);
    is_running_ = false;
    ++n_single_;
    progress_.phase = TrainingPhase::paused;
    progress_.error.reset();
  }
  wake_.notify_all();
}

void TrainingThread::change(Change change) {
  {
    const std::lock_guard lock(mutex_);
    changes_.push_back(std::move(change));
  }
  wake_.notify_all();
}

void TrainingThread::watch(WatchedNames watched) {
  const std::lock_guard lock(mutex_);
  wanted_ = std::move(watched);
  is_newly_wanted_ = true;
}

TrainingProgress TrainingThread::progress() const {
  const std::lock_guard lock(mutex_);
  return progress_;
}

const Snapshot<float>* TrainingThread::take_snapshot() {
  std::shared_ptr<Watching> watching;
  {
    const std::lock_guard lock(mutex_);
    watching = watching_;
  }
  const Snapshot<float>* const snapshot = watching ? watching->watch.take() : nullptr;
  if (snapshot) viewed_ = std::move(watching);
  return snapshot;
}

void TrainingThread::with_run(const std::function<void(Run&)>& function) {
  std::unique_lock lock(mutex_);
  ++n_borrowers_;
  idle_.wait(lock, [this] { return !is_computing_ && !is_lent_; });
  is_lent_ = true;
  lock.unlock();
  const auto give_back = [this, &lock] {
    lock.lock();
    is_lent_ = false;
    --n_borrowers_;
    lock.unlock();
    wake_.notify_all();
    idle_.notify_all();
  };
  try {
    function(*run_);
    show_run();  // it may have gone back
  } catch (...) {
    give_back();
    throw;
  }
  give_back();
}

/// Copies what the run says of itself. Its caller has the run.
void TrainingThread::show_run() {
  TrainingProgress now;
  now.step = run_->trainer().step();
  now.n_steps = run_->config().stop.n_steps;
  if (!run_->series().empty()) now.report = run_->series().back().report;
  if (const Evaluation* evaluation = run_->evaluation()) now.evaluation = *evaluation;
  now.stop_reason = run_->stop_reason();
  const std::lock_guard lock(mutex_);
  now.phase = progress_.phase;
  now.steps_per_second = progress_.steps_per_second;
  now.error = std::move(progress_.error);
  now.refused = std::move(progress_.refused);
  progress_ = std::move(now);
}

bool TrainingThread::has_work() const {
  if (is_over_) return true;
  return n_borrowers_ == 0 && (is_running_ || n_single_ > 0 || !changes_.empty());
}

void TrainingThread::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (!is_running_) speed_step_ = -1;
    wake_.wait(lock, [this] { return has_work(); });
    if (is_over_) return;
    is_computing_ = true;
    if (!changes_.empty())
      do_changes(std::exchange(changes_, {}), lock);
    else
      do_step(lock);
    is_computing_ = false;
    idle_.notify_all();
  }
}

void TrainingThread::do_changes(const std::vector<Change>& changes, std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  std::optional<Error> refused, failed;
  for (const Change& change : changes) {
    refused.reset();
    if (Result<void> changed = run_->change(change); !changed) refused = changed.error();
  }
  if (keep_)
    if (Result<void> kept = keep_(*run_); !kept) failed = kept.error();
  show_run();
  lock.lock();
  progress_.refused = std::move(refused);
  if (!failed) return;
  progress_.error = std::move(failed);
  progress_.phase = TrainingPhase::failed;
  is_running_ = false;
  n_single_ = 0;
}

void TrainingThread::do_step(std::unique_lock<std::mutex>& lock) {
  const bool is_single = n_single_ > 0;
  if (is_single) --n_single_;
  lock.unlock();
  std::optional<Error> failed;
  if (is_single || !run_->stop_reason()) {
    if (Result<void> done = run_->run_step(); !done)
      failed = done.error();
    else
      publish(run_->series().back().report);
    if (!failed && keep_)
      if (Result<void> kept = keep_(*run_); !kept) failed = kept.error();
    measure_speed();
  }
  show_run();
  const bool has_stopped = run_->stop_reason().has_value();
  lock.lock();
  if (failed) {
    progress_.error = std::move(failed);
    progress_.phase = TrainingPhase::failed;
  } else if (is_running_ && has_stopped) {
    progress_.phase = TrainingPhase::stopped;
  } else {
    return;
  }
  is_running_ = false;
  n_single_ = 0;
}

/// Copies what is watched, into buffers of this graph and capacity.
void TrainingThread::publish(const StepReport& report) {
  const Trainer& trainer = run_->trainer();
  const TrainStep<float>& training = trainer.training();
  std::shared_ptr<Watching> watching;
  std::optional<WatchedNames> wanted;
  {
    const std::lock_guard lock(mutex_);
    if (!wanted_) return;
    watching = watching_;
    const std::int64_t row =
        std::clamp<std::int64_t>(wanted_->row, 0, training.workspace().sizes().batch - 1);
    const bool is_right = watching && !is_newly_wanted_ && watching->training == &training &&
                          watching->graph == trainer.shared_graph() && watching->row == row;
    if (!is_right) {
      wanted = wanted_;
      wanted->row = row;
      is_newly_wanted_ = false;
    }
  }
  if (wanted) {
    WatchedTensors watched{.tensors = {}, .row = wanted->row, .has_parameters = wanted->has_parameters};
    for (const std::string& name : wanted->tensors) {
      const std::optional<TensorId> tensor = trainer.graph().find(name);
      if (tensor && trainer.graph().spec(*tensor).element == Element::real)
        watched.tensors.push_back(*tensor);
    }
    watching = std::shared_ptr<Watching>(
        new Watching{trainer.shared_graph(), &training, wanted->row, Watch<float>(training, watched)});
    const std::lock_guard lock(mutex_);
    watching_ = watching;
  }
  if (watching->watch.is_wanted()) watching->watch.publish(training, trainer.step(), report);
}

/// Steps over the last quarter of a second or so, while it runs without a pause.
void TrainingThread::measure_speed() {
  constexpr double kInterval = 0.25;  // seconds
  const auto now = std::chrono::steady_clock::now();
  const std::int64_t step = run_->trainer().step();
  const double seconds = std::chrono::duration<double>(now - speed_since_).count();
  if (speed_step_ >= 0 && step > speed_step_ && seconds < kInterval) return;
  if (speed_step_ >= 0 && step > speed_step_) {
    const std::lock_guard lock(mutex_);
    progress_.steps_per_second = static_cast<double>(step - speed_step_) / seconds;
  }
  speed_since_ = now;
  speed_step_ = step;
}

}  // namespace headscope::core
