// Finds lessons: lessons/content/LANGUAGE/NN_name.md.
#pragma once

#include "core/result.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::lessons {

struct LessonEntry {
  int number = 0;
  std::string name;   // "query-key-value"
  std::string title;  // the file's # heading
  std::filesystem::path path;
};

/// The folder of a language ("de", "de_DE.UTF-8"), or English where there is none.
std::filesystem::path language_folder(const std::filesystem::path& content, std::string_view language);

/// The lessons of a folder, by number. Errors: lesson.no_folder.
core::Result<std::vector<LessonEntry>> list_lessons(const std::filesystem::path& folder);

/// A lesson by name ("query-key-value", "query_key_value"), number ("1", "01"), file stem or path of a file.
/// Errors: lesson.unknown (name, known), those of list_lessons().
core::Result<std::filesystem::path> find_lesson(const std::filesystem::path& folder, std::string_view name);

/// "query-key-value" and 1 of "01_query_key_value.md".
std::string lesson_name(const std::filesystem::path& path);
int lesson_number(const std::filesystem::path& path);

}  // namespace headscope::lessons
