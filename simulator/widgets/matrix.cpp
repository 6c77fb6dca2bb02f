// Draws the cells of a matrix and their states, in the look's order: fill, number, operand, result, hover,
// corner, focus. Labels and title are in matrix_labels.cpp.
#include "simulator/widgets/matrix_parts.h"

#include <array>
#include <string>
#include <vector>

namespace headscope::simulator {

using namespace matrix_parts;

namespace {

constexpr float kFrameOutset = 2, kResultRing = 1.5F, kHoverInset = 3, kFocusOutset = 3;
constexpr float kCorner = 11, kNumberRoom = 4, kBarFrom = 9, kChevron = 8, kDottedFrom = 14;
constexpr double kBarFromShare = 0.02;  // of the scale
constexpr float kLeastNumberRoom = 6;   // the narrowest digit has none in less

/// A size and a rung of lessons::number_ladder().
struct NumberForm {
  TypeStyle type;
  std::size_t rung;
};
// digits are worth more than size, down to the smallest style of the look
constexpr std::array<NumberForm, 4> kForms = {
    {{TypeStyle::number, 0}, {TypeStyle::small, 0}, {TypeStyle::number, 1}, {TypeStyle::small, 1}}};
constexpr float kMostDots =
    4000;  // of cells' own outlines, four vertices each; with more there is one outline
constexpr int kHatchedMost = 400;  // masked cells; a hatch has ten times a cell's vertices
constexpr Dash kDots = {2, 3};

enum class Emphasis : std::uint8_t { idle, operand, result };

/// One matrix being drawn.
class Canvas {
 public:
  Canvas(Painter& painter, const MatrixSpec& spec, const MatrixLayout& layout)
      : painter_(painter),
        spec_(spec),
        layout_(layout),
        colours_(painter.colour()),
        lines_(painter.theme().line) {}

  void draw() {
    int n_masked = 0;
    for_cells([&](CellIndex at) { n_masked += has(at, kMasked) ? 1 : 0; });
    hatches_ = n_masked <= kHatchedMost && smaller_side() >= lines_.hatch_from_cell;
    for_cells([&](CellIndex at) { draw_fill(at); });
    draw_masked_edges();
    draw_not_computed();
    choose_form();
    heavy_fits_ = heavy_fits();
    for (int column = 0; column < layout_.columns; ++column) draw_numbers(layout_.first_column + column);
    for (const FrameKind kind :
         {FrameKind::gradient, FrameKind::operand, FrameKind::neutral, FrameKind::result})
      for (const MatrixFrame& frame : spec_.frames)
        if (frame.kind == kind) draw_frame(frame);
    for_cells([&](CellIndex at) {
      if (!is_finite(at)) draw_not_finite(at);
    });
    for (const std::optional<CellIndex>& at : {spec_.twin, spec_.hovered})
      if (at && layout_.shows(*at)) draw_hover(*at);
    draw_corners();
    if (spec_.focus && layout_.shows(*spec_.focus)) draw_focus(*spec_.focus);
  }

 private:
  template <class Visit>
  void for_cells(const Visit& visit) const {
    for (int row = 0; row < layout_.rows; ++row)
      for (int column = 0; column < layout_.columns; ++column)
        visit(CellIndex{layout_.first_row + row, layout_.first_column + column});
  }

  double value(CellIndex at) const { return spec_.values.at(at.row, at.column); }
  bool has(CellIndex at, CellFlags flag) const { return (flags_at(spec_, at.row, at.column) & flag) != 0; }
  bool is_plain(CellIndex at) const { return !has(at, kMasked) && !has(at, kNotComputed); }
  bool is_finite(CellIndex at) const { return !is_plain(at) || std::isfinite(value(at)); }
  float smaller_side() const { return std::min(layout_.cell.x, layout_.cell.y); }

  ImU32 fill_of(CellIndex at) const {
    if (!std::isfinite(value(at)) || spec_.map == ColourMap::plain) return colours_.inset;
    return spec_.map == ColourMap::probability ? painter_.theme().probability_colour(value(at))
                                               : painter_.theme().signed_colour(value(at), spec_.scale);
  }

  void draw_fill(CellIndex at) {
    const Rect box = layout_.rect_of(at);
    if (has(at, kNotComputed)) return;
    if (!has(at, kMasked)) {
      // corners of cells that touch are square: round ones would show gaps, and cost seven times the vertices
      painter_.fill(box, fill_of(at), layout_.gap > 0 ? painter_.px(painter_.theme().radius.cell) : 0);
      return;
    }
    painter_.fill(box, colours_.inset);
    const ImU32 colour = with_alpha(colours_.control, 0.4F);
    if (hatches_)
      painter_.hatch(box, colour);
    else if (spec_.map != ColourMap::probability && smaller_side() >= kBarFrom)
      painter_.diagonal(box, colours_.control);
  }

