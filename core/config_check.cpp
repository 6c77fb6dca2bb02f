// validate(): ranges and combinations of a model's configuration, whoever made it (a file, a lesson, a test).
#include "core/config_names.h"
#include "core/model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

namespace headscope::core {

namespace {

constexpr std::int64_t kMaxWidth = 1 << 20;  // of a vector; keeps every product below in range
constexpr std::int64_t kMaxRows = 1 << 24;   // of a vocabulary
constexpr std::int64_t kMaxTokens = 1 << 16;
constexpr std::int64_t kMaxLayers = 1000;  // each adds a dozen operations to the graph
constexpr double kMaxParameters = 0x1.0p31;

struct Range {
  std::string_view key;
  std::int64_t value, lowest, highest;
};

Error range_error(const Range& range, const std::string& where) {
  return {"config.range",
          where,
          {{"key", std::string(range.key)},
           {"value", std::to_string(range.value)},
           {"lowest", std::to_string(range.lowest)},
           {"highest", std::to_string(range.highest)}}};
}

std::optional<Error> check_ranges(const ModelConfig& config, const std::string& where) {
  const bool has_target = config.architecture == Architecture::encoder_decoder;
  const bool has_classes =
      config.objective == Objective::classification || config.objective == Objective::token_classification;
  const std::array ranges = {
      Range{"vocab_size", config.vocab_size, 1, kMaxRows},
      Range{"target_vocab_size", config.target_vocab_size, has_target ? 1 : 0, kMaxRows},
      Range{"d_model", config.d_model, 1, kMaxWidth},
      Range{"n_heads", config.n_heads, 1, kMaxWidth},
      Range{"d_head", config.d_head, 1, kMaxWidth},
      Range{"n_layers", config.n_layers, 1, kMaxLayers},
      Range{"d_ff", config.d_ff, 0, kMaxWidth},
      Range{"max_tokens", config.max_tokens, 1, kMaxTokens},
      Range{"n_token_types", config.n_token_types, 0, kMaxRows},
      Range{"n_classes", config.n_classes, has_classes ? 1 : 0, kMaxRows},
      Range{"n_outputs", config.n_outputs, 1, kMaxWidth},
  };
  for (const Range& range : ranges)
    if (range.value < range.lowest || range.value > range.highest) return range_error(range, where);
  // it is added in float, where a smaller number would be 0
  if (!std::isfinite(config.norm_eps) || config.norm_eps < double{std::numeric_limits<float>::min()})
    return Error{"config.norm_eps", where};
  return std::nullopt;
}

/// What each architecture can be trained for; `none` is every one's, too.
std::vector<Objective> objectives(Architecture architecture) {
  switch (architecture) {
    case Architecture::encoder:
      return {Objective::classification, Objective::span, Objective::token_classification, Objective::none};
    case Architecture::decoder:
      return {Objective::language_model, Objective::token_classification, Objective::none};
    case Architecture::encoder_decoder:
      return {Objective::language_model, Objective::none};
  }
  return {};
}

std::optional<Error> check_combinations(const ModelConfig& config, const std::string& where) {
  std::vector<std::string_view> allowed;
  bool is_allowed = false;
  for (const Objective objective : objectives(config.architecture)) {
    allowed.push_back(spelling(objective));
    is_allowed = is_allowed || objective == config.objective;
  }
  if (!is_allowed)
    return Error{"config.objective",
                 where,
                 {{"architecture", std::string(spelling(config.architecture))},
                  {"objective", std::string(spelling(config.objective))},
                  {"allowed", join(allowed)}}};
  if (config.target_vocab_size != 0 && config.architecture != Architecture::encoder_decoder)
    return Error{
        "config.target_vocab_size", where, {{"architecture", std::string(spelling(config.architecture))}}};
  constexpr std::array<std::string_view, 3> kTokenizers = {"word", "wordpiece", "byte_bpe"};
  if (config.tokenizer &&
      std::find(kTokenizers.begin(), kTokenizers.end(), config.tokenizer->kind) == kTokenizers.end())
    return Error{
        "config.value",
        where,
        {{"key", "tokenizer.kind"}, {"value", config.tokenizer->kind}, {"allowed", join(kTokenizers)}}};
  return std::nullopt;
}

/// How many numbers the parameters hold, biases and norms left out: those never outweigh the matrices. In
/// double, since only the magnitude matters and no product can overflow.
double count_parameters(const ModelConfig& config) {
  const auto real = [](std::int64_t size) { return static_cast<double>(size); };
  const double d_model = real(config.d_model), d_concat = real(config.n_heads) * real(config.d_head);
  const double n_stacks = config.architecture == Architecture::encoder_decoder ? 2 : 1;
  const double n_attentions = n_stacks == 2 ? 3 : 1;  // of one layer: encoder, decoder, cross
  const double relative =
      config.positions == Positions::relative ? real(config.n_heads) * 2 * real(config.max_tokens) : 0;
  const double rows = real(config.vocab_size) + real(config.target_vocab_size) +
                      n_stacks * (real(config.n_token_types) +
                                  (config.positions == Positions::learned ? real(config.max_tokens) : 0));
  double n_out = 0;
  if (config.objective == Objective::language_model)
    n_out = real(config.architecture == Architecture::encoder_decoder ? config.target_vocab_size
                                                                      : config.vocab_size);
  if (config.objective == Objective::classification) n_out = real(config.n_classes);
  if (config.objective == Objective::token_classification)
    n_out = real(config.n_outputs) * real(config.n_classes);
  if (config.objective == Objective::span)
    n_out = 2 * (config.span_reader == SpanReader::pointer ? d_model : 1);
  const double layer =
      n_attentions * (4 * d_model * d_concat + relative) + n_stacks * 2 * d_model * real(config.d_ff);
  return rows * d_model + real(config.n_layers) * layer + d_model * n_out;
}

}  // namespace

Result<void> validate(const ModelConfig& config, const std::string& where) {
  if (std::optional<Error> error = check_ranges(config, where)) return std::move(*error);
  if (std::optional<Error> error = check_combinations(config, where)) return std::move(*error);
  if (count_parameters(config) >= kMaxParameters) return Error{"config.too_many_parameters", where};
  return {};
}

}  // namespace headscope::core
