// Four look-ups at once: the simplest task that needs four different heads.
#pragma once

#include "core/tasks/task.h"

namespace headscope::core {

/// Rows of 12 tokens: letters, and one capital at position 1, 2 or 3. From position 6 on a causal model says,
/// at each position, the token before it, the one before that, the first token, and the capital
/// (token_classification, four outputs, a class for each token). Each answer is some other token's, so that
/// one attention head cannot give two of them. Errors: task.no_settings, task.size.
Result<std::unique_ptr<const Task>> make_look_ups(const TaskConfig& config);

}  // namespace headscope::core
