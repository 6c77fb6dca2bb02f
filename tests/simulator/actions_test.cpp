// Actions: what each does to the state, and that no sequence of them breaks it.
#include "simulator/actions.h"

#include "core/graph_paths.h"
#include "core/random.h"
#include "simulator/changes.h"
#include "simulator/session_state.h"
#include "tests/core/temporary_folder.h"
#include "tests/simulator/app_fixture.h"
#include "tests/simulator/bundled_state.h"
#include "tests/simulator/state_numbers.h"

#include <algorithm>
#include <vector>

namespace headscope::simulator {
namespace {

using test::all_numbers;
using test::same_bits;

CellAddress random_cell(const AppState& state, core::Rng& rng) {
  const auto pick = [&](std::int64_t n) {
    return static_cast<std::int64_t>(rng.next() % static_cast<std::uint64_t>(n));
  };
  const core::TensorId id{
      static_cast<std::uint32_t>(pick(static_cast<std::int64_t>(state.session.graph().n_tensors())))};
  const core::Shape& shape = state.session.trace().shape(id);
  return {id, shape.cell(pick(shape.count()))};
}

Action random_action(const AppState& state, core::Rng& rng) {
  static const std::vector<std::string> kSentences = {"the cat sat on the mat",
                                                      "a dog",
                                                      "",
                                                      "x",
                                                      "the the the the",
                                                      "Zoë was here !",
                                                      "cat cat cat cat cat cat cat cat cat"};
  switch (rng.next() % 19) {
    case 0:
      return NextStep{};
    case 1:
      return PreviousStep{};
    case 2:
      return GoToStep{rng.next() % 20};
    case 3:
      return NextOperation{};
    case 4:
      return PreviousOperation{};
    case 5:
      return MoveCursor{rng.next() % 40};
    case 6:
      return SetSentence{kSentences[rng.next() % kSentences.size()]};
    case 7:
    case 8:
      return SetCell{random_cell(state, rng), rng.normal() * 3};
    case 9:
      return SetCell{random_cell(state, rng), static_cast<double>(rng.next() % 5)};
    case 10:
      return Undo{};
    case 11:
      return Redo{};
    case 12:
      return LockCell{random_cell(state, rng)};
    case 13:
      return FollowCell{random_cell(state, rng)};
    case 14:
      return StepBack{};
    case 15:
      return ChooseHead{static_cast<std::int64_t>(rng.next() % 4) - 1};
    case 16:
      return RevealAnswer{0};
    case 17:
      return OpenLesson{rng.next() % 2 ? "1" : "2"};
    default:
      return RestoreCells{};
  }
}

void require_invariants(const AppState& state) {
  REQUIRE(state.cursor().position() <= state.cursor().end());
  REQUIRE(state.cursor().end() == state.session.steps().size());
  REQUIRE(state.cursor().position() <= state.session.n_steps());
  REQUIRE(state.runner.step < state.lesson().steps.size());
  REQUIRE(state.head() >= 0);
  REQUIRE(state.head() < state.session.config().n_heads);
  for (const CellAddress& address : state.trail)
    REQUIRE(state.session.trace().shape(address.tensor).contains(address.cell));
  const core::Trace<float> trace = state.trace();
  for (const auto& [place, value] : state.session.edits())
    if (!trace.is_updated(place.first))  // then the learner's number is the one before the update
      REQUIRE(trace.value(place.first, place.second) == static_cast<double>(static_cast<float>(value)));
}

TEST_CASE("random actions keep the state whole, and the same log gives the same state",
          "[simulator][actions]") {
  std::vector<Action> log;
  AppState state = test::open_shipped("2");
  core::Rng rng(7);
  for (int n = 0; n < 1500; ++n) {
    log.push_back(random_action(state, rng));
    apply_action(state, log.back());
    INFO("action " << n);
    require_invariants(state);
  }
  AppState replayed = test::open_shipped("2");
  for (const Action& action : log) apply_action(replayed, action);
  CHECK(same_bits(all_numbers(state), all_numbers(replayed)));
  CHECK(replayed.cursor() == state.cursor());
  CHECK(replayed.trail == state.trail);
  CHECK(replayed.session.setup() == state.session.setup());
}

TEST_CASE("undoing every change returns the same bits", "[simulator][actions]") {
  AppState state = test::open_shipped("1");
  const std::vector<float> before = all_numbers(state);
  core::Rng rng(3);
  for (int n = 0; n < 60; ++n) {
    apply_action(state, SetCell{random_cell(state, rng), rng.normal()});
    if (n % 10 == 5) apply_action(state, SetSentence{n % 20 == 5 ? "a dog ran" : "the mat"});
  }
  REQUIRE_FALSE(state.undo.empty());
  const std::vector<float> changed = all_numbers(state);
  const std::size_t n_changes = state.undo.size();
  while (!state.undo.empty()) apply_action(state, Undo{});
  CHECK(same_bits(all_numbers(state), before));
  for (std::size_t n = 0; n < n_changes; ++n) apply_action(state, Redo{});
  CHECK(same_bits(all_numbers(state), changed));
}

TEST_CASE("a refused action leaves a message and nothing else", "[simulator][actions]") {
  AppState state = test::open_shipped("1");
  const std::vector<float> before = all_numbers(state);
  const core::TensorId ids = *state.session.graph().find("source.ids");
  for (const Action& refused :
       std::vector<Action>{SetSentence{""}, SetCell{{ids, {0, 0}}, 1e9}, SetCell{{ids, {0, 0}}, 0.5},
                           OpenLesson{"no such lesson"}}) {
    apply_action(state, refused);
    CHECK(state.message);
    CHECK(state.undo.empty());
    CHECK(same_bits(all_numbers(state), before));
  }
  apply_action(state, NextStep{});
  CHECK_FALSE(state.message);
}

TEST_CASE("editing a word's id feeds the other word", "[simulator][actions]") {
  AppState state = test::open_shipped("1");
  const core::TensorId ids = *state.session.graph().find("source.ids");
  const std::int32_t dog = *state.session.vocabulary().find("dog");
  apply_action(state, SetCell{{ids, {0, 1}}, static_cast<double>(dog)});
  CHECK(state.session.token_at(1).text == "dog");
  apply_action(state, Undo{});
  CHECK(state.session.token_at(1).text == "cat");
}

TEST_CASE("a followed cell that lies ahead is computed on the way", "[simulator][actions]") {
  AppState state = test::open_shipped("1");
  const core::TensorId weights = *state.session.graph().find("decoder.block0.self_attention.weights");
  REQUIRE_FALSE(state.trace().is_computed(weights));
  apply_action(state, FollowCell{{weights, {0, 0, 1, 1}}});
  CHECK(state.trace().is_computed(weights));
}

TEST_CASE("a cell set back to the model's own number is no edit", "[simulator][actions]") {
  AppState state = test::open_shipped("1");
  const CellAddress cell{*state.session.graph().find("decoder.block0.self_attention.w_query"), {0, 1, 1}};
  const double own = state.session.unedited_value(cell.tensor, cell.cell);
  apply_action(state, SetCell{cell, own});
  CHECK(state.undo.empty());
  apply_action(state, SetCell{cell, own + 1});
  REQUIRE(state.session.edits().size() == 1);
  apply_action(state, SetCell{cell, own});
  CHECK(state.session.edits().empty());
  CHECK(state.undo.size() == 2);
}

TEST_CASE("saving a lesson keeps the learner's work while its model is the same", "[simulator][actions]") {
  const tests::TemporaryFolder folder;
  const std::filesystem::path file = folder / "01_lesson.md";
  std::string text = tests::read_text(test::source_folder() / "lessons/content/en/01_query_key_value.md");
  tests::write_text(file, text);
  core::Result<AppState> opened = open_lesson(test::source_folder() / "assets", folder.path(), "1");
  REQUIRE(opened);
  AppState& state = *opened;
  const CellAddress cell{*state.session.graph().find("decoder.block0.self_attention.w_query"), {0, 1, 1}};
  apply_action(state, SetSentence{"a dog ran"});
  apply_action(state, SetCell{cell, 2});
  const core::Setup work = state.session.setup();

  tests::write_text(file, text + "\nOne more line.\n");
  apply_action(state, ReloadLesson{});
  CHECK_FALSE(state.message);
  CHECK(state.session.setup() == work);
  CHECK(state.undo.size() == 2);

  const std::size_t seed = text.find("seed = ");
  REQUIRE(seed != std::string::npos);
  tests::write_text(file, text.insert(seed + 7, "1"));
  apply_action(state, ReloadLesson{});
  CHECK_FALSE(state.message);
  CHECK(state.session.text() == state.lesson().sentence);
  CHECK(state.session.edits().empty());
  CHECK(state.undo.empty());
}

TEST_CASE("a stroke whose first change was refused is still undone", "[simulator][actions]") {
  AppState state = test::open_bundled("look-ups");
  const core::Setup before = state.session.setup();
  core::OptimiserConfig wrong = before.optimiser, faster = before.optimiser;
  wrong.rate = -1;
  faster.rate *= 2;
  apply_action(state, SetOptimiser{wrong, 7});
  CHECK(state.message);
  apply_action(state, SetOptimiser{faster, 7});
  CHECK(state.undo.size() == 1);
  apply_action(state, Undo{});
  CHECK(state.session.setup() == before);

  const core::TensorId scores = core::find_attentions(state.session.graph()).front().scores;
  apply_action(state, SetAttention{scores, {.temperature = 1000}, 8});
  CHECK(state.message);
  apply_action(state, SetAttention{scores, {.temperature = 2}, 8});
  apply_action(state, Undo{});
  CHECK(state.session.setup() == before);
}

TEST_CASE("back at the beginning goes to the training step before, and takes back nothing else",
          "[simulator][actions]") {
  AppState state = test::open_bundled("look-ups");
  apply_action(state, NextTrainingStep{});
  apply_action(state, NextTrainingStep{});
  apply_action(state, PreviousOperation{});
  CHECK(state.session.training_step() == 2);
  CHECK(state.cursor().position() == 0);
  apply_action(state, Reset{});
  REQUIRE(state.session.setup() == state.initial);
  apply_action(state, MoveCursor{0});
  apply_action(state, PreviousOperation{});
  CHECK(state.session.setup() == state.initial);
  CHECK(state.cursor().position() == 0);
}

TEST_CASE("a head that is not there is refused, whatever is asked of it", "[simulator][actions]") {
  AppState state = test::open_bundled("look-ups");
  const core::TensorId output = core::find_attentions(state.session.graph()).front().head_output;
  const core::TensorId ids = *state.session.graph().find("source.ids");
  const core::Setup before = state.session.setup();
  for (const core::HeadMode mode : {core::HeadMode::off, core::HeadMode::mean, core::HeadMode::uniform})
    for (const core::HeadAddress& head : {core::HeadAddress{output, 99}, core::HeadAddress{output, -1},
                                          core::HeadAddress{ids, 0}, core::HeadAddress{{100'000}, 0}}) {
      apply_action(state, SetHead{head, mode});
      REQUIRE(state.message);
      CHECK(state.message->key == "session.switch");
      CHECK(state.session.setup() == before);
    }
}

TEST_CASE("a task of other words or classes than the model's draws nothing", "[simulator][actions]") {
  const std::filesystem::path root = test::source_folder();
  for (const char* const name : test::kBundled)
    for (const char* const other : test::kBundled) {
      INFO(name << " with the task of " << other);
      core::Result<OpenedModel> model = open_model(name, root / "assets");
      REQUIRE(model);
      model->task = core::TaskConfig{.name = other};
      core::Result<AppState> state =
          open_state(*std::move(model), {}, root / "assets", root / "lessons/content/en");
      REQUIRE(state);
      CHECK((state->task != nullptr) == (std::string(name) == other));
      CHECK(state->message.has_value() == (std::string(name) != other));
      if (state->message) CHECK(state->message->key == "open.other_task");

      // the same of a session file
      const tests::TemporaryFolder folder;
      SessionFile file = save_state(*state);
      file.task = core::TaskConfig{.name = other};
      REQUIRE(write_session(folder / "a.headscope", file));
      core::Result<AppState> read =
          load_state(folder / "a.headscope", root / "assets", root / "lessons/content/en");
      REQUIRE(read);
      CHECK((read->task != nullptr) == (std::string(name) == other));
      apply_action(*read, DrawExample{});
      CHECK(read->message.has_value() == (std::string(name) != other));
    }
}

TEST_CASE("the word that asks is the one that is fed, and taking a choice back returns to it",
          "[simulator][actions]") {
  AppState state = test::open_bundled("questions");
  const core::TensorId read = *core::find_inputs(state.session.graph()).read;
  const Words words = *Words::load(test::source_folder() / "assets", "en");
  apply_action(state, SetSentence{state.session.text()});
  for (int n = 0; n < 20; ++n) {
    apply_action(state, DrawExample{});
    const std::string text = state.session.text();
    apply_action(state, SetSentence{text + " ."});  // as typed: nobody said who asks
    if (state.message) FAIL(state.message->key);
    REQUIRE_FALSE(state.session.setup().read);
    INFO(state.session.text());
    const std::int32_t fed = state.trace().workspace().integers(read)[0];
    CHECK(state.session.default_read() == fed);
    const core::Setup before = state.session.setup();
    apply_action(state, SetRead{fed == 0 ? 1 : 0});
    const std::vector<Change> changes = changes_between(state, before, state.session.setup(), words, {});
    REQUIRE(changes.size() == 1);
    apply_action(state, *changes.front().take_back);
    CHECK(state.session.setup() == before);
  }
}

}  // namespace
}  // namespace headscope::simulator
