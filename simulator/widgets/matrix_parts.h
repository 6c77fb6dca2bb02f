// What layout, drawing and input of a matrix share; not for panels.
#pragma once

#include "simulator/widgets/matrix.h"

#include <algorithm>
#include <cmath>

namespace headscope::simulator::matrix_parts {

inline constexpr float kLabelGap = 12;       // from row labels to the cells
inline constexpr float kColumnLabelGap = 8;  // from column labels to the cells
inline constexpr float kTitleGap = 10;       // from the title to the cells
inline constexpr float kTitleLabelGap = 5;   // from the title to the column labels
inline constexpr float kLongestLabel = 120;
inline constexpr float kTagGap = 8;
inline constexpr float kShortestTitle = 140;  // a narrow matrix lets its title go on this far

inline TextStyle row_label_style(const MatrixSpec& spec, const AxisLabel& label, const Painter& painter) {
  const bool token = label.source == Source::token;
  const bool lit = label.lit != Concept::none;
  const TypeStyle type = token ? spec.row_label_type : TypeStyle::small;
  const ImU32 idle = type == TypeStyle::small ? painter.colour().tertiary : painter.colour().secondary;
  return {type, lit ? Weight::semibold : Weight::regular, lit ? painter.theme().hue(label.lit) : idle,
          label.source, "row_label"};
}

inline TextStyle caption_style(const Painter& painter) {
  return {TypeStyle::small, Weight::of_style, painter.colour().tertiary, Source::catalog, "caption"};
}

inline bool has_label_line(const MatrixSpec& spec) {
  return !spec.column_labels.empty() || !spec.row_caption.empty() || !spec.column_caption.empty();
}
/// With both captions, the column's goes up to the title's line.
inline bool caption_is_up(const MatrixSpec& spec) {
  return !spec.row_caption.empty() && !spec.column_caption.empty();
}
inline bool has_title_above(const MatrixSpec& spec) {
  return (spec.title_place == TitlePlace::above && !spec.title.text.empty()) || caption_is_up(spec);
}
inline bool has_title_below(const MatrixSpec& spec) {
  return spec.title_place == TitlePlace::below && !spec.title.text.empty();
}

inline float title_width(const Painter& painter, const MatrixTitle& title) {
  const float tag = title.hue == Concept::none ? 0 : painter.tag_size(TypeStyle::label) + painter.px(kTagGap);
  return tag + painter.width_of(title.text, {.type = TypeStyle::label, .weight = Weight::semibold});
}

/// Height of the column labels: a line, or the longest that is turned upwards.
float column_label_height(const Painter& painter, const MatrixSpec& spec);

/// Top of the line with captions and level column labels.
inline float label_line_top(const Painter& painter, const MatrixLayout& layout) {
  return layout.cells.min.y - painter.px(kColumnLabelGap) - painter.line_height(TypeStyle::number);
}
inline float title_line_top(const Painter& painter, const MatrixSpec& spec, const MatrixLayout& layout) {
  const float above_cells =
      has_label_line(spec)
          ? painter.px(kColumnLabelGap) + column_label_height(painter, spec) + painter.px(kTitleLabelGap)
          : painter.px(kTitleGap);
  return layout.cells.min.y - above_cells - painter.line_height(TypeStyle::label);
}

void draw_matrix_labels(Painter& painter, const MatrixSpec& spec, const MatrixLayout& layout);

inline CellFlags flags_at(const MatrixSpec& spec, int row, int column) {
  if (spec.flags.empty()) return 0;
  return spec.flags[static_cast<std::size_t>((row - spec.values.first_row) * spec.values.row_stride + column -
                                             spec.values.first_column)];
}

}  // namespace headscope::simulator::matrix_parts
