#include "simulator/actions.h"

#include "core/formats/token_batch.h"
#include "core/random.h"
#include "simulator/gradient_job.h"
#include "simulator/kept_sessions.h"
#include "simulator/open_model.h"
#include "simulator/session_state.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace headscope::simulator {
namespace {

/// More than anybody takes back; keeps a day of dragging from growing without bound.
constexpr std::size_t kUndoLimit = 1000;

/// Nor may what training made: its states are kept alive by the documents that name them.
constexpr std::size_t kUndoBytes = std::size_t{256} << 20;

/// Examples over which a head's mean output is taken.
constexpr int kMeanExamples = 64;

/// A document's own numbers, if training made them.
std::size_t bytes_of(const Document& document, const core::TrainState* shared) {
  const core::TrainState* trained = document.setup.trained.get();
  return trained && trained != shared ? trained->n_bytes() : 0;
}

/// The words of a row as they are typed, marks left out.
std::string typed_text(std::span<const std::int32_t> row, const core::Vocabulary& vocabulary) {
  const std::optional<std::int32_t> separator = vocabulary.find("<separator>");
  std::string text;
  for (const std::int32_t id : row) {
    if (id == vocabulary.begin() || id == vocabulary.end() || id == separator) continue;
    text += (text.empty() ? "" : " ") + vocabulary.token(id);
  }
  return text;
}

core::Gold gold_of(const core::Example& example, const core::Session& session) {
  core::Gold gold{.origin = core::Gold::Origin::given};
  switch (session.config().objective) {
    case core::Objective::language_model:
      if (!session.target_vocabulary()) return {};  // the sentence is its own answer
      gold.target = typed_text(example.target, *session.target_vocabulary());
      return gold;
    case core::Objective::classification:
      if (!example.label) return {};
      gold.labels = {*example.label};
      return gold;
    case core::Objective::span:
      if (!example.span) return {};
      gold.labels = {example.span->start, example.span->end};
      return gold;
    case core::Objective::token_classification:
      for (const std::vector<std::int32_t>& position : example.labels)
        gold.labels.insert(gold.labels.end(), position.begin(), position.end());
      return gold;
    case core::Objective::none:
      break;
  }
  return {};
}

/// "decoder.block0.norm1" of "decoder.block0.norm1.mean": what stepping by layer holds together.
std::string_view layer_of(const core::Session& session, std::size_t place) {
  const core::Step step = session.steps()[place];
  const core::TensorId tensor = step.phase == core::Phase::update
                                    ? step.parameter
                                    : core::result(session.graph().operations()[step.operation]);
  const std::string_view name = session.graph().spec(tensor).name;
  return name.substr(0, name.size() - core::leaf(name).size());
}

bool is_layer_end(const core::Session& session, std::size_t position) {
  if (position == 0 || position >= session.n_steps()) return true;
  return session.steps()[position - 1].phase != session.steps()[position].phase ||
         layer_of(session, position - 1) != layer_of(session, position);
}

/// One operation nearer to a step, or all the way where nothing is computed on it. Whether it is there.
bool walk_towards(core::Session& session, std::size_t to) {
  to = std::min(to, session.n_steps());
  const std::size_t position = session.cursor().position(), loss = session.steps().backward_begin();
  if (to < position) {
    // results stay, and updates are taken back; but gradients add up, so that an earlier moment of the
    // backward pass is reached from the loss
    const bool begins_anew = to > loss && to < session.steps().update_begin();
    session.move_to(begins_anew ? loss : to);
  } else if (position < loss) {
    session.move_to(std::min(to, loss));  // a session has run forward
  } else if (to > position) {
    session.move_to(position + 1);
  }
  return session.cursor().position() == to;
}

class Applier {
 public:
  explicit Applier(AppState& state) : state_(state) {}

