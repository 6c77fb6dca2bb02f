// Reads question and experiment blocks. Used by lesson.cpp alone.
#pragma once

#include "lessons/lesson.h"
#include "lessons/table_reader.h"

namespace headscope::lessons {

/// Problems: lesson.unknown_value (kind), lesson.too_few_statements, lesson.too_few_items, lesson.tolerance,
/// those of TableReader.
Question read_question(TableReader& reader);
Experiment read_experiment(TableReader& reader);

}  // namespace headscope::lessons