  /// Small cells of a probability map: masked and weight 0 look alike, so a line parts them.
  void draw_masked_edges() {
    if (spec_.map != ColourMap::probability || hatches_ || spec_.flags.empty()) return;
    const float width = painter_.stroke(lines_.hair);
    for_cells([&](CellIndex at) {
      if (has(at, kNotComputed)) return;
      const Rect box = layout_.rect_of(at);
      const CellIndex right = {at.row, at.column + 1}, below = {at.row + 1, at.column};
      const float half = layout_.gap / 2;
      if (layout_.shows(right) && has(at, kMasked) != has(right, kMasked))
        painter_.line({box.max.x + half, box.min.y - half}, {box.max.x + half, box.max.y + half},
                      colours_.control, width);
      if (layout_.shows(below) && has(at, kMasked) != has(below, kMasked))
        painter_.line({box.min.x - half, box.max.y + half}, {box.max.x + half, box.max.y + half},
                      colours_.control, width);
    });
  }

  void draw_not_computed() {
    int n = 0;
    for_cells([&](CellIndex at) { n += has(at, kNotComputed) ? 1 : 0; });
    if (n == 0) return;
    const float width = painter_.stroke(lines_.hair);
    const float n_dots =
        static_cast<float>(n) * 2 * (layout_.cell.x + layout_.cell.y) / painter_.px(kDots.on + kDots.off);
    if (n == layout_.rows * layout_.columns && (n_dots > kMostDots || smaller_side() < kDottedFrom)) {
      painter_.dashed_frame(layout_.cells, colours_.control, width, kDots);
      return;
    }
    for_cells([&](CellIndex at) {
      if (!has(at, kNotComputed)) return;
      if (n_dots > kMostDots)
        painter_.frame(layout_.rect_of(at), colours_.control, width);
      else
        painter_.dashed_frame(layout_.rect_of(at), colours_.control, width, kDots);
    });
  }

  Emphasis emphasis_of(CellIndex at) const {
    Emphasis emphasis = Emphasis::idle;
    for (const MatrixFrame& frame : spec_.frames) {
      if (at.row < frame.row || at.row >= frame.row + frame.rows || at.column < frame.column ||
          at.column >= frame.column + frame.columns)
        continue;
      if (frame.kind == FrameKind::result) emphasis = Emphasis::result;
      if (frame.kind == FrameKind::operand && emphasis == Emphasis::idle) emphasis = Emphasis::operand;
    }
    return spec_.locked == at ? Emphasis::result : emphasis;
  }

  TextStyle number_style(CellIndex at) const {
    const Emphasis emphasis = emphasis_of(at);
    const Weight weight = emphasis == Emphasis::result    ? Weight::bold
                          : emphasis == Emphasis::operand ? Weight::semibold
                                                          : Weight::regular;
    if (!is_finite(at)) return {TypeStyle::number, Weight::semibold, colours_.error, Source::number, "cell"};
    const ImU32 colour = spec_.map == ColourMap::plain ? colours_.primary : colours_.cell;
    return {TypeStyle::number, weight, colour, Source::number, "cell"};
  }

  float number_room() const { return layout_.cell.x - layout_.gap - painter_.px(kNumberRoom); }

  /// One form for the whole matrix: the first with which nearly every number has room, else none, since a map
  /// with numbers here and there reads worse than one without.
  void choose_form() {
    form_ = nullptr;
    if (spec_.numbers == Numbers::hidden || number_room() < painter_.px(kLeastNumberRoom)) return;
    ladders_.resize(static_cast<std::size_t>(layout_.rows) * static_cast<std::size_t>(layout_.columns));
    int n = 0;
    for_cells([&](CellIndex at) { n += is_plain(at) ? 1 : 0; });
    for (const NumberForm& form : kForms) {
      const float em = painter_.px(painter_.theme().size_of(form.type, painter_.fonts().sizing()).size);
      if (layout_.cell.y - layout_.gap < em || !nearly_all_fit(form, n)) continue;
      form_ = &form;
      return;
    }
  }

  /// Of `n` numbers one in ten may be too wide. Ends at the first one too many.
  bool nearly_all_fit(const NumberForm& form, int n) const {
    int n_wide = 0;
    for (int row = 0; row < layout_.rows; ++row)
      for (int column = 0; column < layout_.columns; ++column) {
        const CellIndex at = {layout_.first_row + row, layout_.first_column + column};
        if (!is_plain(at) || width_of(text_in(at, form), {.type = form.type}) <= number_room()) continue;
        if (++n_wide * 10 > n) return false;
      }
    return true;
  }