  void operator()(const NextStep&) {
    if (!state_.has_lesson()) return;
    lessons::next_step(state_.runner);
    arrive();
  }
  void operator()(const PreviousStep&) {
    if (!state_.has_lesson()) return;
    lessons::previous_step(state_.runner);
    arrive();
  }
  void operator()(const GoToStep& action) {
    if (!state_.has_lesson()) return;
    lessons::go_to_step(state_.runner, action.step);
    arrive();
  }
  void operator()(const OpenLesson& action) {
    const core::Result<std::filesystem::path> path = lessons::find_lesson(state_.lesson_folder, action.name);
    if (!path) return fail(path.error());
    core::Result<AppState> opened = open_lesson(state_.assets, state_.lesson_folder, path->string());
    if (!opened) return fail(opened.error());
    put_in_place(*std::move(opened));
  }
  void operator()(const OpenModel& action) {
    if (is_session_file(action.what)) {
      core::Result<AppState> read = load_state(action.what, state_.assets, state_.lesson_folder);
      if (!read) return fail(read.error());
      put_in_place(*std::move(read));
      state_.session_file = action.what;
      return;
    }
    core::Result<OpenedModel> model = open_model(action.what, state_.assets);
    if (!model) return fail(model.error());
    core::Result<AppState> opened = open_state(*std::move(model), {}, state_.assets, state_.lesson_folder);
    if (!opened) return fail(opened.error());
    put_in_place(*std::move(opened));
  }
  void operator()(const OpenKept& action) {
    core::Result<AppState> read = load_state(action.file, state_.assets, state_.lesson_folder);
    if (!read) return fail(read.error());
    put_in_place(*std::move(read));
    state_.kept_file = action.file;
  }
  void operator()(const SaveSession& action) {
    std::filesystem::path path = action.path;
    if (path.extension() != ".headscope") path += ".headscope";
    std::error_code ignored;
    const bool is_anothers = path != state_.session_file && std::filesystem::exists(path, ignored);
    if (is_anothers && action.existing == Existing::refuse)
      return fail({"session_file.exists", path.string()});
    if (core::Result<void> written = write_session(path, save_state(state_)); !written)
      return fail(written.error());
    state_.session_file = path;
  }
  void operator()(const Dismiss&) {}
  void operator()(const AnswerQuestion& action) {
    if (!is_asked(action.question)) return;
    lessons::answer(state_.runner, state_.session, action.question, action.given);
  }
  void operator()(const RevealAnswer& action) {
    if (!is_asked(action.question)) return;
    lessons::reveal(state_.runner, state_.session, action.question);
  }
  void operator()(const ReloadLesson&) {
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
    state_.name = state_.lesson().title;
    forget_check();
    if (!keeps_work) state_.undo.clear(), state_.redo.clear(), state_.comparison = {};
    arrive();
  }

  void operator()(const NextOperation&) {
    const bool begins_next = state_.cursor().position() == state_.session.n_steps() &&
                             state_.session.has_gold() && !state_.has_lesson();
    if (begins_next) return train();
    move_cursor(state_.cursor().position() + 1);
  }
  void operator()(const PreviousOperation&) {
    if (!state_.cursor().at_begin()) return move_cursor(state_.cursor().position() - 1);
    // the training step before, if it was the last thing that changed anything; a reset leads elsewhere
    const auto steps = [](const core::Setup& setup) { return setup.trained ? setup.trained->step : 0; };
    if (!state_.undo.empty() && steps(state_.undo.back().setup) + 1 == steps(state_.session.setup()))
      travel(state_.undo, state_.redo);
  }
  void operator()(const NextLayer&) {
    std::size_t position = state_.cursor().position();
    do ++position;
    while (!is_layer_end(state_.session, position));
    move_cursor(position);
  }
  void operator()(const PreviousLayer&) {
    std::size_t position = state_.cursor().position();
    if (position == 0) return (*this)(PreviousOperation{});
    do --position;
    while (!is_layer_end(state_.session, position));
    move_cursor(position);
  }
  void operator()(const MoveCursor& action) { move_cursor(action.position); }
  void operator()(const NextTrainingStep&) { train(); }
  void operator()(const SetPlaying& action) {
    const bool is_at_end = state_.cursor().position() == state_.session.n_steps();
    if (action.playing == Playing::yes && is_at_end && state_.play_by != PlayBy::training_step)
      move_cursor(0);
    state_.playing = action.playing;
  }
  void operator()(const SetPlayBy& action) { state_.play_by = action.by; }

