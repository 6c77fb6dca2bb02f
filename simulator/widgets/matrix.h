// A labelled heat map with numbers: choosing its cell size, placing it, drawing it with all cell states, and
// finding the cell under the pointer. It knows nothing of tensors: the caller gives numbers, words and marks.
#pragma once

#include "simulator/widgets/interaction.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::simulator {

/// A view of rows × columns numbers; strides in elements, so that a transposed or sliced tensor needs no
/// copy. Of a large matrix, `data` may begin at a row and column of its own and hold no more than is drawn.
struct MatrixValues {
  const float* data = nullptr;
  int rows = 0, columns = 0;
  std::ptrdiff_t row_stride = 0, column_stride = 1;
  int first_row = 0, first_column = 0;  // of `data`

  double at(int row, int column) const {
    return static_cast<double>(
        data[(row - first_row) * row_stride + (column - first_column) * column_stride]);
  }
};

struct CellIndex {
  int row = 0, column = 0;
  bool operator==(const CellIndex&) const = default;
};

enum class ColourMap : std::uint8_t { signed_values, probability, plain };

/// States of single cells, a bit set each; in MatrixSpec::flags. Not-finite numbers are seen by
/// themselves.
using CellFlags = std::uint16_t;
inline constexpr CellFlags kMasked = 1;
inline constexpr CellFlags kNotComputed = 2;
inline constexpr CellFlags kEdited = 4;

/// A frame round one cell or a whole block of them.
enum class FrameKind : std::uint8_t {
  operand,   // 2.5 in the hue, numbers semibold
  result,    // 3 in the hue and an inner ring, numbers bold
  neutral,   // 2 in the primary text colour (the row that goes with another view)
  gradient,  // dashed in the gradient hue, outside the cells (a whole gradient matrix)
};
struct MatrixFrame {
  FrameKind kind = FrameKind::operand;
  Concept hue = Concept::none;
  int row = 0, column = 0, rows = 1, columns = 1;
};

/// A word that the vocabulary lacks has a dashed line under it.
enum class WordMark : std::uint8_t { none, unknown };

struct AxisLabel {
  std::string text;
  Source source = Source::token;
  Concept lit = Concept::none;  // semibold and in this hue: query or key of the lit cell
  WordMark mark = WordMark::none;
};

struct MatrixTitle {
  Concept hue = Concept::none;  // with its letter tag
  std::string text;             // "keys, transposed"
  Source source = Source::catalog;
  std::string path;  // the tensor's, at the right; shortened if there is no room
  std::string note;  // "scale ±0.4", at the right instead of the path
  float room = 0;    // the most width for a title above, in screen pixels; 0: as its matrix, or the shortest
};

/// Where the title stands: over the cells (and the column labels), or under them at the right.
enum class TitlePlace : std::uint8_t { above, below, hidden };
/// How column labels stand over the cells: as lines, or, longer than their columns are wide, turned upwards.
enum class LabelTurn : std::uint8_t { level, upright };
enum class Numbers : std::uint8_t { shown, hidden };
/// Whether a matrix that does not fit has buttons of its own to turn its pages.
enum class Pager : std::uint8_t { shown, hidden };

struct MatrixSpec {
  MatrixValues values;
  ColourMap map = ColourMap::signed_values;
  double scale = 1;  // of signed values
  lessons::NumberKind kind = lessons::NumberKind::value;
  Numbers numbers = Numbers::shown;
  Pager pager = Pager::shown;
  MatrixTitle title;
  TitlePlace title_place = TitlePlace::above;
  std::vector<AxisLabel> row_labels, column_labels;  // of what `values` holds, from its first; empty: none
  LabelTurn column_label_turn = LabelTurn::level;
  TypeStyle row_label_type = TypeStyle::number;
  std::string row_caption, column_caption;  // "query i ↓", "key j →"
  std::span<const CellFlags> flags = {};    // of what `values` holds, laid out by its row stride; or empty
  std::vector<MatrixFrame> frames;
  std::optional<CellIndex> hovered, twin, locked, focus;  // twin: the hovered one's operand elsewhere
};

/// What part of a matrix too large for its room is drawn. Rows and columns from 0.
struct MatrixPage {
  int first_row = 0, first_column = 0;
};

