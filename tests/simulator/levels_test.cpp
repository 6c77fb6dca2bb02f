// The levels of the stage as a learner goes through them: what each says of the step, and where Escape leads.
#include "core/graph_paths.h"
#include "lessons/markdown.h"
#include "simulator/diagram.h"
#include "tests/simulator/any_state.h"
#include "tests/simulator/app_fixture.h"
#include "tests/simulator/bundled_state.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace headscope::simulator {
namespace {

using test::app_of;
using test::AppOnNull;

constexpr std::array<StageLevel, 6> kLevels = {StageLevel::model, StageLevel::block, StageLevel::part,
                                               StageLevel::heads, StageLevel::head,  StageLevel::matrix};

std::string without_blanks(const std::string& text) {
  std::string letters;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == ' ') continue;
    if (text.compare(at, 2, "\u00a0") == 0)
      ++at;
    else
      letters += text[at];
  }
  return letters;
}

/// All that a frame shows, in the order of drawing, without blanks.
std::string shown(const TextRecord& record) {
  std::string all;
  for (const TextEntry& entry : record.entries) all += without_blanks(entry.text);
  return all;
}

std::string plain(const std::string& markdown) {
  std::string text;
  for (const lessons::Block& block : lessons::parse_markdown(markdown))
    for (const lessons::Run& run : block.runs) text += run.text;
  return without_blanks(text);
}

TEST_CASE("what a training step did to the loss is told at every level", "[simulator][levels]") {
  for (const char* model : test::kBundled) {
    AppOnNull app(app_of(test::open_bundled(model)), {1600, 900});
    for (const StageLevel level : kLevels) {
      INFO(model << ", level " << static_cast<int>(level));
      app.app.apply(OpenPlace{level});
      const std::int64_t step = app.state().session.training_step();
      const double before = *loss_of(app.state().session);
      app.app.apply(NextTrainingStep{});
      app.settle();
      const double after = *loss_of(app.state().session);
      CHECK(before != after);
      const auto number = [&](double loss) {
        return lessons::format_number(loss, lessons::NumberKind::loss, app.app.theme().numbers);
      };
      const lessons::TextCatalog& text = app.app.words().text;
      const std::string next = text.text("stage.next_begins", {{"step", std::to_string(step + 1)}});
      const std::string said = text.text("stage.trained", {{"step", std::to_string(step)},
                                                           {"next", next},
                                                           {"before", number(before)},
                                                           {"after", number(after)}});
      CHECK(app.view().said == said);
      CHECK(shown(app.record).find(plain(said)) != std::string::npos);
    }
    // a change of anything else is no training step
    core::OptimiserConfig optimiser = app.state().session.setup().optimiser;
    optimiser.rate *= 2;
    app.app.apply(SetOptimiser{optimiser});
    app.settle();
    CHECK_FALSE(app.state().trained);
    CHECK(shown(app.record).find(plain(app.app.words().text.text("stage.at_begin"))) != std::string::npos);
  }
}

TEST_CASE("a training step taken in the forward pass stays at its place, with the held cell",
          "[simulator][levels]") {
  for (const char* model : test::kBundled) {
    INFO(model);
    AppOnNull app(app_of(test::open_bundled(model)), {1600, 900});
    const core::Graph& graph = app.state().session.graph();
    const core::TensorId weights = core::find_attentions(graph).back().weights;
    const std::size_t place = *graph.producer(weights) + 1;
    app.app.apply(MoveCursor{place});
    const CellAddress cell{weights, {0, 0, 2, 1}};
    app.app.apply(LockCell{cell});
    app.settle();
    const auto value = [&] { return app.state().trace().value(weights, cell.cell); };
    const double before = value();
    const std::string told = app.view().said;
    app.app.apply(NextTrainingStep{});
    app.settle();
    CHECK(app.state().session.training_step() == 2);
    CHECK(app.state().cursor().position() == place);
    CHECK(app.state().trail == std::vector<CellAddress>{cell});
    CHECK(value() != before);
    const std::string said = app.view().said;
    CHECK(said.find("step 2") != std::string::npos);
    CHECK(shown(app.record).find(plain(said)) != std::string::npos);
    // it is news until the next move
    app.app.apply(NextOperation{});
    app.app.apply(PreviousOperation{});
    CHECK(app.view().said != said);
    app.app.apply(LockCell{cell});
    app.app.apply(Undo{});
    CHECK(app.state().cursor().position() == place);
    CHECK(app.state().trail == std::vector<CellAddress>{cell});
    CHECK(value() == before);
    CHECK(app.view().said == told);
    // what comes after the loss belongs to the step that is over
    const core::StepList& steps = app.state().session.steps();
    for (const std::size_t after :
         {steps.backward_begin() + 1, steps.update_begin() + 1, app.state().session.n_steps()}) {
      app.app.apply(MoveCursor{after});
      app.app.apply(NextTrainingStep{});
      CHECK(app.state().cursor().at_begin());
    }
  }
}

