// Whatever a learner does in whatever order: the state stays whole, every change can be taken back to the
// bit, and the same log gives the same state.
#include "core/hash.h"
#include "core/random.h"
#include "simulator/job.h"
#include "simulator/view.h"
#include "tests/simulator/any_state.h"
#include "tests/simulator/app_fixture.h"
#include "tests/simulator/whole_state.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace headscope::simulator {
namespace {

/// What was trained is compared by its numbers: a replay makes states of its own.
bool same_setup(core::Setup left, core::Setup right) {
  const auto a = std::exchange(left.trained, nullptr), b = std::exchange(right.trained, nullptr);
  if (left != right || !a != !b) return false;
  return !a || (a->step == b->step && a->parameters == b->parameters &&
                a->first_moments == b->first_moments && a->second_moments == b->second_moments);
}

/// What nothing may change but what it says it changes.
struct Picture {
  std::vector<float> numbers;
  core::Setup setup;
  std::size_t position = 0;
  bool operator==(const Picture& other) const {
    return same_setup(setup, other.setup) && position == other.position &&
           numbers.size() == other.numbers.size() &&
           std::memcmp(numbers.data(), other.numbers.data(), numbers.size() * sizeof(float)) == 0;
  }
};

/// All numbers that the cursor has reached: values, gradients, moments.
Picture picture_of(const AppState& state) {
  Picture picture{.numbers = {}, .setup = state.session.setup(), .position = state.cursor().position()};
  const core::Trace<float> trace = state.trace();
  const auto add = [&picture](std::span<const float> numbers) {
    picture.numbers.insert(picture.numbers.end(), numbers.begin(), numbers.end());
  };
  for (std::uint32_t index = 0; index < state.session.graph().n_tensors(); ++index) {
    const core::TensorId tensor{index};
    if (state.session.graph().spec(tensor).element == core::Element::real && trace.is_computed(tensor))
      add(trace.workspace().values(tensor));
    if (trace.gradient_writers_done(tensor) > 0) add(trace.workspace().gradients(tensor));
  }
  if (state.session.has_gold()) add(trace.update()->first), add(trace.update()->second);
  return picture;
}

class Monkey {
 public:
  Monkey(std::uint64_t seed, std::string stream) : rng_(seed, stream) {}

  std::int64_t pick(std::int64_t n) {
    return static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(std::max<std::int64_t>(n, 1))));
  }
  core::TensorId tensor(const AppState& state) {
    return {static_cast<std::uint32_t>(pick(static_cast<std::int64_t>(state.session.graph().n_tensors())))};
  }
  CellAddress cell(const AppState& state) {
    const core::TensorId id = tensor(state);
    const core::Shape& shape = state.session.trace().shape(id);
    return {id, shape.cell(pick(shape.count())), static_cast<core::Quantity>(pick(7))};
  }
  /// Of an operation that fits, or of any tensor, which is refused.
  template <class Op>
  core::TensorId result_of(const AppState& state) {
    std::vector<core::TensorId> found;
    for (const core::Operation& operation : state.session.graph().operations())
      if (const auto* op = std::get_if<Op>(&operation)) found.push_back(op->output);
    if (found.empty() || pick(20) == 0) return tensor(state);
    return found[static_cast<std::size_t>(pick(static_cast<std::int64_t>(found.size())))];
  }

  Action action(const AppState& state) {
    static const std::vector<std::string> kSentences = {"the cat sat on the mat",
                                                        "a cat",
                                                        "",
                                                        "x",
                                                        "the the the the",
                                                        "Zoë was here !",
                                                        "cat cat cat cat cat cat cat cat cat cat cat"};
    switch (pick(40)) {
      case 0:
        return NextStep{};
      case 1:
        return GoToStep{static_cast<std::size_t>(pick(20))};
      case 2:
      case 3:
        return NextOperation{};
      case 4:
        return PreviousOperation{};
      case 5:
        return NextLayer{};
      case 6:
        return PreviousLayer{};
      case 7:
      case 8:
      case 9:
        return MoveCursor{
            static_cast<std::size_t>(pick(static_cast<std::int64_t>(state.session.steps().size()) + 5))};
      case 10:
      case 11:
        return NextTrainingStep{};
      case 12:
        return SetPlaying{static_cast<Playing>(pick(2))};
      case 13:
        return SetPlayBy{static_cast<PlayBy>(pick(3))};
      case 14:
      case 15:
        return SetSentence{kSentences[static_cast<std::size_t>(pick(7))]};
      case 16:
      case 17:
        return AssumeGold{};
      case 18: {
        core::Gold gold{.origin = static_cast<core::Gold::Origin>(pick(3)),
                        .target = kSentences[static_cast<std::size_t>(pick(7))]};
        for (std::int64_t n = pick(5); n > 0; --n)
          gold.labels.push_back(static_cast<std::int32_t>(pick(5)) - 1);
        return SetGold{gold};
      }
      case 19:
        return SetRead{static_cast<std::int32_t>(pick(6)) - 1};
      case 20:
      case 21:
      case 22:
        return SetCell{.address = cell(state),
                       .value = rng_.normal() * 3,
                       .stroke = static_cast<std::uint32_t>(pick(3))};
      case 23:
        return SetCell{.address = cell(state), .value = static_cast<double>(pick(6)) - 1};
      case 24: {
        if (state.session.edits().empty()) return ClearCell{cell(state)};
        const auto edit = std::next(state.session.edits().begin(),
                                    pick(static_cast<std::int64_t>(state.session.edits().size())));
        return ClearCell{{edit->first.first, edit->first.second}};
      }
      case 25: {
        const core::HeadAddress head{result_of<core::MixValues>(state), pick(4)};
        if (pick(3) == 0) return SetHead{head, std::nullopt};
        return SetHead{head, static_cast<core::HeadMode>(pick(3))};
      }
      case 26:
        return SetAttention{.scores = result_of<core::Scores>(state),
                            .switches = {.temperature = std::exp(rng_.normal()),
                                         .leaves_scale = pick(2) == 0,
                                         .leaks_future = pick(2) == 0},
                            .stroke = static_cast<std::uint32_t>(pick(3))};
      case 27: {
        core::OptimiserConfig optimiser;
        optimiser.kind = static_cast<core::OptimiserKind>(pick(2));
        optimiser.rate = std::exp(rng_.normal() * 3 - 4);
        return SetOptimiser{.optimiser = optimiser, .stroke = static_cast<std::uint32_t>(pick(3))};
      }
      case 28:
        return Reset{};
      case 29:
        return pick(2) == 0 ? Action(RestoreCells{}) : Action(RestoreSentence{});
      case 30:
        return Undo{};
      case 31:
        return Redo{};
      case 32:
        return LockCell{cell(state)};
      case 33:
        return FollowCell{cell(state)};
      case 34:
        return pick(3) == 0 ? Action(ReturnTo{static_cast<std::size_t>(pick(4))}) : Action(StepBack{});
      case 35:
        return CheckGradient{cell(state)};
      case 36:
        return ChooseHead{pick(4) - 1};
      case 37:
        return pick(2) == 0 ? Action(ShowTensor{tensor(state)}) : Action(ChooseResult{tensor(state)});
      case 38:
        return OpenPlace{
            static_cast<StageLevel>(pick(6)),
            pick(2) == 0 ? std::string() : std::string(state.session.graph().spec(tensor(state)).name)};
      default:
        return pick(2) == 0 ? Action(SetDifference{static_cast<Shows>(pick(2))}) : Action(MarkBefore{});
    }
  }

 private:
  core::Rng rng_;
};

