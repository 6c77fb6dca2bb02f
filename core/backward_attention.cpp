// Backward arithmetic of attention by activations, with the masks and the softmax, which scores share with
// spans and classifiers. By parameters: backward_parameters.cpp.
#include "core/backward_attention.h"

#include <algorithm>
#include <cstdint>

namespace headscope::core {
namespace {

template <class T>
void softmax_row(std::int64_t n, const T* weights, const T* gradient, const Sink<T>& to) {
  const T mean = sum_numbers<T>(n, [&](std::int64_t at, std::int64_t count) {
    return load_some<T>(weights + at, count) * load_some<T>(gradient + at, count);
  });
  emit(n, to, weights, gradient,
       [&](const Vector<T>& weight, const Vector<T>& sent_back) { return weight * (sent_back - mean); });
}

template <class T>
void softmax_strided(const Line& line, const T* weights, const T* gradient, const Sink<T>& to) {
  T mean = 0;
  for (std::int64_t k = 0; k < line.count; ++k) mean += weights[k * line.stride] * gradient[k * line.stride];
  for (std::int64_t j = 0; j < line.count; ++j) {
    const std::int64_t at = j * line.stride;
    const T sent_back = weights[at] * (gradient[at] - mean);
    to.data[at] = to.into == Into::add ? to.data[at] + sent_back : sent_back;
  }
}

}  // namespace

template <class T>
void AttentionBackward<T>::operator()(const HeadContribution&) const {}  // nothing reads its result

// forward: output[b][h] = input[b] · weight[h] + bias[h]
// grad_input[b] = Σ_h grad_output[b][h] · weight[h]ᵀ: one sum over [h][c]
template <class T>
void AttentionBackward<T>::operator()(const ProjectHeads& op) const {
  if (const Sink<T> to = gradients.sink(op.input))
    multiply<T>(side_by_side(gradients.sent(op.output), views.shape(op.output), views.n_batch()),
                transposed(weights_side_by_side(views.read_whole(op.weight), views.shape(op.weight))),
                views.lines(to.data, op.input), to.into);
}

// forward: output[b][h] = queries[b][h] · keys[b][h]ᵀ
// grad_queries = grad_output · keys, grad_keys = grad_outputᵀ · queries
template <class T>
void AttentionBackward<T>::operator()(const Scores& op) const {
  const Shape& out = views.shape(op.output);  // [n_batch, n_heads, i, j]
  const std::int64_t d_head = views.shape(op.queries)[3];
  const std::int64_t n = views.n_batch() * out[1], query_step = out[2] * d_head, key_step = out[3] * d_head;
  const MatrixView<const T> gradient = row_major(gradients.sent(op.output), out[2], out[3], out[3]);
  if (const Sink<T> to = gradients.sink(op.queries))
    multiply<T>(gradient, row_major(views.read(op.keys), out[3], d_head, d_head),
                row_major(to.data, out[2], d_head, d_head), to.into, nullptr,
                {n, out[2] * out[3], key_step, query_step});
  if (const Sink<T> to = gradients.sink(op.keys))
    multiply<T>(transposed(gradient), row_major(views.read(op.queries), out[2], d_head, d_head),
                row_major(to.data, out[3], d_head, d_head), to.into, nullptr,
                {n, out[2] * out[3], query_step, key_step});
}

// forward: output = input / divisor
template <class T>
void AttentionBackward<T>::operator()(const ScaleScores& op) const {
  const T factor = T{1} / score_divisor<T>(op);
  emit(views.n_numbers(op.output), gradients.sink(op.input), gradients.sent(op.output),
       [&](const Vector<T>& gradient) { return gradient * factor; });
}

// forward: output = input + bias by distance
template <class T>
void AttentionBackward<T>::operator()(const AddRelativeBias& op) const {
  pass_on(views.n_numbers(op.output), gradients.sink(op.input), gradients.sent(op.output));
}

// forward: output = input, or -∞ where the key is hidden: no gradient goes there
template <class T>
void AttentionBackward<T>::operator()(const MaskScores& op) const {
  const Shape& out = views.shape(op.output);
  const std::int32_t* const lengths = views.read_integers(op.lengths);
  const T* gradient = gradients.sent(op.output);
  Sink<T> to = gradients.sink(op.input);
  if (!to) return;
  for (std::int64_t b = 0; b < views.n_batch(); ++b)
    for (std::int64_t h = 0; h < out[1]; ++h)
      for (std::int64_t i = 0; i < out[2]; ++i, gradient += out[3], to = beyond(to, out[3])) {
        const std::int64_t n_visible = visible_keys(op.mask, lengths[b], i, out[3]);
        pass_on(n_visible, to, gradient);
        pass_nothing(out[3] - n_visible, beyond(to, n_visible));
      }
}

// forward: output[b][i] = input, or -∞ where i ≥ lengths[b]
template <class T>
void AttentionBackward<T>::operator()(const MaskPositions& op) const {
  const std::int64_t per_row = views.shape(op.output)[1] * views.shape(op.output)[2];
  const std::int32_t* const lengths = views.read_integers(op.lengths);
  const T* gradient = gradients.sent(op.output);
  Sink<T> to = gradients.sink(op.input);
  if (!to) return;
  for (std::int64_t b = 0; b < views.n_batch(); ++b, gradient += per_row, to = beyond(to, per_row)) {
    const std::int64_t n_kept = std::min(lengths[b] * views.shape(op.output)[2], per_row);
    pass_on(n_kept, to, gradient);
    pass_nothing(per_row - n_kept, beyond(to, n_kept));
  }
}

// forward: w = softmax(input) along one side
// grad_input[j] = Σ_k g[k] · w[k] · (δ_jk - w[j]) = w[j] · (g[j] - Σ_k g[k] · w[k])
template <class T>
void AttentionBackward<T>::operator()(const Softmax& op) const {
  Line line = line_along(views.shape(op.output), op.axis);
  line.outer = views.n_numbers(op.output) / (line.count * line.stride);
  const T* weights = views.read(op.output);
  const T* gradient = gradients.sent(op.output);
  Sink<T> to = gradients.sink(op.input);
  if (!to) return;
  for (std::int64_t outer = 0; outer < line.outer; ++outer) {
    if (line.stride == 1)
      softmax_row(line.count, weights, gradient, to);
    else
      for (std::int64_t inner = 0; inner < line.stride; ++inner)
        softmax_strided(line, weights + inner, gradient + inner, beyond(to, inner));
    const std::int64_t n = line.count * line.stride;
    weights += n, gradient += n, to = beyond(to, n);
  }
}

// forward: output[b][h] = weights[b][h] · values[b][h]
// grad_weights = grad_output · valuesᵀ, grad_values = weightsᵀ · grad_output
template <class T>
void AttentionBackward<T>::operator()(const MixValues& op) const {
  const Shape& sides = views.shape(op.weights);  // [n_batch, n_heads, i, j]
  const std::int64_t n_queries = sides[2], n_keys = sides[3], d_head = views.shape(op.values)[3];
  const std::int64_t n = views.n_batch() * sides[1], weight_step = n_queries * n_keys;
  const std::int64_t value_step = n_keys * d_head, output_step = n_queries * d_head;
  const MatrixView<const T> gradient = row_major(gradients.sent(op.output), n_queries, d_head, d_head);
  if (const Sink<T> to = gradients.sink(op.weights))
    multiply<T>(gradient, transposed(row_major(views.read(op.values), n_keys, d_head, d_head)),
                row_major(to.data, n_queries, n_keys, n_keys), to.into, nullptr,
                {n, output_step, value_step, weight_step});
  if (const Sink<T> to = gradients.sink(op.values))
    multiply<T>(transposed(row_major(views.read(op.weights), n_queries, n_keys, n_keys)), gradient,
                row_major(to.data, n_keys, d_head, d_head), to.into, nullptr,
                {n, weight_step, output_step, value_step});
}

// forward: output[b][i][h·K + c] = input[b][h][i][c]
template <class T>
void AttentionBackward<T>::operator()(const ConcatHeads& op) const {
  const Shape& in = views.shape(op.input);  // [n_batch, n_heads, i, d_head]
  Sink<T> to = gradients.sink(op.input);
  if (!to) return;
  for (std::int64_t b = 0; b < views.n_batch(); ++b)
    for (std::int64_t h = 0; h < in[1]; ++h)
      for (std::int64_t i = 0; i < in[2]; ++i, to = beyond(to, in[3]))
        pass_on(in[3], to, gradients.sent(op.output) + ((b * in[2] + i) * in[1] + h) * in[3]);
}

template struct AttentionBackward<float>;
template struct AttentionBackward<double>;

}  // namespace headscope::core