TEST_CASE("every level tells the step under the cursor in a sentence", "[simulator][levels]") {
  for (const core::test::NamedConfig& named : core::test::every_objective()) {
    AppOnNull app(app_of(test::open_any(named)), {1600, 900});
    const std::size_t n_steps = app.state().session.n_steps();
    for (std::size_t turn = 0; turn < 18; ++turn) {
      const std::size_t position = 1 + turn * (n_steps - 1) / 17;
      app.app.apply(MoveCursor{position});
      app.app.apply(OpenPlace{StageLevel::matrix});
      const std::string near = app.view().said;
      app.app.apply(OpenPlace{kLevels[turn % kLevels.size()]});
      app.settle();
      INFO(named.name << ", step " << position << ", level " << turn % kLevels.size() << ": " << near);
      CHECK_FALSE(near.empty());
      CHECK(app.view().said == near);
      CHECK(shown(app.record).find(plain(near)) != std::string::npos);
    }
  }
}

TEST_CASE("the sentence about weights is of a word that has more than itself to look at",
          "[simulator][levels]") {
  for (const char* model : {"copying", "look-ups"}) {
    AppOnNull app(app_of(test::open_bundled(model)), {1600, 900});
    const core::Graph& graph = app.state().session.graph();
    for (const core::AttentionTensors& attention : core::find_attentions(graph))
      for (std::int64_t head = 0; head < app.state().session.config().n_heads; ++head) {
        app.app.apply(MoveCursor{*graph.producer(attention.weights) + 1});
        app.app.apply(ChooseHead{head});
        app.settle();
        INFO(model << ", " << graph.spec(attention.weights).name << ", head " << head << ": "
                   << app.view().said);
        REQUIRE(app.view().lit);
        const core::Cell& cell = app.view().lit->cell;
        CHECK(app.view().lit->tensor == attention.weights);
        CHECK(cell[1] == head);
        CHECK(cell[2] > 0);  // the first word sees itself alone
        for (std::int64_t key = 0; key < app.state().trace().shape(attention.weights)[3]; ++key)
          CHECK(app.state().trace().value(attention.weights, {cell[0], head, cell[2], key}) <=
                app.state().trace().value(attention.weights, cell));
      }
  }
}

/// What the stage shows of the model: which box is opened, and how.
std::string look(const AppState& state, const Diagram& diagram) {
  if (state.level == StageLevel::matrix) return "matrix";
  std::optional<std::size_t> operation;
  if (const std::optional<core::Step> step = state.last_step()) {
    const std::vector<std::size_t> all = operations_of(diagram, *step);
    if (!all.empty()) operation = all.front();
  }
  const std::size_t box = opened_box(state.session.graph(), diagram, state.level, state.opened, operation);
  const bool is_by_head = box != 0 && state.level >= StageLevel::heads;
  return std::to_string(box) + (is_by_head ? ", level " + std::to_string(static_cast<int>(state.level)) : "");
}

TEST_CASE("each Escape leads one level out that can be seen, up to the model", "[simulator][levels]") {
  for (const core::test::NamedConfig& named : core::test::every_objective()) {
    AppState state = test::open_any(named);
    const Diagram diagram = make_diagram(state.session.graph());
    const auto escape_to_the_model = [&](const std::string& what) {
      for (int presses = 0; look(state, diagram) != "0"; ++presses) {
        const std::string before = look(state, diagram);
        apply_action(state, StepBack{});
        INFO(named.name << ", position " << state.cursor().position() << ", " << what << ", press " << presses
                        << ", before " << before);
        REQUIRE(look(state, diagram) != before);
        REQUIRE(presses < 6);
      }
      CHECK(state.level <= StageLevel::block);
    };
    for (std::size_t position = 0; position <= state.session.n_steps(); ++position) {
      apply_action(state, MoveCursor{position});
      for (const StageLevel level : kLevels) {
        apply_action(state, OpenPlace{level});
        escape_to_the_model("level " + std::to_string(static_cast<int>(level)));
      }
    }
    for (const DiagramNode& node : diagram.nodes) {
      apply_action(state, OpenPlace{StageLevel::part, node.path});
      escape_to_the_model(node.path);
    }
    for (std::uint32_t tensor = 0; tensor < state.session.graph().n_tensors(); ++tensor) {
      apply_action(state, ShowTensor{{tensor}});
      escape_to_the_model(state.session.graph().spec({tensor}).name);
    }
  }
}

}  // namespace
}  // namespace headscope::simulator
