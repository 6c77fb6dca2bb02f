// config.json: every key's type, range and combinations, and writing it again.
#include "core/config_names.h"
#include "core/formats/model_directory.h"
#include "core/model.h"

#include <catch2/catch.hpp>

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace headscope::core;

namespace {

using Keys = std::map<std::string, std::string>;  // key to JSON value

/// A decoder with every required key.
Keys decoder() {
  return {{"format", "\"headscope-model\""},
          {"version", "1"},
          {"architecture", "\"decoder\""},
          {"objective", "\"language_model\""},
          {"vocab_size", "11"},
          {"d_model", "8"},
          {"n_heads", "2"},
          {"n_layers", "2"},
          {"d_ff", "12"},
          {"max_tokens", "9"},
          {"positions", "\"learned\""},
          {"norm", "\"pre\""},
          {"activation", "\"gelu\""},
          {"bias", "true"}};
}

Keys with(Keys keys, const Keys& changes) {
  for (const auto& [key, value] : changes) keys[key] = value;
  return keys;
}

Keys without(Keys keys, const std::string& key) {
  keys.erase(key);
  return keys;
}

Keys classifier() {
  return with(decoder(), {{"architecture", "\"encoder\""},
                          {"objective", "\"classification\""},
                          {"pooling", "\"first\""},
                          {"n_classes", "3"}});
}

Keys translator() {
  return with(decoder(), {{"architecture", "\"encoder-decoder\""}, {"target_vocab_size", "13"}});
}

std::string text(const Keys& keys) {
  std::string json;
  for (const auto& [key, value] : keys)
    json.append(json.empty() ? "{" : ",").append("\"").append(key).append("\":").append(value);
  return json + "}";
}

/// The error's key and what it says of `name`: "config.range d_model"; or "accepted".
std::string outcome(const Keys& keys) {
  const Result<ModelConfig> config = parse_config(text(keys), "config.json");
  if (config) return "accepted";
  CHECK(config.error().where == "config.json");
  std::string result = config.error().key;
  for (const auto& [name, value] : config.error().values)
    if (name == "key") result += " " + value;
  return result;
}

ModelConfig parse(const Keys& keys) {
  const Result<ModelConfig> config = parse_config(text(keys), "config.json");
  if (!config) FAIL(config.error().key << " in " << text(keys));
  return *config;
}

}  // namespace

TEST_CASE("a configuration is read key by key", "[core][config]") {
  const ModelConfig config = parse(with(decoder(), {{"d_head", "5"},
                                                    {"norm_eps", "0.001"},
                                                    {"embedding_norm", "true"},
                                                    {"n_token_types", "2"},
                                                    {"scale_scores", "false"},
                                                    {"tokenizer", R"({"kind":"word","lower_case":true})"}}));
  CHECK(config.architecture == Architecture::decoder);
  CHECK(config.objective == Objective::language_model);
  CHECK(config.vocab_size == 11);
  CHECK(config.target_vocab_size == 0);
  CHECK(config.d_model == 8);
  CHECK(config.n_heads == 2);
  CHECK(config.d_head == 5);
  CHECK(config.n_layers == 2);
  CHECK(config.d_ff == 12);
  CHECK(config.max_tokens == 9);
  CHECK(config.positions == Positions::learned);
  CHECK(config.norm == Norm::pre);
  CHECK(config.norm_eps == 0.001);
  CHECK(config.embedding_norm);
  CHECK(config.n_token_types == 2);
  CHECK(config.activation == Activation::gelu);
  CHECK(config.bias);
  CHECK_FALSE(config.scale_scores);
  REQUIRE(config.tokenizer);
  CHECK(*config.tokenizer == TokenizerConfig{"word", true});
}

TEST_CASE("keys that are left out have the format's defaults", "[core][config]") {
  const ModelConfig config = parse(decoder());
  CHECK(config.d_head == 4);  // d_model / n_heads
  CHECK(config.norm_eps == 1e-5);
  CHECK_FALSE(config.embedding_norm);
  CHECK(config.n_token_types == 0);
  CHECK(config.scale_scores);
  CHECK(config.n_outputs == 1);
  CHECK(config.span_reader == SpanReader::token);
  CHECK_FALSE(config.tokenizer);
}

