// What a learner can do. Panels, keys, the terminal, links and tests make actions; apply_action alone changes
// the state.
#pragma once

#include "simulator/app_state.h"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace headscope::simulator {

// --- the lesson (nothing happens where there is none) ---
struct NextStep {};
struct PreviousStep {};
struct GoToStep {
  std::size_t step = 0;  // clamped
};
struct OpenLesson {
  std::string name;  // as find_lesson() takes it
};
/// Another model, or a session file, in the place of what is open.
struct OpenModel {
  std::string what;  // as open_model() takes it, or a session file's path
};
/// Goes on with a session that was left, in the place of what is open.
struct OpenKept {
  std::filesystem::path file;  // of list_kept()
};
/// Whether a file may take another's place.
enum class Existing : std::uint8_t { refuse, replace };
/// Writes a session file, NAME.headscope (the ending is added where it is missing). One that is there already
/// and is not this session's is refused (session_file.exists), unless it is to be replaced.
struct SaveSession {
  std::filesystem::path path;
  Existing existing = Existing::refuse;
};
/// Takes the message away, and does nothing else.
struct Dismiss {};
struct AnswerQuestion {
  std::size_t question = 0;
  lessons::Given given;
};
struct RevealAnswer {
  std::size_t question = 0;
};
/// Puts a new reading of the lesson's file in place.
struct ReloadLesson {};

// --- the cursor: forward, loss, backward, update ---
/// One step on. Behind the update of a model without a lesson: the next training step.
struct NextOperation {};
/// One step back. At the beginning of a training step: the end of the one before, while nothing was changed
/// since.
struct PreviousOperation {};
/// To where the sub-layer (a norm, an attention, a feed-forward) or the phase ends; back to where it begins.
struct NextLayer {};
struct PreviousLayer {};
struct MoveCursor {
  std::size_t position = 0;  // steps that have run; clamped
};
/// Takes the update as done and begins the next training step, on the same sentence. Who looks at the forward
/// pass stays at that place and sees what has changed there; from the backward pass and the update the next
/// step begins at its beginning. Can be undone.
struct NextTrainingStep {};
struct SetPlaying {
  Playing playing = Playing::no;
};
struct SetPlayBy {
  PlayBy by = PlayBy::operation;
};

// --- what the learner sets: all of it can be undone ---
// Changes with one and the same stroke (of a drag, not 0) are undone together.
struct SetSentence {
  std::string text;
};
/// What the model should answer; origin none takes it away.
struct SetGold {
  core::Gold gold;
};
/// The model's own answer is taken for right.
struct AssumeGold {};
/// Which position asks, of a pointer; none: the question's last word.
struct SetRead {
  std::optional<std::int32_t> position;
};
/// The next example of the model's task, with its gold answer.
struct DrawExample {};
struct SetCell {
  CellAddress address;  // a value's: an input's, a parameter's, an activation's (set by hand)
  double value = 0;
  std::uint32_t stroke = 0;
};
/// Takes back one cell's edit.
struct ClearCell {
  CellAddress address;
};
struct SetHead {
  core::HeadAddress head;
  std::optional<core::HeadMode> mode;  // none: switched on
};
struct SetAttention {
  core::TensorId scores;
  core::AttentionSwitches switches;
  std::uint32_t stroke = 0;
};
struct SetOptimiser {
  core::OptimiserConfig optimiser;
  std::uint32_t stroke = 0;
};
/// Takes back the sentence, the edits of cells, or everything since opening, training included.
struct RestoreSentence {};
struct RestoreCells {};
struct Reset {};
struct Undo {};
struct Redo {};

// --- what is looked at ---
/// Lights a cell and forgets the trail.
struct LockCell {
  CellAddress address;
};
/// Goes on to a cell that the lit one came from, or goes to; the trail leads back.
struct FollowCell {
  CellAddress address;
};
/// One cell back along the trail; without one a level out: what Escape does.
struct StepBack {};
/// Back to the trail's cell of this index.
struct ReturnTo {
  std::size_t index = 0;
};
/// Holds the lit cell's gradient against a finite difference.
struct CheckGradient {
  CellAddress address;
};
/// Goes on with what takes longer than the state's patience: a long walk, a gradient check, a job. The
/// window's own, a frame at a time.
struct GoOn {};
/// Leaves a long walk where it is, a gradient check and a job undone, and forgets what waits for the job.
struct Stop {};
struct ChooseHead {
  std::int64_t head = 0;
};
/// Opens a part of the model (a path of names; empty: where the cursor is) at a level.
struct OpenPlace {
  StageLevel level = StageLevel::model;
  std::string path = {};
};
/// Shows a tensor's operation with its matrices.
struct ShowTensor {
  core::TensorId tensor;
};
/// Of a backward step: whose gradient the stage shows.
struct ChooseResult {
  core::TensorId tensor;
};
enum class Shows : std::uint8_t { no, yes };
struct SetDifference {
  Shows shows = Shows::no;
};
/// What is set now becomes what differences are shown against; twice: as opened again.
struct MarkBefore {};
struct SetLeftPanel {
  LeftPanel panel = LeftPanel::lesson;
};
struct SetAppearance {
  Appearance appearance = Appearance::light;
};
struct SetLayout {
  Layout layout = Layout::study;
};
struct SetTextScale {
  double scale = 1;  // within the theme's limits
};

using Action =
    std::variant<NextStep, PreviousStep, GoToStep, OpenLesson, OpenModel, OpenKept, SaveSession, Dismiss,
                 AnswerQuestion, RevealAnswer, ReloadLesson, NextOperation, PreviousOperation, NextLayer,
                 PreviousLayer, MoveCursor, NextTrainingStep, SetPlaying, SetPlayBy, SetSentence, SetGold,
                 AssumeGold, SetRead, DrawExample, SetCell, ClearCell, SetHead, SetAttention, SetOptimiser,
                 RestoreSentence, RestoreCells, Reset, Undo, Redo, LockCell, FollowCell, StepBack, ReturnTo,
                 CheckGradient, GoOn, Stop, ChooseHead, OpenPlace, ShowTensor, ChooseResult, SetDifference,
                 MarkBefore, SetLeftPanel, SetAppearance, SetLayout, SetTextScale>;

/// What a frame collects.
using Actions = std::vector<Action>;

/// Applies one action; while a job runs it waits, unless it is about the look alone. A failure leaves the
/// state as it was, but for `message`, which stands until the next action of the learner's.
void apply_action(AppState& state, const Action& action);

}  // namespace headscope::simulator
