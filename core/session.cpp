#include "core/session.h"

#include "core/execute.h"
#include "core/formats/model_directory.h"
#include "core/formats/token_batch.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace headscope::core {
namespace {

constexpr const char* kSentence = "sentence";  // where an error about the typed text lies

/// The longest sentence that a session takes, in fed tokens; a model may allow less.
constexpr std::int64_t kLongestSentence = 64;

/// How many numbers a model made from a seed may have with its activations: all are computed anew at every
/// change.
constexpr int kMostSeedNumbers = 50'000'000;

std::int64_t longest(const ModelConfig& config) {
  return std::min(config.max_tokens, kLongestSentence);
}

Sizes session_capacity(const ModelConfig& config) {
  // a target, where the architecture has one, is the begin token alone
  return {1, longest(config), config.architecture == Architecture::encoder_decoder ? 1 : 0};
}

/// How many words fit: what may be fed, less a begin token; a language model's last token is predicted only,
/// which is the end token where the vocabulary has one.
std::size_t word_limit(const ModelConfig& config, const Vocabulary& vocabulary) {
  const bool shifts =
      config.architecture == Architecture::decoder && config.objective == Objective::language_model;
  std::int64_t limit = longest(config) - (vocabulary.begin() ? 1 : 0);
  if (shifts && !vocabulary.end()) ++limit;
  if (!shifts && vocabulary.end()) --limit;
  return static_cast<std::size_t>(std::max<std::int64_t>(limit, 0));
}

Error edit_range(const std::string& name, std::int64_t lowest, std::int64_t highest) {
  return {"edit.range", name, {{"lowest", std::to_string(lowest)}, {"highest", std::to_string(highest)}}};
}

struct Range {
  std::int64_t lowest = 0, highest = 0;
};

/// How many there are to choose from where something is predicted.
std::int64_t n_choices(const ModelConfig& config, const Sizes& sizes) {
  switch (config.objective) {
    case Objective::language_model:
      return config.architecture == Architecture::encoder_decoder ? config.target_vocab_size
                                                                  : config.vocab_size;
    case Objective::span:
      return sizes.source;
    case Objective::classification:
    case Objective::token_classification:
      return config.n_classes;
    case Objective::none:
      break;
  }
  return 0;
}

/// What an input's cell may hold.
Range input_range(const ModelConfig& config, const Inputs& inputs, const Sizes& sizes, TensorId tensor) {
  if (tensor == inputs.targets) return {-1, n_choices(config, sizes) - 1};
  // a row without tokens has no mean and no span
  const bool needs_token =
      config.objective == Objective::classification || config.objective == Objective::span;
  if (tensor == inputs.lengths) return {needs_token ? 1 : 0, sizes.source};
  if (tensor == inputs.target_lengths) return {0, sizes.target};
  if (tensor == inputs.target_ids) return {0, config.target_vocab_size - 1};
  if (tensor == inputs.types || tensor == inputs.target_types) return {0, config.n_token_types - 1};
  if (tensor == inputs.read) return {0, sizes.source - 1};
  return {0, config.vocab_size - 1};
}

}  // namespace

bool is_same_model(const SeedModel& left, const SeedModel& right) {
  return left.config == right.config && left.vocabulary.tokens() == right.vocabulary.tokens() &&
         left.seed == right.seed && left.embedding_deviation == right.embedding_deviation;
}

Session::Session(ModelConfig config, Graph graph, Vocabulary vocabulary)
    : config_(std::move(config)),
      graph_(std::move(graph)),
      vocabulary_(std::move(vocabulary)),
      workspace_(graph_, session_capacity(config_)),
      unedited_(workspace_) {}

Result<Session> Session::make(SeedModel model, std::string sentence) {
  const std::string where = "model";
  if (Result<void> valid = validate(model.config, where); !valid) return valid.error();
  Result<Graph> graph = build_graph(model.config, where);
  if (!graph) return graph.error();
  const Sizes capacity = session_capacity(model.config);
  if (count_reals(*graph, capacity, Role::parameter) + count_reals(*graph, capacity, Role::activation) >
      kMostSeedNumbers)
    return Error{"session.too_large", where, {{"most", std::to_string(kMostSeedNumbers)}}};
  Session session(model.config, *std::move(graph), std::move(model.vocabulary));
  session.seed_ = model.seed;
  initialise_parameters(session.graph_, session.unedited_, model.seed, model.embedding_deviation);
  if (Result<void> set = session.set(std::move(sentence), {}); !set) return set.error();
  return session;
}

