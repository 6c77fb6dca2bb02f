// What the explanations of values, gradients and updates share: factors, and terms appended to an
// explanation.
#pragma once

#include "core/explain.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headscope::core {

/// `cell` with the index at `place` replaced.
inline Cell with(Cell cell, int place, std::int64_t index) {
  cell[place] = index;
  return cell;
}

/// `cell` without the side at `place`, and with one there.
inline Cell without(const Cell& cell, int place) {
  Cell shorter;
  for (int at = 0; at < cell.rank(); ++at)
    if (at != place) shorter.push_back(cell[at]);
  return shorter;
}
inline Cell inserted(const Cell& cell, int place, std::int64_t index) {
  Cell longer;
  for (int at = 0; at <= cell.rank(); ++at)
    longer.push_back(at == place ? index : cell[at < place ? at : at - 1]);
  return longer;
}

inline Factor constant(double value, std::string symbol) {
  return {value, std::nullopt, {}, std::move(symbol), Quantity::value, Factor::Take::itself};
}
inline Factor whole(std::int64_t value) {
  return constant(static_cast<double>(value), std::to_string(value));
}
/// A number as the text of its own symbol, up to 6 digits.
Factor plain(double value);

inline Factor negated(Factor factor) {
  factor.value = -factor.value;
  factor.take = Factor::Take::negated;
  return factor;
}
inline Factor complement(Factor factor) {
  factor.value = 1 - factor.value;
  factor.take = Factor::Take::complement;
  return factor;
}

template <class T>
Factor cell_factor(const Trace<T>& trace, TensorId tensor, const Cell& cell,
                   Quantity quantity = Quantity::value) {
  // forward and backward passes have read a parameter as it was before its update
  if (quantity == Quantity::value && trace.is_updated(tensor)) quantity = Quantity::previous_value;
  return {trace.number(tensor, cell, quantity), tensor, cell, {}, quantity, Factor::Take::itself};
}

inline void add_term(Explanation& explanation, Form form, std::vector<Factor> factors,
                     std::int64_t index = -1) {
  const double value = value_of(form, factors);
  explanation.terms.push_back({form, std::move(factors), value, index, std::nullopt});
}

/// √width · temperature of a ScaleScores, with its symbol; none where it divides by nothing.
std::optional<Factor> divisor_factor(const ScaleScores& op);

/// Why a MaskScores hides a cell ("causal", "padding"), empty where it does not.
template <class T>
std::string_view mask_reason(const Trace<T>& trace, const MaskScores& op, const Cell& cell) {
  if (op.mask == Mask::causal_and_padding && cell[3] > cell[2]) return "causal";
  return static_cast<double>(cell[3]) >= trace.value(op.lengths, {cell[0]}) ? "padding" : "";
}
template <class T>
std::string_view mask_reason(const Trace<T>& trace, const MaskPositions& op, const Cell& cell) {
  return static_cast<double>(cell[1]) >= trace.value(op.lengths, {cell[0]}) ? "padding" : "";
}

inline void explain_masked(Explanation& explanation, std::string_view reason) {
  explanation.combine = Combine::masked;
  explanation.terms.clear();
  explanation.key += '.';
  explanation.key += reason;
}

/// The terms of a gradient (explain_gradient.cpp) and of an update (explain_update.cpp), into an explanation
/// whose tensor, cell and quantity are set.
template <class T>
void explain_gradient(const Trace<T>& trace, Explanation& explanation);
template <class T>
void explain_update(const Trace<T>& trace, Explanation& explanation);

}  // namespace headscope::core
