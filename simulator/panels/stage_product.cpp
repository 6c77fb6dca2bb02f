// A product on the stage: operands and result at their crossing.
#include "simulator/panels/stage_layout_parts.h"

namespace headscope::simulator {

using namespace stage_parts;

namespace {

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
  const float wide = product.left_margins.left + gap + between;
  const auto n_columns = static_cast<float>(product.left->columns_shown() + product.result->columns_shown());

  const float middle = std::max(product.result_margins.top, product.left_margins.top);
  const float bottom = std::max(product.result_margins.bottom + pager_room(panel, *product.result),
                                product.left_margins.bottom + pager_room(panel, *product.left));
  const float upper_bottom = pager_room(panel, *product.upper);
  float addend_gap = product.addend ? panel.px(panel.theme().space.s) : 0;
  float high = product.upper_margins.top + upper_bottom + addend_gap + middle + bottom;
  const auto n_rows = static_cast<float>(product.upper->rows_shown() + product.result->rows_shown() +
                                         (product.addend ? 1 : 0));
  const ImVec2 most = largest_cell(panel, box);
  const auto cell = [&] {
    return floored({std::min(most.x, (box.width() - wide) / n_columns),
                    std::min(most.y, (box.height() - high) / n_rows)});
  };
  product.cell = cell();
  // rows lower than a line: the addend's name must not touch that of the row above it
  const float line = panel.painter().line_height(TypeStyle::number);
  if (const float missing = line - product.cell.y - addend_gap - upper_bottom;
      product.addend && !product.addend->spec.row_labels.empty() && missing > 0) {
    addend_gap += missing, high += missing;
    product.cell = cell();
  }

  product.fits = wide + product.cell.x * n_columns <= box.width() + 1 &&
                 high + product.cell.y * n_rows <= box.height() + 1;
  const float left_width = product.cell.x * static_cast<float>(product.left->columns_shown());
  const float spare = box.width() - wide - product.cell.x * n_columns;
  const float spread = std::clamp(spare, 0.0f, panel.px(120));  // then the group stands in the middle
  const float start = box.min.x + std::max(0.0f, spare - spread) / 2;
  const float result_x = start + product.left_margins.left + left_width + gap + between + spread;
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

/// Words that stand upright cost height; they stay level where rows could not be read any more.
void turn_labels(const Panel& panel, const Rect& box, Matrices matrices, Product& product) {
  const Product level = product;
  if (!turn_cut_words(panel, matrices, product.cell)) return;
  measure(panel, product);
  arrange(panel, box, product);
  if (product.fits && stays_legible(panel, matrices, product.cell, level.cell)) return;
  turn_level(matrices);
  product = level;
}

}  // namespace

std::optional<Arrangement> arrange_product(Panel& panel, const Rect& box, Matrices matrices,
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
  turn_labels(panel, box, matrices, product);
  while (product.cell.y < panel.px(kLowestCell) && show_fewer_rows(panel, matrices))
    arrange(panel, box, product);
  if (!product.fits) return std::nullopt;

  Arrangement arrangement{.shape = StageShape::product};
  std::vector<Placed>& placed = arrangement.placed;
  placed.push_back(place(panel, *product.left, product.left_origin, product.cell));
  placed.push_back(place(panel, *product.upper, product.upper_origin, product.cell));
  if (product.addend) placed.push_back(place(panel, *product.addend, product.addend_origin, product.cell));
  placed.push_back(place(panel, *product.result, product.result_origin, product.cell));
  product.left->spec.title.room = product.upper_origin.x - product.upper_margins.left - product.left_origin.x;
  product.left->pager_room = product.left->spec.title.room;
  product.upper->pager_room = product.result->pager_room = box.max.x - product.upper_origin.x;
  product.upper->spec.title.room = box.max.x - product.upper_origin.x;

  arrangement.words_at = box.min;
  arrangement.words_width =
      product.upper_origin.x - product.upper_margins.left - box.min.x - panel.px(panel.theme().space.l);
  // the corner is free above the left operand and its title
  const float free = product.left_origin.y - product.left_margins.top - box.min.y;
  const auto fits = [&](DrawWords words) {
    return words(panel, box.min, arrangement.words_width, Ink::none) <= free;
  };
  if (const auto words = std::ranges::find_if(choice, fits); words != choice.end())
    arrangement.words = *words;
  return arrangement;
}

}  // namespace headscope::simulator
