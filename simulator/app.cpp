#include "simulator/app.h"

#include "simulator/job.h"
#include "simulator/panels/regions.h"
#include "simulator/panels/stage_matrix.h"
#include "simulator/panels/tabs.h"
#include "simulator/shortcuts.h"
#include "simulator/widgets/controls.h"
#include "simulator/widgets/scroll_area.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace headscope::simulator {
namespace {

/// Seconds that an operation stays on the screen when playing at speed 1.
constexpr double kSecondsPerOperation = 1.5;

Sizing sizing_of(const AppState& state) {
  return state.layout == Layout::presentation ? Sizing::presentation : Sizing::normal;
}

/// In presentation everything grows with the window, so that the last row of a class reads a large screen as
/// it reads a small one. It goes by steps: each bakes the fonts anew. A text size that somebody chose is not
/// carried beyond the theme's largest.
double growth_in(const AppState& state, double largest_text, const platform::Frame& frame) {
  constexpr float kWidth = 1600, kHeight = 900;  // what the theme's sizes of presentation are for
  constexpr double kStep = 0.125;
  if (state.layout != Layout::presentation) return 1;
  const double room = static_cast<double>(std::min(frame.width / kWidth, frame.height / kHeight) /
                                          frame.scale.interface_scale);
  return std::clamp(std::floor(room / kStep) * kStep, 1.0, std::max(1.0, largest_text / state.text_scale));
}

/// A bare window.
void begin_window(const char* name, const Rect& box, ImGuiWindowFlags flags) {
  ImGui::SetNextWindowPos(box.min);
  ImGui::SetNextWindowSize({box.width(), box.height()});
  ImGui::Begin(name, nullptr,
               flags | ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoBackground |
                   ImGuiWindowFlags_NoScrollWithMouse);
}

/// A window of its own, so that the scrolled areas lie under it too.
void draw_over(const Panel& panel, const Rect& box, const char* name, void (*draw)(Panel&, const Rect&)) {
  begin_window(name, box, ImGuiWindowFlags_None);
  Painter painter = panel.painter().on(*ImGui::GetWindowDrawList());
  Ui ui{painter, panel.ui.focus};
  Panel over = panel.with(ui);
  draw(over, box);
  ImGui::End();
}

void draw_study(Panel& panel, ImVec2 window) {
  const WindowRegions regions = arrange_regions(panel.painter(), window);
  draw_top_bar(panel, regions.top_bar);
  if (regions.layout == WindowLayout::single) {
    draw_single(panel, regions.stage);
    return draw_transport(panel, regions.transport);
  }
  if (regions.layout == WindowLayout::column)
    draw_column(panel, regions.lesson);
  else
    draw_left(panel, regions.lesson);
  Rect stage = regions.stage;
  // the drawer comes when a cell is held, and the stage keeps what it leaves
  const bool has_drawer = regions.drawer && (panel.view.is_locked || panel.message());
  if (has_drawer) stage.max.x = regions.drawer->min.x;
  draw_stage(panel, stage);
  if (regions.explainer) draw_explainer(panel, *regions.explainer);
  if (has_drawer) draw_explainer(panel, *regions.drawer);
  draw_transport(panel, regions.transport);
}

}  // namespace

App::App(AppState state, Words words, Theme light, Theme dark)
    : state_(std::move(state)),
      words_(std::move(words)),
      themes_{std::move(light), std::move(dark)},
      lesson_(state_.runner.lesson),
      model_(state_.session.shared_model()) {
  view_ = make_view(state_, words_, theme().numbers, std::nullopt);
  turn_pages();
}

core::Result<App> App::make(AppState state, Words words) {
  const std::filesystem::path file = state.assets / "theme.toml";
  core::Result<Theme> light = load_theme(file, Variant::light);
  if (!light) return light.error();
  core::Result<Theme> dark = load_theme(file, Variant::dark);
  if (!dark) return dark.error();
  return App(std::move(state), std::move(words), *std::move(light), *std::move(dark));
}

