// headscope train: a run that begins or goes on, kept in a directory, until its end or Ctrl-C.
#include "core/bleu.h"
#include "core/decode.h"
#include "core/formats/model_directory.h"
#include "core/formats/run_directory.h"
#include "core/formats/token_batch.h"
#include "core/printable.h"
#include "core/training/recipes.h"
#include "core/training/run.h"
#include "simulator/command_line/cell_argument.h"
#include "simulator/command_line/commands.h"
#include "simulator/command_line/interruption.h"
#include "simulator/command_line/intervention_options.h"
#include "simulator/command_line/model_run.h"
#include "simulator/command_line/train_advice.h"
#include "simulator/command_line/train_report.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace headscope::simulator {
namespace {

/// A run and where it is kept.
struct Open {
  std::unique_ptr<core::Run> run;
  core::RunDirectory directory;
};

/// Whether all of them are parameters of the model.
core::Result<void> check_frozen(const std::vector<std::string>& names, const core::ModelConfig& model) {
  if (names.empty()) return {};
  const core::Result<core::Graph> graph = core::build_graph(model, "");
  if (!graph) return graph.error();
  for (const std::string& name : names) {
    const core::Result<core::TensorId> tensor = tensor_argument(*graph, name, "--freeze");
    if (!tensor) return tensor.error();
    if (graph->spec(*tensor).role != core::Role::parameter)
      return core::Error{.key = "train.no_parameter", .where = "--freeze", .values = {{"name", name}}};
  }
  return {};
}

core::Result<core::RunConfig> configure(const TrainCommand& command, const CommandContext& context) {
  core::RunConfig config;
  if (command.data.task) {
    const core::Result<std::unique_ptr<const core::Task>> task =
        core::make_task(*command.data.task, context.data.assets);
    if (!task) return task.error();
    config = core::recipe_of(**task);
  }
  if (command.from) {
    const core::Result<core::StoredModel> model = core::read_model_directory(*command.from);
    if (!model) return model.error();
    print_warnings(*model, context);
    config.model = model->config;
  }
  config.data = command.data;
  config.start.from = command.from;
  config.start.has_equal_heads = command.has_equal_heads;
  config.start.head_noise = command.head_noise;
  config.frozen = command.frozen;
  if (core::Result<void> applied = apply(command.choices, config); !applied) return applied.error();
  if (core::Result<void> checked = check_frozen(config.frozen, config.model); !checked)
    return checked.error();
  return config;
}

core::Result<Open> begin(const TrainCommand& command, const CommandContext& context) {
  core::Result<core::RunConfig> config = configure(command, context);
  if (!config) return config.error();
  core::Intervene intervene = intervene_in_run(command.interventions, *config);
  core::Result<std::unique_ptr<core::Run>> run = core::Run::make(
      *std::move(config),
      {.assets = context.data.assets, .n_threads = command.n_threads, .intervene = std::move(intervene)});
  if (!run) {
    core::Error error = run.error();
    if (error.where.empty() && command.data.file) error.where = command.data.file->string();
    return error;
  }
  if (core::Result<void> planned = (*run)->plan(command.events); !planned) return planned.error();
  using Existing = core::RunDirectory::Existing;
  core::Result<core::RunDirectory> directory =
      core::RunDirectory::create(command.out, **run,
                                 {.interventions = to_json(command.interventions),
                                  .existing = command.replaces ? Existing::replace : Existing::refuse});
  if (!directory) return directory.error();
  return Open{*std::move(run), *std::move(directory)};
}

core::Result<Open> go_on(const TrainCommand& command, const CommandContext& context) {
  core::Result<core::StoredRun> stored = core::read_run_directory(command.out);
  if (!stored) return stored.error();
  const core::Result<InterventionOptions> interventions =
      read_interventions_json(stored->file.interventions, (command.out / "run.json").string());
  if (!interventions) return interventions.error();
  core::Intervene intervene = intervene_in_run(*interventions, stored->file.config);
  core::Result<core::ResumedRun> resumed = core::resume_run(
      *std::move(stored),
      {.assets = context.data.assets, .n_threads = command.n_threads, .intervene = std::move(intervene)});
  if (!resumed) return resumed.error();
  for (const core::Error& warning : resumed->warnings) context.errors << context.text.error(warning) << "\n";
  core::Run& run = *resumed->run;
  if (command.back_to)
    if (core::Result<void> gone = run.go_back_to(*command.back_to); !gone) return gone.error();
  core::StopConfig stop = run.config().stop;
  stop.n_steps = command.choices.n_steps.value_or(stop.n_steps);
  if (command.choices.target_score) stop.target_score = command.choices.target_score;
  stop.plateau = command.choices.plateau.value_or(stop.plateau);
  run.set_stop(stop);
  for (const core::Change& change : changes_of(command.choices))
    if (core::Result<void> changed = run.change(change); !changed) return changed.error();
  if (core::Result<void> planned = run.plan(command.events); !planned) return planned.error();
  // where it cannot be written is said before anything is trained
  if (core::Result<void> saved = resumed->directory.save(run); !saved) return saved.error();
  return Open{std::move(resumed->run), std::move(resumed->directory)};
}

/// How a run ended here.
struct Ending {
  std::optional<core::Error> failure = {};  // of a step
  bool is_interrupted = false;
  bool has_begun = false;  // there was a step to do
};

/// Steps until something ends them. What cannot be written is said once, and tried again later.
Ending train(Open& open, const CommandContext& context) {
  const Interruption interruption;
  TrainProgress progress(context, *open.run);
  bool is_unwritten = false, has_begun = false;
  while (!open.run->stop_reason()) {
    if (interruption.is_wanted()) return {.is_interrupted = true, .has_begun = true};
    if (core::Result<void> done = open.run->run_step(); !done)
      return {.failure = done.error(), .has_begun = true};
    has_begun = true;
    progress.show();
    const core::Result<void> written = open.directory.update(*open.run);
    if (!written && !is_unwritten) progress.say(context.text.error(written.error()));
    is_unwritten = !written;
  }
  return {.has_begun = has_begun};
}

std::string stop_key(core::StopReason reason) {
  switch (reason) {
    case core::StopReason::target_score:
      return "command.train.stopped.target_score";
    case core::StopReason::plateau:
      return "command.train.stopped.plateau";
    case core::StopReason::steps:
      break;
  }
  return "command.train.stopped.steps";
}

/// A translation's BLEU over the held-out sentences, decoded word by word.
std::optional<double> bleu_of(const core::Run& run) {
  const core::Task* task = run.trainer().task();
  if (!task || !run.evaluator() || !task->target_vocabulary()) return std::nullopt;
  const core::Vocabulary& vocabulary = *task->target_vocabulary();
  std::vector<std::vector<std::int32_t>> sources;
  std::vector<std::vector<std::vector<std::string>>> references;
  const auto words = [&vocabulary](std::span<const std::int32_t> ids) {
    std::vector<std::string> text;
    for (const std::int32_t id : ids) text.push_back(vocabulary.token(id));
    return text;
  };
  for (const core::Example& example : run.evaluator()->examples()) {
    sources.push_back(example.source);
    references.push_back({words(std::span(example.target).subspan(1, example.target.size() - 2))});
  }
  std::vector<std::vector<std::string>> sentences;
  for (const core::Hypothesis& hypothesis : core::decode(
           run.evaluator()->graph(), run.config().model, run.trainer().training().workspace().parameters(),
           sources, {.begin = *vocabulary.begin(), .end = *vocabulary.end()}))
    sentences.push_back(words(hypothesis.tokens));
  return core::corpus_bleu(sentences, references).score;
}

void print_summary(const core::Run& run, const Ending& ending, const std::filesystem::path& path,
                   const CommandContext& context) {
  const lessons::TextCatalog& text = context.text;
  const std::string step = std::to_string(run.trainer().step());
  if (const std::optional<core::StopReason> reason = run.stop_reason(); reason && !ending.failure)
    context.out << text.text(stop_key(*reason), {{"step", step}}) << "\n";
  if (!ending.has_begun) context.out << text.text("command.train.has_ended", {{"step", step}}) << "\n";
  if (const core::Evaluation* evaluation = run.evaluation()) {
    std::string score = score_text(run, *evaluation, text);
    if (const std::optional<double> bleu = bleu_of(run)) score += ", BLEU " + fixed(*bleu, 1);
    context.out << text.text("command.train.held_out",
                             {{"score", score}, {"loss", fixed(evaluation->loss, 4)}})
                << "\n"
                << mass_table(run, text);
  } else if (!run.series().empty()) {
    context.out << text.text("command.train.last_loss",
                             {{"loss", digits(static_cast<float>(run.series().back().report.loss))}})
                << "\n";
  }
  if (!ending.failure)
    if (const std::string remark = remark_on_loss(run, path, text); !remark.empty())
      context.out << remark << "\n";
}

}  // namespace

