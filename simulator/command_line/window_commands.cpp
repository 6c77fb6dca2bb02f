// The window, and pictures of it: the same application on two platforms.
#include "core/printable.h"
#include "simulator/actions.h"
#include "simulator/app.h"
#include "simulator/command_line/commands.h"
#include "simulator/platform/desktop.h"
#include "simulator/platform/headless.h"
#include "simulator/platform/png.h"

#include <cmath>
#include <filesystem>
#include <ostream>
#include <string>
#include <utility>

namespace headscope::simulator {
namespace {

core::Result<App> open_app(const std::string& lesson, const CommandContext& context) {
  core::Result<AppState> state = open_lesson(
      context.data.assets, lessons::language_folder(context.data.lessons, context.language), lesson);
  if (!state) return state.error();
  return App::make(*std::move(state), context.language);
}

/// The calls that a platform makes. Precondition: the app outlives them.
platform::Application calls_of(App& app) {
  return {.prepare = [&app](const platform::DisplayScale& scale) { return app.prepare(scale); },
          .draw = [&app](const platform::Frame& frame) { return app.draw(frame); }};
}

/// Reads the lesson again whenever its file was saved.
class LessonWatch {
 public:
  explicit LessonWatch(App& app) : app_(app) { changed(); }

  platform::Due look() {
    if (!changed()) return platform::Due::no;
    app_.apply(ReloadLesson{});
    return platform::Due::yes;
  }

 private:
  /// Whether the lesson's file is another one, or a newer one, than last time; a lesson just opened is no
  /// change.
  bool changed() {
    if (!app_.state().has_lesson()) return false;
    const std::filesystem::path& path = app_.state().lesson().path;
    std::error_code failed;
    const std::filesystem::file_time_type time = std::filesystem::last_write_time(path, failed);
    // an editor may remove the file for a moment while saving
    if (failed) return false;
    const bool is_newer = path == path_ && time != time_;
    path_ = path;
    time_ = time;
    return is_newer;
  }

  App& app_;
  std::filesystem::path path_;
  std::filesystem::file_time_type time_;
};

std::string percent(float scale) {
  return std::to_string(std::lround(scale * 100));
}

core::Result<std::string> first_lesson(const CommandContext& context) {
  const core::Result<std::vector<lessons::LessonEntry>> entries =
      lessons::list_lessons(lessons::language_folder(context.data.lessons, context.language));
  if (!entries) return entries.error();
  if (entries->empty()) return core::Error{.key = "lesson.no_folder", .where = context.data.lessons.string()};
  return entries->front().name;
}

}  // namespace

core::Result<void> run(const WindowCommand& command, const CommandContext& context) {
  const core::Result<std::string> lesson =
      command.lesson ? core::Result<std::string>(*command.lesson) : first_lesson(context);
  if (!lesson) return lesson.error();
  core::Result<App> app = open_app(*lesson, context);
  if (!app) return app.error();
  LessonWatch watch(*app);
  platform::Application calls = calls_of(*app);
  calls.watch = [&watch] { return watch.look(); };
  core::Result<void> done = platform::run_window({.title = context.text.text("command.window_title")}, calls);
  if (done || done.error().key != "platform.no_display") return done;
  context.out << context.text.text("command.no_display") << "\n\n";
  return run(LessonReadCommand{.lesson = *lesson}, context);
}

core::Result<void> run(const ScreenshotCommand& command, const CommandContext& context) {
  core::Result<App> app = open_app(command.lesson, context);
  if (!app) return app.error();
  const std::size_t n_steps = app->state().lesson().steps.size();
  if (command.step > n_steps)
    return core::Error{
        .key = "lesson.no_such_step",
        .where = command.lesson,
        .values = {{"step", std::to_string(command.step)}, {"count", std::to_string(n_steps)}}};
  if (command.dark) app->apply(SetAppearance{Appearance::dark});
  if (command.presentation) app->apply(SetLayout{Layout::presentation});
  const double text_scale = command.text_percent / 100.0;
  if (const Scale& limits = app->theme().scale; text_scale < limits.minimum || text_scale > limits.maximum)
    return core::Error{.key = "arguments.value",
                       .where = "",
                       .values = {{"option", "--text-scale"},
                                  {"given", std::to_string(command.text_percent)},
                                  {"allowed", percent(limits.minimum) + " … " + percent(limits.maximum)}}};
  app->apply(SetTextScale{text_scale});
  app->apply(GoToStep{command.step - 1});
  const core::Result<platform::Image> image =
      platform::draw_headless({.width = command.width, .height = command.height}, calls_of(*app));
  if (!image) return image.error();
  if (core::Result<void> written = platform::write_png(command.out, *image); !written) return written;
  context.out << context.text.text("command.screenshot.done",
                                   {{"path", core::printable(command.out.string())}})
              << "\n";
  return {};
}

}  // namespace headscope::simulator
