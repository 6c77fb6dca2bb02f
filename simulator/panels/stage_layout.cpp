#include "simulator/panels/stage_layout.h"

#include "simulator/panels/cell_edit.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace headscope::simulator {
namespace {

/// Cells grow with the window, up to the look's largest.
ImVec2 largest_cell(const Panel& panel, const Rect& box) {
  return box.width() > panel.px(1000) ? ImVec2{panel.px(96), panel.px(64)}
                                      : ImVec2{panel.px(62), panel.px(44)};
}

constexpr float kSmallestCell = 4;

ImVec2 floored(ImVec2 cell) {
  return {std::max(kSmallestCell, std::floor(cell.x)), std::max(kSmallestCell, std::floor(cell.y))};
}

/// Below this a row of numbers is not read; fewer rows are shown instead, and pages turned.
constexpr float kLowestCell = 17;

/// One row less wherever words run down. Returns whether any matrix could.
bool show_fewer_rows(const Panel& panel, std::span<const std::unique_ptr<StageMatrix>> matrices) {
  bool could = false;
  for (const std::unique_ptr<StageMatrix>& matrix : matrices) could |= matrix->show_fewer_rows(panel);
  return could;
}

/// Room for the pager under a matrix that does not show all of its rows or columns.
float pager_room(const Panel& panel, const StageMatrix& matrix) {
  const bool is_paged =
      matrix.rows_shown() < matrix.spec.values.rows || matrix.columns_shown() < matrix.spec.values.columns;
  if (matrix.spec.pager == Pager::hidden) return 0;
  return is_paged ? pager_height(panel.painter()) : 0;
}

struct Placed {
  StageMatrix* matrix;
  MatrixLayout layout;
};

Placed place(const Panel& panel, StageMatrix& matrix, ImVec2 origin, ImVec2 cell) {
  const ImVec2 room{cell.x * static_cast<float>(matrix.columns_shown()),
                    cell.y * static_cast<float>(matrix.rows_shown())};
  return {&matrix, place_matrix(panel.painter(), matrix.spec, origin, cell, room, matrix.page())};
}

void draw_placed(Panel& panel, std::span<const Placed> placed, const std::string& id = "matrix") {
  for (const Placed& one : placed) {
    draw_matrix(panel.painter(), one.matrix->spec, one.layout);
    one.matrix->note =
        has_room_for_note(panel.painter(), one.matrix->spec, one.layout) ? Shown::yes : Shown::no;
  }
  // the open field comes first: of two controls in one place the first gets the pointer
  for (const Placed& one : placed) edit_cell(panel, *one.matrix, one.layout);
  for (std::size_t at = 0; at < placed.size(); ++at)
    touch_matrix(panel, id + std::to_string(at), *placed[at].matrix, placed[at].layout);
}

/// The bands that join the lit result's row and column with its operands.
void draw_bands(Panel& panel, const Placed& left, const Placed& upper, const Placed& result) {
  for (const MatrixFrame& frame : result.matrix->spec.frames) {
    if (frame.kind != FrameKind::result || !result.layout.shows({frame.row, frame.column})) continue;
    draw_row_band(panel.painter(), left.layout, result.layout, frame.row);
    draw_column_band(panel.painter(), upper.layout, result.layout, frame.column);
  }
}

/// Where the parts of a product go.
struct Product {
  StageMatrix *left, *upper, *addend = nullptr, *result;
  MatrixMargins left_margins, upper_margins, addend_margins, result_margins;
  ImVec2 cell;
  bool fits = true;  // even the smallest cells
  ImVec2 left_origin, upper_origin, addend_origin, result_origin;
};

void set_product_looks(Product& product) {
  product.upper->spec.column_labels.clear();  // the result's column labels serve both
  product.upper->spec.column_caption.clear();
  product.result->spec.title_place = TitlePlace::below;
  product.result->spec.row_label_type = TypeStyle::label;
  product.result->spec.row_caption.clear();
  if (product.addend) {
    product.addend->spec.column_labels.clear();
    product.addend->spec.title_place = TitlePlace::hidden;
    product.addend->spec.row_labels = {{product.addend->spec.title.text, Source::catalog, Concept::none}};
  }
}

void measure(const Panel& panel, Product& product) {
  product.left_margins = margins_of(panel.painter(), product.left->spec);
  product.upper_margins = margins_of(panel.painter(), product.upper->spec);
  product.result_margins = margins_of(panel.painter(), product.result->spec);
  if (product.addend) product.addend_margins = margins_of(panel.painter(), product.addend->spec);
}

/// Where cells would have no room otherwise: names before words, numbers before both.
void leave_out_captions(Product& product) {
  for (StageMatrix* matrix : {product.left, product.upper, product.result})
    matrix->spec.row_caption.clear(), matrix->spec.column_caption.clear();
}
void leave_out_labels(Product& product) {
  for (StageMatrix* matrix : {product.left, product.upper, product.result})
    matrix->spec.row_labels.clear(), matrix->spec.column_labels.clear();
  if (product.addend) product.addend->spec.row_labels.clear();
}

/// The largest pitch with which both operands and the result fit the box, and where they then stand.
void arrange(const Panel& panel, const Rect& box, Product& product) {
  const float gap = panel.px(panel.theme().space.m);
  const float between =
      std::max({product.upper_margins.left, product.result_margins.left, product.addend_margins.left});
  const float right = std::max(product.result_margins.right, product.upper_margins.right);
  const float wide = product.left_margins.left + product.left_margins.right + gap + between + right;
  const auto n_columns = static_cast<float>(product.left->columns_shown() + product.result->columns_shown());

  const float middle = std::max(product.result_margins.top, product.left_margins.top);
  const float bottom = std::max(product.result_margins.bottom + pager_room(panel, *product.result),
                                product.left_margins.bottom + pager_room(panel, *product.left));
  const float upper_bottom = pager_room(panel, *product.upper);
  const float addend_gap = product.addend ? panel.px(panel.theme().space.s) : 0;
  const float high = product.upper_margins.top + upper_bottom + addend_gap + middle + bottom;
  const auto n_rows = static_cast<float>(product.upper->rows_shown() + product.result->rows_shown() +
                                         (product.addend ? 1 : 0));
  const ImVec2 most = largest_cell(panel, box);
  product.cell = floored(
      {std::min(most.x, (box.width() - wide) / n_columns), std::min(most.y, (box.height() - high) / n_rows)});

  product.fits = wide + product.cell.x * n_columns <= box.width() + 1 &&
                 high + product.cell.y * n_rows <= box.height() + 1;
  const float left_width = product.cell.x * static_cast<float>(product.left->columns_shown());
  const float spare = box.width() - wide - product.cell.x * n_columns;
  const float spread = std::clamp(spare, 0.0f, panel.px(120));  // then the group stands in the middle
  const float start = box.min.x + std::max(0.0f, spare - spread) / 2;
  const float result_x =
      start + product.left_margins.left + left_width + product.left_margins.right + gap + between + spread;
  const float upper_y = box.min.y + product.upper_margins.top;
  const float upper_height = product.cell.y * static_cast<float>(product.upper->rows_shown());
  const float addend_y = upper_y + upper_height + upper_bottom + addend_gap;
  const float result_y =
      (product.addend ? addend_y + product.cell.y : upper_y + upper_height + upper_bottom) + middle;
  product.upper_origin = {result_x, upper_y};
  product.addend_origin = {result_x, addend_y};
  product.result_origin = {result_x, result_y};
  product.left_origin = {start + product.left_margins.left, result_y};
}

}  // namespace

