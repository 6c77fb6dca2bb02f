#include "simulator/app_state.h"

#include <algorithm>

namespace headscope::simulator {

namespace {

/// Empty where the task has no names, or no classes.
std::vector<std::string> class_names_of(const core::Task& task) {
  std::vector<std::string> names;
  bool is_named = false;
  for (std::int32_t label = 0; label < task.form().n_classes; ++label) {
    names.push_back(task.class_name(label));
    is_named |= names.back() != std::to_string(label);
  }
  if (!is_named) names.clear();
  return names;
}

}  // namespace

std::int64_t AppState::head() const {
  return has_lesson() ? lessons::current_head(runner, session)
                      : std::clamp<std::int64_t>(chosen_head, 0, session.config().n_heads - 1);
}

bool AppState::has_cell(const CellAddress& address) const {
  const core::Graph& graph = session.graph();
  if (address.tensor.index >= graph.n_tensors() ||
      !session.trace().shape(address.tensor).contains(address.cell))
    return false;
  switch (address.quantity) {
    case core::Quantity::value:
      return true;
    case core::Quantity::gradient:
      return session.has_gold() && session.trace().workspace().has_gradient(address.tensor);
    case core::Quantity::first_moment:
    case core::Quantity::second_moment:
    case core::Quantity::previous_value:
    case core::Quantity::previous_first:
    case core::Quantity::previous_second:
      break;
  }
  return session.has_gold() && graph.spec(address.tensor).role == core::Role::parameter &&
         session.trace().workspace().has_gradient(address.tensor);
}

std::optional<double> loss_of(const core::Session& session) {
  const std::optional<core::TensorId> loss = session.graph().find("loss");
  if (!loss || !session.has_gold()) return std::nullopt;
  return session.trace().value(*loss, session.trace().shape(*loss).cell(0));
}

bool is_long(const AppState& state, double n_numbers) {
  return state.patience && n_numbers > state.most_at_once;
}

double n_numbers_of_answer(const core::Session& session) {
  const double once = session.n_numbers_with(session.setup());
  return session.target_vocabulary() ? once * static_cast<double>(session.config().max_tokens) : once;
}

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
                 .lesson_folder = path->parent_path(),
                 .library = *std::move(library),
                 .runner = lessons::start_lesson(*std::move(lesson)),
                 .session = *std::move(session)};
  state.name = state.lesson().title;
  state.initial = state.session.setup();
  state.session.move_to(lessons::view_step(state.runner, state.session).cursor);
  return state;
}

core::Result<AppState> open_session(const std::filesystem::path& assets,
                                    const std::filesystem::path& lesson_folder, core::Session session,
                                    std::string name, std::shared_ptr<const core::Task> task) {
  core::Result<std::vector<lessons::LessonEntry>> library = lessons::list_lessons(lesson_folder);
  if (!library) return library.error();
  AppState state{.assets = assets,
                 .lesson_folder = lesson_folder,
                 .library = *std::move(library),
                 .name = std::move(name),
                 .task = std::move(task),
                 .session = std::move(session),
                 .level = StageLevel::model,
                 .left_panel = LeftPanel::what_if};
  if (state.task) state.session.name_classes(class_names_of(*state.task));
  state.initial = state.session.setup();
  state.session.move_to(0);
  return state;
}

}  // namespace headscope::simulator
