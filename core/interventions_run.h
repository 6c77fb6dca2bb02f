// What a run does where a person set cells by hand: sets them after their operation, and keeps the backward
// pass of that operation from sending their gradient upstream.
#pragma once

#include "core/execute.h"
#include "core/interventions.h"
#include "core/workspace.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace headscope::core {

/// Calls visit(override, cell, flat place) for the cells that are set by hand of a tensor of this shape, in
/// the order of the overrides: where two of them hold a cell, the later comes later. `rows` limits the first
/// side where that is the batch's.
template <class Visit>
void for_each_overridden(const Interventions& interventions, TensorId tensor, const Shape& shape, Rows rows,
                         const Visit& visit) {
  for (const Override& override : interventions.overrides) {
    if (override.tensor != tensor || override.region.rank != shape.rank()) continue;
    Cell first, last;  // of the region, both within it
    bool is_empty = false;
    for (int place = 0; place < shape.rank(); ++place) {
      const std::optional<std::int64_t>& fixed = override.region.indices[static_cast<std::size_t>(place)];
      const std::int64_t begin = place == 0 ? rows.begin : 0;
      const std::int64_t end = place == 0 ? std::min(rows.end, shape[0]) : shape[place];
      first.push_back(fixed ? std::max(*fixed, begin) : begin);
      last.push_back(fixed ? std::min(*fixed, end - 1) : end - 1);
      is_empty = is_empty || first[place] > last[place];
    }
    if (is_empty) continue;
    Cell cell = first;
    for (bool is_within = true; is_within;) {
      visit(override, cell, static_cast<std::size_t>(shape.flat(cell)));
      int place = shape.rank() - 1;  // the next cell, row-major
      while (place >= 0 && cell[place] == last[place]) cell[place] = first[place], --place;
      is_within = place >= 0;
      if (is_within) ++cell[place];
    }
  }
}

/// The rows of `rows` that the tensor has: all of it where its first side is not the batch's.
Rows rows_of(const Graph& graph, TensorId tensor, const Shape& shape, Rows rows);

/// Sets the cells of an operation's result that a person set by hand. Call it after the operation has run for
/// these rows of the batch. Allocates nothing.
template <class T>
void apply_overrides(const Graph& graph, Workspace<T>& workspace, const Interventions& interventions,
                     TensorId result, Rows rows);

/// While it lives, the gradient at cells set by hand is 0; then it is what it was before. Let it live round
/// the backward passes (by activations and by parameters) of the operation that writes `result`. Allocates
/// only where there are such cells. Two for the same rows at once are an error: hold back once, run all parts
/// within.
template <class T>
class HeldBackGradients {
 public:
  HeldBackGradients(const Graph& graph, Workspace<T>& workspace, const Interventions* interventions,
                    TensorId result, Rows rows);
  HeldBackGradients(const HeldBackGradients&) = delete;
  HeldBackGradients& operator=(const HeldBackGradients&) = delete;
  ~HeldBackGradients();

 private:
  Workspace<T>& workspace_;
  TensorId result_;
  std::vector<std::pair<std::size_t, T>> held_;  // flat place, gradient
};

}  // namespace headscope::core
