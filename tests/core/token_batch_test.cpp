// Token batches: reading rows, and what a row feeds and predicts.
#include "core/formats/token_batch.h"
#include "core/temporary_folder.h"

#include <catch2/catch.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using namespace headscope::core;

namespace {

using Ids = std::vector<std::int32_t>;

ModelConfig decoder() {
  ModelConfig config;
  config.vocab_size = 11;
  config.d_model = 4;
  config.d_head = 4;
  config.max_tokens = 4;
  return config;
}

ModelConfig encoder() {
  ModelConfig config = decoder();
  config.architecture = Architecture::encoder;
  config.objective = Objective::none;
  return config;
}

std::string key_of(const std::string& json) {
  const Result<TokenBatch> batch = parse_token_batch(json, "b");
  return batch ? "accepted" : batch.error().key;
}

Error feed_error(const std::vector<Ids>& rows, const ModelConfig& config) {
  const Result<FedBatch> fed = feed({.source = rows}, config, "b");
  return fed ? Error{"accepted", "b"} : fed.error();
}

}  // namespace

TEST_CASE("rows are read without the padding at their end", "[core][batch]") {
  const Result<TokenBatch> batch = parse_token_batch(R"({"source": [[3, 2, 0, 0], [], [5], [0, 0]]})", "b");
  REQUIRE(batch);
  CHECK(batch->source == std::vector<Ids>{{3, 2}, {}, {5}, {}});
}

TEST_CASE("a batch file is read from disk", "[core][batch]") {
  const headscope::tests::TemporaryFolder folder;
  headscope::tests::write_text(folder / "a.tokens.json", R"({"source": [[1]]})");
  CHECK(read_token_batch(folder / "a.tokens.json")->source == std::vector<Ids>{{1}});
  CHECK(read_token_batch(folder / "b.tokens.json").error().key == "file.missing");
}

TEST_CASE("a malformed batch is refused by name", "[core][batch]") {
  CHECK(key_of("{\"source\": [[1]]") == "json.syntax");
  CHECK(key_of(R"({"source": [[1]], "source": [[1]]})") == "json.duplicate_key");
  CHECK(key_of("[[1]]") == "batch.type");
  CHECK(key_of("{}") == "batch.key");
  CHECK(key_of(R"({"label": [1]})") == "batch.key");
  CHECK(key_of(R"({"source": 1})") == "batch.source_type");
  CHECK(key_of(R"({"source": [1]})") == "batch.row_type");
  CHECK(key_of(R"({"source": [["1"]]})") == "batch.id_type");
  CHECK(key_of(R"({"source": [[1.0]]})") == "batch.id_type");
  CHECK(key_of(R"({"source": [[null]]})") == "batch.id_type");
  CHECK(key_of(R"({"source": [[-1]]})") == "batch.id_range");
  CHECK(key_of(R"({"source": [[2147483648]]})") == "batch.id_range");
  CHECK(key_of(R"({"source": [[2147483647]]})") == "accepted");
  const Result<TokenBatch> unknown = parse_token_batch(R"({"source": [[1]], "sauce": []})", "b");
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error() == Error{"batch.unknown_key", "b", {{"key", "sauce"}}});
  const Result<TokenBatch> type = parse_token_batch(R"({"source": [[1], [2, "x"]]})", "b");
  REQUIRE_FALSE(type);
  CHECK(type.error() == Error{"batch.id_type", "b", {{"row", "1"}, {"position", "1"}}});
}

TEST_CASE("a language model's row feeds all but its last token and predicts all but its first",
          "[core][batch]") {
  const Result<FedBatch> fed = feed({.source = {{3, 5, 7, 9}, {4, 6}, {8}, {}}}, decoder(), "b");
  REQUIRE(fed);
  CHECK(fed->sizes == Sizes{4, 3, 0});
  CHECK(fed->ids == Ids{3, 5, 7, 4, 0, 0, 0, 0, 0, 0, 0, 0});
  CHECK(fed->lengths == Ids{3, 1, 0, 0});
  CHECK(fed->targets == Ids{5, 7, 9, 6, -1, -1, -1, -1, -1, -1, -1, -1});
}

TEST_CASE("without an objective a row is fed whole and predicts nothing", "[core][batch]") {
  for (const Architecture architecture : {Architecture::encoder, Architecture::decoder}) {
    ModelConfig config = encoder();
    config.architecture = architecture;
    const Result<FedBatch> fed = feed({.source = {{3, 5, 7}, {4}}}, config, "b");
    REQUIRE(fed);
    CHECK(fed->sizes == Sizes{2, 3, 0});
    CHECK(fed->ids == Ids{3, 5, 7, 4, 0, 0});
    CHECK(fed->lengths == Ids{3, 1});
    CHECK(fed->targets == Ids(6, -1));
  }
}

