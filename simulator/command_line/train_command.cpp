// headscope train --full-batch: a model trained on one whole file of token ids, the same batch at every step.
#include "core/formats/atomic_file.h"
#include "core/formats/json.h"
#include "core/formats/model_directory.h"
#include "core/formats/token_batch.h"
#include "core/printable.h"
#include "core/training/train_step.h"
#include "simulator/command_line/cell_argument.h"
#include "simulator/command_line/commands.h"
#include "simulator/command_line/intervention_options.h"
#include "simulator/command_line/model_run.h"

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::simulator {
namespace {

/// The shortest digits that read back as the same number.
std::string digits(double value) {
  std::array<char, 40> buffer{};
  const auto written = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), written.ptr};
}

std::string_view name_of(core::Schedule schedule) {
  constexpr std::array<std::string_view, 3> kNames = {"constant", "cosine", "linear"};
  return kNames[static_cast<std::size_t>(schedule)];
}

std::string json_list(const std::vector<std::string>& texts) {
  std::string list = "[";
  for (const std::string& text : texts) list += (list.size() > 1 ? ", " : "") + core::quote_json(text);
  return list + "]";
}

/// Everything that makes the same run again.
std::string run_json(const TrainCommand& command) {
  const core::OptimiserConfig& optimiser = command.optimiser;
  const bool is_adamw = optimiser.kind == core::OptimiserKind::adamw;
  std::string text = "{\n  \"format\": \"headscope-run\",\n  \"version\": 1";
  const auto add = [&text](const std::string& key, const std::string& value) {
    text += ",\n  \"" + key + "\": " + value;
  };
  add("from", core::quote_json(command.from.string()));
  add("data", core::quote_json(command.data.string()));
  add("full_batch", "true");
  add("steps", std::to_string(command.n_steps));
  add("seed", std::to_string(command.seed));
  add("optimiser", is_adamw ? "\"adamw\"" : "\"sgd\"");
  add("lr", digits(optimiser.rate));
  if (is_adamw) {
    add("beta1", digits(optimiser.beta1));
    add("beta2", digits(optimiser.beta2));
    add("epsilon", digits(optimiser.epsilon));
  } else {
    add("momentum", digits(optimiser.momentum));
  }
  add("weight_decay", digits(optimiser.weight_decay));
  add("clip", digits(optimiser.clip_norm));
  add("schedule", "\"" + std::string(name_of(optimiser.schedule)) + "\"");
  add("warm_up", std::to_string(optimiser.warm_up));
  add("total_steps", std::to_string(optimiser.total_steps));
  add("final_share", digits(optimiser.final_share));
  add("decay_from", digits(optimiser.decay_from));
  add("dropout", digits(command.graph.dropout));
  add("label_smoothing", digits(command.graph.label_smoothing));
  add("equal_heads", command.has_equal_heads ? "true" : "false");
  add("head_noise", digits(command.head_noise));
  add("freeze", json_list(command.frozen));
  const InterventionOptions& by_hand = command.interventions;
  add("zero_head", json_list(by_hand.zero_heads));
  add("uniform_attention", json_list(by_hand.uniform_attentions));
  add("set", json_list(by_hand.cells));
  add("temperature", digits(by_hand.temperature));
  add("no_scale", by_hand.leaves_scale ? "false" : "true");
  add("leak_future", by_hand.leaks_future ? "true" : "false");
  return text + "\n}\n";
}

/// One line on standard error, written over itself; nothing where that is no terminal.
class Progress {
 public:
  Progress(const CommandContext& context, std::int64_t n_steps) : context_(context), n_steps_(n_steps) {}
  ~Progress() {
    if (is_shown_) context_.errors << "\n";
  }

  void show(std::int64_t step, double loss) {
    constexpr double kInterval = 0.1;  // seconds
    const auto now = std::chrono::steady_clock::now();
    const bool is_due = std::chrono::duration<double>(now - shown_).count() >= kInterval || step == n_steps_;
    if (!context_.errors_are_terminal || !is_due) return;
    const double rate = static_cast<double>(step) / std::chrono::duration<double>(now - start_).count();
    const double left = static_cast<double>(n_steps_ - step) / rate;
    context_.errors << "\r"
                    << context_.text.text("command.train.progress",
                                          {{"step", std::to_string(step)},
                                           {"steps", std::to_string(n_steps_)},
                                           {"loss", digits(static_cast<float>(loss))},
                                           {"rate", std::to_string(static_cast<std::int64_t>(rate))},
                                           {"left", std::to_string(std::llround(left))}})
                    << "\x1b[K" << std::flush;
    shown_ = now;
    is_shown_ = true;
  }

