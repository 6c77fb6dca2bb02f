// What hands do that no other test does: the opening sheet by keyboard alone, Tab through the whole window,
// the wheel, tooltips over shortened words, a typed learning rate; and a hand that holds still.
#include "tests/core/temporary_folder.h"
#include "tests/simulator/bundled_state.h"
#include "tests/simulator/every_view.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace headscope::simulator {
namespace {

using test::app_of;
using test::AppOnNull;
using Modifier = test::NullBackend::Modifier;

AppState classifier() {
  return test::open_any(core::test::every_objective().front());
}

bool says(const AppOnNull& app, const std::string& part) {
  return std::ranges::any_of(
      app.record.entries, [&](const TextEntry& entry) { return entry.text.find(part) != std::string::npos; });
}

/// Tab until the caret stands in the field of this name.
bool tab_to_field(AppOnNull& app, const std::string& name) {
  constexpr int kMostControls = 200;
  for (int n = 0; n < kMostControls; ++n) {
    app.press(ImGuiKey_Tab);
    if (app.app.window().field_drafts.contains(name)) return true;
  }
  return false;
}

TEST_CASE("a session is written and opened by keyboard alone", "[simulator][input][opening]") {
  const tests::TemporaryFolder folder;
  const std::string path = (folder / "mine.headscope").string();
  AppOnNull app(app_of(test::open_bundled("copying")), {1280, 720});
  app.settle();
  app.type("o");
  REQUIRE(app.app.window().opening == Shown::yes);
  REQUIRE(tab_to_field(app, "save_path"));
  app.type(path);
  app.press(ImGuiKey_Enter);
  REQUIRE(std::filesystem::is_regular_file(path));
  CHECK(says(app, "mine.headscope"));

  app.press(ImGuiKey_Escape);  // leaves the field
  app.press(ImGuiKey_Escape);
  REQUIRE(app.app.window().opening == Shown::no);
  app.app.apply(OpenModel{"sentiment"});
  app.settle();
  app.type("o");
  REQUIRE(tab_to_field(app, "open_path"));
  app.type(path);
  app.press(ImGuiKey_Enter);
  CHECK(app.state().name == "copying");
  CHECK_FALSE(app.state().message);
}

TEST_CASE("the sheet's fields say what they take from the first frame on", "[simulator][input][opening]") {
  AppOnNull app(app_of(classifier()), {1280, 1400});
  app.settle();
  app.backend.each_character("o", [&] { app.frame(); });
  app.frame();  // the first that draws the sheet
  CHECK(app.record.with_role("hint").size() == 2);
  app.settle();
  CHECK(app.record.with_role("hint").size() == 2);
}

TEST_CASE("a half-typed path is not opened by leaving it; Escape forgets it", "[simulator][input][opening]") {
  AppOnNull app(app_of(classifier()), {1280, 1400});
  app.settle();
  app.type("o");
  const Rect field = app.record.with_role("hint").front()->rect;
  app.click(field.centre());
  app.type("sentim");
  app.click({10, 700});  // beside the sheet, which closes it
  CHECK_FALSE(app.state().message);
  CHECK(app.app.window().opening == Shown::no);
  app.type("o");
  CHECK(app.text_with("sentim", "field").text == "sentim");  // it waits
  app.click(field.centre());
  app.type("ent");
  app.press(ImGuiKey_Escape);
  CHECK(app.app.window().opening == Shown::yes);
  CHECK_FALSE(says(app, "sentim\u200b"));
  CHECK(app.record.with_role("hint").size() == 2);
  app.press(ImGuiKey_Escape);
  CHECK(app.app.window().opening == Shown::no);
}

TEST_CASE("a field that is entered again takes back nothing of what was typed before",
          "[simulator][input][fields]") {
  AppOnNull app(app_of(test::open_bundled("translation")), {1280, 1400});
  app.settle();
  app.app.apply(MoveCursor{20});
  app.app.apply(OpenPlace{StageLevel::matrix, ""});
  app.settle();
  const std::string sentence = app.state().session.text();
  const auto take_back = [&] {
    for (int n = 0; n < 6; ++n) app.press(ImGuiKey_Z, test::NullBackend::Modifier::control);
    for (int n = 0; n < 6; ++n) app.press(ImGuiKey_Y, test::NullBackend::Modifier::control);
  };
  // of whatever field the window shows
  for (std::size_t at = 0; at < app.record.with_role("field").size(); ++at) {
    for (const char* typed : {"the old man sees the dog and the house and the garden .", "7"}) {
      const std::vector<const TextEntry*> fields = app.record.with_role("field");
      if (at >= fields.size()) break;
      INFO(at << ": " << fields[at]->text);
      app.click(fields[at]->rect.centre());
      app.press(ImGuiKey_A, test::NullBackend::Modifier::control);
      app.type(typed);
      app.press(ImGuiKey_Enter);
      app.click({5, 5});
      app.app.apply(Reset{});
      app.settle();
      app.click(app.record.with_role("field").at(at)->rect.centre());
      take_back();
      app.press(ImGuiKey_Escape);
      app.app.apply(Reset{});
      app.settle();
      CHECK(app.state().session.text() == sentence);
    }
  }
  // and a cell's
  for (const char* typed : {"123.456789", "1"}) {
    const Slice& slice = app.view().stage.items.back().slice;
    app.app.apply(LockCell{{slice.tensor, slice.cell_at(0, 0)}});
    app.settle();
    app.type("e");
    REQUIRE(app.app.window().edit);
    take_back();
    app.press(ImGuiKey_A, test::NullBackend::Modifier::control);
    app.type(typed);
    take_back();
    app.press(ImGuiKey_Enter);
  }
}

TEST_CASE("a path that leads nowhere is refused beside its field", "[simulator][input][opening]") {
  AppOnNull app(app_of(classifier()), {1280, 1400});
  app.settle();
  app.type("o");
  app.click(app.record.with_role("hint").front()->rect.centre());
  app.type("nowhere.headscope");
  app.press(ImGuiKey_Enter);
  REQUIRE(app.state().message);
  CHECK(app.app.window().opening == Shown::yes);
  CHECK(says(app, "nowhere.headscope"));
}

TEST_CASE("Tab goes through the whole window and comes back, Shift and Tab the other way",
          "[simulator][input][tab]") {
  for (const ImVec2 size : {ImVec2{800, 600}, ImVec2{1280, 720}}) {
    AppOnNull app(app_of(test::open_bundled("translation")), size);
    app.settle();
    std::vector<ImGuiID> order;
    constexpr std::size_t kMostControls = 400;
    while (order.size() < kMostControls) {
      app.press(ImGuiKey_Tab);
      const ImGuiID focused = app.app.window().focus.focused();
      if (!order.empty() && focused == order.front()) break;
      order.push_back(focused);
      // as a reader goes: what has the keyboard is seen
      REQUIRE(app.app.window().focus.shows_ring());
    }
    CHECK(order.size() > 25);
    CHECK(order.size() < kMostControls);
    CHECK(std::set<ImGuiID>(order.begin(), order.end()).size() == order.size());
    for (std::size_t back = 1; back < 6; ++back) {
      app.press(ImGuiKey_Tab, Modifier::shift);
      CHECK(app.app.window().focus.focused() == order[order.size() - back]);
    }
  }
}

TEST_CASE("a learning rate is typed by keyboard alone; a word is refused and changes nothing",
          "[simulator][input][what_if]") {
  AppOnNull app(app_of(classifier()), {1280, 720});
  app.settle();
  const double before = app.state().session.setup().optimiser.rate;
  REQUIRE(tab_to_field(app, "rate"));
  app.press(ImGuiKey_A, Modifier::control);
  app.type("0.025");
  app.press(ImGuiKey_Enter);
  CHECK(app.state().session.setup().optimiser.rate == 0.025);
  CHECK(says(app, "0.025"));
  app.press(ImGuiKey_Z, Modifier::control);
  CHECK(app.state().session.setup().optimiser.rate == before);
  REQUIRE(tab_to_field(app, "rate"));
  app.press(ImGuiKey_A, Modifier::control);
  app.type("fast");
  CHECK(says(app, "not a number"));
  app.press(ImGuiKey_Enter);
  CHECK(app.state().session.setup().optimiser.rate == before);
}

TEST_CASE("the wheel turns the number of a held cell, scrolls lists, and leaves all else alone",
          "[simulator][input][wheel]") {
  AppOnNull app("1");  // its first step shows learned numbers
  app.app.apply(SetLeftPanel{LeftPanel::what_if});
  app.settle();
  const core::Setup before = app.state().session.setup();
  const std::vector<const TextEntry*> cells = app.record.with_role("cell");
  REQUIRE(!cells.empty());
  const ImVec2 at = cells.front()->rect.centre();
  app.backend.move_mouse(at);
  app.settle();
  app.turn_wheel(1);
  CHECK(app.state().session.setup() == before);  // not held
  app.click(at);
  REQUIRE(app.view().is_locked);
  app.turn_wheel(1);
  app.turn_wheel(1);
  const core::Setup turned = app.state().session.setup();
  CHECK_FALSE(turned == before);
  CHECK(app.state().undo.size() == 1);  // one stroke
  app.press(ImGuiKey_Z, Modifier::control);
  CHECK(app.state().session.setup() == before);

  // a list
  app.backend.move_mouse({40, 400});
  app.settle();
  const auto top = [&] { return app.record.with_role("what_if_heading").front()->rect.min.y; };
  const float unscrolled = top();
  app.turn_wheel(-3);
  CHECK(top() < unscrolled);
  CHECK(app.state().session.setup() == before);
  app.turn_wheel(30);
  CHECK(top() == unscrolled);
}

TEST_CASE("every shortened word has a tooltip that says it whole", "[simulator][input][tooltip]") {
  std::size_t n_seen = 0;
  for (const double scale : {1.0, 2.0, 3.0})
    for (const StageLevel level : test::kLevels) {
      test::Viewer viewer(test::open_bundled("translation"), "translation", {{800, 600}, scale});
      viewer.show(30, level);
      AppOnNull& app = viewer.app();
      const std::vector<TextEntry> entries = app.record.entries;
      for (const TextEntry& entry : entries) {
        const Rect seen{
            {std::max(entry.rect.min.x, entry.clip.min.x), std::max(entry.rect.min.y, entry.clip.min.y)},
            {std::min(entry.rect.max.x, entry.clip.max.x), std::min(entry.rect.max.y, entry.clip.max.y)}};
        if (entry.text == entry.full || entry.role == "field" || seen.width() < 2 || seen.height() < 2)
          continue;
        INFO(scale << ", level " << static_cast<int>(level) << ": " << entry.text << " of " << entry.full);
        app.backend.move_mouse(seen.centre());
        app.settle();
        std::string tip;
        for (const TextEntry* line : app.record.with_role("tooltip"))
          tip += (tip.empty() ? "" : " ") + line->text;
        CHECK(tip.find(entry.full) != std::string::npos);
        ++n_seen;
      }
    }
  CHECK(n_seen > 3);
}

TEST_CASE("short names and signs say what they stand for", "[simulator][input][tooltip]") {
  const auto tip_at = [](AppOnNull& app, ImVec2 at) {
    app.backend.move_mouse(at);
    app.settle();
    std::string tip;
    for (const TextEntry* line : app.record.with_role("tooltip"))
      tip += (tip.empty() ? "" : " ") + line->text;
    return tip;
  };
  AppOnNull app(app_of(classifier()), {1280, 720});
  const core::Graph& graph = app.state().session.graph();
  const auto title = [&](const char* key) { return app.app.words().text.text(key); };
  app.app.apply(MoveCursor{*graph.producer(*graph.find("encoder.block0.self_attention.scores")) + 1});
  for (const StageLevel level : {StageLevel::matrix, StageLevel::part, StageLevel::head}) {
    app.app.apply(OpenPlace{level});
    app.settle();
    const char* role = level == StageLevel::matrix ? "strip" : "diagram";
    CHECK(tip_at(app, app.text_with("Q · K", role).rect.centre()) == title("tensor.scores.title"));
  }
  CHECK(tip_at(app, {1280 - 32 - 14, 26}) == title("help.heading"));
  std::set<std::string> said;
  for (float x = 20; x < 260; x += 8) said.insert(tip_at(app, {x, 672}));
  for (const char* key : {"transport.to_first", "transport.to_previous", "transport.to_play",
                          "transport.to_next", "transport.to_last"})
    CHECK(said.contains(title(key)));
}

TEST_CASE("a hand that holds still over anything lets the window rest", "[simulator][input][idle]") {
  constexpr std::size_t kStride = 3;  // of what is drawn: near things behave alike
  for (const StageLevel level : test::kLevels) {
    test::Viewer viewer(test::open_bundled("translation"), "translation", {{1280, 720}, 1});
    viewer.show(90, level);
    AppOnNull& app = viewer.app();
    for (const bool is_held : {false, true}) {
      if (is_held) viewer.lock();
      const std::vector<TextEntry> entries = app.record.entries;
      for (std::size_t at = 0; at < entries.size(); at += kStride) {
        INFO("level " << static_cast<int>(level) << ", over \"" << entries[at].text << "\" ("
                      << entries[at].role << ")");
        app.backend.move_mouse(entries[at].rect.centre());
        app.settle();
        app.frame();
        REQUIRE(app.next.within == platform::kOnInput);
      }
    }
    // the button held down, on whatever stands there by then
    const std::vector<TextEntry> entries = app.record.entries;
    for (std::size_t at = 0; at < entries.size(); at += 7 * kStride) {
      INFO("level " << static_cast<int>(level) << ", pressed on \"" << entries[at].text << "\" ("
                    << entries[at].role << ")");
      app.backend.move_mouse(entries[at].rect.centre());
      app.settle();
      app.backend.mouse_button(test::NullBackend::Button::down);
      app.settle();
      app.frame();
      if (app.state().playing == Playing::no) REQUIRE(app.next.within == platform::kOnInput);
      app.backend.mouse_button(test::NullBackend::Button::up);
      app.settle();
    }
  }
}

}  // namespace
}  // namespace headscope::simulator