bool draw_product(Panel& panel, const Rect& box, std::span<const std::unique_ptr<StageMatrix>> matrices,
                  ChoiceOfWords choice) {
  Product product{.left = matrices[0].get(), .upper = matrices[1].get(), .result = matrices.back().get()};
  for (const std::unique_ptr<StageMatrix>& matrix : matrices)
    if (matrix->item().role == StageRole::addend) product.addend = matrix.get();
  set_product_looks(product);
  measure(panel, product);
  arrange(panel, box, product);
  for (const auto leave_out : {leave_out_captions, leave_out_labels}) {
    if (product.cell.x > kSmallestCell && product.cell.y > kSmallestCell) break;
    leave_out(product);
    measure(panel, product);
    arrange(panel, box, product);
  }
  while (product.cell.y < panel.px(kLowestCell) && show_fewer_rows(panel, matrices))
    arrange(panel, box, product);
  if (!product.fits) return false;

  const Placed left = place(panel, *product.left, product.left_origin, product.cell);
  const Placed upper = place(panel, *product.upper, product.upper_origin, product.cell);
  const Placed result = place(panel, *product.result, product.result_origin, product.cell);
  product.left->spec.title.room = product.upper_origin.x - product.upper_margins.left - product.left_origin.x;
  product.left->pager_room = product.left->spec.title.room;
  product.upper->pager_room = product.result->pager_room = box.max.x - product.upper_origin.x;
  product.upper->spec.title.room = box.max.x - product.upper_origin.x;
  draw_bands(panel, left, upper, result);
  std::vector<Placed> placed{left, upper};
  if (product.addend) placed.push_back(place(panel, *product.addend, product.addend_origin, product.cell));
  placed.push_back(result);
  draw_placed(panel, placed);

  const float words_width =
      product.upper_origin.x - product.upper_margins.left - box.min.x - panel.px(panel.theme().space.l);
  // the corner is free above the left operand and its title
  const float free = product.left_origin.y - product.left_margins.top - box.min.y;
  const auto fits = [&](DrawWords words) { return words(panel, box.min, words_width, Ink::none) <= free; };
  if (const auto words = std::ranges::find_if(choice, fits); words != choice.end())
    (*words)(panel, box.min, words_width, Ink::drawn);
  return true;
}