  void operator()(const SetSentence& action) { change(state_.session.setup_for(action.text)); }
  void operator()(const SetGold& action) {
    core::Setup next = state_.session.setup();
    next.gold = action.gold;
    change(std::move(next));
  }
  void operator()(const AssumeGold&) {
    const std::optional<core::Gold> gold = state_.session.predict_gold();
    if (!gold) return fail({"session.no_answer", ""});
    (*this)(SetGold{*gold});
  }
  void operator()(const SetRead& action) {
    core::Setup next = state_.session.setup();
    next.read = action.position;
    change(std::move(next));
  }
  void operator()(const DrawExample&) {
    if (!state_.task) return fail({"session.no_task", ""});
    constexpr std::uint64_t kSeed = 20;  // any: each model shows its examples in the same order
    core::Rng rng(kSeed, "examples." + std::to_string(state_.n_examples_drawn));
    const core::Example example = state_.task->draw(rng, core::Split::held_out);
    core::Setup next = state_.session.setup_for(typed_text(example.source, state_.session.vocabulary()));
    next.gold = gold_of(example, state_.session);
    next.read = example.read;
    ++state_.n_examples_drawn;
    change(std::move(next));
  }
  void operator()(const SetCell& action) {
    const CellAddress& address = action.address;
    if (address.quantity != core::Quantity::value) return fail({"edit.not_a_value", ""});
    const core::Result<void> valid = state_.session.check_edit(address.tensor, address.cell, action.value);
    if (!valid) return fail(valid.error());
    core::Setup next = state_.session.setup();
    const std::pair place(address.tensor, address.cell);
    // what the model had there itself is no edit; an activation's own number, set by hand, is one: nothing
    // flows back through it
    const bool is_given = state_.session.graph().spec(address.tensor).role != core::Role::activation;
    if (is_given && static_cast<double>(static_cast<float>(action.value)) ==
                        state_.session.unedited_value(address.tensor, address.cell))
      next.edits.erase(place);
    else
      next.edits[place] = action.value;
    change(std::move(next), action.stroke);
  }
  void operator()(const ClearCell& action) {
    core::Setup next = state_.session.setup();
    next.edits.erase({action.address.tensor, action.address.cell});
    change(std::move(next));
  }
  void operator()(const SetHead& action) {
    core::Setup next = state_.session.setup();
    next.heads.erase(action.head);
    if (action.mode == core::HeadMode::mean) {
      if (!state_.task) return fail({"session.no_task", ""});
      core::Rng rng(1, "means");
      std::vector<core::Example> examples;
      for (int n = 0; n < kMeanExamples; ++n)
        examples.push_back(state_.task->draw(rng, core::Split::held_out));
      core::Result<core::HeadSwitch> means =
          state_.session.mean_switch(action.head, core::batch_of(examples, *state_.task));
      if (!means) return fail(means.error());
      next.heads[action.head] = *std::move(means);
    } else if (action.mode) {
      next.heads[action.head] = {.mode = *action.mode};
    }
    change(std::move(next));
  }
  void operator()(const SetAttention& action) {
    core::Setup next = state_.session.setup();
    if (action.switches == core::AttentionSwitches{})
      next.attentions.erase(action.scores);
    else
      next.attentions[action.scores] = action.switches;
    change(std::move(next), action.stroke);
  }
  void operator()(const SetOptimiser& action) {
    core::Setup next = state_.session.setup();
    next.optimiser = action.optimiser;
    change(std::move(next), action.stroke);
  }
  void operator()(const RestoreSentence&) {
    core::Setup next = state_.session.setup_for(state_.initial.text);
    next.gold = state_.initial.gold;
    next.read = state_.initial.read;
    change(std::move(next));
  }
  void operator()(const RestoreCells&) {
    core::Setup next = state_.session.setup();
    next.edits = {};
    change(std::move(next));
  }
  void operator()(const Reset&) { change(state_.initial); }
  void operator()(const Undo&) { travel(state_.undo, state_.redo); }
  void operator()(const Redo&) { travel(state_.redo, state_.undo); }

