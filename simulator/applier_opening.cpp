// Lessons, models and sessions: opened, left, written; the steps and questions of a lesson.
#include "simulator/applier.h"

#include "simulator/job.h"
#include "simulator/kept_sessions.h"
#include "simulator/open_model.h"
#include "simulator/session_state.h"

#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

namespace headscope::simulator {

void Applier::operator()(const NextStep&) {
  if (!state_.has_lesson()) return;
  lessons::next_step(state_.runner);
  arrive();
}

void Applier::operator()(const PreviousStep&) {
  if (!state_.has_lesson()) return;
  lessons::previous_step(state_.runner);
  arrive();
}

void Applier::operator()(const GoToStep& action) {
  if (!state_.has_lesson()) return;
  lessons::go_to_step(state_.runner, action.step);
  arrive();
}

void Applier::operator()(const OpenLesson& action) {
  const core::Result<std::filesystem::path> path = lessons::find_lesson(state_.lesson_folder, action.name);
  if (!path) return fail(path.error());
  open([assets = state_.assets, folder = state_.lesson_folder, name = path->string()] {
    return open_lesson(assets, folder, name);
  });
}

void Applier::operator()(const OpenModel& action) {
  if (is_session_file(action.what))
    return open([file = action.what, assets = state_.assets,
                 folder = state_.lesson_folder] { return load_state(file, assets, folder); },
                [file = action.what](Applier& applier) { applier.state_.session_file = file; });
  open([what = action.what, assets = state_.assets,
        folder = state_.lesson_folder]() -> core::Result<AppState> {
    core::Result<OpenedModel> model = open_model(what, assets);
    if (!model) return model.error();
    return open_state(*std::move(model), {}, assets, folder);
  });
}

void Applier::operator()(const OpenKept& action) {
  open([file = action.file, assets = state_.assets,
        folder = state_.lesson_folder] { return load_state(file, assets, folder); },
       [file = action.file](Applier& applier) { applier.state_.kept_file = file; });
}

void Applier::open(const std::function<core::Result<AppState>()>& opening, const Then& then) {
  const auto take = [then](AppState& state, core::Result<AppState>& opened) {
    Applier applier(state);
    if (!opened) return applier.fail(opened.error());
    applier.put_in_place(*std::move(opened));
    if (then) then(applier);
  };
  if (!state_.patience) {
    core::Result<AppState> opened = opening();
    return take(state_, opened);
  }
  compute("progress.opening", [opening, take](const core::Progress&) -> Job::Finish {
    const auto opened = std::make_shared<core::Result<AppState>>(opening());
    return [opened, take](AppState& state) { take(state, *opened); };
  });
}

void Applier::operator()(const SaveSession& action) {
  std::filesystem::path path = action.path;
  if (path.extension() != ".headscope") path += ".headscope";
  std::error_code ignored;
  const bool is_anothers = path != state_.session_file && std::filesystem::exists(path, ignored);
  if (is_anothers && action.existing == Existing::refuse) return fail({"session_file.exists", path.string()});
  if (core::Result<void> written = write_session(path, save_state(state_)); !written)
    return fail(written.error());
  state_.session_file = path;
}

void Applier::operator()(const AnswerQuestion& action) {
  if (!is_asked(action.question)) return;
  lessons::answer(state_.runner, state_.session, action.question, action.given);
}

void Applier::operator()(const RevealAnswer& action) {
  if (!is_asked(action.question)) return;
  lessons::reveal(state_.runner, state_.session, action.question);
}

void Applier::operator()(const ReloadLesson&) {
  if (!state_.has_lesson()) return;
  core::Result<lessons::Lesson> lesson = lessons::load_lesson(state_.lesson().path, state_.assets);
  if (!lesson) return fail(lesson.error());
  core::Result<core::Session> session = lessons::make_session(*lesson);
  if (!session) return fail(session.error());
  // a save must not cost the learner their sentence and numbers while the model is the same
  const bool is_same_model = core::is_same_model(state_.lesson().model, lesson->model);
  core::Setup own = state_.session.setup();
  if (own.text == state_.lesson().sentence && own.text != lesson->sentence)
    own = state_.session.setup_for(lesson->sentence);
  state_.initial = session->setup();
  const bool keeps_work = is_same_model && session->set(std::move(own));
  if (!keeps_work) leave();
  lessons::replace_lesson(state_.runner, *std::move(lesson));
  state_.session = *std::move(session);
  state_.trained.reset();
  state_.name = state_.lesson().title;
  forget_check();
  if (!keeps_work) state_.undo.clear(), state_.redo.clear(), state_.comparison = {};
  arrive();
}

void Applier::leave() {
  if (state_.kept_folder.empty()) return;
  LeftSession left{.file = save_state(state_), .went_on_from = state_.kept_file};
  if (has_work(left.file)) state_.left.push_back(std::make_shared<const LeftSession>(std::move(left)));
  state_.kept_file.reset();
}

void Applier::put_in_place(AppState opened) {
  leave();
  opened.kept_folder = std::move(state_.kept_folder);
  opened.left = std::move(state_.left);
  opened.patience = state_.patience;
  opened.appearance = state_.appearance;
  opened.layout = state_.layout;
  opened.text_scale = state_.text_scale;
  opened.revision = state_.revision;
  state_ = std::move(opened);
}

bool Applier::is_asked(std::size_t question) const {
  return state_.has_lesson() && question < state_.lesson().steps[state_.runner.step].questions.size();
}

void Applier::arrive() {
  forget_looks();
  state_.walk.reset();
  state_.level = StageLevel::matrix;
  state_.session.move_to(lessons::view_step(state_.runner, state_.session).cursor);
  lessons::update_goals(state_.runner, state_.session);
}

}  // namespace headscope::simulator
