#include "core/training/watch.h"

#include <algorithm>
#include <cassert>

namespace headscope::core {
namespace {

/// How many of a tensor's numbers are copied: one row's where its first side is the batch.
std::int64_t watched_count(const Graph& graph, TensorId tensor, const Shape& shape) {
  const bool has_rows =
      graph.spec(tensor).shape.rank() > 0 && graph.spec(tensor).shape[0].axis == Axis::batch;
  return has_rows && shape[0] > 0 ? shape.count() / shape[0] : shape.count();
}

}  // namespace

template <class T>
Watch<T>::Watch(const TrainStep<T>& training, const WatchedTensors& watched) : watched_(watched) {
  const Workspace<T>& workspace = training.workspace();
  std::size_t n_numbers = 0;
  for (const TensorId tensor : watched.tensors) {
    assert(training.graph().spec(tensor).element == Element::real);
    const Shape largest = bind(training.graph().spec(tensor).shape, workspace.capacity());
    const auto count = static_cast<std::size_t>(watched_count(training.graph(), tensor, largest));
    n_numbers += workspace.has_gradient(tensor) ? 2 * count : count;
  }
  for (Snapshot<T>& buffer : buffers_) {
    buffer.parts.resize(watched.tensors.size());
    buffer.numbers.resize(n_numbers);
    if (watched.has_parameters) buffer.parameters.resize(workspace.plan().n_parameters());
  }
}

template <class T>
void Watch<T>::publish(const TrainStep<T>& training, std::int64_t step, const StepReport& report) {
  assert(watched_.row < training.workspace().sizes().batch);
  Snapshot<T>& snapshot = buffers_[trainers_];
  const Workspace<T>& workspace = training.workspace();
  const Graph& graph = training.graph();
  snapshot.step = step;
  snapshot.report = report;
  std::size_t end = 0;
  for (std::size_t place = 0; place < watched_.tensors.size(); ++place) {
    const TensorId tensor = watched_.tensors[place];
    Shape shape = workspace.shape(tensor);
    const auto count = static_cast<std::size_t>(watched_count(graph, tensor, shape));
    const bool is_one_row = static_cast<std::int64_t>(count) != shape.count();
    const std::size_t first = is_one_row ? static_cast<std::size_t>(watched_.row) * count : 0;
    auto& part = snapshot.parts[place];
    part = {tensor, {}, end, 0, count, workspace.has_gradient(tensor)};
    for (int side = 0; side < shape.rank(); ++side)
      part.shape.push_back(side == 0 && is_one_row ? 1 : shape[side]);
    std::copy_n(workspace.values(tensor).data() + first, count, snapshot.numbers.data() + end);
    end += count;
    if (!part.has_gradients) continue;
    part.gradients = end;
    std::copy_n(workspace.gradients(tensor).data() + first, count, snapshot.numbers.data() + end);
    end += count;
  }
  if (watched_.has_parameters) std::ranges::copy(workspace.parameters(), snapshot.parameters.begin());
  trainers_ = between_.exchange(trainers_ | kIsNew, std::memory_order_acq_rel) & ~kIsNew;
}

template <class T>
const Snapshot<T>* Watch<T>::take() {
  if ((between_.load(std::memory_order_acquire) & kIsNew) == 0) return nullptr;
  viewers_ = between_.exchange(viewers_, std::memory_order_acq_rel) & ~kIsNew;
  return &buffers_[viewers_];
}

template class Watch<float>;
template class Watch<double>;

}  // namespace headscope::core
