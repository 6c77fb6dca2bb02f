// Token batches: reading every key, what a row feeds and predicts for each objective, and every refusal.
#include "core/formats/token_batch.h"
#include "core/temporary_folder.h"

#include <catch2/catch.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

using namespace headscope::core;

namespace {

using Ids = std::vector<std::int32_t>;
using Labels = std::vector<std::vector<Ids>>;

ModelConfig decoder() {
  ModelConfig config;
  config.vocab_size = 11;
  config.d_model = 4;
  config.d_head = 4;
  config.max_tokens = 4;
  config.n_classes = 3;
  return config;
}

ModelConfig encoder(Objective objective = Objective::none) {
  ModelConfig config = decoder();
  config.architecture = Architecture::encoder;
  config.objective = objective;
  return config;
}

ModelConfig pointer() {
  ModelConfig config = encoder(Objective::span);
  config.span_reader = SpanReader::pointer;
  return config;
}

ModelConfig labeller(std::int64_t n_outputs) {
  ModelConfig config = encoder(Objective::token_classification);
  config.n_outputs = n_outputs;
  return config;
}

ModelConfig translator() {
  ModelConfig config = decoder();
  config.architecture = Architecture::encoder_decoder;
  config.target_vocab_size = 13;
  return config;
}

Error parse_error(const std::string& json) {
  const Result<TokenBatch> batch = parse_token_batch(json, "b");
  return batch ? Error{"accepted", "b"} : batch.error();
}

/// What feeding gives, or one test failure.
FedBatch fed(const TokenBatch& batch, const ModelConfig& config) {
  const Result<FedBatch> result = feed(batch, config, "b");
  if (!result) FAIL(result.error().key);
  return *result;
}

Error feed_error(const TokenBatch& batch, const ModelConfig& config) {
  const Result<FedBatch> result = feed(batch, config, "b");
  return result ? Error{"accepted", "b"} : result.error();
}

Error rows_error(const std::vector<Ids>& rows, const ModelConfig& config) {
  return feed_error(TokenBatch{.source = rows}, config);
}

}  // namespace

TEST_CASE("rows are read without the padding at their end", "[core][batch]") {
  const Result<TokenBatch> batch = parse_token_batch(
      R"({"source": [[3, 2, 0, 0], [], [5], [0, 0]], "target": [[1, 0], [], [2], [0]]})", "b");
  REQUIRE(batch);
  CHECK(batch->source == std::vector<Ids>{{3, 2}, {}, {5}, {}});
  CHECK(batch->target == std::vector<Ids>{{1}, {}, {2}, {}});
}

TEST_CASE("every key of a batch is read as written", "[core][batch]") {
  const Result<TokenBatch> batch = parse_token_batch(
      R"({"types": [[0, 1, 0]], "labels": [[[1, -1], [0, 2]], []], "read": [1], "span": [[0, 2]],
          "label": [2, -7], "target": [[4]], "source": [[1]]})",
      "b");
  REQUIRE(batch);
  CHECK(*batch == TokenBatch{.source = {{1}},
                             .target = {{4}},
                             .label = {2, -7},
                             .span = {{0, 2}},
                             .read = {1},
                             .labels = {{{1, -1}, {0, 2}}, {}},
                             .types = {{0, 1, 0}}});
}

TEST_CASE("a batch file is read from disk", "[core][batch]") {
  const headscope::tests::TemporaryFolder folder;
  headscope::tests::write_text(folder / "a.tokens.json", R"({"source": [[1]]})");
  CHECK(read_token_batch(folder / "a.tokens.json")->source == std::vector<Ids>{{1}});
  CHECK(read_token_batch(folder / "b.tokens.json").error().key == "file.missing");
}

TEST_CASE("a malformed batch is refused by name", "[core][batch]") {
  const auto key_of = [](const std::string& json) { return parse_error(json).key; };
  CHECK(key_of("{\"source\": [[1]]") == "json.syntax");
  CHECK(key_of(R"({"source": [[1]], "source": [[1]]})") == "json.duplicate_key");
  CHECK(key_of("[[1]]") == "batch.type");
  CHECK(key_of("{}") == "batch.key");
  CHECK(key_of(R"({"label": [1]})") == "batch.key");
  CHECK(parse_error(R"({"source": [[1]], "sauce": []})") ==
        Error{"batch.unknown_key", "b", {{"key", "sauce"}}});
  CHECK(key_of(R"({"source": [[2147483647]]})") == "accepted");
}

