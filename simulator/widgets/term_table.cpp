// Columns are as wide as their widest number; the bars take what is left at the right. Where the columns do
// not fit, rows are wrapped text.
#include "simulator/widgets/term_table.h"

#include "simulator/rich_text.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace headscope::simulator {

namespace {

constexpr float kRowHeight = 30, kSumHeight = 38, kHeadHeight = 28, kHeadGap = 8, kSignWidth = 24,
                kIndexLeast = 28, kIndexGap = 6;
constexpr float kBarsLeast = 40, kBarsMost = 120, kBarsGap = 16, kBarHeight = 11, kLitGrow = 10;
constexpr float kMostIndexShare = 0.35F;  // of the width, for a word

constexpr TextStyle kNumber{.type = TypeStyle::number, .weight = Weight::medium};
constexpr TextStyle kValue{.type = TypeStyle::number, .weight = Weight::bold};
constexpr TextStyle kHead{.type = TypeStyle::label};

struct Columns {
  float index = 0;                     // right edge of the index column
  std::vector<float> factors;          // right edges
  std::vector<float> signs;            // centres of the signs after each factor
  float value = 0;                     // right edge
  float bars_begin = 0, bars_end = 0;  // equal: no room for bars
  bool fit = true;                     // side by side
};

float head_width(const Painter& painter, const TermHead& head) {
  const float tag = head.tag == Concept::none ? 0 : painter.tag_size(TypeStyle::label) + painter.px(6);
  return painter.width_of(head.text, kHead) + tag;
}

/// How wide the columns are, each at its widest.
struct Widths {
  float index = 0, value = 0;
  std::vector<float> factors;
};

Widths measure_widths(const Painter& painter, float width, const TermTableSpec& spec) {
  Widths widths;
  std::size_t n_factors = spec.factor_heads.size();
  float word = 0;
  widths.index = painter.width_of(spec.index_head, kHead);
  widths.value = std::max(painter.width_of(spec.value_head, kHead), painter.width_of(spec.sum, kValue));
  for (const TermRow& row : spec.rows) {
    n_factors = std::max(n_factors, row.factors.size());
    float& index = row.index_source == Source::token ? word : widths.index;
    index = std::max(index, painter.width_of(row.index, kNumber));
    widths.value = std::max(widths.value, painter.width_of(row.value, kValue));
  }
  widths.factors.resize(n_factors, 0);
  for (std::size_t i = 0; i < n_factors; ++i) {
    if (i < spec.factor_heads.size()) widths.factors[i] = head_width(painter, spec.factor_heads[i]);
    for (const TermRow& row : spec.rows)
      if (i < row.factors.size())
        widths.factors[i] = std::max(widths.factors[i], painter.width_of(row.factors[i].number, kNumber));
  }
  // a word may be cut short, a name or a number may not
  widths.index = std::max({widths.index, std::min(word, width * kMostIndexShare), painter.px(kIndexLeast)});
  return widths;
}

Columns measure(const Painter& painter, float x, float width, const TermTableSpec& spec) {
  Columns columns;
  const Widths widths = measure_widths(painter, width, spec);
  float used = widths.index + painter.px(kIndexGap) + widths.value;
  for (const float factor : widths.factors) used += factor + painter.px(kSignWidth);
  const float gap = painter.px(kBarsGap), spare = width - used;
  columns.fit = spare >= 0;
  const bool bars = spec.bars != BarMap::none && spare >= painter.px(kBarsLeast) + gap;
  const float bars_width = bars ? std::min(painter.px(kBarsMost), spare - gap) : 0;
  // what is left over stands between the columns
  const float rest = std::max(0.0F, spare - (bars ? bars_width + gap : 0));
  const float between = std::min(painter.px(16), rest / static_cast<float>(widths.factors.size() + 1));
  columns.index = x + widths.index;
  float right = columns.index + painter.px(kIndexGap);
  for (const float factor : widths.factors) {
    right += between + factor;
    columns.factors.push_back(right);
    columns.signs.push_back(right + painter.px(kSignWidth) / 2);
    right += painter.px(kSignWidth);
  }
  columns.value = right + (widths.factors.empty() ? between : 0) + widths.value;
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
  painter.text_to({columns.value, top}, spec.value_head, style(spec.value_head_source, tertiary));
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

/// The same row as a line of text.
RichBlock row_block(const Painter& painter, float width, const TermRow& row) {
  const Palette& colours = painter.colour();
  const auto plain = [&](std::string text, Source source) {
    return Run{.text = std::move(text), .colour = colours.tertiary, .source = source};
  };
  std::vector<Run> runs;
  if (!row.index.empty()) runs.push_back(plain(row.index + "  ", row.index_source));
  for (std::size_t i = 0; i < row.factors.size(); ++i) {
    if (i > 0) runs.push_back(plain(" " + row.signs[i - 1] + " ", Source::number));
    runs.push_back({.text = row.factors[i].number,
                    .weight = Weight::medium,
                    .hue = row.factors[i].hue,
                    .source = row.factors[i].source});
  }
  if (!row.factors.empty()) runs.push_back(plain(" = ", Source::number));
  runs.push_back({.text = row.value, .weight = Weight::semibold, .source = Source::number});
  return lay_out(painter, std::move(runs), {.type = TypeStyle::number, .width = width, .role = "term_line"});
}

RichBlock group_block(const Painter& painter, float width, const TermGroup& group) {
  return lay_out(
      painter,
      {Run{.text = group.name, .weight = Weight::semibold, .source = Source::tensor},
       Run{.text = "  " + group.value, .weight = Weight::semibold, .source = Source::number}},
      {.type = TypeStyle::label, .width = width, .colour = painter.colour().secondary, .role = "term_group"});
}

/// What a row takes: the line over its group, and the row itself.
struct RowPlace {
  float group = 0, top = 0, bottom = 0;
};

std::vector<RowPlace> place_rows(const Painter& painter, const Columns& columns, float y, float width,
                                 const TermTableSpec& spec) {
  std::vector<RowPlace> places;
  for (const TermRow& row : spec.rows) {
    RowPlace place{y, y, y};
    if (row.group) place.top += group_block(painter, width, *row.group).height + painter.px(kHeadGap);
    place.bottom = place.top + (columns.fit ? painter.px(kRowHeight)
                                            : row_block(painter, width, row).height + painter.px(kHeadGap));
    y = place.bottom;
    places.push_back(place);
  }
  return places;
}

void draw_bars(Painter& painter, const Columns& columns, const std::vector<RowPlace>& places,
               const TermTableSpec& spec) {
  double most = 0, least = 0;
  for (const TermRow& row : spec.rows)
    if (std::isfinite(row.amount)) most = std::max(most, row.amount), least = std::min(least, row.amount);
  if (columns.bars_end <= columns.bars_begin || most == least) return;
  const double per_unit = static_cast<double>(columns.bars_end - columns.bars_begin) / (most - least);
  const float axis = std::round(columns.bars_begin + static_cast<float>(-least * per_unit));
  const float half = painter.px(kBarHeight) / 2;
  const Theme& theme = painter.theme();
  for (std::size_t i = 0; i < spec.rows.size(); ++i) {
    const double amount = spec.rows[i].amount;
    if (!std::isfinite(amount) || amount == 0) continue;
    const float length = std::max(1.0F, static_cast<float>(std::fabs(amount) * per_unit));
    const float middle = (places[i].top + places[i].bottom) / 2;
    const ImU32 colour = spec.bars == BarMap::probability ? theme.probability_colour(1)
                                                          : theme.signed_colour(amount > 0 ? 1 : -1, 1);
    painter.fill({{amount > 0 ? axis : axis - length, middle - half},
                  {amount > 0 ? axis + length : axis, middle + half}},
                 colour);
  }
  painter.line({axis, places.front().top}, {axis, places.back().bottom}, painter.colour().control,
               painter.stroke(theme.line.axis));
}

/// The sum's word and number in one line, or one below the other. Returns the height.
float draw_sum(Painter& painter, ImVec2 at, float width, float right, const TermTableSpec& spec) {
  const Palette& colours = painter.colour();
  painter.fill({at, {right, at.y + painter.stroke(painter.theme().line.hair)}}, colours.hair);
  const float height = painter.px(kSumHeight), indent = painter.px(8);
  const TextStyle word{.type = TypeStyle::label, .colour = colours.secondary, .role = "sum_word"};
  const TextStyle number{TypeStyle::number, Weight::bold, colours.primary, Source::number, "sum"};
  painter.fit_text({at.x + indent, text_top(painter, at.y, height, TypeStyle::label)}, spec.sum_word,
                   width - indent, word);
  const float needed =
      2 * indent + painter.width_of(spec.sum_word, word) + painter.width_of(spec.sum, number);
  const float y = needed <= right - at.x ? at.y : at.y + painter.line_height(TypeStyle::label);
  const float top = text_top(painter, y, height, TypeStyle::number);
  if (painter.width_of(spec.sum, number) <= width) {
    painter.text_to({right, top}, spec.sum, number);
    return y + height - at.y;
  }
  const RichBlock wrapped =
      lay_out(painter, {Run{.text = spec.sum, .weight = Weight::bold, .source = Source::number}},
              {.type = TypeStyle::number, .width = width, .role = "sum"});
  draw(painter, {at.x, top}, wrapped);
  return top + wrapped.height - at.y;
}

}  // namespace

TermTableResponse term_table(Ui& ui, std::string_view id, ImVec2 at, float width, const TermTableSpec& spec) {
  Painter& painter = ui.painter;
  const Palette& colours = painter.colour();
  const Columns columns = measure(painter, at.x, width, spec);
  TermTableResponse response;
  float y = at.y;
  if (columns.fit) {
    draw_heads(painter, columns, at.x, y, spec);
    y += painter.px(kHeadHeight + kHeadGap);
  }
  const std::vector<RowPlace> places = place_rows(painter, columns, y, width, spec);
  for (std::size_t i = 0; i < spec.rows.size(); ++i) {
    const TermRow& row = spec.rows[i];
    const RowPlace& place = places[i];
    if (row.group) draw(painter, {at.x, place.group}, group_block(painter, width, *row.group));
    const float grow = painter.px(kLitGrow);
    const Rect box = {{at.x - grow, place.top}, {at.x + width + grow, place.bottom}};
    const Touch touched = touch(ui, std::string(id) + std::to_string(i), box);
    if (touched.hovered || (touched.focused && ui.focus.shows_ring())) response.hovered = i;
    if (touched.clicked) response.clicked = i;
    if (touched.hovered || spec.lit == i)
      painter.fill(box, colours.inset, painter.px(painter.theme().radius.chip));
    if (columns.fit)
      draw_row(painter, columns, at.x, place.top, row);
    else
      draw(painter, {at.x, place.top}, row_block(painter, width, row));
    draw_focus_ring(ui, box.grown(-painter.px(4)), touched, 4);
    y = place.bottom;
  }
  if (columns.fit && !places.empty()) draw_bars(painter, columns, places, spec);
  if (!spec.sum_word.empty()) {
    y += painter.px(4);
    y += draw_sum(painter, {at.x, y}, width, columns.fit ? columns.value : at.x + width, spec);
  }
  response.height = y - at.y;
  return response;
}

}  // namespace headscope::simulator
