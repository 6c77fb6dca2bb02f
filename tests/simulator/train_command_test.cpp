// headscope train on what a person changes first, and headscope model new --config: what they write.
#include "tests/simulator/commands.h"

#include "core/formats/json.h"
#include "core/formats/model_directory.h"
#include "core/formats/safetensors.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace headscope;
using namespace headscope::simulator::test;
using Catch::Matchers::Contains;

const std::string kManyHeads = golden("decoder_many_heads");
const std::string kAttention = "decoder.block0.self_attention";

/// Trains three steps and reads the model that was written.
core::StoredTensors trained(const Scratch& scratch, const std::string& model, std::vector<std::string> more) {
  const std::string out = (scratch / "trained").string();
  std::vector<std::string> arguments{"train",        "--from",  model, "--data", model + "/batch.tokens.json",
                                     "--full-batch", "--steps", "3",   "--lr",   "0.01",
                                     "--replace",    "--out",   out};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Ran ran = run_program(arguments);
  INFO(ran.errors);
  REQUIRE(ran.status == 0);
  const core::Result<core::StoredTensors> tensors = core::read_safetensors(out + "/model.safetensors");
  REQUIRE(tensors);
  return *tensors;
}

bool heads_are_equal(const core::StoredTensor& tensor) {
  const auto n_heads = static_cast<std::size_t>(tensor.shape.at(0));
  const std::size_t slice = tensor.values.size() / n_heads;
  REQUIRE(n_heads > 1);
  return std::equal(tensor.values.begin(), tensor.values.end() - static_cast<std::ptrdiff_t>(slice),
                    tensor.values.begin() + static_cast<std::ptrdiff_t>(slice));
}

}  // namespace

TEST_CASE("equal heads stay equal in the model that is written, and part with noise",
          "[simulator][command_line]") {
  const Scratch scratch;
  const core::StoredTensors equal = trained(scratch, kManyHeads, {"--equal-heads"});
  const core::StoredTensors noisy =
      trained(scratch, kManyHeads, {"--equal-heads", "--head-noise", "0.001", "--seed", "4"});
  const core::Result<core::StoredTensors> before = core::read_safetensors(kManyHeads + "/model.safetensors");
  REQUIRE(before);
  for (const char* leaf : {".w_query", ".w_key", ".w_value", ".w_output"}) {
    const std::string name = kAttention + leaf;
    INFO(name);
    CHECK_FALSE(heads_are_equal(before->at(name)));
    CHECK(heads_are_equal(equal.at(name)));
    CHECK(equal.at(name).values.front() != before->at(name).values.front());  // three steps were taken
    CHECK_FALSE(heads_are_equal(noisy.at(name)));
  }
  CHECK_THAT(read_text(scratch / "trained/run.json"), Contains("\"equal_heads\": true") &&
                                                          Contains("\"head_noise\": 0.001") &&
                                                          Contains("\"seed\": 4"));
}

TEST_CASE("a frozen parameter is written as it was, all others are not", "[simulator][command_line]") {
  const Scratch scratch;
  const std::string frozen = kAttention + ".w_query";
  const core::StoredTensors after =
      trained(scratch, kManyHeads, {"--freeze", frozen, "--freeze", "unembedding.weight"});
  const core::Result<core::StoredTensors> before = core::read_safetensors(kManyHeads + "/model.safetensors");
  REQUIRE(before);
  for (const auto& [name, tensor] : after) {
    INFO(name);
    const bool is_frozen = name == frozen || name == "unembedding.weight";
    CHECK((tensor.values == before->at(name).values) == is_frozen);
  }
  CHECK_THAT(read_text(scratch / "trained/run.json"),
             Contains("\"freeze\": [\"" + frozen + "\", \"unembedding.weight\"]"));
}

