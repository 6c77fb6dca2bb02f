// What is opened, kept and written from the window: nothing by the way, nothing lost.
#include "simulator/kept_sessions.h"
#include "simulator/open_model.h"
#include "tests/core/temporary_folder.h"
#include "tests/simulator/app_fixture.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace headscope::simulator {
namespace {

using test::AppOnNull;

const ImVec2 kTall = {1600, 3200};

App app_on(const std::string& lesson, const std::filesystem::path& kept_folder) {
  AppState state = test::open_shipped(lesson);
  state.kept_folder = kept_folder;
  core::Result<App> app = App::make(std::move(state));
  if (!app) throw std::runtime_error(app.error().key);
  return *std::move(app);
}

bool says(const AppOnNull& app, const std::string& part) {
  return std::ranges::any_of(
      app.record.entries, [&](const TextEntry& entry) { return entry.full.find(part) != std::string::npos; });
}

void open_sheet(AppOnNull& app) {
  app.settle();
  app.click(app.text_with("Open…", "button").rect.centre());
  REQUIRE(app.app.window().opening == Shown::yes);
}

/// What the window's frame does beside the drawing.
void keep_all(AppOnNull& app) {
  for (const auto& left : app.app.take_left())
    REQUIRE(keep_session(app.state().kept_folder, *left,
                         std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now())));
}

TEST_CASE("what lies under a sheet hears no key, Tab stays on the sheet, and a click beside it closes it",
          "[simulator][opening][input]") {
  const tests::TemporaryFolder folder;
  AppOnNull app(app_on("1", folder.path()), {1280, 720});
  app.settle();
  for (const char* opens : {"o", "?"}) {
    const bool is_opening = opens[0] == 'o';
    app.type(opens);
    const auto is_open = [&] {
      return (is_opening ? app.app.window().opening : app.app.window().help) == Shown::yes;
    };
    REQUIRE(is_open());
    const std::uint64_t revision = app.state().revision;
    for (const ImGuiKey key : {ImGuiKey_RightArrow, ImGuiKey_LeftArrow, ImGuiKey_Space, ImGuiKey_End,
                               ImGuiKey_PageDown, ImGuiKey_Enter})
      app.press(key);
    for (const char* key : {"n", "p", "h", "t", "r", "d", "g", "f", "+"}) app.type(key);
    CHECK(app.state().revision == revision);
    REQUIRE(is_open());
    // twice round: every control that Tab reaches lies on the sheet
    const float left = app.text_with(is_opening ? "Open" : "Keys").rect.min.x;
    std::set<ImGuiID> reached;
    for (int n = 0; n < 60; ++n) {
      app.press(ImGuiKey_Tab);
      reached.insert(app.app.window().focus.focused());
      CHECK(app.app.window().focus.holds_keys());
    }
    CHECK(reached.size() < 30);
    CHECK(reached.size() >= (is_opening ? 9U : 1U));
    app.click({left - 200, 400});
    CHECK_FALSE(is_open());
    CHECK(app.state().revision == revision);
  }
}

TEST_CASE("every bundled model says what it is where it can be opened", "[simulator][opening]") {
  const tests::TemporaryFolder folder;
  for (const float width : {1280.0F, 400.0F}) {
    AppOnNull app(app_on("1", folder.path()), {width, 3200});
    app.settle();
    app.type("o");
    for (const BundledModel& model : list_bundled_models(app.state().assets)) {
      INFO(model.name);
      CHECK(app.app.words().text.has("opening.model." + model.name));
    }
    CHECK(says(app, "An encoder-decoder"));
  }
}

TEST_CASE("a session is written to a file and opened again", "[simulator][opening]") {
  const tests::TemporaryFolder folder;
  AppOnNull app("1", kTall);
  app.settle();
  app.app.apply(OpenModel{"sentiment"});
  app.app.apply(DrawExample{});
  app.app.apply(MoveCursor{20});
  const core::Setup setup = app.state().session.setup();
  app.app.apply(SaveSession{folder / "mine"});
  REQUIRE_FALSE(app.state().message);
  REQUIRE(std::filesystem::is_regular_file(folder / "mine.headscope"));
  CHECK(app.state().session_file == folder / "mine.headscope");

  app.app.apply(OpenModel{"copying"});
  app.app.apply(OpenModel{(folder / "mine.headscope").string()});
  REQUIRE_FALSE(app.state().message);
  CHECK(app.state().name == "sentiment");
  CHECK(app.state().session.setup() == setup);
  CHECK(app.state().cursor().position() == 20);

  // a damaged one, and a place that cannot be written, cost nothing
  tests::write_text(folder / "broken.headscope", "nothing");
  for (const Action& refused : std::vector<Action>{OpenModel{(folder / "broken.headscope").string()},
                                                   SaveSession{folder / "no folder" / "x"}}) {
    app.app.apply(refused);
    CHECK(app.state().message);
    CHECK(app.state().session.setup() == setup);
    CHECK(app.state().name == "sentiment");
  }
}