TEST_CASE("padding at the end of a row in memory is left out, too", "[core][batch]") {
  const Result<FedBatch> fed = feed({.source = {{3, 5, 0, 0, 0, 0, 0}}}, decoder(), "b");
  REQUIRE(fed);
  CHECK(fed->ids == Ids{3});
  CHECK(fed->targets == Ids{5});
}

TEST_CASE("what cannot be fed is refused by name", "[core][batch]") {
  CHECK(feed_error({}, decoder()).key == "batch.empty");
  CHECK(feed_error({{}, {0}}, decoder()).key == "batch.empty");
  CHECK(feed_error({{}, {}}, encoder()).key == "batch.empty");
  CHECK(feed_error({{3}, {4}}, decoder()).key == "batch.nothing_to_predict");
  CHECK(feed_error({{3}, {4}}, encoder()).key == "accepted");
  CHECK(feed_error({{3, 4}, {5, 0, 6}}, decoder()) ==
        Error{"batch.padding_inside", "b", {{"row", "1"}, {"position", "1"}}});
  CHECK(feed_error({{0, 3}}, decoder()).key == "batch.padding_inside");
  CHECK(feed_error({{3, 11}}, decoder()) ==
        Error{"batch.id_range", "b", {{"row", "0"}, {"position", "1"}, {"id", "11"}, {"highest", "10"}}});
  CHECK(feed_error({{3, -1}}, decoder()).key == "batch.id_range");
  // a language model's last token is not fed
  CHECK(feed_error({{1, 2, 3, 4, 5}}, decoder()).key == "accepted");
  CHECK(feed_error({{1}, {1, 2, 3, 4, 5, 6}}, decoder()) ==
        Error{"batch.too_long", "b", {{"row", "1"}, {"length", "5"}, {"highest", "4"}}});
  CHECK(feed_error({{1, 2, 3, 4, 5}}, encoder()).key == "batch.too_long");
}

TEST_CASE("other keys of the format are passed over where the model does not need them", "[core][batch]") {
  const Result<TokenBatch> batch = parse_token_batch(
      R"({"source": [[1, 2]], "target": [], "label": [1], "span": [], "read": [], "labels": [], "types": []})",
      "b");
  REQUIRE(batch);
  CHECK(batch->other_keys.size() == 6);
  CHECK(feed(*batch, decoder(), "b"));
  CHECK(feed(*batch, encoder(), "b"));
  const auto needed = [&batch](const ModelConfig& config) {
    const Result<FedBatch> fed = feed(*batch, config, "b");
    REQUIRE_FALSE(fed);
    CHECK(fed.error().key == "batch.unsupported_key");
    return fed.error().values.at(0).second;
  };
  ModelConfig config = encoder();
  config.objective = Objective::classification;
  CHECK(needed(config) == "label");
  config.objective = Objective::span;
  CHECK(needed(config) == "span");
  config.objective = Objective::token_classification;
  CHECK(needed(config) == "labels");
  config = decoder();
  config.n_token_types = 2;
  CHECK(needed(config) == "types");
  config.architecture = Architecture::encoder_decoder;
  CHECK(needed(config) == "target");
}

TEMPLATE_TEST_CASE("a fed batch becomes the inputs of a graph", "[core][batch]", float, double) {
  const ModelConfig config = decoder();
  const Result<Graph> graph = build_graph(config, "c");
  REQUIRE(graph);
  Workspace<TestType> workspace(*graph, {3, 4, 0});
  const Result<FedBatch> fed = feed({.source = {{3, 5, 7}, {4, 6}}}, config, "b");
  REQUIRE(fed);
  set_inputs(*graph, workspace, *fed);
  CHECK(workspace.sizes() == Sizes{2, 2, 0});
  const auto integers = [&](TensorId tensor) {
    const auto numbers = workspace.integers(tensor);
    return Ids(numbers.begin(), numbers.end());
  };
  const Inputs inputs = find_inputs(*graph);
  CHECK(integers(inputs.ids) == fed->ids);
  CHECK(integers(inputs.lengths) == fed->lengths);
  REQUIRE(inputs.targets);
  CHECK(integers(*inputs.targets) == fed->targets);
}
