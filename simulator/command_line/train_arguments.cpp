// The commands about training and its tasks: what their options mean, and which of them go together.
#include "simulator/command_line/argument_reader.h"
#include "simulator/command_line/typed_arguments.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace headscope::simulator {
namespace {

constexpr std::array<std::string_view, 2> kOptimisers = {"adamw", "sgd"};
constexpr std::array<std::string_view, 3> kSchedules = {"constant", "cosine", "linear"};
constexpr std::array<std::string_view, 2> kSizes = {"pocket", "full"};

TrainChoices read_choices(Reader& reader, const Typed& typed) {
  TrainChoices choices;
  reader.whole<std::int64_t>("--steps", typed.steps, 1, kMost, choices.n_steps);
  reader.word("--optimiser", typed.optimiser, kOptimisers, choices.optimiser);
  reader.real("--lr", typed.lr, "0, 0.001, 3e-4 …", is_not_negative, choices.rate);
  reader.real("--weight-decay", typed.weight_decay, "0, 0.01 …", is_not_negative, choices.weight_decay);
  reader.real("--clip", typed.clip, "0 (no clipping), 1 …", is_not_negative, choices.clip_norm);
  reader.real("--momentum", typed.momentum, "0 … 0.999", is_fraction, choices.momentum);
  reader.word("--schedule", typed.schedule, kSchedules, choices.schedule);
  reader.whole<std::int64_t>("--warm-up", typed.warm_up, 0, kMost, choices.warm_up);
  reader.real("--dropout", typed.dropout, "0 … 0.99", is_fraction, choices.dropout);
  reader.real("--label-smoothing", typed.label_smoothing, "0 … 0.99", is_fraction, choices.label_smoothing);
  reader.whole<std::int64_t>("--batch-size", typed.batch_size, 1, 65536, choices.batch_size);
  reader.whole<std::int64_t>("--evaluate-every", typed.evaluate_every, 1, kMost, choices.evaluate_every);
  reader.whole<std::int64_t>("--held-out-size", typed.held_out_size, 1, 100000, choices.n_held_out);
  reader.real("--target-score", typed.target_score, "0 … 1", is_share, choices.target_score);
  reader.whole<int>("--plateau", typed.plateau, 1, 1000000, choices.plateau);
  reader.real("--embedding-deviation", typed.embedding_deviation, deviations(), is_deviation,
              choices.embedding_deviation);
  reader.whole<std::uint64_t>("--seed", typed.seed, 0, std::numeric_limits<std::uint64_t>::max(),
                              choices.seed);
  reader.whole<std::int64_t>("--d-model", typed.d_model, 1, 65536, choices.d_model);
  reader.whole<std::int64_t>("--heads", typed.heads, 1, 1024, choices.n_heads);
  reader.whole<std::int64_t>("--layers", typed.layers, 1, 1024, choices.n_layers);
  reader.whole<std::int64_t>("--d-ff", typed.d_ff, 0, 1 << 20, choices.d_ff);
  return choices;
}

/// "KEY=VALUE" in two; the error names the option and its form.
core::Result<std::pair<std::string, std::string>> read_pair(const std::string& given,
                                                            const std::string& option,
                                                            const std::string& form) {
  const std::size_t equals = given.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == given.size())
    return bad_value(option, given, form);
  return std::pair(given.substr(0, equals), given.substr(equals + 1));
}

core::Result<core::TaskConfig> read_task(Reader& reader, const Typed& typed) {
  core::TaskConfig task{.name = *typed.task};
  reader.word("--size", typed.size, kSizes, task.size);
  for (const std::string& given : typed.setting) {
    core::Result<std::pair<std::string, std::string>> setting = read_pair(given, "--setting", "KEY=VALUE");
    if (!setting) return setting.error();
    for (const auto& [key, value] : task.settings)
      if (key == setting->first) return bad_value("--setting", given, key + "=" + value);
    task.settings.push_back(*std::move(setting));
  }
  return task;
}

