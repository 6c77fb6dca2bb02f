// trace, explain and steps on models of every objective: gradients, updates, and what is changed by hand.
#include "tests/simulator/commands.h"

#include "core/formats/safetensors.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <string>
#include <vector>

namespace {

using namespace headscope;
using namespace headscope::simulator::test;
using Catch::Matchers::Contains;

}  // namespace

TEST_CASE("a trace with --backward holds every gradient of the format", "[simulator][command_line]") {
  const Scratch scratch;
  const std::string out = (scratch / "t.safetensors").string();
  for (const char* name : {"decoder_attention_only", "classify_mean", "translate_padded",
                           "span_pointer_relative", "label_encoder_one_output"}) {
    const std::string model = golden(name);
    const Ran ran = run_program(
        {"trace", "--model", model, "--batch", model + "/batch.tokens.json", "--backward", "--out", out});
    INFO(name << ": " << ran.errors);
    REQUIRE(ran.status == 0);
    CHECK(ran.errors.empty());  // no warning: -∞ where a mask put it is no fault
    const core::Result<core::StoredTensors> traced = core::read_safetensors(out);
    const core::Result<core::StoredTensors> expected =
        core::read_safetensors(model + "/expected.safetensors");
    REQUIRE(traced);
    REQUIRE(expected);
    for (const auto& [tensor, numbers] : *expected) {
      INFO(tensor);
      REQUIRE(traced->contains(tensor));
      CHECK(traced->at(tensor).shape == numbers.shape);
    }
  }
}

TEST_CASE("a trace warns once of numbers that are not finite, whatever made them",
          "[simulator][command_line]") {
  const Scratch scratch;
  const std::string batch = kGolden + "/batch.tokens.json", out = (scratch / "t.safetensors").string();
  const auto warning = [&](std::vector<std::string> more) {
    const std::vector<std::string> trace{"trace", "--model", kGolden, "--batch", batch, "--out", out};
    more.insert(more.begin(), trace.begin(), trace.end());
    const Ran ran = run_program(more);
    CHECK(ran.status == 0);
    CHECK_THAT(ran.out, Contains(out));
    CHECK(lines_of(ran.errors).size() == 1);
    return ran.errors;
  };
  // how many numbers and tensors of the file a reader finds not finite, masks apart
  const auto count_bad = [&] {
    const core::Result<core::StoredTensors> traced = core::read_safetensors(out);
    REQUIRE(traced);
    std::size_t n_numbers = 0, n_tensors = 0;
    for (const auto& [name, tensor] : *traced) {
      const bool is_masked = name.find("masked_scores") != std::string::npos && name.find("grad.") != 0;
      const auto n_bad = std::count_if(tensor.values.begin(), tensor.values.end(), [&](double value) {
        return std::isnan(value) || (std::isinf(value) && !(is_masked && value < 0));
      });
      n_numbers += static_cast<std::size_t>(n_bad);
      n_tensors += n_bad > 0 ? 1 : 0;
    }
    return "(numbers: " + std::to_string(n_numbers) + ", tensors: " + std::to_string(n_tensors) + ")";
  };
  // one query and one key so large that their product overflows
  const std::string attention = "decoder.block0.self_attention";
  std::vector<std::string> set{"--set", attention + ".queries:0,1,2,0=1e20", "--set",
                               attention + ".keys:0,1,1,0=1e20"};
  const std::string forward = warning(set), n_forward = count_bad();
  CHECK_THAT(forward, Contains(kScores + "[0,1,2,1]") && Contains(n_forward));
  set.emplace_back("--backward");
  const std::string both = warning(set);
  CHECK_THAT(both, Contains(kScores + "[0,1,2,1]") && Contains(count_bad()));
  CHECK(count_bad() != n_forward);
}

