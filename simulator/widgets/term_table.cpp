// Columns are as wide as their widest number; the bars take what is left at the right.
#include "simulator/widgets/term_table.h"

#include <algorithm>
#include <cmath>

namespace headscope::simulator {

namespace {

constexpr float kRowHeight = 30, kSumHeight = 38, kHeadHeight = 28, kHeadGap = 8, kSignWidth = 24,
                kIndexLeast = 28;
constexpr float kBarsLeast = 40, kBarsMost = 120, kBarsGap = 16, kBarHeight = 11, kLitGrow = 10;

constexpr TextStyle kNumber{.type = TypeStyle::number, .weight = Weight::medium};
constexpr TextStyle kValue{.type = TypeStyle::number, .weight = Weight::bold};
constexpr TextStyle kHead{.type = TypeStyle::label};

struct Columns {
  float index = 0;                     // right edge of the index column
  std::vector<float> factors;          // right edges
  std::vector<float> signs;            // centres of the signs after each factor
  float value = 0;                     // right edge
  float bars_begin = 0, bars_end = 0;  // equal: no room for bars
};

float head_width(const Painter& painter, const TermHead& head) {
  const float tag = head.tag == Concept::none ? 0 : painter.tag_size(TypeStyle::label) + painter.px(6);
  return painter.width_of(head.text, kHead) + tag;
}

Columns measure(const Painter& painter, float x, float width, const TermTableSpec& spec) {
  Columns columns;
  std::size_t n_factors = spec.factor_heads.size();
  float index = painter.width_of(spec.index_head, kHead), value = painter.width_of(spec.value_head, kHead);
  for (const TermRow& row : spec.rows) {
    n_factors = std::max(n_factors, row.factors.size());
    index = std::max(index, painter.width_of(row.index, kNumber));
    value = std::max(value, painter.width_of(row.value, kValue));
  }
  value = std::max(value, painter.width_of(spec.sum, kValue));
  std::vector<float> factors(n_factors, 0);
  for (std::size_t i = 0; i < n_factors; ++i) {
    if (i < spec.factor_heads.size()) factors[i] = head_width(painter, spec.factor_heads[i]);
    for (const TermRow& row : spec.rows)
      if (i < row.factors.size())
        factors[i] = std::max(factors[i], painter.width_of(row.factors[i].number, kNumber));
  }
  index = std::min(std::max(index, painter.px(kIndexLeast)), width * 0.35F);
  float used = index + value;
  for (const float factor : factors) used += factor + painter.px(kSignWidth);
  const float gap = painter.px(kBarsGap), spare = width - used;
  const bool bars = spec.bars != BarMap::none && spare >= painter.px(kBarsLeast) + gap;
  const float bars_width = bars ? std::min(painter.px(kBarsMost), spare - gap) : 0;
  // what is left over stands between the columns
  const float rest = std::max(0.0F, spare - (bars ? bars_width + gap : 0));
  const float between = std::min(painter.px(16), rest / static_cast<float>(n_factors + 1));
  columns.index = x + index;
  float right = columns.index;
  for (const float factor : factors) {
    right += between + factor;
    columns.factors.push_back(right);
    columns.signs.push_back(right + painter.px(kSignWidth) / 2);
    right += painter.px(kSignWidth);
  }
  columns.value = right + (factors.empty() ? between : 0) + value;
  columns.bars_end = x + width;
  columns.bars_begin = columns.bars_end - bars_width;
  return columns;
}

float text_top(const Painter& painter, float y, float height, TypeStyle type) {
  return y + (height - painter.line_height(type)) / 2;
}

void draw_heads(Painter& painter, const Columns& columns, float x, float y, const TermTableSpec& spec) {
  const ImU32 tertiary = painter.colour().tertiary;
  const auto style = [&](Source source, ImU32 colour) {
    return TextStyle{TypeStyle::label, Weight::of_style, colour, source, "term_head"};
  };
  const float top = text_top(painter, y, painter.px(kHeadHeight), TypeStyle::label);
  painter.fit_text({x, top}, spec.index_head, columns.index - x, style(Source::tensor, tertiary));
  for (std::size_t i = 0; i < spec.factor_heads.size(); ++i) {
    const TermHead& head = spec.factor_heads[i];
    float right = columns.factors[i];
    if (head.tag != Concept::none) {
      right -= painter.tag_size(TypeStyle::label);
      painter.tag_in_line({right, top}, head.tag, TypeStyle::label);
      right -= painter.px(6);
    }
    painter.text_to({right, top}, head.text,
                    style(head.source, head.hue == Concept::none ? tertiary : painter.theme().hue(head.hue)));
  }
  painter.text_to({columns.value, top}, spec.value_head, style(Source::tensor, tertiary));
}

void draw_row(Painter& painter, const Columns& columns, float x, float y, const TermRow& row) {
  const Palette& colours = painter.colour();
  const float top = text_top(painter, y, painter.px(kRowHeight), TypeStyle::number);
  const auto style = [&](Weight weight, ImU32 colour, Source source, std::string_view role) {
    return TextStyle{TypeStyle::number, weight, colour, source, role};
  };
  const bool word = row.index_source == Source::token;
  painter.fit_text(
      {x, top}, row.index, columns.index - x,
      style(Weight::regular, word ? colours.secondary : colours.tertiary, row.index_source, "term_index"));
  for (std::size_t i = 0; i < row.factors.size(); ++i) {
    const TermFactor& factor = row.factors[i];
    const ImU32 colour = factor.hue == Concept::none ? colours.primary : painter.theme().hue(factor.hue);
    painter.text_to({columns.factors[i], top}, factor.number,
                    style(Weight::medium, colour, factor.source, "term_factor"));
    std::string_view sign = "=";
    if (i + 1 < row.factors.size())
      sign = i < row.signs.size() ? std::string_view(row.signs[i]) : std::string_view();
    const float half = painter.px(kSignWidth) / 2;
    painter.text_in({{columns.signs[i] - half, y}, {columns.signs[i] + half, y + painter.px(kRowHeight)}},
                    sign,
                    {TypeStyle::small, Weight::regular, colours.tertiary, Source::catalog, "term_sign"});
  }
  painter.text_to({columns.value, top}, row.value,
                  style(Weight::semibold, colours.primary, Source::number, "term"));
}

void draw_bars(Painter& painter, const Columns& columns, float y, const TermTableSpec& spec) {
  double most = 0, least = 0;
  for (const TermRow& row : spec.rows)
    if (std::isfinite(row.amount)) most = std::max(most, row.amount), least = std::min(least, row.amount);
  if (columns.bars_end <= columns.bars_begin || most == least) return;
  const double per_unit = static_cast<double>(columns.bars_end - columns.bars_begin) / (most - least);
  const float axis = std::round(columns.bars_begin + static_cast<float>(-least * per_unit));
  const float row_height = painter.px(kRowHeight), half = painter.px(kBarHeight) / 2;
  const Theme& theme = painter.theme();
  for (std::size_t i = 0; i < spec.rows.size(); ++i) {
    const double amount = spec.rows[i].amount;
    if (!std::isfinite(amount) || amount == 0) continue;
    const float length = std::max(1.0F, static_cast<float>(std::fabs(amount) * per_unit));
    const float middle = y + row_height * (static_cast<float>(i) + 0.5F);
    const ImU32 colour = spec.bars == BarMap::probability ? theme.probability_colour(1)
                                                          : theme.signed_colour(amount > 0 ? 1 : -1, 1);
    painter.fill({{amount > 0 ? axis : axis - length, middle - half},
                  {amount > 0 ? axis + length : axis, middle + half}},
                 colour);
  }
  painter.line({axis, y}, {axis, y + row_height * static_cast<float>(spec.rows.size())},
               painter.colour().control, painter.stroke(theme.line.axis));
}

}  // namespace

TermTableResponse term_table(Ui& ui, std::string_view id, ImVec2 at, float width, const TermTableSpec& spec) {
  Painter& painter = ui.painter;
  const Palette& colours = painter.colour();
  const Columns columns = measure(painter, at.x, width, spec);
  TermTableResponse response;
  draw_heads(painter, columns, at.x, at.y, spec);
  const float rows_top = at.y + painter.px(kHeadHeight + kHeadGap), row_height = painter.px(kRowHeight);
  float y = rows_top;
  for (std::size_t i = 0; i < spec.rows.size(); ++i, y += row_height) {
    const float grow = painter.px(kLitGrow);
    const Rect box = {{at.x - grow, y}, {at.x + width + grow, y + row_height}};
    const Touch touched = touch(ui, std::string(id) + std::to_string(i), box);
    if (touched.hovered || (touched.focused && ui.focus.shows_ring())) response.hovered = i;
    if (touched.clicked) response.clicked = i;
    if (touched.hovered || spec.lit == i)
      painter.fill(box, colours.inset, painter.px(painter.theme().radius.chip));
    draw_row(painter, columns, at.x, y, spec.rows[i]);
    draw_focus_ring(ui, box.grown(-painter.px(4)), touched, 4);
  }
  draw_bars(painter, columns, rows_top, spec);
  if (!spec.sum_word.empty()) {
    y += painter.px(4);
    painter.fill({{at.x, y}, {columns.value, y + painter.stroke(painter.theme().line.hair)}}, colours.hair);
    const float height = painter.px(kSumHeight);
    painter.text({at.x + painter.px(8), text_top(painter, y, height, TypeStyle::label)}, spec.sum_word,
                 {.type = TypeStyle::label, .colour = colours.secondary, .role = "sum_word"});
    painter.text_to({columns.value, text_top(painter, y, height, TypeStyle::number)}, spec.sum,
                    {TypeStyle::number, Weight::bold, colours.primary, Source::number, "sum"});
    y += height;
  }
  response.height = y - at.y;
  return response;
}

}  // namespace headscope::simulator
