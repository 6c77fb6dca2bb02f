#include "simulator/command_line/open_app.h"

#include "core/printable.h"
#include "simulator/actions.h"
#include "simulator/open_model.h"
#include "simulator/platform/desktop.h"
#include "simulator/session_state.h"

#include <chrono>
#include <ostream>
#include <system_error>
#include <utility>

namespace headscope::simulator {
namespace {

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

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Tells what could not be written, each failure once.
class SaveReport {
 public:
  explicit SaveReport(const CommandContext& context) : context_(context) {}
  void tell(const core::Error& error) {
    if (error == told_) return;
    told_ = error;
    context_.errors << context_.text.text("command.warning", {{"warning", context_.text.error(error)}})
                    << "\n";
  }

 private:
  const CommandContext& context_;
  std::optional<core::Error> told_;
};

}  // namespace

std::filesystem::path lesson_folder(const CommandContext& context) {
  return lessons::language_folder(context.data.lessons, context.language);
}

core::Result<AppState> open_what(const OpenArguments& open, const CommandContext& context) {
  if (is_session_file(open.what)) {
    for (const auto& [is_given, option] :
         {std::pair(open.text.has_value(), "--text"), std::pair(open.target.has_value(), "--target"),
          std::pair(open.untrained.has_value(), "--seed")})
      if (is_given) return core::Error{"open.of_session", "", {{"option", option}}};
    return load_state(open.what, context.data.assets, lesson_folder(context));
  }
  core::Result<OpenedModel> model = open_model(open.what, context.data.assets);
  if (!model) return model.error();
  if (open.untrained) {
    model = untrained(*model, *open.untrained, context.data.assets);
    if (!model) return model.error();
  }
  return open_state(*std::move(model), {.text = open.text, .target = open.target}, context.data.assets,
                    lesson_folder(context));
}

platform::Application calls_of(App& app) {
  return {.prepare = [&app](const platform::Frame& frame) { return app.prepare(frame); },
          .draw = [&app](const platform::Frame& frame) { return app.draw(frame); }};
}

std::optional<Autosave> open_autosave(const CommandContext& context) {
  if (context.state.empty()) return std::nullopt;
  core::Result<Autosave> autosave = Autosave::open(context.state);
  if (autosave) return *std::move(autosave);
  SaveReport(context).tell(autosave.error());
  return std::nullopt;
}

void prepare_for_window(AppState& state, const std::optional<Autosave>& autosave) {
  constexpr double kPatience = 0.05;  // seconds: beside the drawing, a tenth is what a hand feels
  state.patience = kPatience;
  if (autosave) state.kept_folder = autosave->kept_folder();
}

core::Result<void> show_window(App& app, std::optional<Autosave> autosave, const CommandContext& context) {
  LessonWatch watch(app);
  SaveReport report(context);
  const auto save = [&] {
    if (!autosave) return;
    autosave->keep(app.take_left());
    autosave->look(app.state(), now());
    if (const std::optional<core::Error> error = autosave->take_error()) report.tell(*error);
  };
  platform::Application calls = calls_of(app);
  calls.draw = [&](const platform::Frame& frame) {
    platform::NextFrame next = app.draw(frame);
    save();
    return next;
  };
  calls.watch = [&] {
    save();
    return watch.look();
  };
  core::Result<void> done = platform::run_window({.title = context.text.text("command.window_title")}, calls);
  if (autosave)
    if (const core::Result<void> saved = autosave->finish(app.state()); !saved) report.tell(saved.error());
  return done;
}

}  // namespace headscope::simulator
