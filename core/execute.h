// Runs operations over a workspace, forward and backward: all rows of the batch at once for whoever looks, or
// slice by slice for the trainer (core/training/train_step.h), with the same bits.
#pragma once

#include "core/graph.h"
#include "core/interventions.h"
#include "core/workspace.h"

#include <cstddef>
#include <cstdint>

namespace headscope::core {

/// A range of the batch's rows.
struct Rows {
  std::int64_t begin = 0, end = 0;
};

/// A share of the work on one parameter's gradient: part `index` of `count`. Parts write different cells, so
/// that they may run at once; a cell's bits do not depend on the count.
struct Part {
  std::int64_t index = 0, count = 1;
};

/// What a run needs besides the numbers: the key of its dropout masks, and what a person set by hand.
struct RunOptions {
  const Interventions* interventions = nullptr;  // none: nothing is set by hand
  std::uint64_t dropout_seed = 0;
  std::uint64_t dropout_step = 0;  // from 1; 0: not training, every dropout mask is 1
};

/// Runs operations [begin, end) of the graph in order over the whole batch. Deterministic: the same inputs
/// give the same bits, and a head's numbers do not depend on its index. Preconditions: inputs and parameters
/// are set, ids are within their tables.
template <class T>
void run_forward(const Graph& graph, Workspace<T>& workspace, std::size_t begin, std::size_t end,
                 const RunOptions& options = {});

/// All operations.
template <class T>
void run_forward(const Graph& graph, Workspace<T>& workspace, const RunOptions& options = {}) {
  run_forward(graph, workspace, 0, graph.operations().size(), options);
}

/// Runs the backward passes [begin, end) of workspace.gradient_plan().operations(), in that order, over the
/// whole batch: each writes, or adds to, the gradients of what its operation reads. To see gradients at an
/// earlier moment, run again from 0. Preconditions: the forward pass has run, the workspace has gradients.
template <class T>
void run_backward(const Graph& graph, Workspace<T>& workspace, std::size_t begin, std::size_t end,
                  const RunOptions& options = {});

/// The whole backward pass.
template <class T>
void run_backward(const Graph& graph, Workspace<T>& workspace, const RunOptions& options = {}) {
  run_backward(graph, workspace, 0, workspace.gradient_plan().operations().size(), options);
}

// The pieces, for the trainer.

/// Whether the operation's result has a side for the batch: it can run for some rows alone. The others either
/// read no row (a table of positions) or all of them (a mean loss).
bool is_by_row(const Graph& graph, const Operation& operation);

/// One operation for some rows of the batch (for all of it where it is not by row).
template <class T>
void run_operation(const Graph& graph, Workspace<T>& workspace, std::size_t operation, Rows rows,
                   const RunOptions& options);

/// One operation's backward pass by its activations, for some rows of the batch.
template <class T>
void run_operation_backward(const Graph& graph, Workspace<T>& workspace, std::size_t operation, Rows rows,
                            const RunOptions& options);

/// One operation's backward pass by its parameters: sums over all rows. Nothing where it reads none.
template <class T>
void run_parameters_backward(const Graph& graph, Workspace<T>& workspace, std::size_t operation, Part part);

}  // namespace headscope::core
