// Threads that share the items of one loop at a time. Who takes which item is chance; items must not depend
// on one another.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <type_traits>
#include <vector>

namespace headscope::core {

/// `n_threads` threads, the caller's among them; fewer where the system has no more. With one, nothing is
/// started and run() is a plain loop.
class ThreadPool {
 public:
  explicit ThreadPool(int n_threads);
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool();

  int n_threads() const { return static_cast<int>(workers_.size()) + 1; }

  /// Calls function(item) for every item in [0, n_items), once each, and returns when all have returned. What
  /// they wrote is then visible to the caller. Allocates nothing. Precondition: function does not throw, and
  /// does not call run().
  template <class Function>
  void run(std::int64_t n_items, const Function& function) {
    if (workers_.empty() || n_items <= 1) {
      for (std::int64_t item = 0; item < n_items; ++item) function(item);
      return;
    }
    start({[](const void* context, std::int64_t item) { (*static_cast<const Function*>(context))(item); },
           &function, n_items});
  }

 private:
  struct Loop {
    void (*call)(const void*, std::int64_t) = nullptr;
    const void* context = nullptr;
    std::int64_t n_items = 0;
  };

  void start(const Loop& loop);
  void work();
  void serve();

  Loop loop_;
  std::atomic<std::int64_t> next_item_{0};
  std::atomic<std::uint32_t> round_{0};   // moves when a loop begins
  std::atomic<std::uint32_t> n_busy_{0};  // workers that have not finished the loop
  std::atomic<bool> is_over_{false};
  std::vector<std::thread> workers_;
};

}  // namespace headscope::core
