// What a learner can do. Panels, keys, the terminal, links and tests make actions; apply_action alone changes
// the state.
#pragma once

#include "simulator/app_state.h"

#include <string>
#include <variant>
#include <vector>

namespace headscope::simulator {

struct NextStep {};
struct PreviousStep {};
struct GoToStep {
  std::size_t step = 0;  // clamped
};
struct OpenLesson {
  std::string name;  // as find_lesson() takes it
};

struct NextOperation {};
struct PreviousOperation {};
struct MoveCursor {
  std::size_t position = 0;  // operations that have run; clamped
};
struct SetPlaying {
  Playing playing = Playing::no;
};

struct SetSentence {
  std::string text;
};
struct SetCell {
  CellAddress address;  // an input's or a parameter's
  double value = 0;
};
/// Takes back the sentence or the edits of the lesson as it began; can be undone.
struct RestoreSentence {};
struct RestoreCells {};
struct Undo {};
struct Redo {};

/// Lights a cell and forgets the trail.
struct LockCell {
  CellAddress address;
};
/// Goes on to a cell that the lit one came from, or goes to; the trail leads back.
struct FollowCell {
  CellAddress address;
};
/// One cell back along the trail; the last one unlocks.
struct StepBack {};
/// Back to the trail's cell of this index.
struct ReturnTo {
  std::size_t index = 0;
};

struct ChooseHead {
  std::int64_t head = 0;
};
struct AnswerQuestion {
  std::size_t question = 0;
  lessons::Given given;
};
struct RevealAnswer {
  std::size_t question = 0;
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
/// Puts a new reading of the lesson's file in place.
struct ReloadLesson {};

using Action = std::variant<NextStep, PreviousStep, GoToStep, OpenLesson, NextOperation, PreviousOperation,
                            MoveCursor, SetPlaying, SetSentence, SetCell, RestoreSentence, RestoreCells, Undo,
                            Redo, LockCell, FollowCell, StepBack, ReturnTo, ChooseHead, AnswerQuestion,
                            RevealAnswer, SetAppearance, SetLayout, SetTextScale, ReloadLesson>;

/// What a frame collects.
using Actions = std::vector<Action>;

/// Applies one action. A failure leaves the state as it was, but for `message`.
void apply_action(AppState& state, const Action& action);

}  // namespace headscope::simulator
