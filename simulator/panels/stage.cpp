// The stage: the operation strip, the title with its formula, the matrices, and the printed scale.
#include "simulator/panels/operation_strip.h"
#include "simulator/panels/panel.h"
#include "simulator/panels/prose.h"
#include "simulator/panels/stage_choices.h"
#include "simulator/panels/stage_layout.h"
#include "simulator/panels/stage_scales.h"
#include "simulator/rich_text.h"
#include "simulator/tensor_facts.h"
#include "simulator/widgets/controls.h"
#include "simulator/widgets/scroll_area.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace headscope::simulator {
namespace {

/// The tensor that the stage's title is about.
core::TensorId subject(const Panel& panel) {
  const StagePlan& plan = panel.view.stage;
  if (!plan.results.empty()) return plan.results[plan.chosen].tensor;
  if (plan.step && plan.step->phase == core::Phase::update) return plan.step->parameter;
  if (panel.view.stage.operation)
    return core::result(panel.state.session.graph().operations()[*panel.view.stage.operation]);
  if (panel.view.step.stop && panel.state.cursor().position() == panel.view.step.cursor)
    return *panel.view.step.stop;
  return panel.view.stage.items.back().slice.tensor;
}

/// The operation's title; where tensors are only shown, their names.
std::string title_words(const Panel& panel) {
  const core::Graph& graph = panel.state.session.graph();
  if (panel.view.stage.step) return step_title(graph, *panel.view.stage.step, panel.words.text);
  if (panel.view.stage.operation || panel.view.stage.items.size() == 1)
    return panel.text("tensor." + text_key(graph.spec(subject(panel))) + ".title");
  std::string words;
  for (const StageItem& item : panel.view.stage.items)
    words += (words.empty() ? "" : " · ") +
             panel.text("tensor." + text_key(graph.spec(item.slice.tensor)) + ".name");
  return words;
}

/// "6 × 4 with 4 × 6 gives 6 × 6" of a product; empty for others.
std::string shape_words(const Panel& panel) {
  const StagePlan& plan = panel.view.stage;
  if (plan.shape != StageShape::product) return {};
  const Slice& left = plan.items.front().slice;
  const Slice& upper = plan.items[1].slice;
  const auto is_result = [](const StageItem& item) { return item.role == StageRole::result; };
  const Slice& result = std::ranges::find_if(plan.items, is_result)->slice;
  const auto n = [](const SliceSide& side) { return std::to_string(side.size); };
  return panel.text("stage.shape", {{"left_rows", n(left.rows)},
                                    {"left_columns", n(left.columns)},
                                    {"upper_rows", n(upper.rows)},
                                    {"upper_columns", n(upper.columns)},
                                    {"rows", n(result.rows)},
                                    {"columns", n(result.columns)}});
}

std::string head_words(const Panel& panel) {
  const std::int64_t n_heads = panel.state.session.config().n_heads;
  if (panel.state.session.graph().spec(subject(panel)).shape.find(core::Axis::head) < 0) return {};
  if (n_heads == 1) return panel.text("stage.one_head");
  return panel.text("stage.head", {{"head", std::to_string(panel.view.stage.head)},
                                   {"number", std::to_string(panel.view.stage.head + 1)},
                                   {"n", std::to_string(n_heads)}});
}

/// The lit cell's arithmetic in a room's size: its numbers in their hues, and the value they make.
float draw_arithmetic(Panel& panel, ImVec2 at, float width, Ink ink) {
  if (!panel.view.narration || panel.view.narration->terms.empty()) return 0;
  const Narration& narration = *panel.view.narration;
  const auto hue = [](std::string_view quantity) {
    return concept_of_name(quantity).value_or(Concept::none);
  };
  const auto sign = [&](const std::string& words) {
    return Run{.text = words, .colour = panel.painter().colour().tertiary, .source = Source::number};
  };
  std::vector<Run> runs;
  constexpr std::size_t kMostTerms = 8;   // what a room reads
  const std::string kNoBreak = "\u00a0";  // a term stays on one line
  for (std::size_t term = 0; term < std::min(narration.terms.size(), kMostTerms); ++term) {
    const NarratedTerm& narrated = narration.terms[term];
    if (term > 0) runs.push_back(sign("  + "));
    for (std::size_t place = 0; place < narrated.factors.size(); ++place) {
      if (place > 0) runs.push_back(sign(kNoBreak + narrated.signs[place - 1] + kNoBreak));
      const std::string& number = narrated.factors[place].number;
      const bool is_negative = number.starts_with(panel.theme().numbers.minus) && (term > 0 || place > 0);
      runs.push_back({.text = is_negative ? "(" + number + ")" : number,
                      .weight = Weight::semibold,
                      .hue = hue(narrated.factors[place].hue),
                      .source = Source::number});
    }
  }
  if (narration.terms.size() > kMostTerms) runs.push_back(sign("  + …"));
  Painter& painter = panel.painter();
  const RichBlock block = lay_out(painter, std::move(runs), {.type = TypeStyle::body, .width = width});
  const float y = at.y + block.height + panel.px(6);
  if (ink == Ink::none) return y + painter.line_height(TypeStyle::display) - at.y;
  draw(painter, at, block);
  const Rect equals = painter.text({at.x, y}, "=",
                                   {.type = TypeStyle::display,
                                    .weight = Weight::regular,
                                    .colour = painter.colour().tertiary,
                                    .source = Source::number});
  painter.text({equals.max.x + panel.px(14), y}, narration.value,
               {.type = TypeStyle::display,
                .colour = panel.theme().hue(hue(narration.name.hue)),
                .source = Source::number,
                .role = "value"});
  return y + painter.line_height(TypeStyle::display) - at.y;
}

/// Low windows keep formula and numbers, and leave out the words between.
bool is_low(const Panel& panel) {
  return ImGui::GetIO().DisplaySize.y < panel.px(800);
}

/// Of the operation, of a backward pass for the chosen operand, or of an update.
std::vector<std::string> formulas(const Panel& panel) {
  const StagePlan& plan = panel.view.stage;
  const core::Session& session = panel.state.session;
  if (plan.step) {
    const core::Trace<float> trace = panel.state.trace();
    const core::OptimiserKind optimiser =
        trace.update() ? trace.update()->config.kind : core::OptimiserKind::adamw;
    std::vector<std::string> all = step_formulas(session.graph(), trace.workspace().gradient_plan(),
                                                 *plan.step, optimiser, panel.words.formulas);
    if (plan.chosen < all.size() && !plan.results.empty()) return {all[plan.chosen]};
    return all;
  }
  if (!plan.operation) return {};
  const std::string formula =
      forward_formula(session.graph(), session.graph().operations()[*plan.operation], panel.words.formulas);
  return formula.empty() ? std::vector<std::string>() : std::vector{formula};
}

/// The formula and what it says, from `at` down within `width`. Returns the height.
float draw_formula(Panel& panel, ImVec2 at, float width, Ink ink) {
  const std::string key = text_key(panel.state.session.graph().spec(subject(panel)));
  const StagePlan& plan = panel.view.stage;
  Painter& painter = panel.painter();
  float y = at.y;
  for (const std::string& formula : formulas(panel))
    if (core::Result<std::vector<Run>> runs = parse_formula(formula, Source::tensor)) {
      const RichBlock block =
          lay_out(painter, *std::move(runs), {.type = TypeStyle::formula, .width = width});
      if (ink == Ink::drawn) draw(painter, {at.x, y}, block);
      y += block.height + panel.px(panel.theme().space.xs);
    }
  const auto line = [&](const std::string& words, ImU32 colour) {
    if (words.empty()) return;
    const RichBlock block = lay_out(painter, {Run{.text = words, .source = Source::catalog}},
                                    {.type = TypeStyle::label, .width = width, .colour = colour});
    if (ink == Ink::drawn) draw(painter, {at.x, y}, block);
    y += block.height + panel.px(2);
  };
  if (panel.state.layout == Layout::presentation && panel.view.stage.shape == StageShape::product)
    return y + panel.px(panel.theme().space.m) +
           draw_arithmetic(panel, {at.x, y + panel.px(panel.theme().space.m)}, width, ink) - at.y;
  if (is_low(panel)) return y - at.y;
  if (plan.n_writers > 1)
    line(panel.text("stage.written",
                    {{"n", std::to_string(plan.n_written)}, {"all", std::to_string(plan.n_writers)}}),
         painter.colour().secondary);
  const bool is_forward = !plan.step || plan.step->phase == core::Phase::forward;
  if (is_forward && (plan.operation || plan.items.size() == 1))
    line(panel.text("tensor." + key + ".said"), painter.colour().secondary);
  line(shape_words(panel), painter.colour().tertiary);
  line(head_words(panel), painter.colour().tertiary);
  return y - at.y;
}

/// The formula alone, of an update's the last one, in one small line: where the whole has no room.
float draw_short_formula(Panel& panel, ImVec2 at, float width, Ink ink) {
  const std::vector<std::string> all = formulas(panel);
  if (all.empty()) return 0;
  core::Result<std::vector<Run>> runs = parse_formula(all.back(), Source::tensor);
  if (!runs) return 0;
  const RichBlock block =
      lay_out(panel.painter(), *std::move(runs), {.type = TypeStyle::body, .width = width});
  if (ink == Ink::drawn) draw(panel.painter(), at, block);
  return block.height;
}

/// What a small window leaves out, so that the matrices keep some room.
struct StageParts {
  Shown strip = Shown::yes, said = Shown::yes, formula = Shown::yes, scales = Shown::yes;
  Shown heads = Shown::yes;  // to choose among; a key does the same
  Shown rows = Shown::yes;   // of a softmax; a click on one does the same
};
StageParts parts_of(const Panel& panel, const Rect& box) {
  const float unit = panel.px(1), height = box.height() / unit, width = box.width() / unit;
  const auto from = [](bool is_enough) { return is_enough ? Shown::yes : Shown::no; };
  return {.strip = from(height >= 400 && width >= 240),
          .said = from(height >= 430),
          .formula = from(height >= 260 && width >= 300),
          .scales = from(height >= 300 && width >= 300),
          .heads = from(width >= 400),
          .rows = from(height >= 430 && width >= 300)};
}

/// Instead of matrices for which there is no room: why. What is longer than the box scrolls.
void draw_no_room(Panel& panel, const Rect& box) {
  if (box.width() < 1 || box.height() < 1) return;
  ScrollArea scroll(panel.ui, "no_room", box);
  const RichBlock block =
      lay_out(scroll.painter(), {Run{.text = panel.text("stage.no_room"), .source = Source::catalog}},
              {.type = TypeStyle::label, .width = box.width(), .colour = panel.painter().colour().secondary});
  draw(scroll.painter(), scroll.origin(), block);
  scroll.set_content_height(block.height);
}

/// The stage's matrices, gathered, and where they go.
struct Staged {
  std::vector<std::unique_ptr<StageMatrix>> matrices;  // the small ones last
  std::size_t n_large = 0;
  float small_height = 0;
  Rect room;                               // of the large ones
  std::optional<Arrangement> arrangement;  // of them; none: there is no room
};

Staged arrange_matrices(Panel& panel, const Rect& room, const StageParts& parts) {
  Staged staged{.room = room};
  std::vector<std::unique_ptr<StageMatrix>>& matrices = staged.matrices;
  for (const StageItem& item : panel.view.stage.items)
    matrices.push_back(std::make_unique<StageMatrix>(panel, item));
  share_scales(panel, matrices);
  // not std::ranges' own: clang 14 cannot take the subrange that it returns
  const auto first_small = std::stable_partition(matrices.begin(), matrices.end(), [](const auto& matrix) {
    return matrix->item().role != StageRole::small;
  });
  staged.n_large = static_cast<std::size_t>(first_small - matrices.begin());
  const std::span<const std::unique_ptr<StageMatrix>> all(matrices);
  share_pagers(all.first(staged.n_large));
  staged.small_height = small_height(panel, room.height(), all.subspan(staged.n_large));
  if (staged.small_height > 0) staged.room.max.y -= staged.small_height + panel.px(panel.theme().space.m);
  constexpr std::array<DrawWords, 2> kWords = {draw_formula, draw_short_formula};
  const ChoiceOfWords words = parts.formula == Shown::yes ? ChoiceOfWords(kWords) : ChoiceOfWords();
  const auto arrange = panel.view.stage.shape == StageShape::product ? arrange_product : arrange_line;
  staged.arrangement = arrange(panel, staged.room, all.first(staged.n_large), words);
  return staged;
}

/// Pages of numbers where they can be read, else the pattern: pages of cells without numbers show neither.
Staged stage_matrices(Panel& panel, const Rect& room, const StageParts& parts) {
  const ImVec2 least = {panel.px(34), panel.px(15)};
  NumbersTry& numbers = panel.window.numbers;
  const bool is_known = numbers.revision == panel.view.revision && numbers.unit == panel.px(1) &&
                        numbers.room.x == room.width() && numbers.room.y == room.height();
  if (!is_known) numbers = {panel.view.revision, room.size(), panel.px(1)};
  Staged staged = arrange_matrices(panel, room, parts);
  if (is_known || panel.window.detail || !has_detail(panel.view.stage) || !staged.arrangement) return staged;
  const ImVec2 cell = smallest_cell(*staged.arrangement);
  numbers.fit = cell.x >= least.x && cell.y >= least.y;
  if (numbers.fit || detail_of(panel.window, panel.view.stage) == Detail::numbers) return staged;
  Staged pattern = arrange_matrices(panel, room, parts);
  if (pattern.arrangement) return pattern;
  numbers.fit = true;  // for whole matrices there is still less room
  return staged;
}

}  // namespace

