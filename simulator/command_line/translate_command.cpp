// headscope translate: a sentence through an encoder-decoder, word by word.
#include "core/decode.h"
#include "core/formats/model_directory.h"
#include "core/tasks/sentence_text.h"
#include "core/tokenizer.h"
#include "simulator/command_line/commands.h"
#include "simulator/command_line/model_run.h"
#include "simulator/command_line/train_report.h"

#include <cctype>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace headscope::simulator {
namespace {

core::Result<core::Sentence> words_of(const std::string& text, const core::StoredModel& model) {
  return core::tokenize(text, *model.vocabulary, model.config.tokenizer.value_or(core::TokenizerConfig{}),
                        static_cast<std::size_t>(model.config.max_tokens));
}

}  // namespace

core::Result<void> run(const TranslateCommand& command, const CommandContext& context) {
  const core::Result<core::StoredModel> model = core::read_model_directory(command.model);
  if (!model) return model.error();
  const std::string where = command.model.string();
  if (model->config.architecture != core::Architecture::encoder_decoder)
    return core::Error{.key = "translate.no_decoder", .where = where};
  if (!model->vocabulary || !model->target_vocabulary)
    return core::Error{.key = "session.no_vocabulary", .where = where};
  const core::Vocabulary& target = *model->target_vocabulary;
  if (!target.begin() || !target.end()) return core::Error{.key = "translate.no_marks", .where = where};
  print_warnings(*model, context);
  core::Result<core::Sentence> sentence = words_of(command.text, *model);
  // as people write it: with a capital at its beginning
  if (!sentence && !command.text.empty() && std::isupper(static_cast<unsigned char>(command.text.front()))) {
    std::string lowered = command.text;
    lowered.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(lowered.front())));
    if (core::Result<core::Sentence> again = words_of(lowered, *model); again) sentence = std::move(again);
  }
  if (!sentence) {
    core::Error error = sentence.error();
    error.where = "--text";
    return error;
  }
  const std::vector<std::int32_t> row = core::token_row(*sentence, *model->vocabulary);
  if (static_cast<std::int64_t>(row.size()) > model->config.max_tokens || sentence->n_cut > 0)
    return core::Error{.key = "translate.too_long",
                       .where = "--text",
                       .values = {{"most", std::to_string(model->config.max_tokens)}}};
  core::Workspace<float> workspace(model->graph, {});
  core::set_parameters(*model, workspace);
  const core::Hypothesis said = core::decode(model->graph, model->config, workspace.parameters(), {&row, 1},
                                             {.begin = *target.begin(),
                                              .end = *target.end(),
                                              .beam_width = command.beam_width,
                                              .length_penalty = command.length_penalty})
                                    .front();
  std::vector<std::string> words;
  for (const std::int32_t id : said.tokens) words.push_back(target.token(id));
  context.out << core::sentence_text(words) << "\n"
              << context.text.text(said.is_complete ? "command.translate.figures" : "command.translate.cut",
                                   {{"log_probability", fixed(said.log_probability, 3)},
                                    {"most", std::to_string(model->config.max_tokens)}})
              << "\n";
  return {};
}

}  // namespace headscope::simulator
