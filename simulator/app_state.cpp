#include "simulator/app_state.h"

namespace headscope::simulator {

core::Result<AppState> open_lesson(const std::filesystem::path& assets,
                                   const std::filesystem::path& lesson_folder, const std::string& name) {
  core::Result<std::vector<lessons::LessonEntry>> library = lessons::list_lessons(lesson_folder);
  if (!library) return library.error();
  const core::Result<std::filesystem::path> path = lessons::find_lesson(lesson_folder, name);
  if (!path) return path.error();
  core::Result<lessons::Lesson> lesson = lessons::load_lesson(*path, assets);
  if (!lesson) return lesson.error();
  core::Result<core::Session> session = lessons::make_session(*lesson);
  if (!session) return session.error();

  AppState state{.assets = assets,
                 .library = *std::move(library),
                 .runner = lessons::start_lesson(*std::move(lesson)),
                 .session = *std::move(session)};
  const std::size_t n_operations = state.session.graph().operations().size();
  state.cursor = core::Cursor(n_operations, lessons::view_step(state.runner, state.session).cursor);
  return state;
}

}  // namespace headscope::simulator
