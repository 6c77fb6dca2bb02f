// What reads a stack's output: each objective from its logits to the loss.
#include "core/layers.h"

namespace headscope::core {
namespace {

constexpr Side kBatch{Axis::batch, Extent::batch()};
constexpr Side kEdge{Axis::edge, Extent::fixed(2)};

/// Softmax over the logits' side `axis`, the cross-entropy of each prediction and their mean. `targets` has
/// the shape of the logits without that side.
void add_loss(const Builder& builder, TensorId logits, int axis, TensorId targets) {
  const TensorId probabilities = builder.activation_like("probabilities", "p", logits);
  builder.graph.add_operation(Softmax{logits, probabilities, axis});
  const TensorId losses = builder.activation_like("losses", "L", targets);
  builder.graph.add_operation(
      CrossEntropy{logits, probabilities, targets, losses, axis, builder.options.label_smoothing});
  const TensorId loss = builder.activation("loss", "L", {{Axis::one, Extent::fixed(1)}});
  builder.graph.add_operation(MeanLoss{losses, targets, loss});
}

/// Start and end scores of each token, [n_batch, i, 2].
TensorId add_token_reader(const Builder& builder, const Sequence& output, const ShapeSpec& shape) {
  const TensorId scores = builder.activation("span.scores", "z", shape);
  return add_linear(builder, "span", "S", output.vectors, kEdge, scores);
}

/// The vector at the row's read position, through one matrix for each edge, against every token.
TensorId add_pointer_reader(const Builder& builder, const Sequence& output, const ShapeSpec& shape) {
  const Side model{Axis::model, Extent::fixed(builder.config.d_model)};
  const TensorId read = builder.input("read", "r", {kBatch});
  const TensorId vector = builder.activation("span.read_vector", "x", {kBatch, model});
  builder.graph.add_operation(SelectPosition{output.vectors, read, vector});
  const auto query = [&](const std::string& weight, const std::string& name, const std::string& symbol) {
    const TensorId matrix = builder.parameter(weight, "W_" + symbol, {model, model});
    const TensorId result = builder.activation(name, "q_" + symbol, {kBatch, model});
    builder.graph.add_operation(Linear{vector, matrix, std::nullopt, result});
    return result;
  };
  const TensorId start = query("span.w_start", "span.start_query", "start");
  const TensorId end = query("span.w_end", "span.end_query", "end");
  const TensorId scores = builder.activation("span.scores", "z", shape);
  builder.graph.add_operation(PointAt{start, end, output.vectors, scores});
  const TensorId scaled = builder.activation("span.scaled_scores", "z", shape);
  builder.graph.add_operation(ScaleScores{scores, scaled, builder.config.d_model});
  return scaled;
}

}  // namespace

void add_language_model(const Builder& builder, const Sequence& output, std::int64_t vocab_size,
                        TensorId targets) {
  const Side vocabulary{Axis::vocabulary, Extent::fixed(vocab_size)};
  const TensorId logits =
      builder.activation("logits", "z", {kBatch, {Axis::query, output.extent}, vocabulary});
  add_linear(builder, "unembedding", "U", output.vectors, vocabulary, logits);
  add_loss(builder, logits, 2, targets);
}

void add_classification(const Builder& builder, const Sequence& output) {
  const Side model{Axis::model, Extent::fixed(builder.config.d_model)};
  const Side label{Axis::class_label, Extent::fixed(builder.config.n_classes)};
  const TensorId pooled = builder.activation("pooled", "x", {kBatch, model});
  builder.graph.add_operation(Pool{output.vectors, output.lengths, pooled, builder.config.pooling});
  const TensorId logits = builder.activation("logits", "z", {kBatch, label});
  add_linear(builder, "classifier", "C", pooled, label, logits);
  const TensorId targets = builder.input("label", "y", {kBatch});
  add_loss(builder, logits, 1, targets);
}

void add_span(const Builder& builder, const Sequence& output) {
  const ShapeSpec shape{kBatch, {Axis::query, output.extent}, kEdge};
  const TensorId scores = builder.config.span_reader == SpanReader::pointer
                              ? add_pointer_reader(builder, output, shape)
                              : add_token_reader(builder, output, shape);
  const TensorId logits = builder.activation("logits", "z", shape);
  builder.graph.add_operation(MaskPositions{scores, output.lengths, logits});
  const TensorId targets = builder.input("span", "y", {kBatch, kEdge});
  add_loss(builder, logits, 1, targets);
}

void add_token_classification(const Builder& builder, const Sequence& output) {
  const ModelConfig& config = builder.config;
  const Side position{Axis::query, output.extent}, outputs{Axis::output, Extent::fixed(config.n_outputs)};
  const Side model{Axis::model, Extent::fixed(config.d_model)};
  const Side label{Axis::class_label, Extent::fixed(config.n_classes)};
  const TensorId weight = builder.parameter("outputs.weight", "W_C", {outputs, model, label});
  std::optional<TensorId> bias;
  if (config.bias) bias = builder.parameter("outputs.bias", "b_C", {outputs, label});
  const TensorId logits = builder.activation("logits", "z", {kBatch, position, outputs, label});
  builder.graph.add_operation(ProjectOutputs{output.vectors, weight, bias, logits});
  const TensorId targets = builder.input("labels", "y", {kBatch, position, outputs});
  add_loss(builder, logits, 3, targets);
}

}  // namespace headscope::core
