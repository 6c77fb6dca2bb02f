// Held-out scores and the mass of gold relations, against what can be said without the evaluator.
#include "core/training/evaluation.h"

#include "core/execute.h"
#include "core/formats/token_batch.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <string>

using namespace headscope::core;

namespace {

ModelConfig model_for(const Task& task) {
  ModelConfig config = task.form();
  config.d_model = 16;
  config.n_heads = 2;
  config.d_head = 8;
  config.n_layers = 2;
  return config;
}

}  // namespace

TEST_CASE("heads that attend alike to all give each relation its share", "[core][evaluation]") {
  const auto task = make_task({.name = "look-ups"}, "").value();
  const ModelConfig config = model_for(*task);
  Evaluator evaluator = Evaluator::make(*task, config, 100).value();
  Workspace<float> workspace(evaluator.graph(), {});
  initialise_parameters(evaluator.graph(), workspace, 1, 0.3);
  for (const char* name : {"decoder.block0.self_attention.w_query", "decoder.block1.self_attention.w_query"})
    std::ranges::fill(workspace.values(*evaluator.graph().find(name)), 0.0F);
  const Evaluation evaluation = evaluator.evaluate(workspace.parameters());
  // positions 6 to 11 are asked, and position t sees t + 1 tokens
  double share = 0;
  for (int t = 6; t < 12; ++t) share += 1.0 / (t + 1) / 6;
  CHECK(evaluation.masses.size() == 4U * 2U);
  for (const RelationMass& mass : evaluation.masses) {
    REQUIRE(mass.heads.size() == 2);
    for (const double head : mass.heads)
      CHECK(head == Approx(share).epsilon(1e-6));  // float weights, double sums
  }
}

TEST_CASE("score and loss are those of the predictions, example by example", "[core][evaluation]") {
  // a model of a single example each, against the evaluator's batches: nothing leaks between rows or paddings
  const auto task = make_task({.name = GENERATE("look-ups", "copying")}, "").value();
  const ModelConfig config = model_for(*task);
  constexpr int kExamples = 70;  // more than one chunk
  Evaluator evaluator = Evaluator::make(*task, config, kExamples).value();
  Workspace<float> workspace(evaluator.graph(), {.batch = 1, .source = 24});
  initialise_parameters(evaluator.graph(), workspace, 5, 1);
  const Graph& graph = evaluator.graph();
  std::int64_t n_right = 0, n_all = 0, n_targets = 0;
  double loss = 0;
  for (const Example& example : evaluator.examples()) {
    const FedBatch fed = feed(batch_of({&example, 1}, *task), config, "").value();
    set_inputs(graph, workspace, fed);
    run_forward(graph, workspace);
    const auto probabilities = workspace.values(*graph.find("probabilities"));
    const std::size_t n_classes = static_cast<std::size_t>(config.vocab_size);
    for (std::size_t place = 0; place < fed.targets.size(); ++place) {
      if (fed.targets[place] < 0) continue;
      const auto row = probabilities.subspan(place * n_classes, n_classes);
      loss -= std::log(static_cast<double>(row[static_cast<std::size_t>(fed.targets[place])]));
      ++n_targets;
      const auto position = static_cast<std::int32_t>(
          place / (fed.targets.size() / static_cast<std::size_t>(fed.sizes.source)));
      if (!example.judged.empty() && std::ranges::count(example.judged, position) == 0) continue;
      ++n_all;
      n_right += std::ranges::max_element(row) - row.begin() == fed.targets[place] ? 1 : 0;
    }
  }
  const Evaluation evaluation = evaluator.evaluate(workspace.parameters());
  CHECK(evaluation.n_scored == n_all);
  CHECK(evaluation.score == static_cast<double>(n_right) / static_cast<double>(n_all));
  CHECK(evaluation.loss == Approx(loss / static_cast<double>(n_targets)).epsilon(1e-5));  // means in float
  const Evaluation again = evaluator.evaluate(workspace.parameters());
  CHECK(again.loss == evaluation.loss);
}
