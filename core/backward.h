// One operation's backward arithmetic. Most callers want core/execute.h.
#pragma once

#include "core/execute.h"

namespace headscope::core {

/// Writes, or adds to, the gradients of the activations that operation `index` reads, for `rows`.
/// Precondition: the gradient of its result is complete for these rows.
template <class T>
void run_backward_operation(const Operation& operation, std::size_t index, Workspace<T>& workspace,
                            Rows rows);

/// Writes, or adds to, the gradients of the parameters that operation `index` reads, summed over all rows of
/// the batch: the cells of this part. Precondition: the gradient of its result is complete.
template <class T>
void run_backward_parameters(const Operation& operation, std::size_t index, Workspace<T>& workspace,
                             Part part);

}  // namespace headscope::core
