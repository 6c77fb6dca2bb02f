// The resumable trainer: the same bits whoever drives it, events, replays, and what it refuses.
#include "core/training/trainer.h"
#include "core/formats/model_directory.h"
#include "tests/core/training_run.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

namespace headscope::core {
namespace {

using namespace test;

const std::string kQuery = "decoder.block0.self_attention.w_query";

/// Changes of every kind, each at its step.
std::vector<Event> every_event() {
  return {{5, SetRate{2e-2}},
          {5, SetParameter{kQuery, {1, 2, 3}, 0.5}},
          {9, SetDropout{0}},
          {12, SetBatchSize{9}},
          {12, SetWeightDecay{0.1}},
          {20, SetDropout{0.3}},
          {20, SetParameter{kQuery, {0, 0, 0}, -1}},
          {20, SetParameter{kQuery, {0, 0, 0}, 1}},
          {25, SetBatchSize{2}}};
}

/// Runs to the step and makes each change when its step is the next, as a person does.
void run_with_changes(Trainer& trainer, std::int64_t step, const std::vector<Event>& events) {
  while (trainer.step() < step) {
    for (const Event& event : events)
      if (event.step == trainer.step() + 1) REQUIRE(trainer.change(event.change));
    REQUIRE(trainer.run_step());
  }
}

TEST_CASE("a run gives the same bits on 1, 2 and 3 threads, with changes of every kind",
          "[core][trainer][threads]") {
  const CountingTask task;
  const auto alone = make_trainer(counting_run(), &task);
  run_with_changes(*alone, 40, every_event());
  CHECK(alone->events() == every_event());
  for (const int n_threads : {2, 3}) {
    const auto other = make_trainer(counting_run(), &task, n_threads);
    run_with_changes(*other, 40, every_event());
    CHECK(same_state(alone->state(), other->state()));
  }
}

TEST_CASE("each change makes a difference, and none of them before its step", "[core][trainer]") {
  const CountingTask task;
  for (std::size_t place = 0; place < every_event().size(); ++place) {
    const Event event = every_event()[place];
    if (place == 6) continue;  // the next one changes the same cell again
    INFO(place);
    const auto plain = make_trainer(counting_run(), &task), changed = make_trainer(counting_run(), &task);
    REQUIRE(changed->set_events({event}));
    run_to(*plain, event.step - 1);
    run_to(*changed, event.step - 1);
    CHECK(same_state(plain->state(), changed->state()));
    run_to(*plain, event.step);
    run_to(*changed, event.step);
    CHECK_FALSE(same_state(plain->state(), changed->state()));
  }
}

TEST_CASE("a replay from any state applies the events where they were made", "[core][trainer]") {
  const CountingTask task;
  const auto original = make_trainer(counting_run(), &task);
  std::vector<TrainState> states;
  for (std::int64_t step = 0; step <= 30; ++step) {
    run_with_changes(*original, step, every_event());
    states.push_back(original->state());
  }
  const Result<std::unique_ptr<Trainer>> replayer = original->make_replayer();
  REQUIRE(replayer);
  for (const std::size_t from : {0U, 4U, 5U, 11U, 19U, 20U, 29U}) {
    (*replayer)->restore(states[from]);
    CHECK(same_state((*replayer)->state(), states[from]));  // its waiting events are not in it yet
    run_to(**replayer, 30);
    INFO(from);
    CHECK(same_state((*replayer)->state(), states[30]));
  }
  // back in the original itself: the later events wait, and happen again
  original->restore(states[8]);
  CHECK(original->dropout() == 0);  // of step 9
  original->restore(states[7]);
  CHECK(original->dropout() == 0.1);
  CHECK(original->batch_size() == 6);
  run_to(*original, 30);
  CHECK(same_state(original->state(), states[30]));
}

TEST_CASE("a changed parameter shows at once, and is no part of the state before its step",
          "[core][trainer]") {
  const CountingTask task;
  const auto trainer = make_trainer(counting_run(), &task);
  run_to(*trainer, 3);
  const TrainState before = trainer->state();
  REQUIRE(trainer->change(SetParameter{kQuery, {0, 0, 1}, 7}));
  REQUIRE(trainer->change(SetParameter{kQuery, {0, 0, 1}, 8}));
  const TensorId tensor = *trainer->graph().find(kQuery);
  CHECK(trainer->training().workspace().values(tensor)[1] == 8);
  CHECK(same_state(trainer->state(), before));
  // taken back, as it never was
  REQUIRE(trainer->set_events({}));
  CHECK(same_bits(trainer->training().workspace().parameters(), before.parameters));
}

TEST_CASE("the last step's numbers stay readable when dropout and batch change", "[core][trainer]") {
  const CountingTask task;
  const auto trainer = make_trainer(counting_run(), &task);
  run_to(*trainer, 3);
  const std::shared_ptr<const Graph> graph = trainer->shared_graph();
  const TensorId loss = *graph->find("loss");
  const float last = trainer->training().workspace().values(loss)[0];
  REQUIRE(trainer->change(SetDropout{0}));
  REQUIRE(trainer->change(SetBatchSize{20}));
  CHECK(&trainer->graph() == graph.get());
  CHECK(trainer->training().workspace().values(loss)[0] == last);
  CHECK(trainer->training().workspace().sizes().batch == 6);
  run_to(*trainer, 4);
  CHECK(trainer->graph().n_tensors() < graph->n_tensors());  // no masks
  CHECK(trainer->training().workspace().sizes().batch == 20);
  CHECK(graph->find("loss") == loss);  // still there for whoever looks at the old one
}

TEST_CASE("a step's batch depends on seed and step alone, and holds no held-out example", "[core][trainer]") {
  const CountingTask task;
  RunConfig config = counting_run();
  config.batch_size = 50;
  const auto trainer = make_trainer(config, &task);
  const Result<TokenBatch> fifth = trainer->batch_at(5);
  REQUIRE(fifth);
  run_to(*trainer, 7);
  CHECK(*trainer->batch_at(5) == *fifth);
  CHECK_FALSE(*trainer->batch_at(6) == *fifth);
  config.seed = 8;
  CHECK_FALSE(*make_trainer(config, &task)->batch_at(5) == *fifth);
  for (const std::vector<std::int32_t>& row : fifth->source) CHECK(row[0] != 4);
}

TEST_CASE("a run from a file draws different rows at each step, the same ones again", "[core][trainer]") {
  const tests::TemporaryFolder folder;
  write_rows(folder / "rows.tokens.json");
  const RunConfig config = file_run(folder / "rows.tokens.json");
  const auto one = make_trainer(config, nullptr), three = make_trainer(config, nullptr, 3);
  const Result<TokenBatch> first = one->batch_at(1), second = one->batch_at(2);
  REQUIRE((first && second));
  CHECK(first->source.size() == 6);
  CHECK_FALSE(*first == *second);
  run_to(*one, 25);
  run_to(*three, 25);
  CHECK(same_state(one->state(), three->state()));
  CHECK(*one->batch_at(1) == *first);
  // all rows at once: each of them once
  REQUIRE(one->change(SetBatchSize{12}));
  std::vector<std::vector<std::int32_t>> rows = one->batch_at(26)->source;
  std::vector<std::vector<std::int32_t>> expected = read_token_batch(*config.data.file)->source;
  std::sort(rows.begin(), rows.end());
  std::sort(expected.begin(), expected.end());
  CHECK(rows == expected);
  const Result<void> more = one->change(SetBatchSize{13});
  REQUIRE_FALSE(more);
  CHECK(more.error().key == "train.range");
  CHECK(value_of(more.error(), "highest") == "12");
}

TEST_CASE("a full-batch run is the bare training step's, to the bit", "[core][trainer]") {
  const tests::TemporaryFolder folder;
  write_rows(folder / "rows.tokens.json");
  RunConfig config = file_run(folder / "rows.tokens.json");
  config.data.is_full_batch = true;
  config.start.has_equal_heads = true;
  config.start.head_noise = 0.1;
  const auto trainer = make_trainer(config, nullptr);
  CHECK(trainer->batch_size() == 12);
  run_to(*trainer, 30);

  const Result<Graph> graph = build_graph(config.model, "test", config.graph);
  REQUIRE(graph);
  const Result<TokenBatch> batch = read_token_batch(*config.data.file);
  REQUIRE(batch);
  const Result<FedBatch> fed = feed(*batch, config.model, "test");
  REQUIRE(fed);
  TrainStep<float> bare(*graph, fed->sizes, {.optimiser = config.optimiser, .seed = config.seed});
  initialise_parameters(*graph, bare.workspace(), config.seed, 1);
  equalise_heads(*graph, bare.workspace(), 0.1, config.seed);
  set_inputs(*graph, bare.workspace(), *fed);
  for (std::int64_t step = 1; step <= 30; ++step) REQUIRE(bare.run(step));
  CHECK(same_bits(trainer->training().workspace().parameters(), bare.workspace().parameters()));

  const Result<void> refused = trainer->change(SetBatchSize{3});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().key == "train.batch_of_file");
}

TEST_CASE("a run starts from a model directory of its own configuration and words", "[core][trainer]") {
  const tests::TemporaryFolder folder;
  const CountingTask task;
  const RunConfig drawn = counting_run();
  const auto original = make_trainer(drawn, &task);
  const auto write = [&](const ModelConfig& model, const Vocabulary& vocabulary) {
    REQUIRE(write_model_directory<float>(folder.path(), model, original->graph(),
                                         original->training().workspace(), vocabulary));
  };
  write(drawn.model, task.vocabulary());
  RunConfig config = drawn;
  config.start.from = folder.path();
  config.seed = 99;
  CHECK(same_state(make_trainer(config, &task)->state(), original->state()));

  const auto key_of_refusal = [&] {
    const Result<std::unique_ptr<Trainer>> trainer = Trainer::make(config, &task);
    if (trainer) return std::string("none");
    CHECK(trainer.error().key == "train.start");
    return value_of(trainer.error(), "key");
  };
  config.model.activation = Activation::gelu;
  CHECK(key_of_refusal() == "activation");
  config.model.activation = Activation::relu;
  config.model.scale_scores = false;
  CHECK(key_of_refusal() == "scale_scores");
  config.model.scale_scores = true;
  write(drawn.model, *Vocabulary::make({"a", "b", "c", "d", "e", "f", "g", "h"}, "test"));
  CHECK(key_of_refusal() == "vocab.json");
}

TEST_CASE("a refused change changes nothing and says why", "[core][trainer]") {
  const CountingTask task;
  const auto trainer = make_trainer(counting_run(), &task);
  run_to(*trainer, 2);
  const TrainState before = trainer->state();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::pair<Change, std::string>> refused = {
      {SetRate{-1}, "optimiser.range"},
      {SetRate{kNan}, "optimiser.range"},
      {SetRate{1000}, "optimiser.decay"},
      {SetWeightDecay{-0.1}, "optimiser.range"},
      {SetDropout{1}, "config.fraction"},
      {SetDropout{kNan}, "config.fraction"},
      {SetBatchSize{0}, "train.range"},
      {SetBatchSize{1 << 20}, "train.range"},
      {SetParameter{"nothing", {0}, 0}, "train.no_parameter"},
      {SetParameter{"loss", {}, 0}, "train.no_parameter"},
      {SetParameter{kQuery, {0, 0}, 0}, "edit.no_such_cell"},
      {SetParameter{kQuery, {2, 0, 0}, 0}, "edit.no_such_cell"},
      {SetParameter{kQuery, {0, 0, 0}, kNan}, "edit.not_finite"},
      {SetParameter{kQuery, {0, 0, 0}, 1e39}, "edit.not_finite"}};
  for (std::size_t place = 0; place < refused.size(); ++place) {
    INFO(place);
    const Result<void> outcome = trainer->change(refused[place].first);
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().key == refused[place].second);
  }
  CHECK(trainer->events().empty());
  CHECK(same_state(trainer->state(), before));
  const auto other = make_trainer(counting_run(), &task);
  run_to(*other, 10);
  run_to(*trainer, 10);
  CHECK(same_state(trainer->state(), other->state()));
  const Result<void> unordered = trainer->set_events({{20, SetRate{1e-3}}, {15, SetRate{1e-3}}});
  REQUIRE_FALSE(unordered);
  CHECK(unordered.error().key == "train.event_order");
}