namespace {

/// Room that a sign takes before a matrix.
constexpr float kSignWidth = 40;

/// Where rows begin with a sign, the first one leaves its room too, so that columns stand under each other.
float sign_room(const Panel& panel, std::span<const std::unique_ptr<StageMatrix>> matrices, std::size_t at,
                int per_row) {
  const auto n = static_cast<std::size_t>(per_row);
  const bool is_under = at % n == 0 && n < matrices.size();
  const bool has_signs =
      std::ranges::any_of(matrices, [](const auto& matrix) { return !matrix->item().sign.empty(); });
  const std::string& sign = matrices[at]->item().sign;
  if (sign.empty()) return is_under && has_signs ? panel.px(kSignWidth) : 0;
  const float width = panel.painter().width_of(sign, {.type = TypeStyle::heading, .weight = Weight::regular});
  return std::max(panel.px(kSignWidth), width + panel.px(12));
}

/// Room for labels at the left: the same down a column of matrices, so that their cells stand under each
/// other.
float left_margin(const Panel& panel, std::span<const std::unique_ptr<StageMatrix>> matrices, std::size_t at,
                  int per_row) {
  float widest = 0;
  for (std::size_t other = at % static_cast<std::size_t>(per_row); other < matrices.size();
       other += static_cast<std::size_t>(per_row))
    widest = std::max(widest, margins_of(panel.painter(), matrices[other]->spec).left);
  return widest;
}

/// The width of the rows' widest, with cells so wide; titles may be wider than their matrices.
float line_width(const Panel& panel, std::span<const std::unique_ptr<StageMatrix>> matrices, int per_row,
                 float cell) {
  float widest = 0, width = 0;
  for (std::size_t at = 0; at < matrices.size(); ++at) {
    if (at % static_cast<std::size_t>(per_row) == 0) width = 0;
    const MatrixSpec& spec = matrices[at]->spec;
    width += left_margin(panel, matrices, at, per_row) + margins_of(panel.painter(), spec).right +
             sign_room(panel, matrices, at, per_row) + panel.px(panel.theme().space.m) +
             std::max(cell * static_cast<float>(matrices[at]->columns_shown()),
                      shortest_title(panel.painter(), spec));
    widest = std::max(widest, width);
  }
  return widest;
}

struct LineSize {
  int per_row = 1;
  ImVec2 cell;
};

/// The size of cells when `per_row` matrices stand in a row.
ImVec2 cell_for(const Panel& panel, ImVec2 room, std::span<const std::unique_ptr<StageMatrix>> matrices,
                int per_row) {
  float wide = 0, columns = 1, high = 0, rows = 0;
  for (std::size_t first = 0; first < matrices.size(); first += static_cast<std::size_t>(per_row)) {
    float row_wide = 0, row_columns = 0, row_high = 0, row_rows = 0;
    const std::size_t last = std::min(matrices.size(), first + static_cast<std::size_t>(per_row));
    for (std::size_t at = first; at < last; ++at) {
      const MatrixMargins margins = margins_of(panel.painter(), matrices[at]->spec);
      row_wide += left_margin(panel, matrices, at, per_row) + margins.right +
                  sign_room(panel, matrices, at, per_row) + panel.px(panel.theme().space.m);
      row_columns += static_cast<float>(matrices[at]->columns_shown());
      row_high = std::max(row_high, margins.top + margins.bottom + pager_room(panel, *matrices[at]));
      row_rows = std::max(row_rows, static_cast<float>(matrices[at]->rows_shown()));
    }
    // the row that leaves least for a cell decides
    if (columns * (room.x - row_wide) < row_columns * (room.x - wide) || first == 0)
      wide = row_wide, columns = row_columns;
    high += row_high + panel.px(panel.theme().space.m);
    rows += row_rows;
  }
  ImVec2 cell{(room.x - wide) / std::max(1.0f, columns), (room.y - high) / std::max(1.0f, rows)};
  while (cell.x > kSmallestCell && line_width(panel, matrices, per_row, cell.x) > room.x + 1) cell.x -= 1;
  return cell;
}

/// How well numbers read in such a cell: 1 once two digits after the point fit in comfort.
float legibility(const Panel& panel, ImVec2 cell) {
  return std::min({1.0f, cell.x / panel.px(42), cell.y / panel.px(26)});
}

LineSize choose_rows(const Panel& panel, const Rect& box, ImVec2 room,
                     std::span<const std::unique_ptr<StageMatrix>> matrices) {
  LineSize best;
  float best_score = -1;
  const ImVec2 most = largest_cell(panel, box);
  for (int per_row = static_cast<int>(matrices.size()); per_row >= 1; --per_row) {
    const ImVec2 cell = cell_for(panel, room, matrices, per_row);
    const float score = legibility(panel, cell);
    if (score <= best_score + 0.01f) continue;  // fewer rows where they read as well
    best_score = score;
    best = {per_row, {std::floor(std::min(cell.x, most.x)), std::floor(std::min(cell.y, most.y))}};
  }
  return best;
}

}  // namespace

