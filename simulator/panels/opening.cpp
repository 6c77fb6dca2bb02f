// What can be opened, and where what is open is kept; over everything else, closed by Esc, or by choosing.
#include "core/printable.h"
#include "simulator/open_model.h"
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
        column.space(12);
        column.heading(column.text("opening.models"));
        std::vector<std::string>& names = inside.window.bundled;
        if (names.empty())
          for (const BundledModel& model : list_bundled_models(state.assets)) names.push_back(model.name);
        for (const std::string& name : names) {
          const bool is_open = !state.has_lesson() && state.name == name;
          if (!column.press("model" + name, name, is_open ? Emphasis::dark : Emphasis::filled)) continue;
          inside.actions.push_back(OpenModel{name});
          inside.window.opening = Shown::no;
        }
        column.space(12);
        column.heading(column.text("opening.file"));
        if (const std::optional<std::string> path =
                column.field("open_path", std::string(), column.text("opening.file_hint"), 0, Leaving::keeps);
            path && !path->empty())
          inside.actions.push_back(OpenModel{*path});
        column.space(12);
        column.heading(column.text("opening.save"));
        column.say(column.text("opening.kept"));
        const std::string now = state.session_file ? state.session_file->string() : std::string();
        if (const std::optional<std::string> path =
                column.field("save_path", now, column.text("opening.save_hint"), 0, Leaving::keeps);
            path && !path->empty())
          inside.actions.push_back(SaveSession{*path});
        if (const core::Error* message = inside.message())
          column.note(Note::error, inside.words.text.error(*message));
        else if (state.session_file)
          column.say(column.text("opening.saved", {{"path", core::printable(now)}}), Source::token);
      });
  if (closed) panel.window.opening = Shown::no;
}

}  // namespace headscope::simulator
