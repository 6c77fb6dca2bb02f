// A training run on disk: config.json, vocab.json and target_vocab.json, model.safetensors (the newest
// parameters: together a model directory), run.json, history.csv and checkpoints/000400.safetensors. Killed
// at any moment, it goes on to the same bits.
#pragma once

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

/// A run as it stands on disk, every intact checkpoint of it.
struct StoredRun {
  std::filesystem::path directory;
  RunFile file;
  RunPast past;
  std::string series;  // history.csv; empty where there is none
  /// Steps of older checkpoints that were not read: together they take more than the history may.
  std::vector<std::int64_t> passed_over;
  /// What was damaged, and set aside under its name with ".damaged" behind: run.checkpoint_damaged (reason:
  /// the key of the error).
  std::vector<Error> warnings;
};

/// Reads the run; changes nothing but the names of damaged checkpoints. Errors: run.no_directory (no folder,
/// or no run.json in it), run.no_checkpoint (none is intact); those of read_file, parse_run_file(),
/// parse_config(), build_graph() and Vocabulary::parse().
Result<StoredRun> read_run_directory(const std::filesystem::path& directory);

/// Keeps a run's directory as the run goes. Files are written one after the other, each atomically, in an
/// order in which every stop in between leaves a run that goes on to the same bits: first what a checkpoint
/// relies on (history.csv, run.json with the events), then checkpoints, then what only people read. What
/// could not be written is tried again the next time.
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

  /// Makes the folder and writes the whole run. Errors: run.exists (step: a run is there; how far it has
  /// come), those of make_folder() and write_file_atomically().
  static Result<RunDirectory> create(const std::filesystem::path& directory, const Run& run, Options options);
  /// Goes on with a directory that was read. Precondition: `run` was resumed from `stored`.
  static RunDirectory open(const StoredRun& stored, double seconds = 1);

  const std::filesystem::path& path() const { return path_; }

  /// After each step and each change: writes an event or a return to a past step at once, a new checkpoint
  /// when its time has come. Errors: those of write_file_atomically(); file.unwritable.
  Result<void> update(const Run& run);
  /// Writes all of the run as it is now, this step's checkpoint among it. Errors: as update().
  Result<void> save(const Run& run);

 private:
  explicit RunDirectory(std::filesystem::path directory) : path_(std::move(directory)) {}
  std::filesystem::path checkpoint_path(std::int64_t step) const;
  Result<void> write_all(const Run& run);
  Result<void> write_run_file(const Run& run);
  Result<void> write_checkpoints(const Run& run);
  Result<void> remove_checkpoint(std::int64_t step);

  std::filesystem::path path_;
  Json interventions_;
  double seconds_ = 1;
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

/// Errors: those of Run::resume(); run.data_changed (the file that it learns from holds other numbers).
Result<ResumedRun> resume_run(StoredRun stored, const Run::Options& options, double seconds = 1);

}  // namespace headscope::core
