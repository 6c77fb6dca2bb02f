// config.json: text to ModelConfig and back. Ranges and combinations are validate()'s
// (core/config_check.cpp).
#include "core/config_names.h"
#include "core/formats/json.h"
#include "core/formats/json_members.h"
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

/// The keys without a default are required where they mean something.
void read_keys(JsonMembers& members, ModelConfig& config) {
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
  members.read_object("tokenizer", [&config](JsonMembers& tokenizer) {
    config.tokenizer.emplace();
    tokenizer.read_required("kind", config.tokenizer->kind);
    tokenizer.read("lower_case", config.tokenizer->lower_case);
  });
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

}  // namespace

Result<ModelConfig> parse_config(const std::string& text, const std::string& where) {
  const Result<Json> json = parse_json(text, where);
  if (!json) return json.error();
  const JsonObject* object = json->object();
  if (!object) return Error{"config.not_an_object", where};
  if (std::optional<Error> error = check_format(*object, kFormat, kVersion, where)) return std::move(*error);

  ModelConfig config;
  JsonMembers members(*object, where);
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
  JsonLines writer;
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
