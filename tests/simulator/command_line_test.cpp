// The built program, as a stranger's shell runs it: every command, and every kind of refusal.
#include "tests/simulator/commands.h"

#include "core/formats/safetensors.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

using namespace headscope;
using namespace headscope::simulator::test;
using Catch::Matchers::Contains;

}  // namespace

TEST_CASE("every command has help that fits 80 columns and has words for everything",
          "[simulator][command_line]") {
  const std::vector<std::vector<std::string>> commands{
      {},        {"trace"},        {"explain"},        {"steps"},           {"train"},
      {"bench"}, {"lesson"},       {"lesson", "list"}, {"lesson", "check"}, {"screenshot"},
      {"model"}, {"model", "new"}, {"lesson", "read"}};
  for (std::vector<std::string> command : commands) {
    command.push_back("--help");
    const Ran ran = run_program(command);
    INFO(ran.out << ran.errors);
    CHECK(ran.status == 0);
    CHECK_THAT(ran.out, Catch::Matchers::StartsWith("Usage: headscope"));
    CHECK_THAT(ran.out, !Contains("‹"));
    for (const std::string& line : lines_of(ran.out)) CHECK(line.size() <= 90);  // "…" is three bytes
  }
}

TEST_CASE("the version is printed alone", "[simulator][command_line]") {
  const Ran ran = run_program({"--version"});
  CHECK(ran.status == 0);
  CHECK_THAT(ran.out, Catch::Matchers::StartsWith("Headscope 0."));
}

TEST_CASE("arguments that cannot be are refused in one line with status 2", "[simulator][command_line]") {
  check_refused(run_program({"trcae"}), {"\"trcae\"", "trace, explain"});
  check_refused(run_program({"trace", "--modle", "x"}), {"\"--modle\"", "headscope trace --help"});
  check_refused(run_program({"trace", "--model"}), {"--model", "without a value"});
  check_refused(run_program({"trace"}), {"--model is missing"});
  check_refused(run_program({"trace", "--model", "", "--text", "a", "--out", "x"}), {"--model", "without"});
  check_refused(run_program({"trace", "--model", kGolden, "--text", "a", "--out", ""}), {"--out", "without"});
  check_refused(run_program({"lesson", "check", ""}), {"FILE.md", "without"});
  check_refused(run_program({"trace", "--double=maybe", "--model", "x"}),
                {"headscope trace does not know \"--double=maybe\""});
  check_refused(run_program({"trace", "--model", kGolden}), {"--text", "--batch"});
  check_refused(run_program({"trace", "--model", kGolden, "--text", "a", "--batch", "b"}), {"exactly one"});
  check_refused(run_program({"trace", "--model", kGolden, "--text", "a"}), {"--out is missing"});
  check_refused(run_program({"lesson"}), {"list, check, read"});
  check_refused(run_program({"lesson", "read"}), {"NAME"});
  check_refused(run_program({"lesson", "check"}), {"FILE.md"});
  check_refused(run_program({"screenshot", "x.png"}), {"--lesson NAME or --open WHAT is missing"});
  for (const char* size : {"1600", "0x900", "1600x99999", "axb", "1600x900x2", "-5x10"})
    check_refused(run_program({"screenshot", "--lesson", kLesson, std::string("--size=") + size, "x.png"}),
                  {"--size", size});
  check_refused(run_program({"screenshot", "--lesson", kLesson, "--theme", "pink", "x.png"}),
                {"pink", "dark"});
  check_refused(run_program({"screenshot", "--lesson", kLesson, "--text-scale", "20", "x.png"}), {"75"});
  check_refused(run_program({"screenshot", "--lesson", kLesson, "--step", "two", "x.png"}),
                {"--step", "two"});
  check_refused(run_program({"screenshot", "--lesson", kLesson, "--step", "9", "x.png"}),
                {"no step 9", "1 to 2"});
}

