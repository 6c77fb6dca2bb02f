// What stands on the stage at each step of a training step, for models of every kind: the step's result, in
// matrices whose sizes meet, and whose numbers make it.
#include "simulator/stage_plan.h"
#include "simulator/sent_back.h"
#include "simulator/words.h"

#include "core/explain.h"
#include "core/stepper.h"
#include "tests/core/every_model.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace headscope::simulator {
namespace {

using core::Phase;
using core::Quantity;

/// A model fed with one sentence, as a window shows it, in a stepper.
struct OneSentence {
  OneSentence(const core::ModelConfig& config, const core::GraphOptions& options)
      : graph(made(core::build_graph(config, "test", options))),
        fed(made(core::feed(first_row(config), config, "test"))),
        stepper(graph, fed.sizes) {
    core::test::draw_parameters(graph, stepper.workspace());
    core::set_inputs(graph, stepper.workspace(), fed);
  }
  OneSentence(const OneSentence&) = delete;
  OneSentence& operator=(const OneSentence&) = delete;

  template <class T>
  static T made(core::Result<T> result) {
    REQUIRE(result);
    return *std::move(result);
  }
  static core::TokenBatch first_row(const core::ModelConfig& config) {
    core::TokenBatch batch = core::test::any_batch(config);
    const auto cut = [](auto& rows) { rows.resize(std::min<std::size_t>(rows.size(), 1)); };
    cut(batch.source), cut(batch.target), cut(batch.label), cut(batch.span), cut(batch.read);
    cut(batch.labels), cut(batch.types);
    return batch;
  }

