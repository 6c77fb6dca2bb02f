#include "simulator/shortcuts.h"

#include "simulator/panels/cell_edit.h"

#include <algorithm>
#include <cmath>

namespace headscope::simulator {
namespace {

void read_step_keys(Panel& panel) {
  Actions& actions = panel.actions;
  const bool presses_control = panel.window.focus.holds_keys();
  // a clicker's keys turn the lesson's steps; without a lesson they step the model
  const bool has_lesson = panel.state.has_lesson();
  const auto on = [&] { has_lesson ? actions.push_back(NextStep{}) : actions.push_back(NextOperation{}); };
  if (key_pressed(Key::space) && !presses_control) on();
  if (key_pressed(Key::page_down)) on();
  if (key_pressed(Key::page_up))
    has_lesson ? actions.push_back(PreviousStep{}) : actions.push_back(PreviousOperation{});
  if (presses_control) return;  // arrows and Home belong to the control that has the focus
  if (key_pressed(Key::home)) has_lesson ? actions.push_back(GoToStep{0}) : actions.push_back(MoveCursor{0});
  if (key_pressed(Key::end))
    has_lesson ? actions.push_back(GoToStep{panel.view.step.n_steps - 1})
               : actions.push_back(MoveCursor{panel.state.session.n_steps()});
  const bool by_layer = ImGui::GetIO().KeyShift;
  if (key_pressed(Key::right, Repeat::repeating))
    by_layer ? actions.push_back(NextLayer{}) : actions.push_back(NextOperation{});
  if (key_pressed(Key::left, Repeat::repeating))
    by_layer ? actions.push_back(PreviousLayer{}) : actions.push_back(PreviousOperation{});
  if (typed('n')) actions.push_back(NextTrainingStep{});
}

void follow_largest_term(Panel& panel) {
  if (!panel.view.narration || !panel.view.lit) return;
  const Narration& narration = *panel.view.narration;
  if (narration.terms.empty()) return;
  if (!panel.view.is_locked) return panel.actions.push_back(LockCell{*panel.view.lit});
  const auto largest = narration.chosen
                           ? narration.terms.begin() + static_cast<std::ptrdiff_t>(*narration.chosen)
                           : std::ranges::max_element(narration.terms, {}, [](const NarratedTerm& term) {
                               return std::abs(term.amount);
                             });
  if (!largest->cells.empty()) panel.actions.push_back(FollowCell{largest->cells.front()});
}

/// The lit cell's next number: value, gradient, and a parameter's moments.
void show_other_quantity(Panel& panel) {
  if (!panel.view.narration || panel.view.narration->quantities.size() < 2) return;
  const std::vector<core::Quantity>& quantities = panel.view.narration->quantities;
  CellAddress cell = panel.view.narration->cell;
  const auto shown = std::ranges::find(quantities, cell.quantity);
  cell.quantity =
      shown == quantities.end() || shown + 1 == quantities.end() ? quantities.front() : *(shown + 1);
  panel.actions.push_back(LockCell{cell});
}

/// Whether the sheet waits for a word about a file that is there already.
bool is_asked_to_replace(const AppState& state) {
  return state.message && state.message->key == "session_file.exists";
}

bool has_sheet(const WindowState& window) {
  return window.help == Shown::yes || window.opening == Shown::yes;
}

/// The keys that open a sheet close it too, and so does Escape.
void read_sheet_keys(Panel& panel) {
  WindowState& window = panel.window;
  if (key_pressed(Key::escape)) {
    if (window.help == Shown::yes)
      window.help = Shown::no;
    else if (window.opening == Shown::yes && is_asked_to_replace(panel.state))
      panel.actions.push_back(Dismiss{}), window.refusals.clear();
    else
      window.opening = Shown::no;
  }
  if (typed('o')) window.opening = window.opening == Shown::yes ? Shown::no : Shown::yes;
  if (typed('?')) window.help = window.help == Shown::yes ? Shown::no : Shown::yes;
}

void read_cell_keys(Panel& panel) {
  if (key_pressed(Key::enter) && !panel.window.focus.holds_keys()) follow_largest_term(panel);
  if (key_pressed(Key::escape)) {
    if (is_computing(panel.state))
      panel.actions.push_back(Stop{});
    else if (!panel.window.refusals.empty())  // what was typed and refused gives way to what holds
      panel.window.refusals.clear(), panel.actions.push_back(Dismiss{});
    else
      panel.actions.push_back(StepBack{});
  }
  if (typed('g')) show_other_quantity(panel);
  if (typed('e') && panel.view.lit) begin_edit(panel, *panel.view.lit);
  if (typed('c') && panel.view.lit) panel.actions.push_back(CheckGradient{*panel.view.lit});
  const std::int64_t n_heads = panel.state.session.config().n_heads;
  if (typed('h')) panel.actions.push_back(ChooseHead{(panel.view.step.head + 1) % n_heads});
}

void read_window_keys(Panel& panel) {
  const AppState& state = panel.state;
  if (typed('p'))
    panel.actions.push_back(SetPlaying{state.playing == Playing::yes ? Playing::no : Playing::yes});
  if (typed('t'))
    panel.actions.push_back(
        SetAppearance{state.appearance == Appearance::light ? Appearance::dark : Appearance::light});
  if (typed('r')) {
    panel.actions.push_back(Reset{});
  }
  if (typed('d')) panel.actions.push_back(SetDifference{state.comparison.is_shown ? Shows::no : Shows::yes});
  if (typed('b')) panel.actions.push_back(MarkBefore{});
  const auto change_text_scale = [&](double change) {
    const Scale& limits = panel.theme().scale;
    panel.actions.push_back(
        SetTextScale{std::clamp(state.text_scale + change, static_cast<double>(limits.minimum),
                                static_cast<double>(limits.maximum))});
  };
  if (typed('+') || typed('=')) change_text_scale(0.25);
  if (typed('-')) change_text_scale(-0.25);
  if (typed('f'))
    panel.actions.push_back(SetLayout{state.layout == Layout::study ? Layout::presentation : Layout::study});
}

void read_undo(Panel& panel) {
  const ImGuiIO& io = ImGui::GetIO();
  if (!io.KeyCtrl) return;
  if (key_pressed(Key::z)) {
    if (io.KeyShift)
      panel.actions.push_back(Redo{});
    else
      panel.actions.push_back(Undo{});
  }
  if (key_pressed(Key::y)) panel.actions.push_back(Redo{});
}

}  // namespace

void read_shortcuts(Panel& panel) {
  if (ImGui::GetIO().WantTextInput || panel.window.edit) return;
  // what lies under a sheet does not hear
  const bool had_sheet = has_sheet(panel.window);
  if (had_sheet || typed('o') || typed('?')) read_sheet_keys(panel);
  if (had_sheet || has_sheet(panel.window)) return;
  read_undo(panel);
  if (ImGui::GetIO().KeyCtrl) return;
  read_step_keys(panel);
  read_cell_keys(panel);
  read_window_keys(panel);
}

}  // namespace headscope::simulator