TEST_CASE("options that do not fit together, or the numbers in them, are refused one by one",
          "[simulator][command_line]") {
  const std::string batch = kGolden + "/batch.tokens.json";
  const auto explain = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments{"explain",  "--model", kGolden,  "--batch", batch,
                                       "--tensor", kScores,   "--cell", "0,0,0,0"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(arguments);
  };
  check_refused(explain({"--check"}), {"--check", "--gradient"});
  check_refused(explain({"--update", "--gradient"}), {"--update", "--gradient"});
  check_refused(explain({"--update", "--step", "3"}), {"--update", "--step"});
  check_refused(explain({"--gradient", "--check", "--step", "3"}), {"--check", "--step"});
  check_refused(explain({"--lr", "0.1"}), {"--lr", "--update"});
  check_refused(explain({"--update", "--momentum", "0.9"}), {"--momentum", "--optimiser sgd"});
  check_refused(explain({"--update", "--optimiser", "adam"}), {"\"adam\"", "adamw, sgd"});
  for (const char* rate : {"-1", "nan", "inf", "x", "0.1x", "1e999"})
    check_refused(explain({"--update", std::string("--lr=") + rate}), {"--lr", rate});
  check_refused(explain({"--step=-1"}), {"--step", "-1"});
  check_refused(explain({"--step", "99999"}), {"no step 99999", "0 (before the first)"});
  check_refused(explain({"--temperature", "0"}), {"--temperature", "\"0\""});
  for (const char* option : {"--label", "--read"}) check_refused(explain({option, "1"}), {option, "--text"});
  check_refused(explain({"--span", "1,2"}), {"--span", "--text"});
  check_refused(explain({"--target-text", "a"}), {"--target-text", "--text"});
  for (const char* span : {"1", "1,", ",2", "1,2,3", "a,b", "-1,2"})
    check_refused(run_program({"trace", "--model", kGolden, "--text", "a", "--out", "x",
                               std::string("--span=") + span}),
                  {"--span", span});
  check_refused(run_program({"trace", "--model", kGolden, "--text", "a", "--out", "x", "--label", "first"}),
                {"--label", "first"});
}

TEST_CASE("training and measuring refuse arguments that cannot be", "[simulator][command_line]") {
  const std::vector<std::string> train{"train",        "--from",  "a", "--data", "b",
                                       "--full-batch", "--steps", "3", "--out",  "c"};
  const auto with = [&](const std::string& option) {
    std::vector<std::string> arguments = train;
    arguments.push_back(option);
    return run_program(arguments);
  };
  for (const std::ptrdiff_t left_out : {1, 3, 6, 8}) {
    std::vector<std::string> arguments = train;
    const std::string option = arguments[static_cast<std::size_t>(left_out)];
    arguments.erase(arguments.begin() + left_out, arguments.begin() + left_out + 2);
    check_refused(run_program(arguments), {option, "missing"});
  }
  check_refused(run_program({"train", "--out", "c"}), {"--task", "--data", "missing"});
  check_refused(with("--task=copying"), {"--task", "--data"});
  check_refused(with("--batch-size=3"), {"--full-batch", "--batch-size"});
  check_refused(with("--size=full"), {"--size", "--task"});
  check_refused(with("--setting=a=b"), {"--setting", "--task"});
  check_refused(with("--heads=2"), {"--from", "--heads"});
  check_refused(with("--resume=d"), {"--resume", "--from"});
  for (const char* change : {"lr=1", "0:lr=1", "3:lr", "3:lr=", "3:lr=x", "3:speed=1", "3:batch-size=0",
                             "3:a[=1", "3:a[1,x]=1", "3:a[1,2,3,4,5,6]=1"})
    check_refused(with(std::string("--change=") + change), {"--change", change});
  for (const char* option :
       {"--steps=0", "--steps=two", "--lr=-1", "--weight-decay=-0.1", "--clip=-1", "--optimiser=adam",
        "--schedule=step", "--warm-up=-1", "--dropout=1", "--dropout=-0.1", "--label-smoothing=1",
        "--seed=-1", "--threads=0", "--threads=x", "--momentum=0.9", "--target-score=1.1", "--plateau=0",
        "--evaluate-every=0", "--held-out-size=0"}) {
    const std::string text = option;
    check_refused(with(text), {text.substr(0, text.find('='))});
  }
  for (const char* option :
       {"--size=XL", "--size=s", "--threads=0", "--seconds=0", "--seconds=-1", "--seconds=x"})
    check_refused(run_program({"bench", option}), {std::string(option).substr(0, 6)});
}

