// A gradient check beside the drawing: on a thread of its own, with word of how far it is, and stopped when
// nobody waits for it any more.
#pragma once

#include "core/detached_checker.h"
#include "core/result.h"
#include "simulator/app_state.h"

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace headscope::simulator {

class GradientJob {
 public:
  /// Begins at once. Precondition: nobody else uses the checker meanwhile.
  GradientJob(std::shared_ptr<core::DetachedChecker> checker, const CellAddress& address);
  GradientJob(const GradientJob&) = delete;
  GradientJob& operator=(const GradientJob&) = delete;
  /// Stops it: behind the operation that runs.
  ~GradientJob();

  const CellAddress& address() const { return address_; }
  /// From 0 to 1.
  double share() const { return share_; }
  /// The result, once there is one within so many seconds. Errors: session.check_memory.
  std::optional<core::Result<core::GradientCheck>> wait(double seconds);

 private:
  void work(core::DetachedChecker& checker);

  const CellAddress address_;
  std::atomic<double> share_ = 0;
  std::atomic<bool> is_stopped_ = false;
  std::mutex mutex_;
  std::condition_variable done_;
  std::optional<core::Result<core::GradientCheck>> result_;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace headscope::simulator
