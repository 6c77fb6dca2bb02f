// The layers of the stacks. What reads their output is in objectives.cpp.
#include "core/layers.h"

#include "core/hash.h"

#include <utility>

namespace headscope::core {
namespace {

constexpr Side kBatch{Axis::batch, Extent::batch()};

Side model_side(const Builder& builder) {
  return {Axis::model, Extent::fixed(builder.config.d_model)};
}
Side head_side(const Builder& builder) {
  return {Axis::head, Extent::fixed(builder.config.n_heads)};
}
Side channel_side(const Builder& builder) {
  return {Axis::head_channel, Extent::fixed(builder.config.d_head)};
}

/// [n_batch, i, d_model]
ShapeSpec vectors_shape(const Builder& builder, Extent extent) {
  return {kBatch, {Axis::query, extent}, model_side(builder)};
}

/// One of the three views: queries, keys or values, with its own learned matrix.
TensorId add_projection(const Builder& builder, const std::string& attention, const Sequence& input,
                        const std::string& singular, const std::string& plural, const std::string& letter,
                        Axis position) {
  const Side head = head_side(builder), channel = channel_side(builder);
  const TensorId weight =
      builder.parameter(attention + ".w_" + singular, "W_" + letter, {head, model_side(builder), channel});
  std::optional<TensorId> bias;
  if (builder.config.bias)
    bias = builder.parameter(attention + ".b_" + singular, "b_" + letter, {head, channel});
  const TensorId output =
      builder.activation(attention + "." + plural, letter, {kBatch, head, {position, input.extent}, channel});
  builder.graph.add_operation(ProjectHeads{input.vectors, weight, bias, output});
  return output;
}

/// From queries and keys to the scores that the softmax sees.
TensorId add_scores(const Builder& builder, const std::string& name, TensorId queries, TensorId keys,
                    const Sequence& from, const Sequence& to, Mask mask) {
  const ModelConfig& config = builder.config;
  const Side head = head_side(builder);
  const ShapeSpec square{kBatch, head, {Axis::query, from.extent}, {Axis::key, to.extent}};
  const TensorId scores = builder.activation(name + ".scores", "S", square);
  builder.graph.add_operation(Scores{queries, keys, scores});
  TensorId last = builder.activation(name + ".scaled_scores", "S", square);
  builder.graph.add_operation(ScaleScores{scores, last, config.scale_scores ? config.d_head : 0});
  const bool is_self = from.vectors == to.vectors;  // a distance to another sequence means nothing
  if (config.positions == Positions::relative && is_self) {
    const TensorId table = builder.parameter(
        name + ".relative_bias", "R", {head, {Axis::distance, Extent::fixed(2 * config.max_tokens - 1)}});
    const TensorId biased = builder.activation(name + ".biased_scores", "S", square);
    builder.graph.add_operation(AddRelativeBias{last, table, biased});
    last = biased;
  }
  const TensorId masked = builder.activation(name + ".masked_scores", "S", square);
  builder.graph.add_operation(MaskScores{last, to.lengths, masked, mask});
  return masked;
}

/// A dropout mask and its product: MASK, DROPPED. Returns the input itself where there is no dropout.
TensorId add_dropout(const Builder& builder, TensorId input, const std::string& mask_name,
                     const std::string& dropped_name) {
  if (builder.options.dropout == 0) return input;
  const std::string symbol = builder.graph.spec(input).symbol;
  const TensorId mask = builder.activation_like(mask_name, "M", input);
  builder.graph.add_operation(DropoutMask{mask, builder.options.dropout, fnv1a(mask_name)});
  const TensorId dropped = builder.activation_like(dropped_name, symbol, input);
  builder.graph.add_operation(ApplyDropout{input, mask, dropped});
  return dropped;
}

/// Builds the sub-layers of one block, numbered from 1, each around its norm and residual sum.
class BlockBuilder {
 public:
  BlockBuilder(const Builder& builder, std::string name, const Sequence& input)
      : builder_(builder), name_(std::move(name)), stream_(input) {}

  /// pre: x + S(norm(x)); post: norm(x + S(x)); none: x + S(x). `sub_layer` is S, from a Sequence to a
  /// tensor.
  template <class SubLayer>
  void add(const SubLayer& sub_layer) {
    const std::string number = std::to_string(++n_sub_layers_);
    const std::string norm = name_ + ".norm" + number;
    Sequence read = stream_;
    if (builder_.config.norm == Norm::pre) read.vectors = add_norm(builder_, norm, stream_.vectors);
    const TensorId added =
        add_dropout(builder_, sub_layer(read), name_ + ".dropout_mask" + number, name_ + ".dropped" + number);
    const TensorId residual = builder_.activation_like(name_ + ".residual" + number, "x", stream_.vectors);
    builder_.graph.add_operation(Add{stream_.vectors, added, residual});
    stream_.vectors = builder_.config.norm == Norm::post ? add_norm(builder_, norm, residual) : residual;
  }

