// Forward arithmetic of attention, from a head's views of the vectors to heads side by side, with the masks
// and the softmax, which scores share with spans and classifiers.
#include "core/forward_attention.h"

#include "core/simd.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace headscope::core {
namespace {

template <class T>
constexpr T kMinusInfinity = -std::numeric_limits<T>::infinity();

/// Copies scores. One that is itself infinite, by overflow, becomes NaN: nobody may take it for a masked
/// one.
template <class T>
void keep_finite(std::int64_t n, const T* scores, T* to) {
  // NOLINTNEXTLINE(misc-redundant-expression): the difference is 0, or NaN of an infinity
  map_numbers<T>(n, scores, to, [](const Vector<T>& score) { return score + (score - score); });
}

template <class T>
void softmax_row(std::int64_t n, const T* scores, T* weights) {
  Vector<T> most = broadcast(kMinusInfinity<T>);
  for_vectors<T>(n, [&](std::int64_t at, std::int64_t count) {
    most = larger<T>(most, load_some<T>(scores + at, count, kMinusInfinity<T>));
  });
  const T largest = largest_of<T>(most);
  if (largest == kMinusInfinity<T>) {  // every key masked: no weight anywhere
    map_numbers<T>(n, scores, weights, [](const Vector<T>& score) {
      return score == kMinusInfinity<T> ? Vector<T>{} : score;  // NaN stays NaN
    });
    return;
  }
  // subtract the row maximum: exp() stays finite, the result is unchanged
  const T sum = sum_numbers<T>(n, [&](std::int64_t at, std::int64_t count) {
    const Vector<T> power = exponential<T>(load_some<T>(scores + at, count, kMinusInfinity<T>) - largest);
    store_some<T>(weights + at, power, count);
    return power;
  });
  const T share = T{1} / sum;
  map_numbers<T>(n, weights, weights, [&](const Vector<T>& power) { return power * share; });
}

/// A span's softmax runs over positions, `stride` apart.
template <class T>
void softmax_strided(const Line& line, const T* scores, T* weights) {
  T largest = kMinusInfinity<T>, sum = 0;
  for (std::int64_t k = 0; k < line.count; ++k) largest = std::max(largest, scores[k * line.stride]);
  for (std::int64_t k = 0; k < line.count; ++k) {
    T& weight = weights[k * line.stride];
    const T score = scores[k * line.stride];
    weight =
        score == kMinusInfinity<T> ? T{0} : std::exp(score - (largest == kMinusInfinity<T> ? T{0} : largest));
    sum += weight;
  }
  for (std::int64_t k = 0; k < line.count && sum != 0; ++k) weights[k * line.stride] /= sum;
}

}  // namespace

// output[b][h] = input[b] · weight[h] + bias[h]; all heads in one product
template <class T>
void AttentionForward<T>::operator()(const ProjectHeads& op) const {
  multiply<T>(views.lines(views.read(op.input), op.input),
              weights_side_by_side(views.read_whole(op.weight), views.shape(op.weight)),
              side_by_side(views.write(op.output), views.shape(op.output), views.n_batch()), Into::replace,
              op.bias ? views.read_whole(*op.bias) : nullptr);
}

// output[b][h] = queries[b][h] · keys[b][h]ᵀ
template <class T>
void AttentionForward<T>::operator()(const Scores& op) const {
  const Shape& out = views.shape(op.output);  // [n_batch, n_heads, i, j]
  const std::int64_t d_head = views.shape(op.queries)[3];
  multiply<T>(row_major(views.read(op.queries), out[2], d_head, d_head),
              transposed(row_major(views.read(op.keys), out[3], d_head, d_head)),
              row_major(views.write(op.output), out[2], out[3], out[3]), Into::replace, nullptr,
              {views.n_batch() * out[1], out[2] * d_head, out[3] * d_head, out[2] * out[3]});
}

// output = input / (√width · temperature)
template <class T>
void AttentionForward<T>::operator()(const ScaleScores& op) const {
  const T factor = T{1} / score_divisor<T>(op);
  map_numbers<T>(views.n_numbers(op.output), views.read(op.input), views.write(op.output),
                 [&](const Vector<T>& score) { return score * factor; });
}

// output[b][h][i][j] = input[b][h][i][j] + table[h][j - i + max_tokens - 1]
template <class T>
void AttentionForward<T>::operator()(const AddRelativeBias& op) const {
  const Shape& out = views.shape(op.output);
  const std::int64_t n_distances = views.width(op.table), zero = n_distances / 2;
  const T* input = views.read(op.input);
  T* output = views.write(op.output);
  for (std::int64_t b = 0; b < views.n_batch(); ++b)
    for (std::int64_t h = 0; h < out[1]; ++h)
      for (std::int64_t i = 0; i < out[2]; ++i, input += out[3], output += out[3]) {
        const T* const bias = views.read_whole(op.table) + h * n_distances + zero - i;
        for (std::int64_t j = 0; j < out[3]; ++j) output[j] = input[j] + bias[j];
      }
}

