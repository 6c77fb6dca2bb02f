// What can be opened, over everything else; closed by Esc, or by choosing.
#include "simulator/panels/sheet.h"

namespace headscope::simulator {

void draw_opening(Panel& panel, const Rect& box) {
  const bool closed = draw_sheet(
      panel, box, "opening", panel.text("opening.heading"), 460, panel.window.sheet_height,
      [](Column& column) {
        Panel& inside = column.panel();
        const AppState& state = inside.state;
        column.heading(column.text("opening.lessons"));
        for (const lessons::LessonEntry& entry : state.library) {
          const bool is_open = state.has_lesson() && state.lesson().number == entry.number;
          const std::string words = column.text(
              "opening.lesson", {{"number", std::to_string(entry.number)}, {"title", entry.title}});
          if (!column.press("lesson" + entry.name, words, is_open ? Emphasis::dark : Emphasis::filled))
            continue;
          inside.actions.push_back(OpenLesson{entry.name});
          inside.window.opening = Shown::no;
        }
      });
  if (closed) panel.window.opening = Shown::no;
}

}  // namespace headscope::simulator
