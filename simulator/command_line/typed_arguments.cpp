#include "simulator/command_line/typed_arguments.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

namespace headscope::simulator {
namespace {

core::Error bad_value(std::string option, std::string given, std::string allowed) {
  return {.key = "arguments.value",
          .where = "",
          .values = {
              {"option", std::move(option)}, {"given", std::move(given)}, {"allowed", std::move(allowed)}}};
}

core::Error needs(std::string option, std::string needed) {
  return {.key = "arguments.needs",
          .where = "",
          .values = {{"option", std::move(option)}, {"needed", std::move(needed)}}};
}

core::Error not_with(std::string first, std::string second) {
  return {.key = "arguments.not_with",
          .where = "",
          .values = {{"first", std::move(first)}, {"second", std::move(second)}}};
}

/// A whole text as a number: nothing else before or after it.
template <class Number>
std::optional<Number> parse(std::string_view text) {
  Number number{};
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

template <class Number>
std::optional<Number> whole_number(std::string_view text, Number lowest, Number highest) {
  const std::optional<Number> number = parse<Number>(text);
  return number && *number >= lowest && *number <= highest ? number : std::nullopt;
}

/// Reads options one after the other and keeps the first that was wrong.
class Reader {
 public:
  /// A whole number from `lowest` to `highest` into `target`, where the option was given.
  template <class Number, class Target>
  void whole(const std::string& option, const OptionalText& typed, Number lowest, Number highest,
             Target& target) {
    if (!typed) return;
    const std::optional<Number> number = whole_number<Number>(*typed, lowest, highest);
    if (number)
      target = *number;
    else
      fail(bad_value(option, *typed, std::to_string(lowest) + " … " + std::to_string(highest)));
  }
  /// A finite number for which `is_allowed` holds; `allowed` says so to people.
  template <class Allowed>
  void real(const std::string& option, const OptionalText& typed, const std::string& allowed,
            const Allowed& is_allowed, double& target) {
    if (!typed) return;
    const std::optional<double> number = parse<double>(*typed);
    if (number && std::isfinite(*number) && is_allowed(*number))
      target = *number;
    else
      fail(bad_value(option, *typed, allowed));
  }
  /// One of the spellings, in the order of the enumeration's values.
  template <class Value, std::size_t kCount>
  void word(const std::string& option, const OptionalText& typed,
            const std::array<std::string_view, kCount>& spellings, Value& target) {
    if (!typed) return;
    std::string allowed;
    for (std::size_t place = 0; place < kCount; ++place) {
      if (spellings[place] == *typed) {
        target = static_cast<Value>(place);
        return;
      }
      allowed.append(allowed.empty() ? "" : ", ").append(spellings[place]);
    }
    fail(bad_value(option, *typed, allowed));
  }

  void fail(core::Error error) {
    if (!error_) error_ = std::move(error);
  }
  const std::optional<core::Error>& error() const { return error_; }

 private:
  std::optional<core::Error> error_;
};

/// Neither it nor what is divided by it leaves single precision.
bool is_temperature(double number) {
  return number >= 1e-6 && number <= 1e6;
}

bool is_deviation(double number) {
  return number >= 0 && number <= core::kLargestDeviation;
}
std::string deviations() {
  return "0 … " + std::to_string(static_cast<int>(core::kLargestDeviation));
}
bool is_positive(double number) {
  return number > 0;
}
bool is_not_negative(double number) {
  return number >= 0;
}
bool is_fraction(double number) {
  return number >= 0 && number < 1;
}

constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();
constexpr int kMostThreads = 256;

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

void read_interventions(Reader& reader, const Typed& typed, InterventionOptions& options) {
  options.zero_heads = typed.zero_head;
  options.mean_heads = typed.mean_head;
  options.mean_data.assign(typed.mean_data.begin(), typed.mean_data.end());
  options.frozen = typed.freeze_activation;
  options.uniform_attentions = typed.uniform_attention;
  options.cells = typed.set;
  options.leaves_scale = !typed.no_scale;
  options.leaks_future = typed.leak_future;
  if (typed.mean_head.empty() != typed.mean_data.empty())
    reader.fail(typed.mean_head.empty() ? needs("--mean-data", "--mean-head")
                                        : needs("--mean-head", "--mean-data"));
  reader.real("--temperature", typed.temperature, "0.000001 … 1000000", is_temperature, options.temperature);
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
      {"--model", &typed.model},   {"--batch", &typed.batch}, {"--out", &typed.out},
      {"--tensor", &typed.tensor}, {"--cell", &typed.cell},   {"--lesson", &typed.lesson},
      {"--from", &typed.from},     {"--data", &typed.data},   {"--config", &typed.config}};
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
      {"--set", &typed.set}};
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

core::Result<Command> train_command(const Typed& typed) {
  if (!typed.from) return missing("--from");
  if (!typed.data) return missing("--data");
  if (!typed.full_batch) return missing("--full-batch");
  if (!typed.steps) return missing("--steps");
  if (!typed.out) return missing("--out");
  core::Result<core::OptimiserConfig> optimiser = optimiser_config(typed);
  if (!optimiser) return optimiser.error();
  TrainCommand command{.from = *typed.from, .data = *typed.data, .out = *typed.out};
  command.optimiser = *std::move(optimiser);
  Reader reader;
  reader.whole<std::int64_t>("--steps", typed.steps, 1, kMost, command.n_steps);
  reader.word("--schedule", typed.schedule, std::array<std::string_view, 3>{"constant", "cosine", "linear"},
              command.optimiser.schedule);
  reader.whole<std::int64_t>("--warm-up", typed.warm_up, 0, kMost, command.optimiser.warm_up);
  reader.real("--dropout", typed.dropout, "0 … 0.99", is_fraction, command.graph.dropout);
  reader.real("--label-smoothing", typed.label_smoothing, "0 … 0.99", is_fraction,
              command.graph.label_smoothing);
  reader.whole<std::uint64_t>("--seed", typed.seed, 0, std::numeric_limits<std::uint64_t>::max(),
                              command.seed);
  reader.whole<int>("--threads", typed.threads, 1, kMostThreads, command.n_threads);
  command.has_equal_heads = typed.equal_heads;
  command.frozen = typed.freeze;
  reader.real("--head-noise", typed.head_noise, deviations(), is_deviation, command.head_noise);
  read_interventions(reader, typed, command.interventions);
  if (reader.error()) return *reader.error();
  if (typed.head_noise && !typed.equal_heads) return needs("--head-noise", "--equal-heads");
  command.optimiser.total_steps = command.n_steps;
  if (const core::Result<void> checked = core::validate(command.optimiser, ""); !checked)
    return checked.error();
  return Command(std::move(command));
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

core::Result<Command> screenshot_command(const Typed& typed) {
  if (!typed.lesson) return missing("--lesson");
  if (!typed.out) return missing("FILE.png");
  ScreenshotCommand command;
  command.lesson = *typed.lesson;
  command.out = *typed.out;
  command.presentation = typed.presentation;
  if (typed.step) {
    const std::optional<int> step = whole_number(*typed.step, 1, 10000);
    if (!step) return bad_value("--step", *typed.step, "1, 2, 3 …");
    command.step = static_cast<std::size_t>(*step);
  }
  if (typed.size) {
    const std::size_t cross = typed.size->find('x');
    const bool has_cross = cross != std::string::npos;
    const std::optional<int> width = whole_number(typed.size->substr(0, has_cross ? cross : 0), 320, 4096);
    const std::optional<int> height = whole_number(has_cross ? typed.size->substr(cross + 1) : "", 240, 4096);
    if (!width || !height) return bad_value("--size", *typed.size, "1600x900 (320x240 … 4096x4096)");
    command.width = *width;
    command.height = *height;
  }
  if (typed.theme) {
    if (*typed.theme != "light" && *typed.theme != "dark")
      return bad_value("--theme", *typed.theme, "light, dark");
    command.dark = *typed.theme == "dark";
  }
  if (typed.text_scale) {
    std::string_view percent = *typed.text_scale;
    if (percent.ends_with('%')) percent.remove_suffix(1);
    const std::optional<int> scale = parse<int>(percent);
    if (!scale) return bad_value("--text-scale", *typed.text_scale, "100, 150 …");
    command.text_percent = *scale;  // the theme has the limits
  }
  return Command(command);
}

}  // namespace headscope::simulator
