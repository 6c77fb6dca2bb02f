// What --mean-head, --freeze-activation, --set and --temperature do at their edges; the rest is in
// model_commands_test.cpp.
#include "tests/simulator/commands.h"

#include "core/formats/safetensors.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

namespace {

using namespace headscope;
using namespace headscope::simulator::test;
using Catch::Matchers::Contains;

const std::string kDecoder = golden("decoder_many_heads");
const std::string kAttention = "decoder.block0.self_attention";

Ran traced(const std::string& model, const std::string& out, const std::vector<std::string>& more) {
  std::vector<std::string> arguments{"trace", "--model", model, "--batch", model + "/batch.tokens.json",
                                     "--out", out};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_program(arguments);
}

/// The trace, forward and backward.
core::StoredTensors trace(const Scratch& scratch, std::vector<std::string> more) {
  const std::string out = (scratch / "t.safetensors").string();
  more.emplace_back("--backward");
  const Ran ran = traced(kDecoder, out, more);
  INFO(ran.errors);
  REQUIRE(ran.status == 0);
  core::Result<core::StoredTensors> tensors = core::read_safetensors(out);
  REQUIRE(tensors);
  return *std::move(tensors);
}

bool is_zero(const core::StoredTensor& tensor) {
  return std::ranges::all_of(tensor.values, [](double value) { return value == 0; });
}

TEST_CASE("a head has no means over text without a position at which it asks", "[simulator][command_line]") {
  const Scratch scratch;
  const std::string model = golden("translate_padded"), out = (scratch / "t.safetensors").string();
  const auto file = [&](const char* name, const char* batch) {
    const std::string path = (scratch / name).string();
    std::ofstream(path) << batch;
    return path;
  };
  const std::string no_source =
      file("s.tokens.json", R"({"source": [[], []], "target": [[1, 3, 2], [1, 2]]})");
  const std::string source = file("b.tokens.json", R"({"source": [[3, 4]], "target": [[1, 3, 2]]})");
  const std::string head = "encoder.block0.self_attention:0";
  check_refused(traced(model, out, {"--mean-head", head, "--mean-data", no_source}),
                {"--mean-data", head, "no position"});
  check_refused(traced(model, out, {"--mean-head", head, "--mean-data", no_source, "--mean-data", no_source}),
                {"--mean-data", head, "no position"});
  // with another file, or at the target's positions, there are some
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
           {"--mean-head", head, "--mean-data", no_source, "--mean-data", source},
           {"--mean-head", kAttention + ":0", "--mean-data", no_source},
           {"--mean-head", "decoder.block0.cross_attention:0", "--mean-data", no_source}}) {
    const Ran ran = traced(model, out, more);
    INFO(more[1] << ": " << ran.errors);
    CHECK(ran.status == 0);
  }
}

TEST_CASE("a frozen activation keeps its bits whatever else is changed, and sends no gradient on",
          "[simulator][command_line]") {
  const Scratch scratch;
  const std::string weights = kAttention + ".weights";
  for (const std::vector<std::string>& precision : std::vector<std::vector<std::string>>{{}, {"--double"}}) {
    const auto with = [&](std::vector<std::string> more) {
      more.insert(more.end(), precision.begin(), precision.end());
      return trace(scratch, std::move(more));
    };
    const core::StoredTensors plain = with({});
    const core::StoredTensors frozen = with({"--freeze-activation", weights});
    for (const auto& [name, tensor] : plain) {
      if (name.starts_with("grad.")) continue;
      INFO(name);
      CHECK(frozen.at(name).values == tensor.values);  // by itself it changes no number
    }
    CHECK_FALSE(is_zero(frozen.at("grad." + weights)));
    CHECK_FALSE(is_zero(plain.at("grad." + kAttention + ".masked_scores")));
    CHECK(is_zero(frozen.at("grad." + kAttention + ".masked_scores")));
    CHECK_FALSE(is_zero(frozen.at("grad." + kAttention + ".values")));

    const core::StoredTensors cold = with({"--temperature", "3"}),
                              held = with({"--temperature", "3", "--freeze-activation", weights});
    CHECK(cold.at(weights).values != plain.at(weights).values);
    CHECK(held.at(weights).values == plain.at(weights).values);
    CHECK(held.at(kAttention + ".scaled_scores").values == cold.at(kAttention + ".scaled_scores").values);
    // what is named closer holds over it
    const core::StoredTensors part =
        with({"--freeze-activation", weights, "--set", weights + ":0,0,1,0=0.125"});
    const core::StoredTensor& set = part.at(weights);
    for (std::size_t place = 0; place < set.values.size(); ++place) {
      const bool is_set = place == static_cast<std::size_t>(set.shape[3]);  // [0,0,1,0]
      REQUIRE(set.values[place] == (is_set ? 0.125 : plain.at(weights).values[place]));
    }
  }
}

