// Where a cell goes: the cells that an operation computes from it. The reverse of explain().
#pragma once

#include "core/trace.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace headscope::core {

/// Cells of one operation's result: an index a side, or all along it.
struct Influence {
  std::size_t operation = 0;
  TensorId result;
  int rank = 0;
  std::array<std::optional<std::int64_t>, kMaxRank> indices = {};

  bool contains(const Cell& cell) const {
    for (int place = 0; place < rank; ++place)
      if (indices[static_cast<std::size_t>(place)].value_or(cell[place]) != cell[place]) return false;
    return true;
  }
  /// The cell with `fallback`'s indices (0 where it has none) along the sides that are open.
  Cell cell(const Cell& fallback = {}) const;
};

/// One entry for each operation that reads the cell, in the order of the graph. A mask's decision counts too:
/// a hidden score influences its masked cell by being left out. Precondition: the shape contains the cell.
template <class T>
std::vector<Influence> influences(const Trace<T>& trace, TensorId tensor, const Cell& cell);

}  // namespace headscope::core