// output[b][h][i][j] = input, or -∞ where j ≥ lengths[b] or (causal) j > i
template <class T>
void AttentionForward<T>::operator()(const MaskScores& op) const {
  const Shape& out = views.shape(op.output);
  const std::int32_t* const lengths = views.read_integers(op.lengths);
  const T* input = views.read(op.input);
  T* output = views.write(op.output);
  for (std::int64_t b = 0; b < views.n_batch(); ++b)
    for (std::int64_t h = 0; h < out[1]; ++h)
      for (std::int64_t i = 0; i < out[2]; ++i, input += out[3], output += out[3]) {
        const std::int64_t n_visible = visible_keys(op.mask, lengths[b], i, out[3]);
        keep_finite(n_visible, input, output);
        fill_numbers(output + n_visible, out[3] - n_visible, kMinusInfinity<T>);
      }
}

// output[b][i][:] = input, or -∞ where i ≥ lengths[b]
template <class T>
void AttentionForward<T>::operator()(const MaskPositions& op) const {
  const std::int64_t per_row = views.shape(op.output)[1] * views.shape(op.output)[2];
  const std::int32_t* const lengths = views.read_integers(op.lengths);
  const T* input = views.read(op.input);
  T* output = views.write(op.output);
  for (std::int64_t b = 0; b < views.n_batch(); ++b, input += per_row, output += per_row) {
    const std::int64_t n_kept = std::min(lengths[b] * views.shape(op.output)[2], per_row);
    keep_finite(n_kept, input, output);
    std::fill(output + n_kept, output + per_row, kMinusInfinity<T>);
  }
}

// output = softmax(input) along one side
template <class T>
void AttentionForward<T>::operator()(const Softmax& op) const {
  Line line = line_along(views.shape(op.output), op.axis);
  line.outer = views.n_numbers(op.output) / (line.count * line.stride);
  const T* input = views.read(op.input);
  T* output = views.write(op.output);
  for (std::int64_t outer = 0; outer < line.outer; ++outer) {
    if (line.stride == 1)
      softmax_row(line.count, input, output);
    else
      for (std::int64_t inner = 0; inner < line.stride; ++inner)
        softmax_strided(line, input + inner, output + inner);
    input += line.count * line.stride, output += line.count * line.stride;
  }
}

// output[b][h] = weights[b][h] · values[b][h]
template <class T>
void AttentionForward<T>::operator()(const MixValues& op) const {
  const Shape& sides = views.shape(op.weights);  // [n_batch, n_heads, i, j]
  const std::int64_t d_head = views.shape(op.values)[3];
  multiply<T>(row_major(views.read(op.weights), sides[2], sides[3], sides[3]),
              row_major(views.read(op.values), sides[3], d_head, d_head),
              row_major(views.write(op.output), sides[2], d_head, d_head), Into::replace, nullptr,
              {views.n_batch() * sides[1], sides[2] * sides[3], sides[3] * d_head, sides[2] * d_head});
}

// output[b][i][h·K + c] = input[b][h][i][c]
template <class T>
void AttentionForward<T>::operator()(const ConcatHeads& op) const {
  const Shape& in = views.shape(op.input);  // [n_batch, n_heads, i, d_head]
  const T* input = views.read(op.input);
  T* output = views.write(op.output);
  for (std::int64_t b = 0; b < views.n_batch(); ++b)
    for (std::int64_t h = 0; h < in[1]; ++h)
      for (std::int64_t i = 0; i < in[2]; ++i, input += in[3])
        copy_numbers(input, in[3], output + ((b * in[2] + i) * in[1] + h) * in[3]);
}

// output[b][h] = input[b][h] · weight[h]: a product for each head, over all its rows
template <class T>
void AttentionForward<T>::operator()(const HeadContribution& op) const {
  const Shape &in = views.shape(op.input), &weight = views.shape(op.weight);
  const std::int64_t n_heads = in[1], n_tokens = in[2], d_head = in[3], d_model = weight[2];
  for (std::int64_t h = 0; h < n_heads; ++h) {
    const auto of_head = [&](auto* data, std::int64_t n) {
      const Places places{views.n_batch() * n_tokens, n, n_tokens, n_heads * n_tokens * n};
      return MatrixView<std::remove_pointer_t<decltype(data)>>{data + h * n_tokens * n, places, {n, 1}};
    };
    multiply<T>(of_head(views.read(op.input), d_head),
                row_major(views.read_whole(op.weight) + h * d_head * d_model, d_head, d_model, d_model),
                of_head(views.write(op.output), d_model));
  }
}

template struct AttentionForward<float>;
template struct AttentionForward<double>;

}  // namespace headscope::core
