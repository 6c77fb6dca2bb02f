#include "core/training/evaluation.h"

#include "core/execute.h"
#include "core/formats/token_batch.h"
#include "core/graph_paths.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace headscope::core {

namespace {

constexpr std::int64_t kChunk = 64;  // rows that run at once: bounds the workspace

/// The attentions that can show a relation, by their weights.
std::vector<TensorId> attentions_for(const Graph& graph, const ModelConfig& config,
                                     const Relation& relation) {
  const bool is_pair = config.architecture == Architecture::encoder_decoder;
  std::vector<TensorId> found;
  for (const AttentionTensors& attention : find_attentions(graph)) {
    const bool is_cross = attention.path.ends_with("cross_attention");
    const bool is_target = is_pair && attention.path.starts_with("decoder.");
    const TextSide query = is_target ? TextSide::target : TextSide::source;
    const TextSide key = is_target && !is_cross ? TextSide::target : TextSide::source;
    if (relation.query == query && relation.key == key) found.push_back(attention.weights);
  }
  return found;
}

/// Which class has the largest logit; the first of several.
std::int32_t argmax(std::span<const float> logits) {
  return static_cast<std::int32_t>(std::ranges::max_element(logits) - logits.begin());
}

/// Counts what is right, prediction by prediction or example by example.
class Score {
 public:
  explicit Score(ScoreKind kind) : kind_(kind) {}

  void begin_example() { is_right_ = true, has_any_ = false; }
  void add(bool is_right) {
    has_any_ = true;
    is_right_ = is_right_ && is_right;
    if (kind_ == ScoreKind::accuracy) count(is_right);
  }
  void end_example() {
    if (kind_ == ScoreKind::exact_match && has_any_) count(is_right_);
  }

  std::int64_t n_scored() const { return n_scored_; }
  double share() const {
    return n_scored_ == 0 ? 0 : static_cast<double>(n_right_) / static_cast<double>(n_scored_);
  }

 private:
  void count(bool is_right) {
    ++n_scored_;
    if (is_right) ++n_right_;
  }

  ScoreKind kind_;
  bool is_right_ = true, has_any_ = false;
  std::int64_t n_scored_ = 0, n_right_ = 0;
};

/// What is read of a chunk after its forward pass.
struct ChunkResult {
  const Graph& graph;
  const Workspace<float>& workspace;
  const FedBatch& fed;
};

/// The predictions of one example against its targets: a class at each position and output, a class, or two
/// edges.
void score_example(const ChunkResult& run, const Example& example, std::int64_t row, Score& score) {
  const TensorId logits = *run.graph.find("logits");
  const Shape& shape = run.workspace.shape(logits);
  const std::span<const float> values = run.workspace.values(logits);
  const TensorId targets = *find_inputs(run.graph).targets;
  const std::span<const std::int32_t> wanted = run.workspace.integers(targets);
  const auto at_row = [row](std::span<const std::int32_t> all, std::int64_t n_rows) {
    const std::size_t width = all.size() / static_cast<std::size_t>(n_rows);
    return all.subspan(static_cast<std::size_t>(row) * width, width);
  };
  const std::span<const std::int32_t> of_row = at_row(wanted, run.fed.sizes.batch);

  score.begin_example();
  if (example.span) {  // logits [n_batch, i, 2]
    const std::int64_t n_positions = shape[1];
    for (std::size_t edge = 0; edge < 2; ++edge) {
      std::int64_t best = 0;
      const auto at = [&](std::int64_t position) {
        return values[static_cast<std::size_t>((row * n_positions + position) * 2) + edge];
      };
      for (std::int64_t position = 1; position < n_positions; ++position)
        if (at(position) > at(best)) best = position;
      score.add(best == of_row[edge]);
    }
  } else {
    const auto n_classes = static_cast<std::size_t>(shape[shape.rank() - 1]);
    const std::size_t n_positions = example.label ? 1 : static_cast<std::size_t>(shape[1]);
    const std::size_t n_outputs = of_row.size() / n_positions;
    const std::span<const float> logits_of_row =
        values.subspan(static_cast<std::size_t>(row) * of_row.size() * n_classes, of_row.size() * n_classes);
    for (std::size_t position = 0; position < n_positions; ++position) {
      if (!example.judged.empty() &&
          std::ranges::find(example.judged, static_cast<std::int32_t>(position)) == example.judged.end())
        continue;
      for (std::size_t output = 0; output < n_outputs; ++output) {
        const std::size_t place = position * n_outputs + output;
        if (of_row[place] < 0) continue;
        score.add(argmax(logits_of_row.subspan(place * n_classes, n_classes)) == of_row[place]);
      }
    }
  }
  score.end_example();
}

/// Sums of the weight at the partners of each query, by relation and attention.
class Masses {
 public:
  Masses(const Graph& graph, const ModelConfig& config, const std::vector<Relation>& relations)
      : n_queries_(relations.size()) {
    for (std::size_t index = 0; index < relations.size(); ++index)
      for (const TensorId weights : attentions_for(graph, config, relations[index]))
        masses_.push_back({.relation = static_cast<std::int32_t>(index),
                           .weights = weights,
                           .heads = std::vector<double>(static_cast<std::size_t>(config.n_heads))});
  }

