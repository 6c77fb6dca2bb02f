// The narration's terms as the explainer's table.
#pragma once

#include "simulator/narration.h"
#include "simulator/panels/panel.h"
#include "simulator/widgets/term_table.h"

#include <cstddef>
#include <string_view>
#include <vector>

namespace headscope::simulator {

/// The hue of a name's, factor's or head's quantity.
Concept hue_named(std::string_view quantity);
Source source_of(LabelKind kind);

/// The table, and which of the narration's terms its rows are.
struct ExplainerTable {
  TermTableSpec spec;
  std::vector<std::size_t> terms;  // by row
  std::size_t n_left_out = 0;      // more terms than a learner reads at once
};
ExplainerTable table_of(const Panel& panel, const Narration& narration);

/// The term whose whole arithmetic is worth a line below the table: the one under the pointer, else the
/// largest; none where it has no more than its row.
const NarratedTerm* detailed_term(const Panel& panel, const Narration& narration);

}  // namespace headscope::simulator
