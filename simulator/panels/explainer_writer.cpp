#include "simulator/panels/explainer_writer.h"

#include "simulator/panels/explainer_terms.h"
#include "simulator/panels/prose.h"
#include "simulator/tensor_facts.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

namespace headscope::simulator {
namespace {

/// Links below one heading; more are a list to read, not a way to go.
constexpr std::size_t kMostLinks = 6;

/// "∂L/∂" in the gradient's hue, "masked_scores" in its own, "[on, sat]" in none.
void add_name(std::vector<Run>& runs, const NarratedName& name) {
  const Concept mark = name.quantity == core::Quantity::gradient ? Concept::gradient : Concept::none;
  if (!name.before.empty())
    runs.push_back({.text = name.before, .weight = Weight::semibold, .hue = mark, .source = Source::tensor});
  runs.push_back(
      {.text = name.name, .weight = Weight::semibold, .hue = hue_named(name.hue), .source = Source::tensor});
  if (!name.address.empty()) runs.push_back({.text = name.address, .source = Source::token});
  if (!name.after.empty()) runs.push_back({.text = name.after, .source = Source::catalog});
}

std::string_view chip_key(core::Quantity quantity) {
  switch (quantity) {
    case core::Quantity::gradient:
      return "explainer.chip.gradient";
    case core::Quantity::first_moment:
      return "explainer.chip.first_moment";
    case core::Quantity::second_moment:
      return "explainer.chip.second_moment";
    default:
      return "explainer.chip.value";
  }
}

}  // namespace

Rect ExplainerWriter::rich(std::vector<Run> runs, const RichStyle& style) {
  RichStyle wrapped = style;
  wrapped.width = width_;
  const RichBlock block = lay_out(panel_.painter(), std::move(runs), wrapped);
  const Rect box = rect_at({x_, y_}, {width_, block.height});
  draw(panel_.painter(), box.min, block);
  y_ += block.height;
  return box;
}

void ExplainerWriter::heading(std::string_view key) {
  rich({Run{.text = panel_.text(key), .weight = Weight::semibold, .source = Source::catalog}},
       {.type = TypeStyle::small, .colour = colour().secondary});
  y_ += panel_.px(4);
}

void ExplainerWriter::words(const std::string& words, ImU32 text_colour, Source source) {
  rich({Run{.text = words, .source = source}}, {.type = TypeStyle::label, .colour = text_colour});
}

void ExplainerWriter::sentence(const std::string& markdown) {
  y_ += draw_sentence(panel_, {x_, y_}, width_, markdown,
                      {.type = TypeStyle::label, .colour = colour().secondary});
}

void ExplainerWriter::note(Note kind, const std::string& sentence) {
  y_ += note_line(panel_.painter(), {x_, y_}, width_, kind, sentence) + panel_.px(4);
}

void ExplainerWriter::trail() {
  const std::vector<CellAddress>& cells = panel_.state.trail;
  if (cells.size() < 2) return;
  const float line = panel_.painter().line_height(TypeStyle::small);
  float x = x_;
  for (std::size_t at = 0; at < cells.size(); ++at) {
    const std::string sign = cells[at].quantity == core::Quantity::gradient ? "∂" : "";
    const std::string word = sign + short_name(panel_.state.session.graph().spec(cells[at].tensor));
    const TextStyle style{.type = TypeStyle::small,
                          .colour = at + 1 == cells.size() ? colour().primary : colour().tertiary,
                          .source = Source::tensor};
    const float width = panel_.painter().width_of(word, style);
    if (x + width > x_ + width_ && x > x_) x = x_, y_ += line;
    if (text_link(panel_.ui, "trail" + std::to_string(at), {x, y_}, word, style, width_).clicked)
      panel_.actions.push_back(ReturnTo{at});
    x += width + panel_.px(6);
    if (at + 1 == cells.size()) break;
    const TextStyle arrow{.type = TypeStyle::small, .colour = colour().tertiary, .source = Source::tensor};
    if (x + panel_.painter().width_of("→", arrow) > x_ + width_) x = x_, y_ += line;
    panel_.painter().text({x, y_}, "→", arrow);
    x += panel_.px(18);
  }
  y_ += line + panel_.px(8);
}

void ExplainerWriter::quantities(const Narration& narration) {
  if (narration.quantities.size() < 2) return;
  std::vector<std::string> chips;
  std::optional<int> chosen;
  for (const core::Quantity quantity : narration.quantities) {
    if (quantity == narration.cell.quantity) chosen = static_cast<int>(chips.size());
    chips.push_back(panel_.text(chip_key(quantity)));
  }
  const ChipChoice choice =
      chip_choice(panel_.ui, "quantity", {x_, y_}, width_, chips, chosen, Source::catalog);
  if (choice.pressed) {
    CellAddress cell = narration.cell;
    cell.quantity = narration.quantities[static_cast<std::size_t>(*choice.pressed)];
    panel_.actions.push_back(LockCell{cell});
  }
  y_ += choice.height + panel_.px(10);
}

void ExplainerWriter::title(const Narration& narration) {
  std::vector<Run> runs;
  add_name(runs, narration.name);
  rich(std::move(runs), {.type = TypeStyle::body, .role = "cell_name"});
  // as large as it can be whole: a number that is cut short is another number
  TextStyle style{.type = TypeStyle::display, .source = Source::number, .role = "value"};
  for (const TypeStyle smaller : {TypeStyle::title, TypeStyle::heading, TypeStyle::body, TypeStyle::label}) {
    if (panel_.painter().width_of(narration.value, style) <= width_) break;
    style.type = smaller;
  }
  if (panel_.painter().width_of(narration.value, style) <= width_) {
    panel_.painter().text({x_, y_}, narration.value, style);
    y_ += panel_.painter().line_height(style.type);
  } else {
    rich({Run{.text = narration.value, .source = Source::number}}, {.type = style.type, .role = "value"});
  }
  y_ += panel_.px(6);
}

void ExplainerWriter::terms(const Narration& narration) {
  if (narration.terms.empty()) return;
  const ExplainerTable table = table_of(panel_, narration);
  const TermTableResponse response = term_table(panel_.ui, "terms", {x_, y_}, width_, table.spec);
  y_ += response.height + panel_.px(4);
  if (response.hovered) panel_.window.pointed.term = table.terms[*response.hovered];
  if (response.clicked)
    if (const auto& cells = narration.terms[table.terms[*response.clicked]].cells; !cells.empty())
      panel_.actions.push_back(FollowCell{cells.front()});
  if (table.n_left_out > 0)
    words(panel_.text("explainer.more", {{"n", std::to_string(table.n_left_out)}}), colour().tertiary);
  if (const NarratedTerm* detailed = detailed_term(panel_, narration))
    rich({Run{.text = detailed->detail + " = " + detailed->value, .source = Source::number}},
         {.type = TypeStyle::label, .colour = colour().tertiary, .role = "term_detail"});
}

void ExplainerWriter::check(const Narration& narration) {
  if (narration.check.empty()) return;
  if (!narration.check_holds) return note(Note::error, narration.check);
  const float line = panel_.painter().line_height(TypeStyle::label), size = panel_.px(10);
  panel_.painter().sign({x_ + size / 2, y_ + line / 2}, Sign::tick, colour().success, size);
  const float indent = panel_.px(18);
  const RichBlock block =
      lay_out(panel_.painter(), {Run{.text = narration.check, .source = Source::catalog}},
              {.type = TypeStyle::label, .width = width_ - indent, .colour = colour().secondary});
  draw(panel_.painter(), {x_ + indent, y_}, block);
  y_ += block.height + panel_.px(4);
}

void ExplainerWriter::line(const std::string& word, const std::string& number) {
  Painter& painter = panel_.painter();
  const TextStyle style{.type = TypeStyle::number, .source = Source::number, .role = "check_number"};
  const float gap = panel_.px(10), needed = painter.width_of(number, style);
  const RichBlock block = lay_out(painter, {Run{.text = word, .source = Source::catalog}},
                                  {.type = TypeStyle::label, .width = width_, .colour = colour().secondary});
  draw(painter, {x_, y_}, block);
  const bool is_beside = block.n_lines == 1 && block.width + gap + needed <= width_;
  const float height = painter.line_height(TypeStyle::number);
  if (!is_beside) y_ += block.height;
  if (needed <= width_) {
    painter.text_to({x_ + width_, y_}, number, style);
    y_ += std::max(height, is_beside ? block.height : 0);
  } else {
    rich({Run{.text = number, .source = Source::number}},
         {.type = TypeStyle::number, .role = "check_number"});
  }
  y_ += panel_.px(2);
}

void ExplainerWriter::gradient_check(const Narration& narration) {
  const core::Session& session = panel_.state.session;
  const CellAddress& cell = narration.cell;
  if (!session.has_gold() || !session.trace().workspace().has_gradient(cell.tensor)) return;
  const std::optional<CheckedGradient>& checked = panel_.state.checked;
  const bool is_checked =
      checked && checked->address.tensor == cell.tensor && checked->address.cell == cell.cell;
  if (!is_checked && cell.quantity != core::Quantity::gradient) return;
  space(14);
  heading("explain_check.heading");
  if (!is_checked) {
    words(panel_.text("explain_check.said"), colour().tertiary);
    y_ += panel_.px(6);
    const std::string word = panel_.text("explain_check.button");
    if (button(panel_.ui, "check_gradient", {x_, y_}, word).clicked)
      panel_.actions.push_back(CheckGradient{{cell.tensor, cell.cell, core::Quantity::gradient}});
    y_ += button_size(panel_.painter(), word).y;
    return;
  }
  const NarratedCheck check = narrate_check(checked->check, panel_.words.text, panel_.theme().numbers);
  for (const NarratedCheck::Line& each : check.lines) line(each.label, each.number);
  note(check.agrees ? Note::success : Note::warning, check.verdict);
  if (!check.kink.empty()) note(Note::warning, check.kink);
}

void ExplainerWriter::links(const std::vector<NarratedLink>& list, std::string_view heading_key) {
  if (list.empty()) return;
  space(14);
  heading(heading_key);
  for (std::size_t at = 0; at < std::min(list.size(), kMostLinks); ++at)
    link(list[at], std::string(heading_key) + std::to_string(at));
}

void ExplainerWriter::link(const NarratedLink& link, const std::string& id) {
  std::vector<Run> runs;
  add_name(runs, link.name);
  if (!link.number.empty()) runs.push_back({.text = " = " + link.number, .source = Source::number});
  if (!link.origin.empty())
    runs.push_back({.text = "  ← " + link.origin, .colour = colour().tertiary, .source = Source::tensor});
  const RichBlock block =
      lay_out(panel_.painter(), std::move(runs), {.type = TypeStyle::label, .width = width_});
  const Rect box = rect_at({x_, y_}, {width_, block.height});
  const Touch touched = touch(panel_.ui, id, box);
  if (touched.hovered) {
    panel_.painter().fill(box.grown(panel_.px(3)), colour().inset, panel_.px(panel_.theme().radius.tag));
    panel_.window.pointed.factor = link.target;
  }
  draw(panel_.painter(), {x_, y_}, block);
  draw_focus_ring(panel_.ui, box, touched, panel_.px(panel_.theme().radius.tag));
  if (touched.clicked) panel_.actions.push_back(FollowCell{link.target});
  y_ += block.height + panel_.px(2);
}

}  // namespace headscope::simulator
