#include "simulator/panels/stage_choices.h"

#include "simulator/panels/stage_matrix.h"
#include "simulator/tensor_facts.h"
#include "simulator/widgets/controls.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace headscope::simulator {
namespace {

/// Of many heads the one that is shown, between a button back and one on.
constexpr std::int64_t kMostHeadChips = 8;

/// A button back, or one on, of a target's size. Returns whether it was pressed.
bool pager_button(Panel& panel, std::string_view id, ImVec2 centre, Icon icon, bool is_there) {
  const float target = chip_size(panel.painter(), "0").y;
  return icon_button(panel.ui, id, centre, target, icon, is_there ? Ability::enabled : Ability::disabled)
      .clicked;
}

float draw_head_pager(Panel& panel, ImVec2 top_right, std::int64_t n_heads) {
  Painter& painter = panel.painter();
  const float target = chip_size(painter, "0").y, middle = top_right.y + target / 2;
  const std::int64_t head = panel.view.stage.head;
  float x = top_right.x - target;
  if (pager_button(panel, "head_on", {x + target / 2, middle}, Icon::pager_on, head + 1 < n_heads))
    panel.actions.push_back(ChooseHead{head + 1});
  const TextStyle style{.type = TypeStyle::label, .colour = painter.colour().secondary};
  const std::string words =
      panel.text("stage.head_of", {{"head", std::to_string(head)}, {"last", std::to_string(n_heads - 1)}});
  const Rect text =
      painter.text_to({x - panel.px(4), middle - painter.line_height(TypeStyle::label) / 2}, words, style);
  x = text.min.x - panel.px(4) - target;
  if (pager_button(panel, "head_back", {x + target / 2, middle}, Icon::pager_back, head > 0))
    panel.actions.push_back(ChooseHead{head - 1});
  return top_right.x - x;
}

/// "∂Q" of a gradient to choose: its symbol, or the name where two have the same.
std::vector<std::string> result_words(const Panel& panel) {
  const core::Graph& graph = panel.state.session.graph();
  std::vector<std::string> symbols;
  for (const StageResult& result : panel.view.stage.results)
    symbols.push_back("∂" + graph.spec(result.tensor).symbol);
  std::vector<std::string> words;
  for (std::size_t at = 0; at < symbols.size(); ++at) {
    const core::TensorSpec& spec = graph.spec(panel.view.stage.results[at].tensor);
    const bool is_alone = std::ranges::count(symbols, symbols[at]) == 1;
    words.push_back(is_alone ? symbols[at] : "∂ " + panel.text("tensor." + text_key(spec) + ".name"));
  }
  return words;
}

/// Of a softmax's backward pass: which of its rows the stage shows.
struct SoftmaxRow {
  const core::Softmax* softmax = nullptr;
  SliceSide side;   // what the rows count
  core::Cell cell;  // the row's first cell
  std::int64_t index = 0;
};

std::optional<SoftmaxRow> softmax_row(const Panel& panel) {
  const std::vector<StageItem>& items = panel.view.stage.items;
  const auto local = std::ranges::find(items, NumberSource::local, &StageItem::source);
  const auto whole = std::ranges::find(items, StageRole::small, &StageItem::role);
  if (local == items.end() || whole == items.end() || whole->slice.rows.place < 0) return std::nullopt;
  const core::Operation& operation = panel.state.session.graph().operations()[local->operation];
  const core::Cell& cell = local->slice.base;
  return SoftmaxRow{&std::get<core::Softmax>(operation), whole->slice.rows, cell,
                    cell[whole->slice.rows.place]};
}

/// The row's gradient at the key that it looks at most.
CellAddress cell_in_row(const Panel& panel, const SoftmaxRow& row, std::int64_t index) {
  const core::Trace<float> trace = panel.state.trace();
  CellAddress address{row.softmax->input, row.cell, core::Quantity::gradient};
  address.cell[row.side.place] = index;
  core::Cell at = address.cell;
  double largest = -1;
  for (std::int64_t key = 0; key < trace.shape(row.softmax->output)[row.softmax->axis]; ++key) {
    at[row.softmax->axis] = key;
    const double weight = trace.value(row.softmax->output, at);
    if (!(weight > largest)) continue;
    largest = weight;
    address.cell[row.softmax->axis] = key;
  }
  return address;
}

}  // namespace

