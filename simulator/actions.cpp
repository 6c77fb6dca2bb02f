#include "simulator/actions.h"

#include <algorithm>
#include <utility>

namespace headscope::simulator {
namespace {

/// More than anybody takes back; keeps a day of dragging from growing without bound.
constexpr std::size_t kUndoLimit = 1000;

class Applier {
 public:
  explicit Applier(AppState& state) : state_(state) {}

  void operator()(const NextStep&) {
    lessons::next_step(state_.runner);
    arrive();
  }
  void operator()(const PreviousStep&) {
    lessons::previous_step(state_.runner);
    arrive();
  }
  void operator()(const GoToStep& action) {
    lessons::go_to_step(state_.runner, action.step);
    arrive();
  }
  void operator()(const OpenLesson& action) {
    const core::Result<std::filesystem::path> path = lessons::find_lesson(lesson_folder(), action.name);
    if (!path) return fail(path.error());
    core::Result<AppState> opened = open_lesson(state_.assets, lesson_folder(), path->string());
    if (!opened) return fail(opened.error());
    opened->appearance = state_.appearance;
    opened->layout = state_.layout;
    opened->text_scale = state_.text_scale;
    opened->revision = state_.revision;
    state_ = *std::move(opened);
  }

  void operator()(const NextOperation&) { move_cursor(state_.cursor.position() + 1); }
  void operator()(const PreviousOperation&) {
    move_cursor(state_.cursor.position() - (state_.cursor.at_begin() ? 0 : 1));
  }
  void operator()(const MoveCursor& action) { move_cursor(action.position); }
  void operator()(const SetPlaying& action) {
    if (action.playing == Playing::yes && state_.cursor.at_end()) move_cursor(0);
    state_.playing = action.playing;
  }

  void operator()(const SetSentence& action) { change({action.text, parameter_edits()}); }
  void operator()(const RestoreSentence&) { change({state_.lesson().sentence, parameter_edits()}); }
  void operator()(const RestoreCells&) { change({state_.session.text(), {}}); }
  void operator()(const SetCell& action) {
    const core::Result<void> valid =
        state_.session.check_edit(action.address.tensor, action.address.cell, action.value);
    if (!valid) return fail(valid.error());
    Document next = state_.document();
    const std::pair place(action.address.tensor, action.address.cell);
    // what the model had there itself is no edit
    if (static_cast<double>(static_cast<float>(action.value)) ==
        state_.session.unedited_value(action.address.tensor, action.address.cell))
      next.edits.erase(place);
    else
      next.edits[place] = action.value;
    change(next);
  }
  void operator()(const Undo&) { travel(state_.undo, state_.redo); }
  void operator()(const Redo&) { travel(state_.redo, state_.undo); }

  void operator()(const LockCell& action) {
    if (!state_.has_cell(action.address)) return;
    state_.trail = {action.address};
  }
  void operator()(const FollowCell& action) {
    if (!state_.has_cell(action.address)) return;
    if (!state_.trail.empty() && state_.trail.back() == action.address) return;
    state_.trail.push_back(action.address);
    // a cell that lies ahead is shown once it is computed
    if (const auto producer = state_.session.graph().producer(action.address.tensor))
      state_.cursor.move_to(std::max(state_.cursor.position(), *producer + 1));
  }
  void operator()(const StepBack&) {
    if (!state_.trail.empty()) state_.trail.pop_back();
  }
  void operator()(const ReturnTo& action) {
    if (action.index < state_.trail.size()) state_.trail.resize(action.index + 1);
  }

  void operator()(const ChooseHead& action) {
    const std::int64_t head = std::clamp<std::int64_t>(action.head, 0, state_.session.config().n_heads - 1);
    lessons::choose_head(state_.runner, head);
    for (CellAddress& address : state_.trail) move_to_head(address, head);
    lessons::update_goals(state_.runner, state_.session);
  }
  void operator()(const AnswerQuestion& action) {
    if (!is_asked(action.question)) return;
    lessons::answer(state_.runner, state_.session, action.question, action.given);
  }
  void operator()(const RevealAnswer& action) {
    if (!is_asked(action.question)) return;
    lessons::reveal(state_.runner, state_.session, action.question);
  }

