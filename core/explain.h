// Why a cell holds its number: the terms whose combination is the cell, with the cells they came from.
#pragma once

#include "core/trace.h"

#include <optional>
#include <string>
#include <vector>

namespace headscope::core {

/// How the terms make the cell.
enum class Combine : std::uint8_t {
  given,  // not computed: a parameter or an input; no terms
  sum,    // value = Σ terms
  share,  // value = terms[chosen] / Σ terms (softmax)
  masked  // set by the mask, no terms: -∞ for a score, exactly 0 for a weight
};

/// How a term's factors make its value.
enum class Form : std::uint8_t {
  product,       // Π factors (one factor: the number itself)
  quotient,      // factors[0] / factors[1]
  exponential,   // exp(factors[0] - factors[1])
  negative_log,  // -ln(factors[0]) / factors[1]
  sine,          // sin(factors[0] / factors[1])
  cosine         // cos(factors[0] / factors[1])
};

/// A number in a term: a cell of a tensor, or a constant with a symbol ("√4").
struct Factor {
  double value = 0;
  std::optional<TensorId> tensor;
  Cell cell;
  std::string symbol;  // constants only
};

struct Term {
  Form form = Form::product;
  std::vector<Factor> factors;
  double value = 0;         // what the factors give, in double
  std::int64_t index = -1;  // along Explanation::over; -1 for an addend outside the sum (a bias)
};

struct Explanation {
  TensorId tensor;
  Cell cell;
  double value = 0;  // the stored number
  Combine combine = Combine::given;
  std::string
      key;  // names the sentence in the text file: the tensor's leaf, with a reason where the mask decides
  Axis over = Axis::one;  // what the terms' indices count
  std::vector<Term> terms;
  std::size_t chosen = 0;     // share only
  std::int64_t n_masked = 0;  // keys that the mask left out of the sum

  /// The terms recombined in double: what `value` must equal up to rounding.
  double combined() const;
  /// Σ|terms|, the scale of that rounding (for a share: |combined()| times 1 + the exponent's size; 0 without
  /// terms).
  double magnitude() const;
};

/// Explains one cell. Works for every tensor, computed or not (the numbers are those of the workspace).
/// Precondition: the tensor's shape contains the cell.
template <class T>
Explanation explain(const Trace<T>& trace, TensorId tensor, const Cell& cell);

}  // namespace headscope::core
