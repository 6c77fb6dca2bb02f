// Question answering: the answer is a span of the facts that follow the question.
#pragma once

#include "core/tasks/task.h"

#include <filesystem>

namespace headscope::core {

/// "<begin> where is the key ? <separator> the ring is on the chair . the key is in the box .": the span "in
/// the box", read from the question's last word (span_reader pointer). Of all facts one alone answers.
/// Relations: question_candidate (the question word → each phrase's head that is of the kind asked for),
/// question_fact (what the question names → the same in the fact that answers), mention_mention (the later
/// mention → the earlier), answer_entity (the answer's head → what the question names, in the fact),
/// answer_question (the answer's head → the question word). Setting `kinds`: where, what, who, or mixed (each
/// a third); vocabulary and form are the same for all. Errors: task.setting, task.setting_value, task.lacks
/// (what the grammar or a sentence of it is without), those of Grammar::load().
Result<std::unique_ptr<const Task>> make_questions(const TaskConfig& config,
                                                   const std::filesystem::path& assets);

}  // namespace headscope::core