TEST_CASE("a value of a wrong type is refused with its key and place, in every list", "[core][batch]") {
  const auto with = [](const std::string& key, const std::string& value) {
    return key == "source" ? "{\"source\": " + value + "}"
                           : "{\"source\": [[1]], \"" + key + "\": " + value + "}";
  };
  for (const std::string key : {"source", "target", "types", "label", "read", "span", "labels"})
    for (const char* value : {"1", "null", "{}", "\"x\""}) {
      INFO(key << ": " << value);
      CHECK(parse_error(with(key, value)) == Error{"batch.list_type", "b", {{"key", key}}});
    }
  for (const std::string key : {"source", "target", "types", "labels"})
    for (const char* value : {"[[], 1]", "[[], null]"}) {
      INFO(key << ": " << value);
      CHECK(parse_error(with(key, value)) == Error{"batch.row_type", "b", {{"key", key}, {"row", "1"}}});
    }
  for (const std::string key : {"source", "target", "types"})
    for (const char* value : {"[[], [1, \"1\"]]", "[[], [1, 1.0]]", "[[], [1, null]]"}) {
      INFO(key << ": " << value);
      CHECK(parse_error(with(key, value)) ==
            Error{"batch.number_type", "b", {{"key", key}, {"row", "1"}, {"position", "1"}}});
    }
  for (const std::string key : {"label", "read"})
    for (const char* value : {"[1, 1.5]", "[1, [1]]", "[1, null]"}) {
      INFO(key << ": " << value);
      CHECK(parse_error(with(key, value)) ==
            Error{"batch.row_number_type", "b", {{"key", key}, {"row", "1"}}});
    }
  for (const char* value : {"[[0, 1], 1]", "[[0, 1], []]", "[[0, 1], [1]]", "[[0, 1], [1, 2, 3]]",
                            "[[0, 1], [1, null]]", "[[0, 1], [1.0, 2]]"}) {
    INFO("span: " << value);
    CHECK(parse_error(with("span", value)) == Error{"batch.span_type", "b", {{"key", "span"}, {"row", "1"}}});
  }
  CHECK(parse_error(with("labels", "[[], [[1], 1]]")) ==
        Error{"batch.labels_type", "b", {{"key", "labels"}, {"row", "1"}, {"position", "1"}}});
  CHECK(parse_error(with("labels", "[[], [[1], [\"1\"]]]")) ==
        Error{"batch.number_type", "b", {{"key", "labels"}, {"row", "1"}, {"position", "1"}}});
}

TEST_CASE("a number that no id or label can be is refused with its key and place", "[core][batch]") {
  for (const std::string key : {"source", "target"})
    for (const std::string id : {"-1", "2147483648"}) {
      const std::string rows = "[[1], [3, " + id + "]]";
      const std::string text = key == "source" ? "{\"source\": " + rows + "}"
                                               : "{\"source\": [[1], [1]], \"target\": " + rows + "}";
      CHECK(parse_error(text) ==
            Error{"batch.id_range",
                  "b",
                  {{"key", key}, {"row", "1"}, {"position", "1"}, {"id", id}, {"highest", "2147483647"}}});
    }
  for (const std::string number : {"-2147483649", "2147483648"}) {
    const auto key_of = [&](const std::string& key, const std::string& before, const std::string& after) {
      return parse_error("{\"source\": [[1]], \"" + key + "\": " + before + number + after + "}").key;
    };
    CHECK(key_of("types", "[[", "]]") == "batch.number_range");
    CHECK(key_of("labels", "[[[", "]]]") == "batch.number_range");
    CHECK(key_of("label", "[", "]") == "batch.row_range");
    CHECK(key_of("read", "[", "]") == "batch.row_range");
    CHECK(key_of("span", "[[0, ", "]]") == "batch.row_range");
  }
}