TEST_CASE("training goes on with what is changed by hand, and keeps it in run.json",
          "[simulator][command_line]") {
  const Scratch scratch;
  const std::string set = kAttention + ".output:0,1,0=0.5";
  // of a zeroed head nothing upstream learns
  const core::StoredTensors after =
      trained(scratch, kManyHeads, {"--zero-head", kAttention + ":1", "--set", set});
  const core::Result<core::StoredTensors> before = core::read_safetensors(kManyHeads + "/model.safetensors");
  REQUIRE(before);
  const core::StoredTensor &w_value = after.at(kAttention + ".w_value"),
                           &was = before->at(kAttention + ".w_value");
  const std::size_t slice = w_value.values.size() / static_cast<std::size_t>(w_value.shape[0]);
  for (std::size_t at = 0; at < slice; ++at) {
    CHECK(w_value.values[slice + at] == was.values[slice + at]);
    CHECK(w_value.values[at] != was.values[at]);
  }
  const std::string zeroed = read_text(scratch / "trained/run.json");
  CHECK_THAT(zeroed,
             Contains("\"zero_head\": [\"" + kAttention + ":1\"]") && Contains("\"set\": [\"" + set + "\"]"));

  const auto w_query = [&](const std::vector<std::string>& more) {
    return trained(scratch, kManyHeads, more).at(kAttention + ".w_query").values;
  };
  const std::vector<double> plain = w_query({});
  CHECK(w_query({}) == plain);  // the same run gives the same bits
  CHECK(w_query({"--temperature", "2"}) != plain);
  CHECK_THAT(read_text(scratch / "trained/run.json"), Contains("\"temperature\": 2.0}"));
  CHECK(w_query({"--no-scale"}) != plain);
  CHECK_THAT(read_text(scratch / "trained/run.json"), Contains("\"no_scale\": true"));
  CHECK(w_query({"--leak-future"}) != plain);
  CHECK_THAT(read_text(scratch / "trained/run.json"), Contains("\"leak_future\": true"));
  CHECK(w_query({"--uniform-attention", kAttention}) == before->at(kAttention + ".w_query").values);
  CHECK_THAT(read_text(scratch / "trained/run.json"),
             Contains("\"uniform_attention\": [\"" + kAttention + "\"]"));
}