core::Result<void> run(const TrainCommand& command, const CommandContext& context) {
  core::Result<Open> open = command.resumes ? go_on(command, context) : begin(command, context);
  if (!open) return open.error();
  const Ending ending = train(*open, context);
  const core::Run& run = *open->run;
  const core::Result<void> saved = open->directory.save(run);
  const std::string folder = core::printable(command.out.string()),
                    step = std::to_string(run.trainer().step());
  print_summary(run, ending, command.out, context);
  if (saved && !ending.failure && !ending.is_interrupted)
    context.out << context.text.text("command.train.saved", {{"step", step}, {"path", folder}}) << "\n";
  context.out << std::flush;
  if (ending.failure && saved) {
    const std::optional<core::Error> offer = offer_after(*ending.failure, run, command.out);
    if (!offer) return *ending.failure;
    context.errors << context.text.error(*ending.failure) << "\n";
    return *offer;
  }
  if (ending.failure) context.errors << context.text.error(*ending.failure) << "\n";
  if (!saved) {
    context.errors << context.text.error(saved.error()) << "\n";
    const bool is_kept = open->directory.newest_step() == run.trainer().step();
    return core::Error{.key = is_kept ? "train.unsaved_past" : "train.unsaved",
                       .where = folder,
                       .values = {{"step", step},
                                  {"kept", std::to_string(open->directory.newest_step())},
                                  {"command", resume_line(command.out)}}};
  }
  if (ending.is_interrupted)
    return core::Error{.key = "train.interrupted",
                       .where = folder,
                       .values = {{"step", step}, {"command", resume_line(command.out)}}};
  return {};
}

}  // namespace headscope::simulator
