// Why a cell holds its number: the terms whose combination is the cell, with the cells they came from.
#pragma once

#include "core/trace.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headscope::core {

/// How the terms make the cell.
enum class Combine : std::uint8_t {
  given,         // not computed: a parameter or an input; no terms
  sum,           // value = Σ terms
  share,         // value = terms[chosen] / Σ terms (softmax)
  inverse_root,  // value = 1 / √(Σ terms) (layer normalisation's inverse deviation)
  masked,        // set by the mask, no terms: -∞ for a score, exactly 0 for a weight or a gradient
  by_hand        // set by hand: no terms; the operation's own result is not shown
};

/// How a term's factors make its value.
enum class Form : std::uint8_t {
  product,          // Π factors (one factor: the number itself)
  quotient,         // factors[0] / factors[1]
  exponential,      // exp(factors[0] - factors[1])
  negative_log,     // -ln(factors[0]) · factors[1] (one factor: without it)
  sine,             // sin(factors[0] / factors[1])
  cosine,           // cos(factors[0] / factors[1])
  relu,             // of factors[0]
  gelu,             // of factors[0]
  gelu_tanh,        // of factors[0]
  relu_slope,       // factors[0] · f'(factors[1])
  gelu_slope,       // the same
  gelu_tanh_slope,  // the same
  mean_square,      // factors[0]² / factors[1]
  error,            // factors[0] · (factors[1] - factors[2]): cross-entropy's p - y
  decay,            // -factors[0] · factors[1] · factors[2]: the rate, weight decay and value of an update
  adam_step,        // -factors[0] · (factors[1] / factors[3]) / (√(factors[2] / factors[4]) + factors[5])
  random            // a dropout mask's cell: factors[0] is the number, drawn from seed and step
};

/// A number in a term: a cell's number, or a constant with a symbol ("√4").
struct Factor {
  /// How the cell's number x enters: x, -x, 1 - x.
  enum class Take : std::uint8_t { itself, negated, complement };

  double value = 0;  // as it enters
  std::optional<TensorId> tensor;
  Cell cell;
  std::string symbol;  // constants only
  Quantity quantity = Quantity::value;
  Take take = Take::itself;
};

struct Term {
  Form form = Form::product;
  std::vector<Factor> factors;
  double value = 0;                      // what the factors give, in double
  std::int64_t index = -1;               // along Explanation::over; -1 for an addend outside the sum (a bias)
  std::optional<std::size_t> operation;  // a gradient's term: the operation that sent it back
};

/// What the factors give, in double. A negative logarithm's term may be finite where its probability is
/// rounded to 0: its value comes from the logits.
double value_of(Form form, std::span<const Factor> factors);

struct Explanation {
  TensorId tensor;
  Cell cell;
  Quantity quantity = Quantity::value;
  double value = 0;  // the stored number
  Combine combine = Combine::given;
  /// Names the sentence in the text file: the tensor's leaf ("weights"), "grad." before it for a gradient, or
  /// "adamw.first_moment", "sgd.value" for an update; a reason behind it where there are no terms (".causal",
  /// ".padding", ".masked", ".by_hand").
  std::string key;
  Axis over = Axis::one;  // what the terms' indices count; `one` where they count different things
  std::vector<Term> terms;
  std::size_t chosen = 0;      // share only
  std::int64_t n_masked = 0;   // keys that the mask left out of the sum
  std::int64_t n_by_hand = 0;  // a gradient: cells set by hand, which send nothing upstream

  /// The terms recombined in double: what `value` must equal up to rounding.
  double combined() const;
  /// The scale of that rounding: Σ|terms|, each with the sizes of what cancels within it (1 - w counts as 1 +
  /// |w|); for a share |combined()| times 1 + the exponent's size; for an inverse root |combined()|; 0
  /// without terms.
  double magnitude() const;
};

/// Explains one cell's value. Works for every tensor, computed or not (the numbers are those of the
/// workspace). Precondition: the tensor's shape contains the cell.
template <class T>
Explanation explain(const Trace<T>& trace, TensorId tensor, const Cell& cell);

/// Explains any of a cell's numbers.
/// - gradient: the sum of what each operation that reads the tensor, and has run backward at the cursor, sent
///   back; each term names its operation. `loss` itself and what has no gradient are `given`. Where the cell
///   was set by hand, what its own operation passes upstream is 0; the cell keeps its gradient.
/// - first_moment, second_moment, value of an updated parameter: the optimiser's arithmetic, from the
/// previous
///   numbers and the gradient. previous_…: `given`.
/// Precondition: trace.has(tensor, quantity), or quantity is gradient.
template <class T>
Explanation explain(const Trace<T>& trace, TensorId tensor, const Cell& cell, Quantity quantity);

}  // namespace headscope::core
