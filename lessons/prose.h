// Turns parsed Markdown into what is shown: links bound to tensors, live expressions evaluated.
#pragma once

#include "lessons/expression.h"
#include "lessons/runner.h"

#include <vector>

namespace headscope::lessons {

/// Resolves every run. A live expression that this sentence cannot give shows as "…" and carries its error; a
/// link to no known tensor becomes plain text (the check refuses both in the lesson's own sentence).
std::vector<ProseBlock> resolve_prose(const std::vector<Block>& blocks, const Scope& scope);

/// The errors of the live expressions, each once.
void collect_errors(const std::vector<ProseBlock>& blocks, std::vector<core::Error>& errors);

}  // namespace headscope::lessons
