// What can be opened, and where what is open is kept; over everything else, closed by Esc, or by choosing.
#include "core/printable.h"
#include "simulator/kept_sessions.h"
#include "simulator/open_model.h"
#include "simulator/panels/sheet.h"

namespace headscope::simulator {
namespace {

/// Sessions that were left. The folder is looked at anew each time: one may still be being written, and other
/// windows leave theirs there.
void draw_kept(Column& column) {
  Panel& panel = column.panel();
  const std::vector<KeptSession> sessions = list_kept(panel.state.kept_folder);
  if (sessions.empty()) return;
  column.space(12);
  column.heading(column.text("opening.left"));
  for (const KeptSession& kept : sessions) {
    const std::string words = column.text(
        "opening.left_entry", {{"name", core::printable(kept.name)}, {"time", local_time(kept.time)}});
    if (!column.press("kept" + kept.file.filename().string(), words)) continue;
    panel.actions.push_back(OpenKept{kept.file});
    panel.window.opening = Shown::no;
  }
}

void draw_saving(Column& column) {
  Panel& panel = column.panel();
  const AppState& state = panel.state;
  column.heading(column.text("opening.save"));
  column.say(column.text("opening.kept"));
  const std::string now = state.session_file ? state.session_file->string() : std::string();
  if (const std::optional<std::string> path =
          column.entry("save_path", now, column.text("opening.save_hint"), column.text("opening.write")))
    panel.actions.push_back(SaveSession{*path});
  if (state.message) {
    if (panel.message()) column.note(Note::error, panel.words.text.error(*state.message));
    const bool can_replace = state.message->key == "session_file.exists";
    if (can_replace && column.press("replace", column.text("opening.replace")))
      panel.actions.push_back(SaveSession{state.message->where, Existing::replace});
  } else if (state.session_file) {
    column.say(column.text("opening.saved", {{"path", core::printable(now)}}), Source::token);
  }
}

}  // namespace

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
        draw_kept(column);
        column.space(12);
        column.heading(column.text("opening.file"));
        if (const std::optional<std::string> path = column.entry(
                "open_path", std::string(), column.text("opening.file_hint"), column.text("opening.open")))
          inside.actions.push_back(OpenModel{*path});
        column.space(12);
        draw_saving(column);
      });
  if (closed) panel.window.opening = Shown::no;
}

}  // namespace headscope::simulator
