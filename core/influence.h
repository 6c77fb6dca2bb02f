// Where a cell goes: the cells that an operation computes from it. The reverse of explain().
#pragma once

#include "core/interventions.h"
#include "core/trace.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace headscope::core {

/// Cells of one operation's result.
struct Influence {
  std::size_t operation = 0;
  TensorId result;
  Region region;
};

/// One entry for each operation that reads the cell, in the order of the graph (an Add that reads it twice
/// has one, a relative bias one for each query, since its cells lie on a diagonal). A mask's decision counts
/// too: a hidden score influences its masked cell by being left out. What a person set by hand is reached by
/// nothing. Precondition: the shape contains the cell.
template <class T>
std::vector<Influence> influences(const Trace<T>& trace, TensorId tensor, const Cell& cell);

}  // namespace headscope::core