TEST_CASE("data folders that hold no data are named", "[simulator][command_line]") {
  const Scratch scratch;
  const Ran ran = run_program({"lesson", "list"}, "", "HEADSCOPE_DATA=" + quoted(scratch.path().string()));
  CHECK(ran.status != 0);
  CHECK_THAT(ran.errors, Contains(scratch.path().string()) && Contains("HEADSCOPE_DATA"));
  const Ran found =
      run_program({"lesson", "list"}, "",
                  std::string("HEADSCOPE_DATA=") + quoted(headscope::tests::source_folder().string()));
  CHECK(found.status == 0);
}

TEST_CASE("a trace file holds every activation in the asked precision", "[simulator][command_line]") {
  const Scratch scratch;
  const std::string batch = kGolden + "/batch.tokens.json";
  const std::filesystem::path single = scratch / "single.safetensors",
                              twofold = scratch / "double.safetensors";
  const Ran ran = run_program({"trace", "--model", kGolden, "--batch", batch, "--out", single.string()});
  INFO(ran.errors);
  REQUIRE(ran.status == 0);
  REQUIRE(run_program({"trace", "--model", kGolden, "--batch", batch, "--out", twofold.string(), "--double"})
              .status == 0);
  const core::Result<core::StoredTensors> narrow = core::read_safetensors(single);
  const core::Result<core::StoredTensors> wide = core::read_safetensors(twofold);
  REQUIRE(narrow);
  REQUIRE(wide);
  const core::Result<core::StoredTensors> expected =
      core::read_safetensors(kGolden + "/expected.safetensors");
  REQUIRE(expected);
  for (const auto& [name, tensor] : *expected) {
    if (name.starts_with("grad.")) continue;
    INFO(name);
    REQUIRE(narrow->contains(name));
    CHECK(narrow->at(name).shape == tensor.shape);
  }
  CHECK_FALSE(narrow->contains("source.ids"));
  CHECK_FALSE(narrow->contains("decoder.token_embedding"));
  double difference = 0;
  for (const auto& [name, tensor] : *wide) {
    CHECK(tensor.type == core::StoredType::f64);
    REQUIRE(narrow->at(name).type == core::StoredType::f32);
    for (std::size_t place = 0; place < tensor.values.size(); ++place)
      if (std::isfinite(tensor.values[place]))
        difference = std::max(difference, std::abs(tensor.values[place] - narrow->at(name).values[place]));
  }
  CHECK(difference > 0);     // really computed in double
  CHECK(difference < 1e-3);  // single precision over a few hundred additions of numbers up to about 10
}

TEST_CASE("a stranger makes a model, feeds it a sentence and asks for a cell", "[simulator][command_line]") {
  const Scratch scratch;
  const std::string model = make_model(scratch);
  const std::string out = (scratch / "out.safetensors").string();
  const Ran traced =
      run_program({"trace", "--model", model, "--text", "the cat sat on the xylophone", "--out", out});
  CHECK(traced.status == 0);
  CHECK_THAT(traced.errors, Contains("xylophone"));  // said, since its vector is only a spare one
  CHECK(std::filesystem::exists(out));
  const std::vector<std::string> explain{"explain",  "--model", model,    "--text", "the cat sat on the mat",
                                         "--tensor", kScores,   "--cell", "0,0,3,2"};
  const Ran explained = run_program(explain);
  INFO(explained.out);
  CHECK(explained.status == 0);
  CHECK_THAT(explained.out, Contains("queries[0,0,3,0] × keys[0,0,2,0]") && Contains("stored"));
}

