// How long the window takes: to build a frame on the null back end, to answer an edit, to draw with the
// machine's own OpenGL. Prints tables; asserts nothing.
//
//   frame_bench [frames|edits|large|opengl|start]…      all where none is named
#include "simulator/app.h"
#include "simulator/platform/headless.h"
#include "tests/simulator/app_of.h"
#include "tests/simulator/bundled_state.h"
#include "tests/simulator/large_state.h"
#include "tests/simulator/null_backend.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headscope::simulator {
namespace {

using test::app_of;

double milliseconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::milli>(now).count();
}

double median(std::vector<double> times) {
  if (times.empty()) return 0;
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

AppState lesson_state(const std::string& name) {
  const std::filesystem::path root = tests::source_folder();
  core::Result<AppState> state = open_lesson(root / "assets", root / "lessons/content/en", name);
  if (!state) throw std::runtime_error(state.error().key + " " + state.error().where);
  return *std::move(state);
}

/// The application on the null back end, each frame timed.
class Timed {
 public:
  Timed(AppState state, ImVec2 size) : backend_(size), app_(app_of(std::move(state))) { settle(); }

  /// In milliseconds: from the fonts' check to the finished draw lists.
  double frame() {
    const double begin = milliseconds();
    const platform::Frame frame{.width = ImGui::GetIO().DisplaySize.x,
                                .height = ImGui::GetIO().DisplaySize.y,
                                .time = time_,
                                .scale = {}};
    if (const core::Result<platform::FontAtlas> prepared = app_.prepare(frame); !prepared)
      throw std::runtime_error(prepared.error().key);
    unsigned char* pixels = nullptr;
    int width = 0, height = 0;
    if (!ImGui::GetIO().Fonts->IsBuilt()) ImGui::GetIO().Fonts->GetTexDataAsAlpha8(&pixels, &width, &height);
    ImGui::NewFrame();
    next_ = app_.draw(frame);
    ImGui::Render();
    time_ += 1.0 / 60;
    return milliseconds() - begin;
  }
  void settle() {
    for (int n = 0; n < 12; ++n) {
      frame();
      if (next_.within > 0) return;
    }
  }
  /// In milliseconds: the action, what it recomputes, and the view made of it.
  double apply(const Action& action) {
    const double begin = milliseconds();
    app_.apply(action);
    return milliseconds() - begin;
  }
  const AppState& state() const { return app_.state(); }

 private:
  test::NullBackend backend_;
  App app_;
  platform::NextFrame next_;
  double time_ = 0;
};

/// A cell of what the last step wrote, value or gradient; none at the beginning.
std::optional<CellAddress> cell_of_step(const AppState& state) {
  const std::optional<core::Step> step = state.last_step();
  if (!step) return std::nullopt;
  CellAddress address;
  if (step->phase == core::Phase::update) {
    address.tensor = step->parameter;
  } else {
    const core::Operation& operation = state.session.graph().operations()[step->operation];
    address.tensor = core::result(operation);
    if (step->phase == core::Phase::backward) address.quantity = core::Quantity::gradient;
    if (!state.trace().has(address.tensor, address.quantity)) return std::nullopt;
  }
  const core::Shape& shape = state.trace().shape(address.tensor);
  if (shape.count() == 0) return std::nullopt;
  address.cell = shape.cell(shape.count() / 2);
  return address;
}

/// Positions spread over the training step.
std::vector<std::size_t> positions(const AppState& state, std::size_t n_most) {
  const std::size_t n = state.session.n_steps() + 1;
  std::set<std::size_t> chosen;
  for (std::size_t at = 0; at < n_most; ++at) chosen.insert(at * (n - 1) / (n_most - 1));
  return {chosen.begin(), chosen.end()};
}

struct Way {
  const char* name;
  StageLevel level;
  bool holds_cell;
};

constexpr Way kWays[] = {{"model", StageLevel::model, false},        {"block", StageLevel::block, false},
                         {"part", StageLevel::part, false},          {"heads", StageLevel::heads, false},
                         {"head", StageLevel::head, false},          {"matrix", StageLevel::matrix, false},
                         {"matrix + cell", StageLevel::matrix, true}};

void time_frames(const std::string& name, const std::function<AppState()>& open, std::size_t n_positions) {
  for (const ImVec2 size : {ImVec2{1600, 900}, ImVec2{2560, 1440}}) {
    Timed timed(open(), size);
    timed.apply(SetLeftPanel{LeftPanel::what_if});
    for (const Way& way : kWays) {
      std::vector<double> all, steps;
      double densest = 0, worst = 0, slowest_step = 0;
      std::size_t densest_at = 0;
      for (const std::size_t position : positions(timed.state(), n_positions)) {
        const double begin = milliseconds();
        timed.apply(MoveCursor{position});
        timed.apply(OpenPlace{way.level});
        const double step = milliseconds() - begin;
        if (way.holds_cell)
          if (const std::optional<CellAddress> cell = cell_of_step(timed.state()))
            timed.apply(LockCell{*cell});
        timed.settle();
        std::vector<double> here;
        for (int n = 0; n < 7; ++n) here.push_back(timed.frame());
        all.insert(all.end(), here.begin(), here.end());
        worst = std::max(worst, *std::ranges::max_element(here));
        steps.push_back(step);
        slowest_step = std::max(slowest_step, step);
        if (median(here) > densest) densest = median(here), densest_at = position;
      }
      std::printf("%-22s %4.0fx%-4.0f %-14s %8.2f %8.2f (%4zu) %8.2f %8.2f %8.2f\n", name.c_str(),
                  static_cast<double>(size.x), static_cast<double>(size.y), way.name, median(all), densest,
                  densest_at, worst, median(steps), slowest_step);
      std::fflush(stdout);
    }
  }
}

void print_frames() {
  std::printf(
      "Building a frame on the null back end, in ms; goal: 2. \"densest\": the median of the step (its "
      "number "
      "in brackets) that takes longest;\n\"move\": to go to a step, recompute and make its view.\n");
  std::printf("%-22s %-9s %-14s %8s %15s %8s %8s %8s\n", "model", "window", "level", "median", "densest",
              "worst", "move", "slowest");
  for (const char* lesson : {"1", "2"})
    time_frames(
        std::string("lesson ") + lesson, [lesson] { return lesson_state(lesson); }, 24);
  for (const char* model : test::kBundled)
    time_frames(
        model, [model] { return test::open_bundled(model); }, 24);
  time_frames("512 tokens, 64 heads", test::large_state, 7);
}

void time_edits(const std::string& name, AppState state) {
  Timed timed(std::move(state), {1600, 900});
  timed.apply(MoveCursor{timed.state().session.n_steps()});  // everything is computed again
  timed.settle();
  std::vector<double> times;
  for (std::uint32_t index = 0; index < timed.state().session.graph().n_tensors(); ++index) {
    const core::TensorId tensor{index};
    if (timed.state().session.graph().spec(tensor).element != core::Element::real) continue;
    const core::Shape& shape = timed.state().trace().shape(tensor);
    if (shape.count() == 0) continue;
    const std::size_t n_undo = timed.state().undo.size();
    const double begin = milliseconds();
    timed.apply(SetCell{.address = {tensor, shape.cell(0)}, .value = 0.25});
    timed.frame();
    const double took = milliseconds() - begin;
    if (timed.state().undo.size() == n_undo) continue;  // refused: nothing was computed
    times.push_back(took);
    timed.apply(Undo{});
    timed.settle();
  }
  if (times.empty()) return;
  std::printf("%-22s %6zu %8.2f %8.2f\n", name.c_str(), times.size(), median(times),
              *std::ranges::max_element(times));
}

void print_edits() {
  std::printf(
      "\nAn edit of one cell at the end of a training step, its recomputation, and the frame that shows it, "
      "in "
      "ms; goal: 16.\n%-22s %6s %8s %8s\n",
      "model", "edits", "median", "worst");
  for (const char* lesson : {"1", "2"}) time_edits(std::string("lesson ") + lesson, lesson_state(lesson));
  for (const char* model : test::kBundled) time_edits(model, test::open_bundled(model));
}

/// What is long with a large model, all at once, and as a window does it: the longest that anything waits.
void print_large() {
  std::printf(
      "\n512 tokens, 64 heads: what an action takes at once, and in a window until it is done and at the "
      "longest "
      "between two frames, in ms.\n%-26s %8s %8s %8s\n",
      "action", "at once", "window", "longest");
  AppState large = test::large_state();
  const core::Session& session = large.session;
  const core::TensorId parameter = session.steps().parameters().back();
  const CellAddress cell{parameter, session.trace().shape(parameter).cell(0)};
  const std::string half = session.text().substr(0, session.text().size() / 2);
  const std::vector<std::pair<const char*, Action>> actions = {
      {"an edit", SetCell{cell, 0.5}},
      {"undo", Undo{}},
      {"differences", SetDifference{Shows::yes}},
      {"no differences", SetDifference{Shows::no}},
      {"another sentence", SetSentence{half.substr(0, half.rfind(' '))}},
      {"reset", Reset{}},
      {"to the end of the step", MoveCursor{session.n_steps()}},
      {"the next training step", NextTrainingStep{}},
      {"a bundled model", OpenModel{"translation"}}};
  std::vector<double> at_once;
  {
    Timed timed(std::move(large), {1600, 900});
    for (const auto& [name, action] : actions) {
      const double took = timed.apply(action);
      at_once.push_back(took + timed.frame());
    }
  }
  large = test::large_state();
  large.patience = 0.05;  // as prepare_for_window() does
  Timed window(std::move(large), {1600, 900});
  for (std::size_t at = 0; at < actions.size(); ++at) {
    double longest = window.apply(actions[at].second), all = longest;
    bool goes_on = true;
    for (bool is_last = false; goes_on; is_last = !window.state().walk && !window.state().job) {
      goes_on = !is_last;
      const double took = window.frame();
      longest = std::max(longest, took), all += took;
    }
    std::printf("%-26s %8.1f %8.1f %8.1f\n", actions[at].first, at_once[at], all, longest);
    std::fflush(stdout);
  }
}

/// Draws with OpenGL and no display, as a screenshot does; the driver has finished a frame when it begins the
/// next but few, so that many frames take what they take.
void time_opengl(const std::string& name, AppState state, StageLevel level) {
  App app = app_of(std::move(state));
  app.apply(MoveCursor{app.state().session.n_steps() / 4});
  app.apply(OpenPlace{level});
  constexpr int kWarm = 20, kFrames = 140;
  double begin = 0;
  int drawn = 0;
  platform::Application calls;
  calls.prepare = [&](const platform::Frame& frame) { return app.prepare(frame); };
  calls.draw = [&](const platform::Frame& frame) {
    if (drawn++ == kWarm) begin = milliseconds();
    return app.draw(frame);
  };
  const double opened = milliseconds();
  const core::Result<platform::Image> image =
      platform::draw_headless({.width = 1600, .height = 900, .n_frames = kFrames}, calls);
  if (!image) {
    std::printf("%-22s %s\n", name.c_str(), image.error().key.c_str());
    return;
  }
  const double per_frame = (milliseconds() - begin) / (kFrames - kWarm);
  std::printf("%-22s %8.1f %10.2f %14.0f\n", name.c_str(), 1000 / per_frame, per_frame, begin - opened);
}

void print_opengl() {
  std::printf("\nFrames with OpenGL and no display at 1600x900; goal: 60 a second.\n%-22s %8s %10s %14s\n",
              "model", "a second", "ms a frame", "first 20, ms");
  time_opengl("lesson 2", lesson_state("2"), StageLevel::matrix);
  for (const char* model : test::kBundled) {
    time_opengl(std::string(model) + ", model", test::open_bundled(model), StageLevel::model);
    time_opengl(std::string(model) + ", matrix", test::open_bundled(model), StageLevel::matrix);
  }
}

/// What a process of its own does that opens a lesson and draws its first frame; `begun`: when it was
/// started.
void draw_first_frame(double begun) {
  App app = app_of(lesson_state("1"));
  platform::Application calls;
  calls.prepare = [&](const platform::Frame& frame) { return app.prepare(frame); };
  calls.draw = [&](const platform::Frame& frame) { return app.draw(frame); };
  // reading the picture waits until the driver has drawn it
  const core::Result<platform::Image> image =
      platform::draw_headless({.width = 1600, .height = 900, .n_frames = 1, .n_frames_most = 1}, calls);
  const double done = milliseconds();
  std::printf("%.0f\n", image ? done - begun : -1);
}

void print_start(const std::string& program) {
  std::printf("\nFrom starting a process to its first frame with OpenGL, read back, in ms; goal: 300.\n");
  for (int run = 0; run < 7; ++run) {
    std::fflush(stdout);
    const std::string command = "'" + program + "' first " + std::to_string(milliseconds());
    if (std::system(command.c_str()) != 0) return;
  }
}

}  // namespace
}  // namespace headscope::simulator

std::filesystem::path headscope::tests::source_folder() {
  return HEADSCOPE_SOURCE_DIR;
}

int main(int n_arguments, char** arguments) {
  const std::set<std::string> named(arguments + 1, arguments + n_arguments);
  const auto wants = [&named](const char* what) { return named.empty() || named.contains(what); };
  try {
    if (n_arguments == 3 && std::string_view(arguments[1]) == "first") {
      headscope::simulator::draw_first_frame(std::stod(arguments[2]));
      return EXIT_SUCCESS;
    }
    if (wants("frames")) headscope::simulator::print_frames();
    if (wants("edits")) headscope::simulator::print_edits();
    if (wants("large")) headscope::simulator::print_large();
    if (wants("opengl")) headscope::simulator::print_opengl();
    if (wants("start")) headscope::simulator::print_start(arguments[0]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
