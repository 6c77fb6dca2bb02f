// What placing a product and placing lines share; not for other panels.
#pragma once

#include "simulator/panels/stage_layout.h"

#include <algorithm>
#include <cmath>

namespace headscope::simulator::stage_parts {

inline constexpr float kSmallestCell = 4;
/// Below this a row of numbers is not read; fewer rows are shown instead, and pages turned.
inline constexpr float kLowestCell = 17;
/// Room that a sign takes before a matrix.
inline constexpr float kSignWidth = 40;

using Matrices = std::span<const std::unique_ptr<StageMatrix>>;

/// Cells grow with the window, up to the look's largest.
ImVec2 largest_cell(const Panel& panel, const Rect& box);

inline ImVec2 floored(ImVec2 cell) {
  return {std::max(kSmallestCell, std::floor(cell.x)), std::max(kSmallestCell, std::floor(cell.y))};
}

/// One row less wherever words run down. Returns whether any matrix could.
bool show_fewer_rows(const Panel& panel, Matrices matrices);

/// Room for the pager under a matrix that does not show all of its rows or columns.
float pager_room(const Panel& panel, const StageMatrix& matrix);

Placed place(const Panel& panel, StageMatrix& matrix, ImVec2 origin, ImVec2 cell);

/// Turns column labels upwards where words would be cut off in such cells. Returns whether it turned any.
bool turn_cut_words(const Panel& panel, Matrices matrices, ImVec2 cell);
void turn_level(Matrices matrices);
/// Whether rows are still read, or seen, that were before their labels were turned; where pages are turned,
/// fewer rows at once are a fair price.
bool stays_legible(const Panel& panel, Matrices matrices, ImVec2 turned, ImVec2 level);

}  // namespace headscope::simulator::stage_parts
