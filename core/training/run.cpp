#include "core/training/run.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

namespace headscope::core {

Result<std::unique_ptr<Run>> Run::make_parts(RunConfig config, std::optional<RunStart> start,
                                             const Options& options) {
  if (config.data.task.has_value() == config.data.file.has_value()) return Error{"train.data", ""};
  std::unique_ptr<Run> run(new Run(options.history_bytes));
  if (config.data.task) {
    Result<std::unique_ptr<const Task>> task = make_task(*config.data.task, options.assets);
    if (!task) return task.error();
    run->task_ = *std::move(task);
  }
  Result<std::unique_ptr<Trainer>> trainer = Trainer::make(
      std::move(config), run->task_.get(), options.n_threads, options.intervene, std::move(start));
  if (!trainer) return trainer.error();
  run->trainer_ = *std::move(trainer);
  if (run->task_) {
    Result<Evaluator> evaluator =
        Evaluator::make(*run->task_, run->config().model, run->config().n_held_out, options.intervene);
    if (!evaluator) return evaluator.error();
    run->evaluator_.emplace(*std::move(evaluator));
    run->evaluation_form_ = run->evaluator_->evaluate(run->trainer_->training().workspace().parameters());
  }
  return run;
}

Result<std::unique_ptr<Run>> Run::make(RunConfig config, const Options& options) {
  Result<std::unique_ptr<Run>> run = make_parts(std::move(config), std::nullopt, options);
  if (!run) return run;
  Run& made = **run;
  made.keep_checkpoint(History::Keep::pinned);
  if (made.evaluator_) made.series_.push_back({.step = 0, .evaluation = made.evaluation_form_});
  made.find_evaluated();
  made.judge();
  return run;
}

Result<std::unique_ptr<Run>> Run::resume(RunConfig config, RunPast past, const Options& options) {
  const bool is_adamw = config.optimiser.kind == OptimiserKind::adamw;
  Result<Graph> graph = build_graph(config.model, "");
  if (!graph) return graph.error();
  const std::size_t n_numbers = Plan(*graph, GradientPlan(*graph), Sizes{}).n_parameters();
  for (const TrainState& state : past.checkpoints)
    if (state.parameters.size() != n_numbers || state.first_moments.size() != n_numbers ||
        state.second_moments.size() != (is_adamw ? n_numbers : 0))
      return Error{"train.past_size", "", {{"step", std::to_string(state.step)}}};

  Result<std::unique_ptr<Run>> run =
      make_parts(std::move(config), RunStart{past.checkpoints.back(), std::move(past.vocabularies)}, options);
  if (!run) return run;
  Run& made = **run;
  if (Result<void> set = made.trainer_->set_events(std::move(past.events)); !set) return set.error();
  for (TrainState& state : past.checkpoints) {
    const bool has_event = std::ranges::any_of(
        made.trainer_->events(), [&state](const Event& event) { return event.step == state.step + 1; });
    const History::Keep keep = state.step == 0 || has_event ? History::Keep::pinned : History::Keep::evenly;
    made.history_.add(std::move(state), keep);
  }
  return run;
}

const Evaluation* Run::evaluation() const {
  return evaluated_.empty() ? nullptr : &*series_[evaluated_.back()].evaluation;
}

void Run::find_evaluated() {
  evaluated_.clear();
  for (std::size_t place = 0; place < series_.size(); ++place)
    if (series_[place].evaluation) evaluated_.push_back(place);
}

void Run::judge() {
  const StopConfig& stop = config().stop;
  // events that wait for a later step are none yet
  std::int64_t first = 0;
  for (const Event& event : trainer_->events())
    if (event.step <= trainer_->step() + 1) first = event.step;
  const Evaluation* newest = nullptr;
  double best = std::numeric_limits<double>::infinity();
  int n_without = 0;
  for (const std::size_t place : evaluated_) {
    const SeriesRow& row = series_[place];
    if (row.step < first) continue;
    newest = &*row.evaluation;
    n_without = newest->loss < best ? 0 : n_without + 1;
    best = std::min(best, newest->loss);
  }
  judged_.reset();
  if (newest && stop.target_score && newest->score >= *stop.target_score)
    judged_ = StopReason::target_score;
  else if (stop.plateau > 0 && n_without >= stop.plateau)
    judged_ = StopReason::plateau;
}

Result<void> Run::run_step() {
  const Result<StepReport> report = trainer_->run_step();
  if (!report) return report.error();
  const std::int64_t step = trainer_->step();
  SeriesRow& row = series_.emplace_back(SeriesRow{.step = step, .report = *report});
  const bool is_last = step == config().stop.n_steps;
  if (evaluator_ && (step % config().evaluate_every == 0 || is_last)) {
    row.evaluation = evaluator_->evaluate(trainer_->training().workspace().parameters());
    evaluated_.push_back(series_.size() - 1);
    judge();
  }
  if (history_.is_due(step)) keep_checkpoint(History::Keep::evenly);
  return {};
}

Result<std::int64_t> Run::run_for(double seconds) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  std::int64_t n_steps = 0;
  while (!stop_reason()) {
    if (Result<void> done = run_step(); !done) return done.error();
    ++n_steps;
    if (std::chrono::duration<double>(Clock::now() - begin).count() >= seconds) break;
  }
  return n_steps;
}

Result<void> Run::change(const Change& change) {
  if (Result<void> changed = trainer_->change(change); !changed) return changed;
  keep_checkpoint(History::Keep::pinned);  // the state is that before the event
  judge();
  if (replayer_) return replayer_->set_events(trainer_->events());
  return {};
}

Result<void> Run::plan(std::span<const Event> events) {
  std::vector<Event> all = trainer_->events();
  for (const Event& event : events) {
    if (event.step <= trainer_->step())
      return Error{
          .key = "train.event_past",
          .where = "",
          .values = {{"step", std::to_string(event.step)}, {"done", std::to_string(trainer_->step())}}};
    all.push_back(event);
  }
  std::ranges::stable_sort(all, {}, &Event::step);
  if (Result<void> taken = trainer_->set_events(all); !taken) return taken;
  if (replayer_) return replayer_->set_events(std::move(all));
  return {};
}

Result<const Trainer*> Run::replay_to(std::int64_t step) {
  if (!replayer_) {
    Result<std::unique_ptr<Trainer>> replayer = trainer_->make_replayer();
    if (!replayer) return replayer.error();
    (*replayer)->restore(history_.checkpoints().begin()->second);
    replayer_ = *std::move(replayer);
  }
  if (Result<void> gone = go_to_step(*replayer_, history_, step, trainer_->step()); !gone)
    return gone.error();
  return replayer_.get();
}

Result<TrainState> Run::state_at(std::int64_t step) {
  const Result<const Trainer*> trainer = replay_to(step);
  if (!trainer) return trainer.error();
  return (*trainer)->state();
}

Result<void> Run::go_back_to(std::int64_t step) {
  const Result<TrainState> state = state_at(step);
  if (!state) return state.error();
  std::vector<Event> events = trainer_->events();
  std::erase_if(events, [step](const Event& event) { return event.step > step; });
  trainer_->restore(*state);
  if (Result<void> set = trainer_->set_events(std::move(events)); !set) return set;
  if (Result<void> set = replayer_->set_events(trainer_->events()); !set) return set;
  history_.forget_after(step);
  returns_.push_back(step);
  std::erase_if(series_, [step](const SeriesRow& row) { return row.step > step; });
  find_evaluated();
  judge();
  return {};
}

}  // namespace headscope::core
