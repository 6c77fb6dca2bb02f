#include "simulator/session_state.h"

#include "simulator/open_model.h"

#include <algorithm>
#include <utility>

namespace headscope::simulator {
namespace {

/// How find_lesson() finds it again: by its name among the program's own, else by its path.
std::string name_of_lesson(const AppState& state) {
  const lessons::Lesson& lesson = state.lesson();
  const bool is_listed = std::any_of(state.library.begin(), state.library.end(), [&](const auto& entry) {
    return entry.path.filename() == lesson.path.filename() && entry.path == lesson.path;
  });
  std::error_code ignored;
  return is_listed ? lesson.name : std::filesystem::absolute(lesson.path, ignored).string();
}

bool is_same(const core::SessionModel& left, const core::SessionModel& right) {
  return left.config == right.config && left.vocabulary.tokens() == right.vocabulary.tokens() &&
         left.parameters == right.parameters;
}

/// Where the learner stood, as far as the lesson, as it is now, has such places.
void put_lesson(const SavedLesson& saved, AppState& state) {
  lessons::LessonRunner& runner = state.runner;
  lessons::go_to_step(runner, saved.step);
  if (saved.head) lessons::choose_head(runner, *saved.head);
  const std::vector<lessons::Step>& steps = runner.lesson->steps;
  for (const auto& [item, answer] : saved.answers) {
    const bool is_there = item.step < steps.size() && item.item < steps[item.step].questions.size();
    if (is_there && lessons::fits(steps[item.step].questions[item.item], answer, state.session))
      runner.answers.emplace(item, answer);
  }
  for (const lessons::ItemId& goal : saved.goals_reached)
    if (goal.step < steps.size() && goal.item < steps[goal.step].experiments.size())
      runner.goals_reached.insert(goal);
}

/// The lesson at its first step, if it is there and still has this model.
std::optional<AppState> find_lesson_of(const ReadSession& read, const std::filesystem::path& assets,
                                       const std::filesystem::path& lesson_folder) {
  core::Result<AppState> state = open_lesson(assets, lesson_folder, read.file.lesson->name);
  if (!state || !is_same(state->session.model(), *read.file.model)) return std::nullopt;
  return *std::move(state);
}

}  // namespace

bool is_session_file(const std::filesystem::path& path) {
  std::error_code ignored;
  return path.extension() == ".headscope" && !std::filesystem::is_directory(path, ignored);
}

SessionFile save_state(const AppState& state) {
  SessionFile file{
      .name = state.name,
      .model = state.session.shared_model(),
      .n_examples_drawn = state.n_examples_drawn,
      .initial = state.initial,
      .setup = state.session.setup(),
      .cursor = state.cursor().position(),
      .view = {.level = state.level,
               .opened = state.opened,
               .shown = state.shown,
               .head = std::clamp<std::int64_t>(state.chosen_head, 0, state.session.config().n_heads - 1),
               .trail = state.trail,
               .appearance = state.appearance,
               .layout = state.layout,
               .play_by = state.play_by,
               .left_panel = state.left_panel,
               .text_scale = state.text_scale}};
  file.initial.trained = nullptr;  // a model is opened before any training
  if (state.task) file.task = state.task->config();
  if (state.has_lesson())
    file.lesson = SavedLesson{.name = name_of_lesson(state),
                              .step = state.runner.step,
                              .head = state.runner.head,
                              .answers = state.runner.answers,
                              .goals_reached = state.runner.goals_reached};
  return file;
}

core::Result<AppState> load_state(const std::filesystem::path& path, const std::filesystem::path& assets,
                                  const std::filesystem::path& lesson_folder) {
  core::Result<ReadSession> read = read_session(path);
  if (!read) return read.error();
  const SessionFile& file = read->file;
  std::optional<core::Error> message;
  std::shared_ptr<const core::Task> task;
  if (file.task) {
    core::Result<std::shared_ptr<const core::Task>> made = task_of(*file.task, *file.model, assets);
    if (made)
      task = *std::move(made);
    else if (made.error().key == "open.other_task")
      message = made.error();
    else
      message = core::Error{"session_file.task", path.string(), {{"task", file.task->name}}};
  }

  std::optional<AppState> lesson;
  if (file.lesson) {
    lesson = find_lesson_of(*read, assets, lesson_folder);
    if (!lesson) message = core::Error{"session_file.lesson", path.string(), {{"lesson", file.lesson->name}}};
  }
  const std::string name = file.name;
  core::Result<AppState> state =
      lesson ? core::Result<AppState>(*std::move(lesson))
             : open_session(assets, lesson_folder, std::move(read->session), name, std::move(task));
  if (!state) return state.error();
  if (state->has_lesson()) {
    state->session = std::move(read->session);
    put_lesson(*file.lesson, *state);
  }
  state->session.move_to(file.cursor);
  state->initial = file.initial;
  state->n_examples_drawn = file.n_examples_drawn;
  state->trail = file.view.trail;
  // a gradient's cell is none where nothing is to be predicted
  std::erase_if(state->trail, [&](const CellAddress& address) { return !state->has_cell(address); });
  state->level = file.view.level;
  state->opened = file.view.opened;
  state->shown = file.view.shown;
  state->chosen_head = file.view.head;
  state->appearance = file.view.appearance;
  state->layout = file.view.layout;
  state->play_by = file.view.play_by;
  state->left_panel = state->has_lesson() ? file.view.left_panel : LeftPanel::what_if;
  state->text_scale = file.view.text_scale;
  state->message = message;
  return state;
}

}  // namespace headscope::simulator