TEST_CASE("training refuses what the model has not", "[simulator][command_line]") {
  const Scratch scratch;
  const auto refused = [&](const std::vector<std::string>& more, const std::vector<std::string>& parts) {
    std::vector<std::string> arguments{
        "train",        "--from",  kManyHeads, "--data", kManyHeads + "/batch.tokens.json",
        "--full-batch", "--steps", "1",        "--out",  (scratch / "out").string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    check_refused(run_program(arguments), parts);
  };
  refused({"--freeze", "unembedding.weigth"}, {"--freeze", "unembedding.weigth", "unembedding.weight?"});
  refused({"--freeze", kAttention + ".scores"}, {"--freeze", kAttention + ".scores", "not learned"});
  refused({"--freeze="}, {"--freeze"});
  refused({"--head-noise", "0.1"}, {"--head-noise", "--equal-heads"});
  for (const char* noise : {"-1", "1001", "1e39", "nan"})
    refused({"--equal-heads", "--head-noise", noise}, {"--head-noise", noise, "0 … 1000"});
  refused({"--zero-head", kAttention + ":99"}, {"99"});
  refused({"--set", "probabilities:0,0,0=1"}, {"probabilities", "logits"});
  refused({"--lr", "2", "--weight-decay", "0.6"}, {"rate 2", "weight decay 0.6"});
  refused({"--temperature", "0"}, {"--temperature"});
  refused({"--mean-head", kAttention + ":0"}, {"--mean-head"});  // its means would be another model's
  CHECK_FALSE(std::filesystem::exists(scratch / "out"));
}

TEST_CASE("training says first where it cannot write, and trains nothing", "[simulator][command_line]") {
  const Scratch scratch;
  const auto train = [&](const std::filesystem::path& out) {
    // so many steps that the test would not end if they were taken
    return run_program({"train", "--from", kManyHeads, "--data", kManyHeads + "/batch.tokens.json",
                        "--full-batch", "--steps", "1000000000", "--out", out.string()});
  };
  std::ofstream(scratch / "file") << "mine";
  check_refused(train(scratch / "file"), {"file", "a file stands where a folder should be"});
  check_refused(train(scratch / "file/below"), {"file/below", "a file stands where a folder should be"});
  check_refused(train("/proc/headscope"), {"/proc/headscope", "cannot be written"});
  CHECK(read_text(scratch / "file") == "mine");
}

TEST_CASE("training warns of numbers that are not finite, and names them before what it cannot write",
          "[simulator][command_line]") {
  const Scratch scratch;
  const std::filesystem::path model = scratch / "broken", out = scratch / "out";
  std::filesystem::copy(kManyHeads, model);
  const core::Result<core::StoredTensors> tensors = core::read_safetensors(model / "model.safetensors");
  REQUIRE(tensors);
  std::vector<std::pair<std::string, core::StoredTensor>> changed(tensors->begin(), tensors->end());
  const std::string name = kAttention + ".w_query";
  for (auto& [tensor, numbers] : changed)
    if (tensor == name) numbers.values.at(1) = std::numeric_limits<double>::quiet_NaN();
  REQUIRE(core::write_safetensors(model / "model.safetensors", changed));
  std::filesystem::create_directories(out / "model.safetensors");  // no file can be written over it
  const Ran ran = run_program({"train", "--from", model.string(), "--data", kManyHeads + "/batch.tokens.json",
                               "--full-batch", "--steps", "3", "--out", out.string()});
  CHECK(ran.status == 2);
  CHECK(ran.out.empty());
  const std::vector<std::string> lines = lines_of(ran.errors);
  REQUIRE(lines.size() == 2);
  CHECK_THAT(lines[0], Contains("model.safetensors") && Contains(name) && Contains("[0,0,1]"));
  CHECK_THAT(lines[1], Contains("out") && Contains("model.safetensors"));

  // where it can be written, the step that fails is the error, and what was before it is kept
  const Ran failed =
      run_program({"train", "--from", model.string(), "--data", kManyHeads + "/batch.tokens.json",
                   "--full-batch", "--steps", "3", "--out", (scratch / "free").string()});
  CHECK(failed.status == 2);
  const std::vector<std::string> said = lines_of(failed.errors);
  REQUIRE(said.size() == 2);
  CHECK_THAT(said[1], Contains("Step 1: the parameter " + name + "[0,0,1] is not a finite number."));
  CHECK(std::filesystem::exists(scratch / "free/checkpoints/000000.safetensors"));
}

TEST_CASE("a model of every architecture is made from its configuration, and runs",
          "[simulator][command_line]") {
  const Scratch scratch;
  for (const char* name : {"decoder_many_heads", "classify_mean", "translate_padded", "span_pointer_relative",
                           "label_encoder_one_output"}) {
    INFO(name);
    const std::string config = golden(name) + "/config.json", out = (scratch / name).string();
    const Ran made = run_program({"model", "new", "--config", config, "--seed", "7", "--out", out});
    INFO(made.errors);
    REQUIRE(made.status == 0);
    CHECK_THAT(made.out, Contains("seed 7") && Contains(out));
    const core::Result<core::StoredModel> model = core::read_model_directory(out);
    REQUIRE(model);
    const core::Result<core::StoredModel> original = core::read_model_directory(golden(name));
    REQUIRE(original);
    CHECK(model->config == original->config);
    CHECK_FALSE(model->vocabulary);
    const Ran traced = run_program({"trace", "--model", out, "--batch", golden(name) + "/batch.tokens.json",
                                    "--backward", "--out", (scratch / "t.safetensors").string()});
    INFO(traced.errors);
    CHECK(traced.status == 0);
  }
}

TEST_CASE("a drawn model is its seed's, and its embeddings have the deviation that is asked for",
          "[simulator][command_line]") {
  const Scratch scratch;
  const std::string config = kManyHeads + "/config.json";
  const auto drawn = [&](const std::vector<std::string>& more) {
    const std::string out = (scratch / "drawn").string();
    std::vector<std::string> arguments{"model", "new", "--config", config, "--out", out};
    arguments.insert(arguments.end(), more.begin(), more.end());
    REQUIRE(run_program(arguments).status == 0);
    const core::Result<core::StoredTensors> tensors = core::read_safetensors(out + "/model.safetensors");
    REQUIRE(tensors);
    return *tensors;
  };
  const std::string table = "decoder.token_embedding", query = kAttention + ".w_query";
  const core::StoredTensors one = drawn({}), other = drawn({"--seed", "2"}),
                            small = drawn({"--embedding-deviation", "0.5"});
  CHECK(one.at(query).values == drawn({"--seed", "1"}).at(query).values);
  CHECK(one.at(query).values != other.at(query).values);
  CHECK(small.at(query).values == one.at(query).values);
  for (std::size_t at = 0; at < one.at(table).values.size(); ++at)
    REQUIRE(small.at(table).values[at] == one.at(table).values[at] / 2);  // a power of two: exact

  const std::string out = (scratch / "x").string();
  const auto refused = [&](std::vector<std::string> more, const std::vector<std::string>& parts) {
    more.insert(more.begin(), {"model", "new", "--out", out});
    check_refused(run_program(more), parts);
  };
  refused({}, {"--lesson", "--config"});
  refused({"--lesson", kLesson, "--config", config}, {"--lesson", "--config"});
  refused({"--lesson", kLesson, "--seed", "1"}, {"--seed", "--config"});
  refused({"--lesson", kLesson, "--embedding-deviation", "1"}, {"--embedding-deviation", "--config"});
  refused({"--config", config, "--seed", "-1"}, {"--seed", "-1"});
  for (const char* deviation : {"-1", "1001", "1e39", "nan"})
    refused({"--config", config, "--embedding-deviation", deviation},
            {"--embedding-deviation", deviation, "0 … 1000"});
  refused({"--config", (scratch / "none.json").string()}, {"none.json"});
  refused({"--config="}, {"--config"});
}

TEST_CASE("a batch may be as large as what the command keeps of it allows", "[simulator][command_line]") {
  const Scratch scratch;
  // one row of 4096 tokens and three heads: 201 million scores and weights, below the 2^28 numbers that a
  // command holds; with a gradient each they are above it
  std::ofstream(scratch / "config.json")
      << R"({"format": "headscope-model", "version": 1, "architecture": "decoder", "objective": "language_model",
             "vocab_size": 4, "d_model": 3, "n_heads": 3, "n_layers": 1, "d_ff": 0, "max_tokens": 4096,
             "positions": "none", "norm": "none", "bias": false})";
  const std::string model = (scratch / "model").string(), batch = (scratch / "long.tokens.json").string();
  const Ran made =
      run_program({"model", "new", "--config", (scratch / "config.json").string(), "--out", model});
  INFO(made.errors);
  REQUIRE(made.status == 0);
  std::string row = "1";
  for (int token = 1; token <= 4096; ++token) row += ",2";
  std::ofstream(batch) << "{\"source\": [[" + row + "]]}";

  CHECK(run_program({"steps", "--model", model, "--batch", batch}).status == 0);  // which runs nothing
  const std::string out = (scratch / "out").string();
  const std::vector<std::string> parts{"long.tokens.json", "268435456"};
  check_refused(run_program({"trace", "--model", model, "--batch", batch, "--backward", "--out", out}),
                parts);
  check_refused(
      run_program({"explain", "--model", model, "--batch", batch, "--tensor", "loss", "--cell", "0"}), parts);
  check_refused(
      run_program({"train", "--from", model, "--data", batch, "--full-batch", "--steps", "1", "--out", out}),
      parts);
  std::ofstream(batch) << "{\"source\": [[" + row + "], [" + row + "]]}";
  check_refused(run_program({"trace", "--model", model, "--batch", batch, "--out", out}), parts);
}

