// A training run as a resumable step: draws the batch of a step, runs it, keeps what a person changes. The
// same configuration and events give the same bits in one build, whoever drives it and however often it
// stops.
#pragma once

#include "core/aligned.h"
#include "core/formats/token_batch.h"
#include "core/tasks/task.h"
#include "core/training/run_config.h"
#include "core/training/train_step.h"
#include "core/vocabulary.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headscope::core {

/// All that training carries from one step to the next: laid out as Workspace::parameters(). Examples and
/// dropout's masks come from (seed, step) and need no state; events at step + 1 have not been applied.
struct TrainState {
  std::int64_t step = 0;  // how many have been done
  AlignedVector<float> parameters = {}, first_moments = {};
  AlignedVector<float> second_moments = {};  // AdamW
  std::size_t n_bytes() const {
    return (parameters.size() + first_moments.size() + second_moments.size()) * sizeof(float);
  }
};

/// The words of a run's model: a task's, those of the directory that it starts from, or none.
struct Vocabularies {
  std::optional<Vocabulary> source = {}, target = {};
};

/// What a run starts with in place of its configuration's StartConfig: a run directory has it.
struct RunStart {
  TrainState state;
  Vocabularies vocabularies;
};

class Trainer {
 public:
  /// `task` is null for a run from a file, and must outlive this otherwise. `start` is what a stored run
  /// began with; without it the parameters are those of config.start. Precondition: a start has as many
  /// numbers as the model needs. Errors: those of validate(), build_graph(), read_model_directory(),
  /// read_token_batch(), feed(), require_targets(), `intervene`; train.no_parameter (name: a frozen one),
  /// train.start (key: the directory's model has another configuration or vocabulary), train.range
  /// (batch_size: more rows than the file has), train.too_large (most).
  static Result<std::unique_ptr<Trainer>> make(RunConfig config, const Task* task, int n_threads = 1,
                                               Intervene intervene = {},
                                               std::optional<RunStart> start = std::nullopt);
  ~Trainer();

  /// Another trainer of the same run, with its events, before its first step and with parameters of 0: to
  /// restore() a state and to replay from there. Errors: those of `intervene`.
  Result<std::unique_ptr<Trainer>> make_replayer() const;

  const RunConfig& config() const { return config_; }
  const Task* task() const { return task_; }
  const Vocabularies& vocabularies() const { return vocabularies_; }
  int n_threads() const { return n_threads_; }
  /// Of the last step; a change of dropout makes another with the same parameters, from the next step on. It
  /// may be held beyond that.
  const Graph& graph() const;
  std::shared_ptr<const Graph> shared_graph() const;
  /// FNV-1a of the numbers of a run from a file: whether it is the same file again. 0 for a task.
  std::uint64_t data_hash() const;

  /// How many steps have been done.
  std::int64_t step() const { return step_; }
  /// Does the next one. Where a number is not finite, nothing has changed: the state is that of the last good
  /// step. Errors: those of TrainStep::run() and feed(); of `intervene`, for another graph.
  Result<StepReport> run_step();

  /// The rate and so on in force at the next step: the configuration's, changed by the events so far.
  const OptimiserConfig& optimiser() const { return settings_.optimiser; }
  double dropout() const { return settings_.dropout; }
  std::int64_t batch_size() const { return settings_.batch_size; }

  /// Changes something from the next step on, and keeps it as an event. A parameter's new number shows at
  /// once in training(). Nothing changes on an error: optimiser.range, optimiser.decay, config.fraction,
  /// train.range (key, value, lowest, highest), train.batch_of_file, train.too_large, train.no_parameter,
  /// edit.no_such_cell, edit.not_finite.
  Result<void> change(const Change& change);
  /// In the order of their steps.
  const std::vector<Event>& events() const { return events_; }
  /// Takes another run's events, to replay it, or fewer, to go another way. Precondition: those at steps that
  /// are done already are the ones that were applied. Errors: train.event_order; those of change().
  Result<void> set_events(std::vector<Event> events);
  /// From when on a run ends; nothing else of the configuration can change.
  void set_stop(const StopConfig& stop) { config_.stop = stop; }

  TrainState state() const;
  /// Goes to the state, earlier or later; events up to it are in force, and those after it wait for their
  /// step. Activations and gradients stay those of the last step that ran. Precondition: a state of a run
  /// with this configuration.
  void restore(const TrainState& state);

  /// The numbers of the last step, to look at: activations, gradients; parameters after its update, with
  /// those that a person has changed since.
  const TrainStep<float>& training() const;
  /// The batch of any step from 1, made again.
  Result<TokenBatch> batch_at(std::int64_t step) const;

 private:
  /// What events change.
  struct Settings {
    OptimiserConfig optimiser;
    double dropout = 0;
    std::int64_t batch_size = 0;
  };
  struct Engine;  // a graph and its numbers
  struct Edit {   // a number that was changed after the last step, as it was before
    std::size_t offset;
    float before;
  };

  Trainer() = default;
  Result<void> read_file();
  Result<void> start_parameters();
  Sizes capacity(const Settings& settings) const {
    return {settings.batch_size, largest_.source, largest_.target};
  }
  Result<std::unique_ptr<Engine>> build_engine(const Settings& settings) const;
  Result<std::unique_ptr<Engine>> make_engine(const Settings& settings) const;
  Result<void> prepare_engine();
  Result<void> set_batch();
  Result<void> apply(const Change& change, Settings& settings) const;
  Result<std::size_t> find_cell(const SetParameter& change) const;
  Settings settings_at(std::int64_t step) const;
  std::vector<std::int32_t> rows_at(std::int64_t step, std::int64_t n_rows) const;
  void apply_edits();
  void revert_edits();

  RunConfig config_;
  const Task* task_ = nullptr;
  int n_threads_ = 1;
  Intervene intervene_;
  Vocabularies vocabularies_;
  std::shared_ptr<const TokenBatch> file_;  // none for a task
  Sizes largest_;                           // of a batch of one row
  std::unique_ptr<Engine> engine_;
  std::int64_t step_ = 0;
  Settings settings_;  // of the next step
  std::vector<Event> events_;
  std::vector<Edit> edits_;
};

}  // namespace headscope::core