TEST_CASE("a language model's row feeds all but its last token and predicts all but its first",
          "[core][batch]") {
  const FedBatch batch = fed({.source = {{3, 5, 7, 9}, {4, 6}, {8}, {}}}, decoder());
  CHECK(batch.sizes == Sizes{4, 3, 0});
  CHECK(batch.ids == Ids{3, 5, 7, 4, 0, 0, 0, 0, 0, 0, 0, 0});
  CHECK(batch.lengths == Ids{3, 1, 0, 0});
  CHECK(batch.targets == Ids{5, 7, 9, 6, -1, -1, -1, -1, -1, -1, -1, -1});
  CHECK(batch.has_targets);
}

TEST_CASE("a translation feeds its source whole and its target but for the last token", "[core][batch]") {
  const FedBatch batch =
      fed({.source = {{3, 5}, {}, {4}}, .target = {{1, 12, 2}, {1, 2}, {1}}}, translator());
  CHECK(batch.sizes == Sizes{3, 2, 2});
  CHECK(batch.ids == Ids{3, 5, 0, 0, 4, 0});
  CHECK(batch.lengths == Ids{2, 0, 1});
  CHECK(batch.target_ids == Ids{1, 12, 1, 0, 0, 0});
  CHECK(batch.target_lengths == Ids{2, 1, 0});
  CHECK(batch.targets == Ids{12, 2, 2, -1, -1, -1});
  CHECK(batch.has_targets);
  // all source rows may be empty: one column of padding stands for them
  const FedBatch empty = fed({.source = {{}}, .target = {{1, 2}}}, translator());
  CHECK(empty.sizes == Sizes{1, 1, 1});
  CHECK(empty.lengths == Ids{0});
}

TEST_CASE("without a target a translation is fed its begin token and predicts nothing", "[core][batch]") {
  TokenBatch batch{.source = {{3, 5}, {4}}, .target_begin = 1};
  FedBatch begun = fed(batch, translator());
  CHECK(begun.target_ids == Ids{1, 1});
  CHECK(begun.target_lengths == Ids{1, 1});
  CHECK(begun.targets == Ids{-1, -1});
  CHECK_FALSE(begun.has_targets);
  batch.target = {{1, 9, 2}, {1, 2}};
  begun = fed(batch, translator());
  CHECK(begun.targets == Ids{9, 2, 2, -1});
  CHECK(begun.has_targets);
}

TEST_CASE("a class is fed for each row", "[core][batch]") {
  const FedBatch batch = fed({.source = {{3, 5}, {4}}, .label = {2, 0}}, encoder(Objective::classification));
  CHECK(batch.sizes == Sizes{2, 2, 0});
  CHECK(batch.targets == Ids{2, 0});
  CHECK(batch.has_targets);
}

TEST_CASE("a span is fed as its two positions, a pointer with where it reads", "[core][batch]") {
  const TokenBatch batch{.source = {{3, 5, 6}, {4}}, .span = {{1, 2}, {0, 0}}, .read = {2, 0}};
  CHECK(fed(batch, encoder(Objective::span)).targets == Ids{1, 2, 0, 0});
  CHECK(fed(batch, encoder(Objective::span)).read.empty());
  CHECK(fed(batch, pointer()).targets == Ids{1, 2, 0, 0});
  CHECK(fed(batch, pointer()).read == Ids{2, 0});
}

TEST_CASE("labels are fed for each output of each position, -1 where nothing is scored", "[core][batch]") {
  const TokenBatch batch{.source = {{3, 5, 6}, {}, {4}},
                         .labels = {{{1, -1}, {0, 2}}, {}, {{-1, 1}, {-1, -1}}}};
  for (const Architecture architecture : {Architecture::encoder, Architecture::decoder}) {
    ModelConfig config = labeller(2);
    config.architecture = architecture;
    const FedBatch result = fed(batch, config);
    CHECK(result.sizes == Sizes{3, 3, 0});  // without the shift of a language model
    CHECK(result.ids == Ids{3, 5, 6, 0, 0, 0, 4, 0, 0});
    CHECK(result.targets == Ids{1, -1, 0, 2, -1, -1, -1, -1, -1, -1, -1, -1, -1, 1, -1, -1, -1, -1});
    CHECK(result.has_targets);
  }
}