  core::Graph graph;
  core::FedBatch fed;
  core::Stepper<float> stepper;
};

template <class Check>
void for_every_model(const Check& check) {
  core::GraphOptions trained;
  trained.dropout = 0.25, trained.label_smoothing = 0.1;
  core::GraphOptions contributions;
  contributions.head_contributions = true;
  for (const auto& [name, config] : core::test::every_config())
    for (const core::GraphOptions& options : {contributions, trained}) {
      if (options == trained && config.objective == core::Objective::none) continue;
      INFO(name << (options == trained ? ", dropout and smoothing" : ""));
      OneSentence model(config, options);
      check(model);
    }
}

std::string first_scores(const core::Graph& graph) {
  for (const core::TensorSpec& spec : graph.specs())
    if (core::leaf(spec.name) == "scores") return spec.name;
  return {};
}

/// visit(step, plan) for each step, when it has run, at both heads and for each operand with a gradient.
template <class Visit>
void for_every_plan(OneSentence& model, const Visit& visit) {
  const core::StepList& steps = model.stepper.steps();
  for (std::size_t place = 0; place < steps.size(); ++place) {
    model.stepper.move_to(place + 1);
    const core::Trace<float> trace = model.stepper.trace();
    for (const std::int64_t head : {0, 1}) {
      if (head >= trace.shape(*model.graph.find(first_scores(model.graph)))[1]) continue;
      StageChoice choice{.head = head};
      const StagePlan first = plan_step(trace, steps[place], choice);
      visit(steps[place], first);
      for (std::size_t at = 1; at < first.results.size(); ++at) {
        choice.result = first.results[at].tensor;
        visit(steps[place], plan_step(trace, steps[place], choice));
      }
    }
  }
}

std::vector<const StageItem*> with_role(const StagePlan& plan, StageRole role) {
  std::vector<const StageItem*> found;
  for (const StageItem& item : plan.items)
    if (item.role == role) found.push_back(&item);
  return found;
}

std::string name_of(const OneSentence& model, const StagePlan& plan) {
  std::string name = plan.step && plan.step->phase == Phase::update ? "update" : "backward of ";
  if (plan.operation) name += core::kind_of(model.graph.operations()[*plan.operation]);
  for (const StageItem& item : plan.items) name += " " + model.graph.spec(item.slice.tensor).name;
  return name;
}

TEST_CASE("every step of every model puts its result on the stage", "[simulator][stage]") {
  for_every_model([](OneSentence& model) {
    for_every_plan(model, [&](const core::Step& step, const StagePlan& plan) {
      INFO(name_of(model, plan));
      const std::vector<core::TensorId> written =
          step_results(model.graph, model.stepper.workspace().gradient_plan(), step);
      const std::vector<const StageItem*> results = with_role(plan, StageRole::result);
      REQUIRE_FALSE(results.empty());
      const Slice& result = results.front()->slice;
      CHECK(std::ranges::find(written, result.tensor) != written.end());
      CHECK(result.quantity == (step.phase == Phase::backward ? Quantity::gradient : Quantity::value));
      if (step.phase == Phase::backward) {
        CHECK(plan.results[plan.chosen].tensor == result.tensor);
        CHECK(plan.results.size() == written.size());
      }
      for (const StageItem& item : plan.items) {
        const bool has_run = is_there(model.stepper.trace(), plan, item);
        INFO(model.graph.spec(item.slice.tensor).name);
        CHECK(has_run);
        // the numbers are those of the cells that can be pointed at
        if (item.source != NumberSource::stored || item.slice.rows.size == 0) continue;
        const ItemNumbers numbers(model.stepper.trace(), item);
        const std::int64_t row = item.slice.rows.size - 1, column = item.slice.columns.size / 2;
        const core::Cell cell = item.slice.cell_at(row, column);
        CHECK(item.slice.find(cell) == Slice::Place{row, column});
        const double number = model.stepper.trace().number(item.slice.tensor, cell, item.slice.quantity);
        CHECK((numbers.at(row, column) == number || std::isnan(number)));
      }
    });
  });
}

/// Σ |left| |upper| 1e-6: the rounding of a sum in single precision.
struct Sum {
  double value = 0, magnitude = 0;
  void add(double term) { value += term, magnitude += std::fabs(term); }
  double tolerance() const { return 1e-6 * magnitude + 1e-9; }
};

TEST_CASE("the rows and columns of a product on the stage make its result", "[simulator][stage]") {
  std::size_t n_products = 0;
  for_every_model([&](OneSentence& model) {
    for_every_plan(model, [&](const core::Step& /*step*/, const StagePlan& plan) {
      if (plan.shape != StageShape::product) return;
      INFO(name_of(model, plan));
      const core::Trace<float> trace = model.stepper.trace();
      const StageItem& left = *with_role(plan, StageRole::left).front();
      const StageItem& upper = *with_role(plan, StageRole::upper).front();
      const StageItem& result = *with_role(plan, StageRole::result).front();
      REQUIRE(left.slice.columns.size == upper.slice.rows.size);
      REQUIRE(result.slice.rows.size == left.slice.rows.size);
      REQUIRE(result.slice.columns.size == upper.slice.columns.size);
      const ItemNumbers a(trace, left), b(trace, upper), c(trace, result);
      const auto addends = with_role(plan, StageRole::addend);
      ++n_products;
      bool holds = true;
      for (std::int64_t row = 0; row < result.slice.rows.size; ++row)
        for (std::int64_t column = 0; column < result.slice.columns.size; ++column) {
          Sum sum;
          for (std::int64_t inner = 0; inner < left.slice.columns.size; ++inner)
            sum.add(a.at(row, inner) * b.at(inner, column));
          // w_j · (g_j - Σ w_k g_k), as the core computes it, loses digits where the Jacobian's 1 - w_j does
          // not
          if (upper.source == NumberSource::local)
            for (std::int64_t k = 0; k < left.slice.columns.size; ++k) sum.magnitude += std::fabs(a.at(0, k));
          for (const StageItem* addend : addends) sum.add(ItemNumbers(trace, *addend).at(0, column));
          if (std::fabs(sum.value - c.at(row, column)) <= sum.tolerance()) continue;
          holds = false;
          INFO("row " << row << " column " << column << ": " << sum.value << " on the stage gives "
                      << c.at(row, column));
          CHECK(false);
          return;
        }
      CHECK(holds);
    });
  });
  CHECK(n_products > 1000);
}

TEST_CASE("the branches of a gradient are what each operation sent, and add up to what is stored",
          "[simulator][stage]") {
  std::size_t n_sums = 0;
  for_every_model([&](OneSentence& model) {
    for_every_plan(model, [&](const core::Step& /*step*/, const StagePlan& plan) {
      if (plan.n_written < 2) return;
      INFO(name_of(model, plan));
      const core::Trace<float> trace = model.stepper.trace();
      const StageItem& result = *with_role(plan, StageRole::result).front();
      REQUIRE(result.source == NumberSource::branch);
      const std::vector<const StageItem*> small = with_role(plan, StageRole::small);
      REQUIRE_FALSE(small.empty());
      CHECK(small.back()->source == NumberSource::stored);
      const ItemNumbers stored(trace, *small.back());
      for (std::int64_t row = 0; row < result.slice.rows.size; ++row)
        for (std::int64_t column = 0; column < result.slice.columns.size; column += 2) {
          const core::Explanation explanation = core::explain(
              trace, result.slice.tensor, result.slice.cell_at(row, column), Quantity::gradient);
          Sum sum;
          for (const StageItem* item : small) {
            if (item->source != NumberSource::branch) continue;
            const double sent = ItemNumbers(trace, *item).at(row, column);
            Sum terms;
            for (const core::Term& term : explanation.terms)
              if (term.operation == item->operation) terms.add(term.value);
            if (std::fabs(sent - terms.value) > terms.tolerance()) CHECK(sent == terms.value);
            sum.add(sent);
            sum.magnitude += terms.magnitude;
          }
          if (small.size() == 1) continue;  // more branches than stand side by side
          if (std::fabs(sum.value - stored.at(row, column)) > sum.tolerance())
            CHECK(sum.value == stored.at(row, column));
        }
      ++n_sums;
      CHECK(small.size() == (plan.n_written > 4 ? 1 : plan.n_written + 1));
    });
  });
  CHECK(n_sums > 500);
}

TEST_CASE("a backward pass that has not run has no numbers on the stage", "[simulator][stage]") {
  OneSentence model(core::test::every_config()[5].config, {});
  const core::StepList& steps = model.stepper.steps();
  model.stepper.move_to(steps.backward_begin());
  for (std::size_t place = steps.backward_begin(); place < steps.size(); ++place) {
    const StagePlan plan = plan_step(model.stepper.trace(), steps[place], {});
    INFO(name_of(model, plan));
    for (const StageItem* result : with_role(plan, StageRole::result))
      CHECK_FALSE(is_there(model.stepper.trace(), plan, *result));
  }
}

}  // namespace
}  // namespace headscope::simulator
