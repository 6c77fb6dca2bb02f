// The promise behind every number on the screen: its explanation recombines to it.
#include "core/explain.h"

#include "core/influence.h"
#include "core/stepper.h"

#include "tests/core/every_model.h"
#include "tests/core/small_model.h"
#include "tests/core/stepped_model.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace headscope::core {
namespace {

/// What rounding may leave between the recombined terms and the stored number, relative to the scale of their
/// rounding: a float sum of n ≤ 24 terms loses at most about n · 6e-8, a double one n · 1.1e-16.
template <class T>
constexpr double kRounding = std::is_same_v<T, float> ? 1e-6 : 1e-14;

double taken(const Factor& factor, double number) {
  switch (factor.take) {
    case Factor::Take::itself:
      return number;
    case Factor::Take::negated:
      return -number;
    case Factor::Take::complement:
      return 1 - number;
  }
  return number;
}

/// What is wrong with an explanation; empty where it recombines and its factors are the numbers they name.
template <class T>
std::string find_fault(const Trace<T>& trace, const Explanation& explanation) {
  if (explanation.value != trace.number(explanation.tensor, explanation.cell, explanation.quantity))
    return "is not the stored number";
  // below a float's smallest normal number digits are lost
  const double rounding = kRounding<T> * explanation.magnitude() + std::numeric_limits<T>::min();
  const bool is_masked = explanation.combine == Combine::masked;
  if (is_masked ? explanation.combined() != explanation.value
                : !(std::abs(explanation.combined() - explanation.value) <= rounding))
    return "does not recombine";
  for (const Term& term : explanation.terms) {
    // a loss's term comes from the logits, where the probability may have been rounded
    const double allowed = term.form == Form::negative_log ? kRounding<T> * 2 : 0;
    if (!(std::abs(term.value - value_of(term.form, term.factors)) <= allowed))
      return "has a term that is not what its factors give";
    for (const Factor& factor : term.factors) {
      if (factor.tensor.has_value() != factor.symbol.empty()) return "has a factor that is neither";
      if (factor.tensor &&
          factor.value != taken(factor, trace.number(*factor.tensor, factor.cell, factor.quantity)))
        return "has a factor that is not the number it names";
    }
  }
  return "";
}

template <class T>
void require_recombines(const Trace<T>& trace, const Explanation& explanation) {
  const std::string fault = find_fault(trace, explanation);
  if (fault.empty()) return;  // millions of them: a REQUIRE each would take longer than the explanations
  FAIL(explanation.key << " of " << trace.graph().spec(explanation.tensor).name << " cell "
                       << trace.shape(explanation.tensor).flat(explanation.cell) << " " << fault
                       << ": stored " << explanation.value << ", terms " << explanation.combined());
}

/// All cells of a small tensor, about `most` of a larger one.
std::int64_t stride_for(std::int64_t count, std::int64_t most) {
  if (count <= most) return 1;
  std::int64_t stride = count / most;
  while (count % stride == 0) ++stride;  // else it might visit one column alone
  return stride;
}

/// Visits values and gradients at the end of the backward pass. Returns how many have terms.
template <class T>
std::int64_t require_model_recombines(const test::SteppedModel<T>& model, std::int64_t most) {
  const Trace<T> trace = model.stepper.trace();
  std::int64_t n_explained = 0;
  for (std::uint32_t index = 0; index < model.graph.n_tensors(); ++index) {
    const TensorId tensor{index};
    const Shape& shape = trace.shape(tensor);
    const bool is_computed = model.graph.producer(tensor).has_value();
    for (std::int64_t place = 0; place < shape.count(); place += stride_for(shape.count(), most)) {
      const Explanation value = explain(trace, tensor, shape.cell(place));
      if ((value.combine == Combine::given) == is_computed) FAIL(value.key << " is given, or is not");
      require_recombines(trace, value);
      n_explained += value.terms.empty() ? 0 : 1;
      if (!trace.workspace().has_gradient(tensor)) continue;
      const Explanation gradient = explain(trace, tensor, shape.cell(place), Quantity::gradient);
      require_recombines(trace, gradient);
      for (const Term& term : gradient.terms) {
        const auto read = operands(model.graph.operations()[term.operation.value()]);
        if (std::ranges::count(read, tensor) == 0) FAIL(gradient.key << " names another operation");
      }
      n_explained += gradient.terms.empty() ? 0 : 1;
    }
  }
  return n_explained;
}

TEMPLATE_TEST_CASE("every value and gradient of every kind of model recombines from its terms",
                   "[core][explain][gradient]", float, double) {
  for (const auto& [name, config] : test::every_config()) {
    INFO(name);
    test::SteppedModel<TestType> model(config);
    model.stepper.move_to(model.stepper.steps().update_begin());
    const std::int64_t n_explained = require_model_recombines(model, 40);
    REQUIRE(n_explained > (config.objective == Objective::none ? 500 : 1000));
  }
}

TEMPLATE_TEST_CASE("so it does cell by cell, with all that is computed on request",
                   "[core][explain][gradient]", float, double) {
  for (const auto& [name, config] : test::every_objective()) {
    if (config.objective == Objective::none) continue;
    INFO(name);
    ModelConfig one_layer = config;
    one_layer.n_layers = 1;
    one_layer.activation = Activation::gelu;
    test::SteppedModel<TestType> model(one_layer,
                                       {.dropout = 0.3, .label_smoothing = 0.1, .head_contributions = true});
    model.stepper.set_options({.dropout_seed = 3, .dropout_step = 2});
    model.stepper.move_to(model.stepper.steps().update_begin());
    require_model_recombines(model, 1'000'000);
  }
}

TEST_CASE("an explanation reads the numbers, so that an edited operand no longer recombines",
          "[core][explain]") {
  auto model = test::run_small_model<double>(test::small_config(), test::padded_batch());
  const TensorId scores = model.id("decoder.block0.self_attention.scores");
  model.workspace.values(model.id("decoder.block0.self_attention.queries"))[0] += 1;
  const Explanation explanation = explain(model.trace(), scores, {0, 0, 0, 0});
  CHECK(std::abs(explanation.combined() - explanation.value) > 1e-3);
}

TEST_CASE("a score's explanation names the channels of its query and its key", "[core][explain]") {
  const auto model = test::run_small_model<float>(test::small_config(), test::padded_batch());
  const Explanation explanation =
      explain(model.trace(), model.id("decoder.block1.self_attention.scores"), {1, 1, 2, 0});
  REQUIRE(explanation.terms.size() == 3);
  CHECK(explanation.combine == Combine::sum);
  CHECK(explanation.over == Axis::head_channel);
  CHECK(explanation.key == "scores");
  CHECK(explanation.terms[2].index == 2);
  CHECK(explanation.terms[2].factors[0].cell == Cell{1, 1, 2, 2});
  CHECK(explanation.terms[2].factors[1].cell == Cell{1, 1, 0, 2});
}

TEST_CASE("a masked score says which mask decided", "[core][explain]") {
  const auto model = test::run_small_model<float>(test::small_config(), test::padded_batch());
  const TensorId masked = model.id("decoder.block0.self_attention.masked_scores");
  CHECK(explain(model.trace(), masked, {0, 0, 0, 3}).key == "masked_scores.causal");
  CHECK(explain(model.trace(), masked, {2, 0, 3, 2}).key == "masked_scores.padding");
  CHECK(explain(model.trace(), masked, {0, 0, 3, 2}).key == "masked_scores");
}

TEST_CASE("a weight's explanation leaves out masked keys and counts them", "[core][explain]") {
  const auto model = test::run_small_model<float>(test::small_config(), test::padded_batch());
  const Explanation explanation =
      explain(model.trace(), model.id("decoder.block0.self_attention.weights"), {0, 0, 1, 0});
  CHECK(explanation.combine == Combine::share);
  CHECK(explanation.terms.size() == 2);
  CHECK(explanation.n_masked == 2);
}

TEST_CASE("W_O's operands are named in the weight's own cells", "[core][explain]") {
  const auto model = test::run_small_model<float>(test::small_config(), test::padded_batch());
  const Explanation explanation =
      explain(model.trace(), model.id("decoder.block0.self_attention.output"), {0, 1, 5});
  REQUIRE(explanation.terms.size() == 7);  // 2 heads · 3 channels, and the bias
  CHECK(explanation.terms[4].factors[1].cell == Cell{1, 1, 5});
  CHECK(explanation.terms[6].index == -1);
}

TEST_CASE("the scale's divisor names the root and the temperature", "[core][explain]") {
  test::SteppedModel<double> model(test::base_config(Architecture::decoder, Objective::language_model));
  const TensorId scores = model.id("decoder.block0.self_attention.scores");
  const TensorId scaled = model.id("decoder.block0.self_attention.scaled_scores");
  const auto divisor = [&](const AttentionSwitches& switches) {
    set_switches(model.graph, scores, Graph(model.graph), switches);
    model.stepper.restart();
    model.stepper.move_to(model.stepper.steps().n_forward());
    const Explanation explanation = explain(model.stepper.trace(), scaled, {0, 0, 1, 1});
    require_recombines(model.stepper.trace(), explanation);
    return explanation.terms[0].factors.size() > 1 ? explanation.terms[0].factors[1].symbol : "";
  };
  CHECK(divisor({}) == "√4");
  CHECK(divisor({.temperature = 2}) == "√4 · 2");
  CHECK(divisor({.temperature = 0.5, .leaves_scale = false}) == "0.5");
}

TEST_CASE("a weight's gradient is its row of the softmax's Jacobian", "[core][explain][gradient]") {
  test::SteppedModel<double> model(test::base_config(Architecture::decoder, Objective::language_model));
  model.stepper.move_to(model.stepper.steps().update_begin());
  const TensorId masked = model.id("decoder.block0.self_attention.masked_scores");
  const Explanation seen = explain(model.stepper.trace(), masked, {0, 1, 2, 1}, Quantity::gradient);
  CHECK(seen.key == "grad.masked_scores");
  CHECK(seen.over == Axis::key);
  REQUIRE(seen.terms.size() == 3);
  CHECK(seen.n_masked == 2);  // the row is fed five tokens
  for (std::size_t k = 0; k < 3; ++k) {
    REQUIRE(seen.terms[k].factors.size() == 3);
    CHECK(seen.terms[k].factors[0].quantity == Quantity::gradient);
    CHECK(seen.terms[k].factors[2].take == (k == 1 ? Factor::Take::complement : Factor::Take::negated));
  }
  const Explanation hidden = explain(model.stepper.trace(), masked, {0, 1, 2, 3}, Quantity::gradient);
  CHECK(hidden.combine == Combine::masked);
  CHECK(hidden.key == "grad.masked_scores.masked");
  CHECK(explain(model.stepper.trace(), model.id("decoder.block0.self_attention.scaled_scores"), {0, 1, 2, 3},
                Quantity::gradient)
            .key == "grad.scaled_scores.causal");
}

TEST_CASE("at a residual fork each branch is a term that names its operation", "[core][explain][gradient]") {
  test::SteppedModel<double> model(test::base_config(Architecture::decoder, Objective::language_model));
  model.stepper.move_to(model.stepper.steps().update_begin());
  const TensorId residual = model.id("decoder.block0.residual1");
  const Explanation explanation = explain(model.stepper.trace(), residual, {0, 1, 2}, Quantity::gradient);
  std::set<std::size_t> kinds;  // places in the variant
  for (const Term& term : explanation.terms)
    kinds.insert(model.graph.operations()[term.operation.value()].index());
  // pre-norm: the next residual sum, the mean, and the centred numbers
  CHECK(kinds.size() == 3);
  CHECK(explanation.terms.size() == 3);
}

TEST_CASE("before its operations have run backward a gradient is 0 without terms, then grows by terms",
          "[core][explain][gradient]") {
  test::SteppedModel<double> model(test::base_config(Architecture::decoder, Objective::language_model));
  const TensorId residual = model.id("decoder.block0.residual1");
  const StepList& steps = model.stepper.steps();
  std::set<std::size_t> counts;
  for (std::size_t position = steps.backward_begin(); position <= steps.update_begin(); ++position) {
    model.stepper.move_to(position);
    const Explanation explanation = explain(model.stepper.trace(), residual, {0, 1, 2}, Quantity::gradient);
    counts.insert(explanation.terms.size());
    CHECK(explanation.combined() == Approx(explanation.value).epsilon(1e-12));
    if (explanation.terms.empty()) CHECK(explanation.value == 0);
  }
  CHECK(counts == std::set<std::size_t>{0, 1, 2, 3});
}

TEST_CASE("the loss has the gradient 1, an input none", "[core][explain][gradient]") {
  test::SteppedModel<double> model(test::base_config(Architecture::decoder, Objective::language_model));
  model.stepper.move_to(model.stepper.steps().update_begin());
  const Explanation loss = explain(model.stepper.trace(), model.id("loss"), {0}, Quantity::gradient);
  CHECK(loss.combine == Combine::given);
  CHECK(loss.value == 1);
  const Explanation ids = explain(model.stepper.trace(), model.id("source.ids"), {0, 0}, Quantity::gradient);
  CHECK(ids.combine == Combine::given);
  CHECK(ids.value == 0);
}

OptimiserConfig some_optimiser(OptimiserKind kind) {
  OptimiserConfig config;
  config.kind = kind;
  config.rate = 0.05;
  config.momentum = 0.9;
  config.weight_decay = 0.1;
  return config;
}

TEMPLATE_TEST_CASE("an update's numbers recombine from the numbers before it", "[core][explain][optimiser]",
                   float, double) {
  for (const OptimiserKind kind : {OptimiserKind::adamw, OptimiserKind::sgd})
    for (const double clip_norm : {0.0, 0.01}) {
      OptimiserConfig config = some_optimiser(kind);
      config.clip_norm = clip_norm;
      test::SteppedModel<TestType> model(test::base_config(Architecture::encoder, Objective::classification));
      const std::vector<TestType> first(model.stepper.workspace().parameters().size(), TestType(0.01));
      const std::vector<TestType> second(first.size(), TestType(0.002));
      model.stepper.set_optimiser(config, 3, first, second);
      model.stepper.move_to(model.stepper.steps().size());
      const Trace<TestType> trace = model.stepper.trace();
      CHECK((trace.update()->factors.gradient_scale < 1) == (clip_norm > 0));
      for (const TensorId parameter : model.stepper.steps().parameters())
        for (const Quantity quantity : {Quantity::value, Quantity::first_moment, Quantity::second_moment}) {
          if (kind == OptimiserKind::sgd && quantity == Quantity::second_moment) continue;
          const Shape& shape = trace.shape(parameter);
          for (std::int64_t place = 0; place < shape.count(); place += 3) {
            const Explanation explanation = explain(trace, parameter, shape.cell(place), quantity);
            if (explanation.terms.size() < 2) FAIL(explanation.key << " has too few terms");
            require_recombines(trace, explanation);
          }
        }
    }
}

TEST_CASE("a parameter that is not updated yet is given, and so are the numbers before an update",
          "[core][explain][optimiser]") {
  test::SteppedModel<double> model(test::base_config(Architecture::encoder, Objective::classification));
  const StepList& steps = model.stepper.steps();
  const TensorId first = steps.parameters()[0], second = steps.parameters()[1];
  model.stepper.move_to(steps.update_begin() + 1);
  const Trace<double> trace = model.stepper.trace();
  const Cell zero = trace.shape(first).cell(0);
  CHECK(explain(trace, first, zero).key == "adamw.value");
  CHECK(explain(trace, first, zero, Quantity::previous_value).combine == Combine::given);
  CHECK(explain(trace, second, trace.shape(second).cell(0)).combine == Combine::given);
  CHECK(explain(trace, second, trace.shape(second).cell(0), Quantity::first_moment).combine ==
        Combine::given);
}

/// Whether an explanation names an operand's cell.
bool names(const Explanation& explanation, TensorId tensor, const Cell& cell) {
  for (const Term& term : explanation.terms)
    for (const Factor& factor : term.factors)
      if (factor.tensor == tensor && factor.cell == cell) return true;
  return false;
}

/// Whether one of a cell's influences holds the result's cell.
bool reaches(const std::vector<Influence>& reached, TensorId result, const Cell& cell) {
  return std::ranges::any_of(reached, [&](const Influence& influence) {
    return influence.result == result && influence.region.contains(cell);
  });
}

TEST_CASE("where a cell goes is the reverse of where cells come from", "[core][influence]") {
  std::int64_t n_checked = 0;
  for (const auto& [name, config] : test::every_config()) {
    INFO(name);
    test::SteppedModel<float> model(config, {.head_contributions = true});
    model.stepper.move_to(model.stepper.steps().n_forward());
    const Trace<float> trace = model.stepper.trace();
    for (const Operation& operation : model.graph.operations()) {
      const TensorId written = result(operation);
      const Shape& shape = trace.shape(written);
      std::vector<Explanation> explanations;
      for (std::int64_t place = 0; place < shape.count(); place += stride_for(shape.count(), 8))
        explanations.push_back(explain(trace, written, shape.cell(place)));
      for (const TensorId operand : operands(operation)) {
        if (model.graph.spec(operand).element == Element::integer) continue;
        const Shape& from = trace.shape(operand);
        for (std::int64_t at = 0; at < from.count(); at += stride_for(from.count(), 20)) {
          const std::vector<Influence> reached = influences(trace, operand, from.cell(at));
          for (const Explanation& explanation : explanations) {
            if (explanation.combine == Combine::masked) continue;
            const bool is_named = names(explanation, operand, from.cell(at));
            const bool is_reached = reaches(reached, written, explanation.cell);
            // a loss names probabilities and is computed from logits; softmax leaves masked keys out; both
            // are reached all the same
            const bool may_differ =
                explanation.combine == Combine::share || std::holds_alternative<CrossEntropy>(operation);
            if ((is_named && !is_reached) || (!may_differ && is_reached != is_named))
              FAIL(model.graph.spec(operand).name << " cell " << at << " → " << model.graph.spec(written).name
                                                  << " cell " << shape.flat(explanation.cell));
            ++n_checked;
          }
        }
      }
    }
  }
  REQUIRE(n_checked > 100000);
}

TEST_CASE("what has no part in the loss does not lead to it", "[core][influence]") {
  const auto model = test::run_small_model<float>(test::small_config(), test::padded_batch());
  const auto leads_to_loss = [&](const char* name, const Cell& cell) {
    const std::vector<Influence> reached = influences(model.trace(), model.id(name), cell);
    return std::ranges::any_of(reached, [&](const Influence& influence) {
      return influence.result == model.id("losses") || influence.result == model.id("loss");
    });
  };
  // the first row is 1 2 3 4 5, the second 6 5 4: it feeds two tokens, and its last two positions are padding
  CHECK(leads_to_loss("logits", {0, 0, 6}));
  CHECK(leads_to_loss("probabilities", {0, 0, 2}));
  CHECK_FALSE(leads_to_loss("probabilities", {0, 0, 3}));
  CHECK(leads_to_loss("logits", {1, 1, 0}));
  CHECK_FALSE(leads_to_loss("logits", {1, 2, 0}));
  CHECK(leads_to_loss("losses", {1, 1}));
  CHECK_FALSE(leads_to_loss("losses", {1, 2}));
  CHECK(leads_to_loss("source.targets", {1, 2}));
}

}  // namespace
}  // namespace headscope::core
