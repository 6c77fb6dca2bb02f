// How each task is trained unless somebody says otherwise: settings that were tried over many seeds
// (docs/recipes.md).
#pragma once

#include "core/tasks/task.h"
#include "core/training/run_config.h"

namespace headscope::core {

/// Model, optimiser, batch and length of a run that learns the task, for its size and settings.
RunConfig recipe_of(const Task& task);

}  // namespace headscope::core
