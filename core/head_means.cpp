#include "core/head_means.h"

#include "core/model.h"

#include <cassert>
#include <cstddef>
#include <span>

namespace headscope::core {
namespace {

/// The lengths of the rows that ask: the target's where the queries are the target's positions.
TensorId lengths_of_queries(const Graph& graph, TensorId head_output) {
  const Inputs inputs = find_inputs(graph);
  const bool is_target = graph.spec(head_output).shape[2].extent == Extent::target();
  return is_target ? *inputs.target_lengths : inputs.lengths;
}

}  // namespace

HeadMeans::HeadMeans(const Graph& graph, TensorId head_output, std::int64_t head)
    : head_output_(head_output),
      lengths_(lengths_of_queries(graph, head_output)),
      head_(head),
      d_head_(graph.spec(head_output).shape[3].extent.size) {
  assert(graph.spec(head_output).shape.find(Axis::head) == 1);
}

template <class T>
void HeadMeans::add(const Workspace<T>& workspace) {
  const Shape& shape = workspace.shape(head_output_);
  const std::span<const T> values = workspace.values(head_output_);
  const std::span<const std::int32_t> lengths = workspace.integers(lengths_);
  for (std::int64_t b = 0; b < shape[0]; ++b) {
    const auto length = static_cast<std::size_t>(lengths[static_cast<std::size_t>(b)]);
    if (length == 0) continue;
    if (n_rows_.size() < length)
      n_rows_.resize(length), sums_.resize(length * static_cast<std::size_t>(d_head_));
    const T* row = &values[static_cast<std::size_t>(shape.flat({b, head_, 0, 0}))];
    for (std::size_t i = 0; i < length; ++i) {
      ++n_rows_[i];
      for (std::int64_t c = 0; c < d_head_; ++c)
        sums_[i * static_cast<std::size_t>(d_head_) + static_cast<std::size_t>(c)] +=
            static_cast<double>(*row++);
    }
  }
}
template void HeadMeans::add(const Workspace<float>&);
template void HeadMeans::add(const Workspace<double>&);

Shape HeadMeans::shape() const {
  return {static_cast<std::int64_t>(n_rows_.size()), d_head_};
}

std::vector<double> HeadMeans::means() const {
  std::vector<double> means = sums_;
  for (std::size_t at = 0; at < means.size(); ++at)
    means[at] /= static_cast<double>(n_rows_[at / static_cast<std::size_t>(d_head_)]);
  return means;
}

}  // namespace headscope::core
