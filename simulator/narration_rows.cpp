// A term of an explanation as a row of the table: its factors, the signs between them, and their numbers.
#include "simulator/narration_parts.h"
#include "simulator/tensor_facts.h"
#include "simulator/term_text.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace headscope::simulator {
namespace {

using core::Form;
using core::Quantity;

/// What stands between factor `place` of a value's term and the one before it.
std::string_view sign_of(Form form) {
  switch (form) {
    case Form::exponential:
      return "−";
    case Form::quotient:
    case Form::mean_square:
    case Form::sine:
    case Form::cosine:
      return "÷";
    default:
      return "×";
  }
}

/// How many cells a term names: what it can be followed to.
std::size_t n_cells(const core::Term& term) {
  return static_cast<std::size_t>(std::ranges::count_if(
      term.factors, [](const core::Factor& factor) { return factor.tensor.has_value(); }));
}

class RowWriter {
 public:
  RowWriter(const NarrationSource& source, const core::Explanation& explanation, const core::Term& term)
      : source_(source), explanation_(explanation), term_(term) {}

  NarratedTerm write() {
    row_.amount = term_.value;
    for (const core::Factor& factor : term_.factors)
      if (factor.tensor) row_.cells.push_back({*factor.tensor, factor.cell, factor.quantity});
    row_.value = is_intermediate(explanation_)
                     ? lessons::format_number(term_.value, lessons::NumberKind::value, source_.rules)
                     : own_number(source_, explanation_, term_.value);
    if (explanation_.quantity == Quantity::gradient)
      write_gradient();
    else if (is_update(explanation_))
      write_update();
    else
      write_value();
    return std::move(row_);
  }

 private:
  void add(NarratedFactor factor, std::string_view sign) {
    if (!row_.factors.empty()) row_.signs.emplace_back(sign);
    row_.factors.push_back(std::move(factor));
  }
  NarratedFactor narrated(const core::Factor& factor) const {
    NarratedFactor written{source_.number(factor), {}, std::nullopt};
    if (!factor.tensor) return written;
    written.hue =
        factor.quantity == Quantity::gradient ? "gradient" : quantity_of(source_.spec(*factor.tensor).name);
    written.target = CellAddress{*factor.tensor, factor.cell, factor.quantity};
    if (explanation_.quantity == Quantity::value && is_update(explanation_) &&
        factor.quantity == Quantity::previous_value)
      written.number = own_number(source_, explanation_, factor.value);
    return written;
  }
  void write_detail() {
    row_.detail =
        joined_factors(term_, [&](const core::Factor& factor) { return source_.number_in_line(factor); });
  }

  void write_value() {
    for (const core::Factor& factor : term_.factors) add(narrated(factor), sign_of(term_.form));
  }

  /// Upstream, and what it is multiplied by: one number, whatever that consists of.
  void write_gradient() {
    add(narrated(term_.factors.front()), "");
    if (term_.factors.size() == 1) return;
    const core::Factor& second = term_.factors[1];
    const bool is_simple = term_.factors.size() == 2 && second.take == core::Factor::Take::itself &&
                           (term_.form == Form::product || term_.form == Form::quotient);
    if (is_simple) return add(narrated(second), sign_of(term_.form));
    NarratedFactor local{
        lessons::format_number(local_of(term_), lessons::NumberKind::gradient, source_.rules),
        {},
        std::nullopt};
    // one cell, though not as it is: a slope at it
    if (n_cells(term_) == 2)
      for (const core::Factor& factor : term_.factors)
        if (factor.tensor && factor.quantity != Quantity::gradient) local.target = narrated(factor).target;
    add(std::move(local), "×");
    write_detail();
  }

  void write_update() {
    const auto constant = [&](double value) { return NarratedFactor{source_.constant(value), {}, {}}; };
    if (term_.form == Form::adam_step) {
      add(constant(-term_.factors[0].value), "");
      NarratedFactor direction = constant(-local_of(term_));
      direction.target = narrated(term_.factors[1]).target;
      add(std::move(direction), "×");
      return write_detail();
    }
    double constants = term_.form == Form::decay ? -1 : 1;
    std::size_t n_constants = 0;
    for (const core::Factor& factor : term_.factors)
      if (!factor.tensor) constants *= factor.value, ++n_constants;
    if (n_constants > 0) add(constant(constants), "");
    for (const core::Factor& factor : term_.factors)
      if (factor.tensor) add(narrated(factor), "×");
    if (n_constants > 1) write_detail();
  }

  const NarrationSource& source_;
  const core::Explanation& explanation_;
  const core::Term& term_;
  NarratedTerm row_;
};

}  // namespace

double local_of(const core::Term& term) {
  std::vector<core::Factor> factors = term.factors;
  factors.front().value = 1;
  return core::value_of(term.form, factors);
}

NarratedTerm narrate_term(const NarrationSource& source, const core::Explanation& explanation,
                          const core::Term& term) {
  return RowWriter(source, explanation, term).write();
}

}  // namespace headscope::simulator