/// A placed matrix: all rectangles on the screen.
struct MatrixLayout {
  Rect cells;                                                  // all drawn cells, gaps included
  ImVec2 cell = {0, 0};                                        // pitch of the grid: cell and gap
  Rect bounds;                                                 // with labels, captions, title and pager
  int first_row = 0, first_column = 0, rows = 0, columns = 0;  // drawn part
  int all_rows = 0, all_columns = 0;
  float gap = 1;  // between cells
  Rect pager;     // line with the pager's buttons; empty without
  bool is_paged() const { return rows < all_rows || columns < all_columns; }

  /// The cell's rectangle without the gap. Precondition: the cell is in the drawn part.
  Rect rect_of(CellIndex cell) const;
  Rect rect_of(int row, int column, int n_rows, int n_columns) const;
  bool shows(CellIndex cell) const;
  std::optional<CellIndex> cell_at(ImVec2 position) const;
};

/// Room that title, captions and labels take round the cells.
struct MatrixMargins {
  float left = 0, top = 0, bottom = 0;
};
/// Row captions and labels at the left, title and column labels above. With both captions the
/// column's stands at the right end of the title's line.
MatrixMargins margins_of(const Painter& painter, const MatrixSpec& spec);

/// Limits for choosing a pitch, at text scale 100%.
struct CellLimits {
  ImVec2 smallest = {4, 4};
  ImVec2 largest = {62, 44};
};
/// The largest pitch with which the whole matrix, margins included, fits the room: at best `largest`, then
/// smaller (fewer digits, then no numbers), at worst `smallest`; what then does not fit is paged.
ImVec2 choose_cell(const Painter& painter, const MatrixSpec& spec, ImVec2 room,
                   const CellLimits& limits = {});

/// Whether more than a few column labels that are words would be cut off in cells so wide, as long as they
/// are not turned.
bool cuts_column_words(const Painter& painter, const MatrixSpec& spec, float cell_width);

/// Room that the pager takes under a matrix that does not fit.
float pager_height(const Painter& painter);

/// Places it with the top left cell at `origin`. `room` limits what is drawn (paging); {0, 0}: no limit.
MatrixLayout place_matrix(const Painter& painter, const MatrixSpec& spec, ImVec2 origin, ImVec2 cell,
                          ImVec2 room_for_cells = {0, 0}, const MatrixPage& page = {});

/// What a title asks for beyond which it may be cut off, however narrow its matrix.
float shortest_title(const Painter& painter, const MatrixSpec& spec);
/// Whether the title's note has room beside it in full.
bool has_room_for_note(const Painter& painter, const MatrixSpec& spec, const MatrixLayout& layout);

/// Draws in the order of the look: fill, number, operand, result, hover, corner, focus.
void draw_matrix(Painter& painter, const MatrixSpec& spec, const MatrixLayout& layout);

/// An inset band behind the row (from one matrix to the next) and behind the column: draw before the
/// matrices.
void draw_row_band(Painter& painter, const MatrixLayout& from, const MatrixLayout& to, int row);
void draw_column_band(Painter& painter, const MatrixLayout& from, const MatrixLayout& to, int column);

struct MatrixResponse {
  std::optional<CellIndex> hovered, clicked, double_clicked;
  std::optional<MatrixPage> turned;  // a pager button was pressed, or the focus left the page
  bool focused = false;              // it has the keyboard: draw the focus cell
  std::optional<CellIndex> moved;    // arrows, Home, End moved the focus cell to here
  bool entered = false;              // Enter on the focus cell
};
/// The pager's words from the caller's catalog, filled in: "rows 1 to 12 of 64".
struct PagerWords {
  std::string rows;
  std::string columns;
};
/// What the pager's buttons and words take.
float pager_width(const Painter& painter, const MatrixLayout& layout, const PagerWords& words);
/// Pointer, keyboard and pager; call after draw_matrix. A number editor over a cell must come before it: the
/// first of two controls in one place gets the pointer.
MatrixResponse matrix_input(Ui& ui, std::string_view id, const MatrixSpec& spec, const MatrixLayout& layout,
                            const PagerWords& words = {});

/// A tiny map without numbers for the operation strip. Flags as in the spec.
void draw_thumbnail(Painter& painter, const Rect& box, const MatrixValues& values, ColourMap map,
                    double scale, std::span<const CellFlags> flags = {});
/// Its place before the operation ran: a dotted outline.
void draw_empty_thumbnail(Painter& painter, const Rect& box);

}  // namespace headscope::simulator