TEST_CASE("labels may be padded further than the rows, by -1 alone", "[core][batch]") {
  const Labels wide = {{{1}, {2}, {-1}, {-1}, {-1}, {-1}, {-1}}};
  CHECK(fed({.source = {{3, 5}}, .labels = wide}, labeller(1)).targets == Ids{1, 2});
}

TEST_CASE("types are 0 unless given", "[core][batch]") {
  ModelConfig config = encoder();
  config.n_token_types = 3;
  CHECK(fed({.source = {{3, 5}, {4}}}, config).types == Ids{0, 0, 0, 0});
  CHECK(fed({.source = {{3, 5}, {4}}, .types = {{1, 2, 0}, {}}}, config).types == Ids{1, 2, 0, 0});
  config = decoder();
  config.n_token_types = 3;  // the last token is not fed, nor is its type
  CHECK(fed({.source = {{3, 5, 6}}, .types = {{1, 2, 2}}}, config).types == Ids{1, 2});
  CHECK(fed({.source = {{3, 5}}, .types = {{1, 1}}}, encoder()).types.empty());
}

TEST_CASE("without an objective a row is fed whole and predicts nothing", "[core][batch]") {
  for (const Architecture architecture : {Architecture::encoder, Architecture::decoder}) {
    ModelConfig config = encoder();
    config.architecture = architecture;
    const FedBatch batch = fed({.source = {{3, 5, 7}, {4}}}, config);
    CHECK(batch.sizes == Sizes{2, 3, 0});
    CHECK(batch.ids == Ids{3, 5, 7, 4, 0, 0});
    CHECK(batch.lengths == Ids{3, 1});
    CHECK(batch.targets.empty());
    CHECK_FALSE(batch.has_targets);
  }
  ModelConfig config = translator();
  config.objective = Objective::none;
  CHECK(fed({.source = {{3}}, .target = {{1, 5, 2}}}, config).target_ids == Ids{1, 5, 2});
}

TEST_CASE("padding at the end of a row in memory is left out, too", "[core][batch]") {
  const FedBatch batch = fed({.source = {{3, 5, 0, 0, 0, 0, 0}}}, decoder());
  CHECK(batch.ids == Ids{3});
  CHECK(batch.targets == Ids{5});
  CHECK(feed_error(TokenBatch{.source = {{3, 5, 0}}, .span = {{0, 2}}}, encoder(Objective::span)).key ==
        "batch.on_padding");
}

TEST_CASE("what cannot be fed is refused by name", "[core][batch]") {
  CHECK(rows_error({}, decoder()).key == "batch.empty");
  CHECK(rows_error({{}, {0}}, decoder()).key == "batch.empty");
  CHECK(rows_error({{}, {}}, encoder()).key == "batch.empty");
  CHECK(feed_error(TokenBatch{}, translator()).key == "batch.empty");
  CHECK(rows_error({{3}, {4}}, encoder()).key == "accepted");
  CHECK(rows_error({{3, 4}, {5, 0, 6}}, decoder()) ==
        Error{"batch.padding_inside", "b", {{"key", "source"}, {"row", "1"}, {"position", "1"}}});
  CHECK(rows_error({{0, 3}}, decoder()).key == "batch.padding_inside");
  CHECK(rows_error({{3, 11}}, decoder()) ==
        Error{"batch.id_range",
              "b",
              {{"key", "source"}, {"row", "0"}, {"position", "1"}, {"id", "11"}, {"highest", "10"}}});
  CHECK(rows_error({{3, -1}}, decoder()).key == "batch.id_range");
  // a language model's last token is not fed
  CHECK(rows_error({{1, 2, 3, 4, 5}}, decoder()).key == "accepted");
  CHECK(rows_error({{1}, {1, 2, 3, 4, 5, 6}}, decoder()) ==
        Error{"batch.too_long", "b", {{"key", "source"}, {"row", "1"}, {"length", "5"}, {"highest", "4"}}});
  CHECK(rows_error({{1, 2, 3, 4, 5}}, encoder()).key == "batch.too_long");
  // nor is that of a target, while a translation's source is fed whole
  CHECK(feed_error({.source = {{1}}, .target = {{1, 2, 3, 4, 5}}}, translator()).key == "accepted");
  CHECK(feed_error({.source = {{1}}, .target = {{1, 2, 3, 4, 5, 6}}}, translator()).values.at(0).second ==
        "target");
  CHECK(feed_error({.source = {{1, 2, 3, 4, 5}}, .target = {{1, 2}}}, translator()).key == "batch.too_long");
  // each side has its own vocabulary
  CHECK(feed_error({.source = {{1}}, .target = {{12, 12}}}, translator()).key == "accepted");
  CHECK(feed_error({.source = {{1}}, .target = {{12, 13}}}, translator()).key == "batch.id_range");
  CHECK(feed_error({.source = {{1}}, .target = {{12, 0, 1}}}, translator()).key == "batch.padding_inside");
  CHECK(feed_error({.source = {{1}}, .target_begin = 13}, translator()).key == "batch.id_range");
}

