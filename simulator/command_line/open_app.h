// What the window's commands and the pictures share: opening what was named, and the window itself.
#pragma once

#include "simulator/app.h"
#include "simulator/autosave.h"
#include "simulator/command_line/commands.h"

#include <optional>

namespace headscope::simulator {

/// Where the lessons of the context's language lie.
std::filesystem::path lesson_folder(const CommandContext& context);

/// The state of a bundled model, a folder or a session file. Errors: those of open_model(), untrained(),
/// open_state() and load_state(); open.text_of_session (option: a session has its own sentence).
core::Result<AppState> open_what(const OpenArguments& open, const CommandContext& context);

/// The calls that a platform makes. Precondition: the app outlives them.
platform::Application calls_of(App& app);

/// The place where this window keeps its state, or none, which is said: a window works without.
std::optional<Autosave> open_autosave(const CommandContext& context);

/// What a state in a window has that others have not: it keeps what is left, and computes with patience.
void prepare_for_window(AppState& state, const std::optional<Autosave>& autosave);

/// Draws until the window closes, and keeps its state meanwhile. Errors: those of platform::run_window().
core::Result<void> show_window(App& app, std::optional<Autosave> autosave, const CommandContext& context);

}  // namespace headscope::simulator
