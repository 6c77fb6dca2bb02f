#include "simulator/panels/message.h"

#include "simulator/widgets/controls.h"
#include "simulator/widgets/scroll_area.h"

#include <algorithm>
#include <string>

namespace headscope::simulator {

void draw_message(Panel& panel, Rect& box, Edge edge, float margin, ImU32 ground) {
  const core::Error* message = panel.message();
  if (!message) return;
  const std::string words = panel.words.text.error(*message);
  const float air = panel.px(4), width = std::max(1.0F, box.width() - 2 * margin);
  const float wanted = note_height(panel.painter(), width, words, Tone::quiet);
  const float height = std::min(wanted, box.height() / 2 - 2 * air);
  Rect strip = box;
  if (edge == Edge::top)
    box.min.y = strip.max.y = box.min.y + height + 2 * air;
  else
    box.max.y = strip.min.y = box.max.y - height - 2 * air;
  panel.painter().ground(strip, ground);
  const Rect area{{strip.min.x + margin, strip.min.y + air}, {strip.max.x - panel.px(4), strip.max.y - air}};
  if (area.width() < 1 || area.height() < 1) return;
  ScrollArea scroll(panel.ui, "message", area);
  note_line(scroll.painter(), scroll.origin(), width, Note::error, words, Source::catalog, Tone::quiet);
  scroll.set_content_height(wanted);
}

}  // namespace headscope::simulator
