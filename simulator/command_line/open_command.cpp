// headscope open: the window on a model; without one the list of what there is.
#include "core/printable.h"
#include "simulator/app.h"
#include "simulator/command_line/commands.h"
#include "simulator/command_line/open_app.h"
#include "simulator/kept_sessions.h"
#include "simulator/open_model.h"
#include "simulator/session_file.h"
#include "simulator/session_state.h"
#include "simulator/terminal/text_layout.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ostream>
#include <system_error>
#include <utility>

namespace headscope::simulator {
namespace {

/// "0.996".
std::string score_text(double score) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%.3f", score);
  return text.data();
}

void list(const CommandContext& context) {
  const std::vector<BundledModel> models = list_bundled_models(context.data.assets);
  std::size_t width = 0;
  for (const BundledModel& model : models) width = std::max(width, terminal::display_width(model.name));
  context.out << context.text.text("command.open.bundled") << "\n";
  for (const BundledModel& model : models) {
    context.out << "  " << terminal::pad(model.name, width, terminal::Align::left) << "  ";
    if (model.note)
      context.out << context.text.text("command.open.model",
                                       {{"task", context.text.text("task." + model.note->task.name)},
                                        {"steps", std::to_string(model.note->n_steps)},
                                        {"score", score_text(model.note->score)}});
    context.out << "\n";
  }
  std::error_code ignored;
  const std::filesystem::path last = context.state / "last.headscope";
  if (!context.state.empty() && std::filesystem::exists(last, ignored))
    context.out << context.text.text("command.open.last", {{"path", core::printable(last.string())}}) << "\n";
  if (!context.state.empty())
    for (const KeptSession& kept : list_kept(Autosave::kept_folder_in(context.state)))
      context.out << context.text.text("command.open.kept", {{"time", local_time(kept.time)},
                                                             {"name", core::printable(kept.name)},
                                                             {"path", core::printable(kept.file.string())}})
                  << "\n";
  context.out << context.text.text("command.open.others") << "\n";
}

}  // namespace

core::Result<void> run(const OpenCommand& command, const CommandContext& context) {
  if (!command.open) {
    list(context);
    return {};
  }
  core::Result<AppState> state = open_what(*command.open, context);
  if (!state) return state.error();
  for (const core::Error& warning : state->session.warnings())
    context.errors << context.text.text("command.warning", {{"warning", context.text.error(warning)}})
                   << "\n";
  if (state->message)
    context.errors << context.text.text("command.warning", {{"warning", context.text.error(*state->message)}})
                   << "\n";
  if (command.save) {
    std::error_code ignored;
    if (!command.replaces && std::filesystem::exists(*command.save, ignored))
      return core::Error{"open.exists", command.save->string()};
    if (core::Result<void> saved = write_session(*command.save, save_state(*state)); !saved) return saved;
    context.out << context.text.text("command.open.saved",
                                     {{"path", core::printable(command.save->string())}})
                << "\n";
    return {};
  }
  std::optional<Autosave> autosave = open_autosave(context);
  if (autosave) autosave->set_earlier(Autosave::Earlier::kept);
  prepare_for_window(*state, autosave);
  core::Result<App> app = App::make(*std::move(state), context.language);
  if (!app) return app.error();
  return show_window(*app, std::move(autosave), context);
}

}  // namespace headscope::simulator