TEST_CASE("what was left for something else is offered, and gone on with", "[simulator][opening]") {
  const tests::TemporaryFolder folder;
  AppOnNull app(app_on("1", folder / "left"), kTall);
  app.settle();
  const std::string lesson = app.state().name;
  app.app.apply(SetSentence{app.state().session.text() + " " + app.state().session.text().substr(0, 1)});
  REQUIRE_FALSE(app.state().message);
  app.app.apply(NextOperation{});
  const core::Setup setup = app.state().session.setup();
  const std::size_t position = app.state().cursor().position();

  open_sheet(app);
  CHECK_FALSE(says(app, "Left before"));
  app.click(app.text_with("copying", "button").rect.centre());
  REQUIRE(app.state().name == "copying");
  keep_all(app);
  REQUIRE(list_kept(folder / "left").size() == 1);

  open_sheet(app);
  const std::string time = local_time(list_kept(folder / "left").front().time);
  // the long title is broken within its button, the time stands at its end
  const auto button = std::ranges::find_if(app.record.entries, [&](const TextEntry& entry) {
    return entry.text.ends_with(time.substr(time.size() - 5));
  });
  REQUIRE(button != app.record.entries.end());
  app.click(button->rect.centre());
  CHECK(app.app.window().opening == Shown::no);
  CHECK(app.state().name == lesson);
  CHECK(app.state().has_lesson());
  CHECK(app.state().session.setup() == setup);
  CHECK(app.state().cursor().position() == position);
  // the model that was left untouched is not kept
  keep_all(app);
  CHECK(list_kept(folder / "left").size() == 1);
}

TEST_CASE("a path that is half typed opens and writes nothing when it is left", "[simulator][opening]") {
  const tests::TemporaryFolder folder;
  AppOnNull app("1", kTall);
  open_sheet(app);
  const std::string name = app.state().name;
  app.click(app.text_with("a model's or a run's folder, or NAME.headscope").rect.centre());
  app.type("look-ups");
  app.click(app.text_with("NAME.headscope").rect.centre());
  const std::string half = (folder / "half").string();
  app.type(half);
  app.click(app.text_with("Keep this").rect.centre());
  CHECK(app.state().name == name);
  CHECK_FALSE(app.state().message);
  CHECK(folder.n_entries() == 0);
  // both still stand there, for the buttons
  app.click(app.text_with("Write", "button").rect.centre());
  CHECK(std::filesystem::exists(half + ".headscope"));
  app.click(app.text_with("Open", "button").rect.centre());
  CHECK(app.state().name == "look-ups");

  // Enter does it too, Esc takes what was typed away
  app.click(app.text_with("a model's or a run's folder, or NAME.headscope").rect.centre());
  app.type("copying");
  app.press(ImGuiKey_Enter);
  CHECK(app.state().name == "copying");
  app.click(app.text_with("a model's or a run's folder, or NAME.headscope").rect.centre());
  app.type("sentiment");
  app.press(ImGuiKey_Escape);
  app.click(app.text_with("Open", "button").rect.centre());
  CHECK(app.state().name == "copying");
  CHECK_FALSE(app.state().message);
}

TEST_CASE("another's file is replaced only when that is said", "[simulator][opening]") {
  const tests::TemporaryFolder folder;
  const std::filesystem::path file = folder / "mine.headscope";
  tests::write_text(file, "another's");
  AppOnNull app("1", kTall);
  open_sheet(app);
  const auto write = [&] {
    app.click(app.text_with("NAME.headscope").rect.centre());
    app.type((folder / "mine").string());
    app.press(ImGuiKey_Enter);
    REQUIRE(app.state().message);
    CHECK(app.state().message->key == "session_file.exists");
    CHECK(tests::read_text(file) == "another's");
  };
  write();
  app.press(ImGuiKey_Escape);  // leaves it, and the sheet stays
  CHECK_FALSE(app.state().message);
  CHECK(app.app.window().opening == Shown::yes);
  CHECK(tests::read_text(file) == "another's");
  CHECK_FALSE(says(app, "Replace it"));

  app.app.apply(SaveSession{file});
  app.settle();
  app.click(app.text_with("Replace it", "button").rect.centre());
  CHECK_FALSE(app.state().message);
  CHECK(app.state().session_file == file);
  const std::string written = tests::read_text(file);
  CHECK(written != "another's");
  // from then on it is this session's
  app.app.apply(NextOperation{});
  app.app.apply(SaveSession{file});
  CHECK_FALSE(app.state().message);
  CHECK(tests::read_text(file) != written);
  // and another session's again
  app.app.apply(OpenModel{"copying"});
  app.app.apply(SaveSession{file});
  REQUIRE(app.state().message);
  CHECK(app.state().message->key == "session_file.exists");
}

}  // namespace
}  // namespace headscope::simulator
