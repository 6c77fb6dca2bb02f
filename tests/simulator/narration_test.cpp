// Explanations as people read them.
#include "simulator/narration.h"

#include "core/formats/model_directory.h"
#include "core/graph_paths.h"
#include "simulator/slice.h"
#include "simulator/stage_plan.h"
#include "simulator/tensor_facts.h"
#include "tests/core/temporary_folder.h"
#include "tests/simulator/any_state.h"
#include "tests/simulator/app_fixture.h"
#include "tests/simulator/bundled_state.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <variant>
#include <vector>

namespace headscope::simulator {
namespace {

struct Lesson {
  AppState state = test::open_shipped("2");
  Words words = *Words::load(test::source_folder() / "assets", "en");

  core::TensorId id(const std::string& name) const { return *state.session.graph().find(name); }
  Narration narrate_cell(const std::string& name, const core::Cell& cell) const {
    const std::size_t end = state.cursor().end();
    return narrate(state.session, core::Cursor(end, end), {id(name), cell}, words);
  }
};

TEST_CASE("a score reads as the words that meet, channel by channel", "[simulator][narration]") {
  const Lesson lesson;
  const Narration narration = lesson.narrate_cell("decoder.block0.self_attention.scores", {0, 0, 3, 2});
  CHECK(narration.name.name == "scores");
  CHECK(narration.name.address == "[on, sat]");
  CHECK(narration.sentence.find("**on**") != std::string::npos);
  CHECK(narration.sentence.find("**sat**") != std::string::npos);
  REQUIRE(narration.terms.size() == 4);
  CHECK(narration.terms[1].index == "1");
  CHECK(narration.terms[1].factors.size() == 2);
  CHECK(narration.heads[0].text == "on");
  CHECK(narration.heads[1].text == "sat");
  CHECK(narration.check_holds);
}

TEST_CASE("the check holds for shares of scores that lie far apart", "[simulator][narration]") {
  Lesson lesson;
  for (const double value : {8.0, 40.0, 200.0, 5000.0}) {
    apply_action(lesson.state,
                 SetCell{{lesson.id("decoder.block0.self_attention.w_query"), {0, 1, 1}}, value});
    const core::TensorId weights = lesson.id("decoder.block0.self_attention.weights");
    const core::Shape& shape = lesson.state.session.trace().shape(weights);
    for (std::int64_t place = 0; place < shape.count(); ++place) {
      const core::Cell cell = shape.cell(place);
      const Narration narration = lesson.narrate_cell("decoder.block0.self_attention.weights", cell);
      INFO("w_query cell " << value << ", weights cell " << place << ": " << narration.check);
      CHECK(narration.check_holds);
    }
  }
}

TEST_CASE("a masked weight says who may not look at whom", "[simulator][narration]") {
  const Lesson lesson;
  const Narration narration = lesson.narrate_cell("decoder.block0.self_attention.weights", {0, 0, 1, 4});
  CHECK(narration.value == "0");
  CHECK(narration.terms.empty());
  CHECK(narration.sentence.find("**cat**") != std::string::npos);
}

TEST_CASE("every cell of the lesson's model has a sentence without gaps, and its check holds",
          "[simulator][narration]") {
  const Lesson lesson;
  const core::Session& session = lesson.state.session;
  const std::size_t end = session.steps().n_forward();
  for (std::uint32_t index = 0; index < session.graph().n_tensors(); ++index) {
    const core::Shape& shape = session.trace().shape({index});
    for (std::int64_t place = 0; place < shape.count(); place += 1 + shape.count() / 40) {
      const Narration narration =
          narrate(session, core::Cursor(end, end), {{index}, shape.cell(place)}, lesson.words);
      INFO(session.graph().spec({index}).name << " cell " << place << ": " << narration.sentence);
      CHECK(narration.check_holds);
      CHECK(narration.sentence.find('{') == std::string::npos);
      CHECK(narration.sentence.find("‹") == std::string::npos);
      for (const NarratedTerm& term : narration.terms) REQUIRE(term.signs.size() + 1 == term.factors.size());
      for (const NarratedLink& link : narration.from)
        CHECK(link.number ==
              lessons::format_number(session.trace().value(link.target.tensor, link.target.cell),
                                     number_kind_of(session.graph().spec(link.target.tensor))));
    }
  }
}

/// Sessions of models that are not the lessons': each has tensors of its own.
std::vector<core::Session> other_sessions() {
  core::ModelConfig config;
  config.architecture = core::Architecture::encoder;
  config.d_model = 8;
  config.n_heads = 2;
  config.d_head = 4;
  config.d_ff = 12;
  config.n_layers = 2;
  config.max_tokens = 6;
  config.norm = core::Norm::pre;
  config.bias = true;
  config.n_classes = 3;
  const core::Result<core::Vocabulary> vocabulary =
      core::Vocabulary::make({"<padding>", "<begin>", "the", "cat", "sat", "down"}, "test");
  config.vocab_size = vocabulary->size();
  std::vector<core::Session> sessions;
  const auto add = [&](core::ModelConfig changed) {
    core::Result<core::Session> session =
        core::Session::make({.config = changed, .vocabulary = *vocabulary, .seed = 3}, "the cat sat");
    INFO((session ? "" : session.error().key));
    REQUIRE(session);
    sessions.push_back(*std::move(session));
  };
  config.objective = core::Objective::classification;
  config.embedding_norm = true;
  config.n_token_types = 2;
  add(config);
  config.objective = core::Objective::token_classification;
  config.n_outputs = 2;
  config.activation = core::Activation::gelu;
  add(config);
  config.objective = core::Objective::span;
  config.n_classes = 0;
  config.n_outputs = 1;
  config.activation = core::Activation::gelu_tanh;
  add(config);
  config.architecture = core::Architecture::decoder;
  config.objective = core::Objective::language_model;
  config.positions = core::Positions::relative;
  config.norm = core::Norm::post;
  config.embedding_norm = false;
  config.n_token_types = 0;
  add(config);
  return sessions;
}

TEST_CASE("every cell of every kind of model has a sentence without gaps, and its check holds",
          "[simulator][narration]") {
  const Words words = *Words::load(test::source_folder() / "assets", "en");
  for (const core::Session& session : other_sessions()) {
    const std::size_t end = session.graph().operations().size();
    for (std::uint32_t index = 0; index < session.graph().n_tensors(); ++index) {
      const core::Shape& shape = session.trace().shape({index});
      for (std::int64_t place = 0; place < shape.count(); place += 1 + shape.count() / 10) {
        const Narration narration =
            narrate(session, core::Cursor(end, end), {{index}, shape.cell(place)}, words);
        INFO(session.graph().spec({index}).name << " cell " << place << ": " << narration.sentence << " "
                                                << narration.check);
        CHECK(narration.check_holds);
        CHECK_FALSE(narration.sentence.empty());
        CHECK(narration.sentence.find('{') == std::string::npos);
        CHECK(narration.sentence.find("‹") == std::string::npos);
        for (const NarratedTerm& term : narration.terms)
          REQUIRE(term.signs.size() + 1 == term.factors.size());
      }
    }
  }
}

TEST_CASE("a comma that is a word stands in quotation marks where it is spoken of",
          "[simulator][narration]") {
  const Words words = *Words::load(test::source_folder() / "assets", "en");
  const AppState state = test::open_bundled("sentiment", "the plot , not the opening , seemed good .");
  const core::Graph& graph = state.session.graph();
  const core::TensorId weights = core::find_attentions(graph).front().weights;
  const core::Cursor end(graph.operations().size(), graph.operations().size());
  std::size_t n_quoted = 0;
  for (std::int64_t query = 0; query < state.trace().shape(weights)[2]; ++query) {
    const std::string word = state.session.token_at(static_cast<std::size_t>(query)).text;
    const std::string sentence = narrate(state.session, end, {weights, {0, 0, query, query}}, words).sentence;
    INFO(word << ": " << sentence);
    const bool is_mark = word == "," || word == ".";
    n_quoted += is_mark ? 1 : 0;
    // in markup, where a full stop may be escaped
    CHECK((sentence.find("“") != std::string::npos) == is_mark);
  }
  CHECK(n_quoted == 3);
}

TEST_CASE(
    "the losses that are averaged are called by their words, and their classes where a word has several",
    "[simulator][narration]") {
  const Words words = *Words::load(test::source_folder() / "assets", "en");
  for (const core::test::NamedConfig& named : core::test::every_objective()) {
    const AppState state = test::open_any(named);
    if (!state.session.has_gold()) continue;
    const core::TensorId loss = *state.session.graph().find("loss");
    const std::size_t end = state.session.graph().operations().size();
    const Narration narration =
        narrate(state.session, core::Cursor(end, end), {loss, state.trace().shape(loss).cell(0)}, words);
    const core::TensorId losses = *state.session.graph().find("losses");
    const core::Shape& shape = state.trace().shape(losses);
    std::size_t at = 0;
    for (std::int64_t place = 0; place < shape.count(); ++place) {
      const core::Cell cell = shape.cell(place);
      if (state.trace().value(losses, cell) == 0) continue;  // without a target
      std::string label;
      for (int side = 1; side < shape.rank(); ++side)
        if (shape[side] > 1)
          label += (label.empty() ? "" : ", ") +
                   (state.session.graph().spec(losses).shape[side].axis == core::Axis::edge
                        ? std::string(cell[side] == 0 ? "start" : "end")
                        : side_label(state.session, whole_side(state.session, losses, side), cell[side]));
      INFO(named.name << ", loss " << place);
      REQUIRE(at < narration.terms.size());
      if (!label.empty()) CHECK(narration.terms[at].index == label);
      ++at;
    }
    CHECK(at == narration.terms.size());
  }
}

TEST_CASE("every operation of every kind of model stands on the stage with its result",
          "[simulator][stage]") {
  for (const core::Session& session : other_sessions())
    for (std::size_t index = 0; index < session.graph().operations().size(); ++index) {
      const core::Operation& operation = session.graph().operations()[index];
      const StagePlan plan = plan_operation(session, index, 1);
      INFO(session.graph().spec(core::result(operation)).name);
      REQUIRE_FALSE(plan.items.empty());
      CHECK(plan.items.back().slice.tensor == core::result(operation));
      CHECK(plan.items.back().role == StageRole::result);
      for (const core::Operand& operand : core::operands_of(operation)) {
        const bool stands = std::ranges::any_of(
            plan.items, [&](const StageItem& item) { return item.slice.tensor == operand.tensor; });
        // a table is looked up and logits make a loss without standing there
        const bool is_seen = !std::holds_alternative<core::CrossEntropy>(operation) &&
                             !std::holds_alternative<core::Lookup>(operation);
        if (session.graph().spec(operand.tensor).element == core::Element::real && is_seen) CHECK(stands);
      }
    }
}

TEST_CASE("independent classifiers stand side by side as the columns of one matrix", "[simulator][slice]") {
  const std::vector<core::Session> sessions = other_sessions();
  const core::Session& session = sessions[1];
  const Slice logits = slice_of(session, *session.graph().find("logits"), 0);
  CHECK(logits.rows.size == 4);     // <begin> and three words
  CHECK(logits.columns.size == 6);  // 2 outputs of 3 classes
  CHECK(logits.cell_at(2, 4) == core::Cell{0, 2, 1, 1});
  CHECK(side_label(session, logits.columns, 4) == "o 1 v 1");
  const Slice bias = slice_of(session, *session.graph().find("outputs.bias"), 0);
  CHECK(bias.columns.size == logits.columns.size);
  CHECK(bias.rows.size == 1);
}

/// An encoder-decoder whose target has more words than its source; the decoder is fed its begin token.
core::Session translating_session() {
  core::ModelConfig config;
  config.architecture = core::Architecture::encoder_decoder;
  config.vocab_size = 5;
  config.target_vocab_size = 9;
  config.d_model = 8;
  config.n_heads = 2;
  config.d_head = 4;
  config.max_tokens = 6;
  const core::Result<core::Vocabulary> source =
      core::Vocabulary::make({"<padding>", "<begin>", "the", "cat", "sat"}, "test");
  const core::Result<core::Vocabulary> target = core::Vocabulary::make(
      {"<padding>", "<begin>", "die", "der", "das", "Katze", "saß", "da", "."}, "test");
  const core::Result<core::Graph> graph = core::build_graph(config, "test");
  REQUIRE(graph);
  core::Workspace<float> workspace(*graph, {.batch = 1, .source = 1, .target = 1});
  core::initialise_parameters(*graph, workspace, 1, 1.0);
  const headscope::tests::TemporaryFolder folder;
  REQUIRE(core::write_model_directory<float>(folder.path(), config, *graph, workspace, *source, *target));
  core::Result<core::Session> session = core::Session::open(folder.path(), "the cat sat");
  REQUIRE(session);
  return *std::move(session);
}

TEST_CASE("positions and words of a target are called by its own words", "[simulator][slice]") {
  const core::Session session = translating_session();
  const auto side = [&](const char* tensor, int place) {
    return whole_side(session, *session.graph().find(tensor), place);
  };
  // the source: <begin> the cat sat
  CHECK(side_label(session, side("encoder.block0.self_attention.scores", 2), 1) == "the");
  CHECK(side_label(session, side("decoder.block0.cross_attention.scores", 3), 1) == "the");
  CHECK(labels_are_tokens(side("decoder.block0.cross_attention.scores", 3)));
  CHECK(side_label(session, side("encoder.token_embedding", 0), 3) == "cat");
  for (const auto& [tensor, place] : {std::pair{"decoder.block0.cross_attention.scores", 2},
                                      {"decoder.block0.self_attention.keys", 2},
                                      {"decoder.output", 1}}) {
    INFO(tensor);
    CHECK(side_label(session, side(tensor, place), 0) == session.token_at(0, core::TextSide::target).text);
    CHECK(labels_are_tokens(side(tensor, place)));
  }
  // an id beyond the source's vocabulary
  for (const auto& [tensor, place] :
       {std::pair{"decoder.token_embedding", 0}, {"unembedding.weight", 1}, {"logits", 2}}) {
    INFO(tensor);
    CHECK(side_label(session, side(tensor, place), 8) == session.target_vocabulary()->token(8));
    CHECK(labels_are_tokens(side(tensor, place)));
  }
  const Slice cross = slice_of(session, *session.graph().find("decoder.block0.cross_attention.weights"), 1);
  CHECK(side_label(session, cross.rows, 0) == session.token_at(0, core::TextSide::target).text);
  CHECK(side_label(session, cross.columns, 3) == "sat");
  const core::TensorId weights = *session.graph().find("decoder.block0.cross_attention.weights");
  CHECK(address_text(session, {weights, {0, 1, 0, 3}}) ==
        "[" + session.token_at(0, core::TextSide::target).text + ", sat]");

  const Words words = *Words::load(test::source_folder() / "assets", "en");
  for (std::uint32_t index = 0; index < session.graph().n_tensors(); ++index) {
    if (!session.trace().is_computed({index})) continue;  // the losses: nothing is predicted
    const core::Shape& shape = session.trace().shape({index});
    for (std::int64_t place = 0; place < shape.count(); place += 1 + shape.count() / 5)
      CHECK(narrate(session, session.trace().cursor(), {{index}, shape.cell(place)}, words).check_holds);
  }
}

TEST_CASE("a cell's way back and its way on agree", "[simulator][narration]") {
  const Lesson lesson;
  const Narration score = lesson.narrate_cell("decoder.block0.self_attention.scores", {0, 0, 3, 2});
  REQUIRE(score.to.size() == 1);
  CHECK(score.to[0].name.name == "scaled_scores");
  CHECK(score.to[0].name.address == "[on, sat]");
  const Narration scaled =
      lesson.narrate_cell("decoder.block0.self_attention.scaled_scores", score.to[0].target.cell);
  REQUIRE(scaled.from.size() == 1);
  CHECK(scaled.from[0].target == score.cell);
}

void check_slices(const core::Session& session) {
  for (std::uint32_t index = 0; index < session.graph().n_tensors(); ++index)
    for (const Turn turn : {Turn::none, Turn::transposed})
      for (std::int64_t head = 0; head < session.config().n_heads; ++head) {
        const Slice slice = slice_of(session, {index}, head, turn);
        INFO(session.graph().spec({index}).name << " head " << head);
        for (std::int64_t row = 0; row < slice.rows.size; ++row)
          for (std::int64_t column = 0; column < slice.columns.size; ++column) {
            const core::Cell cell = slice.cell_at(row, column);
            REQUIRE(slice.shape.contains(cell));
            REQUIRE(slice.find(cell) == Slice::Place{row, column});
          }
        // every cell of this head
        const int head_place = session.graph().spec({index}).shape.find(core::Axis::head);
        const std::int64_t n_cells = slice.rows.size * slice.columns.size;
        CHECK((n_cells == slice.shape.count() ||
               n_cells * slice.shape[std::max(head_place, 0)] == slice.shape.count()));
      }
}

TEST_CASE("slices show every cell of a head once, and find it again", "[simulator][slice]") {
  check_slices(Lesson().state.session);
  for (const core::Session& session : other_sessions()) check_slices(session);
}

}  // namespace
}  // namespace headscope::simulator
