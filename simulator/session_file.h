// NAME.headscope: a model and everything that a person did with it, in one file, to go on from there later.
// docs/model-format.md, section 7, describes it. What the window makes of it is session_state.h's.
#pragma once

#include "core/result.h"
#include "core/session.h"
#include "core/tasks/task.h"
#include "lessons/runner.h"
#include "simulator/app_state.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::simulator {

/// What was looked at, and how.
struct SavedView {
  StageLevel level = StageLevel::model;
  std::string opened = {};                   // a path of names; empty: the cursor's
  std::optional<core::TensorId> shown = {};  // whose operation the stage shows; none: the cursor's
  std::int64_t head = 0;                     // outside lessons
  std::vector<CellAddress> trail = {};
  Appearance appearance = Appearance::light;
  Layout layout = Layout::study;
  PlayBy play_by = PlayBy::operation;
  LeftPanel left_panel = LeftPanel::lesson;
  double text_scale = 1;  // within 0.75 to 3
  bool operator==(const SavedView&) const = default;
};

/// Where a learner stood in a lesson. The lesson itself stays a file of its own.
struct SavedLesson {
  std::string name;  // as lessons::find_lesson() takes it: a name, or the path of a teacher's own file
  std::size_t step = 0;
  std::optional<std::int64_t> head = {};
  std::map<lessons::ItemId, lessons::Answer> answers = {};
  std::set<lessons::ItemId> goals_reached = {};
};

struct SessionFile {
  std::string name;  // of the model, for people
  std::shared_ptr<const core::SessionModel> model;
  std::optional<core::TaskConfig> task = {};  // that the model learned
  std::uint64_t n_examples_drawn = 0;
  core::Setup initial = {};  // as the model was opened: what reset returns to
  core::Setup setup = {};
  std::size_t cursor = 0;  // steps that have run
  SavedView view = {};
  std::optional<SavedLesson> lesson = {};
};

/// The file's bytes: safetensors, whose `__metadata__` says everything that is no tensor. Preconditions: what
/// SessionFile holds belongs together, as that of an AppState does.
std::string format_session(const SessionFile& file);

/// The opposite, with every check that needs no run of the model. Keys that no version knows are passed over.
/// Errors (where: `where`, with the field's name where it is a place in a list): those of parse_safetensors()
/// and parse_json(); session_file.format (no session, or of another version), session_file.checksum (bytes
/// have changed), config.key_missing, config.not_…, config.value, config.range (key, value, lowest, highest);
/// those of parse_config(), build_graph() and Vocabulary::make(), vocabulary.size;
/// session.no_target_vocabulary, session_file.no_tensor (name: the model has none of that name),
/// session_file.twice (key: the same place twice), session_file.cell (key: not as many indices as the tensor
/// has sides, or one below 0); model.tensor_missing, model.tensor_unknown, model.tensor_shape,
/// model.not_finite (of the trained state).
core::Result<SessionFile> parse_session(std::string_view bytes, const std::string& where);

/// The same of a file. Errors: those of read_file(), too.
core::Result<SessionFile> read_session_file(const std::filesystem::path& path);

/// A session that runs again, and what else its file said.
struct ReadSession {
  SessionFile file;
  core::Session session;  // with the file's setup and cursor
};

/// Reads a file and runs it. Errors: those of read_session_file(); those of Session::set() and
/// check_edit(), each with the field at fault in `where`; config.range (cursor, view.head);
/// edit.no_such_cell.
core::Result<ReadSession> read_session(const std::filesystem::path& path);

/// Errors: those of write_file_atomically().
core::Result<void> write_session(const std::filesystem::path& path, const SessionFile& file);

}  // namespace headscope::simulator
