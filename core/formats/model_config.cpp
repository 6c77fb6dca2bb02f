// config.json: text to ModelConfig and back. Ranges and combinations are validate()'s
// (core/config_check.cpp).
#include "core/config_names.h"
#include "core/formats/json.h"
#include "core/formats/model_directory.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace headscope::core {

namespace {

constexpr std::string_view kFormat = "headscope-model";
constexpr std::int64_t kVersion = 1;

/// Reads members of one object into fields, and keeps the first error: later reads then do nothing.
class Members {
 public:
  /// `prefix` names the object in errors: "tokenizer." for its members, empty for the file's own.
  Members(const JsonObject& object, const std::string& where, std::string prefix)
      : object_(object), where_(where), prefix_(std::move(prefix)) {}

  const std::optional<Error>& error() const { return error_; }
  bool has(std::string_view key) const { return find_member(object_, key) != nullptr; }

  void require(std::string_view key) {
    if (!has(key)) fail("config.key_missing", key);
  }

  template <class Field>
  void read(std::string_view key, Field& field) {
    const Json* json = find_member(object_, key);
    if (json && !error_) assign(key, *json, field);
  }

  template <class Field>
  void read_required(std::string_view key, Field& field) {
    require(key);
    read(key, field);
  }

 private:
  void fail(std::string error, std::string_view key,
            std::vector<std::pair<std::string, std::string>> values = {}) {
    if (error_) return;
    values.insert(values.begin(), {"key", prefix_ + std::string(key)});
    error_ = Error{std::move(error), where_, std::move(values)};
  }

  void assign(std::string_view key, const Json& json, std::int64_t& field) {
    if (!json.integer()) return fail("config.not_integer", key);
    field = *json.integer();
  }
  void assign(std::string_view key, const Json& json, double& field) {
    const double* real = std::get_if<double>(&json.value);
    if (!real && !json.integer()) return fail("config.not_number", key);
    field = real ? *real : static_cast<double>(*json.integer());
  }
  void assign(std::string_view key, const Json& json, bool& field) {
    if (!json.boolean()) return fail("config.not_boolean", key);
    field = *json.boolean();
  }
  void assign(std::string_view key, const Json& json, std::string& field) {
    if (!json.text()) return fail("config.not_text", key);
    field = *json.text();
  }
  template <class E>
  void assign(std::string_view key, const Json& json, E& field) {
    std::string text;
    assign(key, json, text);
    if (error_) return;
    const std::optional<E> value = parse_spelling<E>(text);
    if (!value) return fail("config.value", key, {{"value", text}, {"allowed", join(spellings<E>())}});
    field = *value;
  }
  void assign(std::string_view key, const Json& json, std::optional<TokenizerConfig>& field) {
    if (!json.object()) return fail("config.not_object", key);
    Members members(*json.object(), where_, std::string(key) + ".");
    TokenizerConfig tokenizer;
    members.read_required("kind", tokenizer.kind);
    members.read("lower_case", tokenizer.lower_case);
    error_ = members.error();
    field = std::move(tokenizer);
  }