TEST_CASE("a batch that padding makes huge is refused before memory is taken", "[core][batch]") {
  const auto ragged = [](std::size_t n_rows, std::size_t longest) {  // one long row makes all as long
    std::vector<Ids> rows(n_rows, Ids{1});
    rows.back() = Ids(longest, 1);
    return rows;
  };
  const Error too_large{"batch.too_large", "b", {{"most", "4194304"}}};
  ModelConfig long_encoder = encoder(), long_translator = translator(), long_labeller = labeller(3);
  for (ModelConfig* config : {&long_encoder, &long_translator, &long_labeller}) config->max_tokens = 4096;
  CHECK(rows_error(ragged(1024, 4096), long_encoder).key == "accepted");
  CHECK(rows_error(ragged(1025, 4096), long_encoder) == too_large);
  CHECK(feed_error({.source = ragged(1025, 4096), .target_begin = 1}, long_translator) == too_large);
  CHECK(feed_error({.source = ragged(1100, 1), .target = ragged(1100, 4096)}, long_translator) == too_large);
  // every position has as many labels as the model has outputs
  CHECK(rows_error(ragged(341, 4096), long_labeller).key == "accepted");
  CHECK(rows_error(ragged(342, 4096), long_labeller) == too_large);
}

TEST_CASE("a batch with nothing to predict is refused", "[core][batch]") {
  CHECK(rows_error({{3}, {4}}, decoder()).key == "batch.nothing_to_predict");
  CHECK(feed_error({.source = {{3}, {4}}, .target = {{1}, {}}}, translator()).key ==
        "batch.nothing_to_predict");
  CHECK(feed_error({.source = {{3, 4}}, .labels = {{{-1}, {-1}}}}, labeller(1)).key ==
        "batch.nothing_to_predict");
  CHECK(feed_error({.source = {{3, 4}}, .labels = {{}}}, labeller(1)).key == "batch.nothing_to_predict");
}

TEST_CASE("a row without tokens is refused where each row is read as one", "[core][batch]") {
  for (const ModelConfig& config : {encoder(Objective::classification), encoder(Objective::span), pointer()})
    CHECK(feed_error({.source = {{3}, {0}}, .label = {0, 0}, .span = {{0, 0}, {0, 0}}, .read = {0, 0}},
                     config) == Error{"batch.empty_row", "b", {{"key", "source"}, {"row", "1"}}});
  CHECK(feed_error({.source = {{3}, {}}, .labels = {{{0}}, {}}}, labeller(1)).key == "accepted");
}

TEST_CASE("a list of another number of rows is refused", "[core][batch]") {
  const std::vector<Ids> source = {{3}, {4}};
  const auto check = [](const TokenBatch& batch, const ModelConfig& config, const std::string& key) {
    CHECK(feed_error(batch, config) ==
          Error{"batch.rows", "b", {{"key", key}, {"rows", "1"}, {"expected", "2"}}});
  };
  check({.source = source, .target = {{1, 2}}}, translator(), "target");
  check({.source = source, .label = {0}}, encoder(Objective::classification), "label");
  check({.source = source, .span = {{0, 0}}}, encoder(Objective::span), "span");
  check({.source = source, .span = {{0, 0}, {0, 0}}, .read = {0}}, pointer(), "read");
  check({.source = source, .labels = {{{0}}}}, labeller(1), "labels");
  ModelConfig config = encoder();
  config.n_token_types = 2;
  check({.source = source, .types = {{1}}}, config, "types");
}

