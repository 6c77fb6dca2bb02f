// The closed set of operations: plain data, which tensors each reads and writes, nothing else.
// Arithmetic is in forward.cpp and backward.cpp, why a cell has its value in explain.cpp and
// explain_gradient.cpp; a missing one does not compile.
// Symbols: b batch, h head, i query position, j key position, c channel, v class or vocabulary.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

namespace headscope::core {

/// A tensor's place in its graph's list. Names are looked up once, ids are what hot code and panels hold.
struct TensorId {
  std::uint32_t index = 0;
  auto operator<=>(const TensorId&) const = default;
};

enum class Mask : std::uint8_t { padding, causal_and_padding };
enum class Activation : std::uint8_t { relu, gelu, gelu_tanh };
enum class Pooling : std::uint8_t { mean, first };

/// output[b][i][:] = table[ids[b][i]][:]
struct Lookup {
  TensorId table;   // [n_vocab, d_model]
  TensorId ids;     // [n_batch, i], integer
  TensorId output;  // [n_batch, i, d_model]
};

/// output[p][2c] = sin(p / 10000^(2c/d_model)), output[p][2c+1] = cos(same) (Vaswani et al. 2017,
/// section 3.5)
struct SinusoidalPositions {
  TensorId output;  // [i, d_model]
};

/// output[b][i][:] = input[b][i][:] + positions[i][:]
struct AddPositions {
  TensorId input;      // [n_batch, i, d_model]
  TensorId positions;  // [at least i, d_model]
  TensorId output;     // [n_batch, i, d_model]
};

/// output[b][h][i][c] = Σ_d input[b][i][d] · weight[h][d][c] + bias[h][c]
struct ProjectHeads {
  TensorId input;                // [n_batch, i, d_model]
  TensorId weight;               // [n_heads, d_model, d_head]
  std::optional<TensorId> bias;  // [n_heads, d_head]
  TensorId output;               // [n_batch, n_heads, i, d_head]
};

/// output[b][h][i][j] = Σ_c queries[b][h][i][c] · keys[b][h][j][c]
struct Scores {
  TensorId queries;  // [n_batch, n_heads, i, d_head]
  TensorId keys;     // [n_batch, n_heads, j, d_head]
  TensorId output;   // [n_batch, n_heads, i, j]
};

/// output = input / (√width · temperature), √width left out where width is 0 (scale_scores off)
struct ScaleScores {
  TensorId input;   // [n_batch, n_heads, i, j], or any other
  TensorId output;  // same
  std::int64_t width = 0;
  double temperature = 1;  // an intervention; above 0
};

/// output[b][h][i][j] = input[b][h][i][j] + table[h][j - i + max_tokens - 1]
struct AddRelativeBias {
  TensorId input;   // [n_batch, n_heads, i, j]
  TensorId table;   // [n_heads, 2·max_tokens - 1]
  TensorId output;  // as input
};

/// output[b][h][i][j] = input, or -∞ where key j is padding (j ≥ lengths[b]) or, if causal, j > i
struct MaskScores {
  TensorId input;    // [n_batch, n_heads, i, j]
  TensorId lengths;  // [n_batch], integer: the tokens of each row, padding left out
  TensorId output;   // as input
  Mask mask = Mask::padding;
};

/// output[b][i][:] = input, or -∞ where position i is padding (i ≥ lengths[b]): a span lies within its row
struct MaskPositions {
  TensorId input;    // [n_batch, i, 2]
  TensorId lengths;  // [n_batch], integer
  TensorId output;   // as input
};

/// output = softmax(input) along the side `axis`; -∞ gives exactly 0, and where all are -∞ all are 0
struct Softmax {
  TensorId input;
  TensorId output;
  int axis = 0;  // the place of the side that sums to 1
};

/// output = 0 with probability `rate`, otherwise 1 / (1 - rate), from the seed and step of the run
/// (Srivastava et al. 2014, inverted); all 1 outside training
struct DropoutMask {
  TensorId output;
  double rate = 0;           // in [0, 1)
  std::uint64_t stream = 0;  // tells the masks of one step apart
};

/// output = input · mask, cell by cell
struct ApplyDropout {
  TensorId input;
  TensorId mask;
  TensorId output;
};

/// output[b][h][i][c] = Σ_j weights[b][h][i][j] · values[b][h][j][c]
struct MixValues {
  TensorId weights;  // [n_batch, n_heads, i, j]
  TensorId values;   // [n_batch, n_heads, j, d_head]
  TensorId output;   // [n_batch, n_heads, i, d_head]
};

/// output[b][i][h·d_head + c] = input[b][h][i][c]: heads side by side
struct ConcatHeads {
  TensorId input;   // [n_batch, n_heads, i, d_head]
  TensorId output;  // [n_batch, i, n_heads·d_head]
};

/// output[b][h][i][v] = Σ_c input[b][h][i][c] · weight[h][c][v]: what each head alone adds to the attention's
/// output. Nothing reads it, so no gradient comes back to it.
struct HeadContribution {
  TensorId input;   // [n_batch, n_heads, i, d_head]
  TensorId weight;  // [n_heads, d_head, d_model]
  TensorId output;  // [n_batch, n_heads, i, d_model]
};

/// output[…][v] = Σ_c input[…][c] · weight[c][v] + bias[v].
/// The weight may have more sides ([n_heads, d_head, d_model]); all but the last count as c.
struct Linear {
  TensorId input;                // [n_batch, i, n_in] or [n_batch, n_in]
  TensorId weight;               // [n_in, n_out]
  std::optional<TensorId> bias;  // [n_out]
  TensorId output;               // [n_batch, i, n_out] or [n_batch, n_out]
};

/// output[b][i][o][v] = Σ_c input[b][i][c] · weight[o][c][v] + bias[o][v]: independent classifiers at each
/// position
struct ProjectOutputs {
  TensorId input;                // [n_batch, i, d_model]
  TensorId weight;               // [n_outputs, d_model, n_classes]
  std::optional<TensorId> bias;  // [n_outputs, n_classes]
  TensorId output;               // [n_batch, i, n_outputs, n_classes]
};

/// output = left + right: the residual sum
struct Add {
  TensorId left, right, output;  // [n_batch, i, d_model]
};

/// output[b][i] = Σ_c input[b][i][c] / d_model. With the three operations that follow: layer normalisation
/// (Ba et al. 2016), each of its paths an operation of its own.
struct RowMean {
  TensorId input;   // [n_batch, i, d_model]
  TensorId output;  // [n_batch, i]
};

/// output[b][i][c] = input[b][i][c] - mean[b][i]
struct Centre {
  TensorId input;   // [n_batch, i, d_model]
  TensorId mean;    // [n_batch, i]
  TensorId output;  // as input
};

/// output[b][i] = 1 / √(Σ_c input[b][i][c]² / d_model + epsilon): the biased variance of centred numbers
struct InverseDeviation {
  TensorId input;   // [n_batch, i, d_model], centred
  TensorId output;  // [n_batch, i]
  double epsilon = 0;
};

/// output[b][i][c] = input[b][i][c] · factor[b][i]
struct ScaleRows {
  TensorId input;   // [n_batch, i, d_model]
  TensorId factor;  // [n_batch, i]
  TensorId output;  // as input
};

/// output[b][i][c] = input[b][i][c] · gain[c] + offset[c]
struct ScaleAndShift {
  TensorId input;   // [n_batch, i, d_model]
  TensorId gain;    // [d_model]
  TensorId offset;  // [d_model]
  TensorId output;  // as input
};

/// output = relu, gelu or gelu_tanh (Hendrycks and Gimpel 2016) of input, cell by cell
struct Activate {
  TensorId input;
  TensorId output;
  Activation function = Activation::relu;
};

/// output[b][c] = mean over i < lengths[b] of input[b][i][c], or input[b][0][c]
struct Pool {
  TensorId input;    // [n_batch, i, d_model]
  TensorId lengths;  // [n_batch], integer, each at least 1
  TensorId output;   // [n_batch, d_model]
  Pooling pooling = Pooling::mean;
};

/// output[b][:] = input[b][positions[b]][:]
struct SelectPosition {
  TensorId input;      // [n_batch, i, d_model]
  TensorId positions;  // [n_batch], integer, each within its row
  TensorId output;     // [n_batch, d_model]
};

/// output[b][i][0] = Σ_c start[b][c] · input[b][i][c], output[b][i][1] the same with end: a pointer's scores
struct PointAt {
  TensorId start;   // [n_batch, d_model]
  TensorId end;     // [n_batch, d_model]
  TensorId input;   // [n_batch, i, d_model]
  TensorId output;  // [n_batch, i, 2]
};

/// output[…] = -Σ_v y[…][v] · ln probabilities[…][v], y the target smoothed: 1 - smoothing + smoothing / n at
/// the target, smoothing / n elsewhere, over the side `axis` of n classes. Computed from the logits, since a
/// probability may underflow to 0. 0 where nothing is to predict (target -1).
struct CrossEntropy {
  TensorId logits;         // [n_batch, i, n_vocab] or another shape with a side of classes
  TensorId probabilities;  // same; named by explanations, read by the backward pass
  TensorId targets;        // the shape without the classes' side, integer, -1 where nothing is predicted
  TensorId output;         // as targets
  int axis = 0;            // the place of the classes' side in the logits
  double smoothing = 0;    // Szegedy et al. 2016, section 7; in [0, 1)
};

/// output[0] = mean of input over all cells whose target is 0 or more; 0 where there is none
struct MeanLoss {
  TensorId input;    // losses, one for each target
  TensorId targets;  // same shape, integer
  TensorId output;   // [1]
};

using Operation = std::variant<Lookup, SinusoidalPositions, AddPositions, ProjectHeads, Scores, ScaleScores,
                               AddRelativeBias, MaskScores, MaskPositions, Softmax, DropoutMask, ApplyDropout,
                               MixValues, ConcatHeads, HeadContribution, Linear, ProjectOutputs, Add, RowMean,
                               Centre, InverseDeviation, ScaleRows, ScaleAndShift, Activate, Pool,
                               SelectPosition, PointAt, CrossEntropy, MeanLoss>;

/// A tensor that an operation reads, and whether the operation's derivative by it means anything: not for
/// integers, masks, the probabilities that a cross-entropy only names, and a result that nothing reads.
struct Operand {
  TensorId tensor;
  bool is_differentiable = true;
};

/// The operands in the order in which the formula names them.
std::vector<Operand> operands_of(const Operation& operation);

/// The tensors of operands_of().
std::vector<TensorId> operands(const Operation& operation);

/// The operation's kind in lower case with underscores, "mask_scores": a key for texts and messages.
std::string_view kind_of(const Operation& operation);

/// The one tensor that an operation writes.
TensorId result(const Operation& operation);

}  // namespace headscope::core
