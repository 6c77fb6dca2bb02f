// A training step allocates nothing. A program of its own, since it replaces operator new for all of it.
#include "core/training/train_step.h"
#include "core/training/watch.h"
#include "tests/core/every_model.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::int64_t> n_allocations{0};

void* counted(std::size_t bytes, std::size_t alignment) {
  n_allocations.fetch_add(1, std::memory_order_relaxed);
  const std::size_t whole = (bytes + alignment - 1) / alignment * alignment;
  void* const data = std::aligned_alloc(alignment, whole == 0 ? alignment : whole);
  if (!data) throw std::bad_alloc();
  return data;
}

}  // namespace

void* operator new(std::size_t bytes) {
  return counted(bytes, alignof(std::max_align_t));
}
void* operator new[](std::size_t bytes) {
  return counted(bytes, alignof(std::max_align_t));
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* data) noexcept {
  std::free(data);
}
void operator delete[](void* data) noexcept {
  std::free(data);
}
void operator delete(void* data, std::size_t) noexcept {
  std::free(data);
}
void operator delete[](void* data, std::size_t) noexcept {
  std::free(data);
}
void operator delete(void* data, std::align_val_t) noexcept {
  std::free(data);
}
void operator delete[](void* data, std::align_val_t) noexcept {
  std::free(data);
}
void operator delete(void* data, std::size_t, std::align_val_t) noexcept {
  std::free(data);
}
void operator delete[](void* data, std::size_t, std::align_val_t) noexcept {
  std::free(data);
}

namespace headscope::core {
namespace {

TEST_CASE("a training step allocates nothing, whatever the model, the threads and the batch",
          "[core][training]") {
  const std::int64_t at_start = n_allocations;
  const std::vector<int> one(1);  // the counter counts
  REQUIRE(n_allocations > at_start);
  for (const auto& [name, config] : test::every_config()) {
    if (config.objective == Objective::none) continue;
    for (const int n_threads : {1, 2}) {
      const auto model = test::make_model<float>(config, {.dropout = 0.1, .label_smoothing = 0.1});
      TrainStep<float> training(model.graph, model.fed.sizes,
                                {.optimiser = {.clip_norm = 1}, .n_threads = n_threads});
      test::draw_parameters(model.graph, training.workspace());
      set_inputs(model.graph, training.workspace(), model.fed);
      Watch<float> watch(training, {.tensors = {model.id("logits"), model.id("loss")}});
      const std::int64_t before = n_allocations;
      bool is_trained = true;
      for (std::int64_t number = 1; number <= 3; ++number) {
        const Result<StepReport> report = training.run(number);
        is_trained = is_trained && report;
        watch.publish(training, number, *report);
        is_trained = is_trained && watch.take();
        // binding sizes within the capacity, as another batch does
        training.workspace().bind(model.graph, model.fed.sizes);
      }
      const std::int64_t after = n_allocations;
      INFO(name << ", " << n_threads << " threads");
      CHECK(is_trained);
      CHECK(after == before);
    }
  }
}

}  // namespace
}  // namespace headscope::core
