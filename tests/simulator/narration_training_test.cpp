// Gradients, moments and updates as people read them: every number of every kind of model, and some by hand.
#include "simulator/narration.h"

#include "simulator/tensor_facts.h"
#include "tests/core/every_model.h"
#include "tests/simulator/app_fixture.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headscope::simulator {
namespace {

using core::Quantity;

core::Vocabulary words_of(std::int64_t size) {
  std::vector<std::string> tokens = {"<padding>", "<end>", "<begin>"};
  while (static_cast<std::int64_t>(tokens.size()) < size)
    tokens.push_back("w" + std::to_string(tokens.size()));
  return *core::Vocabulary::make(tokens, "test");
}

/// A session with something to predict, but for objective none; three words of a vocabulary.
core::Session session_of(const core::ModelConfig& config, const core::OptimiserConfig& optimiser = {}) {
  core::SeedModel model{.config = config, .vocabulary = words_of(config.vocab_size), .seed = 3};
  if (config.target_vocab_size > 0) model.target_vocabulary = words_of(config.target_vocab_size);
  core::Result<core::Session> session = core::Session::make(std::move(model), "w3 w4 w5");
  INFO((session ? "" : session.error().key));
  REQUIRE(session);
  core::Setup setup = session->setup();
  setup.optimiser = optimiser;
  if (const std::optional<core::Gold> gold = session->predict_gold()) setup.gold = *gold;
  const core::Result<void> set = session->set(setup);
  INFO((set ? "" : set.error().key));
  REQUIRE(set);
  return *std::move(session);
}

struct Reader {
  Words words = *Words::load(test::source_folder() / "assets", "en");

