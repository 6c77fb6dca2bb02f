// What every panel is given, and what belongs to the window alone (drafts, hover, pages): not the learner's
// work, so not part of the state.
#pragma once

#include "simulator/actions.h"
#include "simulator/panels/diagram.h"
#include "simulator/view.h"
#include "simulator/widgets/interaction.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace headscope::simulator {

/// What the learner is about to answer, before "Check".
struct Draft {
  std::string number;
  std::vector<std::int64_t> choices;  // statements chosen, or the order so far
};

/// A number field that stands open over a cell.
struct CellEdit {
  CellAddress address;
  std::string text;
  std::string opened_with;  // the rounded number: left as it is, it changes nothing
};

/// What the pointer is over.
struct Pointed {
  std::optional<CellAddress> cell;       // on a matrix
  std::optional<CellAddress> factor;     // a term or link that names a cell elsewhere
  std::optional<std::size_t> term;       // of the narration
  std::optional<core::TensorId> tensor;  // a link in prose, or a picture in the strip
  bool operator==(const Pointed&) const = default;
};

enum class Shown : std::uint8_t { no, yes };

/// Whether large matrices are shown as far as their numbers can be read, or as far as cells can be told
/// apart.
enum class Detail : std::uint8_t { numbers, pattern };

/// What stands in a window too narrow for more than one thing at a time.
enum class NarrowTab : std::uint8_t { left, stage, cell };

/// A stroke over a cell: dragged up and down, or turned with the wheel. Its changes are undone together.
struct CellStroke {
  CellAddress address;
  double from = 0;   // the number when the stroke began
  double scale = 1;  // the matrix's colour scale then: a number that outgrows it must not change the unit
  double rest = 0;   // of the wheel: parts of a unit that have not been set yet
  float from_y = 0;  // where the button went down
  std::uint32_t stroke = 0;
  bool has_moved = false;
};

struct LossPoint {
  std::int64_t step = 0;
  double loss = 0;
};

/// The model's own answer to a setup: a translation is worth keeping between frames.
struct OwnAnswer {
  core::Setup setup;
  std::optional<core::Gold> gold;
};

/// Of the "What if?" panel.
struct WhatIfWindow {
  std::optional<core::HeadAddress> head;    // whose switch is shown; none: the first
  std::optional<core::TensorId> attention;  // the scores of the attention that is set; none: all
  std::optional<std::int32_t> span_begin;   // a span of which the last word is still to be chosen
  std::vector<LossPoint> losses;            // of the last training steps, on one sentence and answer
  core::Setup losses_of;                    // that sentence and answer
  std::optional<OwnAnswer> own_answer;
  bool shows_message = false;  // no explainer is there to show it
};

/// What a field was given and was not taken: it stays there with the reason, until it is mended, given up
/// (Escape), or something else stands in its place.
struct Refusal {
  std::string typed, instead_of;
  core::Error why;
};

/// Whether numbers have room on the stage: tried anew when what is shown, or its room, has changed.
struct NumbersTry {
  std::uint64_t revision = 0;
  ImVec2 room = {0, 0};
  float unit = 0;  // of lengths: the text's scale
  bool fit = true;
};

inline constexpr std::size_t kNoStep = static_cast<std::size_t>(-1);

struct WindowState {
  Focus focus;
  Pointed seen;                           // what the pointer lit in the last frame: drawn now
  Pointed pointed;                        // what it finds in this one
  std::map<core::Axis, int> first_shown;  // pages of matrices too large for the stage
  std::optional<Detail> detail;           // chosen; none: what the stage's matrices ask for
  NumbersTry numbers;
  std::optional<CellEdit> edit;
  std::map<std::string, std::string> field_drafts;  // by the field's name, while it is being typed in
  std::map<std::string, std::string> field_tries;  // entered, by the field's name: what came of it shows next
  std::map<std::string, Refusal> refusals;         // by the field's name
  std::optional<CellStroke> drag, wheel;           // over a cell
  std::uint32_t strokes = 0;                       // the last stroke's number
  WhatIfWindow what_if;
  std::optional<NarrowTab> narrow_tab;     // none: the lesson, or the stage where there is none
  std::optional<CellAddress> turned_from;  // a held cell whose explanation was turned away from
  std::map<lessons::ItemId, Draft> drafts;
  std::set<lessons::ItemId> hints;          // experiments whose hint was asked for
  std::optional<lessons::ItemId> answered;  // a question whose verdict is to be scrolled into sight,
  std::uint64_t answered_at = 0;            // once the state has moved on from this revision
  std::optional<Rect> reveal;               // where that verdict is, within one frame
  std::optional<CellAddress> focus_cell;    // of the matrix that has the keyboard
  Shown help = Shown::no;
  Shown opening = Shown::no;         // the list of what can be opened
  std::vector<std::string> bundled;  // models that come with the program; empty: not looked for yet
  float sheet_height = 0;            // of what stands over everything, as its content asked for
  Shown notes = Shown::no;           // the presenter's
  DiagramWindow diagram;
  double speed = 1;
  double play_since = 0;          // time of the last operation played
  std::size_t scrolled_step = 0;  // the step for which the prose was scrolled to its top
};

/// One frame's errand for a panel.
struct Panel {
  Ui& ui;
  const AppState& state;
  const View& view;
  const Words& words;
  WindowState& window;
  Actions& actions;
  double time = 0;

  Painter& painter() const { return ui.painter; }
  const Theme& theme() const { return ui.painter.theme(); }
  float px(float length) const { return ui.painter.px(length); }
  std::string text(std::string_view key, const lessons::TextValues& values = {}) const {
    return words.text.text(key, values);
  }
  /// The last failure, unless it stands at the field that it is about.
  const core::Error* message() const;
  /// The same panel drawing through another Ui (a scroll area's).
  Panel with(Ui& other) const { return {other, state, view, words, window, actions, time}; }
};

void draw_top_bar(Panel& panel, const Rect& box);
void draw_lesson(Panel& panel, const Rect& box);
/// All that the learner may change: sentence, gold answer, heads, switches, rate, cells.
void draw_what_if(Panel& panel, const Rect& box);
void draw_stage(Panel& panel, const Rect& box);
/// The stage at every level but the nearest.
void draw_diagram(Panel& panel, const Rect& box);
void draw_explainer(Panel& panel, const Rect& box);
void draw_transport(Panel& panel, const Rect& box);
void draw_help(Panel& panel, const Rect& box);
/// What can be opened, over everything else.
void draw_opening(Panel& panel, const Rect& box);
void draw_presentation(Panel& panel, const Rect& box);
/// How far a long computation is, and how to stop it: for a box at the window's lower edge.
bool is_computing(const AppState& state);
Rect progress_box(const Painter& painter, ImVec2 window);
void draw_progress(Panel& panel, const Rect& box);

}  // namespace headscope::simulator