TEST_CASE("a task is trained, its run kept, visited and gone on with", "[simulator][command_line]") {
  const Scratch scratch;
  const std::string run = (scratch / "run").string(), twin = (scratch / "twin").string();
  const auto train = [](const std::string& out, const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"train", "--task", "look-ups", "--seed", "3", "--evaluate-every",
                                       "20",    "--out",  out};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(arguments);
  };
  const Ran trained = train(run, {"--steps", "40"});
  INFO(trained.errors);
  REQUIRE(trained.status == 0);
  CHECK_THAT(trained.out, Contains("Step 40 was the last one") && Contains("accuracy") &&
                              Contains("previous_token") && Contains(run));
  CHECK_THAT(trained.errors,
             Contains("step 20:") && Contains("step 40:"));  // no terminal: a line an evaluation

  // a later change while it ran is an event of the run, and both ways give the same bits
  const Ran resumed = run_program({"train", "--resume", run, "--steps", "60", "--lr", "0.001"});
  INFO(resumed.errors);
  REQUIRE(resumed.status == 0);
  REQUIRE(train(twin, {"--steps", "60", "--change", "41:lr=0.001"}).status == 0);
  CHECK(read_text(scratch / "run/model.safetensors") == read_text(scratch / "twin/model.safetensors"));
  CHECK(read_text(scratch / "run/history.csv") == read_text(scratch / "twin/history.csv"));
  CHECK_THAT(read_text(scratch / "run/run.json"), Contains("\"step\": 41") && Contains("0.001"));

  // a past step is the model of a run that ended there
  const std::string early = (scratch / "early").string(), past = (scratch / "past").string();
  REQUIRE(train(early, {"--steps", "33"}).status == 0);
  const Ran visited = run_program({"history", run, "--step", "33", "--out", past});
  INFO(visited.errors);
  REQUIRE(visited.status == 0);
  CHECK(read_text(scratch / "early/model.safetensors") == read_text(scratch / "past/model.safetensors"));
  const Ran compared = run_program({"history", run, "--step", "10", "--compare", "60"});
  CHECK_THAT(compared.out, Contains("outputs.weight") && Contains("From step 10 to step 60"));
  const Ran cell = run_program({"history", run, "--step", "60", "--tensor", "outputs.bias", "--cell", "0,3"});
  CHECK_THAT(cell.out, Contains("step 60: outputs.bias[0,3] = "));

  check_refused(train(run, {"--steps", "5"}), {run});
  check_refused(run_program({"history", run, "--step", "61"}), {"61", "60"});
  check_refused(run_program({"history", run, "--step", "3", "--tensor", "logits", "--cell", "0,0,0,0"}),
                {"logits"});
  check_refused(run_program({"history", early + "x", "--step", "3"}), {early + "x"});
  check_refused(run_program({"train", "--resume", early + "x"}), {early + "x"});
  check_refused(run_program({"train", "--resume", run, "--change", "7:lr=1"}), {"7", "60"});
}

