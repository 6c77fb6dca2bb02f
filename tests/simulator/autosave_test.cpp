// What a window leaves behind: written after a pause, one place a window, never a sound file lost.
#include "simulator/autosave.h"

#include "core/temporary_folder.h"
#include "simulator/actions.h"
#include "simulator/session_state.h"
#include "tests/simulator/bundled_state.h"

#include <catch2/catch.hpp>

#include <sys/resource.h>

#include <csignal>
#include <filesystem>
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

AppState look_ups() {
  return test::open_bundled("look-ups");
}

Autosave open(const fs::path& folder) {
  core::Result<Autosave> autosave = Autosave::open(folder);
  REQUIRE(autosave);
  return *std::move(autosave);
}

std::string text_in(const fs::path& file) {
  const core::Result<AppState> state = load_state(file, shipped_assets(), shipped_lessons());
  return state ? state->session.text() : state.error().key;
}

/// What a sentence is changed to: the example, and some of it again.
std::string longer(const AppState& state) {
  return state.session.text() + " " + state.session.text().substr(0, 1);
}

}  // namespace

TEST_CASE("the state's folder follows the environment", "[simulator][autosave]") {
  CHECK(state_folder("/own", "/xdg", "/home/a") == "/own");
  CHECK(state_folder("", "/xdg", "/home/a") == "/xdg/headscope");
  CHECK(state_folder("", "", "/home/a") == "/home/a/.local/state/headscope");
  CHECK(state_folder("", "relative", "/home/a") == "/home/a/.local/state/headscope");
  CHECK(state_folder("", "", "").empty());
}

TEST_CASE("a change is written after a pause, and at the end at once", "[simulator][autosave]") {
  const TemporaryFolder folder;
  AppState state = look_ups();
  const std::string opened = state.session.text();
  {
    Autosave autosave = open(folder / "state");
    autosave.look(state, 100);
    autosave.look(state, 200);
    CHECK(!autosave.due_within(200));
    apply_action(state, SetAppearance{Appearance::dark});
    autosave.look(state, 200);
    CHECK(autosave.due_within(201) == Autosave::kDelay - 1);
    apply_action(state, SetAppearance{Appearance::light});
    autosave.look(state, 200 + Autosave::kDelay - 0.1);
    CHECK(!fs::exists(autosave.file()));
    // counted from the first change: a long drag is kept on the way
    autosave.look(state, 200 + Autosave::kDelay);
    CHECK(!autosave.due_within(210));
    REQUIRE(autosave.finish(state));
    CHECK(text_in(autosave.file()) == opened);

    apply_action(state, SetSentence{longer(state)});
    REQUIRE(!state.message);
    REQUIRE(state.session.text() != opened);
    autosave.look(state, 300);
    REQUIRE(autosave.finish(state));
    CHECK(text_in(autosave.file()) == state.session.text());
    CHECK(!autosave.take_error());
  }
  // a place that was given up is taken again
  CHECK(open(folder / "state").file() == folder / "state/last.headscope");
}

TEST_CASE("what was handed over is written even if nobody waits", "[simulator][autosave]") {
  const TemporaryFolder folder;
  AppState state = look_ups();
  {
    Autosave autosave = open(folder.path());
    autosave.look(state, 0);
    apply_action(state, SetSentence{longer(state)});
    autosave.look(state, 1);
    autosave.look(state, 10);
  }
  CHECK(text_in(folder / "last.headscope") == state.session.text());
}

TEST_CASE("two windows keep their states apart", "[simulator][autosave]") {
  const TemporaryFolder folder;
  AppState first = look_ups(), second = look_ups();
  apply_action(second, SetSentence{longer(second)});
  Autosave of_first = open(folder.path()), of_second = open(folder.path());
  CHECK(of_first.file() == folder / "last.headscope");
  CHECK(of_second.file() == folder / "2/last.headscope");
  for (Autosave* autosave : {&of_first, &of_second}) autosave->look(first, 0);
  ++first.revision;
  ++second.revision;
  REQUIRE(of_first.finish(first));
  REQUIRE(of_second.finish(second));
  CHECK(text_in(of_first.file()) == first.session.text());
  CHECK(text_in(of_second.file()) == second.session.text());
  CHECK(first.session.text() != second.session.text());

  std::vector<Autosave> others;
  for (int place = 3; place <= 9; ++place) others.push_back(open(folder.path()));
  const core::Result<Autosave> one_more = Autosave::open(folder.path());
  REQUIRE(!one_more);
  CHECK(one_more.error().key == "autosave.many");
}

TEST_CASE("what an earlier window left is kept when another thing was opened", "[simulator][autosave]") {
  const TemporaryFolder folder;
  AppState state = look_ups();
  write_text(folder / "last.headscope", "an earlier session");
  {
    Autosave autosave = open(folder.path());
    autosave.set_earlier(Autosave::Earlier::kept);
    autosave.look(state, 0);
    REQUIRE(autosave.finish(state));
    CHECK(read_text(folder / "last.headscope") == "an earlier session");  // nothing was changed yet
    ++state.revision;
    REQUIRE(autosave.finish(state));
    const std::vector<KeptSession> kept = list_kept(autosave.kept_folder());
    REQUIRE(kept.size() == 1);
    CHECK(read_text(kept.front().file) == "an earlier session");
    CHECK(text_in(folder / "last.headscope") == state.session.text());
    // its own earlier writings are no earlier window's
    ++state.revision;
    REQUIRE(autosave.finish(state));
    CHECK(list_kept(autosave.kept_folder()).size() == 1);
  }
}

TEST_CASE("a damaged file gets a name that nothing had", "[simulator][autosave]") {
  const TemporaryFolder folder;
  for (int round = 1; round <= 3; ++round) {
    write_text(folder / "last.headscope", "damage " + std::to_string(round));
    const core::Result<fs::path> name = set_aside(folder / "last.headscope");
    REQUIRE(name);
    CHECK(*name == folder / ("last.headscope.damaged-" + std::to_string(round)));
    CHECK(!fs::exists(folder / "last.headscope"));
  }
  for (int round = 1; round <= 3; ++round)
    CHECK(read_text(folder / ("last.headscope.damaged-" + std::to_string(round))) ==
          "damage " + std::to_string(round));
  CHECK(!set_aside(folder / "no such file"));
}

TEST_CASE("a full disk is told, and leaves what was written before", "[simulator][autosave]") {
  const TemporaryFolder folder;
  AppState state = look_ups();
  Autosave autosave = open(folder.path());
  autosave.look(state, 0);
  ++state.revision;
  REQUIRE(autosave.finish(state));
  const std::string before = read_text(autosave.file());

  // files of this process end at 1000 bytes: what a full disk does
  rlimit old_limit{};
  ::getrlimit(RLIMIT_FSIZE, &old_limit);
  const rlimit lower{1000, old_limit.rlim_max};
  void (*const old_handler)(int) = std::signal(SIGXFSZ, SIG_IGN);
  ::setrlimit(RLIMIT_FSIZE, &lower);
  apply_action(state, SetSentence{longer(state)});
  const core::Result<void> full = autosave.finish(state);
  ::setrlimit(RLIMIT_FSIZE, &old_limit);
  std::signal(SIGXFSZ, old_handler);

  REQUIRE(!full);
  CHECK(full.error().key == "file.disk_full");
  CHECK(read_text(autosave.file()) == before);
  // and with room again, all is written
  ++state.revision;
  REQUIRE(autosave.finish(state));
  CHECK(text_in(autosave.file()) == state.session.text());
}

}  // namespace headscope::simulator
