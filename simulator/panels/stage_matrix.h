// A slice of a tensor as a heat map on the stage: numbers, words, marks and frames gathered for the matrix
// widget.
#pragma once

#include "simulator/panels/panel.h"
#include "simulator/widgets/matrix.h"

#include <string>
#include <vector>

namespace headscope::simulator {

/// Owns what a MatrixSpec points into; stays put while it is drawn.
class StageMatrix {
 public:
  StageMatrix(const Panel& panel, const StageItem& item);
  StageMatrix(const StageMatrix&) = delete;
  StageMatrix& operator=(const StageMatrix&) = delete;

  MatrixSpec spec;  // flags and values point into this object
  const StageItem& item() const { return item_; }
  /// Rows and columns that fit the stage at once; the rest is paged.
  int rows_shown() const { return rows_shown_; }
  int columns_shown() const { return columns_shown_; }
  MatrixPage page() const { return page_; }
  /// Shows fewer rows of words at once, where cells would be too low to read. Returns whether it could.
  bool show_fewer_rows(const Panel& panel);

 private:
  void turn_pages(const Panel& panel);
  void gather_values(const Panel& panel);
  void label_sides(const Panel& panel);
  void mark_cells(const Panel& panel);
  void frame_operands(const Panel& panel);
  void frame_factors(const Narration& narration, Concept hue);

  const StageItem& item_;
  std::vector<float> values_;
  std::vector<CellFlags> flags_;
  int rows_shown_ = 0, columns_shown_ = 0;
  MatrixPage page_;
};

/// The most indices of an axis that stand on the stage at once.
int window_of(core::Axis axis);

/// Reads pointer and keyboard on a drawn matrix: hover lights, a click locks, a double click edits.
void touch_matrix(Panel& panel, std::string_view id, const StageMatrix& matrix, const MatrixLayout& layout);

/// The number field over a cell that is being edited, if it is on this matrix.
void edit_cell(Panel& panel, const StageMatrix& matrix, const MatrixLayout& layout);

/// Opens the field over a cell. A cell that is computed says so instead (the action's message).
void begin_edit(Panel& panel, const CellAddress& address);

}  // namespace headscope::simulator
