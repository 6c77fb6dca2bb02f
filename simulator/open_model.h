// What can be opened: bundled models by name, model directories, training runs. Session files are
// session_file.h's.
#pragma once

#include "core/formats/model_note.h"
#include "core/result.h"
#include "core/session.h"
#include "core/tasks/task.h"
#include "simulator/app_state.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headscope::simulator {

struct OpenedModel {
  std::string name;  // "look-ups"; of a folder its last part; of a run with the step: "run, step 400"
  std::shared_ptr<const core::SessionModel> model;
  std::optional<core::TaskConfig> task = {};  // that it learned: its examples have gold answers
};

/// A model that comes with the program.
struct BundledModel {
  std::string name;
  std::filesystem::path directory;
  std::optional<core::ModelNote> note = {};  // none where it cannot be read
};

/// The folders of `assets`/models, in the order of the tasks, then by name.
std::vector<BundledModel> list_bundled_models(const std::filesystem::path& assets);

/// Opens a bundled model by its name, a run by its folder (its newest intact checkpoint; the run is only
/// looked at), a model directory by its folder. A name wins over a folder that is called so; "./NAME" is the
/// folder. Errors: open.unknown (name, known), open.file (a file, and no session); those of
/// read_session_model(), read_run_directory(), read_model_note(); session.no_vocabulary,
/// session.no_target_vocabulary.
core::Result<OpenedModel> open_model(const std::string& what, const std::filesystem::path& assets);

/// The same kind of model with parameters drawn from a seed: what training began with, or would. Errors:
/// those of make_task().
core::Result<OpenedModel> untrained(const OpenedModel& model, std::uint64_t seed,
                                    const std::filesystem::path& assets);

/// The task that a model says it learned. Errors: those of make_task(); open.other_task (task): its words or
/// classes are not the model's.
core::Result<std::shared_ptr<const core::Task>> task_of(const core::TaskConfig& task,
                                                        const core::SessionModel& model,
                                                        const std::filesystem::path& assets);

/// What is fed to a model that was opened.
struct OpenedText {
  std::optional<std::string> text = {};    // none: an example of its task, else words of its vocabulary
  std::optional<std::string> target = {};  // an encoder-decoder's; none: the example's, or none at all
};

/// The window's state for it. Its task draws the examples; one that is another model's is left out, with a
/// message. Errors: those of make_task(), Session::make(),
/// open_session(); open.no_target (a target for a model that has none).
core::Result<AppState> open_state(OpenedModel model, const OpenedText& text,
                                  const std::filesystem::path& assets,
                                  const std::filesystem::path& lesson_folder);

}  // namespace headscope::simulator
