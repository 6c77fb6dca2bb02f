// Something that is computed beside the drawing: on a thread of its own, with word of how far it is, and
// stopped when nobody waits for it any more.
#pragma once

#include "core/progress.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace headscope::simulator {

/// `T` is the result. Its thread shares nothing with others but what the work was given.
template <class T>
class Background {
 public:
  /// Tells the progress how far it is where it can; no result: it was stopped. Lets no exception out.
  using Work = std::function<std::optional<T>(const core::Progress& progress)>;

  /// Begins at once.
  explicit Background(Work work) : thread_([this, kept = std::move(work)] { run(kept); }) {}
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  /// Stops it, and waits until it has.
  ~Background() {
    stop();
    thread_.join();
  }

  /// From 0 to 1.
  double share() const { return share_; }
  /// The work ends as soon as it asks whether it should go on.
  void stop() { is_stopped_ = true; }
  bool is_stopped() const { return is_stopped_; }
  /// Whether the work is over within so many seconds.
  bool wait(double seconds) {
    std::unique_lock lock(mutex_);
    return done_.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return is_done_; });
  }
  /// What came of it; none: it was stopped. Precondition: the work is over.
  std::optional<T> take() {
    const std::lock_guard guard(mutex_);
    return std::move(result_);
  }

 private:
  void run(const Work& work) {
    std::optional<T> result = work([this](double share) {
      share_ = share;
      return !is_stopped_;
    });
    const std::lock_guard guard(mutex_);
    result_ = std::move(result);
    is_done_ = true;
    done_.notify_all();
  }

  std::atomic<double> share_ = 0;
  std::atomic<bool> is_stopped_ = false;
  std::mutex mutex_;
  std::condition_variable done_;
  bool is_done_ = false;
  std::optional<T> result_;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace headscope::simulator
