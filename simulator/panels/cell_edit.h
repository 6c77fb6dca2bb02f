// Setting the numbers of cells on the stage: typed into a field, dragged, turned with the wheel.
#pragma once

#include "simulator/panels/stage_matrix.h"

namespace headscope::simulator {

/// The number field over a cell that is being edited, if it is on this matrix.
void edit_cell(Panel& panel, const StageMatrix& matrix, const MatrixLayout& layout);

/// Opens the field over a cell. One that cannot be set says so instead (the action's message).
void begin_edit(Panel& panel, const CellAddress& address);

/// Drags and turns the number of the cell that is held, when the pointer is over it, and says of the one
/// under the pointer what it was. Returns whether a drag has the pointer: its end is no click.
bool stroke_cell(Panel& panel, const StageMatrix& matrix, const MatrixLayout& layout,
                 const MatrixResponse& response);

}  // namespace headscope::simulator
