// Classes that a task has names for are called by them wherever they are shown; words that a model lacks are
// refused at the field where they were typed.
#include "simulator/changes.h"
#include "simulator/diagram.h"
#include "simulator/narration.h"
#include "simulator/slice.h"
#include "tests/simulator/app_fixture.h"
#include "tests/simulator/bundled_state.h"
#include "tests/simulator/frame_check.h"

#include <algorithm>
#include <string>
#include <vector>

namespace headscope::simulator {
namespace {

using test::app_of;
using test::AppOnNull;
using Modifier = test::NullBackend::Modifier;

Words shipped_words() {
  core::Result<Words> words = Words::load(headscope::tests::source_folder() / "assets", "en");
  REQUIRE(words);
  return *std::move(words);
}

TEST_CASE("a class is called by its task's name on every side, in every address and every sentence",
          "[simulator][names]") {
  const Words words = shipped_words();
  for (const char* model : {"sentiment", "look-ups"}) {
    const AppState state = test::open_bundled(model);
    const core::Session& session = state.session;
    int n_tensors = 0;
    for (std::uint32_t index = 0; index < session.graph().n_tensors(); ++index) {
      const core::TensorId tensor{index};
      const core::ShapeSpec& shape = session.graph().spec(tensor).shape;
      const int place = shape.find(core::Axis::class_label);
      if (place < 0) continue;
      ++n_tensors;
      const Slice slice = slice_of(session, tensor, 0);
      const std::int64_t n_classes = session.config().n_classes;
      CHECK(labels_are_words(session, slice.columns));
      for (std::int64_t label = 0; label < n_classes; ++label) {
        const std::string name = state.task->class_name(static_cast<std::int32_t>(label));
        core::Cell cell;
        for (int side = 0; side < shape.rank(); ++side) cell.push_back(side == place ? label : 0);
        INFO(session.graph().spec(tensor).name << ", class " << label << ", " << name);
        CHECK(side_label(session, slice.columns, label).ends_with(name));
        CHECK(address_text(session, {tensor, cell}).find(name) != std::string::npos);
        const Narration told = narrate(session, session.forward_trace(), {tensor, cell}, words);
        CHECK(told.sentence.find(escape_markdown(name)) != std::string::npos);
      }
    }
    CHECK(n_tensors >= 3);
    // another session of the same model says the same
    CHECK(session.fork().class_names() == session.class_names());
  }
}

TEST_CASE("the sentence of a step and the right answer's own number name the class", "[simulator][names]") {
  const Words words = shipped_words();
  AppState state = test::open_bundled("sentiment");
  const core::TensorId logits = *state.session.graph().find("logits"),
                       labels = *state.session.graph().find("labels");
  const std::size_t step = *state.session.graph().producer(logits);
  apply_action(state, MoveCursor{step + 1});
  const std::string said = narrate_step(state.session, state.trace(), state.session.steps()[step], words,
                                        CellAddress{logits, {0, 2, 0, 4}});
  CHECK(said.find("*very positive*") != std::string::npos);
  const std::vector<std::int32_t>& gold = state.session.setup().gold.labels;
  const auto scored = std::ranges::find_if(gold, [](std::int32_t label) { return label >= 0; });
  REQUIRE(scored != gold.end());
  const Narration told =
      narrate(state.session, state.trace(), {labels, {0, scored - gold.begin(), 0}}, words);
  CHECK(told.sentence.find("*" + state.task->class_name(*scored) + "*") != std::string::npos);
}

TEST_CASE("an answer for each word names the word", "[simulator][names]") {
  for (const char* model : {"sentiment", "look-ups"}) {
    AppState state = test::open_bundled(model);
    const core::Gold& gold = state.session.setup().gold;
    const auto n_outputs = static_cast<std::size_t>(state.session.config().n_outputs);
    const std::string answer = answer_text(state, gold);
    INFO(model << ": " << answer);
    std::size_t n_scored = 0;
    for (std::size_t at = 0; at < gold.labels.size(); ++at) {
      if (gold.labels[at] < 0) continue;
      const std::string word = state.session.token_at(at / n_outputs).text + ": ";
      CHECK(answer.find(word) != std::string::npos);
      CHECK(answer.find(state.task->class_name(gold.labels[at])) != std::string::npos);
      ++n_scored;
    }
    CHECK(n_scored > 0);
    // the model's own answer is about the same words: no more of them than the right one has
    AppOnNull app(app_of(std::move(state)), {1600, 3200});
    app.settle();
    const core::Gold own = *app.state().session.predict_gold();
    CHECK(std::ranges::count_if(own.labels, [](std::int32_t label) { return label >= 0; }) >
          static_cast<std::ptrdiff_t>(n_scored));
    const core::Gold& right = app.state().session.setup().gold;
    core::Gold asked = own;
    for (std::size_t at = 0; at < asked.labels.size(); ++at)
      if (right.labels[at] < 0) asked.labels[at] = -1;
    std::string drawn;
    for (const TextEntry* entry : app.record.with_role("what_if")) drawn += entry->text + " ";
    std::string wanted = answer_text(app.state(), asked);
    const auto letters = [](std::string text) {
      std::erase(text, ' ');
      return text;
    };
    CHECK(letters(drawn).find(letters(wanted)) != std::string::npos);
  }
}

/// All strings of the frame with this role, as one.
std::string drawn_with(const AppOnNull& app, std::string_view role) {
  std::string text;
  for (const TextEntry* entry : app.record.with_role(role)) text += entry->text + " ";
  return text;
}

TEST_CASE(
    "a sentence that is refused stays in its field, with the reason at it, until it is mended or given up",
    "[simulator][names][app]") {
  const std::string typed = "the film was goood but zebras laughed";
  for (const bool is_in_panel : {false, true}) {
    INFO((is_in_panel ? "in the panel" : "in the bar"));
    AppOnNull app(app_of(test::open_bundled("sentiment")), {1600, 900});
    app.settle();
    const std::string before = app.state().session.text();
    const auto field = [&]() -> const TextEntry& {
      for (const TextEntry& entry : app.record.entries)
        if (entry.role == "field" && (entry.rect.min.y > 52) == is_in_panel) return entry;
      REQUIRE(false);
      return app.record.entries.front();
    };
    REQUIRE(field().full == before);
    const auto enter = [&](const std::string& sentence) {
      app.click(field().rect.centre());
      app.press(ImGuiKey_A, Modifier::control);
      app.type(sentence);
      app.press(ImGuiKey_Enter);
    };
    enter(typed);
    CHECK(app.state().session.text() == before);
    CHECK(field().full == typed);
    const auto reason = [&] { return drawn_with(app, is_in_panel ? "note" : "tooltip"); };
    for (const char* word : {"goood", "zebras", "laughed", "good"})
      CHECK(reason().find(word) != std::string::npos);
    // at the field, and nowhere else
    int n_told = 0;
    for (const TextEntry& entry : app.record.entries)
      if (entry.text.find("zebras") != std::string::npos && entry.role != "field") {
        ++n_told;
        CHECK(entry.rect.min.y > field().rect.min.y);
        CHECK(entry.rect.min.y < field().rect.max.y + 110);
        CHECK(entry.rect.min.x < field().rect.max.x);
        CHECK(entry.rect.max.x > field().rect.min.x);
      }
    CHECK(n_told >= 1);
    CHECK(n_told <= 2);
    // what else is done leaves it there
    app.app.apply(MoveCursor{3});
    app.settle();
    CHECK(field().full == typed);
    // Escape gives it up
    app.click(field().rect.centre());
    app.press(ImGuiKey_Escape);
    CHECK(field().full == before);
    CHECK(reason().find("zebras") == std::string::npos);
    // and so does Escape while the field is left, once, and nothing else
    app.app.apply(OpenPlace{StageLevel::block, "encoder.block0"});
    enter("zebras");
    REQUIRE(field().full == "zebras");
    const StageLevel level = app.state().level;
    REQUIRE(level != StageLevel::model);
    app.press(ImGuiKey_Escape);
    CHECK(field().full == before);
    CHECK(app.state().level == level);
    CHECK_FALSE(app.state().message);
    // typed again and mended it is taken
    enter("zebras");
    REQUIRE(field().full == "zebras");
    enter("the film was good .");
    CHECK(app.state().session.text() == "the film was good .");
    CHECK(field().full == "the film was good .");
    CHECK_FALSE(app.state().message);
    CHECK(reason().find("zebras") == std::string::npos);
  }
}

TEST_CASE("a length is drawn where there is padding, and nowhere else", "[simulator][names]") {
  for (const char* model : test::kBundled) {
    AppState state = test::open_bundled(model);
    const core::Graph& graph = state.session.graph();
    const core::TensorId lengths = core::find_inputs(graph).lengths;
    const auto n_drawn = [&] {
      Diagram diagram = make_diagram(graph);
      leave_out_lengths(diagram, state.trace());
      int n = 0;
      for (std::size_t operation = 0; operation < graph.operations().size(); ++operation)
        n += static_cast<int>(std::ranges::count(given_to(graph, diagram, operation), lengths));
      return n;
    };
    INFO(model);
    CHECK(n_drawn() == 0);
    apply_action(state, SetCell{{lengths, {0}}, static_cast<double>(state.session.n_positions() - 1)});
    REQUIRE_FALSE(state.message);
    CHECK(n_drawn() > 0);
  }
}

}  // namespace
}  // namespace headscope::simulator
