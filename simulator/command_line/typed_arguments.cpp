#include "simulator/command_line/typed_arguments.h"

#include "simulator/command_line/argument_reader.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

namespace headscope::simulator {
namespace {

void read_span(Reader& reader, const OptionalText& typed, std::optional<core::SpanEdges>& target) {
  if (!typed) return;
  const std::size_t comma = typed->find(',');
  const bool has_comma = comma != std::string::npos;
  const std::string_view text = *typed;
  const auto start = whole_number<std::int32_t>(text.substr(0, has_comma ? comma : 0), 0, kMost);
  const auto end = whole_number<std::int32_t>(has_comma ? text.substr(comma + 1) : "", 0, kMost);
  if (start && end)
    target = core::SpanEdges{*start, *end};
  else
    reader.fail(bad_value("--span", *typed, "START,END"));
}

core::Result<ModelInput> model_input(const Typed& typed) {
  if (!typed.model) return missing("--model");
  if (typed.text.has_value() == typed.batch.has_value())
    return core::Error{
        .key = "arguments.one_of", .where = "", .values = {{"first", "--text"}, {"second", "--batch"}}};
  ModelInput input;
  input.model = *typed.model;
  input.text = typed.text;
  if (typed.batch) input.batch = *typed.batch;
  input.target_text = typed.target_text;
  input.precision = typed.twofold ? Precision::twofold : Precision::single;
  input.graph.head_contributions = typed.head_contributions;
  const std::pair<const char*, const OptionalText*> of_text[] = {{"--target-text", &typed.target_text},
                                                                 {"--label", &typed.label},
                                                                 {"--span", &typed.span},
                                                                 {"--read", &typed.read}};
  for (const auto& [option, value] : of_text)
    if (*value && !typed.text) return needs(option, "--text");
  Reader reader;
  reader.whole<std::int32_t>("--label", typed.label, 0, kMost, input.label);
  reader.whole<std::int32_t>("--read", typed.read, 0, kMost, input.read);
  read_span(reader, typed.span, input.span);
  read_interventions(reader, typed, input.interventions);
  if (reader.error()) return *reader.error();
  return input;
}

/// The options that explain and train share.
core::Result<core::OptimiserConfig> optimiser_config(const Typed& typed) {
  core::OptimiserConfig config;
  Reader reader;
  reader.word("--optimiser", typed.optimiser, std::array<std::string_view, 2>{"adamw", "sgd"}, config.kind);
  reader.real("--lr", typed.lr, "0, 0.001, 3e-4 …", is_not_negative, config.rate);
  reader.real("--weight-decay", typed.weight_decay, "0, 0.01 …", is_not_negative, config.weight_decay);
  reader.real("--clip", typed.clip, "0 (no clipping), 1 …", is_not_negative, config.clip_norm);
  reader.real("--momentum", typed.momentum, "0 … 0.999", is_fraction, config.momentum);
  if (reader.error()) return *reader.error();
  if (typed.momentum && config.kind != core::OptimiserKind::sgd)
    return needs("--momentum", "--optimiser sgd");
  return config;
}

/// The first option that only an update has a use for.
std::optional<std::string> optimiser_option(const Typed& typed) {
  const std::pair<const char*, const OptionalText*> options[] = {{"--optimiser", &typed.optimiser},
                                                                 {"--lr", &typed.lr},
                                                                 {"--weight-decay", &typed.weight_decay},
                                                                 {"--clip", &typed.clip},
                                                                 {"--momentum", &typed.momentum}};
  for (const auto& [option, value] : options)
    if (*value) return option;
  return std::nullopt;
}

}  // namespace

core::Error missing(std::string option) {
  return {.key = "arguments.missing", .where = "", .values = {{"option", std::move(option)}}};
}

core::Error no_value(std::string option) {
  return {.key = "arguments.no_value", .where = "", .values = {{"option", std::move(option)}}};
}

std::optional<std::string> find_empty(const Typed& typed) {
  const std::pair<const char*, const OptionalText*> names[] = {
      {"--model", &typed.model},   {"--batch", &typed.batch},   {"--out", &typed.out},
      {"--tensor", &typed.tensor}, {"--cell", &typed.cell},     {"--lesson", &typed.lesson},
      {"--from", &typed.from},     {"--data", &typed.data},     {"--config", &typed.config},
      {"--task", &typed.task},     {"--resume", &typed.resume}, {"RUN", &typed.run},
      {"WHAT", &typed.what},       {"--save", &typed.save},     {"--at", &typed.at}};
  for (const auto& [option, value] : names)
    if (*value && (*value)->empty()) return option;
  const std::pair<const char*, const std::vector<std::string>*> lists[] = {
      {"FILE.md", &typed.files},
      {"--zero-head", &typed.zero_head},
      {"--mean-head", &typed.mean_head},
      {"--mean-data", &typed.mean_data},
      {"--freeze", &typed.freeze},
      {"--freeze-activation", &typed.freeze_activation},
      {"--uniform-attention", &typed.uniform_attention},
      {"--set", &typed.set},
      {"--setting", &typed.setting},
      {"--change", &typed.change}};
  for (const auto& [option, list] : lists)
    for (const std::string& value : *list)
      if (value.empty()) return option;
  return std::nullopt;
}

core::Result<Command> trace_command(const Typed& typed) {
  core::Result<ModelInput> input = model_input(typed);
  if (!input) return input.error();
  if (!typed.out) return missing("--out");
  return Command(TraceCommand{.input = *std::move(input),
                              .passes = typed.backward ? Passes::backward : Passes::forward,
                              .out = *typed.out});
}

core::Result<Command> explain_command(const Typed& typed) {
  core::Result<ModelInput> input = model_input(typed);
  if (!input) return input.error();
  if (!typed.tensor) return missing("--tensor");
  if (!typed.cell) return missing("--cell");
  if (typed.check && !typed.gradient) return needs("--check", "--gradient");
  if (typed.update && typed.gradient) return not_with("--update", "--gradient");
  if (typed.update && typed.step) return not_with("--update", "--step");
  if (typed.check && typed.step) return not_with("--check", "--step");
  if (const std::optional<std::string> option = optimiser_option(typed); option && !typed.update)
    return needs(*option, "--update");
  const core::Result<core::OptimiserConfig> optimiser = optimiser_config(typed);
  if (!optimiser) return optimiser.error();
  if (const core::Result<void> checked = core::validate(*optimiser, ""); !checked) return checked.error();
  ExplainCommand command{.input = *std::move(input), .tensor = *typed.tensor, .cell = *typed.cell};
  command.asked = typed.update ? Asked::update : typed.gradient ? Asked::gradient : Asked::value;
  command.is_checked = typed.check;
  command.optimiser = *optimiser;
  command.format = typed.json ? OutputFormat::json : OutputFormat::text;
  Reader reader;
  reader.whole<std::int32_t>("--step", typed.step, 0, kMost, command.step);
  if (reader.error()) return *reader.error();
  return Command(std::move(command));
}

core::Result<Command> steps_command(const Typed& typed) {
  core::Result<ModelInput> input = model_input(typed);
  if (!input) return input.error();
  return Command(StepsCommand{.input = *std::move(input),
                              .has_formulas = typed.formulas,
                              .format = typed.json ? OutputFormat::json : OutputFormat::text});
}

core::Result<Command> model_new_command(const Typed& typed) {
  if (!typed.lesson && !typed.config) return missing("--lesson NAME or --config FILE");
  if (typed.lesson && typed.config) return not_with("--lesson", "--config");
  if (!typed.out) return missing("--out");
  if (typed.lesson && typed.seed) return needs("--seed", "--config");
  if (typed.lesson && typed.embedding_deviation) return needs("--embedding-deviation", "--config");
  ModelNewCommand command{.lesson = typed.lesson, .config = {}, .out = *typed.out};
  if (typed.config) command.config = *typed.config;
  Reader reader;
  reader.whole<std::uint64_t>("--seed", typed.seed, 0, std::numeric_limits<std::uint64_t>::max(),
                              command.seed);
  reader.real("--embedding-deviation", typed.embedding_deviation, deviations(), is_deviation,
              command.embedding_deviation);
  if (reader.error()) return *reader.error();
  return Command(std::move(command));
}

core::Result<Command> bench_command(const Typed& typed) {
  BenchCommand command;
  command.format = typed.json ? OutputFormat::json : OutputFormat::text;
  Reader reader;
  if (typed.size) {
    BenchSize size{};
    reader.word("--size", typed.size, std::array<std::string_view, 3>{"S", "M", "L"}, size);
    command.size = size;
  }
  reader.whole<int>("--threads", typed.threads, 1, kMostThreads, command.n_threads);
  reader.real("--seconds", typed.seconds, "0.5, 5, 60 …", is_positive, command.seconds);
  if (reader.error()) return *reader.error();
  return Command(command);
}

}  // namespace headscope::simulator
