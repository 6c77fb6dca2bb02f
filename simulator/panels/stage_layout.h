// Places matrices on the stage: a product at its crossing, others side by side in as many rows as read best.
#pragma once

#include "simulator/panels/stage_matrix.h"

#include <cstdint>
#include <memory>
#include <span>

namespace headscope::simulator {

enum class Ink : std::uint8_t { none, drawn };
/// Draws formula and words from a point down within a width, or only measures them; returns the height.
using DrawWords = float (*)(Panel& panel, ImVec2 at, float width, Ink ink);
/// The same words from full to short: the first that leave the matrices room are drawn.
using ChoiceOfWords = std::span<const DrawWords>;

/// Left operand, upper operand, result at the crossing; words in the free corner. Returns whether there was
/// room: if not, nothing is drawn.
bool draw_product(Panel& panel, const Rect& box, std::span<const std::unique_ptr<StageMatrix>> matrices,
                  ChoiceOfWords choice);

/// Words above, then the matrices in rows, with their signs between. Returns whether there was room: if not,
/// nothing is drawn.
bool draw_line(Panel& panel, const Rect& box, std::span<const std::unique_ptr<StageMatrix>> matrices,
               ChoiceOfWords choice);

/// Room that the wholes and branches under the others ask for, of a stage as high as `height`; 0 where there
/// are none, or where the others would have too little left.
float small_height(const Panel& panel, float height, std::span<const std::unique_ptr<StageMatrix>> small);
/// Draws them in one row, with their signs between, in cells as large as fit.
void draw_small(Panel& panel, const Rect& box, std::span<const std::unique_ptr<StageMatrix>> small);

}  // namespace headscope::simulator
