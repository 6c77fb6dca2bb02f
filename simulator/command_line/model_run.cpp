// Reads what --model, --text and --batch name.
#include "simulator/command_line/model_run.h"

#include "core/tokenizer.h"
#include "simulator/terminal/text_layout.h"

#include <limits>
#include <ostream>

namespace headscope::simulator {
namespace {

constexpr int kMostNumbers = 1 << 28;  // activations; a trace takes 16 bytes for each

struct NamedBatch {
  core::TokenBatch batch;
  std::string where;
  std::vector<std::string> unknown_words;
};

core::Result<NamedBatch> batch_of_text(const core::StoredModel& model, const ModelInput& input) {
  if (!model.vocabulary) return core::Error{.key = "session.no_vocabulary", .where = input.model.string()};
  // no limit here: feed() refuses what is too long, where a window would cut it with a message
  const core::Result<core::Sentence> sentence =
      core::tokenize(*input.text, *model.vocabulary, model.config.tokenizer.value_or(core::TokenizerConfig{}),
                     std::numeric_limits<std::size_t>::max());
  if (!sentence)
    return core::Error{.key = sentence.error().key, .where = "--text", .values = sentence.error().values};
  NamedBatch named{.batch = {.source = {core::token_row(*sentence, *model.vocabulary)}},
                   .where = "--text",
                   .unknown_words = {}};
  for (const core::Token& token : sentence->tokens)
    if (token.is_unknown) named.unknown_words.push_back(token.text);
  return named;
}

core::Result<NamedBatch> batch_of_file(const std::filesystem::path& path) {
  core::Result<core::TokenBatch> batch = core::read_token_batch(path);
  if (!batch) return batch.error();
  return NamedBatch{.batch = *std::move(batch), .where = path.string(), .unknown_words = {}};
}

}  // namespace

core::Result<ModelAndBatch> read_model_and_batch(const ModelInput& input) {
  core::Result<core::StoredModel> model = core::read_model_directory(input.model);
  if (!model) return model.error();
  const core::Result<NamedBatch> named =
      input.text ? batch_of_text(*model, input) : batch_of_file(*input.batch);
  if (!named) return named.error();
  core::Result<core::FedBatch> fed = core::feed(named->batch, model->config, named->where);
  if (!fed) return fed.error();
  if (core::count_reals(model->graph, fed->sizes, core::Role::activation) > kMostNumbers)
    return core::Error{
        .key = "batch.too_large", .where = named->where, .values = {{"most", std::to_string(kMostNumbers)}}};
  return ModelAndBatch{
      .model = *std::move(model), .batch = *std::move(fed), .unknown_words = named->unknown_words};
}

void print_warnings(const ModelAndBatch& loaded, const CommandContext& context) {
  for (const core::Error& warning : loaded.model.warnings)
    context.errors << context.text.text("command.warning", {{"warning", context.text.error(warning)}})
                   << "\n";
  if (loaded.unknown_words.empty()) return;
  std::string words;
  constexpr std::size_t kMostColumns = 60;  // of a word
  for (const std::string& word : loaded.unknown_words)
    words += (words.empty() ? "" : ", ") + terminal::shorten(word, kMostColumns);
  context.errors << context.text.text("command.unknown_words", {{"words", words}}) << "\n";
}

}  // namespace headscope::simulator