  /// Whether every stressed number has room for its weight: all of a row are stressed, or none.
  bool heavy_fits() const {
    bool fits = true;
    for_cells([&](CellIndex at) {
      if (!form_ || !is_plain(at)) return;
      TextStyle style = number_style(at);
      style.type = form_->type;
      if (style.weight != Weight::regular) fits &= width_of(text_in(at, *form_), style) <= number_room();
    });
    return fits;
  }

  float width_of(std::string_view text, const TextStyle& style) const {
    return painter_.width_of(text, style);
  }

  /// Formatting takes longer than drawing: each number once a frame.
  const std::vector<std::string>& ladder_of(CellIndex at) const {
    std::vector<std::string>& ladder = ladders_[static_cast<std::size_t>(at.row - layout_.first_row) *
                                                    static_cast<std::size_t>(layout_.columns) +
                                                static_cast<std::size_t>(at.column - layout_.first_column)];
    if (ladder.empty()) ladder = lessons::number_ladder(value(at), spec_.kind, painter_.theme().numbers);
    return ladder;
  }

  const std::string& text_in(CellIndex at, const NumberForm& form) const {
    const std::vector<std::string>& ladder = ladder_of(at);
    return ladder[std::min(form.rung, ladder.size() - 1)];
  }

  /// The number in the matrix's form and its weight, in regular weight where it is too wide otherwise; empty
  /// if it has no room at all.
  std::string number_text(CellIndex at, TextStyle& style) const {
    if (!form_) return {};
    style.type = form_->type;
    std::string text = text_in(at, *form_);
    if (!heavy_fits_) style.weight = Weight::regular;
    if (width_of(text, style) <= number_room()) return text;
    const std::string& shortest = ladder_of(at).back();
    return width_of(shortest, style) <= number_room() ? shortest : std::string();
  }

  /// The numbers of one column: decimal points under each other, the block in the middle of the cells.
  void draw_numbers(int column) {
    const float room = number_room();
    struct Number {
      CellIndex at;
      std::string text;
      TextStyle style;
      float before = 0, width = 0;  // of the digits before the point; of all
    };
    std::vector<Number> numbers;
    float before = 0, after = 0;
    const lessons::NumberRules& rules = painter_.theme().numbers;
    for (int row = layout_.first_row; row < layout_.first_row + layout_.rows; ++row) {
      const CellIndex at = {row, column};
      if (!is_plain(at)) continue;
      TextStyle style = number_style(at);
      std::string text = number_text(at, style);
      if (text.empty()) {
        draw_negative_bar(at);
        continue;
      }
      const std::size_t point = text.find(rules.decimal_point);
      Number number = {at, text, style, width_of(std::string_view(text).substr(0, point), style),
                       width_of(text, style)};
      const bool lines_up = std::isfinite(value(at)) && text.find('e') == std::string::npos;
      if (lines_up)
        before = std::max(before, number.before), after = std::max(after, number.width - number.before);
      else
        number.before = -1;
      numbers.push_back(std::move(number));
    }
    const bool aligned = before + after <= room;
    for (const Number& number : numbers) {
      const Rect box = layout_.rect_of(number.at);
      const float middle = box.centre().x;
      const float x = aligned && number.before >= 0 ? middle - (before + after) / 2 + before - number.before
                                                    : middle - number.width / 2;
      const float y = box.centre().y - painter_.line_height(number.style.type) / 2;
      const Rect drawn = painter_.text({x, y}, number.text, number.style);
      if (has(number.at, kEdited)) draw_underline(drawn);
    }
  }

  void draw_underline(const Rect& text) {
    const float y = text.min.y + painter_.base_line(TypeStyle::number) + std::round(painter_.px(3));
    painter_.fill(
        {{text.min.x - painter_.px(1), y}, {text.max.x + painter_.px(1), y + std::round(painter_.px(2))}},
        colours_.cell);
  }

  void draw_negative_bar(CellIndex at) {
    // a number that has hardly any colour is near 0; whole rows of bars would hide the others' pattern
    if (spec_.map != ColourMap::signed_values || !(value(at) < -kBarFromShare * spec_.scale)) return;
    if (smaller_side() < kBarFrom) return;
    const ImVec2 middle = layout_.rect_of(at).centre();
    const float half = std::clamp(smaller_side() * 0.14F, 2.0F, painter_.px(5));
    painter_.line({middle.x - half, middle.y}, {middle.x + half, middle.y}, colours_.cell,
                  painter_.stroke(1.5F));
  }

