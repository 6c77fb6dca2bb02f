#include "core/session.h"

#include "core/decode.h"
#include "core/execute.h"
#include "core/formats/model_directory.h"
#include "core/head_means.h"
#include "core/session_engine.h"
#include "core/session_text.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <span>
#include <utility>

namespace headscope::core {
bool is_same_model(const SeedModel& left, const SeedModel& right) {
  const auto tokens = [](const std::optional<Vocabulary>& words) {
    return words ? words->tokens() : std::vector<std::string>();
  };
  return left.config == right.config && left.vocabulary.tokens() == right.vocabulary.tokens() &&
         tokens(left.target_vocabulary) == tokens(right.target_vocabulary) && left.seed == right.seed &&
         left.embedding_deviation == right.embedding_deviation;
}

Session::Session(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

Result<Session> Session::make(std::shared_ptr<const SessionModel> model, Setup setup) {
  Result<Graph> graph = build_graph(model->config, "model");
  if (!graph) return graph.error();
  if (model->config.architecture == Architecture::encoder_decoder && !model->target_vocabulary)
    return Error{"session.no_target_vocabulary", "model"};
  Session session(std::make_unique<Engine>(std::move(model), *std::move(graph)));
  if (Result<void> set = session.set(std::move(setup)); !set) return set.error();
  return session;
}

Result<Session> Session::make(SeedModel model, std::string sentence) {
  const std::string where = "model";
  if (Result<void> valid = validate(model.config, where); !valid) return valid.error();
  const Result<Graph> graph = build_graph(model.config, where);
  if (!graph) return graph.error();
  if (n_numbers(*graph, {1, 1, 1}) > kMostNumbers)
    return Error{"session.too_large", where, {{"most", std::to_string(kMostNumbers)}}};
  Workspace<float> workspace(*graph, {1, 1, 1});
  initialise_parameters(*graph, workspace, model.seed, model.embedding_deviation);
  auto made = std::make_shared<SessionModel>(
      SessionModel{.config = std::move(model.config),
                   .vocabulary = std::move(model.vocabulary),
                   .target_vocabulary = std::move(model.target_vocabulary),
                   .parameters = {workspace.parameters().begin(), workspace.parameters().end()},
                   .seed = model.seed});
  return make(std::move(made), Setup{.text = std::move(sentence)});
}

Result<std::shared_ptr<const SessionModel>> read_session_model(const std::filesystem::path& directory) {
  Result<StoredModel> stored = read_model_directory(directory);
  if (!stored) return stored.error();
  if (!stored->vocabulary) return Error{"session.no_vocabulary", directory.string()};
  if (stored->config.architecture == Architecture::encoder_decoder && !stored->target_vocabulary)
    return Error{"session.no_target_vocabulary", directory.string()};
  if (n_numbers(stored->graph, {1, 1, 1}) > kMostNumbers)
    return Error{"session.too_large", directory.string(), {{"most", std::to_string(kMostNumbers)}}};
  Workspace<float> workspace(stored->graph, {1, 1, 1});
  set_parameters(*stored, workspace);
  return std::make_shared<const SessionModel>(
      SessionModel{.config = stored->config,
                   .vocabulary = *std::move(stored->vocabulary),
                   .target_vocabulary = std::move(stored->target_vocabulary),
                   .parameters = {workspace.parameters().begin(), workspace.parameters().end()},
                   .warnings = std::move(stored->warnings)});
}

Result<Session> Session::open(const std::filesystem::path& directory, std::string sentence) {
  Result<std::shared_ptr<const SessionModel>> model = read_session_model(directory);
  if (!model) return model.error();
  return make(*std::move(model), Setup{.text = std::move(sentence)});
}

Session Session::fork() const {
  Result<Session> other = make(engine_->model, engine_->setup);
  assert(other);  // the same setup was taken before
  other->move_to(cursor().position());
  other->name_classes(class_names());
  return *std::move(other);
}

const std::vector<std::string>& Session::class_names() const {
  return engine_->class_names;
}
void Session::name_classes(std::vector<std::string> names) {
  engine_->class_names = std::move(names);
}

Result<void> Session::set(Setup setup) {
  return engine_->set(std::move(setup));
}

Setup Session::setup_for(std::string sentence) const {
  Setup next = engine_->setup;
  if (sentence == next.text) return next;
  next.text = std::move(sentence);
  next.read.reset();
  next.gold = {};
  std::erase_if(next.edits,
                [this](const auto& edit) { return graph().spec(edit.first.first).role != Role::parameter; });
  return next;
}

Result<void> Session::set(std::string sentence, Edits edits) {
  Setup next = setup_for(std::move(sentence));
  next.edits = std::move(edits);
  return set(std::move(next));
}

const Setup& Session::setup() const {
  return engine_->setup;
}
double Session::n_numbers_with(const Setup& setup) const {
  const Sizes& now = engine_->stepper->workspace().capacity();
  const Result<Typed> read = read_typed(*engine_->model, setup);
  const bool has_room =
      !read || (read->fed.sizes.source <= now.source && read->fed.sizes.target <= now.target);
  return core::n_numbers(engine_->original, has_room ? now : engine_->capacity_for(read->fed.sizes));
}
const SessionModel& Session::model() const {
  return *engine_->model;
}
std::shared_ptr<const SessionModel> Session::shared_model() const {
  return engine_->model;
}
const Graph& Session::graph() const {
  return engine_->graph;
}
const Sentence& Session::sentence() const {
  return engine_->typed.sentence;
}

Result<void> Session::check_edit(TensorId tensor, const Cell& cell, double value) const {
  return engine_->check_edit(engine_->stepper->workspace().sizes(), tensor, cell, value);
}

double Session::unedited_value(TensorId tensor, const Cell& cell) const {
  const Workspace<float>& workspace = engine_->stepper->workspace();
  const auto place = static_cast<std::size_t>(workspace.shape(tensor).flat(cell));
  if (graph().spec(tensor).role == Role::parameter)
    return static_cast<double>(engine_->base_parameters()[workspace.plan().offset(tensor) + place]);
  const FedBatch& fed = engine_->typed.fed;
  const Inputs& inputs = engine_->inputs;
  const auto at = [place](const std::vector<std::int32_t>& numbers) {
    return place < numbers.size() ? numbers[place] : 0;
  };
  if (tensor == inputs.targets) return at(fed.targets);
  if (tensor == inputs.ids) return at(fed.ids);
  if (tensor == inputs.lengths) return at(fed.lengths);
  if (tensor == inputs.target_ids) return at(fed.target_ids);
  if (tensor == inputs.target_lengths) return at(fed.target_lengths);
  if (tensor == inputs.read) return at(fed.read);
  if (tensor == inputs.types) return at(fed.types);
  return 0;  // a target's types: every word is of the first
}

std::size_t Session::n_positions(TextSide side) const {
  return side == TextSide::source ? engine_->words.size() : engine_->target_words.size();
}
const Token& Session::token_at(std::size_t position, TextSide side) const {
  return side == TextSide::source ? engine_->words[position] : engine_->target_words[position];
}

std::int32_t Session::default_read() const {
  return last_word(engine_->typed.sentence, engine_->model->vocabulary);
}

bool Session::has_gold() const {
  return engine_->has_gold;
}

std::optional<Gold> Session::predict_gold(const Progress& progress) const {
  const std::optional<TensorId> tensor = graph().find("probabilities");
  if (!tensor || predicts_own_words(config())) return std::nullopt;
  Gold gold{.origin = Gold::Origin::assumed};
  if (config().objective == Objective::language_model) {
    const Vocabulary& words = *target_vocabulary();
    if (!words.begin() || !words.end()) return std::nullopt;
    const Workspace<float> before = engine_->before_update();
    Interventions heads;  // a cell that is set by hand belongs to the translation that is fed
    heads.overrides = engine_->head_overrides();
    const std::vector<std::int32_t> source(engine_->typed.fed.ids.begin(), engine_->typed.fed.ids.end());
    const std::vector<Hypothesis> best =
        decode(graph(), config(), before.parameters(), std::span(&source, 1),
               {.begin = *words.begin(), .end = *words.end(), .interventions = &heads, .progress = progress});
    if (best.empty()) return std::nullopt;
    for (const std::int32_t id : best.front().tokens) {
      if (words.token(id).starts_with('<')) continue;  // a mark or a spare row is no word to type
      gold.target += (gold.target.empty() ? "" : " ") + words.token(id);
    }
    return gold;
  }
  const Workspace<float>& workspace = engine_->stepper->workspace();
  const std::span<const float> shares = workspace.values(*tensor);
  const auto n_classes = static_cast<std::size_t>(config().n_classes);
  const auto likeliest = [&](std::span<const float> row) {
    return static_cast<std::int32_t>(std::ranges::max_element(row) - row.begin());
  };
  switch (config().objective) {
    case Objective::classification:
    case Objective::token_classification:
      for (std::size_t at = 0; at + n_classes <= shares.size(); at += n_classes)
        gold.labels.push_back(likeliest(shares.subspan(at, n_classes)));
      return gold;
    case Objective::span: {
      // the start and end, in this order, whose product is largest: [1, position, edge]
      double best = -1;
      gold.labels = {0, 0};
      std::size_t best_start = 0;
      for (std::size_t end = 0; 2 * end < shares.size(); ++end) {
        if (shares[2 * end] > shares[2 * best_start]) best_start = end;
        const double product =
            static_cast<double>(shares[2 * best_start]) * static_cast<double>(shares[2 * end + 1]);
        if (!(product > best)) continue;
        best = product;
        gold.labels = {static_cast<std::int32_t>(best_start), static_cast<std::int32_t>(end)};
      }
      return gold;
    }
    case Objective::language_model:
    case Objective::none:
      break;
  }
  return std::nullopt;
}

const StepList& Session::steps() const {
  return engine_->stepper->steps();
}
std::size_t Session::n_steps() const {
  return engine_->n_steps;
}
const Cursor& Session::cursor() const {
  return engine_->stepper->cursor();
}
void Session::move_to(std::size_t position) {
  engine_->stepper->move_to(std::min(position, n_steps()));
}

std::int64_t Session::training_step() const {
  return (engine_->setup.trained ? engine_->setup.trained->step : 0) + 1;
}

Result<Setup> Session::next_setup() {
  if (!has_gold()) return Error{"session.no_gold", kSentence};
  Stepper<float>& stepper = *engine_->stepper;
  const std::size_t position = cursor().position();
  stepper.move_to(stepper.steps().size());
  const std::span<const float> parameters = std::as_const(stepper).workspace().parameters();
  for (const TensorId parameter : stepper.steps().parameters()) {
    const std::span<const float> values = std::as_const(stepper).workspace().values(parameter);
    if (std::ranges::all_of(values, [](float value) { return std::isfinite(value); })) continue;
    stepper.move_to(position);
    return Error{
        "session.not_finite", graph().spec(parameter).name, {{"step", std::to_string(training_step())}}};
  }
  const UpdateView<float>& update = *stepper.trace().update();
  const auto moments = [](std::span<const float> numbers) {
    return AlignedVector<float>(numbers.begin(), numbers.end());
  };
  Setup next = engine_->setup;
  next.trained =
      std::make_shared<const TrainState>(TrainState{.step = training_step(),
                                                    .parameters = {parameters.begin(), parameters.end()},
                                                    .first_moments = moments(update.first),
                                                    .second_moments = moments(update.second)});
  std::erase_if(next.edits,
                [this](const auto& edit) { return graph().spec(edit.first.first).role == Role::parameter; });
  return next;
}

Trace<float> Session::trace() const {
  return engine_->stepper->trace();
}
Trace<float> Session::trace(Cursor cursor) const {
  const Trace<float> now = trace();
  return {graph(), now.workspace(), cursor, &steps(), &engine_->interventions, now.update()};
}
Trace<float> Session::forward_trace() const {
  return trace(Cursor(steps().size(), has_gold() ? steps().n_forward() : n_steps()));
}

GradientCheck Session::check_gradient(TensorId tensor, const Cell& cell) const {
  return *gradient_checker()->check(tensor, cell);  // nothing stops it
}

std::shared_ptr<DetachedChecker> Session::gradient_checker() const {
  if (!engine_->checker) {
    const Trace<float> now = trace();
    const std::span<const TensorId> parameters = steps().parameters();
    engine_->checker = std::make_shared<DetachedChecker>(
        graph(), now.workspace(), *now.update(), parameters.first(steps().updates_done(cursor().position())),
        engine_->interventions);
  }
  return engine_->checker;
}

Result<HeadSwitch> Session::mean_switch(const HeadAddress& head, const TokenBatch& examples) const {
  if (Result<void> valid = engine_->check_head(head); !valid) return valid.error();
  Result<FedBatch> fed = feed(examples, config(), "examples");
  if (!fed) return fed.error();
  if (count_reals(graph(), fed->sizes, Role::activation) > kMostNumbers)
    return Error{"session.too_large", "examples", {{"most", std::to_string(kMostNumbers)}}};
  Workspace<float> workspace(graph(), fed->sizes);
  set_inputs(graph(), workspace, *fed);
  std::ranges::copy(engine_->before_update().parameters(), workspace.parameters().begin());
  run_forward(graph(), workspace, 0, forward_end(graph(), *fed));
  HeadMeans means(graph(), head.head_output, head.head);
  means.add(workspace);
  return HeadSwitch{.mode = HeadMode::mean, .shape = means.shape(), .means = means.means()};
}

}  // namespace headscope::core