bool draw_line(Panel& panel, const Rect& box, std::span<const std::unique_ptr<StageMatrix>> matrices,
               ChoiceOfWords choice) {
  Rect room = box;
  const auto fits = [](const LineSize& size) {
    return size.cell.x >= kSmallestCell && size.cell.y >= kSmallestCell;
  };
  LineSize size;
  const auto choose = [&](float top) {
    room.min.y = top;
    size = choose_rows(panel, box, room.size(), matrices);
    while (size.cell.y < panel.px(kLowestCell) && show_fewer_rows(panel, matrices))
      size = choose_rows(panel, box, room.size(), matrices);
    return fits(size);
  };
  const auto fits_under = [&](DrawWords words) {
    const float height = words(panel, box.min, box.width(), Ink::none);
    return choose(box.min.y + height + panel.px(panel.theme().space.l));
  };
  const auto words = std::ranges::find_if(choice, fits_under);
  if (words == choice.end()) choose(box.min.y);  // words give way to matrices
  if (!fits(size)) {                             // and names to cells
    for (const std::unique_ptr<StageMatrix>& matrix : matrices) {
      MatrixSpec& spec = matrix->spec;
      spec.row_caption.clear(), spec.column_caption.clear();
      spec.row_labels.clear(), spec.column_labels.clear();
    }
    size = choose_rows(panel, box, room.size(), matrices);
    if (!fits(size)) return false;
  }
  if (words != choice.end()) (*words)(panel, box.min, box.width(), Ink::drawn);
  std::vector<Placed> placed;
  float y = room.min.y;
  for (std::size_t first = 0; first < matrices.size(); first += static_cast<std::size_t>(size.per_row)) {
    const std::size_t last = std::min(matrices.size(), first + static_cast<std::size_t>(size.per_row));
    float top = 0, height = 0;
    for (std::size_t at = first; at < last; ++at)
      top = std::max(top, margins_of(panel.painter(), matrices[at]->spec).top);
    float x = room.min.x;
    for (std::size_t at = first; at < last; ++at) {
      const MatrixMargins margins = margins_of(panel.painter(), matrices[at]->spec);
      const float sign = sign_room(panel, matrices, at, size.per_row);
      x += sign + left_margin(panel, matrices, at, size.per_row);
      placed.push_back(place(panel, *matrices[at], {x, y + top}, size.cell));
      const Rect cells = placed.back().layout.cells;
      if (!matrices[at]->item().sign.empty())
        panel.painter().text_in(
            {{x - left_margin(panel, matrices, at, size.per_row) - sign, cells.min.y},
             {x - left_margin(panel, matrices, at, size.per_row), cells.max.y}},
            matrices[at]->item().sign,
            {.type = TypeStyle::heading, .weight = Weight::regular, .source = Source::tensor});
      const float titled = cells.min.x + shortest_title(panel.painter(), matrices[at]->spec);
      matrices[at]->spec.title.room = room.max.x - cells.min.x;
      matrices[at]->pager_room = room.max.x - cells.min.x;
      if (at > first) {
        // of the one before, as far as this one's labels
        StageMatrix& before = *matrices[at - 1];
        before.pager_room = x - left_margin(panel, matrices, at, size.per_row) - sign -
                            placed[placed.size() - 2].layout.cells.min.x;
      }
      x = std::max(cells.max.x + margins.right, titled) + panel.px(panel.theme().space.m);
      height = std::max(height, top + cells.height() + margins.bottom + pager_room(panel, *matrices[at]));
    }
    y += height + panel.px(panel.theme().space.m);
  }
  draw_placed(panel, placed);
  return true;
}