  void operator()(const SetAppearance& action) { state_.appearance = action.appearance; }
  void operator()(const SetLayout& action) { state_.layout = action.layout; }
  void operator()(const SetTextScale& action) { state_.text_scale = action.scale; }
  void operator()(const ReloadLesson&) {
    core::Result<lessons::Lesson> lesson = lessons::load_lesson(state_.lesson().path, state_.assets);
    if (!lesson) return fail(lesson.error());
    core::Result<core::Session> session = lessons::make_session(*lesson);
    if (!session) return fail(session.error());
    // a save must not cost the learner their sentence and numbers while the model is the same
    Document own = state_.document();
    if (own.sentence == state_.lesson().sentence) own.sentence = lesson->sentence;
    const bool keeps_work =
        core::is_same_model(state_.lesson().model, lesson->model) && session->set(own.sentence, own.edits);
    lessons::replace_lesson(state_.runner, *std::move(lesson));
    state_.session = *std::move(session);
    if (!keeps_work) state_.undo.clear(), state_.redo.clear();
    arrive();
  }

 private:
  std::filesystem::path lesson_folder() const { return state_.lesson().path.parent_path(); }

  void fail(const core::Error& error) { state_.message = error; }

  /// Whether the step has a question of this number: a link or a log may name one that it has not.
  bool is_asked(std::size_t question) const {
    return question < state_.lesson().steps[state_.runner.step].questions.size();
  }

  /// The lesson's step decides where the cursor stands and what is lit.
  void arrive() {
    state_.trail.clear();
    const std::size_t n_operations = state_.session.graph().operations().size();
    state_.cursor = core::Cursor(n_operations, lessons::view_step(state_.runner, state_.session).cursor);
    lessons::update_goals(state_.runner, state_.session);
  }

  void move_cursor(std::size_t position) {
    state_.cursor.move_to(position);
    state_.trail.clear();
    if (state_.cursor.at_end()) state_.playing = Playing::no;
  }

  /// Edits of parameters outlive a change of sentence, edits of its ids and lengths do not.
  core::Edits parameter_edits() const {
    core::Edits edits = state_.session.edits();
    std::erase_if(edits, [this](const auto& edit) {
      return state_.session.graph().spec(edit.first.first).role != core::Role::parameter;
    });
    return edits;
  }

  void change(const Document& next) {
    const Document before = state_.document();
    if (next == before) return;
    if (!put(next)) return;
    state_.undo.push_back(before);
    if (state_.undo.size() > kUndoLimit) state_.undo.erase(state_.undo.begin());
    state_.redo.clear();
  }

  void travel(std::vector<Document>& from, std::vector<Document>& to) {
    if (from.empty()) return;
    const Document before = state_.document();
    if (!put(from.back())) return;
    from.pop_back();
    to.push_back(before);
  }

  bool put(const Document& document) {
    if (const core::Result<void> set = state_.session.set(document.sentence, document.edits); !set) {
      fail(set.error());
      return false;
    }
    std::erase_if(state_.trail, [this](const CellAddress& address) { return !state_.has_cell(address); });
    lessons::update_goals(state_.runner, state_.session);
    return true;
  }

  /// The same cell in another head, where the tensor has heads.
  void move_to_head(CellAddress& address, std::int64_t head) const {
    const int place = state_.session.graph().spec(address.tensor).shape.find(core::Axis::head);
    if (place >= 0) address.cell[place] = head;
  }

  AppState& state_;
};

}  // namespace

void apply_action(AppState& state, const Action& action) {
  state.message.reset();
  std::visit(Applier(state), action);
  ++state.revision;
}

}  // namespace headscope::simulator
