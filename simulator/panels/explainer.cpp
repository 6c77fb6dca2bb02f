// "Why this number?": the cell's value, its sentence, its terms with bars, where it came from and goes to.
#include "simulator/panels/panel.h"
#include "simulator/panels/prose.h"
#include "simulator/panels/stage_matrix.h"
#include "simulator/tensor_facts.h"
#include "simulator/widgets/controls.h"
#include "simulator/widgets/scroll_area.h"
#include "simulator/widgets/term_table.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace headscope::simulator {
namespace {

Concept hue_named(std::string_view quantity) {
  return concept_of_name(quantity).value_or(Concept::none);
}

Source source_of(LabelKind kind) {
  switch (kind) {
    case LabelKind::number:
      return Source::number;
    case LabelKind::word:
      return Source::token;
    case LabelKind::said:
      return Source::catalog;
    case LabelKind::tensor:
      break;
  }
  return Source::tensor;
}

/// "∂L/∂" in the gradient's hue, "masked_scores" in its own, "[on, sat]" in none.
void add_name(std::vector<Run>& runs, const NarratedName& name) {
  const Concept mark = name.quantity == core::Quantity::gradient ? Concept::gradient : Concept::none;
  if (!name.before.empty())
    runs.push_back({.text = name.before, .weight = Weight::semibold, .hue = mark, .source = Source::tensor});
  runs.push_back(
      {.text = name.name, .weight = Weight::semibold, .hue = hue_named(name.hue), .source = Source::tensor});
  runs.push_back({.text = name.address + name.after, .source = Source::token});
}

/// More terms than a learner reads at once are cut, with a word on how many.
constexpr std::size_t kMostTerms = 24;

class Writer {
 public:
  Writer(Panel& panel, ImVec2 at, float width) : panel_(panel), x_(at.x), y_(at.y), width_(width) {}

  float y() const { return y_; }
  void space(float length) { y_ += panel_.px(length); }

  void heading(std::string_view key) {
    panel_.painter().text(
        {x_, y_}, panel_.text(key),
        {.type = TypeStyle::small, .weight = Weight::semibold, .colour = colour().secondary});
    y_ += panel_.painter().line_height(TypeStyle::small) + panel_.px(4);
  }

  void words(const std::string& words, ImU32 text_colour, Source source = Source::catalog) {
    const RichBlock block = lay_out(panel_.painter(), {Run{.text = words, .source = source}},
                                    {.type = TypeStyle::label, .width = width_, .colour = text_colour});
    draw(panel_.painter(), {x_, y_}, block);
    y_ += block.height;
  }

  void title(const Narration& narration) {
    std::vector<Run> runs;
    add_name(runs, narration.name);
    const RichBlock name = lay_out(panel_.painter(), std::move(runs),
                                   {.type = TypeStyle::body, .width = width_, .role = "cell_name"});
    draw(panel_.painter(), {x_, y_}, name);
    y_ += name.height;
    panel_.painter().fit_text({x_, y_}, narration.value, width_,
                              {.type = TypeStyle::display, .source = Source::number, .role = "value"});
    y_ += panel_.painter().line_height(TypeStyle::display) + panel_.px(6);
  }

  void sentence(const std::string& markdown) {
    y_ += draw_sentence(panel_, {x_, y_}, width_, markdown,
                        {.type = TypeStyle::label, .colour = colour().secondary});
  }

  void terms(const Narration& narration) {
    if (narration.terms.empty()) return;
    const TermTableSpec spec = table_of(narration);
    const TermTableResponse response = term_table(panel_.ui, "terms", {x_, y_}, width_, spec);
    y_ += response.height + panel_.px(4);
    if (response.hovered) panel_.window.pointed.term = *response.hovered;
    if (response.clicked) follow(narration.terms[*response.clicked]);
    if (narration.terms.size() > kMostTerms)
      words(panel_.text("explainer.more", {{"n", std::to_string(narration.terms.size() - kMostTerms)}}),
            colour().tertiary);
  }

  void links(const std::vector<NarratedLink>& list, std::string_view heading_key) {
    if (list.empty()) return;
    space(14);
    heading(heading_key);
    for (std::size_t at = 0; at < std::min<std::size_t>(list.size(), 4); ++at)
      link(list[at], std::string(heading_key) + std::to_string(at));
  }

