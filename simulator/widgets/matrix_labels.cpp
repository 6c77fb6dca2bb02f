// Title, captions and labels of a matrix, and the bands that join one matrix to the next.
#include "simulator/widgets/matrix_parts.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

namespace headscope::simulator {

using namespace matrix_parts;

namespace {

constexpr float kBandOutset = 4;

/// Of a line's height, what its letters take: labels nearer to each other than that would touch.
constexpr float kLineShare = 0.8F;

constexpr float kColumnLabelAir = 4;  // of a column's width, what its label leaves free

constexpr TypeStyle kUprightType = TypeStyle::label;
constexpr float kLongestUpright = 84;  // what is longer takes the matrix its room

void draw_mark(Painter& painter, const AxisLabel& label, const Rect& text, const TextStyle& style) {
  if (label.mark == WordMark::none) return;
  const float y = text.min.y + painter.base_line(style.type) + painter.px(3);
  painter.dashed_line({text.min.x, y}, {text.max.x, y}, painter.colour().secondary, painter.stroke(1),
                      {2, 2});
}

/// Which labels of cells `pitch` apart are drawn where each takes `room`: as many as do not touch, lit ones
/// before all others.
std::vector<int> labels_apart(std::span<const AxisLabel> labels, int first_label, int first, int end,
                              float pitch, float room) {
  end = std::min(end, first_label + static_cast<int>(labels.size()));
  const auto is_lit = [&](int at) {
    return labels[static_cast<std::size_t>(at - first_label)].lit != Concept::none;
  };
  const auto touch = [&](int before, int after) { return static_cast<float>(after - before) * pitch < room; };
  const auto hides_lit = [&](int at) {
    for (int other = at + 1; other < end && touch(at, other); ++other)
      if (is_lit(other)) return true;
    return false;
  };
  std::vector<int> apart;
  for (int at = first; at < end; ++at)
    if (apart.empty() || !touch(apart.back(), at))
      if (is_lit(at) || !hides_lit(at)) apart.push_back(at);
  return apart;
}

void draw_row_labels(Painter& painter, const MatrixSpec& spec, const MatrixLayout& layout) {
  if (spec.row_labels.empty()) return;
  const float gap = painter.px(kLabelGap), most = painter.px(kLongestLabel);
  const float touch = kLineShare * painter.line_height(TypeStyle::number);
  for (const int row : labels_apart(spec.row_labels, spec.values.first_row, layout.first_row,
                                    layout.first_row + layout.rows, layout.cell.y, touch)) {
    const AxisLabel& label = spec.row_labels[static_cast<std::size_t>(row - spec.values.first_row)];
    const TextStyle style = row_label_style(spec, label, painter);
    const float y =
        layout.rect_of({row, layout.first_column}).centre().y - painter.line_height(style.type) / 2;
    const Rect drawn =
        painter.fit_text({layout.cells.min.x - gap - most, y}, label.text, most, style, Align::right);
    draw_mark(painter, label, drawn, style);
  }
}

TextStyle column_label_style(const Painter& painter, const AxisLabel& label, TypeStyle type) {
  const bool lit = label.lit != Concept::none;
  const ImU32 idle = type == TypeStyle::small ? painter.colour().tertiary : painter.colour().secondary;
  return {type, lit ? Weight::semibold : Weight::regular, lit ? painter.theme().hue(label.lit) : idle,
          label.source, "column_label"};
}

/// Words at the size of numbers when all fit their columns, else small; channels are small always.
TypeStyle column_label_type(const Painter& painter, const MatrixSpec& spec, float room) {
  for (const AxisLabel& label : spec.column_labels)
    if (label.source != Source::token ||
        painter.width_of(label.text, {.type = TypeStyle::number, .weight = Weight::semibold}) > room)
      return TypeStyle::small;
  return TypeStyle::number;
}

/// Turned labels begin at their columns' middles, a gap above the cells.
void draw_upright_labels(Painter& painter, const MatrixSpec& spec, const MatrixLayout& layout) {
  const float foot = layout.cells.min.y - painter.px(kColumnLabelGap);
  const float touch = kLineShare * painter.line_height(kUprightType);
  for (const int column : labels_apart(spec.column_labels, spec.values.first_column, layout.first_column,
                                       layout.first_column + layout.columns, layout.cell.x, touch)) {
    const AxisLabel& label = spec.column_labels[static_cast<std::size_t>(column - spec.values.first_column)];
    const TextStyle style = column_label_style(painter, label, kUprightType);
    const Rect drawn = painter.fit_text_up({layout.rect_of({layout.first_row, column}).centre().x, foot},
                                           label.text, painter.px(kLongestUpright), style);
    if (label.mark == WordMark::none) continue;
    const float x = drawn.min.x + painter.base_line(style.type) + painter.px(3);
    painter.dashed_line({x, drawn.min.y}, {x, drawn.max.y}, painter.colour().secondary, painter.stroke(1),
                        {2, 2});
  }
}

void draw_column_labels(Painter& painter, const MatrixSpec& spec, const MatrixLayout& layout) {
  if (spec.column_labels.empty()) return;
  if (spec.column_label_turn == LabelTurn::upright) return draw_upright_labels(painter, spec, layout);
  const float room = layout.cell.x - painter.px(kColumnLabelAir);
  const TypeStyle type = column_label_type(painter, spec, room);
  const float y = label_line_top(painter, layout) +
                  (painter.line_height(TypeStyle::number) - painter.line_height(type)) / 2;
  // narrow columns name only the lit one, in full, within the matrix; half a word helps nobody
  const bool narrow = room < painter.px(18);
  struct Span {
    float begin = 0, end = 0;
  };
  const auto span_of = [&](int column, const AxisLabel& label) {
    const float middle = layout.rect_of({layout.first_row, column}).centre().x;
    const float width = painter.width_of(label.text, column_label_style(painter, label, type));
    if (!narrow || width <= room) return Span{middle - room / 2, middle + room / 2};
    const float most = std::min(width, layout.cells.width());
    const float begin = std::clamp(middle - most / 2, layout.cells.min.x, layout.cells.max.x - most);
    return Span{begin, begin + most};
  };
  const auto label_of = [&](int column) -> const AxisLabel* {
    const auto index = static_cast<std::size_t>(column - spec.values.first_column);
    return index < spec.column_labels.size() ? &spec.column_labels[index] : nullptr;
  };
  const int end = layout.first_column + layout.columns;
  std::vector<Span> lit;
  for (int column = layout.first_column; narrow && column < end && label_of(column); ++column)
    if (label_of(column)->lit != Concept::none) lit.push_back(span_of(column, *label_of(column)));
  float next_free = -1e9F;
  for (int column = layout.first_column; column < end && label_of(column); ++column) {
    const AxisLabel& label = *label_of(column);
    const Span span = span_of(column, label);
    const bool is_lit = label.lit != Concept::none;
    if (narrow) {
      const bool hides_lit = !is_lit && std::ranges::any_of(lit, [&](const Span& other) {
        return span.begin < other.end && other.begin < span.end;
      });
      const TextStyle plain = column_label_style(painter, label, type);
      if (hides_lit || span.begin < next_free || (!is_lit && painter.width_of(label.text, plain) > room))
        continue;
      next_free = span.end;
    }
    const TextStyle style = column_label_style(painter, label, type);
    const Rect text =
        painter.fit_text({span.begin, y}, label.text, span.end - span.begin, style, Align::centre);
    draw_mark(painter, label, text, style);
  }
}

void draw_captions(Painter& painter, const MatrixSpec& spec, const MatrixLayout& layout) {
  if (!has_label_line(spec)) return;
  const std::string& at_left = spec.row_caption.empty() ? spec.column_caption : spec.row_caption;
  const float y = label_line_top(painter, layout) +
                  (painter.line_height(TypeStyle::number) - painter.line_height(TypeStyle::small)) / 2;
  if (!at_left.empty())
    painter.text_to({layout.cells.min.x - painter.px(kLabelGap), y}, at_left, caption_style(painter));
}

void draw_title_above(Painter& painter, const MatrixSpec& spec, const MatrixLayout& layout) {
  const float top = title_line_top(painter, spec, layout), line = painter.line_height(TypeStyle::label);
  const float small_top = top + (line - painter.line_height(TypeStyle::small)) / 2;
  const MatrixTitle& title = spec.title;
  float left = layout.cells.min.x, right = layout.cells.max.x;
  // the caption gives way to a title that needs its room
  const bool has_caption =
      caption_is_up(spec) && (spec.title_place != TitlePlace::above || title.text.empty() ||
                              title_width(painter, title) + painter.px(12) +
                                      painter.width_of(spec.column_caption, caption_style(painter)) <=
                                  layout.cells.width());
  if (has_caption)
    right = painter.text_to({right, small_top}, spec.column_caption, caption_style(painter)).min.x -
            painter.px(12);
  if (spec.title_place != TitlePlace::above || title.text.empty()) return;
  if (title.hue != Concept::none)
    left = painter.tag_in_line({left, top}, title.hue, TypeStyle::label).max.x + painter.px(kTagGap);
  const float end = title.room > 0 ? layout.cells.min.x + title.room
                                   : std::max(right, layout.cells.min.x + painter.px(kShortestTitle));
  const float room = std::max(0.0F, end - left);
  const Rect words = painter.fit_text(
      {left, top}, title.text, room,
      {TypeStyle::label, Weight::semibold, painter.theme().hue(title.hue), title.source, "title"});
  const std::string& aside = title.note.empty() ? title.path : title.note;
  const float left_over = right - words.max.x - painter.px(12);
  if (aside.empty() || left_over < painter.px(48)) return;
  if (!title.note.empty() && !has_room_for_note(painter, spec, layout)) return;
  const TextStyle style{TypeStyle::small, Weight::of_style, painter.colour().tertiary,
                        title.note.empty() ? Source::tensor : Source::catalog, "title_aside"};
  painter.fit_text({right - left_over, small_top}, aside, left_over, style, Align::right);
}

void draw_title_below(Painter& painter, const MatrixSpec& spec, const MatrixLayout& layout) {
  const float top = layout.cells.max.y + painter.px(kTitleGap);
  const float width =
      std::min(title_width(painter, spec.title), std::max(layout.cells.width(), painter.px(kShortestTitle)));
  float left = layout.cells.max.x - width;
  const TextStyle note{TypeStyle::small, Weight::of_style, painter.colour().tertiary, Source::catalog,
                       "title_aside"};
  if (!spec.title.note.empty() && has_room_for_note(painter, spec, layout))
    painter.text({layout.cells.min.x,
                  top + (painter.line_height(TypeStyle::label) - painter.line_height(TypeStyle::small)) / 2},
                 spec.title.note, note);
  if (spec.title.hue != Concept::none)
    left = painter.tag_in_line({left, top}, spec.title.hue, TypeStyle::label).max.x + painter.px(kTagGap);
  painter.fit_text(
      {left, top}, spec.title.text, layout.cells.max.x - left,
      {TypeStyle::label, Weight::semibold, painter.theme().hue(spec.title.hue), spec.title.source, "title"});
}

void draw_band(Painter& painter, const Rect& box) {
  painter.fill(box.grown(painter.px(kBandOutset)), painter.colour().inset,
               painter.px(painter.theme().radius.key));
}

}  // namespace

float matrix_parts::column_label_height(const Painter& painter, const MatrixSpec& spec) {
  const float line = painter.line_height(TypeStyle::number);
  if (spec.column_label_turn == LabelTurn::level) return line;
  float longest = line;
  for (const AxisLabel& label : spec.column_labels) {
    // as if lit: the cells must not move when a label becomes semibold
    TextStyle style = column_label_style(painter, label, kUprightType);
    style.weight = Weight::semibold;
    longest = std::max(longest, painter.width_of(label.text, style));
  }
  return std::min(std::ceil(longest), painter.px(kLongestUpright));
}

bool cuts_column_words(const Painter& painter, const MatrixSpec& spec, float cell_width) {
  if (spec.column_label_turn == LabelTurn::upright) return false;
  const float room = cell_width - painter.px(kColumnLabelAir);
  const auto n_cut = std::ranges::count_if(spec.column_labels, [&](const AxisLabel& label) {
    return label.source == Source::token &&
           painter.width_of(label.text, column_label_style(painter, label, TypeStyle::small)) > room;
  });
  constexpr std::size_t kOneOf = 5;  // fewer are a special token or two among letters, which read best level
  return static_cast<std::size_t>(n_cut) * kOneOf > spec.column_labels.size();
}

float shortest_title(const Painter& painter, const MatrixSpec& spec) {
  if (spec.title_place == TitlePlace::hidden || spec.title.text.empty()) return 0;
  return std::min(title_width(painter, spec.title), painter.px(kShortestTitle));
}

bool has_room_for_note(const Painter& painter, const MatrixSpec& spec, const MatrixLayout& layout) {
  if (spec.title.note.empty() || spec.title_place == TitlePlace::hidden) return false;
  float right = layout.cells.width();
  if (caption_is_up(spec))
    right -= painter.width_of(spec.column_caption, caption_style(painter)) + painter.px(12);
  const float note = painter.width_of(spec.title.note, caption_style(painter)) + painter.px(12);
  return title_width(painter, spec.title) + note <= right;
}

void matrix_parts::draw_matrix_labels(Painter& painter, const MatrixSpec& spec, const MatrixLayout& layout) {
  draw_row_labels(painter, spec, layout);
  draw_column_labels(painter, spec, layout);
  draw_captions(painter, spec, layout);
  if (has_title_above(spec)) draw_title_above(painter, spec, layout);
  if (has_title_below(spec)) draw_title_below(painter, spec, layout);
}

void draw_row_band(Painter& painter, const MatrixLayout& from, const MatrixLayout& to, int row) {
  if (!from.shows({row, from.first_column}) || !to.shows({row, to.first_column})) return;
  draw_band(painter, joined(from.rect_of(row, from.first_column, 1, from.columns),
                            to.rect_of(row, to.first_column, 1, to.columns)));
}

void draw_column_band(Painter& painter, const MatrixLayout& from, const MatrixLayout& to, int column) {
  if (!from.shows({from.first_row, column}) || !to.shows({to.first_row, column})) return;
  draw_band(painter, joined(from.rect_of(from.first_row, column, from.rows, 1),
                            to.rect_of(to.first_row, column, to.rows, 1)));
}

}  // namespace headscope::simulator
