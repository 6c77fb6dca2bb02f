// Copying: a row repeats its beginning, and the model has to notice where. The classic home of induction
// heads (Olsson et al. 2022).
#pragma once

#include "core/tasks/task.h"

namespace headscope::core {

/// Rows of 24 letters: a segment of n different ones over and over. n is drawn from 4 to 10 for each row,
/// unless the setting `period` says one of them ("random" is the default): with a fixed period one layer
/// solves the task by counting positions, which is the contrast. A language model; judged from where the
/// first repetition begins. Errors: task.setting, task.setting_value, task.size.
Result<std::unique_ptr<const Task>> make_copying(const TaskConfig& config);

}  // namespace headscope::core
