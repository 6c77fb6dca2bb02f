// Sentiment: how a review judges, by words that strengthen, weaken, negate and stand against each other.
#pragma once

#include "core/tasks/task.h"

#include <cstdint>
#include <filesystem>

namespace headscope::core {

/// The five classes of a polarity, as in the Stanford Sentiment Treebank (Socher et al. 2013), in this order.
inline constexpr std::int64_t kPolarityClasses = 5;
/// very negative (below −1.2) 0, negative 1, neutral (−.2 to .2) 2, positive 3, very positive (above 1.2) 4.
std::int32_t polarity_class(double polarity);

/// "<begin> the acting was not very good , but the music was superb .": the sentence's class at "<begin>",
/// and at each adjective that of the adjective with what bears on it, in the words' sum: its strength (−2 to
/// 2), × the factor of its intensifier (1.5 or .5), × that of its negator (−.5). A clause after "but" decides
/// for the sentence; one after "although" leaves that to the other. The sentence alone counts for the score.
/// Relations: negator_adjective and intensifier_adjective (the adjective's row looks at the other word),
/// contrast (begin → conjunction), winning_adjective (begin → the adjective that decides).
/// Setting `labels`: phrases, or sentence (nothing is asked at adjectives).
/// Errors: task.setting, task.setting_value, task.number, task.lacks (what a sentence of the grammar is
/// without), those of Grammar::load().
Result<std::unique_ptr<const Task>> make_sentiment(const TaskConfig& config,
                                                   const std::filesystem::path& assets);

}  // namespace headscope::core