/// A walk of `n` actions, its log replayed; what it did is returned.
std::vector<Action> walk(const std::function<AppState()>& open, const std::string& name, int n,
                         std::uint64_t seed) {
  const core::Result<Words> words = Words::load(test::source_folder() / "assets", "en");
  REQUIRE(words);
  Monkey monkey(seed, name);
  AppState state = open();
  std::vector<Action> log;
  for (int step = 0; step < n; ++step) {
    log.push_back(monkey.action(state));
    INFO(name << ", seed " << seed << ", action " << step << " of kind " << log.back().index());
    const bool is_travel =
        std::holds_alternative<Undo>(log.back()) || std::holds_alternative<Redo>(log.back());
    const std::size_t n_undo = state.undo.size();
    const Picture before = picture_of(state);
    apply_action(state, log.back());
    test::require_whole(state, *words);
    if (state.message) {
      REQUIRE(state.session.setup() == before.setup);
    } else if (state.undo.size() > n_undo && !is_travel) {
      const Picture after = picture_of(state);
      log.emplace_back(Undo{});
      apply_action(state, log.back());
      Picture undone = picture_of(state);
      // an answer that was taken away takes the steps behind the probabilities with it
      if (undone.position == before.position) REQUIRE(undone == before);
      REQUIRE(undone.setup == before.setup);
      log.emplace_back(Redo{});
      apply_action(state, log.back());
      Picture redone = picture_of(state);
      if (redone.position == after.position) REQUIRE(redone == after);
      REQUIRE(redone.setup == after.setup);
    }
    if (step % 8 == 0) {
      const View view = make_view(state, *words, {}, monkey.cell(state));
      REQUIRE(view.revision == state.revision);
    }
  }
  AppState replayed = open();
  for (const Action& action : log) apply_action(replayed, action);
  CHECK(picture_of(replayed) == picture_of(state));
  CHECK(replayed.trail == state.trail);
  CHECK(replayed.level == state.level);
  CHECK(replayed.undo.size() == state.undo.size());
  // so does one that goes one operation at a time
  AppState impatient = open();
  impatient.patience = 0;
  impatient.most_at_once = 0;
  for (const Action& action : log) {
    apply_action(impatient, action);
    while (impatient.walk || impatient.checking || impatient.job) {
      if (impatient.checking) impatient.checking->background.wait(10);
      if (impatient.job) impatient.job->background.wait(10);
      apply_action(impatient, GoOn{});
    }
  }
  CHECK(picture_of(impatient) == picture_of(state));
  CHECK(impatient.trail == state.trail);
  CHECK(impatient.undo.size() == state.undo.size());
  // and everything that can be undone leads back to what was opened
  while (!state.undo.empty()) apply_action(state, Undo{});
  apply_action(state, MoveCursor{0});
  AppState fresh = open();
  apply_action(fresh, MoveCursor{0});
  CHECK(picture_of(state).numbers == picture_of(fresh).numbers);
  return log;
}

/// Walks over every kind of model and both lessons, `n` actions in all.
void walk_all(int n, std::uint64_t seed) {
  const std::vector<core::test::NamedConfig> configs = core::test::every_objective();
  const int share = n / static_cast<int>(configs.size() + 2) + 1;
  for (const core::test::NamedConfig& named : configs)
    walk([&named] { return test::open_any(named); }, named.name, share, seed);
  for (const char* lesson : {"1", "2"})
    walk([lesson] { return test::open_shipped(lesson); }, lesson, share, seed);
}

TEST_CASE("5,000 random actions keep the state whole, and undo and a replay give the same bits",
          "[simulator][actions][random]") {
  walk_all(5000, 7);
}

TEST_CASE("200,000 random actions", "[simulator][actions][long][.]") {
  for (std::uint64_t seed = 100; seed < 140; ++seed) walk_all(5000, seed);
}

}  // namespace
}  // namespace headscope::simulator
