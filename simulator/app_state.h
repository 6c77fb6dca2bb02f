// Everything that the simulator knows about the learner's place: lesson, session, cursor, changes, look.
// actions.h alone changes it, and every face (window, terminal) draws from it.
#pragma once

#include "core/session.h"
#include "lessons/library.h"
#include "lessons/runner.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headscope::simulator {

/// A cell, the tensor that it belongs to, and which of its numbers is meant.
struct CellAddress {
  core::TensorId tensor;
  core::Cell cell;
  core::Quantity quantity = core::Quantity::value;
  auto operator<=>(const CellAddress&) const = default;
};

/// What undo goes back to. A setup is small, but for the numbers that training made, which are shared.
struct Document {
  core::Setup setup;
  std::size_t position = 0;  // of the cursor; taken up again where a training step is undone or redone
};

/// How near the stage looks: from the whole model to the matrices of one operation. Each opens in the one
/// before; the cell, nearest of all, is the last of the trail.
enum class StageLevel : std::uint8_t { model, block, part, heads, head, matrix };

/// What playing and "on" walk by.
enum class PlayBy : std::uint8_t { operation, layer, training_step };

enum class Appearance : std::uint8_t { light, dark };
enum class Layout : std::uint8_t { study, presentation };
enum class Playing : std::uint8_t { no, yes };
/// What stands at the left, where there is a lesson.
enum class LeftPanel : std::uint8_t { lesson, what_if };

struct CheckedGradient {
  CellAddress address;
  core::GradientCheck check;
};

/// A training step that was taken, on one sentence and its right answer.
struct TrainedStep {
  std::int64_t step = 0;
  double loss_before = 0, loss_after = 0;
  std::size_t position = 0;  // where the cursor stood then, in the next step
};

/// The same model before what was changed, at the same step: what a difference is shown against.
struct Comparison {
  /// What the learner marked as "before"; none: this sentence with the model as it was opened.
  std::optional<core::Setup> marked = {};
  bool is_shown = false;
  std::unique_ptr<core::Session> before = {};  // none: not shown, or still being computed
};

struct LeftSession;  // kept_sessions.h
struct GradientJob;  // job.h
struct Job;          // job.h

/// Where the cursor is on its way to, and what happens there.
struct Walk {
  std::size_t to = 0;
  std::optional<std::size_t> trains_from = {};  // the next training step is taken; undo returns to here
};

struct AppState {
  std::filesystem::path assets;
  std::filesystem::path lesson_folder;
  std::vector<lessons::LessonEntry> library;
  lessons::LessonRunner runner = {};            // without a lesson where there is none: see has_lesson()
  std::string name = {};                        // of the model, for people; of a lesson its title
  std::shared_ptr<const core::Task> task = {};  // that the model learned: draws examples; or null
  std::uint64_t n_examples_drawn = 0;
  core::Session session;
  core::Setup initial = {};             // as opened: what reset returns to
  std::vector<CellAddress> trail = {};  // cells that the learner locked and followed; the last one is lit
  std::vector<Document> undo = {}, redo = {};  // the nearest last
  std::uint32_t stroke = 0;                    // of the last change; 0: it stands alone
  StageLevel level = StageLevel::matrix;
  std::string opened =
      {};  // the part that is opened, its path or that of a tensor in it; empty: the cursor's
  std::optional<core::TensorId> shown = {};   // whose operation the stage shows; none: the cursor's
  std::optional<core::TensorId> chosen = {};  // of a backward step: whose gradient the stage shows
  std::int64_t chosen_head = 0;               // outside lessons
  Comparison comparison = {};
  std::optional<CheckedGradient> checked = {};  // until a number changes
  std::optional<TrainedStep> trained = {};      // until a number changes or the cursor moves
  /// For how many seconds an action may compute before the rest waits for GoOn; none: to its end.
  std::optional<double> patience = {};
  double most_at_once = 2e7;      // numbers: of a session that holds more, an impatient state makes a job
  std::optional<Walk> walk = {};  // what waits of a long way,
  std::shared_ptr<GradientJob> checking = {};  // of a gradient check,
  std::shared_ptr<Job> job = {};               // of whatever else is long; all other actions wait for it
  std::optional<core::Error> message = {};     // the last action's failure, shown until the next action
  Appearance appearance = Appearance::light;
  Layout layout = Layout::study;
  Playing playing = Playing::no;
  PlayBy play_by = PlayBy::operation;
  LeftPanel left_panel = LeftPanel::lesson;
  double text_scale = 1.0;
  std::optional<std::filesystem::path> session_file = {};  // that the learner wrote or opened last
  std::filesystem::path kept_folder = {};  // where sessions that are left are kept; empty: nowhere
  std::optional<std::filesystem::path> kept_file = {};  // the one of them that this session goes on with
  std::vector<std::shared_ptr<const LeftSession>> left = {};  // that the window has still to keep
  std::uint64_t revision = 0;  // counts changes: views are rebuilt when it moved

  bool has_lesson() const { return runner.lesson != nullptr; }
  /// Precondition: has_lesson().
  const lessons::Lesson& lesson() const { return *runner.lesson; }
  /// Counts steps that have run: forward, loss, backward, update (core::StepList).
  const core::Cursor& cursor() const { return session.cursor(); }
  /// The step before the cursor; none at the beginning.
  std::optional<core::Step> last_step() const {
    if (cursor().at_begin()) return std::nullopt;
    return session.steps()[cursor().position() - 1];
  }
  std::int64_t head() const;
  /// Whether there is such a cell, the sentence being as long as it is, and a number of that kind at any
  /// moment.
  bool has_cell(const CellAddress& address) const;
  core::Trace<float> trace() const { return session.trace(); }
};

/// What the model's answer costs with all that is set; none without a right answer.
std::optional<double> loss_of(const core::Session& session);

/// Whether what reads or makes so many numbers is left to a job (job.h).
bool is_long(const AppState& state, double n_numbers);

/// How many numbers the model's own answer takes: a translation runs it anew for every word.
double n_numbers_of_answer(const core::Session& session);

/// Opens a lesson at its first step. Errors: those of find_lesson(), load_lesson(), make_session().
core::Result<AppState> open_lesson(const std::filesystem::path& assets,
                                   const std::filesystem::path& lesson_folder, const std::string& name);

/// The model without a lesson, seen whole, before its first step. `task` may be null. Errors: those of
/// list_lessons().
core::Result<AppState> open_session(const std::filesystem::path& assets,
                                    const std::filesystem::path& lesson_folder, core::Session session,
                                    std::string name, std::shared_ptr<const core::Task> task);

}  // namespace headscope::simulator