TEST_CASE("only what is computed can be frozen, one tensor by name", "[simulator][command_line]") {
  const Scratch scratch;
  const auto refused = [&](const std::string& tensor, const std::vector<std::string>& parts) {
    check_refused(traced(kDecoder, (scratch / "t.safetensors").string(), {"--freeze-activation=" + tensor}),
                  parts);
  };
  refused(kAttention + ".weight", {"--freeze-activation", kAttention + ".weight", "weights?"});
  refused(kAttention + ".w_query", {"--freeze-activation", "given, not computed"});
  refused("probabilities", {"--freeze-activation", "probabilities", "logits"});
  refused("loss", {"--freeze-activation", "loss", "logits"});
  refused("", {"--freeze-activation"});
  check_refused(
      run_program({"train", "--from", kDecoder, "--data", kDecoder + "/batch.tokens.json", "--full-batch",
                   "--steps", "1", "--out", (scratch / "out").string(), "--freeze-activation", "logits"}),
      {"--freeze-activation"});
}

TEST_CASE("a cell is set to a number that float has, and to no other", "[simulator][command_line]") {
  const Scratch scratch;
  const std::string out = (scratch / "t.safetensors").string(), cell = kAttention + ".scores:0,0,0,0=";
  for (const char* number : {"1e300", "-1e300", "1e39", "3.5e38", "1e999", "inf", "-inf", "nan"})
    for (const std::vector<std::string>& precision :
         std::vector<std::vector<std::string>>{{}, {"--double"}}) {
      INFO(number);
      std::vector<std::string> more{"--set", cell + number};
      more.insert(more.end(), precision.begin(), precision.end());
      check_refused(traced(kDecoder, out, more), {"--set", number, "single precision"});
    }
  for (const char* number : {"1e", "1e300x", "", "--1"})
    check_refused(traced(kDecoder, out, {"--set", cell + number}), {"--set", "TENSOR:"});
  const core::StoredTensors largest = trace(scratch, {"--set", cell + "-3.4e38"});
  CHECK(largest.at(kAttention + ".scores").values[0] == static_cast<double>(-3.4e38F));
}

TEST_CASE("a temperature keeps every number finite at both ends of its range", "[simulator][command_line]") {
  const Scratch scratch;
  for (const char* number : {"0", "-1", "9e-7", "1e-300", "1.1e6", "1e300", "inf", "nan", "warm"}) {
    INFO(number);
    check_refused(
        traced(kDecoder, (scratch / "t.safetensors").string(), {std::string("--temperature=") + number}),
        {"--temperature", number, "0.000001"});
  }
  for (const char* number : {"1e-6", "1e6"}) {
    const core::StoredTensors tensors = trace(scratch, {"--temperature", number});
    for (const auto& [name, tensor] : tensors) {
      INFO(number << " " << name);
      const bool is_masked = name.ends_with(".masked_scores") && !name.starts_with("grad.");
      CHECK(std::ranges::all_of(
          tensor.values, [&](double value) { return std::isfinite(value) || (is_masked && value < 0); }));
    }
  }
}

}  // namespace