Result<Session> Session::open(const std::filesystem::path& directory, std::string sentence) {
  Result<StoredModel> model = read_model_directory(directory);
  if (!model) return model.error();
  if (!model->vocabulary) return Error{"session.no_vocabulary", directory.string()};
  Session session(model->config, model->graph, *model->vocabulary);
  session.warnings_ = model->warnings;
  set_parameters(*model, session.unedited_);
  if (model->target_vocabulary) session.target_begin_ = model->target_vocabulary->begin();
  if (Result<void> set = session.set(std::move(sentence), {}); !set) return set.error();
  return session;
}

Result<void> Session::set(std::string sentence, Edits edits) {
  Result<Sentence> tokens = tokenize(sentence, vocabulary_, config_.tokenizer.value_or(TokenizerConfig{}),
                                     word_limit(config_, vocabulary_));
  if (!tokens) return tokens.error();
  TokenBatch batch{{token_row(*tokens, vocabulary_)}};
  batch.target_begin = target_begin_;
  Result<FedBatch> fed = feed(batch, config_, kSentence);
  if (!fed) return fed.error();

  for (const auto& [place, value] : edits)
    if (Result<void> valid = check_edit_within(fed->sizes, place.first, place.second, value); !valid)
      return valid.error();
  set_inputs(graph_, workspace_, *fed);
  set_inputs(graph_, unedited_, *fed);
  end_ = forward_end(graph_, *fed);
  text_ = std::move(sentence);
  sentence_ = *std::move(tokens);
  edits_ = std::move(edits);
  compute();
  return {};
}

void Session::compute() {
  for (std::uint32_t index = 0; index < graph_.n_tensors(); ++index)
    if (graph_.spec({index}).role == Role::parameter)
      std::ranges::copy(unedited_.values({index}), workspace_.values({index}).begin());
  for (const auto& [place, value] : edits_) {
    const auto& [tensor, cell] = place;
    const auto at = static_cast<std::size_t>(workspace_.shape(tensor).flat(cell));
    if (graph_.spec(tensor).element == Element::real)
      workspace_.values(tensor)[at] = static_cast<float>(value);
    else
      workspace_.integers(tensor)[at] = static_cast<std::int32_t>(value);
  }
  run_forward(graph_, workspace_);

  positions_.clear();
  const TensorId ids = find_inputs(graph_).ids;
  const std::size_t n_before = vocabulary_.begin() ? 1 : 0;
  const std::span<const std::int32_t> fed = std::as_const(workspace_).integers(ids);
  for (std::size_t position = 0; position < fed.size(); ++position) {
    const std::size_t word = position - n_before;
    const bool is_typed =
        position >= n_before && word < sentence_.tokens.size() && sentence_.tokens[word].id == fed[position];
    positions_.push_back(is_typed ? sentence_.tokens[word]
                                  : Token{vocabulary_.token(fed[position]), fed[position],
                                          vocabulary_.is_spare(fed[position])});
  }
}

double Session::unedited_value(TensorId tensor, const Cell& cell) const {
  const auto at = static_cast<std::size_t>(unedited_.shape(tensor).flat(cell));
  return graph_.spec(tensor).element == Element::real ? static_cast<double>(unedited_.values(tensor)[at])
                                                      : unedited_.integers(tensor)[at];
}

Result<void> Session::check_edit(TensorId tensor, const Cell& cell, double value) const {
  return check_edit_within(workspace_.sizes(), tensor, cell, value);
}

Result<void> Session::check_edit_within(const Sizes& sizes, TensorId tensor, const Cell& cell,
                                        double value) const {
  const TensorSpec& spec = graph_.spec(tensor);
  if (spec.role == Role::activation) return Error{"edit.activation", spec.name};
  if (!bind(spec.shape, sizes).contains(cell)) return Error{"edit.no_such_cell", spec.name};
  if (!std::isfinite(value) || !std::isfinite(static_cast<float>(value)))
    return Error{"edit.not_finite", spec.name};
  if (spec.element == Element::real) return {};
  const auto [lowest, highest] = input_range(config_, find_inputs(graph_), sizes, tensor);
  if (value != std::floor(value) || value < static_cast<double>(lowest) ||
      value > static_cast<double>(highest))
    return edit_range(spec.name, lowest, highest);
  return {};
}

}  // namespace headscope::core
