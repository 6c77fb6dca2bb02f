#include "simulator/gradient_job.h"

#include <chrono>
#include <new>
#include <utility>

namespace headscope::simulator {

GradientJob::GradientJob(std::shared_ptr<core::DetachedChecker> checker, const CellAddress& address)
    : address_(address), thread_([this, kept = std::move(checker)] { work(*kept); }) {}

GradientJob::~GradientJob() {
  is_stopped_ = true;
  thread_.join();
}

std::optional<core::Result<core::GradientCheck>> GradientJob::wait(double seconds) {
  std::unique_lock lock(mutex_);
  done_.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return result_.has_value(); });
  return result_;
}

void GradientJob::work(core::DetachedChecker& checker) {
  std::optional<core::Result<core::GradientCheck>> result;
  try {
    const std::optional<core::GradientCheck> check =
        checker.check(address_.tensor, address_.cell, [this](double share) {
          share_ = share;
          return !is_stopped_;
        });
    if (!check) return;  // stopped: nobody waits
    result = *check;
  } catch (const std::bad_alloc&) {
    result = core::Error{"session.check_memory", ""};
  }
  const std::lock_guard guard(mutex_);
  result_ = std::move(result);
  done_.notify_all();
}

}  // namespace headscope::simulator