TEST_CASE("a configuration out of range is refused", "[core][trainer]") {
  const CountingTask task;
  const auto key_of = [&](auto change) {
    RunConfig config = counting_run();
    change(config);
    const Result<std::unique_ptr<Trainer>> trainer = Trainer::make(config, &task);
    return trainer ? std::string() : trainer.error().key + " " + value_of(trainer.error(), "key");
  };
  CHECK(key_of([](RunConfig&) {}) == "");
  CHECK(key_of([](RunConfig& c) { c.batch_size = 0; }) == "train.range batch_size");
  CHECK(key_of([](RunConfig& c) { c.stop.n_steps = -1; }) == "train.range steps");
  CHECK(key_of([](RunConfig& c) { c.stop.target_score = 1.5; }) == "train.range target_score");
  CHECK(key_of([](RunConfig& c) { c.evaluate_every = 0; }) == "train.range evaluate_every");
  CHECK(key_of([](RunConfig& c) { c.n_held_out = 0; }) == "train.range n_held_out");
  CHECK(key_of([](RunConfig& c) { c.start.head_noise = -1; }) == "train.range head_noise");
  CHECK(key_of([](RunConfig& c) { c.start.embedding_deviation = std::nan(""); }) ==
        "train.range embedding_deviation");
  CHECK(key_of([](RunConfig& c) { c.graph.dropout = 1; }) == "config.fraction dropout");
  CHECK(key_of([](RunConfig& c) { c.optimiser.beta1 = 1; }) == "optimiser.range beta1");
  CHECK(key_of([](RunConfig& c) { c.model.d_model = 0; }) == "config.range d_model");
  CHECK(key_of([](RunConfig& c) { c.frozen = {"loss"}; }) == "train.no_parameter ");
}

