// A window's state as a session file, and back.
#pragma once

#include "simulator/app_state.h"
#include "simulator/session_file.h"

#include <filesystem>

namespace headscope::simulator {

/// Whether a path means a session file: it is called NAME.headscope, and is no folder.
bool is_session_file(const std::filesystem::path& path);

/// What of the state is kept: everything but undo, playing and the comparison. Cheap: numbers are shared.
SessionFile save_state(const AppState& state);

/// The state that the file tells of. Where the lesson is not there any more, or has another model, the model
/// stands alone, and `message` says so: session_file.lesson (lesson); so does session_file.task (task) where
/// there is no such task. Errors: those of read_session(), list_lessons().
core::Result<AppState> load_state(const std::filesystem::path& path, const std::filesystem::path& assets,
                                  const std::filesystem::path& lesson_folder);

}  // namespace headscope::simulator
