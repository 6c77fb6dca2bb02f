// A whole training run: the trainer, its past, its series of figures, and the conditions that end it. Files
// are core/formats/run_directory.h's, threads core/training/training_thread.h's.
#pragma once

#include "core/training/evaluation.h"
#include "core/training/history.h"
#include "core/training/trainer.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headscope::core {

/// One step's figures. The loss is that before the step's update; an evaluation is of the parameters after
/// it.
struct SeriesRow {
  std::int64_t step = 0;  // from 1; 0: the evaluation before the first step
  StepReport report = {};
  std::optional<Evaluation> evaluation = {};
};

enum class StopReason : std::uint8_t { steps, target_score, plateau };

/// Where a run that is taken up again has come: its checkpoints, of which it goes on with the newest, and its
/// events. A run directory holds it.
struct RunPast {
  std::vector<TrainState> checkpoints = {};  // at least one, by their steps
  std::vector<Event> events = {};            // those after the newest checkpoint wait
  Vocabularies vocabularies = {};
};

class Run {
 public:
  struct Options {
    std::filesystem::path assets = {};  // of tasks
    int n_threads = 1;
    Intervene intervene = {};
    std::size_t history_bytes = History::kDefaultBytes;
  };
  /// Begins a run, and evaluates at once (step 0). Errors: those of make_task(), Trainer::make() and
  /// Evaluator::make(); train.data (neither a task nor a file, or both).
  static Result<std::unique_ptr<Run>> make(RunConfig config, const Options& options);
  /// Takes up a run where its past ends: what follows has the same bits as if it had never stopped. Errors:
  /// those of make(); train.past_size (a checkpoint of another model); those of Trainer::set_events().
  static Result<std::unique_ptr<Run>> resume(RunConfig config, RunPast past, const Options& options);

  const Trainer& trainer() const { return *trainer_; }
  const RunConfig& config() const { return trainer_->config(); }
  const History& history() const { return history_; }
  const std::vector<SeriesRow>& series() const { return series_; }
  /// Takes the series that an earlier part of this run left (format_series()); rows after the step are
  /// dropped. Nothing has changed on an error: run.series (line: not a row of this run's columns, or out of
  /// order).
  Result<void> take_series(const std::string& csv, const std::string& where);
  /// Null where nothing is evaluated: a run from a file.
  const Evaluator* evaluator() const { return evaluator_ ? &*evaluator_ : nullptr; }
  /// What an evaluation of this run looks like: its masses' relations, attentions and numbers of heads. Its
  /// numbers mean nothing. Precondition: evaluator().
  const Evaluation& evaluation_form() const { return evaluation_form_; }
  /// The newest; null where there is none.
  const Evaluation* evaluation() const;

  /// Why it has ended; none while it goes on. A score or a plateau counts from the last event on, so that a
  /// change by a person lets it go on; so does a later n_steps.
  std::optional<StopReason> stop_reason() const {
    return trainer_->step() >= config().stop.n_steps ? StopReason::steps : judged_;
  }
  void set_stop(const StopConfig& stop) {
    trainer_->set_stop(stop);
    judge();
  }

  /// One step, with its row, its checkpoint and its evaluation where due; even where there is a reason to
  /// stop. Errors: those of Trainer::run_step(); nothing has changed then.
  Result<void> run_step();
  /// Steps until the run stops, a step fails or the time is over, at least one where it has not stopped: for
  /// hosts without threads. Returns how many were done. Errors: those of run_step().
  Result<std::int64_t> run_for(double seconds);
  /// As Trainer::change(); the state before it becomes a checkpoint that stays.
  Result<void> change(const Change& change);
  /// Adds changes that come later by themselves, each before its step. Errors: train.event_past (step, done:
  /// that step has been done); those of Trainer::set_events(). Nothing changes then.
  Result<void> plan(std::span<const Event> events);

  /// Goes back to a past step and forgets what came after it (events, series, checkpoints). Errors: those of
  /// go_to_step(); nothing has changed then.
  Result<void> go_back_to(std::int64_t step);
  /// The steps that it has gone back to, in order: what stood after them is another run's.
  const std::vector<std::int64_t>& returns() const { return returns_; }
  /// A trainer of its own, at a past step: without moving the run. It stays until the next call; its numbers
  /// are those of the step where that was replayed. Errors: those of go_to_step().
  Result<const Trainer*> replay_to(std::int64_t step);
  /// A past step's state. Errors: those of go_to_step().
  Result<TrainState> state_at(std::int64_t step);

 private:
  explicit Run(std::size_t history_bytes) : history_(history_bytes) {}
  static Result<std::unique_ptr<Run>> make_parts(RunConfig config, std::optional<RunStart> start,
                                                 const Options& options);
  void judge();
  void find_evaluated();
  void keep_checkpoint(History::Keep keep) { history_.add(trainer_->state(), keep); }

  std::unique_ptr<const Task> task_;  // outlives those below
  std::unique_ptr<Trainer> trainer_;
  std::unique_ptr<Trainer> replayer_;  // made when a past step is asked for
  std::optional<Evaluator> evaluator_;
  Evaluation evaluation_form_;
  History history_;
  std::vector<SeriesRow> series_;
  std::vector<std::size_t> evaluated_;  // places in series_: of the few rows that have an evaluation
  std::vector<std::int64_t> returns_;
  std::optional<StopReason> judged_;  // by the evaluations since the last event
};

/// The series as CSV: step,loss,gradient_norm,rate,held_out_loss,held_out_score, then a column for each
/// relation, attention and head ("adjective_noun:encoder.block0.self_attention:0"); empty where nothing was
/// evaluated, and the figures of step 0. An evaluation may be of "inf" or "nan": the parameters are finite,
/// but too large for the held-out examples.
std::string format_series(const Run& run);

}  // namespace headscope::core
