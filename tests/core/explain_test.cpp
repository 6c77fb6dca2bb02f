// The promise behind every number on the screen: its explanation recombines to it.
#include "core/explain.h"

#include "core/influence.h"

#include "tests/core/small_model.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <variant>
#include <vector>

namespace headscope::core {
namespace {

/// What rounding may leave between the recombined terms and the stored number, relative to Σ|terms|: a float
/// sum of n ≤ 16 terms loses at most about n · 6e-8, a double one n · 1.1e-16.
template <class T>
constexpr double kRounding = std::is_same_v<T, float> ? 1e-6 : 1e-14;

template <class T>
void require_every_cell_recombines(const test::SmallModel<T>& model) {
  const Trace<T> trace = model.trace();
  std::int64_t n_explained = 0;
  for (std::uint32_t index = 0; index < model.graph.n_tensors(); ++index) {
    const TensorId tensor{index};
    const Shape& shape = trace.shape(tensor);
    const bool is_computed = model.graph.producer(tensor).has_value();
    for (std::int64_t place = 0; place < shape.count(); ++place) {
      const Explanation explanation = explain(trace, tensor, shape.cell(place));
      INFO(model.graph.spec(tensor).name << " cell " << place << " stored " << explanation.value << " terms "
                                         << explanation.combined());
      REQUIRE((explanation.combine == Combine::given) == !is_computed);
      if (explanation.combine == Combine::masked)
        REQUIRE(explanation.combined() == explanation.value);
      else
        REQUIRE(std::abs(explanation.combined() - explanation.value) <=
                kRounding<T> * explanation.magnitude());
      for (const Term& term : explanation.terms)
        for (const Factor& factor : term.factors)
          if (factor.tensor) REQUIRE(factor.value == trace.value(*factor.tensor, factor.cell));
      if (is_computed) ++n_explained;
    }
  }
  REQUIRE(n_explained > 500);
}

TEMPLATE_TEST_CASE("every cell's terms recombine to the stored number", "[core][explain]", float, double) {
  ModelConfig config = test::small_config();
  SECTION("learned positions, bias, two layers, a padded batch") {}
  SECTION("sinusoidal positions, no bias, one head") {
    config.positions = Positions::sinusoidal;
    config.bias = false;
    config.n_heads = 1;
    config.d_head = 6;
  }
  SECTION("no positions, no scaling, five heads of width 2") {
    config.positions = Positions::none;
    config.scale_scores = false;
    config.n_heads = 5;
    config.d_head = 2;
  }
  SECTION("an encoder that ends at the stack's output") {
    config.architecture = Architecture::encoder;
    config.objective = Objective::none;
  }
  for (std::uint64_t seed : {1u, 2u, 3u})
    require_every_cell_recombines(test::run_small_model<TestType>(config, test::padded_batch(), seed));
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

/// The operand cells that an explanation names, the mask's own inputs left out.
bool names(const Explanation& explanation, TensorId tensor, const Cell& cell) {
  for (const Term& term : explanation.terms)
    for (const Factor& factor : term.factors)
      if (factor.tensor == tensor && factor.cell == cell) return true;
  return false;
}

TEST_CASE("where a cell goes is the reverse of where cells come from", "[core][influence]") {
  const auto model = test::run_small_model<float>(test::small_config(), test::padded_batch());
  const Trace<float> trace = model.trace();
  std::int64_t n_checked = 0;
  for (const Operation& operation : model.graph.operations()) {
    const TensorId written = result(operation);
    const Shape& shape = trace.shape(written);
    for (std::int64_t place = 0; place < shape.count(); place += 3) {
      const Cell cell = shape.cell(place);
      const Explanation explanation = explain(trace, written, cell);
      if (explanation.combine == Combine::masked) continue;
      for (const TensorId operand : operands(operation)) {
        if (model.graph.spec(operand).element == Element::integer) continue;
        const Shape& from = trace.shape(operand);
        for (std::int64_t at = 0; at < from.count(); at += 2) {
          const std::vector<Influence> reached = influences(trace, operand, from.cell(at));
          const bool is_reached = std::ranges::any_of(reached, [&](const Influence& influence) {
            return influence.result == written && influence.contains(cell);
          });
          INFO(model.graph.spec(operand).name << " cell " << at << " → " << model.graph.spec(written).name
                                              << " cell " << place);
          // the loss names probabilities and is computed from logits; softmax leaves masked keys out; both
          // are reached all the same
          if (names(explanation, operand, from.cell(at))) REQUIRE(is_reached);
          if (explanation.combine == Combine::sum && !std::holds_alternative<CrossEntropy>(operation))
            REQUIRE(is_reached == names(explanation, operand, from.cell(at)));
          ++n_checked;
        }
      }
    }
  }
  REQUIRE(n_checked > 10000);
}

TEST_CASE("what has no part in the loss does not lead to it", "[core][influence]") {
  const auto model = test::run_small_model<float>(test::small_config(), test::padded_batch());
  const auto leads_to_loss = [&](const char* name, const Cell& cell) {
    const std::vector<Influence> reached = influences(model.trace(), model.id(name), cell);
    return std::ranges::any_of(
        reached, [&](const Influence& influence) { return influence.result == model.id("loss"); });
  };
  // the first row is 1 2 3 4 5, the second 6 5 4: it feeds two tokens, and its last two positions are padding
  CHECK(leads_to_loss("logits", {0, 0, 6}));
  CHECK(leads_to_loss("probabilities", {0, 0, 2}));
  CHECK_FALSE(leads_to_loss("probabilities", {0, 0, 3}));
  CHECK(leads_to_loss("logits", {1, 1, 0}));
  CHECK_FALSE(leads_to_loss("logits", {1, 2, 0}));
  CHECK(leads_to_loss("source.targets", {1, 2}));
}

}  // namespace
}  // namespace headscope::core