  /// `links` may name a query of a relation several times, with different keys.
  void add(const Workspace<float>& workspace, std::span<const Link> links, std::int64_t row) {
    seen_.clear();
    for (const Link& link : links)
      if (const std::pair query(link.relation, link.query); std::ranges::find(seen_, query) == seen_.end()) {
        seen_.push_back(query);
        ++n_queries_[static_cast<std::size_t>(link.relation)];
      }
    for (RelationMass& mass : masses_) {
      const Shape& shape = workspace.shape(mass.weights);  // [n_batch, n_heads, i, j]
      const std::span<const float> weights = workspace.values(mass.weights);
      for (const Link& link : links) {
        if (link.relation != mass.relation) continue;
        for (std::int64_t head = 0; head < shape[1]; ++head)
          mass.heads[static_cast<std::size_t>(head)] += static_cast<double>(
              weights[static_cast<std::size_t>(shape.flat({row, head, link.query, link.key}))]);
      }
    }
  }

  std::vector<RelationMass> means() const {
    std::vector<RelationMass> means = masses_;
    for (RelationMass& mass : means)
      for (double& head : mass.heads)
        head /= static_cast<double>(
            std::max<std::int64_t>(1, n_queries_[static_cast<std::size_t>(mass.relation)]));
    return means;
  }

 private:
  std::vector<RelationMass> masses_;
  std::vector<std::int64_t> n_queries_;  // by relation
  std::vector<std::pair<std::int32_t, std::int32_t>> seen_;
};

std::int64_t count_targets(const FedBatch& fed) {
  return std::ranges::count_if(fed.targets, [](std::int32_t target) { return target >= 0; });
}

}  // namespace

Result<Evaluator> Evaluator::make(const Task& task, const ModelConfig& config, std::int64_t n_examples,
                                  const Intervene& intervene) {
  Evaluator evaluator;
  evaluator.task_ = &task;
  evaluator.config_ = config;
  Result<Graph> graph = build_graph(config, "");
  if (!graph) return graph.error();
  evaluator.graph_ = std::make_unique<Graph>(*std::move(graph));
  if (intervene) {
    Result<Interventions> interventions = intervene(*evaluator.graph_);
    if (!interventions) return interventions.error();
    evaluator.interventions_ = *std::move(interventions);
  }
  Rng rng(0, "held-out examples of " + task.config().name);
  for (std::int64_t at = 0; at < n_examples; ++at)
    evaluator.examples_.push_back(task.draw(rng, Split::held_out));
  Sizes capacity{0, 0, 0};
  for (std::size_t begin = 0; begin < evaluator.examples_.size(); begin += kChunk) {
    const std::size_t count = std::min<std::size_t>(kChunk, evaluator.examples_.size() - begin);
    Result<FedBatch> fed =
        feed(batch_of(std::span(evaluator.examples_).subspan(begin, count), task), config, "");
    if (!fed) return fed.error();
    capacity = {.batch = std::max(capacity.batch, fed->sizes.batch),
                .source = std::max(capacity.source, fed->sizes.source),
                .target = std::max(capacity.target, fed->sizes.target)};
    evaluator.chunks_.push_back(*std::move(fed));
  }
  evaluator.workspace_ = std::make_unique<Workspace<float>>(*evaluator.graph_, capacity);
  return evaluator;
}

Evaluation Evaluator::evaluate(std::span<const float> parameters) {
  Workspace<float>& workspace = *workspace_;
  assert(parameters.size() == workspace.parameters().size());
  std::ranges::copy(parameters, workspace.parameters().begin());
  const TensorId loss = *graph_->find("loss");
  Score score(task_->score_kind());
  Masses masses(*graph_, config_, task_->relations());
  double loss_sum = 0;
  std::int64_t n_targets = 0;
  std::size_t begin = 0;
  for (const FedBatch& fed : chunks_) {
    set_inputs(*graph_, workspace, fed);
    run_forward(*graph_, workspace, {.interventions = &interventions_});
    const std::int64_t count = count_targets(fed);
    loss_sum += static_cast<double>(workspace.values(loss)[0]) * static_cast<double>(count);
    n_targets += count;
    for (std::int64_t row = 0; row < fed.sizes.batch; ++row) {
      const Example& example = examples_[begin + static_cast<std::size_t>(row)];
      score_example({*graph_, workspace, fed}, example, row, score);
      masses.add(workspace, example.links, row);
    }
    begin += static_cast<std::size_t>(fed.sizes.batch);
  }
  return {.loss = n_targets == 0 ? 0 : loss_sum / static_cast<double>(n_targets),
          .score = score.share(),
          .n_scored = score.n_scored(),
          .masses = masses.means()};
}

}  // namespace headscope::core