/// "200:lr=0.001": a change before step 200. Of a parameter: "200:TENSOR[0,1]=0.5".
core::Result<core::Event> read_change(const std::string& given) {
  const std::string form =
      "STEP:lr=X, STEP:weight-decay=X, STEP:dropout=X, STEP:batch-size=N, STEP:TENSOR[CELL]=X";
  const core::Error wrong = bad_value("--change", given, form);
  const std::size_t colon = given.find(':');
  if (colon == std::string::npos) return wrong;
  const std::optional<std::int64_t> step = whole_number<std::int64_t>(given.substr(0, colon), 1, kMost);
  const core::Result<std::pair<std::string, std::string>> pair =
      read_pair(given.substr(colon + 1), "--change", form);
  if (!step || !pair) return wrong;
  const auto& [key, text] = *pair;
  const std::optional<double> value = parse_number<double>(text);
  if (!value || !std::isfinite(*value)) return wrong;
  if (key == "lr") return core::Event{*step, core::SetRate{*value}};
  if (key == "weight-decay") return core::Event{*step, core::SetWeightDecay{*value}};
  if (key == "dropout") return core::Event{*step, core::SetDropout{*value}};
  if (key == "batch-size") {
    const std::optional<std::int64_t> size = whole_number<std::int64_t>(text, 1, 65536);
    return size ? core::Result<core::Event>(core::Event{*step, core::SetBatchSize{*size}}) : wrong;
  }
  const std::size_t bracket = key.find('[');
  if (bracket == std::string::npos || !key.ends_with(']')) return wrong;
  core::Cell cell;
  std::string_view indices(key);
  indices.remove_suffix(1);
  indices.remove_prefix(bracket + 1);
  while (!indices.empty()) {
    const std::size_t comma = std::min(indices.find(','), indices.size());
    const std::optional<std::int64_t> index = whole_number<std::int64_t>(indices.substr(0, comma), 0, kMost);
    if (!index || cell.rank() == core::kMaxRank) return wrong;
    cell.push_back(*index);
    indices.remove_prefix(std::min(comma + 1, indices.size()));
  }
  return core::Event{*step, core::SetParameter{key.substr(0, bracket), cell, *value}};
}

/// What only a run that begins can be told.
std::optional<std::string> beginning_option(const Typed& typed) {
  const std::pair<const char*, const OptionalText*> options[] = {
      {"--task", &typed.task},
      {"--from", &typed.from},
      {"--data", &typed.data},
      {"--out", &typed.out},
      {"--size", &typed.size},
      {"--optimiser", &typed.optimiser},
      {"--clip", &typed.clip},
      {"--momentum", &typed.momentum},
      {"--schedule", &typed.schedule},
      {"--warm-up", &typed.warm_up},
      {"--label-smoothing", &typed.label_smoothing},
      {"--evaluate-every", &typed.evaluate_every},
      {"--held-out-size", &typed.held_out_size},
      {"--embedding-deviation", &typed.embedding_deviation},
      {"--seed", &typed.seed},
      {"--d-model", &typed.d_model},
      {"--heads", &typed.heads},
      {"--layers", &typed.layers},
      {"--d-ff", &typed.d_ff},
      {"--head-noise", &typed.head_noise},
      {"--temperature", &typed.temperature}};
  for (const auto& [option, value] : options)
    if (*value) return option;
  const std::pair<const char*, bool> flags[] = {{"--setting", !typed.setting.empty()},
                                                {"--freeze", !typed.freeze.empty()},
                                                {"--zero-head", !typed.zero_head.empty()},
                                                {"--uniform-attention", !typed.uniform_attention.empty()},
                                                {"--set", !typed.set.empty()},
                                                {"--full-batch", typed.full_batch},
                                                {"--equal-heads", typed.equal_heads},
                                                {"--no-scale", typed.no_scale},
                                                {"--leak-future", typed.leak_future},
                                                {"--replace", typed.replace}};
  for (const auto& [option, is_given] : flags)
    if (is_given) return option;
  return std::nullopt;
}