  const JsonObject& object_;
  const std::string& where_;
  std::string prefix_;
  std::optional<Error> error_;
};

/// A number or a text as the file's author wrote it; empty for anything else.
std::string shown(const Json* json) {
  if (json && json->text()) return *json->text();
  if (json && json->integer()) return std::to_string(*json->integer());
  return {};
}

/// Whether the file is of this format and version: all other keys may mean something else otherwise.
std::optional<Error> check_format(const JsonObject& object, const std::string& where) {
  const Json* format = find_member(object, "format");
  const Json* version = find_member(object, "version");
  if (!format) return Error{"config.key_missing", where, {{"key", "format"}}};
  if (!format->text() || *format->text() != kFormat)
    return Error{"config.format", where, {{"value", shown(format)}, {"expected", std::string(kFormat)}}};
  if (!version) return Error{"config.key_missing", where, {{"key", "version"}}};
  if (!version->integer()) return Error{"config.not_integer", where, {{"key", "version"}}};
  if (*version->integer() != kVersion)
    return Error{
        "config.version", where, {{"value", shown(version)}, {"expected", std::to_string(kVersion)}}};
  return std::nullopt;
}

/// The keys without a default are required where they mean something.
void read_keys(Members& members, ModelConfig& config) {
  members.read_required("architecture", config.architecture);
  members.read_required("objective", config.objective);
  members.read_required("vocab_size", config.vocab_size);
  if (config.architecture == Architecture::encoder_decoder) members.require("target_vocab_size");
  members.read("target_vocab_size", config.target_vocab_size);
  members.read_required("d_model", config.d_model);
  members.read_required("n_heads", config.n_heads);
  members.read("d_head", config.d_head);
  members.read_required("n_layers", config.n_layers);
  members.read_required("d_ff", config.d_ff);
  members.read_required("max_tokens", config.max_tokens);
  members.read_required("positions", config.positions);
  members.read_required("norm", config.norm);
  members.read("norm_eps", config.norm_eps);
  members.read("embedding_norm", config.embedding_norm);
  members.read("n_token_types", config.n_token_types);
  members.read("tokenizer", config.tokenizer);
  if (config.d_ff > 0) members.require("activation");
  members.read("activation", config.activation);
  members.read_required("bias", config.bias);
  members.read("scale_scores", config.scale_scores);
  if (config.objective == Objective::classification) members.require("pooling");
  members.read("pooling", config.pooling);
  const bool has_classes =
      config.objective == Objective::classification || config.objective == Objective::token_classification;
  if (has_classes) members.require("n_classes");
  members.read("n_classes", config.n_classes);
  members.read("n_outputs", config.n_outputs);
  members.read("span_reader", config.span_reader);
}

/// Collects the lines of a JSON object.
class Writer {
 public:
  void add(std::string_view key, const std::string& value) {
    text_.append(text_.empty() ? "{\n" : ",\n").append("  \"").append(key).append("\": ").append(value);
  }
  void add_text(std::string_view key, std::string_view value) { add(key, quote_json(std::string(value))); }
  void add_integer(std::string_view key, std::int64_t value) { add(key, std::to_string(value)); }
  void add_boolean(std::string_view key, bool value) { add(key, std::string(value ? "true" : "false")); }
  std::string finish() { return text_ + "\n}\n"; }

 private:
  std::string text_;
};

}  // namespace

Result<ModelConfig> parse_config(const std::string& text, const std::string& where) {
  const Result<Json> json = parse_json(text, where);
  if (!json) return json.error();
  const JsonObject* object = json->object();
  if (!object) return Error{"config.not_an_object", where};
  if (std::optional<Error> error = check_format(*object, where)) return std::move(*error);

  ModelConfig config;
  Members members(*object, where, "");
  read_keys(members, config);
  if (members.error()) return *members.error();
  const bool is_split = !members.has("d_head");  // d_model is split between the heads
  if (is_split)
    config.d_head = config.n_heads > 0 ? std::max<std::int64_t>(config.d_model / config.n_heads, 1) : 1;
  if (Result<void> valid = validate(config, where); !valid) return valid.error();
  if (is_split && config.d_model % config.n_heads != 0)
    return Error{"config.d_head",
                 where,
                 {{"d_model", std::to_string(config.d_model)}, {"n_heads", std::to_string(config.n_heads)}}};
  return config;
}

std::string format_config(const ModelConfig& config) {
  Writer writer;
  writer.add_text("format", kFormat);
  writer.add_integer("version", kVersion);
  writer.add_text("architecture", spelling(config.architecture));
  writer.add_text("objective", spelling(config.objective));
  writer.add_integer("vocab_size", config.vocab_size);
  if (config.architecture == Architecture::encoder_decoder)
    writer.add_integer("target_vocab_size", config.target_vocab_size);
  writer.add_integer("d_model", config.d_model);
  writer.add_integer("n_heads", config.n_heads);
  writer.add_integer("d_head", config.d_head);
  writer.add_integer("n_layers", config.n_layers);
  writer.add_integer("d_ff", config.d_ff);
  writer.add_integer("max_tokens", config.max_tokens);
  writer.add_text("positions", spelling(config.positions));
  writer.add_text("norm", spelling(config.norm));
  writer.add("norm_eps", format_number(config.norm_eps));
  writer.add_boolean("embedding_norm", config.embedding_norm);
  writer.add_integer("n_token_types", config.n_token_types);
  if (config.tokenizer)
    writer.add("tokenizer", "{\"kind\": " + quote_json(config.tokenizer->kind) + ", \"lower_case\": " +
                                (config.tokenizer->lower_case ? "true" : "false") + "}");
  writer.add_text("activation", spelling(config.activation));
  writer.add_boolean("bias", config.bias);
  writer.add_boolean("scale_scores", config.scale_scores);
  writer.add_text("pooling", spelling(config.pooling));
  writer.add_integer("n_classes", config.n_classes);
  writer.add_integer("n_outputs", config.n_outputs);
  writer.add_text("span_reader", spelling(config.span_reader));
  return writer.finish();
}

}  // namespace headscope::core
