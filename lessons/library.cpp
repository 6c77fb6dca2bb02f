// Lessons in a folder, by number and name.
#include "lessons/library.h"

#include "lessons/lesson_blocks.h"
#include "lessons/text_file.h"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

namespace headscope::lessons {
namespace {

std::size_t number_length(std::string_view stem) {
  return std::min(stem.find_first_not_of("0123456789"), stem.size());
}

std::string with_hyphens(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

std::string title_of(const std::filesystem::path& path) {
  const core::Result<std::string> text = read_text_file(path);
  if (!text) return {};
  Problems problems;  // the check tells them; here a title is enough
  return split_lesson(*text, path.string(), problems).lesson.title;
}

std::string joined_names(const std::vector<LessonEntry>& entries) {
  std::string names;
  for (const LessonEntry& entry : entries) names += (names.empty() ? "" : ", ") + entry.name;
  return names;
}

}  // namespace

std::string lesson_name(const std::filesystem::path& path) {
  std::string stem = path.stem().string();
  const std::size_t length = number_length(stem);
  if (length > 0 && length < stem.size() && (stem[length] == '_' || stem[length] == '-'))
    stem.erase(0, length + 1);
  return with_hyphens(std::move(stem));
}

int lesson_number(const std::filesystem::path& path) {
  const std::string stem = path.stem().string();
  int number = 0;
  std::from_chars(stem.data(), stem.data() + stem.size(), number);
  return number;
}

std::filesystem::path language_folder(const std::filesystem::path& content, std::string_view language) {
  const std::string_view short_name = language.substr(0, language.find_first_of("_.-@"));
  std::error_code ignored;
  const bool is_name = short_name.size() >= 2 && short_name.find_first_of("/\\") == std::string_view::npos;
  if (is_name && std::filesystem::is_directory(content / short_name, ignored)) return content / short_name;
  return content / "en";
}

core::Result<std::vector<LessonEntry>> list_lessons(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::directory_iterator files(folder, error);
  if (error) return core::Error{"lesson.no_folder", folder.string()};
  std::vector<LessonEntry> entries;
  for (const std::filesystem::directory_iterator end; files != end && !error; files.increment(error)) {
    const std::filesystem::path& path = files->path();
    if (path.extension() != ".md" || lesson_number(path) == 0) continue;
    entries.push_back({lesson_number(path), lesson_name(path), title_of(path), path});
  }
  if (error) return core::Error{"lesson.no_folder", folder.string()};
  std::sort(entries.begin(), entries.end(), [](const LessonEntry& left, const LessonEntry& right) {
    return std::pair(left.number, left.name) < std::pair(right.number, right.name);
  });
  return entries;
}

core::Result<std::filesystem::path> find_lesson(const std::filesystem::path& folder, std::string_view name) {
  core::Result<std::vector<LessonEntry>> entries = list_lessons(folder);
  if (!entries) return entries.error();
  const std::string wanted = with_hyphens(std::string(name));
  int number = 0;
  const auto [stop, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool is_number = error == std::errc() && stop == name.data() + name.size();
  for (const LessonEntry& entry : *entries) {
    const std::string stem = with_hyphens(entry.path.stem().string());
    if (entry.name == wanted || stem == wanted || (is_number && entry.number == number)) return entry.path;
  }
  std::error_code ignored;
  if (std::filesystem::is_regular_file(std::filesystem::path(name), ignored))
    return std::filesystem::path(name);
  return core::Error{
      "lesson.unknown", std::string(name), {{"name", std::string(name)}, {"known", joined_names(*entries)}}};
}

}  // namespace headscope::lessons
