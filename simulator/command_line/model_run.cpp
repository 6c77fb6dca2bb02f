// Reads what --model, --text and --batch name.
#include "simulator/command_line/model_run.h"

#include "core/tokenizer.h"
#include "simulator/command_line/intervention_options.h"
#include "simulator/terminal/text_layout.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <ostream>

namespace headscope::simulator {
namespace {

constexpr int kMostNumbers = 1 << 28;  // at once; a trace takes up to 16 bytes for each

struct NamedBatch {
  core::TokenBatch batch;
  std::string where;
  std::vector<std::string> unknown_words;
};

/// The tokens of an option's text; unknown words are noted.
core::Result<std::vector<std::int32_t>> row_of_text(const std::string& text, const std::string& option,
                                                    const core::Vocabulary& vocabulary,
                                                    const core::ModelConfig& config, NamedBatch& named) {
  // no limit here: feed() refuses what is too long, where a window would cut it with a message
  const core::Result<core::Sentence> sentence =
      core::tokenize(text, vocabulary, config.tokenizer.value_or(core::TokenizerConfig{}),
                     std::numeric_limits<std::size_t>::max());
  if (!sentence)
    return core::Error{.key = sentence.error().key, .where = option, .values = sentence.error().values};
  for (const core::Token& token : sentence->tokens)
    if (token.is_unknown) named.unknown_words.push_back(token.text);
  return core::token_row(*sentence, vocabulary);
}

/// An option that this model has no use for: it would be passed over in silence.
std::optional<core::Error> find_useless(const ModelInput& input, const core::ModelConfig& config) {
  const bool has_span = config.objective == core::Objective::span;
  const std::pair<const char*, bool> options[] = {
      {"--target-text", input.target_text && config.architecture != core::Architecture::encoder_decoder},
      {"--label", input.label && config.objective != core::Objective::classification},
      {"--span", input.span && !has_span},
      {"--read", input.read && !(has_span && config.span_reader == core::SpanReader::pointer)}};
  for (const auto& [option, is_useless] : options)
    if (is_useless)
      return core::Error{.key = "arguments.not_for_model", .where = "", .values = {{"option", option}}};
  return std::nullopt;
}

core::Result<NamedBatch> batch_of_text(const core::StoredModel& model, const ModelInput& input) {
  if (std::optional<core::Error> useless = find_useless(input, model.config)) return *std::move(useless);
  if (!model.vocabulary) return core::Error{.key = "session.no_vocabulary", .where = input.model.string()};
  NamedBatch named{.batch = {}, .where = "--text", .unknown_words = {}};
  core::Result<std::vector<std::int32_t>> source =
      row_of_text(*input.text, "--text", *model.vocabulary, model.config, named);
  if (!source) return source.error();
  named.batch.source = {*std::move(source)};
  if (input.target_text) {
    if (!model.target_vocabulary)
      return core::Error{.key = "session.no_vocabulary", .where = input.model.string()};
    core::Result<std::vector<std::int32_t>> target =
        row_of_text(*input.target_text, "--target-text", *model.target_vocabulary, model.config, named);
    if (!target) return target.error();
    named.batch.target = {*std::move(target)};
  } else if (model.target_vocabulary) {
    named.batch.target_begin = model.target_vocabulary->begin();
  }
  if (input.label) named.batch.label = {*input.label};
  if (input.span) named.batch.span = {*input.span};
  if (input.read) named.batch.read = {*input.read};
  return named;
}

core::Result<NamedBatch> batch_of_file(const std::filesystem::path& path) {
  core::Result<core::TokenBatch> batch = core::read_token_batch(path);
  if (!batch) return batch.error();
  return NamedBatch{.batch = *std::move(batch), .where = path.string(), .unknown_words = {}};
}

/// A key that a batch lacks, as the option that gives it beside --text.
core::Error for_input(const core::Error& error, const ModelInput& input) {
  if (!input.text || error.key != "batch.key") return error;
  const std::string& key = error.values.at(0).second;
  if (key == "labels") return {.key = "arguments.no_labels", .where = ""};
  return {.key = "arguments.text_lacks",
          .where = "",
          .values = {{"option", key == "target" ? "--target-text" : "--" + key}}};
}

}  // namespace

core::Result<void> check_size(const core::Graph& graph, const core::Sizes& sizes, Keeps keeps,
                              const std::string& where) {
  double numbers = core::count_reals(graph, sizes, core::Role::activation);
  // a gradient for each number, and two moments for each parameter
  if (keeps == Keeps::training)
    numbers = 2 * numbers + 3 * core::count_reals(graph, sizes, core::Role::parameter);
  if (numbers <= kMostNumbers) return {};
  return core::Error{
      .key = "batch.too_large", .where = where, .values = {{"most", std::to_string(kMostNumbers)}}};
}

core::Result<ModelAndBatch> read_model_and_batch(const ModelInput& input, Keeps keeps) {
  core::Result<core::StoredModel> model = core::read_model_directory(input.model);
  if (!model) return model.error();
  core::Result<core::Graph> graph = core::build_graph(model->config, input.model.string(), input.graph);
  if (!graph) return graph.error();
  model->graph = *std::move(graph);
  core::Result<NamedBatch> named = input.text ? batch_of_text(*model, input) : batch_of_file(*input.batch);
  if (!named) return named.error();
  core::Result<core::FedBatch> fed = core::feed(named->batch, model->config, named->where);
  if (!fed) return for_input(fed.error(), input);
  if (core::Result<void> fits = check_size(model->graph, fed->sizes, keeps, named->where); !fits)
    return fits.error();
  core::Result<core::Interventions> interventions =
      intervene(input.interventions, *model, *fed, input.precision);
  if (!interventions) return interventions.error();
  return ModelAndBatch{.model = *std::move(model),
                       .batch = *std::move(fed),
                       .interventions = *std::move(interventions),
                       .unknown_words = std::move(named->unknown_words)};
}

core::Result<void> require_loss(const ModelAndBatch& loaded, const ModelInput& input) {
  const std::string where = input.text ? "--text" : input.batch->string();
  const core::Result<void> required = core::require_targets(loaded.batch, loaded.model.config, where);
  if (!required) return for_input(required.error(), input);
  return {};
}

void print_warnings(const core::StoredModel& model, const CommandContext& context) {
  for (const core::Error& warning : model.warnings)
    context.errors << context.text.text("command.warning", {{"warning", context.text.error(warning)}})
                   << "\n";
}

void print_warnings(const ModelAndBatch& loaded, const CommandContext& context) {
  print_warnings(loaded.model, context);
  if (loaded.unknown_words.empty()) return;
  std::string words;
  constexpr std::size_t kMostColumns = 60;  // of a word
  for (const std::string& word : loaded.unknown_words)
    words += (words.empty() ? "" : ", ") + terminal::shorten(word, kMostColumns);
  context.errors << context.text.text("command.unknown_words", {{"words", words}}) << "\n";
}

}  // namespace headscope::simulator