TEST_CASE("a number that the model does not have is refused with its key and place", "[core][batch]") {
  const std::vector<Ids> source = {{3}, {4, 5}};
  for (const std::int32_t label : {-1, 3})
    CHECK(feed_error({.source = source, .label = {0, label}}, encoder(Objective::classification)) ==
          Error{"batch.row_range",
                "b",
                {{"key", "label"},
                 {"row", "1"},
                 {"value", std::to_string(label)},
                 {"lowest", "0"},
                 {"highest", "2"}}});
  for (const std::int32_t label : {-2, 3})
    CHECK(feed_error({.source = source, .labels = {{}, {{0}, {label}}}}, labeller(1)) ==
          Error{"batch.number_range",
                "b",
                {{"key", "labels"},
                 {"row", "1"},
                 {"position", "1"},
                 {"value", std::to_string(label)},
                 {"lowest", "-1"},
                 {"highest", "2"}}});
  ModelConfig config = encoder();
  config.n_token_types = 2;
  for (const std::int32_t type : {-1, 2})
    CHECK(feed_error({.source = source, .types = {{}, {0, type}}}, config).key == "batch.number_range");
  CHECK(feed_error({.source = source, .span = {{0, 0}, {-1, 1}}}, encoder(Objective::span)) ==
        Error{"batch.row_range",
              "b",
              {{"key", "span"}, {"row", "1"}, {"value", "-1"}, {"lowest", "0"}, {"highest", "1"}}});
  CHECK(feed_error({.source = source, .read = {0, -1}}, pointer()).key == "batch.row_range");
}

TEST_CASE("what speaks of padding is refused with its key and place", "[core][batch]") {
  const std::vector<Ids> source = {{4, 5, 6}, {3, 2}};
  const auto padding = [](const std::string& key) {
    return Error{"batch.on_padding", "b", {{"key", key}, {"row", "1"}, {"position", "2"}, {"length", "2"}}};
  };
  CHECK(feed_error({.source = source, .span = {{0, 0}, {0, 2}}}, encoder(Objective::span)) ==
        padding("span"));
  CHECK(feed_error({.source = source, .span = {{0, 0}, {2, 2}}}, encoder(Objective::span)) ==
        padding("span"));
  CHECK(feed_error({.source = source, .read = {2, 2}}, pointer()) == padding("read"));
  CHECK(feed_error({.source = source, .labels = {{}, {{0}, {0}, {0}}}}, labeller(1)) == padding("labels"));
  ModelConfig config = encoder();
  config.n_token_types = 2;
  CHECK(feed_error({.source = source, .types = {{}, {0, 0, 1}}}, config) == padding("types"));
}

TEST_CASE("a span that ends before it starts is refused", "[core][batch]") {
  CHECK(feed_error({.source = {{3, 4}}, .span = {{1, 0}}}, encoder(Objective::span)) ==
        Error{"batch.span_reversed", "b", {{"key", "span"}, {"row", "0"}, {"start", "1"}, {"end", "0"}}});
}

TEST_CASE("a position has a label for each output", "[core][batch]") {
  const Labels one = {{{0}}}, three = {{{0, 0, 0}}};
  for (const Labels& labels : {one, three})
    CHECK(feed_error({.source = {{3}}, .labels = labels}, labeller(2)) ==
          Error{"batch.n_outputs",
                "b",
                {{"key", "labels"},
                 {"row", "0"},
                 {"position", "0"},
                 {"count", std::to_string(labels[0][0].size())},
                 {"expected", "2"}}});
}

TEST_CASE("other keys of the format are passed over where the model does not need them", "[core][batch]") {
  const Result<TokenBatch> batch = parse_token_batch(
      R"({"source": [[1, 2]], "target": [[99], []], "label": [77], "span": [[9, 1]], "read": [88],
          "labels": [[[5]]], "types": [[66]]})",
      "b");
  REQUIRE(batch);
  CHECK(feed(*batch, decoder(), "b"));
  CHECK(feed(*batch, encoder(), "b"));
}