 private:
  const CommandContext& context_;
  std::int64_t n_steps_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now(), shown_;
  bool is_shown_ = false;
};

/// What is trained on what: everything read and held against the model.
struct Task {
  core::StoredModel model;  // with the options' graph
  core::FedBatch batch;
  core::Interventions interventions;
  std::vector<core::TensorId> frozen;
};

core::Result<std::vector<core::TensorId>> find_frozen(const std::vector<std::string>& names,
                                                      const core::Graph& graph) {
  std::vector<core::TensorId> frozen;
  for (const std::string& name : names) {
    const core::Result<core::TensorId> tensor = tensor_argument(graph, name, "--freeze");
    if (!tensor) return tensor.error();
    if (graph.spec(*tensor).role != core::Role::parameter)
      return core::Error{.key = "train.no_parameter", .where = "--freeze", .values = {{"name", name}}};
    frozen.push_back(*tensor);
  }
  return frozen;
}

core::Result<Task> read_task(const TrainCommand& command) {
  core::Result<core::StoredModel> model = core::read_model_directory(command.from);
  if (!model) return model.error();
  core::Result<core::Graph> graph = core::build_graph(model->config, command.from.string(), command.graph);
  if (!graph) return graph.error();
  model->graph = *std::move(graph);
  const std::string where = command.data.string();
  const core::Result<core::TokenBatch> batch = core::read_token_batch(command.data);
  if (!batch) return batch.error();
  core::Result<core::FedBatch> fed = core::feed(*batch, model->config, where);
  if (!fed) return fed.error();
  if (core::Result<void> loss = core::require_targets(*fed, model->config, where); !loss) return loss.error();
  if (core::Result<void> fits = check_size(model->graph, fed->sizes, Keeps::training, where); !fits)
    return fits.error();
  core::Result<std::vector<core::TensorId>> frozen = find_frozen(command.frozen, model->graph);
  if (!frozen) return frozen.error();
  core::Result<core::Interventions> interventions =
      intervene(command.interventions, *model, *fed, Precision::single);
  if (!interventions) return interventions.error();
  return Task{.model = *std::move(model),
              .batch = *std::move(fed),
              .interventions = *std::move(interventions),
              .frozen = *std::move(frozen)};
}

}  // namespace

core::Result<void> run(const TrainCommand& command, const CommandContext& context) {
  const core::Result<Task> task = read_task(command);
  if (!task) return task.error();
  const core::StoredModel& model = task->model;
  print_warnings(model, context);
  // before hours of training: what cannot be written later is said now
  if (core::Result<void> made = core::make_folder(command.out); !made) return made;
  core::TrainStep<float> training(model.graph, task->batch.sizes,
                                  {.optimiser = command.optimiser,
                                   .seed = command.seed,
                                   .n_threads = command.n_threads,
                                   .interventions = &task->interventions,
                                   .frozen = task->frozen});
  core::set_parameters(model, training.workspace());
  if (command.has_equal_heads)
    core::equalise_heads(model.graph, training.workspace(), command.head_noise, command.seed);
  core::set_inputs(model.graph, training.workspace(), task->batch);

  std::string history = "step,loss,gradient_norm,rate\n";
  core::Result<void> outcome;
  double loss = 0;
  {
    Progress progress(context, command.n_steps);
    for (std::int64_t step = 1; step <= command.n_steps; ++step) {
      const core::Result<core::StepReport> report = training.run(step);
      if (!report) {
        outcome = report.error();
        break;
      }
      loss = report->loss;
      history += std::to_string(step) + "," + digits(loss) + "," + digits(report->gradient_norm) + "," +
                 digits(report->rate) + "\n";
      progress.show(step, loss);
    }
  }
  // where a step failed, what is written is the last good one
  core::Result<void> written =
      core::write_model_directory<float>(command.out, model.config, model.graph, training.workspace(),
                                         model.vocabulary, model.target_vocabulary);
  if (written) written = core::write_file_atomically(command.out / "history.csv", history);
  if (written) written = core::write_file_atomically(command.out / "run.json", run_json(command));
  if (!outcome) return outcome;  // the reason to look at what was written
  if (!written) return written;
  context.out << context.text.text("command.train.done", {{"steps", std::to_string(command.n_steps)},
                                                          {"loss", digits(static_cast<float>(loss))},
                                                          {"path", core::printable(command.out.string())}})
              << "\n";
  return {};
}

}  // namespace headscope::simulator