  void operator()(const LockCell& action) {
    if (!state_.has_cell(action.address)) return;
    state_.trail = {action.address};
    state_.level = StageLevel::matrix;
  }
  void operator()(const FollowCell& action) {
    if (!state_.has_cell(action.address)) return;
    if (!state_.trail.empty() && state_.trail.back() == action.address) return;
    state_.trail.push_back(action.address);
    state_.level = StageLevel::matrix;
    state_.shown.reset();
    // a number that lies ahead is shown once it is there
    if (!state_.trace().has(action.address.tensor, action.address.quantity))
      set_out({.to = std::max(state_.cursor().position(), position_of(action.address))});
  }
  void operator()(const StepBack&) {
    if (!state_.trail.empty())
      state_.trail.pop_back();
    else
      level_out();
  }
  void operator()(const ReturnTo& action) {
    if (action.index < state_.trail.size()) state_.trail.resize(action.index + 1);
  }
  void operator()(const CheckGradient& action) {
    if (!state_.session.has_gold()) return fail({"session.no_gold", ""});
    if (!state_.has_cell({action.address.tensor, action.address.cell, core::Quantity::gradient}))
      return fail({"session.no_gradient", ""});
    forget_check();
    if (!state_.patience) {
      state_.checked = {action.address,
                        state_.session.check_gradient(action.address.tensor, action.address.cell)};
      return;
    }
    state_.checking = std::make_shared<GradientJob>(state_.session.gradient_checker(), action.address);
    look_at_check(*state_.patience);
  }
  void operator()(const GoOn&) {
    if (state_.checking) look_at_check(0);
    if (state_.walk) walk_on();
  }
  void operator()(const Stop&) {
    state_.walk.reset();
    state_.checking.reset();
  }
  void operator()(const ChooseHead& action) {
    const std::int64_t head = std::clamp<std::int64_t>(action.head, 0, state_.session.config().n_heads - 1);
    for (CellAddress& address : state_.trail) move_to_head(address, head);
    state_.chosen_head = head;
    if (!state_.has_lesson()) return;
    lessons::choose_head(state_.runner, head);
    lessons::update_goals(state_.runner, state_.session);
  }
  void operator()(const OpenPlace& action) {
    state_.level = action.level;
    state_.opened = action.path;
    state_.shown.reset();
    state_.trail.clear();
  }
  void operator()(const ShowTensor& action) {
    if (action.tensor.index >= state_.session.graph().n_tensors()) return;
    state_.shown = action.tensor;
    state_.level = StageLevel::matrix;
    state_.trail.clear();
  }
  void operator()(const ChooseResult& action) { state_.chosen = action.tensor; }
  void operator()(const SetDifference& action) {
    if (action.shows == Shows::no)
      state_.comparison.before.reset();
    else if (!state_.comparison.before)
      state_.comparison.before = std::make_unique<core::Session>(state_.session.fork());
  }
  void operator()(const MarkBefore&) {
    const core::Setup& now = state_.session.setup();
    if (state_.comparison.marked && *state_.comparison.marked == now)
      state_.comparison.marked.reset();
    else
      state_.comparison.marked = now;
    (*this)(SetDifference{Shows::yes});
  }
  void operator()(const SetLeftPanel& action) { state_.left_panel = action.panel; }
  void operator()(const SetAppearance& action) { state_.appearance = action.appearance; }
  void operator()(const SetLayout& action) { state_.layout = action.layout; }
  void operator()(const SetTextScale& action) { state_.text_scale = action.scale; }

 private:
  /// Hands what is open over to be kept, if there is anything to lose.
  void leave() {
    if (state_.kept_folder.empty()) return;
    LeftSession left{.file = save_state(state_), .went_on_from = state_.kept_file};
    if (has_work(left.file)) state_.left.push_back(std::make_shared<const LeftSession>(std::move(left)));
    state_.kept_file.reset();
  }