TEST_CASE("without anything to predict a trace ends at the probabilities, and a gradient is refused",
          "[simulator][command_line]") {
  const Scratch scratch;
  const std::string model = with_words(scratch, "classify_mean");
  const std::string out = (scratch / "t.safetensors").string();
  REQUIRE(run_program({"trace", "--model", model, "--text", "w3 w4", "--out", out}).status == 0);
  const core::Result<core::StoredTensors> bare = core::read_safetensors(out);
  REQUIRE(bare);
  CHECK(bare->contains("probabilities"));
  CHECK_FALSE(bare->contains("loss"));
  check_refused(run_program({"trace", "--model", model, "--text", "w3 w4", "--out", out, "--backward"}),
                {"--label"});
  check_refused(
      run_program({"explain", "--model", model, "--text", "w3 w4", "--tensor", "loss", "--cell", "0"}),
      {"--label"});
  const Ran steps = run_program({"steps", "--model", model, "--text", "w3 w4"});
  CHECK_THAT(steps.out, Contains("probabilities") && !Contains("grad."));

  REQUIRE(
      run_program({"trace", "--model", model, "--text", "w3 w4", "--label", "1", "--out", out, "--backward"})
          .status == 0);
  const core::Result<core::StoredTensors> labelled = core::read_safetensors(out);
  REQUIRE(labelled);
  CHECK(labelled->contains("loss"));
  CHECK(labelled->contains("grad.classifier.weight"));
  check_refused(run_program({"trace", "--model", model, "--text", "w3 w4", "--label", "9", "--out", out}),
                {"9"});
  check_refused(run_program({"trace", "--model", model, "--text", "w3 w4", "--span", "0,1", "--out", out}),
                {"no use for --span"});
  check_refused(run_program({"trace", "--model", model, "--text", "w3", "--target-text", "w3", "--out", out}),
                {"no use for --target-text"});
}

TEST_CASE("a text's own answer is fed for every objective", "[simulator][command_line]") {
  const Scratch scratch;
  const auto loss_of = [&](const std::string& model, const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"explain", "--model", model,    "--tensor", "loss",
                                       "--cell",  "0",       "--text", "w3 w4 w5"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(arguments);
  };
  const std::string span = with_words(scratch, "span_pointer_relative");
  CHECK(loss_of(span, {"--read", "2", "--span", "0,1"}).status == 0);
  check_refused(loss_of(span, {"--read", "2"}), {"--span"});
  check_refused(loss_of(span, {"--span", "0,1"}), {"--read"});
  check_refused(loss_of(span, {"--read", "7", "--span", "0,1"}), {"7"});
  const std::string translate = with_words(scratch, "translate_padded");
  CHECK(loss_of(translate, {"--target-text", "w3 w4 w5"}).status == 0);
  check_refused(loss_of(translate, {}), {"--target-text"});
  const std::string labels = with_words(scratch, "label_encoder_one_output");
  check_refused(loss_of(labels, {}), {"labels", "--batch"});
}

TEST_CASE("a gradient is explained operation by operation, and held against a difference",
          "[simulator][command_line]") {
  const std::string batch = kGolden + "/batch.tokens.json";
  const auto explain = [&](const std::string& tensor, const std::string& cell,
                           std::vector<std::string> more) {
    std::vector<std::string> arguments{"explain",  "--model", kGolden,  "--batch", batch,
                                       "--tensor", tensor,    "--cell", cell};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(arguments);
  };
  const Ran queries = explain("decoder.block0.self_attention.queries", "0,0,1,0", {"--gradient"});
  INFO(queries.out << queries.errors);
  CHECK(queries.status == 0);
  CHECK_THAT(queries.out,
             Catch::Matchers::StartsWith("grad.decoder.block0.self_attention.queries[0,0,1,0] = "));
  CHECK_THAT(queries.out, Contains("∂scores[0,0,1,0] × keys[0,0,0,0]") && Contains("Back through scores"));
  const Ran scores =
      explain("decoder.block0.self_attention.masked_scores", "0,0,1,0", {"--gradient", "--double"});
  CHECK_THAT(scores.out, Contains("(1 − weights[0,0,1,0])") && Contains("(−weights[0,0,1,0])"));

  const Ran checked = explain("decoder.block0.self_attention.w_query", "0,0,0",
                              {"--gradient", "--check", "--json", "--double"});
  INFO(checked.out << checked.errors);
  REQUIRE(checked.status == 0);
  const double analytic = number_after(checked.out, "\"analytic\": "),
               numeric = number_after(checked.out, "\"numeric\": ");
  CHECK(analytic != 0);
  // a central difference in double of a loss near 1: about 1e-16 / h, with h 1e-5 and above
  CHECK(std::abs(analytic - numeric) < 1e-8 + 1e-5 * std::abs(analytic));
  CHECK(number_after(checked.out, "\"stored\": ") == Approx(analytic).epsilon(1e-12));
  CHECK_THAT(explain(kScores, "0,0,1,0", {"--gradient", "--check"}).out,
             Contains("analytic") && Contains("numeric") && Contains("difference"));

  check_refused(explain("probabilities", "0,0,0", {"--gradient"}), {"probabilities", "no gradient"});
  check_refused(explain("source.ids", "0,0", {"--gradient"}), {"source.ids", "no gradient"});
  check_refused(explain("loss", "0", {"--gradient"}), {"no gradient"});
}