TEST_CASE("every spelling of a name is read", "[core][config]") {
  CHECK(parse(classifier()).pooling == Pooling::first);
  CHECK(parse(with(classifier(), {{"pooling", "\"mean\""}})).pooling == Pooling::mean);
  CHECK(parse(translator()).architecture == Architecture::encoder_decoder);
  CHECK(parse(with(decoder(), {{"positions", "\"sinusoidal\""}})).positions == Positions::sinusoidal);
  CHECK(parse(with(decoder(), {{"positions", "\"relative\""}})).positions == Positions::relative);
  CHECK(parse(with(decoder(), {{"positions", "\"none\""}})).positions == Positions::none);
  CHECK(parse(with(decoder(), {{"norm", "\"post\""}})).norm == Norm::post);
  CHECK(parse(with(decoder(), {{"norm", "\"none\""}})).norm == Norm::none);
  CHECK(parse(with(decoder(), {{"activation", "\"relu\""}})).activation == Activation::relu);
  CHECK(parse(with(decoder(), {{"activation", "\"gelu_tanh\""}})).activation == Activation::gelu_tanh);
  const Keys span = with(decoder(), {{"architecture", "\"encoder\""}, {"objective", "\"span\""}});
  CHECK(parse(with(span, {{"span_reader", "\"pointer\""}})).span_reader == SpanReader::pointer);
  for (const std::string_view kind : {"word", "wordpiece", "byte_bpe"}) {
    const std::string tokenizer = "{\"kind\":\"" + std::string(kind) + "\",\"file\":\"vocab.txt\"}";
    CHECK(parse(with(decoder(), {{"tokenizer", tokenizer}})).tokenizer->kind == kind);
  }
  CHECK(spelling(Architecture::encoder_decoder) == "encoder-decoder");
  CHECK(spelling(Objective::none) == "none");
  CHECK(parse_spelling<Norm>("Pre") == std::nullopt);
}

TEST_CASE("another format or version is refused by name", "[core][config]") {
  CHECK(outcome(without(decoder(), "format")) == "config.key_missing format");
  CHECK(outcome(without(decoder(), "version")) == "config.key_missing version");
  CHECK(outcome(with(decoder(), {{"format", "\"other\""}})) == "config.format");
  CHECK(outcome(with(decoder(), {{"format", "1"}})) == "config.format");
  CHECK(outcome(with(decoder(), {{"version", "\"1\""}})) == "config.not_integer version");
  CHECK(outcome(with(decoder(), {{"version", "1.0"}})) == "config.not_integer version");
  const Result<ModelConfig> newer = parse_config(text(with(decoder(), {{"version", "2"}})), "c");
  REQUIRE_FALSE(newer);
  CHECK(newer.error() == Error{"config.version", "c", {{"value", "2"}, {"expected", "1"}}});
  // what a newer version means by its keys is not ours to judge
  CHECK(outcome(with(decoder(), {{"version", "2"}, {"d_model", "\"x\""}})) == "config.version");
}

TEST_CASE("a key without a default must be there", "[core][config]") {
  for (const char* key : {"architecture", "objective", "vocab_size", "d_model", "n_heads", "n_layers", "d_ff",
                          "max_tokens", "positions", "norm", "activation", "bias"})
    CHECK(outcome(without(decoder(), key)) == "config.key_missing " + std::string(key));
  CHECK(outcome(without(classifier(), "n_classes")) == "config.key_missing n_classes");
  CHECK(outcome(without(classifier(), "pooling")) == "config.key_missing pooling");
  CHECK(outcome(without(translator(), "target_vocab_size")) == "config.key_missing target_vocab_size");
  CHECK(outcome(with(decoder(), {{"tokenizer", "{}"}})) == "config.key_missing tokenizer.kind");
  // no feed-forward, no activation
  CHECK(outcome(with(without(decoder(), "activation"), {{"d_ff", "0"}})) == "accepted");
}

