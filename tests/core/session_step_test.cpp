// A session's whole training step, for every kind of model: gold answers, switches, gradients, updates, the
// next step, and that taking anything back gives the same bits.
#include "core/session.h"

#include "core/explain.h"
#include "tests/core/every_model.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headscope::core {
namespace {

Vocabulary words(std::int64_t size, const std::vector<std::string>& marks) {
  std::vector<std::string> tokens = marks;
  while (static_cast<std::int64_t>(tokens.size()) < size)
    tokens.push_back("w" + std::to_string(tokens.size()));
  return *Vocabulary::make(tokens, "test");
}

Session make_session(const ModelConfig& config, const std::string& sentence = "w3 w4 w5") {
  SeedModel model{.config = config, .vocabulary = words(config.vocab_size, {"<pad>"}), .seed = 3};
  if (config.architecture == Architecture::encoder_decoder)
    model.target_vocabulary = words(config.target_vocab_size, {"<pad>", "<begin>", "<end>"});
  Result<Session> session = Session::make(std::move(model), sentence);
  if (!session) FAIL(session.error().key);
  return *std::move(session);
}

bool needs_gold(const ModelConfig& config) {
  return config.objective != Objective::none &&
         !(config.architecture == Architecture::decoder && config.objective == Objective::language_model);
}

/// Takes the whole training step, and stands at the beginning of the next.
Result<void> next_training_step(Session& session) {
  Result<Setup> next = session.next_setup();
  if (!next) return next.error();
  session.move_to(0);
  return session.set(*std::move(next));
}

/// The session with a gold answer, where its objective has one.
Session answered(const ModelConfig& config) {
  Session session = make_session(config);
  if (const std::optional<Gold> gold = session.predict_gold()) {
    Setup setup = session.setup();
    setup.gold = *gold;
    REQUIRE(session.set(setup));
  }
  return session;
}

/// Every number that the session holds at its cursor: values, and the gradients that have been written.
std::vector<float> numbers(const Session& session) {
  std::vector<float> all;
  const Trace<float> trace = session.trace();
  for (std::uint32_t index = 0; index < session.graph().n_tensors(); ++index) {
    const TensorId tensor{index};
    if (session.graph().spec(tensor).element == Element::real) {
      if (!trace.is_computed(tensor)) continue;
      const auto values = trace.workspace().values(tensor);
      all.insert(all.end(), values.begin(), values.end());
    }
    if (trace.gradient_writers_done(tensor) == 0) continue;
    const auto gradients = trace.workspace().gradients(tensor);
    all.insert(all.end(), gradients.begin(), gradients.end());
  }
  return all;
}

/// To the bit: NaN and -0 count as they are.
bool same_bits(const std::vector<float>& left, const std::vector<float>& right) {
  return left.size() == right.size() &&
         std::memcmp(left.data(), right.data(), left.size() * sizeof(float)) == 0;
}

TEST_CASE("a gold answer opens loss, backward pass and update; without one the walk ends before",
          "[core][session]") {
  for (const test::NamedConfig& named : test::every_objective()) {
    INFO(named.name);
    Session session = make_session(named.config);
    CHECK(session.has_gold() == (named.config.objective != Objective::none && !needs_gold(named.config)));
    if (named.config.objective == Objective::none) {
      CHECK_FALSE(session.predict_gold());
      CHECK(session.n_steps() == session.steps().n_forward());
      continue;
    }
    CHECK(session.predict_gold().has_value() == needs_gold(named.config));
    const std::size_t before = session.n_steps();
    if (needs_gold(named.config)) {
      CHECK(before < session.steps().n_forward());
      session.move_to(session.steps().size());
      CHECK(session.cursor().position() == before);
      const Result<void> trained = next_training_step(session);
      REQUIRE_FALSE(trained);
      CHECK(trained.error().key == "session.no_gold");
    }
    Session with = answered(named.config);
    CHECK(with.has_gold());
    CHECK(with.n_steps() == with.steps().size());
    with.move_to(with.steps().size());
    CHECK(with.cursor().at_end());
    // taking the answer away brings the cursor back to where there still is something
    Setup setup = with.setup();
    setup.gold = {};
    REQUIRE(with.set(setup));
    CHECK(with.n_steps() == before);
    CHECK(with.cursor().position() == std::min(before, with.steps().size()));
  }
}

TEST_CASE("the model's own answer is the likeliest one", "[core][session]") {
  using enum Architecture;
  const Session classes = make_session(test::base_config(encoder, Objective::classification));
  const TensorId tensor = *classes.graph().find("probabilities");
  const std::int32_t best = classes.predict_gold()->labels.front();
  for (std::int32_t label = 0; label < 3; ++label)
    CHECK(classes.trace().value(tensor, {0, best}) >= classes.trace().value(tensor, {0, label}));

  const Session span = make_session(test::base_config(encoder, Objective::span), "w3 w4 w5 w6 w7 w8");
  const TensorId edges = *span.graph().find("probabilities");
  const std::vector<std::int32_t> chosen = span.predict_gold()->labels;
  const auto product = [&](std::int64_t start, std::int64_t end) {
    return span.trace().value(edges, {0, start, 0}) * span.trace().value(edges, {0, end, 1});
  };
  for (std::int64_t start = 0; start < 6; ++start)
    for (std::int64_t end = start; end < 6; ++end)
      CHECK(product(chosen[0], chosen[1]) >= product(start, end));
}

TEST_CASE("walking there and back shows the same bits at every step", "[core][session]") {
  for (const test::NamedConfig& named : test::every_objective()) {
    INFO(named.name);
    Session session = answered(named.config);
    std::vector<std::vector<float>> seen;
    for (std::size_t position = 0; position <= session.n_steps(); ++position) {
      session.move_to(position);
      seen.push_back(numbers(session));
    }
    Rng rng(5);
    for (int n = 0; n < 60; ++n) {
      const auto position = static_cast<std::size_t>(rng.below(session.n_steps() + 1));
      session.move_to(position);
      INFO("position " << position);
      REQUIRE(same_bits(numbers(session), seen[position]));
    }
    const Session other = session.fork();
    CHECK(other.cursor().position() == session.cursor().position());
    CHECK(same_bits(numbers(other), numbers(session)));
  }
}

TEST_CASE("a training step is the trainer's, and taking it back gives the bits before it",
          "[core][session]") {
  for (const test::NamedConfig& named : test::every_objective()) {
    INFO(named.name);
    Session session = answered(named.config);
    if (!session.has_gold()) continue;
    session.move_to(session.steps().update_begin());
    const std::vector<float> before = numbers(session);
    const Setup first = session.setup();
    const double loss = session.trace().value(*session.graph().find("loss"), {0});
    for (int step = 1; step <= 20; ++step) {
      CHECK(session.training_step() == step);
      REQUIRE(next_training_step(session));
      CHECK(session.cursor().at_begin());
    }
    CHECK(session.forward_trace().value(*session.graph().find("loss"), {0}) < loss);
    REQUIRE(session.set(first));
    CHECK(session.training_step() == 1);
    session.move_to(session.steps().update_begin());
    CHECK(same_bits(numbers(session), before));
  }
}

TEST_CASE("an edited parameter is trained from its edited number", "[core][session]") {
  Session session = answered(test::base_config(Architecture::decoder, Objective::language_model));
  const TensorId queries = *session.graph().find("decoder.block0.self_attention.w_query");
  Setup setup = session.setup();
  setup.edits = {{{queries, {0, 1, 2}}, 5}};
  setup.optimiser.rate = 0.01;
  REQUIRE(session.set(setup));
  REQUIRE(next_training_step(session));
  CHECK(session.edits().empty());
  const double value = session.trace().value(queries, {0, 1, 2});
  CHECK(value != 5);
  CHECK(std::abs(value - 5) <= 0.0101);  // AdamW moves a number by about its rate
}

TEST_CASE("a number set by hand is kept, and nothing flows upstream of it", "[core][session]") {
  Session session = answered(test::base_config(Architecture::decoder, Objective::language_model));
  const TensorId scores = *session.graph().find("decoder.block1.self_attention.scores");
  Setup setup = session.setup();
  setup.edits = {{{scores, {0, 1, 1, 0}}, 2.5}};
  const std::vector<float> before = numbers(session);
  REQUIRE(session.set(setup));
  CHECK(session.trace().value(scores, {0, 1, 1, 0}) == 2.5);
  session.move_to(session.steps().update_begin());
  const Trace<float> trace = session.trace();
  CHECK(trace.set_by_hand(scores, {0, 1, 1, 0}) != nullptr);
  CHECK(explain(trace, scores, {0, 1, 1, 0}).combine == Combine::by_hand);
  // query 1 of head 1 sees keys 0 and 1: only the other one's score still pulls at it
  const TensorId queries = *session.graph().find("decoder.block1.self_attention.queries");
  const TensorId keys = *session.graph().find("decoder.block1.self_attention.keys");
  const double other = trace.number(scores, {0, 1, 1, 1}, Quantity::gradient);
  const double expected = other * trace.value(keys, {0, 1, 1, 0});
  CHECK(trace.number(queries, {0, 1, 1, 0}, Quantity::gradient) == Approx(expected).epsilon(1e-5));

  setup.edits.clear();
  REQUIRE(session.set(setup));
  session.move_to(session.steps().n_forward());
  CHECK(same_bits(numbers(session), before));
}

TEST_CASE("heads and attentions are switched, and back to the same bits", "[core][session]") {
  for (const test::NamedConfig& named : test::every_objective()) {
    INFO(named.name);
    Session session = answered(named.config);
    const std::vector<float> before = numbers(session);
    const Setup plain = session.setup();
    for (std::uint32_t index = 0; index < session.graph().n_tensors(); ++index) {
      const std::string& name = session.graph().spec({index}).name;
      if (leaf(name) == "head_output") {
        Setup off = plain;
        off.heads[{TensorId{index}, 1}] = {.mode = HeadMode::off};
        REQUIRE(session.set(off));
        const Shape& shape = session.trace().shape({index});
        for (std::int64_t i = 0; i < shape[2]; ++i) CHECK(session.trace().value({index}, {0, 1, i, 0}) == 0);
        off.heads[{TensorId{index}, 1}] = {.mode = HeadMode::uniform};
        REQUIRE(session.set(off));
        const TensorId weights =
            *session.graph().find(name.substr(0, name.size() - leaf(name).size()) + "weights");
        CHECK(session.trace().value(weights, {0, 1, 0, 0}) ==
              Approx(session.trace().value(weights, {0, 1, 0, 0})));
        const double first = session.trace().value(weights, {0, 1, shape[2] - 1, 0});
        CHECK(session.trace().value(weights, {0, 1, shape[2] - 1, session.trace().shape(weights)[3] - 1}) ==
              first);
        off.heads[{TensorId{index}, 1}] = {
            .mode = HeadMode::mean, .shape = Shape{1, 4}, .means = {1, 2, 3, 4}};
        REQUIRE(session.set(off));
        CHECK(session.trace().value({index}, {0, 1, shape[2] - 1, 2}) == 3);
        off.heads[{TensorId{index}, 1}].means.pop_back();
        CHECK(session.set(off).error().key == "session.means");
        off.heads = {{{TensorId{index}, 7}, {}}};
        CHECK(session.set(off).error().key == "session.switch");
      }
      if (leaf(name) == "scores" && !name.starts_with("span.")) {
        Setup hot = plain;
        hot.attentions[TensorId{index}] = {.temperature = 2};
        REQUIRE(session.set(hot));
        const auto producer = *session.graph().producer(TensorId{index});
        const auto& scale = std::get<ScaleScores>(session.graph().operations()[producer + 1]);
        CHECK(scale.temperature == 2);
        for (const double wrong : {0.0, -1.0, 1e9, std::nan("")}) {
          hot.attentions[TensorId{index}] = {.temperature = wrong};
          CHECK(session.set(hot).error().key == "session.temperature");
        }
      }
    }
    REQUIRE(session.set(plain));
    CHECK(same_bits(numbers(session), before));
  }
}

TEST_CASE("a detached check gives the same numbers, tells how far it is, and can be stopped",
          "[core][session]") {
  for (const test::NamedConfig& named : test::every_objective()) {
    INFO(named.name);
    Session session = answered(named.config);
    if (!session.has_gold()) continue;
    session.move_to(session.steps().size());
    const TensorId parameter = session.steps().parameters().back();
    const Cell cell = session.trace().shape(parameter).cell(0);
    const std::shared_ptr<DetachedChecker> checker = session.gradient_checker();
    for (const int most : {0, 1, 40}) {  // while it is made, and within a check
      int n_told = 0;
      CHECK_FALSE(checker->check(parameter, cell, [&](double) { return n_told++ < most; }));
      CHECK(n_told == most + 1);
    }
    double last = 0;
    const std::optional<GradientCheck> check = checker->check(parameter, cell, [&](double share) {
      CHECK((share >= last && share <= 1));
      last = share;
      return true;
    });
    REQUIRE(check);
    CHECK(last == 1);
    Session other = answered(named.config);
    const GradientCheck expected = other.check_gradient(parameter, cell);
    CHECK(check->analytic == expected.analytic);
    CHECK(check->numeric == expected.numeric);
    // it goes on as it was when the session is another one
    REQUIRE(next_training_step(session));
    CHECK(checker->check(parameter, cell)->numeric == expected.numeric);
    // the last bias before a softmax over positions has no gradient
    if (expected.analytic != 0) CHECK(session.check_gradient(parameter, cell).numeric != expected.numeric);
  }
}

TEST_CASE("a gradient is checked with the parameters as they were before the update", "[core][session]") {
  for (const test::NamedConfig& named : test::every_objective()) {
    INFO(named.name);
    Session session = answered(named.config);
    if (!session.has_gold()) continue;
    session.move_to(session.steps().update_begin());
    const TensorId parameter = session.steps().parameters().back();
    const Cell cell = session.trace().shape(parameter).cell(0);
    const GradientCheck before = session.check_gradient(parameter, cell);
    session.move_to(session.steps().size());
    const GradientCheck after = session.check_gradient(parameter, cell);
    CHECK(before.analytic == after.analytic);
    CHECK(before.numeric == after.numeric);
    // single precision's gradient against double's: rounding of the forward pass
    CHECK(session.trace().number(parameter, cell, Quantity::gradient) ==
          Approx(before.analytic).epsilon(1e-4).margin(1e-6));
    // the difference's own error is far below, unless a ReLU's kink lies within it
    if (!before.crosses_kink) CHECK(before.numeric == Approx(before.analytic).epsilon(1e-6).margin(1e-9));
  }
}

TEST_CASE("a longer sentence gets more room, and one beyond all room is refused", "[core][session]") {
  ModelConfig config = test::base_config(Architecture::decoder, Objective::language_model);
  config.max_tokens = 600;
  Session session = make_session(config);
  std::string text;
  for (int n = 0; n < 513; ++n) text += n % 2 == 0 ? "w3 " : "w4 ";
  REQUIRE(session.set(text, {}));
  CHECK(session.n_positions() == 512);
  REQUIRE(session.set("w3 w4 w5", {}));
  CHECK(session.n_positions() == 2);

  config.n_heads = 1000;
  Session wide = make_session(config);
  const Result<void> refused = wide.set(text, {});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().key == "session.too_large");
  CHECK(wide.text() == "w3 w4 w5");
}

TEST_CASE("labels for another sentence are refused", "[core][session]") {
  Session session = answered(test::base_config(Architecture::encoder, Objective::token_classification));
  Setup setup = session.setup();
  setup.text = "w3 w4";
  CHECK(session.set(setup).error().key == "session.labels");
  CHECK(session.text() == "w3 w4 w5");
  CHECK(session.setup_for("w3 w4").gold.origin == Gold::Origin::none);
}

}  // namespace
}  // namespace headscope::core