TEST_CASE("JSON explanations recombine to the stored number", "[simulator][command_line]") {
  const Scratch scratch;
  const std::string model = make_model(scratch);
  const Ran ran = run_program({"explain", "--model", model, "--text", "the cat sat", "--tensor", kScores,
                               "--cell", "0, 1, 2, 1", "--json", "--double"});
  INFO(ran.out);
  REQUIRE(ran.status == 0);
  CHECK(number_after(ran.out, "\"stored\": ") ==
        Approx(number_after(ran.out, "\"recombined\": ")).epsilon(1e-12));
  CHECK_THAT(ran.out, Contains("\"combine\": \"sum\"") && Contains("\"cell\": [0,1,2,1]"));
  // the mask's minus infinity is no JSON number
  const Ran masked =
      run_program({"explain", "--model", model, "--text", "the cat sat", "--tensor",
                   "decoder.block0.self_attention.masked_scores", "--cell", "0,0,0,2", "--json"});
  CHECK_THAT(masked.out, Contains("\"stored\": \"-inf\"") && Contains("\"combine\": \"masked\""));
}

TEST_CASE("input that cannot be is refused by name", "[simulator][command_line]") {
  const Scratch scratch;
  const std::string model = make_model(scratch);
  const auto explain = [&](const std::string& tensor, const std::string& cell) {
    return run_program(
        {"explain", "--model", model, "--text", "the cat", "--tensor", tensor, "--cell", cell});
  };
  check_refused(explain("decoder.block0.self_attention.score", "0,0,0,0"), {"score\"", kScores});
  check_refused(explain(kScores, "0,0,0"), {"0,0,0", "[1,2,3,3]"});
  check_refused(explain(kScores, "0,0,0,3"), {"0,0,0,3"});
  check_refused(explain(kScores, "0,0,0,x"), {"0,0,0,x"});
  check_refused(run_program({"trace", "--model", (scratch / "none").string(), "--text", "a", "--out", "x"}),
                {"none"});
  check_refused(run_program({"trace", "--model", model, "--text", " ", "--out", "x"}), {});
  check_refused(run_program({"trace", "--model", kGolden, "--text", "a", "--out", "x"}), {kGolden});
  check_refused(run_program({"trace", "--model", model, "--batch", (scratch / "no.tokens.json").string(),
                             "--out", "x"}),
                {"no.tokens.json"});
  check_refused(
      run_program({"trace", "--model", model, "--text", "a", "--out", (scratch / "no" / "x").string()}),
      {"x"});
  check_refused(run_program({"lesson", "read", "no-such-lesson"}), {"no-such-lesson"});
  std::string long_text;
  for (int word = 0; word < 100; ++word) long_text += "cat ";
  check_refused(run_program({"trace", "--model", model, "--text", long_text, "--out", "x"}), {"--text"});
}

TEST_CASE("a batch or a lesson that no memory holds is refused before it is computed",
          "[simulator][command_line]") {
  const Scratch scratch;
  const std::string model = make_model(scratch), batch = (scratch / "b.tokens.json").string();
  std::string row = "[1";
  for (int token = 0; token < 60; ++token) row += ",1";
  row += "]";
  std::string rows = row;
  for (int count = 0; count < 20000; ++count) rows += "," + row;
  std::ofstream(batch) << "{\"source\": [" << rows << "]}";
  const Ran ran =
      run_program({"trace", "--model", model, "--batch", batch, "--out", (scratch / "t").string()});
  check_refused(ran, {batch, "at once"});

  const std::string lesson = (scratch / "01_large.md").string();
  std::string text = read_text(kLesson);
  text.replace(text.find("d_model = 8"), 11, "d_model = 1048576");
  std::ofstream(lesson) << text;
  check_refused(run_program({"lesson", "read", lesson}), {"more than", "numbers"});
}