TEST_CASE("a batch that takes too much memory is refused, at the start and later", "[core][trainer]") {
  const CountingTask task;
  RunConfig config = counting_run();
  config.model.max_tokens = 500;  // 250,000 weights a head and row, and some ten such tensors
  config.batch_size = 128;
  const Result<std::unique_ptr<Trainer>> refused = Trainer::make(config, &task);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().key == "train.too_large");
  config.batch_size = 1;
  const auto trainer = make_trainer(config, &task);
  const Result<void> larger = trainer->change(SetBatchSize{128});
  REQUIRE_FALSE(larger);
  CHECK(larger.error().key == "train.too_large");
  CHECK(trainer->batch_size() == 1);
  run_to(*trainer, 1);
}

TEST_CASE("a frozen parameter stays through a change of the graph", "[core][trainer]") {
  const CountingTask task;
  RunConfig config = counting_run();
  config.frozen = {kQuery};
  const auto trainer = make_trainer(config, &task);
  const auto numbers = [&] {
    const auto values = trainer->training().workspace().values(*trainer->graph().find(kQuery));
    return std::vector<float>(values.begin(), values.end());
  };
  const std::vector<float> before = numbers();
  run_with_changes(*trainer, 10, {{4, SetDropout{0}}, {6, SetBatchSize{12}}});
  CHECK(same_bits(numbers(), before));
}

