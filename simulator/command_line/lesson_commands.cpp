// headscope lesson list and lesson check; lesson read is the terminal reader's.
#include "core/printable.h"
#include "lessons/check.h"
#include "lessons/library.h"
#include "simulator/command_line/commands.h"
#include "simulator/terminal/text_layout.h"

#include <ostream>

namespace headscope::simulator {

core::Result<void> run(const LessonListCommand&, const CommandContext& context) {
  const core::Result<std::vector<lessons::LessonEntry>> entries =
      lessons::list_lessons(lessons::language_folder(context.data.lessons, context.language));
  if (!entries) return entries.error();
  using terminal::Align;
  terminal::Table table{.columns = {Align::right, Align::left, Align::left}, .rows = {}};
  for (const lessons::LessonEntry& entry : *entries)
    table.rows.push_back({std::to_string(entry.number), core::printable(entry.name), entry.title});
  for (const std::string& line : terminal::table_lines(table)) context.out << line << "\n";
  return {};
}

core::Result<void> run(const LessonCheckCommand& command, const CommandContext& context) {
  std::size_t n_problems = 0;
  for (const std::filesystem::path& path : command.files) {
    const lessons::Problems problems = lessons::check_lesson(path, context.data.assets);
    n_problems += problems.size();
    for (const lessons::Problem& problem : problems)
      context.errors << context.text.error(problem.error) << "\n";
    if (problems.empty())
      context.out << context.text.text("command.lesson_check.good",
                                       {{"path", core::printable(path.string())}})
                  << "\n";
  }
  if (n_problems == 0) return {};
  return core::Error{
      .key = "lesson.problems", .where = "", .values = {{"count", std::to_string(n_problems)}}};
}

}  // namespace headscope::simulator