float draw_head_choice(Panel& panel, ImVec2 top_right, float most) {
  const std::int64_t n_heads = panel.state.session.config().n_heads;
  // one head of several is shown: not where all stand side by side, nor where they run down the rows
  const bool has_heads = std::ranges::any_of(panel.view.stage.items, [&](const StageItem& item) {
    const int head = panel.state.session.graph().spec(item.slice.tensor).shape.find(core::Axis::head);
    const auto is_another_head = [&](const StageItem& other) {
      return other.slice.tensor == item.slice.tensor && other.slice.base[head] != item.slice.base[head];
    };
    return head >= 0 && item.slice.rows.place != head && item.slice.columns.place != head &&
           std::ranges::none_of(panel.view.stage.items, is_another_head);
  });
  if (n_heads < 2 || !has_heads) return 0;
  if (n_heads > kMostHeadChips) return draw_head_pager(panel, top_right, n_heads);
  Painter& painter = panel.painter();
  const float gap = panel.px(panel.theme().space.xs);
  const TextStyle style{.type = TypeStyle::label, .colour = painter.colour().tertiary};
  const std::string label = panel.text("stage.head_word");
  float chips = 0;
  for (std::int64_t head = 0; head < n_heads; ++head)
    chips += chip_size(painter, std::to_string(head)).x + gap;
  if (chips > most) return 0;
  float x = top_right.x;
  for (std::int64_t head = n_heads - 1; head >= 0; --head) {
    const std::string word = std::to_string(head);
    x -= chip_size(painter, word).x;
    const Chosen chosen = head == panel.view.stage.head ? Chosen::yes : Chosen::no;
    if (chip(panel.ui, "head" + word, {x, top_right.y}, word, chosen, Source::number).clicked)
      panel.actions.push_back(ChooseHead{head});
    x -= gap;
  }
  if (chips + gap + painter.width_of(label, style) > most) return chips;
  const float label_y = top_right.y + (chip_size(painter, "0").y - painter.line_height(TypeStyle::label)) / 2;
  const Rect box = painter.text_to({x - gap, label_y}, label, style);
  return top_right.x - box.min.x;
}

float draw_result_choice(Panel& panel, ImVec2 at, float width) {
  const StagePlan& plan = panel.view.stage;
  if (plan.results.size() < 2) return 0;
  const std::vector<std::string> words = result_words(panel);
  const ChipChoice choice =
      chip_choice(panel.ui, "result", at, width, words, static_cast<int>(plan.chosen), Source::tensor);
  if (choice.pressed)
    panel.actions.push_back(ChooseResult{plan.results[static_cast<std::size_t>(*choice.pressed)].tensor});
  return choice.height;
}

float draw_row_choice(Panel& panel, ImVec2 at, float width) {
  const std::optional<SoftmaxRow> row = softmax_row(panel);
  if (!row || row->side.size < 2) return 0;
  Painter& painter = panel.painter();
  const float target = chip_size(painter, "0").y, middle = at.y + target / 2;
  if (pager_button(panel, "row_back", {at.x + target / 2, middle}, Icon::pager_back, row->index > 0))
    panel.actions.push_back(LockCell{cell_in_row(panel, *row, row->index - 1)});
  const TextStyle style{.type = TypeStyle::label, .colour = painter.colour().secondary, .role = "row_choice"};
  const std::string words =
      panel.text("stage.row_of", {{"row", std::to_string(row->index + 1)},
                                  {"n", std::to_string(row->side.size)},
                                  {"word", side_label(panel.state.session, row->side, row->index)}});
  const float x = at.x + target + panel.px(4), room = width - 2 * (target + panel.px(4));
  const Rect text =
      painter.fit_text({x, middle - painter.line_height(TypeStyle::label) / 2}, words, room, style);
  if (pager_button(panel, "row_on", {text.max.x + panel.px(4) + target / 2, middle}, Icon::pager_on,
                   row->index + 1 < row->side.size))
    panel.actions.push_back(LockCell{cell_in_row(panel, *row, row->index + 1)});
  return target;
}

float draw_detail_choice(Panel& panel, ImVec2 bottom_right) {
  if (!has_detail(panel.view.stage)) return 0;
  Painter& painter = panel.painter();
  const Detail shown = detail_of(panel.window, panel.view.stage);
  float x = bottom_right.x;
  constexpr std::array kDetails = {Detail::pattern, Detail::numbers};
  for (const Detail detail : kDetails) {
    const std::string key = detail == Detail::numbers ? "stage.numbers" : "stage.pattern";
    const std::string word = panel.text(key);
    const ImVec2 size = chip_size(painter, word);
    x -= size.x;
    const Chosen chosen = detail == shown ? Chosen::yes : Chosen::no;
    if (chip(panel.ui, key, {x, bottom_right.y - size.y}, word, chosen, Source::catalog).clicked)
      panel.window.detail = detail;
    x -= panel.px(panel.theme().space.xs);
  }
  return bottom_right.x - x + panel.px(panel.theme().space.m);
}

}  // namespace headscope::simulator
