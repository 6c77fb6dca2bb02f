// A slice of a tensor as a heat map on the stage: numbers, words, marks and frames gathered for the matrix
// widget.
#pragma once

#include "simulator/panels/panel.h"
#include "simulator/widgets/matrix.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace headscope::simulator {

/// A number now, and in the session that it is held against.
struct ComparedNumber {
  double now = 0, before = 0;
};

/// Owns what a MatrixSpec points into; stays put while it is drawn. While differences are shown, its numbers
/// are those now minus those before.
class StageMatrix {
 public:
  StageMatrix(const Panel& panel, const StageItem& item);
  StageMatrix(const StageMatrix&) = delete;
  StageMatrix& operator=(const StageMatrix&) = delete;

  MatrixSpec spec;         // flags and values point into this object
  Shown note = Shown::no;  // its scale stands at its title
  float pager_room = 0;    // the width that its pager's words may take; 0: any
  const StageItem& item() const { return item_; }
  /// Rows and columns that fit the stage at once; the rest is paged.
  int rows_shown() const { return rows_shown_; }
  int columns_shown() const { return columns_shown_; }
  MatrixPage page() const { return page_; }
  /// How few of words it may be made to show.
  int fewest_rows() const;
  /// Shows fewer rows of words at once, where cells would be too low to read. Returns whether it could.
  bool show_fewer_rows(const Panel& panel);
  /// The largest finite magnitude of the numbers that are shown.
  double largest() const { return largest_; }
  /// Whether the numbers are differences.
  bool is_difference() const { return before_.has_value(); }
  /// Both numbers of a cell of a difference; none where there is but one.
  std::optional<ComparedNumber> compared_at(CellIndex cell) const;
  /// How the numbers are written, differences like what they are of.
  lessons::NumberKind number_kind() const { return spec.kind; }
  /// Matrices of one group share a scale: the values of the stage, a gradient and its branches.
  void set_scale(const Panel& panel, double largest);

 private:
  void compare(const Panel& panel);
  void write_title(const Panel& panel);
  void turn_pages(const Panel& panel);
  void gather_values(const Panel& panel);
  void label_sides(const Panel& panel);
  void mark_cells(const Panel& panel);
  void frame_operands(const Panel& panel);
  void frame_factors(const Narration& narration, Concept hue);

  AxisLabel* row_label(int row);
  AxisLabel* column_label(int column);

  const StageItem& item_;
  double largest_ = 0;
  bool is_there_ = true;
  core::Trace<float> trace_;
  std::optional<core::Trace<float>> before_;  // what a difference is held against
  std::string no_comparison_;                 // why there is no difference, where one was asked for
  std::vector<float> values_;
  std::vector<CellFlags> flags_;
  int rows_shown_ = 0, columns_shown_ = 0;
  MatrixPage page_;
};

/// What the window chose, or what the stage's largest matrix asks for, and its room.
Detail detail_of(const WindowState& window, const StagePlan& plan);
/// Whether the choice makes a difference.
bool has_detail(const StagePlan& plan);
/// The most indices of a side that stand on the stage at once.
int window_of(const StagePlan& plan, const SliceSide& side, Detail detail);
/// Where the lit cell stands along an axis of what the stage shows.
std::optional<int> lit_index(const View& view, core::Axis axis);
/// The matrices of a group get one scale: all values of the stage, each gradient with its branches.
void share_scales(const Panel& panel, std::span<const std::unique_ptr<StageMatrix>> matrices);
/// One matrix of those whose pages turn together has the buttons.
void share_pagers(std::span<const std::unique_ptr<StageMatrix>> matrices);

/// Reads pointer and keyboard on a drawn matrix: hover lights, a click locks, a double click edits.
void touch_matrix(Panel& panel, std::string_view id, const StageMatrix& matrix, const MatrixLayout& layout);

}  // namespace headscope::simulator
