// How files spell a task and an optimiser: the same members in run.json, a model's model.json and a session.
#pragma once

#include "core/formats/json.h"
#include "core/formats/json_members.h"
#include "core/tasks/task.h"
#include "core/training/optimiser.h"

namespace headscope::core {

/// The members `name`, `size` and `settings`. Errors: those of JsonMembers.
void read_task(JsonMembers& members, TaskConfig& task);
JsonObject task_json(const TaskConfig& task);

/// An optimiser's members stand among the others of their object; those that are missing keep their values,
/// but `optimiser` and `lr`, which must be there. Errors: those of JsonMembers.
void read_optimiser(JsonMembers& members, OptimiserConfig& optimiser);
/// What read_optimiser() reads. Precondition: finite numbers.
JsonObject optimiser_json(const OptimiserConfig& optimiser);

}  // namespace headscope::core
