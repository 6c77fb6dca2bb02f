// `headscope lesson check`: everything that is wrong with a lesson file, with lines and what to do about it.
#pragma once

#include "lessons/lesson.h"
#include "lessons/problem.h"

#include <filesystem>
#include <string_view>

namespace headscope::lessons {

/// Reads the file, then holds every name and expression against the lesson's own model and sentence. Problems
/// are sorted by line; none means that the lesson can be taken to its end. A file that cannot be read is one
/// problem.
Problems check_lesson(const std::filesystem::path& path, const std::filesystem::path& assets);

/// The same for text in memory; `path` names it.
Problems check_lesson_text(std::string_view text, const std::filesystem::path& path,
                           const std::filesystem::path& assets);

}  // namespace headscope::lessons