namespace {

/// Of the stage's height, and never more than that.
constexpr float kSmallShare = 0.28f, kSmallHighest = 230, kSmallLowest = 96;
constexpr float kLargestSmallCell = 26;

float small_top(const Panel& panel) {
  return panel.painter().line_height(TypeStyle::label) + panel.px(14);
}

}  // namespace

float small_height(const Panel& panel, float height, std::span<const std::unique_ptr<StageMatrix>> small) {
  if (small.empty()) return 0;
  const float room = std::min(height * kSmallShare, panel.px(kSmallHighest));
  return room < panel.px(kSmallLowest) ? 0 : room;
}

void draw_small(Panel& panel, const Rect& box, std::span<const std::unique_ptr<StageMatrix>> small) {
  float signs = 0, rows = 1, columns = 0;
  for (const std::unique_ptr<StageMatrix>& matrix : small) {
    MatrixSpec& spec = matrix->spec;
    spec.row_labels.clear(), spec.column_labels.clear();
    spec.row_caption.clear(), spec.column_caption.clear();
    spec.pager = Pager::hidden;
    signs += matrix->item().sign.empty() ? panel.px(panel.theme().space.l) : panel.px(kSignWidth);
    rows = std::max(rows, static_cast<float>(matrix->rows_shown()));
    columns = std::max(columns, static_cast<float>(matrix->columns_shown()));
  }
  // each has a column of the same width, in which its title fits as far as it can
  const auto n = static_cast<float>(small.size());
  const float width = (box.width() - signs) / n;
  const float high = box.height() - small_top(panel) - panel.px(8);
  const float side = std::min({panel.px(kLargestSmallCell), high / rows, (width - panel.px(8)) / columns});
  const ImVec2 cell = floored({side, side});
  std::vector<Placed> placed;
  float x = box.min.x;
  for (const std::unique_ptr<StageMatrix>& matrix : small) {
    matrix->spec.title.room = width - panel.px(8);
    const std::string& sign = matrix->item().sign;
    const float before = sign.empty() ? 0 : panel.px(kSignWidth);
    const ImVec2 room{
        std::max(cell.x, std::min(width - panel.px(8), cell.x * static_cast<float>(matrix->columns_shown()))),
        std::max(cell.y, std::min(high, cell.y * static_cast<float>(matrix->rows_shown())))};
    placed.push_back(
        {matrix.get(), place_matrix(panel.painter(), matrix->spec, {x + before, box.min.y + small_top(panel)},
                                    cell, room, matrix->page())});
    const Rect cells = placed.back().layout.cells;
    if (!sign.empty())
      panel.painter().text_in(
          {{x, cells.min.y}, {x + before - panel.px(6), cells.max.y}}, sign,
          {.type = TypeStyle::heading, .weight = Weight::regular, .source = Source::tensor});
    x += before + width + (sign.empty() ? panel.px(panel.theme().space.l) : 0);
  }
  draw_placed(panel, placed, "small");
}

}  // namespace headscope::simulator
