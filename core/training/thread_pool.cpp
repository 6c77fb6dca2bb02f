#include "core/training/thread_pool.h"

#include <system_error>

namespace headscope::core {
namespace {

/// How often to look before going to sleep, since loops follow one another quickly: some tens to hundreds of
/// microseconds, by processor. A wait without end would hold a processor that another program wants.
constexpr int kLooks = 4000;

template <class Value, class Done>
void wait_until(const std::atomic<Value>& value, const Done& is_done) {
  for (int look = 0; look < kLooks; ++look) {
    if (is_done(value.load(std::memory_order_acquire))) return;
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
  }
  for (Value seen = value.load(std::memory_order_acquire); !is_done(seen);
       seen = value.load(std::memory_order_acquire))
    value.wait(seen, std::memory_order_acquire);
}

}  // namespace

ThreadPool::ThreadPool(int n_threads) {
  try {
    for (int thread = 1; thread < n_threads; ++thread) workers_.emplace_back([this] { serve(); });
  } catch (const std::system_error&) {
    // the system has no more: those that started share the work, with the same results
  }
}

ThreadPool::~ThreadPool() {
  is_over_ = true;
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::start(const Loop& loop) {
  loop_ = loop;
  next_item_.store(0, std::memory_order_relaxed);
  n_busy_.store(static_cast<std::uint32_t>(workers_.size()), std::memory_order_relaxed);
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  work();
  wait_until(n_busy_, [](std::uint32_t n_busy) { return n_busy == 0; });
}

void ThreadPool::work() {
  for (std::int64_t item = next_item_.fetch_add(1, std::memory_order_relaxed); item < loop_.n_items;
       item = next_item_.fetch_add(1, std::memory_order_relaxed))
    loop_.call(loop_.context, item);
}

void ThreadPool::serve() {
  std::uint32_t seen = 0;
  while (true) {
    wait_until(round_, [seen](std::uint32_t round) { return round != seen; });
    // start() waits for every worker, so no round is missed
    seen = round_.load(std::memory_order_acquire);
    if (is_over_) return;
    work();
    if (n_busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) n_busy_.notify_one();
  }
}

}  // namespace headscope::core
