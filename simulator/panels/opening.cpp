// What can be opened, and where what is open is kept; over everything else, closed by Esc, or by choosing.
#include "core/printable.h"
#include "simulator/kept_sessions.h"
#include "simulator/open_model.h"
#include "simulator/panels/sheet.h"
#include "simulator/rich_text.h"

#include <algorithm>
#include <string>
#include <vector>

namespace headscope::simulator {
namespace {

/// A model's name, and beside it, where there is room, what it is.
void draw_models(Column& column, const std::vector<std::string>& names) {
  Panel& panel = column.panel();
  float widest = 0;
  for (const std::string& name : names) widest = std::max(widest, button_size(panel.painter(), name).x);
  const float left = column.x() + widest + panel.px(14), width = column.x() + column.width() - left;
  for (const std::string& name : names) {
    const bool is_open = !panel.state.has_lesson() && panel.state.name == name;
    const float top = column.y(), button = button_size(panel.painter(), name).y;
    if (column.press("model" + name, name, is_open ? Emphasis::dark : Emphasis::filled)) {
      panel.actions.push_back(OpenModel{name});
      panel.window.opening = Shown::no;
    }
    const std::string key = "opening.model." + name;
    if (!panel.words.text.has(key)) continue;  // somebody's own among the bundled ones
    if (width < panel.px(180)) {
      column.say(panel.text(key));
      continue;
    }
    const RichBlock block =
        lay_out(panel.painter(), {Run{.text = panel.text(key), .source = Source::catalog}},
                {.type = TypeStyle::label, .width = width, .colour = column.colour().secondary});
    const float y = top + std::max(0.0F, (button - block.height) / 2);
    draw(panel.painter(), {left, y}, block);
    column.take(std::max(0.0F, y + block.height + panel.px(8) - column.y()));
  }
}

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
        draw_models(column, names);
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