void draw_stage(Panel& panel, const Rect& box) {
  Painter& painter = panel.painter();
  const Theme& theme = panel.theme();
  const bool is_presenting = panel.state.layout == Layout::presentation;
  painter.ground(box, painter.colour().stage);
  painter.push_clip(box);
  const float gutter = panel.px(box.width() < panel.px(700) ? theme.space.xl : 32);
  const float air = is_low(panel) ? 0.5f : 1.0f;
  Rect content{{box.min.x + gutter, box.min.y + panel.px(28) * air},
               {box.max.x - gutter, box.max.y - panel.px(20) * air}};
  if (panel.state.level != StageLevel::matrix) {
    draw_diagram(panel, content);
    painter.pop_clip();
    return;
  }
  if (box.height() < panel.px(is_presenting ? 200 : 110)) {  // not even for a title and a row of choices
    draw_no_room(panel, content);
    painter.pop_clip();
    return;
  }
  const StageParts parts = parts_of(panel, box);
  if (parts.strip == Shown::yes && !is_presenting)
    content.min.y += draw_operation_strip(panel, content) + panel.px(theme.space.xl) * air;

  const TypeStyle title_type = is_presenting ? TypeStyle::title : TypeStyle::heading;
  const TextStyle title_style{.type = title_type, .source = Source::catalog, .role = "stage_title"};
  std::string title = title_words(panel);
  const float title_least = painter.width_of(title.substr(0, title.find(':')), title_style);
  const float between = panel.px(theme.space.m);
  const float heads = parts.heads == Shown::yes ? draw_head_choice(panel, {content.max.x, content.min.y},
                                                                   content.width() - title_least - between)
                                                : 0;
  const float title_room = content.width() - heads - between;
  // what it says behind the colon is left out before its end is cut off
  if (const std::size_t colon = title.find(':');
      colon != std::string::npos && painter.width_of(title, title_style) > title_room)
    title.resize(colon);
  painter.fit_text(content.min, title, title_room, title_style);
  content.min.y += painter.line_height(title_type) + panel.px(theme.space.xs);
  const auto line_under = [&](auto draw_line_under) {
    if (const float height = draw_line_under(panel, content.min, content.width()); height > 0)
      content.min.y += height + panel.px(theme.space.xs);
  };
  if (parts.said == Shown::yes) line_under(draw_said);
  line_under(draw_result_choice);
  if (parts.rows == Shown::yes) line_under(draw_row_choice);
  content.min.y += panel.px(theme.space.l) * air;

  Rect room = content;
  if (parts.scales == Shown::yes) room.max.y -= scale_height(panel) + panel.px(theme.space.m);
  const Staged staged = stage_matrices(panel, room, parts);
  const std::span<const std::unique_ptr<StageMatrix>> all(staged.matrices);
  if (staged.small_height > 0)
    draw_small(panel, {{room.min.x, room.max.y - staged.small_height}, room.max},
               all.subspan(staged.n_large));
  if (staged.arrangement)
    draw_arrangement(panel, *staged.arrangement);
  else
    draw_no_room(panel, staged.room);
  if (parts.scales == Shown::yes) {
    const float choice = draw_detail_choice(panel, content.max);
    if (staged.arrangement)
      draw_scales(panel, {content.min.x, content.max.y - scale_height(panel)}, content.max.x - choice,
                  all.first(staged.n_large));
  }
  painter.pop_clip();
}

}  // namespace headscope::simulator
