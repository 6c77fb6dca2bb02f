// What one operation's backward pass adds to a gradient, cell by cell: a branch of a sum of which the
// workspace keeps the whole alone.
#pragma once

#include "core/trace.h"

#include <cstddef>
#include <cstdint>

namespace headscope::simulator {

/// What backward operation `operation` sends to a cell of an operand, in double, from the numbers at the
/// trace's cursor: Σ of the terms of explain() that name this operation. Precondition: its backward pass has
/// run, and the tensor is one of its operands that has a gradient.
double sent_back(const core::Trace<float>& trace, std::size_t operation, core::TensorId tensor,
                 const core::Cell& cell);

/// w_k as the softmax makes it from its scores, also where a person set weights of its row by hand. `cell`
/// names the row; its index along the softmax's side does not matter.
double own_share(const core::Trace<float>& trace, const core::Softmax& softmax, const core::Cell& cell,
                 std::int64_t k);

/// ∂w_k / ∂s_j = w_k · (δ_kj - w_j) of a softmax, from its own weights (also where a person set others by
/// hand). `cell` names the row; its index along the softmax's side does not matter.
double local_derivative(const core::Trace<float>& trace, const core::Softmax& softmax, const core::Cell& cell,
                        std::int64_t k, std::int64_t j);

/// y of a cross-entropy at a cell of its logits: the target, smoothed; 0 where nothing is to predict.
double target_share(const core::Trace<float>& trace, const core::CrossEntropy& op, const core::Cell& cell);

}  // namespace headscope::simulator