  void keys(const Narration& narration) {
    const bool can_edit =
        panel_.state.session.graph().spec(narration.cell.tensor).role != core::Role::activation;
    std::vector<std::pair<std::string, std::string>> caps;
    if (!narration.terms.empty())
      caps.emplace_back(panel_.text("key.enter"), panel_.text("explainer.follow"));
    if (can_edit) caps.emplace_back(panel_.text("key.edit"), panel_.text("explainer.edit"));
    if (panel_.view.is_locked)
      caps.emplace_back(panel_.text("key.escape"),
                        panel_.text(panel_.state.trail.size() > 1 ? "explainer.back" : "explainer.unlock"));
    float x = x_;
    for (const auto& [key, word] : caps) {
      if (x + key_cap_width(panel_.painter(), key, word) > x_ + width_ && x > x_) {
        x = x_;
        y_ += panel_.painter().line_height(TypeStyle::body);
      }
      x = key_cap(panel_.painter(), {x, y_}, key, word).max.x + panel_.px(14);
    }
    y_ += panel_.painter().line_height(TypeStyle::body);
  }

  void note(Note kind, const std::string& sentence) {
    y_ += note_line(panel_.painter(), {x_, y_}, width_, kind, sentence) + panel_.px(4);
  }

  /// Whether the terms make the stored number: quiet when they do.
  void check(const Narration& narration) {
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

  void trail() {
    if (panel_.state.trail.size() < 2) return;
    float x = x_;
    for (std::size_t at = 0; at < panel_.state.trail.size(); ++at) {
      const CellAddress& address = panel_.state.trail[at];
      const core::TensorSpec& spec = panel_.state.session.graph().spec(address.tensor);
      const std::string word = short_name(spec);
      const TextStyle style{
          .type = TypeStyle::small,
          .colour = at + 1 == panel_.state.trail.size() ? colour().primary : colour().tertiary,
          .source = Source::tensor};
      const float width = panel_.painter().width_of(word, style);
      if (x + width > x_ + width_ && x > x_) {
        x = x_;
        y_ += panel_.painter().line_height(TypeStyle::small);
      }
      if (text_link(panel_.ui, "trail" + std::to_string(at), {x, y_}, word, style).clicked)
        panel_.actions.push_back(ReturnTo{at});
      x += width + panel_.px(6);
      if (at + 1 < panel_.state.trail.size()) {
        panel_.painter().text(
            {x, y_}, "→", {.type = TypeStyle::small, .colour = colour().tertiary, .source = Source::tensor});
        x += panel_.px(18);
      }
    }
    y_ += panel_.painter().line_height(TypeStyle::small) + panel_.px(8);
  }

 private:
  const Palette& colour() const { return panel_.painter().colour(); }

  void follow(const NarratedTerm& term) {
    for (const NarratedFactor& factor : term.factors)
      if (factor.target) return panel_.actions.push_back(FollowCell{*factor.target});
  }

  TermTableSpec table_of(const Narration& narration) const {
    if (std::ranges::all_of(narration.terms,
                            [](const NarratedTerm& term) { return term.factors.size() == 1; }))
      return table_of_addends(narration);
    TermTableSpec spec;
    spec.index_head = narration.index_head;
    for (const NarratedHead& head : narration.heads)
      spec.factor_heads.push_back({head.text, source_of(head.kind),
                                   head.kind == LabelKind::word ? hue_named(head.hue) : Concept::none,
                                   head.kind == LabelKind::word ? Concept::none : hue_named(head.hue)});
    spec.value_head = narration.value_head;
    for (std::size_t at = 0; at < std::min(narration.terms.size(), kMostTerms); ++at) {
      const NarratedTerm& term = narration.terms[at];
      TermRow row{term.index, source_of(term.index_kind), {}, term.signs, term.value, term.amount};
      for (const NarratedFactor& factor : term.factors)
        row.factors.push_back({factor.number, hue_named(factor.hue), Source::number});
      spec.rows.push_back(std::move(row));
    }
    spec.sum_word = narration.sum_word;
    spec.sum = narration.sum;
    spec.bars = narration.terms.size() > 1 ? BarMap::signed_values : BarMap::none;
    spec.lit = lit_row(narration);
    return spec;
  }

  /// Terms that are a number each: the tensor's name in place of factors.
  TermTableSpec table_of_addends(const Narration& narration) const {
    TermTableSpec spec;
    for (const NarratedTerm& term : narration.terms)
      spec.rows.push_back({term.index, source_of(term.index_kind), {}, {}, term.value, term.amount});
    spec.sum_word = narration.sum_word;
    spec.sum = narration.sum;
    spec.bars = narration.terms.size() > 1 ? BarMap::signed_values : BarMap::none;
    spec.lit = lit_row(narration);
    return spec;
  }

  /// The term under the pointer, here or as a cell on the stage; the chosen one of a share.
  std::optional<std::size_t> lit_row(const Narration& narration) const {
    if (panel_.window.seen.term) return panel_.window.seen.term;
    if (panel_.window.seen.cell)
      for (std::size_t at = 0; at < narration.terms.size(); ++at)
        for (const NarratedFactor& factor : narration.terms[at].factors)
          if (factor.target == panel_.window.seen.cell) return at;
    return narration.chosen;
  }

  void link(const NarratedLink& link, const std::string& id) {
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

  Panel& panel_;
  float x_, y_, width_;
};

void write_edited(Panel& panel, Writer& writer, const Narration& narration) {
  const auto& edits = panel.state.session.edits();
  if (!edits.contains({narration.cell.tensor, narration.cell.cell})) return;
  const double before = panel.state.session.unedited_value(narration.cell.tensor, narration.cell.cell);
  const core::TensorSpec& spec = panel.state.session.graph().spec(narration.cell.tensor);
  writer.space(6);
  writer.note(
      Note::warning,
      panel.text("explainer.edited",
                 {{"value", lessons::format_number(before, number_kind_of(spec), panel.theme().numbers)}}));
}

void write_narration(Panel& panel, Writer& writer, const Narration& narration) {
  const Palette& colour = panel.painter().colour();
  writer.trail();
  writer.title(narration);
  writer.sentence(narration.sentence);
  if (!narration.not_yet.empty()) {
    writer.space(6);
    writer.note(Note::warning, narration.not_yet);
  }
  write_edited(panel, writer, narration);
  writer.space(14);
  writer.terms(narration);
  if (!narration.conclusion.empty()) writer.words(narration.conclusion, colour.primary, Source::number);
  if (!narration.left_out.empty()) writer.words(narration.left_out, colour.tertiary);
  writer.check(narration);
  if (!narration.rounded.empty()) writer.words(narration.rounded, colour.tertiary);
  writer.links(narration.from, "explainer.where_from");
  writer.links(narration.to, "explainer.where_to");
}

}  // namespace

void draw_explainer(Panel& panel, const Rect& box) {
  Painter& painter = panel.painter();
  painter.fill(box, painter.colour().chrome);
  const float gutter = panel.px(panel.theme().space.gutter) * (box.width() < panel.px(360) ? 0.6f : 1.0f);
  const Rect content{{box.min.x + gutter, box.min.y + panel.px(36)},
                     {box.max.x - gutter, box.max.y - panel.px(8)}};
  painter.text(content.min, panel.text("explainer.heading"),
               {.type = TypeStyle::label, .colour = painter.colour().secondary});
  const float top = content.min.y + painter.line_height(TypeStyle::label) + panel.px(16);

  // the area is wider than the text, so that bars and bands may reach over its right
  const float keys = panel.px(32);  // the keys stay below, however far the text is scrolled
  const Rect area{{content.min.x - panel.px(10), top}, {box.max.x - panel.px(6), content.max.y - keys}};
  if (panel.view.narration)
    Writer(panel, {content.min.x, content.max.y - keys + panel.px(6)}, content.width())
        .keys(*panel.view.narration);
  ScrollArea scroll(panel.ui, "explainer", area);
  Ui inner{scroll.painter(), panel.ui.focus};
  Panel inside = panel.with(inner);
  const ImVec2 origin{scroll.origin().x + panel.px(10), scroll.origin().y};
  Writer writer(inside, origin, content.width());
  if (panel.state.message) {
    writer.note(Note::error, panel.words.text.error(*panel.state.message));
    writer.space(10);
  }
  if (panel.view.narration)
    write_narration(inside, writer, *panel.view.narration);
  else
    writer.words(panel.text("explainer.empty"), painter.colour().secondary);
  scroll.set_content_height(writer.y() - origin.y + panel.px(16));
}

}  // namespace headscope::simulator
