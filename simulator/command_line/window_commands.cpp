// headscope: the window, where the last one left off, or on a lesson.
#include "core/printable.h"
#include "simulator/app.h"
#include "simulator/command_line/commands.h"
#include "simulator/command_line/open_app.h"
#include "simulator/session_state.h"

#include <filesystem>
#include <ostream>
#include <string>
#include <system_error>
#include <utility>

namespace headscope::simulator {
namespace {

core::Result<std::string> first_lesson(const CommandContext& context) {
  const core::Result<std::vector<lessons::LessonEntry>> entries =
      lessons::list_lessons(lessons::language_folder(context.data.lessons, context.language));
  if (!entries) return entries.error();
  if (entries->empty()) return core::Error{.key = "lesson.no_folder", .where = context.data.lessons.string()};
  return entries->front().name;
}

/// What the last window left, if there is such a file and it is sound; a damaged one is set aside, and that
/// is said.
std::optional<AppState> take_up(const std::filesystem::path& file, const CommandContext& context) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return std::nullopt;
  core::Result<AppState> state = load_state(file, context.data.assets, lesson_folder(context));
  if (state) {
    context.out << context.text.text("command.window.taken_up", {{"name", core::printable(state->name)}})
                << "\n"
                << std::flush;
    return *std::move(state);
  }
  context.errors << context.text.text("command.warning", {{"warning", context.text.error(state.error())}})
                 << "\n";
  // what cannot be read now may well be later
  if (state.error().key.starts_with("file.")) return std::nullopt;
  const core::Result<std::filesystem::path> aside = set_aside(file);
  context.errors << (aside ? context.text.text("command.window.set_aside",
                                               {{"path", core::printable(aside->string())}})
                           : context.text.error(aside.error()))
                 << "\n";
  return std::nullopt;
}

}  // namespace

core::Result<void> run(const WindowCommand& command, const CommandContext& context) {
  std::optional<Autosave> autosave = open_autosave(context);
  std::optional<AppState> state;
  if (autosave && !command.lesson && !command.begins_anew) state = take_up(autosave->file(), context);
  if (autosave && !state) autosave->set_earlier(Autosave::Earlier::kept);
  std::optional<std::string> lesson = command.lesson;
  if (!state) {
    if (!lesson) {
      core::Result<std::string> first = first_lesson(context);
      if (!first) return first.error();
      lesson = *std::move(first);
    }
    core::Result<AppState> opened = open_lesson(context.data.assets, lesson_folder(context), *lesson);
    if (!opened) return opened.error();
    state = *std::move(opened);
  } else if (state->has_lesson()) {
    lesson = state->lesson().path.string();
  }
  prepare_for_window(*state, autosave);
  core::Result<App> app = App::make(*std::move(state), context.language);
  if (!app) return app.error();
  core::Result<void> done = show_window(*app, std::move(autosave), context);
  if (done || done.error().key != "platform.no_display" || !lesson) return done;
  context.out << context.text.text("command.no_display") << "\n\n";
  return run(LessonReadCommand{.lesson = *lesson}, context);
}

}  // namespace headscope::simulator
