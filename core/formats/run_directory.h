// A training run on disk: config.json, vocab.json and target_vocab.json, model.safetensors (the newest
// parameters: together a model directory), run.json, history.csv and checkpoints/000400.safetensors. Killed
// at any moment, it goes on to the same bits.
#pragma once

#include "core/formats/atomic_file.h"
#include "core/formats/folder_lock.h"
#include "core/formats/json.h"
#include "core/formats/run_file.h"
#include "core/result.h"
#include "core/training/run.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace headscope::core {

/// What is to be done with a run on disk: go on with it, alone, or look at it, while another process may go
/// on.
enum class RunAccess : std::uint8_t { change, look };

/// A run as it stands on disk, every intact checkpoint of it.
struct StoredRun {
  std::filesystem::path directory;
  std::optional<FolderLock> lock = {};  // RunAccess::change
  RunFile file;
  RunPast past;
  std::string series;  // history.csv; empty where there is none
  /// Steps of older checkpoints that were not read: together they take more than the history may.
  std::vector<std::int64_t> passed_over;
  /// Damaged checkpoints: run.checkpoint_damaged (reason: the key of the error; set aside under its name with
  /// ".damaged" behind), or run.checkpoint_unread where the run is only looked at.
  std::vector<Error> warnings;
};

/// Reads the run. To go on with it, it is locked, and damaged checkpoints get another name, but only where an
/// intact one remains; to look at it changes nothing. Errors: run.in_use (to go on: another process does),
/// run.no_directory (no folder, or no run.json in it), run.no_checkpoint (none is intact; reason: the key of
/// the newest one's error); those of read_file, parse_run_file(), parse_config(), build_graph() and
/// Vocabulary::parse().
Result<StoredRun> read_run_directory(const std::filesystem::path& directory,
                                     RunAccess access = RunAccess::change);

/// Keeps a run's directory as the run goes. Files are written one after the other, each atomically, in an
/// order in which every stop in between leaves a run that goes on to the same bits: first what a checkpoint
/// relies on (history.csv, run.json with the events), then this step's checkpoint, its model, and those of
/// the past. What could not be written is tried again the next time.
class RunDirectory {
 public:
  enum class Existing : std::uint8_t { refuse, replace };
  struct Options {
    Json interventions = {};               // what is set by hand, in its owner's words
    Existing existing = Existing::refuse;  // of a run that is there already
    /// At least so long between two writings of update(), and twenty times as long as the last one took, so
    /// that training is not held up; 0: one at every step.
    double seconds = 1;
  };

  /// Makes the folder and writes the whole run. Errors: run.exists (a run is there), run.in_use (another
  /// process writes one there), those of make_folder() and write_file_atomically().
  static Result<RunDirectory> create(const std::filesystem::path& directory, const Run& run, Options options);
  /// Goes on with a directory that was read, and takes its lock. Precondition: read with RunAccess::change.
  static RunDirectory open(StoredRun& stored, double seconds = 1);

  const std::filesystem::path& path() const { return path_; }

  /// The step with which a run would go on from here now.
  std::int64_t newest_step() const { return on_disk_.empty() ? 0 : *on_disk_.rbegin(); }

  /// After each step and each change: writes an event or a return to a past step at once, a new checkpoint
  /// when its time has come. Errors: those of write_file_atomically(); file.unwritable.
  Result<void> update(const Run& run);
  /// Writes all of the run as it is now, this step's checkpoint among it. Errors: as update().
  Result<void> save(const Run& run);

 private:
  RunDirectory(std::filesystem::path directory, FolderLock lock)
      : path_(std::move(directory)), lock_(std::move(lock)) {}
  std::filesystem::path checkpoint_path(std::int64_t step) const;
  Result<void> write_all(const Run& run);
  Result<void> write_run_file(const Run& run);
  Result<void> write_checkpoint(const Graph& graph, const TrainState& state, Flush flush);
  Result<void> write_newest(const Run& run);
  Result<void> write_past(const Run& run);
  Result<void> write_needed(const Run& run);
  Result<void> make_room();
  Result<void> remove_checkpoint(std::int64_t step);

  std::filesystem::path path_;
  FolderLock lock_;
  Json interventions_;
  double seconds_ = 1;
  std::uint64_t data_hash_ = 0;
  std::set<std::int64_t> on_disk_;  // steps of checkpoints
  std::vector<Event> events_;       // as run.json has them
  std::size_t n_returns_ = 0;       // of Run::returns(), that the files know of
  std::int64_t saved_step_ = -1;    // of the newest checkpoint written
  std::chrono::steady_clock::time_point next_{};
};

/// A stored run, going on.
struct ResumedRun {
  std::unique_ptr<Run> run;
  RunDirectory directory;
  std::vector<Error> warnings;  // StoredRun's; run.series (history.csv was set aside, and begins anew)
};

/// Goes on with a run. Precondition: read with RunAccess::change. Errors: those of Run::resume();
/// run.data_changed (the file that it learns from holds other numbers), run.task_changed (name: the task
/// makes other examples than when the run began).
Result<ResumedRun> resume_run(StoredRun stored, const Run::Options& options, double seconds = 1);

/// A stored run, to look at its past; its series is what could be read of it. Errors: as resume_run().
Result<std::unique_ptr<Run>> reopen_run(StoredRun stored, const Run::Options& options);

}  // namespace headscope::core
