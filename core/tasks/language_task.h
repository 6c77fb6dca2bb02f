// What the tasks over a grammar in one language have in common. Translation, which has two, is on its own.
#pragma once

#include "core/result.h"
#include "core/tasks/grammar.h"
#include "core/tasks/task.h"
#include "core/vocabulary.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::core {

/// `assets`/tasks/NAME/SIZE.grammar.
std::filesystem::path grammar_file(const TaskConfig& config, const std::filesystem::path& assets);

/// The grammar's tokens in that language after "<pad>" and "<begin>": the id of token t is t + kMarks.
/// Errors: vocabulary.duplicate (the grammar makes one of the two itself).
Result<Vocabulary> marked_vocabulary(const Grammar& grammar, const std::string& where);
inline constexpr std::int32_t kMarks = 2;
inline constexpr std::int32_t kBeginId = 1;

/// "<begin>" and the sentence: token t of the sentence stands at position t + 1.
std::vector<std::int32_t> begun_row(const Derivation& derivation);
/// The derivation's links in such a row, relations numbered as in the grammar.
std::vector<Link> begun_links(const Derivation& derivation);

/// The setting's value, or the first of `known`. Errors: task.setting_value (key, value, known).
Result<std::string> choose_setting(const TaskConfig& config, std::string_view key,
                                   std::span<const std::string_view> known);

/// How many sentences a task looks at before it is made: for what all of them must have, and for the longest.
/// One that is drawn later and is longer still is drawn again.
inline constexpr int kLookedAt = 5000;

/// Whether training and test both get some of `n_drawn` sentences: drawing for one that gets none would not
/// end. Errors: task.split (n, held_out).
Result<void> check_split(int n_held_out, int n_drawn, const std::string& where);

/// A number that an entry has in a column. Errors: task.number (word, column, value).
Result<double> number_in(const Grammar& grammar, const GrammarValue& entry, std::string_view column,
                         const std::string& where);

}  // namespace headscope::core
