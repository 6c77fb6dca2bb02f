// The closed set of operations: plain data, which tensors each reads and writes, nothing else.
// Arithmetic is in operations.cpp (forward) and explain.cpp (why a cell has its value); a missing one does
// not compile. Symbols: b batch, h head, i query position, j key position, c channel, v vocabulary.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <variant>
#include <vector>

namespace headscope::core {

/// A tensor's place in its graph's list. Names are looked up once, ids are what hot code and panels hold.
struct TensorId {
  std::uint32_t index = 0;
  auto operator<=>(const TensorId&) const = default;
};

enum class Mask : std::uint8_t { padding, causal_and_padding };

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

/// output = input / √width, or a copy where width is 0 (scale_scores off)
struct ScaleScores {
  TensorId input;   // [n_batch, n_heads, i, j]
  TensorId output;  // same
  std::int64_t width = 0;
};

/// output[b][h][i][j] = input, or -∞ where key j is padding (j ≥ lengths[b]) or, if causal, j > i
struct MaskScores {
  TensorId input;    // [n_batch, n_heads, i, j]
  TensorId lengths;  // [n_batch], integer: the tokens of each row, padding left out
  TensorId output;   // as input
  Mask mask = Mask::padding;
};

/// output[…][:] = softmax(input[…][:]) along the last side; -∞ gives exactly 0, a row of -∞ alone gives 0
struct Softmax {
  TensorId input;
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

/// output[b][i][v] = Σ_c input[b][i][c] · weight[c][v] + bias[v].
/// The weight may have more sides ([n_heads, d_head, d_model]); all but the last count as c.
struct Linear {
  TensorId input;                // [n_batch, i, n_in]
  TensorId weight;               // [n_in, n_out]
  std::optional<TensorId> bias;  // [n_out]
  TensorId output;               // [n_batch, i, n_out]
};

/// output = left + right: the residual sum
struct Add {
  TensorId left, right, output;  // [n_batch, i, d_model]
};

/// output[0] = mean over all (b, i) with targets[b][i] ≥ 0 of -ln probabilities[b][i][targets[b][i]],
/// computed from the logits, since a probability may underflow to 0. 0 where nothing is to predict.
struct CrossEntropy {
  TensorId logits;         // [n_batch, i, n_vocab]
  TensorId probabilities;  // same; named by explanations only
  TensorId targets;        // [n_batch, i], integer, -1 where nothing is predicted
  TensorId output;         // [1]
};

using Operation = std::variant<Lookup, SinusoidalPositions, AddPositions, ProjectHeads, Scores, ScaleScores,
                               MaskScores, Softmax, MixValues, ConcatHeads, Linear, Add, CrossEntropy>;

/// The tensors that an operation reads, in the order in which its formula names them.
std::vector<TensorId> operands(const Operation& operation);

/// The one tensor that an operation writes.
TensorId result(const Operation& operation);

}  // namespace headscope::core
