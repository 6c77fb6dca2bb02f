// headscope open, --new, and pictures of models: the built program from outside.
#include "tests/simulator/commands.h"

#include <fcntl.h>
#include <sys/file.h>

namespace headscope::simulator::test {
namespace {

const std::string kNoDisplay = "env -u DISPLAY -u WAYLAND_DISPLAY";

std::string with_state(const std::filesystem::path& folder) {
  return kNoDisplay + " HEADSCOPE_STATE=" + quoted(folder.string());
}

using Catch::Matchers::Contains;

TEST_CASE("headscope open lists the bundled models and what the last window left", "[program][open]") {
  const Scratch scratch;
  const Ran before = run_program({"open"}, "", with_state(scratch / "state"));
  CHECK(before.status == 0);
  for (const std::string name : {"look-ups", "copying", "translation", "sentiment", "questions"})
    CHECK_THAT(before.out, Contains("  " + name));
  CHECK_THAT(before.out, Contains("held-out score 1.000"));
  CHECK_THAT(before.out, !Contains("last.headscope") && !Contains("‹") && !Contains("{"));
  CHECK(!std::filesystem::exists(scratch / "state"));

  std::filesystem::create_directory(scratch / "state");
  std::ofstream(scratch / "state/last.headscope") << "x";
  const Ran after = run_program({"open"}, "", with_state(scratch / "state"));
  CHECK_THAT(after.out, Contains("last.headscope"));

  std::filesystem::create_directory(scratch / "state/left");
  std::ofstream(scratch / "state/left/20261201T031252.123Z copying.headscope") << "x";
  const Ran left = run_program({"open"}, "", "env TZ=UTC " + with_state(scratch / "state"));
  CHECK_THAT(left.out, Contains("2026-12-01 03:12") && Contains("20261201T031252.123Z copying.headscope"));
}

TEST_CASE("models, runs and sessions are opened, and a session goes on", "[program][open]") {
  const Scratch scratch;
  const std::string saved = (scratch / "a.headscope").string();
  const Ran bundled = run_program({"open", "translation", "--text", "the old man must help the children .",
                                   "--target", "der alte Mann muss den Kindern helfen .", "--save", saved});
  INFO(bundled.errors);
  CHECK(bundled.status == 0);
  CHECK_THAT(read_text(saved), Contains("der alte Mann muss den Kindern helfen ."));
  const std::string copy = (scratch / "b.headscope").string();
  CHECK(run_program({"open", saved, "--save", copy}).status == 0);
  CHECK(read_text(copy) == read_text(saved));

  const std::string run = (scratch / "run").string();
  REQUIRE(run_program({"train", "--task", "copying", "--steps", "3", "--out", run}).status == 0);
  const std::string before = read_text(copy);
  check_refused(run_program({"open", run, "--save", copy}), {"b.headscope", "--replace"});
  CHECK(read_text(copy) == before);
  const Ran opened = run_program({"open", run, "--save", copy, "--replace"});
  INFO(opened.errors);
  CHECK(opened.status == 0);
  CHECK_THAT(read_text(copy), Contains("run, step 3") && Contains("copying"));

  CHECK(run_program({"open", "look-ups", "--seed", "5", "--save", copy, "--replace"}).status == 0);
  const std::string fifth = read_text(copy);
  CHECK_THAT(fifth, Contains("\\\"seed\\\": 5"));
  CHECK(run_program({"open", "look-ups", "--seed", "6", "--save", copy, "--replace"}).status == 0);
  CHECK(read_text(copy).substr(fifth.size() - 4000) != fifth.substr(fifth.size() - 4000));

  const std::string own = make_model(scratch);
  CHECK(run_program({"open", own, "--save", copy, "--replace"}).status == 0);
}

TEST_CASE("what cannot be opened is said in one line", "[program][open]") {
  const Scratch scratch;
  const std::string session = (scratch / "a.headscope").string();
  check_refused(run_program({"open", "nothing"}), {"nothing", "look-ups"});
  std::ofstream(scratch / "text") << "x";
  check_refused(run_program({"open", (scratch / "text").string()}), {"text", "no session"});
  check_refused(run_program({"open", session}), {"a.headscope", "no such file"});
  std::ofstream(session) << "not a session at all";
  check_refused(run_program({"open", session}), {"a.headscope"});
  CHECK(read_text(session) == "not a session at all");  // somebody else's file is left alone
  check_refused(run_program({"open", session, "--text", "x"}), {"--text"});
  check_refused(run_program({"open", "look-ups", "--target", "x"}), {"look-ups", "target"});
  check_refused(run_program({"open", "--text", "x"}), {"--text", "WHAT"});
  check_refused(run_program({"open", "--save", session}), {"--save", "WHAT"});
  check_refused(run_program({"open", "look-ups", "--replace"}), {"--replace", "--save"});
  check_refused(run_program({"open", "look-ups", "--seed", "x"}), {"--seed"});
  check_refused(run_program({"--new", "--lesson", "1"}), {"--new", "--lesson"});
}

TEST_CASE("a damaged last session is set aside, and nothing else is lost", "[program][open]") {
  const Scratch scratch;
  std::filesystem::create_directory(scratch / "state");
  std::ofstream(scratch / "state/last.headscope") << "damaged";
  std::ofstream(scratch / "state/last.headscope.damaged-1") << "older damage";
  const Ran ran = run_program({}, "q\n", with_state(scratch / "state"));
  CHECK_THAT(ran.errors, Contains("damaged-2"));
  CHECK(read_text(scratch / "state/last.headscope.damaged-1") == "older damage");
  CHECK(read_text(scratch / "state/last.headscope.damaged-2") == "damaged");
  CHECK(!std::filesystem::exists(scratch / "state/last.headscope"));
}

TEST_CASE("headscope alone takes up what the last window left, unless it begins anew", "[program][open]") {
  const Scratch scratch;
  std::filesystem::create_directory(scratch / "state");
  const std::string last = (scratch / "state/last.headscope").string();
  REQUIRE(run_program({"open", "look-ups", "--save", last}).status == 0);
  const std::string bytes = read_text(last);
  const Ran up = run_program({}, "", with_state(scratch / "state"));
  CHECK_THAT(up.out, Contains("look-ups") && Contains("--new"));
  CHECK_THAT(up.errors, Contains("display"));  // there is no terminal reader for a model without a lesson
  CHECK(up.status == 1);

  const Ran anew = run_program({"--new"}, "q\n", with_state(scratch / "state"));
  CHECK_THAT(anew.out, !Contains("look-ups"));
  CHECK(read_text(last) == bytes);  // nothing was changed, so nothing was written

  // a second window beside one that holds the place
  const int held = ::open((scratch / "state").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  REQUIRE(::flock(held, LOCK_EX | LOCK_NB) == 0);
  const Ran beside = run_program({}, "q\n", with_state(scratch / "state"));
  CHECK_THAT(beside.out, !Contains("look-ups"));
  ::close(held);
}

TEST_CASE("a picture is drawn of any model at any moment", "[program][open][opengl]") {
  const Scratch scratch;
  const std::string picture = (scratch / "a.png").string();
  const auto draw = [&picture](std::vector<std::string> options) {
    options.insert(options.begin(), "screenshot");
    options.push_back(picture);
    return run_program(options);
  };
  const std::string weights = "decoder.block0.self_attention.weights";
  CHECK(draw({"--open", "look-ups", "--level", "matrix", "--at", weights}).status == 0);
  const std::string forward = read_text(picture);
  CHECK(draw({"--open", "look-ups", "--level", "matrix", "--at", weights, "--gradient"}).status == 0);
  CHECK(read_text(picture) != forward);
  CHECK(draw({"--open", "look-ups", "--level", "matrix", "--position", "0"}).status == 0);
  CHECK(read_text(picture) != forward);

  check_refused(draw({"--open", "look-ups", "--at", "decoder.block0.self_attention.weight"}), {weights});
  check_refused(draw({"--open", "look-ups", "--position", "100000"}), {"100000"});
  check_refused(draw({"--open", "look-ups", "--level", "moon"}), {"--level", "matrix"});
  check_refused(draw({"--open", "look-ups", "--at", weights, "--position", "3"}), {"--at", "--position"});
  check_refused(draw({"--open", "look-ups", "--gradient"}), {"--gradient", "--at"});
  check_refused(draw({"--open", "look-ups", "--at", "logits", "--lesson", "1"}), {"--lesson", "--open"});
  check_refused(draw({"--lesson", "1", "--level", "model"}), {"--lesson", "--level"});
  check_refused(draw({"--lesson", "1", "--seed", "3"}), {"--seed", "--open"});
  check_refused(draw({"--open", "translation", "--text", "the old man must help the children .", "--at",
                      "logits", "--gradient"}),
                {"--gradient"});
}

}  // namespace
}  // namespace headscope::simulator::test