core::Result<void> check_together(const Typed& typed) {
  const auto refuse = [&typed](const OptionalText& given, const char* option, const char* other) {
    return given ? core::Result<void>(not_with(option, other)) : core::Result<void>();
  };
  if (typed.resume) {
    if (const std::optional<std::string> option = beginning_option(typed))
      return not_with("--resume", *option);
    return {};
  }
  if (typed.back_to) return needs("--back-to", "--resume");
  if (!typed.task && !typed.data) return missing("--task NAME or --data FILE");
  if (typed.task && typed.data) return not_with("--task", "--data");
  if (!typed.out) return missing("--out");
  if (typed.data) {
    if (!typed.from) return missing("--from");
    if (!typed.steps) return missing("--steps");
    if (typed.size) return needs("--size", "--task");
    if (!typed.setting.empty()) return needs("--setting", "--task");
    if (typed.full_batch)
      if (core::Result<void> alone = refuse(typed.batch_size, "--full-batch", "--batch-size"); !alone)
        return alone;
  } else if (typed.full_batch) {
    return needs("--full-batch", "--data");
  }
  if (typed.from)
    for (const auto& [option, value] :
         {std::pair("--d-model", &typed.d_model), std::pair("--heads", &typed.heads),
          std::pair("--layers", &typed.layers), std::pair("--d-ff", &typed.d_ff),
          std::pair("--embedding-deviation", &typed.embedding_deviation)})
      if (core::Result<void> alone = refuse(*value, "--from", option); !alone) return alone;
  if (typed.head_noise && !typed.equal_heads) return needs("--head-noise", "--equal-heads");
  if (typed.momentum && typed.optimiser != "sgd") return needs("--momentum", "--optimiser sgd");
  return {};
}

}  // namespace

core::Result<Command> train_command(const Typed& typed) {
  if (core::Result<void> together = check_together(typed); !together) return together.error();
  TrainCommand command{.out = typed.resume ? *typed.resume : *typed.out, .resumes = typed.resume.has_value()};
  command.replaces = typed.replace;
  Reader reader;
  command.choices = read_choices(reader, typed);
  reader.whole<std::int64_t>("--back-to", typed.back_to, 0, kMost, command.back_to);
  if (typed.task) {
    core::Result<core::TaskConfig> task = read_task(reader, typed);
    if (!task) return task.error();
    command.data.task = *std::move(task);
  }
  if (typed.data) command.data.file = *typed.data;
  command.data.is_full_batch = typed.full_batch;
  if (typed.from) command.from = *typed.from;
  reader.whole<int>("--threads", typed.threads, 1, kMostThreads, command.n_threads);
  command.has_equal_heads = typed.equal_heads;
  command.frozen = typed.freeze;
  reader.real("--head-noise", typed.head_noise, deviations(), is_deviation, command.head_noise);
  read_interventions(reader, typed, command.interventions);
  for (const std::string& given : typed.change) {
    core::Result<core::Event> event = read_change(given);
    if (!event) return event.error();
    command.events.push_back(*std::move(event));
  }
  if (reader.error()) return *reader.error();
  return Command(std::move(command));
}

core::Result<Command> task_show_command(const Typed& typed) {
  if (!typed.task) return missing("NAME");
  Reader reader;
  core::Result<core::TaskConfig> task = read_task(reader, typed);
  if (!task) return task.error();
  TaskShowCommand command{.task = *std::move(task)};
  reader.whole<std::int64_t>("--count", typed.count, 1, 1000000, command.n_examples);
  reader.whole<std::uint64_t>("--seed", typed.seed, 0, std::numeric_limits<std::uint64_t>::max(),
                              command.seed);
  if (reader.error()) return *reader.error();
  command.split = typed.held_out_split ? core::Split::held_out : core::Split::training;
  command.has_relations = typed.relations;
  command.format = typed.json ? OutputFormat::json : OutputFormat::text;
  return Command(std::move(command));
}

core::Result<Command> history_command(const Typed& typed) {
  if (!typed.run) return missing("RUN");
  if (!typed.step) return missing("--step");
  if (typed.tensor.has_value() != typed.cell.has_value())
    return typed.tensor ? needs("--tensor", "--cell") : needs("--cell", "--tensor");
  HistoryCommand command{
      .run = *typed.run, .compared = {}, .tensor = typed.tensor, .cell = typed.cell, .out = {}};
  if (typed.out) command.out = *typed.out;
  Reader reader;
  reader.whole<std::int64_t>("--step", typed.step, 0, kMost, command.step);
  reader.whole<std::int64_t>("--compare", typed.compare, 0, kMost, command.compared);
  if (reader.error()) return *reader.error();
  return Command(std::move(command));
}

core::Result<Command> translate_command(const Typed& typed) {
  if (!typed.model) return missing("--model");
  if (!typed.text) return missing("--text");
  TranslateCommand command{.model = *typed.model, .text = *typed.text};
  Reader reader;
  reader.whole<int>("--beam", typed.beam, 1, 64, command.beam_width);
  reader.real(
      "--length-penalty", typed.length_penalty, "0 … 10", [](double a) { return a >= 0 && a <= 10; },
      command.length_penalty);
  if (reader.error()) return *reader.error();
  return Command(std::move(command));
}

}  // namespace headscope::simulator
