// A session of every kind of model: what is computed, which edits it takes, and that a refused one changes
// nothing.
#include "core/session.h"

#include "core/formats/model_directory.h"
#include "tests/core/every_model.h"
#include "tests/core/temporary_folder.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace headscope::core {
namespace {

/// Words "w2", "w3", … after the given marks.
Vocabulary words(std::int64_t size, const std::vector<std::string>& marks = {"<pad>"}) {
  std::vector<std::string> tokens = marks;
  while (static_cast<std::int64_t>(tokens.size()) < size)
    tokens.push_back("w" + std::to_string(tokens.size()));
  return *Vocabulary::make(tokens, "test");
}

Session make_session(const ModelConfig& config, const std::string& sentence = "w3 w4 w5") {
  Result<Session> session =
      Session::make({.config = config, .vocabulary = words(config.vocab_size), .seed = 3}, sentence);
  if (!session) FAIL(session.error().key);
  return *std::move(session);
}

/// All numbers of a session, to be held against later ones.
std::vector<double> numbers(const Session& session) {
  std::vector<double> all;
  const Trace<float> trace = session.trace();
  for (std::uint32_t index = 0; index < session.graph().n_tensors(); ++index)
    for (std::int64_t place = 0; place < trace.shape({index}).count(); ++place)
      all.push_back(trace.value({index}, trace.shape({index}).cell(place)));
  return all;
}

TensorId find(const Session& session, const std::string& name) {
  const std::optional<TensorId> found = session.graph().find(name);
  INFO(name);
  REQUIRE(found);
  return *found;
}

TEST_CASE("a session without what is predicted ends at the probabilities", "[core][session]") {
  using enum Architecture;
  for (const Objective objective :
       {Objective::classification, Objective::span, Objective::token_classification}) {
    const Session session = make_session(test::base_config(encoder, objective));
    const Trace<float> trace = session.trace();
    CHECK(trace.is_computed(find(session, "probabilities")));
    CHECK_FALSE(trace.is_computed(find(session, "losses")));
    CHECK_FALSE(trace.is_computed(find(session, "loss")));
  }
  const Session session = make_session(test::base_config(decoder, Objective::language_model));
  CHECK(session.trace().is_computed(find(session, "loss")));
}

TEST_CASE("a refused edit leaves sentence, edits and every number as they were", "[core][session]") {
  Session session = make_session(test::base_config(Architecture::decoder, Objective::language_model));
  const TensorId queries = find(session, "decoder.block0.self_attention.w_query");
  const Edits edits = {{{queries, {0, 1, 2}}, 0.5}};
  REQUIRE(session.set("w3 w4 w5 w6", edits));
  const std::vector<double> before = numbers(session);
  const TensorId ids = find(session, "source.ids"),
                 scores = find(session, "decoder.block0.self_attention.scores");
  const auto refused = [&](const std::string& sentence, const Edits& changed) {
    const Result<void> set = session.set(sentence, changed);
    REQUIRE_FALSE(set);
    CHECK(session.text() == "w3 w4 w5 w6");
    CHECK(session.edits() == edits);
    CHECK(session.n_positions() == 3);
    CHECK(numbers(session) == before);
    return set.error().key;
  };
  CHECK(refused("w7 w8", {{{scores, {0, 0, 2, 0}}, 1}}) == "edit.no_such_cell");
  CHECK(refused("w7 w8", {{{find(session, "probabilities"), {0, 0, 0}}, 1}}) == "edit.computed");
  CHECK(refused("w7 w8", {{{find(session, "loss"), {0}}, 1}}) == "edit.computed");
  CHECK(refused("w7 w8", {{{queries, {0, 1, 2}}, 2}, {{ids, {0, 0}}, 11}}) == "edit.range");
  CHECK(refused("w7 w8", {{{queries, {9, 0, 0}}, 2}}) == "edit.no_such_cell");
  CHECK(refused("w7 w8", {{{queries, {0, 0, 0}}, std::numeric_limits<double>::infinity()}}) ==
        "edit.not_finite");
  CHECK(refused("", {}) == "text.empty");
  // whether a cell is there is asked of the new sentence: two words feed one position
  CHECK(refused("w7 w8", {{{ids, {0, 2}}, 1}}) == "edit.no_such_cell");
  CHECK(session.set("w3 w4 w5 w6", {{{ids, {0, 2}}, 1}}));
  // and taking it back gives the same bits
  REQUIRE(session.set("w3 w4 w5 w6", edits));
  CHECK(numbers(session) == before);
}

TEST_CASE("an edit of an input is held to what the input may be", "[core][session]") {
  const auto range = [](const ModelConfig& config, const std::string& name, const Cell& cell, int lowest,
                        int highest) {
    INFO(name);
    const Session session = make_session(config);
    const TensorId tensor = find(session, name);
    CHECK(session.check_edit(tensor, cell, lowest));
    CHECK(session.check_edit(tensor, cell, highest));
    for (const double value : {lowest - 1.0, highest + 1.0, lowest + 0.5}) {
      const Result<void> edit = session.check_edit(tensor, cell, value);
      REQUIRE_FALSE(edit);
      CHECK(edit.error() ==
            Error{"edit.range",
                  name,
                  {{"lowest", std::to_string(lowest)}, {"highest", std::to_string(highest)}}});
    }
  };
  using enum Architecture;
  ModelConfig config = test::base_config(decoder, Objective::language_model);
  config.n_token_types = 2;
  range(config, "source.ids", {0, 1}, 0, 10);
  range(config, "source.types", {0, 1}, 0, 1);
  range(config, "source.targets", {0, 1}, -1, 10);
  range(config, "source.lengths", {0}, 0, 2);  // three words feed two
  // a mean, and a span, are over one token at least
  range(test::base_config(encoder, Objective::classification), "source.lengths", {0}, 1, 3);
  range(test::base_config(encoder, Objective::classification), "label", {0}, -1, 2);
  range(test::base_config(encoder, Objective::span), "source.lengths", {0}, 1, 3);
  range(test::base_config(encoder, Objective::span), "span", {0, 1}, -1, 2);
  range(test::base_config(encoder, Objective::token_classification), "labels", {0, 2, 0}, -1, 2);
}

TEST_CASE("a translation's directory is opened with its begin token as target", "[core][session]") {
  const tests::TemporaryFolder folder;
  ModelConfig config = test::base_config(Architecture::encoder_decoder, Objective::language_model);
  config.tokenizer = TokenizerConfig{};
  const Result<Graph> graph = build_graph(config, "test");
  REQUIRE(graph);
  Workspace<float> workspace(*graph, {1, 1, 1});
  test::draw_parameters(*graph, workspace);
  const auto write = [&](const std::optional<Vocabulary>& target) {
    REQUIRE(write_model_directory(folder / "model", config, *graph, workspace,
                                  std::optional(words(config.vocab_size)), target));
    return Session::open(folder / "model", "w3 w4");
  };
  const Result<Session> session = write(words(config.target_vocab_size, {"<pad>", "<end>", "<begin>"}));
  REQUIRE(session);
  CHECK(session->n_positions() == 2);
  CHECK(session->trace().value(find(*session, "target.ids"), {0, 0}) == 2);
  CHECK(session->trace().is_computed(find(*session, "probabilities")));
  CHECK_FALSE(session->trace().is_computed(find(*session, "loss")));
  // without one there is nothing to feed the decoder
  const Result<Session> unmarked = write(words(config.target_vocab_size));
  REQUIRE_FALSE(unmarked);
  CHECK(unmarked.error() == Error{"batch.key", "sentence", {{"key", "target"}}});
}

}  // namespace
}  // namespace headscope::core