TEST_CASE("without what the objective predicts a batch has no targets", "[core][batch]") {
  for (const ModelConfig& config :
       {encoder(Objective::classification), encoder(Objective::span), labeller(2)}) {
    const FedBatch batch = fed({.source = {{1, 2}, {3}}}, config);
    CHECK_FALSE(batch.has_targets);
    CHECK_FALSE(batch.targets.empty());
    for (const std::int32_t target : batch.targets) CHECK(target == -1);
    const Result<Graph> graph = build_graph(config, "c");
    REQUIRE(graph);
    const std::size_t end = forward_end(*graph, batch);
    CHECK(result(graph->operations()[end - 1]) == *graph->find("probabilities"));
    CHECK(end < graph->operations().size());
  }
  const FedBatch batch = fed({.source = {{1, 2}}}, decoder());
  const Result<Graph> graph = build_graph(decoder(), "c");
  CHECK(forward_end(*graph, batch) == graph->operations().size());
  // what is needed before anything is predicted
  CHECK(feed_error({.source = {{1, 2}}}, pointer()) == Error{"batch.key", "b", {{"key", "read"}}});
  CHECK(feed_error({.source = {{1, 2}}}, translator()) == Error{"batch.key", "b", {{"key", "target"}}});
}

TEST_CASE("a loss needs targets", "[core][batch]") {
  const auto outcome = [](const TokenBatch& batch, const ModelConfig& config) {
    const Result<void> required = require_targets(fed(batch, config), config, "b");
    if (required) return std::string("accepted");
    const Error& error = required.error();
    return error.key + (error.values.empty() ? "" : " " + error.values[0].second);
  };
  const TokenBatch bare{.source = {{1, 2}}, .target_begin = 1};
  CHECK(outcome(bare, decoder()) == "accepted");
  CHECK(outcome(bare, encoder()) == "batch.no_objective");
  CHECK(outcome(bare, encoder(Objective::classification)) == "batch.key label");
  CHECK(outcome(bare, encoder(Objective::span)) == "batch.key span");
  CHECK(outcome(bare, labeller(1)) == "batch.key labels");
  CHECK(outcome(bare, translator()) == "batch.key target");
  CHECK(outcome({.source = {{1}}, .label = {0}}, encoder(Objective::classification)) == "accepted");
}

TEMPLATE_TEST_CASE("a fed batch becomes the inputs of a graph", "[core][batch]", float, double) {
  const auto check = [](const TokenBatch& batch, const ModelConfig& config, const Sizes& capacity) {
    const Result<Graph> graph = build_graph(config, "c");
    REQUIRE(graph);
    Workspace<TestType> workspace(*graph, capacity);
    const FedBatch result = fed(batch, config);
    set_inputs(*graph, workspace, result);
    CHECK(workspace.sizes() == result.sizes);
    const auto integers = [&](const std::optional<TensorId>& tensor) {
      if (!tensor) return Ids();
      const auto numbers = workspace.integers(*tensor);
      return Ids(numbers.begin(), numbers.end());
    };
    const Inputs inputs = find_inputs(*graph);
    CHECK(integers(inputs.ids) == result.ids);
    CHECK(integers(inputs.lengths) == result.lengths);
    CHECK(integers(inputs.types) == result.types);
    CHECK(integers(inputs.target_ids) == result.target_ids);
    CHECK(integers(inputs.target_lengths) == result.target_lengths);
    CHECK(integers(inputs.target_types) == Ids(integers(inputs.target_types).size(), 0));
    CHECK(integers(inputs.read) == result.read);
    CHECK(integers(inputs.targets) == result.targets);
  };
  check({.source = {{3, 5, 7}, {4, 6}}}, decoder(), {3, 4, 0});
  ModelConfig config = translator();
  config.n_token_types = 2;
  check({.source = {{3, 5, 7}, {4, 6}}, .target = {{1, 3}, {1, 4, 2}}, .types = {{0, 1}, {1}}}, config,
        {3, 4, 4});
  check({.source = {{3, 5}, {4}}, .label = {1, 2}}, encoder(Objective::classification), {2, 4, 0});
  check({.source = {{3, 5}, {4}}, .span = {{0, 1}, {0, 0}}, .read = {1, 0}}, pointer(), {2, 4, 0});
  check({.source = {{3, 5}, {4}}, .labels = {{{0, 1}, {2, -1}}, {}}}, labeller(2), {2, 4, 0});
}