TEST_CASE("a key of a wrong type is refused by name", "[core][config]") {
  const auto check = [](const std::string& key, const std::string& value, const std::string& error) {
    INFO(key << ": " << value);
    CHECK(outcome(with(decoder(), {{key, value}})) == error + " " + key);
  };
  for (const char* key : {"vocab_size", "target_vocab_size", "d_model", "n_heads", "d_head", "n_layers",
                          "d_ff", "max_tokens", "n_token_types", "n_classes", "n_outputs"})
    for (const char* value : {"\"8\"", "8.0", "true", "null", "[8]", "99999999999999999999"})
      check(key, value, "config.not_integer");
  for (const char* key : {"embedding_norm", "bias", "scale_scores"})
    for (const char* value : {"1", "\"true\"", "null"}) check(key, value, "config.not_boolean");
  for (const char* key :
       {"architecture", "objective", "positions", "norm", "activation", "pooling", "span_reader"}) {
    check(key, "1", "config.not_text");
    check(key, "null", "config.not_text");
    check(key, "\"other\"", "config.value");
  }
  check("norm_eps", "\"1e-5\"", "config.not_number");
  check("tokenizer", "\"word\"", "config.not_object");
  CHECK(outcome(with(decoder(), {{"tokenizer", R"({"kind":1})"}})) == "config.not_text tokenizer.kind");
  CHECK(outcome(with(decoder(), {{"tokenizer", R"({"kind":"x"})"}})) == "config.value tokenizer.kind");
  CHECK(outcome(with(decoder(), {{"tokenizer", R"({"kind":"word","lower_case":0})"}})) ==
        "config.not_boolean tokenizer.lower_case");
}

TEST_CASE("an unknown name is refused with those that are allowed", "[core][config]") {
  const Result<ModelConfig> config = parse_config(text(with(decoder(), {{"norm", "\"layer\""}})), "c");
  REQUIRE_FALSE(config);
  CHECK(config.error() ==
        Error{"config.value", "c", {{"key", "norm"}, {"value", "layer"}, {"allowed", "pre, post, none"}}});
}

TEST_CASE("sizes out of range are refused by name", "[core][config]") {
  for (const char* key :
       {"vocab_size", "d_model", "n_heads", "d_head", "n_layers", "max_tokens", "n_outputs"})
    for (const char* value : {"0", "-1", "-9223372036854775808", "9223372036854775807"}) {
      INFO(key << ": " << value);
      CHECK(outcome(with(decoder(), {{key, value}})) == "config.range " + std::string(key));
    }
  for (const char* key : {"d_ff", "n_token_types", "n_classes"}) {
    CHECK(outcome(with(decoder(), {{key, "-1"}})) == "config.range " + std::string(key));
    CHECK(outcome(with(decoder(), {{key, "0"}})) == "accepted");
  }
  CHECK(outcome(with(classifier(), {{"n_classes", "0"}})) == "config.range n_classes");
  CHECK(outcome(with(translator(), {{"target_vocab_size", "0"}})) == "config.range target_vocab_size");
  for (const char* value : {"0", "-1e-5", "0.0"})
    CHECK(outcome(with(decoder(), {{"norm_eps", value}})) == "config.norm_eps");
  CHECK(outcome(with(decoder(), {{"norm_eps", "1"}})) == "accepted");
}

TEST_CASE("sizes that are allowed each but make too large a model are refused", "[core][config]") {
  // 2^20 rows of 2^11 numbers are 2^31
  CHECK(outcome(with(decoder(), {{"vocab_size", "1048576"}, {"d_model", "2048"}})) ==
        "config.too_many_parameters");
  CHECK(outcome(with(decoder(), {{"d_model", "1048576"}, {"n_heads", "1048576"}})) ==
        "config.too_many_parameters");
  CHECK(outcome(with(decoder(), {{"d_ff", "1048576"}, {"d_model", "1024"}})) == "config.too_many_parameters");
  CHECK(outcome(with(decoder(), {{"vocab_size", "50000"},
                                 {"d_model", "768"},
                                 {"n_heads", "12"},
                                 {"d_ff", "3072"},
                                 {"n_layers", "12"}})) == "accepted");
}

TEST_CASE("d_head defaults to d_model / n_heads, which must then divide", "[core][config]") {
  const Result<ModelConfig> config = parse_config(text(with(decoder(), {{"n_heads", "3"}})), "c");
  REQUIRE_FALSE(config);
  CHECK(config.error() == Error{"config.d_head", "c", {{"d_model", "8"}, {"n_heads", "3"}}});
  CHECK(parse(with(decoder(), {{"n_heads", "3"}, {"d_head", "4"}})).d_head == 4);
}