  /// Another lesson or model; the look stays.
  void put_in_place(AppState opened) {
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

  void fail(const core::Error& error) {
    state_.message = error;
    state_.playing = Playing::no;
  }

  /// Whether the step has a question of this number: a link or a log may name one that it has not.
  bool is_asked(std::size_t question) const {
    return state_.has_lesson() && question < state_.lesson().steps[state_.runner.step].questions.size();
  }

  /// The lesson's step decides where the cursor stands and what is lit.
  void arrive() {
    forget_looks();
    state_.level = StageLevel::matrix;
    state_.session.move_to(lessons::view_step(state_.runner, state_.session).cursor);
    lessons::update_goals(state_.runner, state_.session);
  }

  /// What was looked at belongs to where the cursor stood.
  void forget_looks() {
    state_.trail.clear();
    state_.shown.reset();
    state_.chosen.reset();
    state_.opened.clear();
  }

  void move_cursor(std::size_t position) {
    forget_looks();
    set_out({.to = position});
  }

  void set_out(Walk walk) {
    state_.walk = walk;
    walk_on();
  }

  /// Walks as far as the patience lasts, and does at the end what is to be done there.
  void walk_on() {
    const Walk walk = *state_.walk;
    const auto began = std::chrono::steady_clock::now();
    while (!walk_towards(state_.session, walk.to)) {
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began;
      if (state_.patience && taken.count() > *state_.patience) return;
    }
    state_.walk.reset();
    if (walk.trains_from)
      train_here(*walk.trains_from);
    else if (state_.cursor().position() == state_.session.n_steps())
      state_.playing = Playing::no;
  }

  /// Where the cursor stands, or will.
  std::size_t place() const { return state_.walk ? state_.walk->to : state_.cursor().position(); }

  /// The job's result, if it is there within so many seconds.
  void look_at_check(double seconds) {
    const auto result = state_.checking->wait(seconds);
    if (!result) return;
    const CellAddress address = state_.checking->address();
    state_.checking.reset();
    if (!*result) return fail(result->error());
    state_.checked = {address, **result};
  }

  void forget_check() {
    state_.checking.reset();
    state_.checked.reset();
  }

  /// The rest of the way first, since its numbers make the next step's.
  void train() {
    if (!state_.session.has_gold()) return fail({"session.no_gold", "sentence"});
    set_out({.to = state_.session.n_steps(), .trains_from = state_.cursor().position()});
  }

  void train_here(std::size_t from) {
    Document before = document();
    before.position = from;
    if (core::Result<void> trained = state_.session.next_training_step(); !trained) {
      set_out({.to = from});
      return fail(trained.error());
    }
    state_.stroke = 0;
    state_.redo.clear();
    remember(std::move(before));
    forget_looks();
    settle();
  }

  Document document() const { return {state_.session.setup(), place()}; }

  void change(core::Setup next, std::uint32_t stroke = 0) {
    if (next == state_.session.setup()) return;
    Document before = document();
    if (!put(std::move(next))) return;
    const std::uint32_t last = std::exchange(state_.stroke, stroke);
    state_.redo.clear();
    if (stroke == 0 || stroke != last) remember(std::move(before));
  }

  void remember(Document document) {
    state_.undo.push_back(std::move(document));
    std::size_t bytes = 0;
    const core::TrainState* shared = nullptr;
    std::size_t n_kept = 0;
    for (; n_kept < std::min(state_.undo.size(), kUndoLimit); ++n_kept) {
      const Document& kept = state_.undo[state_.undo.size() - 1 - n_kept];
      bytes += bytes_of(kept, shared);
      shared = kept.setup.trained.get();
      if (bytes > kUndoBytes) break;
    }
    n_kept = std::max<std::size_t>(n_kept, 1);
    state_.undo.erase(state_.undo.begin(),
                      state_.undo.begin() + static_cast<std::ptrdiff_t>(state_.undo.size() - n_kept));
  }

  void travel(std::vector<Document>& from, std::vector<Document>& to) {
    if (from.empty()) return;
    Document before = document();
    const Document& wanted = from.back();
    const bool is_training = wanted.setup.trained != before.setup.trained;
    if (!put(wanted.setup)) return;
    state_.stroke = 0;
    if (is_training) move_cursor(wanted.position);
    from.pop_back();
    to.push_back(std::move(before));
  }

  bool put(core::Setup setup) {
    // the way back into the backward pass may be long, and set() would go it at once
    const std::size_t position = place();
    state_.session.move_to(std::min(state_.cursor().position(), state_.session.steps().backward_begin()));
    const core::Result<void> set = state_.session.set(std::move(setup));
    set_out({.to = position});
    if (!set) {
      fail(set.error());
      return false;
    }
    settle();
    return true;
  }

  /// After numbers have changed.
  void settle() {
    forget_check();
    std::erase_if(state_.trail, [this](const CellAddress& address) { return !state_.has_cell(address); });
    if (state_.has_lesson()) lessons::update_goals(state_.runner, state_.session);
  }

  /// How many steps must have run for the number to be there.
  std::size_t position_of(const CellAddress& address) const {
    const core::StepList& steps = state_.session.steps();
    switch (address.quantity) {
      case core::Quantity::value:
        break;
      case core::Quantity::gradient: {
        const auto writers = state_.trace().workspace().gradient_plan().writers(address.tensor);
        return writers.empty() ? 0 : steps.backward_begin() + std::ranges::max(writers) + 1;
      }
      case core::Quantity::first_moment:
      case core::Quantity::second_moment:
      case core::Quantity::previous_value:
      case core::Quantity::previous_first:
      case core::Quantity::previous_second: {
        const auto place = std::ranges::find(steps.parameters(), address.tensor);
        return steps.update_begin() + static_cast<std::size_t>(place - steps.parameters().begin()) + 1;
      }
    }
    const std::optional<std::size_t> producer = state_.session.graph().producer(address.tensor);
    return producer ? *producer + 1 : 0;
  }

  /// The tensor that the stage is about at its nearest level.
  std::optional<core::TensorId> subject() const {
    if (state_.shown) return state_.shown;
    const std::optional<core::Step> step = state_.last_step();
    if (!step) return std::nullopt;
    return step->phase == core::Phase::update
               ? step->parameter
               : core::result(state_.session.graph().operations()[step->operation]);
  }

  /// From an operation without heads straight to its part.
  void level_out() {
    if (state_.level == StageLevel::model) return;
    if (state_.level == StageLevel::matrix) {
      const std::optional<core::TensorId> tensor = subject();
      const bool has_heads = tensor && state_.session.graph().spec(*tensor).shape.find(core::Axis::head) >= 0;
      if (state_.shown) {
        state_.opened = state_.session.graph().spec(*state_.shown).name;
        state_.shown.reset();
      }
      state_.level = !tensor ? StageLevel::model : has_heads ? StageLevel::head : StageLevel::part;
      return;
    }
    state_.level = static_cast<StageLevel>(static_cast<int>(state_.level) - 1);
  }

  /// The same cell in another head, where the tensor has heads.
  void move_to_head(CellAddress& address, std::int64_t head) const {
    const int place = state_.session.graph().spec(address.tensor).shape.find(core::Axis::head);
    if (place >= 0) address.cell[place] = head;
  }

  AppState& state_;
};

/// What differences are shown against: the marked setup, or this sentence with the model as it was opened.
core::Setup setup_before(const AppState& state) {
  if (state.comparison.marked) return *state.comparison.marked;
  core::Setup before = state.session.setup();
  before.heads = state.initial.heads;
  before.attentions = state.initial.attentions;
  before.optimiser = state.initial.optimiser;
  before.trained = state.initial.trained;
  before.edits = state.initial.edits;
  std::erase_if(before.edits, [&](const auto& edit) {
    return state.session.graph().spec(edit.first.first).role != core::Role::parameter;
  });
  return before;
}

void refresh_comparison(AppState& state) {
  core::Session* before = state.comparison.before.get();
  if (!before) return;
  if (core::Setup wanted = setup_before(state); wanted != before->setup()) {
    before->move_to(std::min(before->cursor().position(), before->steps().backward_begin()));
    const core::Result<void> set = before->set(std::move(wanted));
    if (!set) {
      state.comparison = {};
      state.message = set.error();
      return;
    }
  }
  before->move_to(state.cursor().position());
}

}  // namespace

void apply_action(AppState& state, const Action& action) {
  if (!std::holds_alternative<GoOn>(action)) state.message.reset();
  std::visit(Applier(state), action);
  refresh_comparison(state);
  ++state.revision;
}

}  // namespace headscope::simulator
