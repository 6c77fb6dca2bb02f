// All that the learner may change: sentence, gold answer, heads, switches, training, cells; and what it did.
#include "simulator/panels/what_if.h"

#include "simulator/panels/notices.h"
#include "simulator/widgets/scroll_area.h"

namespace headscope::simulator {

void draw_sentence_part(Column& column) {
  Panel& panel = column.panel();
  column.heading(
      column.text(panel.state.session.target_vocabulary() ? "what_if.source" : "what_if.sentence"));
  if (const auto typed =
          column.field("what_if_sentence", panel.state.session.text(), column.text("top_bar.sentence_hint")))
    panel.actions.push_back(SetSentence{*typed});
  for (const std::string& notice : sentence_notices(panel)) column.note(Note::warning, notice);
  if (panel.state.task && column.press("example", column.text("what_if.another_example")))
    panel.actions.push_back(DrawExample{});
}

void draw_what_if(Panel& panel, const Rect& box) {
  Painter& painter = panel.painter();
  painter.ground(box, painter.colour().chrome);
  const bool is_narrow = box.width() < panel.px(360);
  const float gutter = panel.px(panel.theme().space.gutter) * (is_narrow ? 0.6f : 1.0f);
  const float pad = panel.px(4);  // for focus rings at the text's edge
  const Rect area{{box.min.x + gutter - pad, box.min.y + panel.px(12)},
                  {box.max.x - panel.px(6), box.max.y - panel.px(4)}};
  ScrollArea scroll(panel.ui, "what_if", area);
  Ui inner{scroll.painter(), panel.ui.focus};
  Panel inside = panel.with(inner);
  const ImVec2 origin{scroll.origin().x + pad, scroll.origin().y + pad};
  Column column(inside, origin, box.width() - 2 * gutter);
  if (const core::Error* message = panel.message(); message && panel.window.what_if.shows_message)
    column.note(Note::error, panel.words.text.error(*message));
  const auto part = [&](void (*draw)(Column&)) {
    draw(column);
    column.space(22);
  };
  part(draw_sentence_part);
  part(draw_answer_part);
  part(draw_heads_part);
  part(draw_attention_part);
  part(draw_training_part);
  part(draw_changes_part);
  part(draw_difference_part);
  scroll.set_content_height(column.y() - scroll.origin().y);
}

}  // namespace headscope::simulator
