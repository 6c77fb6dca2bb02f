// What a head puts out on average at each position, over text: for mean_head() (core/interventions.h).
#pragma once

#include "core/graph.h"
#include "core/workspace.h"

#include <cstdint>
#include <vector>

namespace headscope::core {

/// The sums of one head's output, position by position, over as many batches as are added.
class HeadMeans {
 public:
  /// `head_output` [n_batch, n_heads, i, d_head] of an attention of this graph, which must outlive it.
  HeadMeans(const Graph& graph, TensorId head_output, std::int64_t head);

  /// Adds every row's own positions; padding is left out. Precondition: in this workspace of the graph, the
  /// operation that writes `head_output` has run.
  template <class T>
  void add(const Workspace<T>& workspace);

  /// [the longest row that was added, d_head]; its first side is 0 where no row had a token.
  Shape shape() const;
  /// The means, row-major: at each position over the rows that have it.
  std::vector<double> means() const;

 private:
  TensorId head_output_, lengths_;
  std::int64_t head_, d_head_;
  std::vector<double> sums_;          // [position, d_head]
  std::vector<std::int64_t> n_rows_;  // [position]: the rows that have it
};

}  // namespace headscope::core
