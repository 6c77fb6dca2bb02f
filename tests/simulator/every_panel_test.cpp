// Every panel beside the stage's own walk (every_view_test.cpp): the lesson and "What if?" over their whole
// length, differences, presentation, messages, help and the opening sheet, in windows from the smallest to
// the largest and text from 75 % to 300 %: nothing is cut off or written over, nothing is blank.
#include "tests/simulator/every_view.h"

#include "core/graph_paths.h"

#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace headscope::simulator {
namespace {

using test::kLevels;
using test::report;
using test::Viewer;
using test::Window;

/// All kinds of changes at once: heads switched, an attention set, cells by hand, a training step done, one
/// change taken back.
void change_much(Viewer& viewer) {
  const core::Graph& graph = viewer.state().session.graph();
  const std::vector<core::AttentionTensors> attentions = core::find_attentions(graph);
  viewer.act(SetHead{{attentions.front().head_output, 0}, core::HeadMode::off});
  viewer.act(SetHead{{attentions.back().head_output, 1}, core::HeadMode::uniform});
  core::AttentionSwitches switches;
  switches.temperature = 0.25;
  switches.leaves_scale = true;
  viewer.act(SetAttention{attentions.front().scores, switches});
  std::size_t n_set = 0;
  for (std::uint32_t index = 0; index < graph.n_tensors() && n_set < 4; ++index)
    if (graph.spec({index}).role == core::Role::parameter) {
      const core::Shape& shape = viewer.state().trace().shape({index});
      viewer.act(SetCell{{{index}, shape.cell(shape.count() / 2)}, n_set % 2 == 0 ? -12345.678 : 1e-7});
      ++n_set;
    }
  if (viewer.state().session.has_gold()) {
    viewer.act(NextTrainingStep{});
    viewer.act(NextTrainingStep{});
  }
  viewer.act(SetSentence{"mat the sat a cat"});
  viewer.act(Undo{});
}

/// The panel's, not what a lesson's stage has beside it.
void turn_to_what_if(Viewer& viewer) {
  viewer.act(SetLeftPanel{LeftPanel::what_if});
}

bool same_places(const std::vector<TextEntry>& a, const std::vector<TextEntry>& b) {
  return std::ranges::equal(a, b, [](const TextEntry& one, const TextEntry& other) {
    return one.text == other.text && one.rect.min.x == other.rect.min.x && one.rect.min.y == other.rect.min.y;
  });
}

/// Turns the wheel over a place until nothing moves any more, looking at each page.
void scroll_through(Viewer& viewer, ImVec2 over, const std::string& what,
                    const std::function<TextRecord(const TextRecord&)>& part) {
  constexpr int kMostPages = 400;
  viewer.app().backend.move_mouse(over);
  viewer.app().settle();
  for (int page = 0; page < kMostPages; ++page) {
    viewer.check(what + ", page " + std::to_string(page), part(viewer.app().record));
    const std::vector<TextEntry> before = viewer.app().record.entries;
    viewer.app().turn_wheel(-4);
    if (same_places(before, viewer.app().record.entries)) return;
  }
  viewer.check(what + " never ends", {});
}

TextRecord all(const TextRecord& record) {
  return record;
}

/// What stands over everything else, from its heading on.
std::function<TextRecord(const TextRecord&)> sheet_with(const std::string& heading) {
  return [heading](const TextRecord& record) {
    TextRecord over;
    for (const TextEntry& entry : record.entries) {
      if (entry.text == heading && entry.style.type == TypeStyle::heading) over.entries.clear();
      over.entries.push_back(entry);
    }
    return over;
  };
}

ImVec2 left_middle(const Window& window) {
  return {window.size.x * 0.03F, window.size.y / 2};
}

// --- what there is to be seen; `position` of the training step, `level` of the stage ---

void see_what_if(Viewer& viewer, const Window& window) {
  turn_to_what_if(viewer);
  scroll_through(viewer, left_middle(window), "What if?", all);
}

void see_difference(Viewer& viewer, std::size_t position, StageLevel level) {
  viewer.act(SetDifference{Shows::yes});
  viewer.show(position, level);
  viewer.check("the difference");
  viewer.show(position, StageLevel::matrix);
  viewer.lock();
}

void see_presentation(Viewer& viewer, std::size_t position, StageLevel level) {
  viewer.show(position, level);
  viewer.check("presentation");
  viewer.show(position, StageLevel::matrix);
  viewer.lock();
  viewer.act(OpenModel{"no model of this name"});
  viewer.check("presentation, a message");
}

/// Every refusal that a learner meets at the window, with and without a held cell.
void see_messages(Viewer& viewer, std::size_t position, StageLevel level) {
  const core::Gold gold = viewer.state().session.setup().gold;
  const std::array<std::pair<const char*, std::function<void()>>, 4> refused = {{
      {"an empty sentence", [&] { viewer.act(SetSentence{""}); }},
      {"no such file",
       [&] { viewer.act(OpenModel{"a/folder/that/is/not/there/and-a-long-name.headscope"}); }},
      {"a gradient without an answer",
       [&] {
         viewer.act(SetGold{});
         viewer.act(CheckGradient{viewer.middle().value_or(CellAddress{})});
       }},
      {"a number that does not fit",
       [&] {
         if (const std::optional<CellAddress> cell = viewer.middle()) viewer.act(SetCell{*cell, 1e300});
       }},
  }};
  for (const auto& [name, refuse] : refused) {
    viewer.act(MoveCursor{position});
    viewer.act(OpenPlace{level});
    refuse();
    viewer.check(name);
    viewer.act(OpenPlace{StageLevel::matrix});
    viewer.lock();
    refuse();
    viewer.check(std::string(name) + ", a cell held");
    viewer.act(SetGold{gold});
  }
}

void see_sheet(Viewer& viewer, const Window& window, std::string_view letter, std::string_view heading_key) {
  viewer.app().type(letter);
  scroll_through(viewer, {window.size.x / 2, window.size.y * 0.6F}, std::string(heading_key),
                 sheet_with(viewer.app().app.words().text.text(heading_key)));
  viewer.app().type(letter);
}

void see_opening(Viewer& viewer, const Window& window) {
  viewer.act(OpenModel{"a/folder/that/is/not/there.headscope"});
  see_sheet(viewer, window, "o", "opening.heading");
  viewer.act(SetTextScale{window.text_scale});  // takes the message away
  see_sheet(viewer, window, "o", "opening.heading");
}

/// What is seen at each step: one of these for a whole walk, since changing the layout bakes fonts anew.
enum class Walk : std::uint8_t { difference, presentation, messages };
constexpr std::array<Walk, 3> kWalks = {Walk::difference, Walk::presentation, Walk::messages};

void see(Viewer& viewer, Walk walk, std::size_t position, StageLevel level) {
  switch (walk) {
    case Walk::difference:
      return see_difference(viewer, position, level);
    case Walk::presentation:
      return see_presentation(viewer, position, level);
    case Walk::messages:
      return see_messages(viewer, position, level);
  }
}

TEST_CASE("every panel, difference, presentation and message is drawn whole, by turns",
          "[simulator][every_panel]") {
  const std::vector<Window> sizes = test::windows();
  std::vector<std::string> faults;
  std::size_t turn = 0, model = 0;
  for (const core::test::NamedConfig& named : core::test::every_objective()) {
    ++model;
    for (std::size_t at = 0; at < sizes.size(); ++at) {
      // of the models, a third in each window: every window meets each walk
      if ((model + at) % 3 != 0) continue;
      const Walk walk = kWalks[(model / 3 + at) % kWalks.size()];
      Viewer viewer(named, sizes[at]);
      if (turn % 2 == 0) change_much(viewer);
      if (walk == Walk::difference) see_what_if(viewer, sizes[at]);
      if (walk == Walk::presentation) viewer.act(SetLayout{Layout::presentation});
      constexpr std::size_t kStride = 29;  // of steps, no multiple of what else goes by turns
      for (std::size_t position = at; position <= viewer.n_steps(); position += kStride)
        see(viewer, walk, position, kLevels[turn++ % kLevels.size()]);
      faults.insert(faults.end(), viewer.faults().begin(), viewer.faults().end());
    }
  }
  report(faults);
}

TEST_CASE("help and the opening sheet are drawn whole in every window", "[simulator][every_panel]") {
  std::vector<std::string> faults;
  for (const Window& window : test::windows()) {
    Viewer viewer(core::test::every_objective().front(), window);
    see_sheet(viewer, window, "?", "help.heading");
    see_opening(viewer, window);
    faults.insert(faults.end(), viewer.faults().begin(), viewer.faults().end());
  }
  report(faults);
}

TEST_CASE("every step of the shipped lessons is drawn whole in every window", "[simulator][every_panel]") {
  std::vector<std::string> faults;
  for (const char* lesson : {"1", "2"})
    for (const Window& window : test::windows()) {
      Viewer viewer(test::open_shipped(lesson), std::string("lesson ") + lesson, window);
      const std::size_t n = viewer.state().lesson().steps.size();
      for (std::size_t step = 0; step < n; ++step) {
        viewer.act(GoToStep{step});
        scroll_through(viewer, left_middle(window), "step " + std::to_string(step), all);
      }
      see_what_if(viewer, window);
      faults.insert(faults.end(), viewer.faults().begin(), viewer.faults().end());
    }
  report(faults);
}

TEST_CASE("every panel, difference, presentation and message is drawn whole, everywhere",
          "[simulator][every_panel][long][.]") {
  for (const core::test::NamedConfig& named : core::test::every_config())
    for (const Window& window : test::windows()) {
      Viewer viewer(named, window);
      see_what_if(viewer, window);
      change_much(viewer);
      see_what_if(viewer, window);
      for (const Walk walk : kWalks) {
        if (walk == Walk::presentation) viewer.act(SetLayout{Layout::presentation});
        for (std::size_t position = 0; position <= viewer.n_steps(); ++position)
          see(viewer, walk, position, kLevels[position % kLevels.size()]);
        viewer.act(SetLayout{Layout::study});
      }
      see_sheet(viewer, window, "?", "help.heading");
      see_opening(viewer, window);
      report(viewer.faults());
    }
}

}  // namespace
}  // namespace headscope::simulator