TEST_CASE("what files and arguments hold never steers the terminal", "[simulator][command_line]") {
  const Scratch scratch;
  const std::string model = make_model(scratch), out = (scratch / "t.safetensors").string();
  const std::string evil = "\x1b[2J\x07\u202e\n";
  const auto check_tame = [&](const std::vector<std::string>& arguments) {
    const Ran ran = run_program(arguments);
    INFO(ran.errors);
    check_refused(ran, {"\\x1b[2J\\x07\\u202e\\x0a"});
    CHECK(ran.errors.find_first_of("\x1b\x07") == std::string::npos);
  };
  check_tame({evil});
  check_tame({"lesson", "read", evil});
  check_tame({"trace", "--model", evil, "--text", "cat", "--out", out});
  check_tame({"explain", "--model", model, "--text", "cat", "--tensor", evil, "--cell", "0"});
  check_tame({"explain", "--model", model, "--text", "cat", "--tensor", kScores, "--cell", evil});
  std::ofstream(scratch / "b.tokens.json") << R"({"source": [[1, 2]], "\u001b[2J\u0007\u202e\n": 0})";
  check_tame({"trace", "--model", model, "--batch", (scratch / "b.tokens.json").string(), "--out", out});
  std::ofstream(scratch / "model" / "config.json") << R"({"format": "\u001b[2J\u0007\u202e\n"})";
  check_tame({"trace", "--model", model, "--text", "cat", "--out", out});
  CHECK_FALSE(std::filesystem::exists(out));

  const std::string lesson = (scratch / "01_\x1b[31mx.md").string();
  std::filesystem::copy_file(kLesson, lesson);
  const Ran good = run_program({"lesson", "check", lesson});
  CHECK(good.status == 0);
  CHECK_THAT(good.out, Contains("01_\\x1b[31mx.md") && !Contains("\x1b"));
}

TEST_CASE("lessons are listed and checked", "[simulator][command_line]") {
  const Ran list = run_program({"lesson", "list"});
  CHECK(list.status == 0);
  CHECK(lines_of(list.out).size() >= 2);
  for (const std::string& line : lines_of(list.out)) CHECK_FALSE(line.empty());
  const Ran good = run_program({"lesson", "check", kLesson});
  INFO(good.errors);
  CHECK(good.status == 0);
  const Scratch scratch;
  std::string broken = read_text(kLesson);
  broken.replace(broken.find("argmax(scores"), 13, "argmax(scorse");
  std::ofstream(scratch / "98_broken.md") << broken;
  const Ran bad = run_program({"lesson", "check", kLesson, (scratch / "98_broken.md").string()});
  CHECK(bad.status == 2);
  CHECK_THAT(bad.errors, Contains("98_broken.md:") && Contains("scorse"));
}

TEST_CASE("a screenshot shows more than one colour, the same each time",
          "[simulator][command_line][opengl]") {
  const Scratch scratch;
  const auto shoot = [&](const std::string& name, std::vector<std::string> more) {
    std::vector<std::string> arguments{"screenshot", "--lesson", kLesson, "--size", "1280x720"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    arguments.push_back((scratch / name).string());
    const Ran ran = run_program(arguments, "", "env -u DISPLAY");
    INFO(ran.errors);
    CHECK(ran.status == 0);
    return read_text(scratch / name);
  };
  const std::string first = shoot("1.png", {});
  CHECK(first.substr(1, 3) == "PNG");
  CHECK(first.size() > 20000);  // one colour of this size compresses to about 4 kB
  CHECK(first == shoot("again.png", {}));
  CHECK(first != shoot("2.png", {"--step", "2"}));
  CHECK(first != shoot("dark.png", {"--theme", "dark"}));
  CHECK(first != shoot("presentation.png", {"--presentation"}));
  CHECK(first != shoot("large.png", {"--text-scale", "150%"}));
}

TEST_CASE("without a display the lesson opens in the terminal", "[simulator][command_line]") {
  const Ran ran = run_program({"--lesson", kLesson}, "n\nq\n", "env -u DISPLAY -u WAYLAND_DISPLAY");
  INFO(ran.errors);
  CHECK(ran.status == 0);
  CHECK(ran.errors.empty());
  CHECK_THAT(lines_of(ran.out).at(0), Contains("no display"));
  CHECK_THAT(ran.out, Contains("A lesson for tests") && Contains("Step 2 of 2"));
}