core::Result<App> App::make(AppState state, const std::string& language) {
  core::Result<Words> words = Words::load(state.assets, language);
  if (!words) return words.error();
  return make(std::move(state), *std::move(words));
}

core::Result<platform::FontAtlas> App::prepare(const platform::Frame& frame) {
  ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
  const FontRequest request{
      .text_scale = static_cast<float>(state_.text_scale * growth_in(state_, theme().scale.maximum, frame)) *
                    frame.scale.interface_scale,
      .sizing = sizing_of(state_),
      .pixels_per_unit = frame.scale.pixels_per_unit};
  if (!fonts_) {
    core::Result<Fonts> fonts = Fonts::build(atlas, theme(), request);
    if (!fonts) return fonts.error();
    fonts_ = *std::move(fonts);
    return platform::FontAtlas::rebuilt;
  }
  if (fonts_->request() == request && !fonts_->needs_rebuild()) return platform::FontAtlas::unchanged;
  if (core::Result<void> rebuilt = fonts_->rebuild(atlas, theme(), request); !rebuilt) return rebuilt.error();
  follow_up_ = true;
  return platform::FontAtlas::rebuilt;
}

void App::apply(const Action& action) {
  apply_action(state_, action);
  follow_up_ = true;
  refresh_view();
}

std::vector<std::shared_ptr<const LeftSession>> App::take_left() {
  return std::exchange(state_.left, {});
}

void App::refresh_view() {
  if (lesson_ != state_.runner.lesson || model_ != state_.session.shared_model()) forget_model();
  // an action may have taken the cell away from under the pointer
  const bool is_previewing =
      state_.trail.empty() && window_.pointed.cell && state_.has_cell(*window_.pointed.cell);
  const std::optional<CellAddress> previewed = is_previewing ? window_.pointed.cell : std::nullopt;
  if (view_.revision == state_.revision && view_.previewed == previewed) return;
  view_ = make_view(state_, words_, theme().numbers, previewed);
  // a field that is not drawn could not be closed, and would keep the keyboard
  if (window_.edit && !is_on(view_.stage, window_.edit->address)) window_.edit.reset();
  turn_pages();
  follow_up_ = true;
}

/// Cells, drafts and pages of one lesson or model mean nothing in another.
void App::forget_model() {
  const bool is_reading = lesson_ && state_.has_lesson() && lesson_->path == state_.lesson().path;
  if (!is_reading) {
    window_.scrolled_step = kNoStep;
    window_.narrow_tab.reset();
  }
  lesson_ = state_.runner.lesson;
  model_ = state_.session.shared_model();
  window_.seen = {};
  window_.pointed = {};
  window_.first_shown.clear();
  window_.edit.reset();
  window_.drag.reset();
  window_.wheel.reset();
  window_.what_if = {};
  window_.turned_from.reset();
  window_.drafts.clear();
  window_.field_drafts.clear();
  window_.field_tries.clear();
  window_.refusals.clear();
  window_.hints.clear();
  window_.answered.reset();
  window_.focus_cell.reset();
  page_turned_to_.reset();
}

/// Brings a cell that was locked, followed or lit by the step within the pages that are shown; once, so that
/// the learner can turn away from it.
void App::turn_pages() {
  if (!view_.lit || view_.lit == view_.previewed || view_.lit == page_turned_to_) return;
  page_turned_to_ = view_.lit;
  const auto turn = [this](const SliceSide& side, std::int64_t index) {
    const int shown = window_of(view_.stage, side, detail_of(window_, view_.stage));
    if (side.size <= shown) return;
    int& first = window_.first_shown[side.axis];
    first = static_cast<int>(
        std::clamp<std::int64_t>(first, std::max<std::int64_t>(0, index - shown + 1), index));
  };
  for (const StageItem& item : view_.stage.items) {
    if (item.slice.tensor != view_.lit->tensor || item.slice.quantity != view_.lit->quantity) continue;
    const std::optional<Slice::Place> place = item.slice.find(view_.lit->cell);
    if (!place) continue;
    turn(item.slice.rows, place->row);
    turn(item.slice.columns, place->column);
  }
}