TEST_CASE("each architecture allows its own objectives", "[core][config]") {
  const std::map<std::string, std::string> allowed = {
      {"encoder", "classification, span, token_classification, none"},
      {"decoder", "language_model, token_classification, none"},
      {"encoder-decoder", "language_model, none"}};
  for (const auto& [architecture, objectives] : allowed)
    for (const std::string_view objective : spellings<Objective>()) {
      INFO(architecture << " for " << objective);
      Keys keys = with(classifier(), {{"architecture", "\"" + architecture + "\""},
                                      {"objective", "\"" + std::string(objective) + "\""}});
      if (architecture == "encoder-decoder") keys["target_vocab_size"] = "13";
      const bool is_allowed =
          (", " + objectives + ",").find(", " + std::string(objective) + ",") != std::string::npos;
      CHECK(outcome(keys) == (is_allowed ? "accepted" : "config.objective"));
    }
}

TEST_CASE("only an encoder-decoder has a target vocabulary", "[core][config]") {
  CHECK(outcome(with(decoder(), {{"target_vocab_size", "13"}})) == "config.target_vocab_size");
  CHECK(outcome(with(decoder(), {{"target_vocab_size", "0"}})) == "accepted");
  CHECK(outcome(translator()) == "accepted");
}

TEST_CASE("keys that no version knows yet are passed over", "[core][config]") {
  CHECK(parse(with(decoder(), {{"made_by", "\"someone\""}, {"notes", "[1, {}]"}})) == parse(decoder()));
}

TEST_CASE("text that is not a JSON object is refused with its place", "[core][config]") {
  const auto error = [](const std::string& text) { return parse_config(text, "c").error(); };
  CHECK(error("[]").key == "config.not_an_object");
  CHECK(error("").key == "json.syntax");
  CHECK(error("{\n  \"format\": x\n}") == Error{"json.syntax", "c", {{"line", "2"}, {"column", "13"}}});
  CHECK(error("{} {}") == Error{"json.syntax", "c", {{"line", "1"}, {"column", "4"}}});
  CHECK(error(std::string("{}\n\0{", 5)) == Error{"json.syntax", "c", {{"line", "2"}, {"column", "1"}}});
  CHECK(error(R"({"d_model": 1, "d_model": 2})") == Error{"json.duplicate_key", "c", {{"key", "d_model"}}});
  CHECK(error("{\"a\":" + std::string(100'000, '[')).key == "json.too_deep");
}

TEST_CASE("a configuration that is written reads back equal", "[core][config]") {
  for (const Keys& keys :
       {decoder(), classifier(), translator(),
        with(decoder(), {{"d_head", "3"},
                         {"norm_eps", "0.1"},
                         {"embedding_norm", "true"},
                         {"n_token_types", "4"},
                         {"scale_scores", "false"},
                         {"bias", "false"},
                         {"tokenizer", R"({"kind":"byte_bpe","lower_case":true})"}}),
        with(decoder(), {{"architecture", "\"encoder\""},
                         {"objective", "\"span\""},
                         {"span_reader", "\"pointer\""},
                         {"positions", "\"relative\""}}),
        with(classifier(), {{"objective", "\"token_classification\""}, {"n_outputs", "4"}})}) {
    const ModelConfig config = parse(keys);
    INFO(format_config(config));
    const Result<ModelConfig> again = parse_config(format_config(config), "again");
    REQUIRE(again);
    CHECK(*again == config);
  }
}

TEST_CASE("a configuration from elsewhere than a file is validated alike", "[core][config]") {
  ModelConfig config = parse(decoder());
  CHECK(validate(config, "lesson"));
  config.d_head = 0;  // only config.json may leave it out
  CHECK(validate(config, "lesson").error().key == "config.range");
  CHECK(validate(ModelConfig{}, "lesson").error() ==
        Error{"config.range",
              "lesson",
              {{"key", "vocab_size"}, {"value", "0"}, {"lowest", "1"}, {"highest", "16777216"}}});
}
