// How a viewer looks at a training model without stopping it: copies of a few tensors, of one example, made
// between steps. The newest wins; nobody waits.
#pragma once

#include "core/aligned.h"
#include "core/training/train_step.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace headscope::core {

/// What a viewer wants to see: the values, and where there are any the gradients, of tensors. Of a tensor
/// with a side for the batch the numbers of one
/// row alone. Integer tensors cannot be watched.
struct WatchedTensors {
  std::vector<TensorId> tensors;
  std::int64_t row = 0;        // of the batch
  bool has_parameters = true;  // all parameters, too
};

/// One moment of the training.
template <class T>
struct Snapshot {
  std::int64_t step = 0;  // 0: none yet
  StepReport report;
  struct Part {
    TensorId tensor;
    Shape shape;  // as bound in that step, the batch's side 1
    std::size_t values = 0, gradients = 0,
                count = 0;  // places in `numbers`; gradients: 0 where there are none
    bool has_gradients = false;
  };
  std::vector<Part> parts;
  AlignedVector<T> numbers;
  AlignedVector<T> parameters;  // laid out as Workspace::parameters()
};

/// A triple buffer between one trainer and one viewer (so far the benchmark, which measures its cost): each
/// owns one snapshot, the third is between them.
template <class T>
class Watch {
 public:
  /// Makes room for everything at the workspace's capacity. Precondition: the row is within the batch.
  Watch(const TrainStep<T>& training, const WatchedTensors& watched);

  /// The trainer, between steps: whether the viewer has taken the last snapshot.
  bool is_wanted() const { return (between_.load(std::memory_order_acquire) & kIsNew) == 0; }
  /// The trainer, between steps: copies what is watched. Allocates nothing. Precondition: the watched row is
  /// within the batch that is bound.
  void publish(const TrainStep<T>& training, std::int64_t step, const StepReport& report);
  /// The viewer: the newest snapshot, which stays as it is until the next call. Null where none is newer than
  /// the last one.
  const Snapshot<T>* take();

 private:
  static constexpr std::uint32_t kIsNew = 4;  // beside the index of the buffer between the two

  WatchedTensors watched_;
  std::array<Snapshot<T>, 3> buffers_;
  std::uint32_t trainers_ = 0, viewers_ = 1;
  std::atomic<std::uint32_t> between_{2};
};

}  // namespace headscope::core
