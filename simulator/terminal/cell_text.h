// A cell's explanation in words: the same narration as in the window, its terms numbered to follow.
#pragma once

#include "simulator/app_state.h"
#include "simulator/narration.h"
#include "simulator/terminal/printer.h"
#include "simulator/words.h"

#include <cstddef>
#include <optional>

namespace headscope::simulator::terminal {

/// Prints the sentence, the terms, their sum, where the number comes from and where it goes.
void print_cell(Printer& printer, const AppState& state, const CellAddress& cell, const Words& words);

/// What `term` (from 1, as printed) leads to: a term's factor (`factor` from 1; 0: its first cell), or a cell
/// listed below the terms.
std::optional<CellAddress> follow(const AppState& state, const CellAddress& cell, std::size_t term,
                                  std::size_t factor, const Words& words);

}  // namespace headscope::simulator::terminal
