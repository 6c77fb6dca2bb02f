// The printed colour scale of a view: -3 … 0 … 3 for signed values, 0 … 0.5 … 1 for probabilities.
#pragma once

#include "simulator/widgets/matrix.h"

namespace headscope::simulator {

/// Bar with the numbers under it, `width` wide on the screen; `note` stands at its right ("one scale for all
/// three"). Returns its box.
Rect draw_scale_bar(Painter& painter, ImVec2 at, float width, ColourMap map, double scale,
                    std::string_view note = {});
/// The same for matrices whose scales stand at their titles: − … 0 … +.
Rect draw_sign_bar(Painter& painter, ImVec2 at, float width, std::string_view note = {});
/// The same in one line: the ends at the left and right of the bar (presentation).
Rect draw_scale_line(Painter& painter, ImVec2 at, float width, ColourMap map, double scale);

/// A limit for shared scales that prints well: 1, 1.5, 2, 3, 4, 5, 6, 8 × a power of ten, not under the
/// largest magnitude; 1 when all are 0 or none is finite.
double round_scale(double largest_magnitude);

}  // namespace headscope::simulator
