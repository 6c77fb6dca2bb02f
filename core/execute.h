// Runs operations over a workspace.
#pragma once

#include "core/graph.h"
#include "core/workspace.h"

#include <cstddef>

namespace headscope::core {

/// Runs operations [begin, end) of the graph in order. Deterministic: the same inputs give the same bits, and
/// a head's numbers do not depend on its index. Preconditions: inputs and parameters are set, ids are within
/// their tables.
template <class T>
void run_forward(const Graph& graph, Workspace<T>& workspace, std::size_t begin, std::size_t end);

/// All operations.
template <class T>
void run_forward(const Graph& graph, Workspace<T>& workspace) {
  run_forward(graph, workspace, 0, graph.operations().size());
}

}  // namespace headscope::core