  Narration read(const core::Session& session, const CellAddress& cell) const {
    return narrate(session, session.trace(), cell, words);
  }
};

/// The distance within which a displayed number stands for `value`: half a unit of its last digit.
double display_error(const std::string& text, double value) {
  if (text.find('e') != std::string::npos) return 0.051 * std::abs(value);
  const std::size_t point = text.find('.');
  if (point == std::string::npos) return value == 0 ? 0 : 0.5;
  return 0.5001 * std::pow(10.0, -static_cast<double>(text.size() - point - 1));
}

void check_number(const std::string& text, double value) {
  const std::optional<double> read = lessons::parse_number(text);
  const bool is_same =
      read && (!std::isfinite(value) || std::abs(*read - value) <= display_error(text, value));
  if (!is_same) FAIL_CHECK("\"" << text << "\" is displayed for " << value);
}

/// No gap, no key, no raw number. (Counted as an assertion only where it fails: there are millions.)
void check_text(const std::string& text) {
  for (const char* flaw : {"{", "‹", "#", "-0.00", "−0.00 "})
    if (text.find(flaw) != std::string::npos) FAIL_CHECK("\"" << text << "\" has " << flaw);
  if (text.empty()) FAIL_CHECK("an empty text");
}

/// Whether the displayed factors of a row make the displayed value, as far as their digits say.
void check_row(const NarratedTerm& row) {
  check_text(row.value);
  if (row.signs.size() + 1 != row.factors.size()) FAIL("a sign is missing");
  double product = 1, spread = 0;
  for (std::size_t place = 0; place < row.factors.size(); ++place) {
    check_text(row.factors[place].number);
    const std::optional<double> number = lessons::parse_number(row.factors[place].number);
    if (!number || !std::isfinite(*number)) return;  // "√4"
    const double error = display_error(row.factors[place].number, *number);
    const bool divides = place > 0 && row.signs[place - 1] == "÷";
    if (divides && std::abs(*number) <= error) return;
    spread = divides ? spread / (std::abs(*number) - error) + std::abs(product / *number) * error
                     : spread * (std::abs(*number) + error) + std::abs(product) * error;
    product = divides ? product / *number : product * *number;
  }
  // constants are written with four digits
  if (std::abs(product - row.amount) >
      1.01 * spread + 2e-3 * std::abs(row.amount) + display_error(row.value, row.amount))
    FAIL_CHECK("a row's factors make " << product << ", not " << row.amount);
}

void check_narration(const core::Session& session, const Narration& narration) {
  const core::Trace<float> trace = session.trace();
  const CellAddress& cell = narration.cell;
  const core::Explanation explanation = core::explain(trace, cell.tensor, cell.cell, cell.quantity);
  check_text(narration.sentence);
  check_text(narration.name.text());
  check_number(narration.value, explanation.value);
  CHECK(narration.check_holds);
  REQUIRE(narration.terms.size() == explanation.terms.size());
  double sum = 0, error = display_error(narration.value, explanation.value);
  for (std::size_t place = 0; place < narration.terms.size(); ++place) {
    check_number(narration.terms[place].value, explanation.terms[place].value);
    if (cell.quantity != Quantity::value || explanation.key.find("w.value") != std::string::npos)
      check_row(narration.terms[place]);
    sum += lessons::parse_number(narration.terms[place].value).value_or(0);
    error += display_error(narration.terms[place].value, explanation.terms[place].value);
    // whatever is a cell's can be followed
    const auto& factors = explanation.terms[place].factors;
    const bool has_cell =
        std::ranges::any_of(factors, [](const auto& each) { return each.tensor.has_value(); });
    if (has_cell != std::ranges::any_of(narration.terms[place].factors,
                                        [](const auto& each) { return each.target.has_value(); }))
      FAIL_CHECK("term " << place << " cannot be followed");
  }
  if (explanation.combine == core::Combine::sum && explanation.terms.size() > 1)
    CHECK(std::abs(sum - explanation.value) <= error);
  for (const auto* links : {&narration.from, &narration.to})
    for (const NarratedLink& link : *links) {
      const CellAddress& to = link.target;
      check_text(link.name.text());
      REQUIRE(trace.shape(to.tensor).contains(to.cell));
      if (!link.number.empty()) check_number(link.number, trace.number(to.tensor, to.cell, to.quantity));
    }
}

/// Cells of a tensor: one near the beginning, the last.
std::vector<core::Cell> some_cells(const core::Shape& shape) {
  std::vector<core::Cell> cells;
  for (const std::int64_t place : {shape.count() / 3, shape.count() - 1})
    if (place >= 0 && place < shape.count()) cells.push_back(shape.cell(place));
  return cells;
}

/// The beginning, within the backward pass, its end, within the update, its end.
std::vector<std::size_t> places_of(const core::Session& session) {
  const core::StepList& steps = session.steps();
  if (!session.has_gold()) return {session.n_steps()};
  return {0, steps.backward_begin() + steps.n_backward() / 2, steps.update_begin(),
          (steps.update_begin() + steps.size()) / 2, steps.size()};
}

TEST_CASE("every number of every kind of model has a sentence, terms and links that agree with the core",
          "[simulator][narration]") {
  const Reader reader;
  std::size_t n_gradients = 0, n_updates = 0;
  for (const auto& [name, config] : core::test::every_config()) {
    core::Session session = session_of(config, {.weight_decay = 0.1, .clip_norm = 0.5});
    for (const std::size_t position : places_of(session)) {
      session.move_to(position);
      for (std::uint32_t index = 0; index < session.graph().n_tensors(); ++index)
        for (const core::Cell& cell : some_cells(session.trace().shape({index}))) {
          for (const Quantity quantity :
               {Quantity::value, Quantity::gradient, Quantity::first_moment, Quantity::second_moment,
                Quantity::previous_value, Quantity::previous_first, Quantity::previous_second}) {
            const CellAddress address{{index}, cell, quantity};
            const Narration narration = reader.read(session, address);
            INFO(name << " at " << position << ": " << narration.name.text() << ": " << narration.sentence);
            const bool exists = std::ranges::count(narration.quantities, quantity) > 0 ||
                                session.trace().has({index}, quantity);
            if (!exists) {
              check_text(narration.sentence);
              CHECK(narration.value == reader.words.text.text("explainer.none"));
              continue;
            }
            check_narration(session, narration);
            CHECK(narration.is_computed == narration.not_yet.empty());
            if (quantity == Quantity::gradient && !narration.terms.empty()) ++n_gradients;
            if (quantity == Quantity::value && session.trace().is_updated({index})) ++n_updates;
          }
        }
    }
  }
  CHECK(n_gradients > 5'000);  // else most of this was not tried
  CHECK(n_updates > 500);
}

TEST_CASE("every step of every kind of model has a sentence with its numbers", "[simulator][narration]") {
  const Reader reader;
  for (const auto& [name, config] : core::test::every_config()) {
    core::Session session = session_of(config);
    session.move_to(session.n_steps());
    for (std::size_t place = 0; place < session.n_steps(); ++place) {
      const std::string sentence =
          narrate_step(session, session.trace(), session.steps()[place], reader.words);
      INFO(name << ", step " << place << ": " << sentence);
      check_text(sentence);
      CHECK(sentence.starts_with("**"));  // a name, so not the title alone
      CHECK(std::ranges::any_of(sentence, [](char c) { return c >= '0' && c <= '9'; }));
    }
  }
}

// --- by hand, on the lesson's model: two heads of width 4, six words, a causal mask ---

struct Trained {
  Reader reader;
  core::Session session = make();

  static core::Session make() {
    AppState state = test::open_shipped("2");
    core::Session session = std::move(state.session);
    REQUIRE(session.has_gold());
    session.move_to(session.steps().update_begin());
    return session;
  }
  core::TensorId id(const std::string& leaf) const {
    return *session.graph().find("decoder.block0.self_attention." + leaf);
  }
  double number(const std::string& leaf, const core::Cell& cell, Quantity quantity) const {
    return session.trace().number(id(leaf), cell, quantity);
  }
  Narration read(const std::string& leaf, const core::Cell& cell, Quantity quantity) const {
    return reader.read(session, {id(leaf), cell, quantity});
  }
};

TEST_CASE("the gradient of a score is upstream times a column of the softmax's slope",
          "[simulator][narration]") {
  const Trained trained;
  const core::Cell cell{0, 0, 3, 2};  // on, sat
  const Narration narration = trained.read("masked_scores", cell, Quantity::gradient);
  CHECK(narration.name.text() == "∂L/∂masked_scores[on, sat]");
  REQUIRE(narration.terms.size() == 4);
  CHECK(narration.index_head == "k");
  CHECK(narration.heads[0].text == "upstream");
  CHECK(narration.heads[1].text == "local");
  CHECK(narration.value_head == "term");
  CHECK(narration.left_out == "the, mat: masked, 0 exactly");
  const std::vector<std::string> keys = {"the", "cat", "sat", "on"};
  const double own = trained.number("weights", cell, Quantity::value);
  double sum = 0;
  for (std::int64_t k = 0; k < 4; ++k) {
    const core::Cell at{0, 0, 3, k};
    const double upstream = trained.number("weights", at, Quantity::gradient);
    const double weight = trained.number("weights", at, Quantity::value);
    const double local = weight * ((k == 2 ? 1 : 0) - own);
    const NarratedTerm& row = narration.terms[static_cast<std::size_t>(k)];
    CHECK(row.index == keys[static_cast<std::size_t>(k)]);
    REQUIRE(row.factors.size() == 2);
    check_number(row.factors[0].number, upstream);
    check_number(row.factors[1].number, local);
    check_number(row.value, upstream * local);
    CHECK(row.factors[0].target == CellAddress{trained.id("weights"), at, Quantity::gradient});
    sum += upstream * local;
  }
  check_number(narration.sum, sum);
  const std::string rate = lessons::format_number(std::abs(sum), lessons::NumberKind::gradient);
  CHECK(narration.sentence.find(sum < 0 ? "would fall at a rate of " + rate
                                        : "would rise at a rate of " + rate) != std::string::npos);
  REQUIRE(narration.to.size() == 1);
  CHECK(narration.to[0].name.text() == "∂L/∂scaled_scores[on, sat]");
}

TEST_CASE("a masked score's gradient is 0 and says why", "[simulator][narration]") {
  const Trained trained;
  const Narration narration = trained.read("scaled_scores", {0, 0, 1, 4}, Quantity::gradient);
  CHECK(narration.value == "0");
  CHECK(narration.terms.empty());
  CHECK(narration.sentence.find("comes later") != std::string::npos);
}

TEST_CASE("the gradient of what a residual passes on lists each branch by name", "[simulator][narration]") {
  const Trained trained;
  const core::TensorId embedded = *trained.session.graph().find("decoder.embedded");
  const Narration narration = trained.reader.read(trained.session, {embedded, {0, 3, 1}, Quantity::gradient});
  std::vector<std::string> names;
  double sum = 0;
  for (const NarratedGroup& group : narration.groups) {
    names.push_back(group.name);
    for (std::size_t place = group.begin; place < group.end; ++place) sum += narration.terms[place].amount;
  }
  CHECK(names == std::vector<std::string>{"residual1", "values", "keys", "queries"});
  check_number(narration.value, sum);
}

TEST_CASE("gradients can be followed from a parameter to the loss", "[simulator][narration]") {
  const Trained trained;
  CellAddress at{trained.id("w_query"), {0, 1, 1}, Quantity::gradient};
  const std::optional<core::TensorId> loss = trained.session.graph().find("losses");
  std::size_t n_followed = 0;
  for (; at.tensor != *loss; ++n_followed) {
    REQUIRE(n_followed < 40);
    const Narration narration = trained.reader.read(trained.session, at);
    const auto upstream = std::ranges::find_if(
        narration.from, [](const NarratedLink& link) { return link.target.quantity == Quantity::gradient; });
    INFO(narration.name.text());
    REQUIRE(upstream != narration.from.end());
    at = upstream->target;
  }
  CHECK(n_followed > 6);
}

TEST_CASE("an update is followed to its moments, and those to the gradient", "[simulator][narration]") {
  Trained trained;
  trained.session.move_to(trained.session.steps().size());
  const core::Cell cell{0, 1, 1};
  const auto has = [](const std::vector<NarratedLink>& links, Quantity quantity) {
    return std::ranges::any_of(links,
                               [&](const NarratedLink& link) { return link.target.quantity == quantity; });
  };
  const Narration value = trained.read("w_query", cell, Quantity::value);
  REQUIRE(value.terms.size() == 2);  // no weight decay
  CHECK(value.terms[0].index == "before");
  CHECK(value.terms[1].index == "step");
  CHECK(value.terms[1].factors[0].number == "−0.001");
  CHECK(has(value.from, Quantity::previous_value));
  CHECK(has(value.from, Quantity::first_moment));
  CHECK(has(value.from, Quantity::second_moment));
  const Narration moment = trained.read("w_query", cell, Quantity::first_moment);
  CHECK(moment.name.text() == "m(w_query[1, 1])");
  CHECK(has(moment.from, Quantity::gradient));
  CHECK(has(moment.to, Quantity::value));
  // m = 0.9 · 0 + 0.1 · g
  check_number(moment.value, 0.1 * trained.number("w_query", cell, Quantity::gradient));
}

TEST_CASE("a number that is not there yet names the step that brings it", "[simulator][narration]") {
  Trained trained;
  trained.session.move_to(trained.session.steps().backward_begin());
  const Narration narration = trained.read("w_query", {0, 1, 1}, Quantity::gradient);
  CHECK_FALSE(narration.is_computed);
  const auto writers = trained.session.trace().workspace().gradient_plan().writers(trained.id("w_query"));
  const std::size_t step = trained.session.steps().backward_begin() + writers.front();
  CHECK(narration.not_yet.find("step " + std::to_string(step + 1) + ",") != std::string::npos);
  trained.session.move_to(step);
  CHECK_FALSE(trained.read("w_query", {0, 1, 1}, Quantity::gradient).is_computed);
  trained.session.move_to(step + 1);
  CHECK(trained.read("w_query", {0, 1, 1}, Quantity::gradient).is_computed);
}

TEST_CASE("what is set by hand says so, and sends nothing back", "[simulator][narration]") {
  Trained trained;
  core::Setup setup = trained.session.setup();
  const core::Cell cell{0, 0, 3, 2};
  setup.edits[{trained.id("scaled_scores"), cell}] = 1.5;
  REQUIRE(trained.session.set(setup));
  trained.session.move_to(trained.session.steps().update_begin());
  const Narration value = trained.read("scaled_scores", cell, Quantity::value);
  CHECK(value.sentence.find("set by hand to 1.50") != std::string::npos);
  CHECK(value.terms.empty());
  const Narration own = trained.read("scaled_scores", cell, Quantity::gradient);
  CHECK(own.sentence.find("set by hand") != std::string::npos);
  CHECK(own.to.empty());
  const Narration before = trained.read("scores", cell, Quantity::gradient);
  CHECK(before.value == "0");
  CHECK(before.left_out.find("Set by hand") != std::string::npos);
}

TEST_CASE("a step's sentence has the place and the arithmetic of one of its numbers",
          "[simulator][narration]") {
  Trained trained;
  trained.session.move_to(trained.session.steps().size());
  const core::TensorId scaled = trained.id("scaled_scores");
  const std::size_t forward = *trained.session.graph().producer(scaled);
  const core::Cell cell{0, 1, 3, 2};
  const auto tell = [&](std::size_t place, const std::optional<CellAddress>& lit) {
    return narrate_step(trained.session, trained.session.trace(), trained.session.steps()[place],
                        trained.reader.words, lit);
  };
  const auto number = [&](const std::string& leaf, Quantity quantity) {
    return escape_markdown(lessons::format_number(
        trained.number(leaf, cell, quantity),
        quantity == Quantity::value ? lessons::NumberKind::value : lessons::NumberKind::gradient));
  };
  CHECK(tell(forward, CellAddress{scaled, cell}) ==
        "**scaled\\_scores**, head 1, *on* → *sat*: " + number("scores", Quantity::value) +
            " ÷ √4 = " + number("scaled_scores", Quantity::value));
  const auto operations = trained.session.trace().workspace().gradient_plan().operations();
  const auto back = static_cast<std::size_t>(std::ranges::find(operations, forward) - operations.begin());
  CHECK(tell(trained.session.steps().backward_begin() + back,
             CellAddress{trained.id("scores"), cell, Quantity::gradient}) ==
        "**∂L/∂scores**, head 1, *on* → *sat*: " + number("scaled_scores", Quantity::gradient) +
            " ÷ √4 = " + number("scores", Quantity::gradient));
  // a lit cell of another step does not matter, and the same is told each time
  CHECK(tell(forward, CellAddress{trained.id("weights"), cell}) == tell(forward, std::nullopt));
}

TEST_CASE("a step that has not run yet has its title alone", "[simulator][narration]") {
  Trained trained;
  trained.session.move_to(0);
  for (std::size_t place = 0; place < trained.session.steps().size(); ++place) {
    const core::Step step = trained.session.steps()[place];
    CHECK(narrate_step(trained.session, trained.session.trace(), step, trained.reader.words) ==
          step_title(trained.session.graph(), step, trained.reader.words.text));
  }
}

TEST_CASE("a checked gradient says how far the two ways agree", "[simulator][narration]") {
  const Reader reader;
  const auto verdict = [&](double numeric, double analytic, double rounding = 1e-12) {
    return narrate_check({.analytic = analytic, .numeric = numeric, .step = 3e-4, .rounding = rounding},
                         reader.words.text);
  };
  CHECK(verdict(1 + 9e-8, 1).verdict == "agree to 9 parts in 100 million");
  CHECK(verdict(1 + 9.5e-10, 1).verdict == "agree to 1 part in 1 billion");
  CHECK(verdict(2, 2 + 2 * 9.5e-8).verdict == "agree to 1 part in 10 million");
  CHECK(verdict(-0.5, -0.5).verdict == "agree in every digit");
  CHECK(verdict(1.01, 1).agrees == false);
  CHECK(verdict(1.01, 1).verdict == "differ by 0.010");
  CHECK(verdict(1e-11, 0, 2e-11).verdict == "agree as far as the losses' own rounding lets them, ±2.0e−11");
  CHECK(verdict(1, 1).lines.at(0).label == "loss near by, h = 3.0e−4");
  CHECK(verdict(-0.08044712, -0.08044713).lines.at(0).number == "−0.0804471");
  CHECK(verdict(1, 1).kink.empty());
  CHECK_FALSE(
      narrate_check({.analytic = 0, .numeric = 0.4, .step = 3e-4, .rounding = 0, .crosses_kink = true},
                    reader.words.text)
          .kink.empty());
}

TEST_CASE("a checked gradient of the model agrees", "[simulator][narration]") {
  const Trained trained;
  const core::GradientCheck check = trained.session.check_gradient(trained.id("scores"), {0, 0, 3, 2});
  CHECK(narrate_check(check, trained.reader.words.text).agrees);
}

}  // namespace
}  // namespace headscope::simulator