  void draw_frame(const MatrixFrame& frame) {
    const int first_row = std::max(frame.row, layout_.first_row),
              first_column = std::max(frame.column, layout_.first_column);
    const int rows = std::min(frame.row + frame.rows, layout_.first_row + layout_.rows) - first_row;
    const int columns =
        std::min(frame.column + frame.columns, layout_.first_column + layout_.columns) - first_column;
    if (rows <= 0 || columns <= 0) return;
    const Rect box = layout_.rect_of(first_row, first_column, rows, columns);
    const ImU32 hue = painter_.theme().hue(frame.hue);
    const float radius = painter_.px(painter_.theme().radius.frame + 1);
    // tiny cells have no room for thick frames
    const float share = std::min(1.0F, std::min(box.width(), box.height()) / painter_.px(16));
    const float outset = painter_.px(kFrameOutset);
    switch (frame.kind) {
      case FrameKind::operand:
      case FrameKind::neutral:
        painter_.frame(box.grown(outset), hue, painter_.stroke(lines_.operand * share), radius);
        return;
      case FrameKind::result: {
        const float width = painter_.stroke(lines_.result * share);
        if (share == 1)
          painter_.frame(box.grown(outset - width), colours_.stage, painter_.stroke(kResultRing));
        painter_.frame(box.grown(outset), hue, width, radius);
        return;
      }
      case FrameKind::gradient: {
        const Rect around = box.grown(painter_.px(4));
        painter_.dashed_frame(around, painter_.theme().hue(Concept::gradient), painter_.stroke(1.5F),
                              lines_.gradient_dash);
        // never a gradient without its sign: the title's, or one on the frame
        if (spec_.title.hue != Concept::gradient || spec_.title_place == TitlePlace::hidden)
          painter_.tag({around.min.x - painter_.px(1), around.min.y - painter_.px(4)}, Concept::gradient);
        return;
      }
    }
  }

  void draw_not_finite(CellIndex at) {
    painter_.frame(layout_.rect_of(at), colours_.error, painter_.stroke(1.75F),
                   painter_.px(painter_.theme().radius.frame));
  }

  void draw_hover(CellIndex at) {
    const Rect box = layout_.rect_of(at);
    const float inset = std::min(painter_.px(kHoverInset), smaller_side() * 0.12F);
    painter_.frame(box.grown(-inset), colours_.primary, painter_.stroke(lines_.hover), painter_.px(3));
  }

  void draw_corners() {
    const float side = std::min(painter_.px(kCorner), smaller_side() * 0.4F);
    ImDrawList& list = painter_.list();
    for_cells([&](CellIndex at) {
      const Rect box = layout_.rect_of(at);
      if (has(at, kEdited))
        list.AddTriangleFilled({box.min.x, box.max.y - side}, {box.min.x + side, box.max.y},
                               {box.min.x, box.max.y}, colours_.primary);
      if (is_plain(at) && std::isfinite(value(at)) && is_clipped(at)) draw_chevron(box, value(at));
    });
    if (!spec_.locked || !layout_.shows(*spec_.locked)) return;
    const Rect box = layout_.rect_of(*spec_.locked);
    list.AddTriangleFilled({box.max.x - side, box.min.y}, {box.max.x, box.min.y},
                           {box.max.x, box.min.y + side}, colours_.primary);
  }

  bool is_clipped(CellIndex at) const {
    // a float rounded up to the scale is not beyond it
    return spec_.map == ColourMap::signed_values && std::fabs(value(at)) > spec_.scale * (1 + 1e-6);
  }

  void draw_chevron(const Rect& box, double value) {
    const float size = painter_.px(kChevron);
    if (smaller_side() < size * 2) return;
    const ImVec2 place = {box.max.x - size, value > 0 ? box.min.y + size : box.max.y - size};
    painter_.sign(place, value > 0 ? Sign::chevron_up : Sign::chevron_down, colours_.cell, size);
  }

  void draw_focus(CellIndex at) {
    const Rect box = layout_.rect_of(at);
    const float gap = painter_.px(kFocusOutset), width = painter_.stroke(lines_.focus);
    // a halo in the stage's colour keeps the ring apart from its neighbours
    painter_.frame(box.grown(gap), colours_.stage, gap, painter_.px(2));
    painter_.frame(box.grown(gap + width), colours_.focus, width, painter_.px(4));
  }

  Painter& painter_;
  const MatrixSpec& spec_;
  const MatrixLayout& layout_;
  bool hatches_ = false;              // masked cells, where they are few and large enough
  const NumberForm* form_ = nullptr;  // of the numbers; null: none are drawn
  mutable std::vector<std::vector<std::string>> ladders_;  // of the shown cells, made when first asked for
  bool heavy_fits_ = true;
  const Palette& colours_;
  const Lines& lines_;
};

}  // namespace

void draw_matrix(Painter& painter, const MatrixSpec& spec, const MatrixLayout& layout) {
  draw_matrix_labels(painter, spec, layout);
  Canvas(painter, spec, layout).draw();
}

}  // namespace headscope::simulator
