// Sessions that were left for another: which are kept, how they are found, and which are forgotten.
#include "simulator/kept_sessions.h"

#include "core/temporary_folder.h"
#include "simulator/actions.h"
#include "simulator/autosave.h"
#include "simulator/session_state.h"
#include "tests/simulator/bundled_state.h"

#include <catch2/catch.hpp>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

namespace headscope::simulator {
namespace {

namespace fs = std::filesystem;
using test::shipped_assets;
using test::shipped_lessons;
using tests::read_text;
using tests::TemporaryFolder;
using tests::write_text;

AppState opened(const std::string& model, const fs::path& kept_folder) {
  AppState state = test::open_bundled(model);
  state.kept_folder = kept_folder;
  return state;
}

/// 2026-12-01 03:12:52.123 UTC, and later.
KeptTime moment(int after = 0) {
  using std::chrono::milliseconds;
  return KeptTime(milliseconds(1'796'094'772'123)) + milliseconds(after);
}

void act(AppState& state, const Action& action) {
  apply_action(state, action);
  INFO((state.message ? state.message->key : std::string()));
  REQUIRE_FALSE(state.message);
}

void keep_all(AppState& state, KeptTime now) {
  for (const auto& left : std::exchange(state.left, {})) REQUIRE(keep_session(state.kept_folder, *left, now));
}

LeftSession of(const AppState& state, const std::string& name) {
  LeftSession left{.file = save_state(state)};
  left.file.name = name;
  return left;
}

}  // namespace

TEST_CASE("what was changed is kept when another thing is opened, and comes back", "[simulator][kept]") {
  const TemporaryFolder folder;
  const Action others[] = {OpenModel{"copying"}, OpenLesson{"1"}};
  for (const Action& other : others) {
    AppState state = opened("look-ups", folder / std::to_string(other.index()));
    act(state, DrawExample{});
    act(state, MoveCursor{7});
    const core::Setup setup = state.session.setup();
    act(state, other);
    CHECK(state.name != "look-ups");
    CHECK(state.undo.empty());
    REQUIRE(state.left.size() == 1);
    keep_all(state, moment());

    const std::vector<KeptSession> kept = list_kept(state.kept_folder);
    REQUIRE(kept.size() == 1);
    CHECK(kept.front().name == "look-ups");
    CHECK(kept.front().time == moment());
    act(state, OpenKept{kept.front().file});
    CHECK(state.left.empty());  // the other one was as it was opened
    CHECK(state.name == "look-ups");
    CHECK(state.session.setup() == setup);
    CHECK(state.cursor().position() == 7);
    CHECK_FALSE(state.session_file);  // the learner never named it
  }
}

TEST_CASE("each way of leaving keeps what there is to lose, and nothing else", "[simulator][kept]") {
  const TemporaryFolder folder;
  AppState state = opened("look-ups", folder.path());
  act(state, MoveCursor{7});
  act(state, OpenModel{"copying"});
  CHECK(state.left.empty());

  act(state, NextTrainingStep{});
  act(state, OpenLesson{"1"});
  CHECK(state.left.size() == 1);
  act(state, AnswerQuestion{0, lessons::Given{}});
  const bool has_question = !state.lesson().steps.front().questions.empty();
  act(state, OpenLesson{"1"});  // from its beginning
  CHECK(state.left.size() == (has_question ? 2 : 1));

  // what fails to open leaves nothing
  act(state, SetSentence{state.session.text() + " " + state.session.text().substr(0, 1)});
  const std::size_t n_left = state.left.size();
  apply_action(state, OpenModel{"nowhere"});
  CHECK(state.message);
  CHECK(state.left.size() == n_left);
  // without a folder nothing piles up
  state.left.clear();
  state.kept_folder.clear();
  act(state, OpenModel{"copying"});
  CHECK(state.left.empty());
}

TEST_CASE("a lesson that is saved with another model keeps what was done with the old one",
          "[simulator][kept]") {
  const TemporaryFolder folder;
  std::string text = read_text(shipped_lessons() / "01_query_key_value.md");
  const fs::path lesson = folder / "01_own.md";
  write_text(lesson, text);
  core::Result<AppState> state = open_lesson(shipped_assets(), shipped_lessons(), lesson.string());
  REQUIRE(state);
  state->kept_folder = folder / "left";
  const std::string sentence = state->session.text() + " " + state->session.text().substr(0, 1);
  act(*state, SetSentence{sentence});
  act(*state, ReloadLesson{});
  CHECK(state->left.empty());
  CHECK(state->session.text() == sentence);
  const std::size_t seed = text.find("seed = ");
  REQUIRE(seed != std::string::npos);
  write_text(lesson, text.insert(seed + 7, "1"));
  act(*state, ReloadLesson{});
  REQUIRE(state->left.size() == 1);
  CHECK(state->left.front()->file.setup.text == sentence);
}

TEST_CASE("a session that is gone on with stands in the list once", "[simulator][kept]") {
  const TemporaryFolder folder;
  AppState state = opened("look-ups", folder.path());
  act(state, DrawExample{});
  for (int round = 0; round < 3; ++round) {
    act(state, OpenModel{"copying"});
    keep_all(state, moment(round));
    const std::vector<KeptSession> kept = list_kept(folder.path());
    REQUIRE(kept.size() == 1);
    CHECK(kept.front().time == moment(round));
    act(state, OpenKept{kept.front().file});
  }
  // reset and left, it is as it was kept
  const std::string bytes = read_text(list_kept(folder.path()).front().file);
  act(state, Reset{});
  act(state, OpenModel{"copying"});
  keep_all(state, moment(9));
  REQUIRE(list_kept(folder.path()).size() == 1);
  CHECK(read_text(list_kept(folder.path()).front().file) == bytes);
}

TEST_CASE("the newest sessions are kept, and no other file is touched", "[simulator][kept]") {
  const TemporaryFolder folder;
  const AppState state = opened("look-ups", folder.path());
  const std::string others[] = {"my own.headscope", "20261301T031252.123Z x.headscope",
                                "20261201T031252.123Z x.txt", "20261201T31252.123Z x.headscope",
                                "20261201T031252.123Zx.headscope"};
  for (const std::string& other : others) write_text(folder / other, "another's");
  const int n_more = 3, n_all = static_cast<int>(kMostKept) + n_more;
  for (int n = 0; n < n_all; ++n)
    REQUIRE(keep_session(folder.path(), of(state, "number " + std::to_string(n)), moment(1000 * n)));
  const std::vector<KeptSession> kept = list_kept(folder.path());
  REQUIRE(kept.size() == kMostKept);
  CHECK(kept.front().name == "number " + std::to_string(n_all - 1));
  CHECK(kept.back().name == "number " + std::to_string(n_more));
  for (const std::string& other : others) CHECK(read_text(folder / other) == "another's");
  CHECK(list_kept(folder / "nowhere").empty());
}

TEST_CASE("two sessions of one name and moment are two files", "[simulator][kept]") {
  const TemporaryFolder folder;
  const AppState state = opened("look-ups", folder.path());
  for (int n = 0; n < 2; ++n) REQUIRE(keep_session(folder.path(), of(state, "one"), moment()));
  CHECK(list_kept(folder.path()).size() == 2);
}

TEST_CASE("any name makes a file's name", "[simulator][kept]") {
  const TemporaryFolder folder;
  const AppState state = opened("look-ups", folder.path());
  std::string umlauts;
  for (int n = 0; n < 100; ++n) umlauts += "ü";
  const std::pair<std::string, std::string> names[] = {{"a/b", "a_b"},
                                                       {"../x", ".._x"},
                                                       {"", "session"},
                                                       {std::string("line\nend\0", 9), "line_end_"},
                                                       {"x" + umlauts, "x" + umlauts.substr(0, 118)}};
  int n = 0;
  for (const auto& [name, shown] : names) {
    REQUIRE(keep_session(folder.path(), of(state, name), moment(1000 * ++n)));
    CHECK(list_kept(folder.path()).front().name == shown);
  }
}

TEST_CASE("a file of an earlier window is kept where there is something to lose", "[simulator][kept]") {
  const TemporaryFolder folder;
  AppState state = opened("look-ups", folder / "left");
  const fs::path last = folder / "last.headscope";
  REQUIRE(keep_file(folder / "left", last, moment()));
  CHECK(folder.n_entries() == 0);

  REQUIRE(write_session(last, save_state(state)));
  REQUIRE(keep_file(folder / "left", last, moment()));
  CHECK(fs::exists(last));
  CHECK(list_kept(folder / "left").empty());

  act(state, DrawExample{});
  REQUIRE(write_session(last, save_state(state)));
  REQUIRE(keep_file(folder / "left", last, moment()));
  CHECK_FALSE(fs::exists(last));
  REQUIRE(list_kept(folder / "left").size() == 1);
  CHECK(list_kept(folder / "left").front().name == "look-ups");

  write_text(last, "what no version can read yet");
  REQUIRE(keep_file(folder / "left", last, moment(5)));
  REQUIRE(list_kept(folder / "left").size() == 2);
  CHECK(read_text(list_kept(folder / "left").front().file) == "what no version can read yet");
}

TEST_CASE("the window keeps what was left, later if not at once", "[simulator][kept][autosave]") {
  const TemporaryFolder folder;
  core::Result<Autosave> autosave = Autosave::open(folder.path());
  REQUIRE(autosave);
  AppState state = opened("look-ups", autosave->kept_folder());
  autosave->look(state, 0);
  act(state, DrawExample{});
  const std::string text = state.session.text();
  act(state, OpenModel{"copying"});

  write_text(autosave->kept_folder(), "a file in the folder's place");
  autosave->keep(std::exchange(state.left, {}));
  const core::Result<void> failed = autosave->finish(state);
  REQUIRE(!failed);
  CHECK(failed.error().key == "file.not_a_folder");
  CHECK(fs::exists(autosave->file()));

  fs::remove(autosave->kept_folder());
  ++state.revision;
  REQUIRE(autosave->finish(state));
  const std::vector<KeptSession> kept = list_kept(autosave->kept_folder());
  REQUIRE(kept.size() == 1);
  const core::Result<AppState> back = load_state(kept.front().file, shipped_assets(), shipped_lessons());
  REQUIRE(back);
  CHECK(back->session.text() == text);
}

}  // namespace headscope::simulator
