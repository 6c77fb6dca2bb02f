// What the parts of a narration share: names, numbers and labels of one session's cells.
#pragma once

#include "core/explain.h"
#include "core/steps.h"
#include "simulator/narration.h"
#include "simulator/slice.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace headscope::simulator {

/// Where the words and the numbers come from.
struct NarrationSource {
  const core::Session& session;
  const core::Trace<float>& trace;
  const Words& words;
  const lessons::NumberRules& rules;

  const core::Graph& graph() const { return trace.graph(); }
  const core::TensorSpec& spec(core::TensorId tensor) const { return graph().spec(tensor); }
  std::string text(std::string_view key, const lessons::TextValues& values = {}) const {
    return words.text.text(key, values);
  }
  core::StepList steps() const { return {graph(), trace.workspace().gradient_plan()}; }

  /// A cell's number as it is written: gradients with their three digits, moments scientific where small.
  std::string number(core::TensorId tensor, core::Quantity quantity, double value) const;
  /// A constant of the arithmetic: up to four digits that count ("0.001", "1e−8").
  std::string constant(double value) const;
  /// A factor's number, or its symbol where that is a number to read ("√4", "6").
  std::string number(const core::Factor& factor) const;
  /// The same where it stands within a line of arithmetic: "(1 − 0.25)", "(−0.50)".
  std::string number_in_line(const core::Factor& factor) const;

  /// A token within a sentence, as markup: a mark of punctuation stands in quotation marks, or it would be
  /// read as the sentence's own.
  std::string token_in_sentence(const std::string& token) const;
  /// The same of a side's label.
  std::string label_in_sentence(const SliceSide& side, std::int64_t index) const;
  /// "∂L/∂scores[on, sat]", in its parts.
  NarratedName name(const CellAddress& cell) const;
  /// The tensor's name for people, "masked scores".
  std::string tensor_name(core::TensorId tensor) const;
};

/// Whether the explanation is an optimiser's arithmetic: then numbers need all their digits.
bool is_update(const core::Explanation& explanation);
/// Whether the term's number comes in a form that `explanation`'s own kind of number has not: the squares
/// behind an inverse deviation, the exponentials behind a share.
bool is_intermediate(const core::Explanation& explanation);
/// The number of the explanation's cell.
std::string own_number(const NarrationSource& source, const core::Explanation& explanation, double value);

/// What a gradient's term multiplies the upstream gradient by. Precondition: at least two factors.
double local_of(const core::Term& term);
/// The factors that a row of the table has room for: upstream and local, rate and direction.
NarratedTerm narrate_term(const NarrationSource& source, const core::Explanation& explanation,
                          const core::Term& term);

void add_terms(const NarrationSource& source, const core::Explanation& explanation, Narration& narration);
void add_sentence(const NarrationSource& source, const core::Explanation& explanation, Narration& narration);
void add_links(const NarrationSource& source, const core::Explanation& explanation, Narration& narration);

/// What a text calls the index along an axis that is only counted: "channel", "class"; empty where the axis
/// has words or numbers of its own.
std::string_view counted_word(core::Axis axis);

/// What names the sides of a tensor's cell in a sentence: {query}, {key}, {head}, {channel}, …
lessons::TextValues cell_values(const NarrationSource& source, const CellAddress& cell);

}  // namespace headscope::simulator