TEST_CASE("an update is explained down to its moments", "[simulator][command_line]") {
  const std::string batch = kGolden + "/batch.tokens.json";
  const auto update = [&](const std::string& tensor, const std::string& cell, std::vector<std::string> more) {
    std::vector<std::string> arguments{"explain",  "--model", kGolden,  "--batch", batch,     "--update",
                                       "--tensor", tensor,    "--cell", cell,      "--double"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(arguments);
  };
  const std::string w_query = "decoder.block0.self_attention.w_query";
  const Ran adamw = update(w_query, "0,0,0", {"--lr", "0.01", "--weight-decay", "0.1", "--json"});
  INFO(adamw.out << adamw.errors);
  REQUIRE(adamw.status == 0);
  const std::size_t first = adamw.out.find("\"first_moment\": "),
                    second = adamw.out.find("\"second_moment\": "), value = adamw.out.find("\"value\": {");
  REQUIRE(first < second);
  REQUIRE(second < value);
  for (const std::size_t place : {first, second, value}) {
    const std::string part = adamw.out.substr(place);
    // double arithmetic on a handful of terms
    CHECK(number_after(part, "\"stored\": ") ==
          Approx(number_after(part, "\"recombined\": ")).epsilon(1e-12));
  }
  CHECK_THAT(adamw.out, Contains("\"form\": \"adam_step\"") && Contains("\"form\": \"decay\"") &&
                            Contains("\"quantity\": \"gradient\""));
  const Ran sgd = update(w_query, "0,0,0", {"--optimiser", "sgd", "--momentum", "0.9", "--clip", "0.001"});
  INFO(sgd.out << sgd.errors);
  CHECK(sgd.status == 0);
  CHECK_THAT(sgd.out, Contains("∂w_query[0,0,0]") && Contains("before(w_query[0,0,0])") && !Contains("v("));
  check_refused(update(kScores, "0,0,0,0", {}), {kScores, "not updated"});
  for (const auto& [option, too_large, name] :
       {std::array{"--lr", "1e39", "rate"}, std::array{"--weight-decay", "1e39", "weight_decay"},
        std::array{"--clip", "1e39", "clip_norm"}})
    check_refused(update(w_query, "0,0,0", {option, too_large}), {name, "1e+39"});
}

TEST_CASE("steps are listed in their order, and a cell is seen as it is at each",
          "[simulator][command_line]") {
  const std::string batch = kGolden + "/batch.tokens.json";
  const Ran listed = run_program({"steps", "--model", kGolden, "--batch", batch, "--formulas"});
  INFO(listed.out << listed.errors);
  REQUIRE(listed.status == 0);
  CHECK_THAT(listed.out, Contains("1  forward"));
  CHECK_THAT(listed.out, Contains("grad." + kScores) && Contains("Update of W_Q") && Contains("∂q_ic"));
  const std::size_t forward = listed.out.find("  forward"), backward = listed.out.find("  backward"),
                    update = listed.out.find("  update");
  CHECK(forward < backward);
  CHECK(backward < update);

  const Ran json = run_program({"steps", "--model", kGolden, "--batch", batch, "--json"});
  REQUIRE(json.status == 0);
  const std::vector<std::string> steps = lines_of(json.out);
  std::size_t n_backward = 0;
  for (const std::string& step : steps)
    n_backward += step.find("\"phase\": \"backward\"") != std::string::npos;
  CHECK(n_backward > 10);

  const auto at = [&](const std::string& tensor, const std::string& cell, const std::string& step,
                      const std::string& option) {
    std::vector<std::string> arguments{"explain", "--model", kGolden, "--batch", batch, "--tensor",
                                       tensor,    "--cell",  cell,    "--step",  step};
    if (!option.empty()) arguments.push_back(option);
    return run_program(arguments);
  };
  check_refused(at(kScores, "0,0,0,0", "1", ""), {kScores, "not computed yet"});
  check_refused(at(kScores, "0,0,1,0", "1", "--gradient"), {"grad." + kScores, "not computed yet"});
  const std::string end = std::to_string(steps.size());
  CHECK(at(kScores, "0,0,1,0", end, "--gradient").status == 0);
  // behind its update a parameter's value is the optimiser's work, before it is given
  const std::string w_query = "decoder.block0.self_attention.w_query";
  CHECK_THAT(at(w_query, "0,0,0", "0", "").out, Contains("given"));
  CHECK_THAT(at(w_query, "0,0,0", end, "").out, Contains("before(w_query[0,0,0])"));
}

TEST_CASE("what is changed by hand is changed, said, and refused where it cannot be",
          "[simulator][command_line]") {
  const std::string batch = kGolden + "/batch.tokens.json", attention = "decoder.block0.self_attention";
  const auto explain = [&](const std::string& tensor, const std::string& cell,
                           std::vector<std::string> more) {
    std::vector<std::string> arguments{
        "explain", "--model", kGolden,    "--batch", batch, "--tensor", attention + "." + tensor,
        "--cell",  cell,      "--double", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ran ran = run_program(arguments);
    INFO(ran.errors);
    CHECK(ran.status == 0);
    return ran.out;
  };
  const auto stored = [](const std::string& json) { return number_after(json, "\"stored\": "); };
  const std::string zeroed = explain("head_output", "0,1,2,0", {"--zero-head", attention + ":1"});
  CHECK(stored(zeroed) == 0);
  CHECK_THAT(zeroed, Contains("\"combine\": \"by_hand\""));
  CHECK(stored(explain("head_output", "0,0,2,0", {"--zero-head", attention + ":1"})) ==
        stored(explain("head_output", "0,0,2,0", {})));
  CHECK(stored(explain("weights", "0,1,3,0", {"--uniform-attention", attention})) == Approx(0.25));
  CHECK(stored(explain("weights", "0,0,3,0", {"--uniform-attention", attention + ":1"})) ==
        stored(explain("weights", "0,0,3,0", {})));
  CHECK(stored(explain("scaled_scores", "0,0,1,0", {"--temperature", "2"})) ==
        Approx(stored(explain("scaled_scores", "0,0,1,0", {})) / 2));
  CHECK(stored(explain("weights", "0,0,0,1", {"--leak-future"})) > 0);
  CHECK(stored(explain("weights", "0,0,0,1", {})) == 0);
  const std::string set =
      explain("weights", "0,0,2,0",
              {"--set", attention + ".scores:0,0,2,0=1000", "--set", attention + ".scores:0,0,2,1=-1000"});
  CHECK(stored(set) == Approx(1));

  const auto refused = [&](const std::vector<std::string>& more, const std::vector<std::string>& parts) {
    std::vector<std::string> arguments{"trace", "--model", kGolden, "--batch", batch, "--out", "x"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    check_refused(run_program(arguments), parts);
  };
  refused({"--zero-head", "decoder.block7.self_attention:0"}, {"block7", attention});
  refused({"--zero-head", attention}, {"--zero-head", "ATTENTION:HEAD"});
  refused({"--zero-head", attention + ":99"}, {"99", "0"});
  refused({"--zero-head", attention + ":one"}, {"one"});
  refused({"--uniform-attention", "attention"}, {"\"attention\""});
  refused({"--set", attention + ".scores"}, {"--set", "TENSOR:"});
  refused({"--set", attention + ".scores:0,0,0,0=x"}, {"--set", "=x"});
  refused({"--set", attention + ".scores:0,0,0=1"}, {"0,0,0", "shape"});
  refused({"--set", attention + ".score:0,0,0,0=1"}, {"score\"", kScores});
  refused({"--set", attention + ".w_query:0,0,0=1"}, {"w_query", "given, not computed"});
  refused({"--set", "probabilities:0,0,0=1"}, {"probabilities", "\"logits\""});
  refused({"--set", "loss:0=1"}, {"loss", "\"logits\""});
  check_refused(run_program({"trace", "--model", golden("classify_mean"), "--batch",
                             golden("classify_mean") + "/batch.tokens.json", "--out", "x", "--leak-future"}),
                {"--leak-future"});
}

TEST_CASE("a head is set to its means over held-out text, position by position",
          "[simulator][command_line]") {
  const Scratch scratch;
  const std::string batch = kGolden + "/batch.tokens.json", attention = "decoder.block0.self_attention";
  const std::string held_out = (scratch / "held.tokens.json").string();
  // rows of three and of one fed token: position 0 is the mean of both, 1 and 2 are the first's, padding left
  // out
  std::ofstream(held_out) << R"({"source": [[6, 3, 6, 9], [2, 4]]})";
  const auto stored = [&](const std::string& file, const std::string& cell,
                          const std::vector<std::string>& more) {
    std::vector<std::string> arguments{
        "explain", "--model", kGolden,    "--batch", file, "--tensor", attention + ".head_output",
        "--cell",  cell,      "--double", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ran ran = run_program(arguments);
    INFO(ran.errors);
    REQUIRE(ran.status == 0);
    if (!more.empty()) CHECK_THAT(ran.out, Contains("\"combine\": \"by_hand\""));
    return number_after(ran.out, "\"stored\": ");
  };
  const std::vector<std::string> mean{"--mean-head", attention + ":1", "--mean-data", held_out};
  const auto of_held_out = [&](const std::string& cell) { return stored(held_out, cell, {}); };
  // the same sums in the same precision, to the digits of JSON
  CHECK(stored(batch, "0,1,0,2", mean) ==
        Approx((of_held_out("0,1,0,2") + of_held_out("1,1,0,2")) / 2).epsilon(1e-12));
  CHECK(stored(batch, "1,1,1,2", mean) == Approx(of_held_out("0,1,1,2")).epsilon(1e-12));
  CHECK(stored(batch, "0,1,2,0", mean) == Approx(of_held_out("0,1,2,0")).epsilon(1e-12));
  CHECK(stored(batch, "0,1,4,0", mean) == Approx(of_held_out("0,1,2,0")).epsilon(1e-12));  // beyond: the last

  // a second file adds its rows; the other interventions do not change the means
  std::vector<std::string> more = mean;
  more.insert(more.end(), {"--mean-data", batch, "--temperature", "3", "--zero-head", attention + ":0"});
  const double sum = of_held_out("0,1,1,2") + stored(batch, "0,1,1,2", {}) + stored(batch, "1,1,1,2", {});
  CHECK(stored(batch, "0,1,1,2", more) == Approx(sum / 3).epsilon(1e-12));

  const Ran trace =
      run_program({"trace", "--model", kGolden, "--batch", batch, "--backward", "--mean-head",
                   attention + ":1", "--mean-data", held_out, "--out", (scratch / "t.safetensors").string()});
  INFO(trace.errors);
  REQUIRE(trace.status == 0);
  const core::Result<core::StoredTensors> traced = core::read_safetensors(scratch / "t.safetensors");
  REQUIRE(traced);
  const core::StoredTensor& gradient = traced->at("grad." + attention + ".w_value");
  const std::size_t slice = gradient.values.size() / 2;
  for (std::size_t at = 0; at < slice; ++at) {
    CHECK(gradient.values[at] != 0);
    CHECK(gradient.values[slice + at] == 0);  // nothing goes back through what is set by hand
  }

  const auto refused = [&](const std::vector<std::string>& given, const std::vector<std::string>& parts) {
    std::vector<std::string> arguments{"trace", "--model", kGolden, "--batch", batch, "--out", "x"};
    arguments.insert(arguments.end(), given.begin(), given.end());
    check_refused(run_program(arguments), parts);
  };
  refused({"--mean-head", attention + ":1"}, {"--mean-head", "--mean-data"});
  refused({"--mean-data", held_out}, {"--mean-data", "--mean-head"});
  refused({"--mean-head", attention, "--mean-data", held_out}, {"--mean-head", "ATTENTION:HEAD"});
  refused({"--mean-head", attention + ":7", "--mean-data", held_out}, {"7"});
  refused({"--mean-head", attention + ":1", "--mean-data", (scratch / "none").string()}, {"none"});
  std::ofstream(scratch / "bad.tokens.json") << R"({"source": [[6, 99]]})";
  refused({"--mean-head", attention + ":1", "--mean-data", (scratch / "bad.tokens.json").string()},
          {"bad.tokens.json", "99"});
}

TEST_CASE("on request each head's own addend to the output is computed, and sums up to it",
          "[simulator][command_line]") {
  const Scratch scratch;
  const std::string model = golden("translate_padded"), batch = model + "/batch.tokens.json";
  const std::string out = (scratch / "t.safetensors").string();
  REQUIRE(run_program(
              {"trace", "--model", model, "--batch", batch, "--head-contributions", "--double", "--out", out})
              .status == 0);
  const core::Result<core::StoredTensors> traced = core::read_safetensors(out);
  const core::Result<core::StoredTensors> parameters = core::read_safetensors(model + "/model.safetensors");
  REQUIRE(traced);
  REQUIRE(parameters);
  for (const std::string attention : {"encoder.block0.self_attention", "decoder.block1.cross_attention"}) {
    const core::StoredTensor &parts = traced->at(attention + ".head_contribution"),
                             &output = traced->at(attention + ".output"),
                             &bias = parameters->at(attention + ".b_output");
    REQUIRE(parts.shape.size() == 4);
    const auto n_heads = static_cast<std::size_t>(parts.shape[1]);
    const auto per_head = static_cast<std::size_t>(parts.shape[2] * parts.shape[3]);
    for (std::size_t at = 0; at < output.values.size(); ++at) {
      double sum = bias.values[at % bias.values.size()];
      for (std::size_t h = 0; h < n_heads; ++h)
        sum += parts.values[(at / per_head * n_heads + h) * per_head + at % per_head];
      CHECK(sum == Approx(output.values[at]).epsilon(1e-12).margin(1e-13));  // a sum in another order
    }
  }
  REQUIRE(run_program({"trace", "--model", model, "--batch", batch, "--out", out}).status == 0);
  CHECK_FALSE(core::read_safetensors(out)->contains("encoder.block0.self_attention.head_contribution"));

  std::vector<std::string> explain{"explain",
                                   "--model",
                                   model,
                                   "--batch",
                                   batch,
                                   "--tensor",
                                   "decoder.block0.cross_attention.head_contribution",
                                   "--cell",
                                   "0,1,0,3"};
  check_refused(run_program(explain), {"head_contribution"});
  explain.emplace_back("--head-contributions");
  const Ran explained = run_program(explain);
  INFO(explained.errors);
  CHECK(explained.status == 0);
  CHECK_THAT(explained.out, Contains("head_output[0,1,0,0] × w_output[1,0,3]"));
  explain.emplace_back("--gradient");
  check_refused(run_program(explain), {"no gradient"});
}
