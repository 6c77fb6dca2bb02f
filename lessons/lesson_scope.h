// The scope in which a lesson's expressions are evaluated.
#pragma once

#include "lessons/expression.h"
#include "lessons/lesson.h"

namespace headscope::lessons {

/// The lesson and the session must outlive the scope.
inline Scope lesson_scope(const Lesson& lesson, const core::Session& session, std::int64_t head) {
  return {.session = session, .inside = lesson.inside, .lesson_words = lesson.words, .head = head};
}

}  // namespace headscope::lessons