  TensorId finish() {
    builder_.graph.add_alias(name_ + ".output", stream_.vectors);
    return stream_.vectors;
  }

 private:
  const Builder& builder_;
  std::string name_;
  Sequence stream_;
  int n_sub_layers_ = 0;
};

}  // namespace

TensorId Builder::input(std::string name, std::string symbol, ShapeSpec shape) const {
  return graph.add_tensor({std::move(name), std::move(symbol), shape, Role::input, Element::integer});
}
TensorId Builder::parameter(std::string name, std::string symbol, ShapeSpec shape) const {
  return graph.add_tensor({std::move(name), std::move(symbol), shape, Role::parameter});
}
TensorId Builder::activation(std::string name, std::string symbol, ShapeSpec shape) const {
  return graph.add_tensor({std::move(name), std::move(symbol), shape, Role::activation});
}
TensorId Builder::activation_like(std::string name, std::string symbol, TensorId like) const {
  return activation(std::move(name), std::move(symbol), ShapeSpec(graph.spec(like).shape));
}

TensorId add_linear(const Builder& builder, const std::string& name, const std::string& letter,
                    TensorId input, Side out, TensorId output) {
  const TensorId weight = builder.parameter(name + ".weight", "W_" + letter, {model_side(builder), out});
  std::optional<TensorId> bias;
  if (builder.config.bias) bias = builder.parameter(name + ".bias", "b_" + letter, {out});
  builder.graph.add_operation(Linear{input, weight, bias, output});
  return output;
}

TensorId add_embedding(const Builder& builder, const std::string& stack, const StackInputs& inputs) {
  const ModelConfig& config = builder.config;
  const Side model = model_side(builder);
  const ShapeSpec shape = vectors_shape(builder, inputs.extent);
  const Side vocabulary{Axis::vocabulary, Extent::fixed(inputs.vocab_size)};
  const TensorId table = builder.parameter(stack + ".token_embedding", "E", {vocabulary, model});
  TensorId stream = builder.activation(stack + ".token_vectors", "t", shape);
  builder.graph.add_operation(Lookup{table, inputs.ids, stream});

  // the last of what is added is called STACK.embedded
  const bool has_positions =
      config.positions == Positions::learned || config.positions == Positions::sinusoidal;
  if (inputs.types) {
    const Side type{Axis::token_type, Extent::fixed(config.n_token_types)};
    const TensorId types = builder.parameter(stack + ".token_type_embedding", "T", {type, model});
    const TensorId vectors = builder.activation(stack + ".type_vectors", "t", shape);
    builder.graph.add_operation(Lookup{types, *inputs.types, vectors});
    const TensorId typed = builder.activation(stack + ".typed_vectors", "t", shape);
    builder.graph.add_operation(Add{stream, vectors, typed});
    stream = typed;
  }
  if (has_positions) {
    TensorId positions;
    if (config.positions == Positions::learned) {
      const Side position{Axis::position, Extent::fixed(config.max_tokens)};
      positions = builder.parameter(stack + ".position_embedding", "P", {position, model});
    } else {
      positions =
          builder.activation(stack + ".sinusoidal_positions", "P", {{Axis::position, inputs.extent}, model});
      builder.graph.add_operation(SinusoidalPositions{positions});
    }
    const TensorId embedded = builder.activation(stack + ".embedded", "x", shape);
    builder.graph.add_operation(AddPositions{stream, positions, embedded});
    stream = embedded;
  } else {
    builder.graph.add_alias(stack + ".embedded", stream);
  }
  return config.embedding_norm ? add_norm(builder, stack + ".embedding_norm", stream) : stream;
}

TensorId add_norm(const Builder& builder, const std::string& name, TensorId input, std::string output) {
  const Side model = model_side(builder);
  const ShapeSpec vectors = builder.graph.spec(input).shape;
  const ShapeSpec rows{vectors[0], vectors[1]};
  const TensorId gain = builder.parameter(name + ".gain", "γ", {model});
  const TensorId offset = builder.parameter(name + ".offset", "β", {model});

  const TensorId mean = builder.activation(name + ".mean", "μ", rows);
  builder.graph.add_operation(RowMean{input, mean});
  const TensorId centred = builder.activation(name + ".centred", "x", vectors);
  builder.graph.add_operation(Centre{input, mean, centred});
  const TensorId inverse = builder.activation(name + ".inverse_deviation", "1/σ", rows);
  builder.graph.add_operation(InverseDeviation{centred, inverse, builder.config.norm_eps});
  const TensorId normalised = builder.activation(name + ".normalised", "x", vectors);
  builder.graph.add_operation(ScaleRows{centred, inverse, normalised});
  const bool has_own_name = !output.empty();
  const TensorId result =
      builder.activation(has_own_name ? std::move(output) : name + ".output", "x", vectors);
  builder.graph.add_operation(ScaleAndShift{normalised, gain, offset, result});
  if (has_own_name) builder.graph.add_alias(name + ".output", result);
  return result;
}

TensorId add_attention(const Builder& builder, const std::string& name, const Sequence& from,
                       const Sequence& to, Mask mask) {
  const ModelConfig& config = builder.config;
  const Side query{Axis::query, from.extent};
  const TensorId queries = add_projection(builder, name, from, "query", "queries", "Q", Axis::query);
  const TensorId keys = add_projection(builder, name, to, "key", "keys", "K", Axis::key);
  const TensorId values = add_projection(builder, name, to, "value", "values", "V", Axis::key);

  const TensorId masked = add_scores(builder, name, queries, keys, from, to, mask);
  const TensorId weights = builder.activation_like(name + ".weights", "A", masked);
  builder.graph.add_operation(Softmax{masked, weights, 3});
  const TensorId used = add_dropout(builder, weights, name + ".dropout_mask", name + ".dropped_weights");

  const TensorId mixed = builder.activation(name + ".head_output", "Z",
                                            {kBatch, head_side(builder), query, channel_side(builder)});
  builder.graph.add_operation(MixValues{used, values, mixed});
  const Side side_by_side{Axis::concat, Extent::fixed(config.n_heads * config.d_head)};
  const TensorId concat = builder.activation(name + ".concat", "Z", {kBatch, query, side_by_side});
  builder.graph.add_operation(ConcatHeads{mixed, concat});

  const Side model = model_side(builder);
  const TensorId weight =
      builder.parameter(name + ".w_output", "W_O", {head_side(builder), channel_side(builder), model});
  std::optional<TensorId> bias;
  if (config.bias) bias = builder.parameter(name + ".b_output", "b_O", {model});
  if (builder.options.head_contributions) {
    const TensorId contribution =
        builder.activation(name + ".head_contribution", "O", {kBatch, head_side(builder), query, model});
    builder.graph.add_operation(HeadContribution{mixed, weight, contribution});
  }
  const TensorId output = builder.activation(name + ".output", "O", {kBatch, query, model});
  builder.graph.add_operation(Linear{concat, weight, bias, output});
  return output;
}

TensorId add_feed_forward(const Builder& builder, const std::string& name, TensorId input) {
  const ModelConfig& config = builder.config;
  const Side model = model_side(builder), inner{Axis::feed_forward, Extent::fixed(config.d_ff)};
  const ShapeSpec vectors = builder.graph.spec(input).shape;
  const ShapeSpec wide{vectors[0], vectors[1], inner};

  const TensorId w_in = builder.parameter(name + ".w_in", "W_in", {model, inner});
  std::optional<TensorId> b_in, b_out;
  if (config.bias) b_in = builder.parameter(name + ".b_in", "b_in", {inner});
  const TensorId hidden = builder.activation(name + ".hidden", "h", wide);
  builder.graph.add_operation(Linear{input, w_in, b_in, hidden});
  const TensorId activated = builder.activation(name + ".activated", "a", wide);
  builder.graph.add_operation(Activate{hidden, activated, config.activation});

  const TensorId w_out = builder.parameter(name + ".w_out", "W_out", {inner, model});
  if (config.bias) b_out = builder.parameter(name + ".b_out", "b_out", {model});
  const TensorId output = builder.activation(name + ".output", "F", vectors);
  builder.graph.add_operation(Linear{activated, w_out, b_out, output});
  return output;
}

TensorId add_block(const Builder& builder, const std::string& name, const Sequence& input, Mask mask,
                   const std::optional<Sequence>& memory) {
  BlockBuilder block(builder, name, input);
  block.add([&](const Sequence& read) {
    return add_attention(builder, name + ".self_attention", read, read, mask);
  });
  if (memory)
    block.add([&](const Sequence& read) {
      return add_attention(builder, name + ".cross_attention", read, *memory, Mask::padding);
    });
  if (builder.config.d_ff > 0)
    block.add([&](const Sequence& read) {
      return add_feed_forward(builder, name + ".feed_forward", read.vectors);
    });
  return block.finish();
}

TensorId add_stack(const Builder& builder, const std::string& stack, const StackInputs& inputs, Mask mask,
                   const std::optional<Sequence>& memory) {
  Sequence stream{add_embedding(builder, stack, inputs), inputs.lengths, inputs.extent};
  for (std::int64_t layer = 0; layer < builder.config.n_layers; ++layer)
    stream.vectors = add_block(builder, stack + ".block" + std::to_string(layer), stream, mask, memory);
  if (builder.config.norm == Norm::pre)
    return add_norm(builder, stack + ".final_norm", stream.vectors, stack + ".output");
  builder.graph.add_alias(stack + ".output", stream.vectors);
  return stream.vectors;
}

}  // namespace headscope::core