void App::play(double time, Actions& actions) {
  if (state_.playing == Playing::no || state_.walk || state_.job) {
    window_.play_since = time;
    return;
  }
  if (time - window_.play_since < kSecondsPerOperation / window_.speed) return;
  window_.play_since = time;
  switch (state_.play_by) {
    case PlayBy::operation:
      return actions.push_back(MoveCursor{state_.cursor().position() + 1});
    case PlayBy::layer:
      return actions.push_back(NextLayer{});
    case PlayBy::training_step:
      return actions.push_back(NextTrainingStep{});
  }
}

double App::next_frame_within(double time) const {
  if (follow_up_) return 0;
  constexpr double kProgress = 0.1;  // seconds between looks at a check on its own thread
  if (state_.checking || state_.job) return kProgress;
  if (state_.playing == Playing::no) return platform::kOnInput;
  return std::max(0.0, window_.play_since + kSecondsPerOperation / window_.speed - time);
}

/// Where the learner is, for the window's frame.
std::string App::title() const {
  if (state_.has_lesson())
    return words_.text.text("window.title", {{"lesson", state_.name},
                                             {"step", std::to_string(view_.step.step + 1)},
                                             {"count", std::to_string(view_.step.n_steps)}});
  return words_.text.text("window.title_of_model", {{"name", state_.name},
                                                    {"step", std::to_string(state_.session.training_step())},
                                                    {"position", std::to_string(state_.cursor().position())},
                                                    {"count", std::to_string(state_.session.n_steps())}});
}

platform::NextFrame App::draw(const platform::Frame& frame, TextRecord* record) {
  follow_up_ = false;
  const ImVec2 size{frame.width, frame.height};
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0);
  begin_window("headscope", {{0, 0}, size}, ImGuiWindowFlags_NoBringToFrontOnFocus);
  if (record) record->clear();

  window_.focus.begin_frame();
  window_.seen = std::exchange(window_.pointed, {});

  Actions actions;
  WholeText pointed;
  std::vector<platform::Ground> grounds;
  Painter painter(*ImGui::GetWindowDrawList(), theme(), *fonts_, record, &pointed, &grounds);
  Ui ui{painter, window_.focus};
  Panel panel{ui, state_, view_, words_, window_, actions, frame.time};
  if (state_.layout == Layout::presentation)
    draw_presentation(panel, {{0, 0}, size});
  else
    draw_study(panel, size);
  read_shortcuts(panel);
  play(frame.time, actions);
  ImGui::End();
  const float sheet_height = window_.sheet_height;
  if (window_.opening == Shown::yes) draw_over(panel, {{0, 0}, size}, "opening", draw_opening);
  if (window_.help == Shown::yes) draw_over(panel, {{0, 0}, size}, "help", draw_help);
  if (is_computing(state_)) draw_over(panel, progress_box(painter, size), "progress", draw_progress);
  if (!pointed.text.empty()) tooltip(painter, ImGui::GetIO().MousePos, pointed.text, pointed.source);
  ImGui::PopStyleVar(3);

  // what was begun goes on where the learner does nothing else
  const bool has_more = state_.job ? state_.job->background.wait(0)
                                   : state_.walk || (state_.checking && state_.checking->background.wait(0));
  if (has_more && actions.empty()) actions.emplace_back(GoOn{});
  for (const Action& action : actions) apply_action(state_, action);
  if (!actions.empty() || window_.pointed != window_.seen) follow_up_ = true;
  refresh_view();
  if (fonts_->needs_rebuild() || is_scrolling() || window_.sheet_height != sheet_height) follow_up_ = true;
  return {.within = next_frame_within(frame.time), .title = title(), .grounds = std::move(grounds)};
}

}  // namespace headscope::simulator
