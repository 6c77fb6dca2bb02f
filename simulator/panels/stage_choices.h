// What can be chosen on the stage beside its matrices: a head, an operand's gradient, a softmax's row,
// numbers or pattern.
#pragma once

#include "simulator/panels/panel.h"

namespace headscope::simulator {

/// The heads to choose from, at the right of the title, as far as they find room in `most`: without their
/// word, or not at all (a key does the same). Returns the width used.
float draw_head_choice(Panel& panel, ImVec2 top_right, float most);
/// The gradients to choose from, of a backward pass with several. Returns the height used.
float draw_result_choice(Panel& panel, ImVec2 at, float width);
/// The rows to choose from, of a softmax's backward pass: a button back and one on hold a cell of the row.
/// Returns the height used.
float draw_row_choice(Panel& panel, ImVec2 at, float width);
/// Numbers or pattern, where a matrix is too large for all of its numbers. Returns the width used.
float draw_detail_choice(Panel& panel, ImVec2 bottom_right);

}  // namespace headscope::simulator
