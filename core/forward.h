// One operation's forward arithmetic, for some rows of the batch. Most callers want core/execute.h.
#pragma once

#include "core/execute.h"

namespace headscope::core {

/// Computes the operation's result for `rows`; all of it where the result has no side for the batch.
template <class T>
void run_forward_operation(const Operation& operation, Workspace<T>& workspace, Rows rows,
                           const RunOptions& options);

}  // namespace headscope::core
