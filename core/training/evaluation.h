// How good a model is on held-out examples, and where its heads look there: a forward pass of its own, which
// touches nothing of the training.
#pragma once

#include "core/formats/token_batch.h"
#include "core/tasks/task.h"
#include "core/training/run_config.h"
#include "core/workspace.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace headscope::core {

/// The mean weight of a head at the gold partners of one relation: Σ over the links' queries of the weight at
/// all of that query's partners, divided by the number of queries (docs/metrics.md, "relation mass").
struct RelationMass {
  std::int32_t relation = 0;  // index of Task::relations()
  TensorId weights;           // of an attention that can show the relation
  std::vector<double> heads;  // a mass for each
};

struct Evaluation {
  double loss = 0;            // mean cross-entropy, without dropout and label smoothing
  double score = 0;           // as Task::score_kind() says, in [0, 1]
  std::int64_t n_scored = 0;  // predictions (accuracy) or examples (exact match)
  std::vector<RelationMass> masses;
};

/// Holds held-out examples and a workspace for them. The examples depend on the task alone, not on a run's
/// seed, so that runs can be compared.
class Evaluator {
 public:
  /// Preconditions: the task outlives this; `config` has the task's form.
  /// Errors: those of build_graph() and feed().
  static Result<Evaluator> make(const Task& task, const ModelConfig& config, std::int64_t n_examples,
                                const Intervene& intervene = {});

  /// The graph of evaluation: without dropout and label smoothing, with the run's interventions. Its
  /// parameters are laid out as those of any graph of the same configuration.
  const Graph& graph() const { return *graph_; }
  std::span<const Example> examples() const { return examples_; }

  /// Evaluates these parameters (laid out as Workspace::parameters()) over all examples. A language model's
  /// exact match is that of greedy decoding: if each prediction after the right beginning is right, decoding
  /// gives the same sentence, and only then (but for padding: decode() never says it, and a model that finds
  /// it likeliest is wrong here).
  Evaluation evaluate(std::span<const float> parameters);

 private:
  Evaluator() = default;
  const Task* task_ = nullptr;
  ModelConfig config_;
  Interventions interventions_;
  std::unique_ptr<Graph> graph_;  // stays in place when this moves
  std::vector<Example> examples_;
  std::vector<FedBatch> chunks_;  // of the examples, in order
  std::unique_ptr<Workspace<float>> workspace_;
};

}  // namespace headscope::core