TEST_CASE("a task is shown, and refused by name where there is none", "[simulator][command_line]") {
  for (const char* name : {"look-ups", "copying", "translation", "sentiment", "questions"}) {
    INFO(name);
    CHECK_THAT(run_program({"task", "list"}).out, Contains(name));
    const Ran shown = run_program({"task", "show", name, "--count", "3", "--relations"});
    CHECK(shown.status == 0);
    CHECK_THAT(shown.out, Contains("1  ") && Contains("3  ") && Contains(": "));
    const Ran json = run_program({"task", "show", name, "--count", "2", "--json", "--held-out-only"});
    CHECK(json.status == 0);
    CHECK(core::parse_json(json.out, "").has_value());
  }
  check_refused(run_program({"task", "show", "cooking"}), {"cooking", "look-ups"});
  check_refused(run_program({"task", "show", "copying", "--size", "full"}), {"copying"});
  check_refused(run_program({"task", "show", "copying", "--setting", "period=3"}), {"period", "3", "10"});
  check_refused(run_program({"train", "--task", "copying", "--heads", "5", "--out", "x"}),
                {"--heads", "5", "32"});
}

TEST_CASE("a grammar is checked with file and line", "[simulator][command_line]") {
  const Scratch scratch;
  std::ofstream(scratch / "toy.grammar") << "language en\n\nrule sentence\n  en : \"hello\" nobody\n";
  const std::string toy = (scratch / "toy.grammar").string();
  const Ran checked = run_program({"task", "check", toy});
  CHECK(checked.status == 2);
  CHECK_THAT(checked.out, Contains("toy.grammar") && Contains("4") && Contains("nobody"));
  const std::string pocket =
      (headscope::tests::source_folder() / "assets/tasks/translation/pocket.grammar").string();
  const Ran good = run_program({"task", "check", pocket});
  CHECK_THAT(good.out, Contains("no problems") && !Contains("none of"));

  // a word that a teacher adds is used; one of a kind that nothing chooses is named, with its line
  std::filesystem::copy(std::filesystem::path(pocket).parent_path(), scratch / "translation");
  const auto checked_with = [&](const std::string& animal, const std::string& kind) {
    std::ofstream(scratch / "translation/nouns.tsv", std::ios::app)
        << animal << "\t" << animal << "s\t-\tEule\tEule\t-\tEulen\tEulen\tfeminine\t" << kind
        << "\tcount\tvowel\t-\tpocket full\n";
    return run_program({"task", "check", (scratch / "translation/pocket.grammar").string()});
  };
  CHECK(checked_with("owl", "pet").out.find("none of") == std::string::npos);
  const Ran unused = checked_with("eaglet", "prt");
  CHECK(unused.status == 0);
  CHECK_THAT(unused.out, Contains("eaglet") && Contains("nouns.tsv") && !Contains("owl"));
}

