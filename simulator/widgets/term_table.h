// The explainer's table: a row a term with its factors, signs, value and a bar, and the sum below.
#pragma once

#include "simulator/widgets/controls.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headscope::simulator {

/// What colours the bars: blue and orange by sign, or the hue of probabilities.
enum class BarMap : std::uint8_t { signed_values, probability, none };

/// A column head: "on" with the tag Q over the factors that come from on's query.
struct TermHead {
  std::string text;
  Source source = Source::token;
  Concept tag = Concept::none;
  Concept hue = Concept::none;  // of the text
};

struct TermFactor {
  std::string number;  // formatted
  Concept hue = Concept::none;
  Source source = Source::number;
};

/// A line over the first of the rows that belong together: "norm1.centred", and what they add up to.
struct TermGroup {
  std::string name, value;
};

struct TermRow {
  std::string index;  // "0", or a token
  Source index_source = Source::number;
  std::vector<TermFactor> factors;
  std::vector<std::string> signs;  // between factors: "×"; same length as factors, minus one
  std::string value;               // formatted
  double amount = 0;               // for the bar
  std::optional<TermGroup> group = {};
};

struct TermTableSpec {
  std::string index_head;  // "c"
  std::vector<TermHead> factor_heads;
  std::string value_head;  // "q · k"
  Source value_head_source = Source::tensor;
  std::vector<TermRow> rows;
  std::string sum_word;  // "sum"; empty: no sum row
  std::string sum;
  BarMap bars = BarMap::signed_values;
  std::optional<std::size_t> lit;  // the row under a band (hovered, or twin of a hovered cell)
};

struct TermTableResponse {
  std::optional<std::size_t> hovered, clicked;
  float height = 0;
};
/// Where the columns find no room side by side, each row is a line of text that wraps, without bars.
TermTableResponse term_table(Ui& ui, std::string_view id, ImVec2 at, float width, const TermTableSpec& spec);

}  // namespace headscope::simulator
