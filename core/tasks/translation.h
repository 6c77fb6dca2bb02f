// Translation from English to German: sentences of a grammar (assets/tasks/translation/,
// docs/grammar-format.md), word alignments and dependencies as gold relations.
#pragma once

#include "core/tasks/task.h"

namespace headscope::core {

/// Pairs of sentences by `assets`/tasks/translation/pocket.grammar or full.grammar. An encoder-decoder with a
/// language model's objective, right only as a whole sentence. A tenth of all combinations of subject, verb
/// and object is held out. No settings. Errors: task.no_settings, task.languages (a grammar that does not
/// have two), task.split (it holds out none of its sentences, or all), those of Grammar::load().
Result<std::unique_ptr<const Task>> make_translation(const TaskConfig& config,
                                                     const std::filesystem::path& assets);

}  // namespace headscope::core