TEST_CASE("what is set by hand goes along into each graph", "[core][trainer]") {
  const CountingTask task;
  int n_graphs = 0;
  const Intervene zero = [&n_graphs](Graph& graph) -> Result<Interventions> {
    ++n_graphs;
    Interventions interventions;
    interventions.overrides = {zero_head(graph, *graph.find("decoder.block0.self_attention.head_output"), 1)};
    return interventions;
  };
  Result<std::unique_ptr<Trainer>> made = Trainer::make(counting_run(), &task, 1, zero);
  REQUIRE(made);
  Trainer& trainer = **made;
  const TrainState before = trainer.state();
  run_with_changes(trainer, 8, {{4, SetDropout{0}}});
  CHECK(n_graphs >= 2);
  // the second head's values reach nothing and learn nothing but decay
  const TensorId w_value = *trainer.graph().find("decoder.block0.self_attention.w_value");
  const auto values = trainer.training().workspace().values(w_value);
  const std::size_t offset = trainer.training().workspace().plan().offset(w_value);
  const std::size_t half = values.size() / 2;
  double decay = 0;
  for (std::size_t place = half; place < values.size(); ++place)
    decay = std::max(decay, std::abs(static_cast<double>(values[place] -
                                                         before.parameters[offset + place] *
                                                             (1 - static_cast<float>(0.01 * 1e-2 * 3.6)))));
  CHECK(decay < 1e-6);  // eight steps of a rate that warms up, 36 tenths of 1e-2 in all, in float
  CHECK(std::abs(values[0] - before.parameters[offset]) > 1e-3F);
}

TEST_CASE("a rate 100 times too high stops before the damage, and training goes on with a smaller one",
          "[core][trainer]") {
  const CountingTask task;
  RunConfig config = counting_run();
  config.optimiser = {.kind = OptimiserKind::sgd, .rate = 1000};
  config.graph = {};
  const auto trainer = make_trainer(config, &task);
  std::optional<Error> error;
  TrainState good;
  while (!error && trainer->step() < 200) {
    good = trainer->state();
    if (const Result<StepReport> report = trainer->run_step(); !report) error = report.error();
  }
  REQUIRE(error);
  CHECK(error->key.starts_with("training."));
  CHECK(value_of(*error, "step") == std::to_string(trainer->step() + 1));
  CHECK(same_state(trainer->state(), good));
  for (const float number : good.parameters) REQUIRE(std::isfinite(number));
  REQUIRE_FALSE(trainer->run_step());  // as long as nothing changes, it fails again
  CHECK(same_state(trainer->state(), good));
}

TEST_CASE("after a step that failed, a person's change lets the run go on", "[core][trainer]") {
  const CountingTask task;
  const auto trainer = make_trainer(counting_run(), &task);
  run_to(*trainer, 3);
  TrainState damaged = trainer->state();
  const TensorId tensor = *trainer->graph().find(kQuery);
  damaged.parameters[trainer->training().workspace().plan().offset(tensor)] =
      std::numeric_limits<float>::quiet_NaN();
  trainer->restore(damaged);
  const Result<StepReport> report = trainer->run_step();
  REQUIRE_FALSE(report);
  CHECK(report.error().key == "training.parameter_not_finite");
  CHECK(value_of(report.error(), "tensor") == kQuery);
  CHECK(trainer->step() == 3);
  REQUIRE(trainer->change(SetParameter{kQuery, {0, 0, 0}, 0.25}));
  run_to(*trainer, 6);
}

}  // namespace
}  // namespace headscope::core