TEST_CASE("a trained translator translates", "[simulator][command_line]") {
  const Scratch scratch;
  const std::string run = (scratch / "run").string();
  REQUIRE(run_program({"train", "--task", "translation", "--steps", "3", "--out", run}).status == 0);
  const Ran said =
      run_program({"translate", "--model", run, "--text", "the dog saw the cat .", "--beam", "2"});
  INFO(said.errors);
  CHECK(said.status == 0);
  CHECK_THAT(said.out, Contains("log-probability"));
  CHECK(run_program({"translate", "--model", run, "--text", "The dog saw the cat.", "--beam", "2"}).out ==
        said.out);
  check_refused(run_program({"translate", "--model", run, "--text", "the zebra saw"}), {"--text", "zebra"});
  check_refused(run_program({"translate", "--model", kManyHeads, "--text", "a"}), {"translate"});
}

TEST_CASE("a rate that is far too high is survived, and the way back is a command",
          "[simulator][command_line]") {
  const Scratch scratch;
  const std::string run = (scratch / "run").string();
  const Ran failed = run_program({"train", "--task", "look-ups", "--optimiser", "sgd", "--lr", "1000",
                                  "--clip", "0", "--steps", "60", "--out", run});
  CHECK(failed.status == 2);
  std::vector<std::string> said = lines_of(failed.errors);
  REQUIRE(said.size() >= 2);
  CHECK_THAT(said[said.size() - 2], Contains("is not a finite number") && Contains("Step "));
  const std::string command = "headscope train --resume '" + run + "' --back-to 0 --lr 100";  // a blank in it
  CHECK_THAT(said.back(), Contains(command) && Contains("the last good one, is saved"));
  // what is offered works, at last
  const Ran saved = run_program({"train", "--resume", run, "--back-to", "0", "--lr", "1"});
  INFO(saved.errors);
  CHECK(saved.status == 0);
  CHECK_THAT(saved.out, Contains("Step 60 was the last one"));
  CHECK_THAT(saved.out, !Contains("higher than at the beginning"));

  // the clipped AdamW of a recipe stays finite, but learns nothing: said, too
  const Ran high = run_program(
      {"train", "--task", "look-ups", "--lr", "8", "--steps", "30", "--out", (scratch / "high").string()});
  CHECK(high.status == 0);
  CHECK_THAT(high.out, Contains("higher than at the beginning") && Contains("--lr 0.8"));

  // back to a past step, another future: as if it had been changed there at once
  const std::string twin = (scratch / "twin").string();
  REQUIRE(run_program({"train", "--task", "look-ups", "--steps", "40", "--out", twin}).status == 0);
  REQUIRE(
      run_program({"train", "--resume", twin, "--back-to", "25", "--lr", "0.001", "--steps", "50"}).status ==
      0);
  const std::string calm = (scratch / "calm").string();
  REQUIRE(
      run_program({"train", "--task", "look-ups", "--steps", "50", "--change", "26:lr=0.001", "--out", calm})
          .status == 0);
  CHECK(read_text(scratch / "twin/history.csv") == read_text(scratch / "calm/history.csv"));
  CHECK_THAT(run_program({"train", "--resume", twin}).out, Contains("nothing was trained"));
  check_refused(run_program({"train", "--resume", twin, "--back-to", "51"}), {"51", "50"});
  check_refused(run_program({"train", "--task", "look-ups", "--back-to", "1", "--out", twin}),
                {"--back-to", "--resume"});
}
