// Explanations as people read them.
#include "simulator/narration.h"

#include "simulator/slice.h"
#include "simulator/tensor_facts.h"
#include "tests/simulator/app_fixture.h"

#include <cmath>

namespace headscope::simulator {
namespace {

struct Lesson {
  AppState state = test::open_shipped("2");
  Words words = *Words::load(test::source_folder() / "assets", "en");

  core::TensorId id(const std::string& name) const { return *state.session.graph().find(name); }
  Narration narrate_cell(const std::string& name, const core::Cell& cell) const {
    const std::size_t end = state.cursor.end();
    return narrate(state.session, core::Cursor(end, end), {id(name), cell}, words);
  }
};

TEST_CASE("a score reads as the words that meet, channel by channel", "[simulator][narration]") {
  const Lesson lesson;
  const Narration narration = lesson.narrate_cell("decoder.block0.self_attention.scores", {0, 0, 3, 2});
  CHECK(narration.name == "scores");
  CHECK(narration.address == "[on, sat]");
  CHECK(narration.sentence.find("**on**") != std::string::npos);
  CHECK(narration.sentence.find("**sat**") != std::string::npos);
  REQUIRE(narration.terms.size() == 4);
  CHECK(narration.terms[1].index == "1");
  CHECK(narration.terms[1].factors.size() == 2);
  CHECK(narration.heads[0].text == "on");
  CHECK(narration.heads[1].text == "sat");
  CHECK(narration.check_holds);
  CHECK(arithmetic_line(narration).ends_with("= " + narration.value));
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
  const std::size_t end = lesson.state.cursor.end();
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

TEST_CASE("a cell's way back and its way on agree", "[simulator][narration]") {
  const Lesson lesson;
  const Narration score = lesson.narrate_cell("decoder.block0.self_attention.scores", {0, 0, 3, 2});
  REQUIRE(score.to.size() == 1);
  CHECK(score.to[0].name == "scaled_scores");
  CHECK(score.to[0].address == "[on, sat]");
  const Narration scaled =
      lesson.narrate_cell("decoder.block0.self_attention.scaled_scores", score.to[0].target.cell);
  REQUIRE(scaled.from.size() == 1);
  CHECK(scaled.from[0].target == score.cell);
}

TEST_CASE("slices show every cell of a head once, and find it again", "[simulator][slice]") {
  const Lesson lesson;
  const core::Session& session = lesson.state.session;
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
      }
}

}  // namespace
}  // namespace headscope::simulator
