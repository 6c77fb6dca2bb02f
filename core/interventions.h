// What a person changes inside a run, for the forward and the backward pass alike: cells set by hand after
// their operation, and switches of the operations themselves.
#pragma once

#include "core/graph.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace headscope::core {

/// Cells of a tensor: an index a side, or all along it.
struct Region {
  int rank = 0;
  std::array<std::optional<std::int64_t>, kMaxRank> indices = {};

  bool contains(const Cell& cell) const {
    for (int place = 0; place < rank; ++place)
      if (indices[static_cast<std::size_t>(place)].value_or(cell[place]) != cell[place]) return false;
    return true;
  }
  /// The cell with `fallback`'s indices (0 where it has none) along the sides that are open.
  Cell cell(const Cell& fallback = {}) const;
  bool operator==(const Region&) const = default;
};

/// The region of one cell.
Region one_cell(const Cell& cell);

/// Whether a tensor's cells may be set by hand: what an operation writes, but for two. The backward pass
/// takes a cross-entropy's probabilities for the softmax of its logits (p - y), and the loss for the mean of
/// its losses; set by hand, they would contradict what precedes them.
bool can_be_set_by_hand(const Graph& graph, TensorId tensor);

/// Cells of an activation that are set by hand after their operation has run. The gradient at such a cell is
/// kept, upstream of it is 0. Precondition of a run: can_be_set_by_hand().
struct Override {
  enum class Kind : std::uint8_t {
    constant,  // every cell of the region is `values[0]`
    table,     // cell by cell, `values` in row-major order of `table`'s sides
    uniform    // of a softmax: 1 / n over the n keys that the mask left, 0 elsewhere
  };
  TensorId tensor;
  Region region;
  Kind kind = Kind::constant;
  std::vector<double> values = {0};
  /// Kind::table: a side for each open side of the region, in order; 1 along a side means that all its
  /// indices share the numbers, and an index beyond the last takes the last.
  Shape table = {};
};

struct Interventions {
  std::vector<Override> overrides;

  bool empty() const { return overrides.empty(); }
  /// The override that decides the cell: the last that contains it; none where nothing does.
  const Override* find(TensorId tensor, const Cell& cell) const;
};

/// A head whose output is 0 everywhere.
Override zero_head(const Graph& graph, TensorId head_output, std::int64_t head);
/// A head whose output is `means` at each position, whatever it sees: [i, d_head], row-major; positions
/// beyond the last take the last. Precondition: there is one.
Override mean_head(const Graph& graph, TensorId head_output, std::int64_t head, const Shape& shape,
                   std::vector<double> means);
/// A head that attends alike to every key that the mask leaves; all heads where `head` is none.
Override uniform_attention(const Graph& graph, TensorId weights, std::optional<std::int64_t> head);
/// One cell.
Override set_cell(TensorId tensor, const Cell& cell, double value);
/// The whole tensor, as it is now: `values` has its bound shape.
Override freeze(TensorId tensor, const Shape& shape, std::vector<double> values);

/// The switches of one attention's operations. Each changes the graph's own operation, so that the forward
/// pass, the backward pass and every explanation follow.
struct AttentionSwitches {
  double temperature = 1;     // the scores are divided by it, too
  bool leaves_scale = true;   // false: 1/√d_head is left out
  bool leaks_future = false;  // true: a causal mask hides padding only
  bool operator==(const AttentionSwitches&) const = default;
};

/// Sets the switches of the attention whose `scores` these are; from a graph as build_graph() made it, so
/// setting the defaults again restores it. Precondition: the graph is of `d_head` channels a head.
void set_switches(Graph& graph, TensorId scores, const Graph& original, const AttentionSwitches& switches);

}  // namespace headscope::core
