#include "core/training/trainer.h"

#include "core/formats/json.h"
#include "core/formats/model_directory.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

namespace headscope::core {
namespace {

constexpr double kMostNumbers = 1 << 28;  // at once, of 4 bytes each

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

/// The key of config.json whose line differs.
std::string differing_key(const ModelConfig& left, const ModelConfig& right) {
  const std::string one = format_config(left), other = format_config(right);
  const std::size_t at = static_cast<std::size_t>(
      std::mismatch(one.begin(), one.end(), other.begin(), other.end()).first - one.begin());
  const std::size_t open = one.find('"', one.rfind('\n', at));
  return one.substr(open + 1, one.find('"', open + 1) - open - 1);
}

bool has_same_tokens(const std::optional<Vocabulary>& left, const std::optional<Vocabulary>& right) {
  return left && right && left->tokens() == right->tokens();
}

}  // namespace

/// One graph, and the numbers of a run in it. Stays in place: the step refers to the rest.
struct Trainer::Engine {
  std::shared_ptr<const Graph> graph;
  double dropout = 0;
  Interventions interventions;
  std::optional<TrainStep<float>> training;
  bool has_whole_file = false;  // its inputs are set, and stay
};

Trainer::~Trainer() = default;

Result<std::unique_ptr<Trainer>> Trainer::make(RunConfig config, const Task* task, int n_threads,
                                               Intervene intervene, std::optional<RunStart> start) {
  assert(config.data.task.has_value() == (task != nullptr));
  assert(config.data.file.has_value() == (task == nullptr));
  if (Result<void> valid = validate(config, ""); !valid) return valid.error();
  std::unique_ptr<Trainer> trainer(new Trainer());
  trainer->config_ = std::move(config);
  trainer->task_ = task;
  trainer->n_threads_ = n_threads;
  trainer->intervene_ = std::move(intervene);
  const ModelConfig& model = trainer->config_.model;
  const bool has_target = model.architecture == Architecture::encoder_decoder;
  trainer->largest_ = {1, model.max_tokens, has_target ? model.max_tokens : 0};
  if (task)
    trainer->vocabularies_ = {task->vocabulary(), task->target_vocabulary()};
  else if (Result<void> read = trainer->read_file(); !read)
    return read.error();
  trainer->settings_ = trainer->settings_at(1);
  Result<std::unique_ptr<Engine>> engine = trainer->make_engine(trainer->settings_);
  if (!engine) return engine.error();
  trainer->engine_ = *std::move(engine);
  if (start) {
    if (!task) trainer->vocabularies_ = std::move(start->vocabularies);
    trainer->restore(start->state);
  } else if (Result<void> started = trainer->start_parameters(); !started) {
    return started.error();
  }
  return trainer;
}

Result<std::unique_ptr<Trainer>> Trainer::make_replayer() const {
  std::unique_ptr<Trainer> replayer(new Trainer());
  replayer->config_ = config_;
  replayer->task_ = task_;
  replayer->n_threads_ = n_threads_;
  replayer->intervene_ = intervene_;
  replayer->vocabularies_ = vocabularies_;
  replayer->file_ = file_;
  replayer->largest_ = largest_;
  replayer->events_ = events_;
  replayer->settings_ = replayer->settings_at(1);
  Result<std::unique_ptr<Engine>> engine = replayer->make_engine(replayer->settings_);
  if (!engine) return engine.error();
  replayer->engine_ = *std::move(engine);
  replayer->apply_edits();
  return replayer;
}

Result<void> Trainer::start_parameters() {
  Workspace<float>& workspace = engine_->training->workspace();
  const StartConfig& start = config_.start;
  if (!start.from) {
    initialise_parameters(*engine_->graph, workspace, config_.seed, start.embedding_deviation);
  } else {
    Result<StoredModel> model = read_model_directory(*start.from);
    if (!model) return model.error();
    const auto differs = [&start](std::string key) {
      return Error{"train.start", start.from->string(), {{"key", std::move(key)}}};
    };
    if (!(model->config == config_.model)) return differs(differing_key(model->config, config_.model));
    if (!task_) {
      vocabularies_ = {std::move(model->vocabulary), std::move(model->target_vocabulary)};
    } else {  // its ids must mean the task's words
      if (model->vocabulary && !has_same_tokens(model->vocabulary, vocabularies_.source))
        return differs("vocab.json");
      if (model->target_vocabulary && !has_same_tokens(model->target_vocabulary, vocabularies_.target))
        return differs("target_vocab.json");
    }
    model->graph = *engine_->graph;  // that of the workspace: dropout's masks are tensors, too
    set_parameters(*model, workspace);
  }
  if (start.has_equal_heads) equalise_heads(*engine_->graph, workspace, start.head_noise, config_.seed);
  return {};
}

/// The graph of these settings, with what was set by hand, where a batch of their size fits; no numbers yet.
Result<std::unique_ptr<Trainer::Engine>> Trainer::build_engine(const Settings& settings) const {
  GraphOptions options = config_.graph;
  options.dropout = settings.dropout;
  Result<Graph> built = build_graph(config_.model, "", options);
  if (!built) return built.error();
  auto engine = std::make_unique<Engine>();
  engine->dropout = settings.dropout;
  if (intervene_) {
    Result<Interventions> interventions = intervene_(*built);
    if (!interventions) return interventions.error();
    engine->interventions = *std::move(interventions);
  }
  engine->graph = std::make_shared<const Graph>(*std::move(built));
  // a gradient for each number, and two moments for each parameter
  const Sizes sizes = capacity(settings);
  const double numbers = 2 * count_reals(*engine->graph, sizes, Role::activation) +
                         4 * count_reals(*engine->graph, sizes, Role::parameter);
  if (numbers > kMostNumbers)
    return Error{"train.too_large", "", {{"most", std::to_string(static_cast<std::int64_t>(kMostNumbers))}}};
  return engine;
}

Result<std::unique_ptr<Trainer::Engine>> Trainer::make_engine(const Settings& settings) const {
  Result<std::unique_ptr<Engine>> engine = build_engine(settings);
  if (!engine) return engine;
  const Graph& graph = *(*engine)->graph;
  TrainOptions options{.optimiser = settings.optimiser,
                       .seed = config_.seed,
                       .n_threads = n_threads_,
                       .interventions = &(*engine)->interventions};
  for (const std::string& name : config_.frozen) {
    const std::optional<TensorId> tensor = graph.find(name);
    if (!tensor || graph.spec(*tensor).role != Role::parameter)
      return Error{"train.no_parameter", "", {{"name", name}}};
    options.frozen.push_back(*tensor);
  }
  (*engine)->training.emplace(graph, capacity(settings), options);
  return engine;
}

const Graph& Trainer::graph() const {
  return *engine_->graph;
}
std::shared_ptr<const Graph> Trainer::shared_graph() const {
  return engine_->graph;
}
const TrainStep<float>& Trainer::training() const {
  return *engine_->training;
}

/// Another graph where dropout has changed, more room where the batch has grown; the run's numbers move over.
/// Not before the next step, so that the last one's can be looked at.
Result<void> Trainer::prepare_engine() {
  const bool has_room = engine_->training->workspace().capacity().batch >= settings_.batch_size;
  if (engine_->dropout == settings_.dropout && has_room) return {};
  Result<std::unique_ptr<Engine>> made = make_engine(settings_);
  if (!made) return made.error();
  TrainStep<float>& next = *(*made)->training;
  const TrainStep<float>& last = *engine_->training;
  // dropout adds activations alone: the parameters lie as they lay
  std::ranges::copy(last.workspace().parameters(), next.workspace().parameters().begin());
  std::ranges::copy(last.first_moments(), next.first_moments().begin());
  std::ranges::copy(last.second_moments(), next.second_moments().begin());
  engine_ = *std::move(made);
  return {};
}

Result<void> Trainer::set_batch() {
  if (engine_->has_whole_file) return {};
  const Result<TokenBatch> batch = batch_at(step_ + 1);
  if (!batch) return batch.error();
  const Result<FedBatch> fed =
      feed(*batch, config_.model, config_.data.file ? config_.data.file->string() : config_.data.task->name);
  if (!fed) return fed.error();
  set_inputs(*engine_->graph, engine_->training->workspace(), *fed);
  engine_->has_whole_file = config_.data.is_full_batch && file_ != nullptr;
  return {};
}

Result<StepReport> Trainer::run_step() {
  if (Result<void> prepared = prepare_engine(); !prepared) return prepared.error();
  if (Result<void> set = set_batch(); !set) return set.error();
  engine_->training->set_optimiser(settings_.optimiser);
  Result<StepReport> report = engine_->training->run(step_ + 1);
  if (!report) return report;
  ++step_;
  edits_.clear();  // they are part of the state now
  settings_ = settings_at(step_ + 1);
  apply_edits();
  return report;
}

/// Where the cell lies among the parameters.
Result<std::size_t> Trainer::find_cell(const SetParameter& change) const {
  const Graph& graph = *engine_->graph;
  const std::optional<TensorId> tensor = graph.find(change.tensor);
  if (!tensor || graph.spec(*tensor).role != Role::parameter)
    return Error{"train.no_parameter", "", {{"name", change.tensor}}};
  const Workspace<float>& workspace = engine_->training->workspace();
  const Shape& shape = workspace.shape(*tensor);
  if (!shape.contains(change.cell)) return Error{"edit.no_such_cell", change.tensor};
  if (!std::isfinite(change.value) ||
      std::abs(change.value) > static_cast<double>(std::numeric_limits<float>::max()))
    return Error{"edit.not_finite", change.tensor};
  return workspace.plan().offset(*tensor) + static_cast<std::size_t>(shape.flat(change.cell));
}

/// Checks the change against the settings that it meets, and makes it there; a parameter's is only checked.
Result<void> Trainer::apply(const Change& change, Settings& settings) const {
  Settings changed = settings;
  Result<void> outcome =
      std::visit(Overloaded{[&](const SetRate& set) -> Result<void> {
                              changed.optimiser.rate = set.rate;
                              return validate(changed.optimiser, "");
                            },
                            [&](const SetWeightDecay& set) -> Result<void> {
                              changed.optimiser.weight_decay = set.weight_decay;
                              return validate(changed.optimiser, "");
                            },
                            [&](const SetDropout& set) -> Result<void> {
                              changed.dropout = set.dropout;
                              RunConfig config = config_;
                              config.graph.dropout = set.dropout;
                              return validate(config, "");
                            },
                            [&](const SetBatchSize& set) -> Result<void> {
                              if (config_.data.is_full_batch) return Error{"train.batch_of_file", ""};
                              changed.batch_size = set.batch_size;
                              RunConfig config = config_;
                              config.batch_size = set.batch_size;
                              if (Result<void> valid = validate(config, ""); !valid) return valid;
                              const auto n_rows =
                                  file_ ? static_cast<std::int64_t>(file_->source.size()) : set.batch_size;
                              if (set.batch_size <= n_rows) return {};
                              return Error{"train.range",
                                           "",
                                           {{"key", "batch_size"},
                                            {"value", std::to_string(set.batch_size)},
                                            {"lowest", "1"},
                                            {"highest", std::to_string(n_rows)}}};
                            },
                            [&](const SetParameter& set) -> Result<void> {
                              const Result<std::size_t> cell = find_cell(set);
                              return cell ? Result<void>() : cell.error();
                            }},
                 change);
  if (!outcome) return outcome;
  const bool needs_room = changed.dropout != settings.dropout || changed.batch_size > settings.batch_size;
  // the engine itself is made with the next step: here, whether it can be
  if (needs_room)
    if (const Result<std::unique_ptr<Engine>> engine = build_engine(changed); !engine) return engine.error();
  settings = changed;
  return {};
}

Result<void> Trainer::change(const Change& change) {
  Settings settings = settings_;
  if (Result<void> applied = apply(change, settings); !applied) return applied;
  const auto later =
      std::ranges::find_if(events_, [&](const Event& event) { return event.step > step_ + 1; });
  revert_edits();
  events_.insert(later, Event{step_ + 1, change});
  settings_ = settings_at(step_ + 1);
  apply_edits();
  return {};
}

Result<void> Trainer::set_events(std::vector<Event> events) {
  Settings settings{config_.optimiser, config_.graph.dropout, config_.batch_size};
  std::int64_t before = 1;
  for (const Event& event : events) {
    if (event.step < before) return Error{"train.event_order", "", {{"step", std::to_string(event.step)}}};
    before = event.step;
    if (Result<void> applied = apply(event.change, settings); !applied) return applied;
  }
  revert_edits();
  events_ = std::move(events);
  settings_ = settings_at(step_ + 1);
  apply_edits();
  return {};
}

Trainer::Settings Trainer::settings_at(std::int64_t step) const {
  Settings settings{config_.optimiser, config_.graph.dropout, config_.batch_size};
  for (const Event& event : events_) {
    if (event.step > step) break;
    std::visit(
        Overloaded{[&](const SetRate& set) { settings.optimiser.rate = set.rate; },
                   [&](const SetWeightDecay& set) { settings.optimiser.weight_decay = set.weight_decay; },
                   [&](const SetDropout& set) { settings.dropout = set.dropout; },
                   [&](const SetBatchSize& set) { settings.batch_size = set.batch_size; },
                   [](const SetParameter&) {}},
        event.change);
  }
  return settings;
}

/// Sets the parameters that events change before the next step.
void Trainer::apply_edits() {
  const std::span<float> parameters = engine_->training->workspace().parameters();
  for (const Event& event : events_) {
    const auto* set = std::get_if<SetParameter>(&event.change);
    if (!set || event.step != step_ + 1) continue;
    const std::size_t offset = *find_cell(*set);
    edits_.push_back({offset, parameters[offset]});
    parameters[offset] = static_cast<float>(set->value);
  }
}

void Trainer::revert_edits() {
  const std::span<float> parameters = engine_->training->workspace().parameters();
  for (; !edits_.empty(); edits_.pop_back()) parameters[edits_.back().offset] = edits_.back().before;
}

TrainState Trainer::state() const {
  const TrainStep<float>& training = *engine_->training;
  const auto copied = [](std::span<const float> numbers) {
    return AlignedVector<float>(numbers.begin(), numbers.end());
  };
  TrainState state{step_, copied(training.workspace().parameters()), copied(training.first_moments()),
                   copied(training.second_moments())};
  for (std::size_t place = edits_.size(); place-- > 0;)  // the earliest last: it knows the oldest number
    state.parameters[edits_[place].offset] = edits_[place].before;
  return state;
}

void Trainer::restore(const TrainState& state) {
  TrainStep<float>& training = *engine_->training;
  const auto copy = [](const AlignedVector<float>& from, std::span<float> to) {
    assert(from.size() == to.size());
    std::ranges::copy(from, to.begin());
  };
  copy(state.parameters, training.workspace().parameters());
  copy(state.first_moments, training.first_moments());
  copy(state.second_moments, training.second_moments());
  step_ = state.step;
  edits_.clear();
  settings_ = settings_at(step_ + 1);
  apply_edits();
}

}  // namespace headscope::core
