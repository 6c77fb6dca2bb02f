// Keeps a window's state on disk as it changes, and the sessions that others took the place of, beside the
// drawing and not in it, and finds them again at the next start.
#pragma once

#include "core/formats/folder_lock.h"
#include "core/result.h"
#include "simulator/app_state.h"
#include "simulator/kept_sessions.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headscope::simulator {

/// `own` (HEADSCOPE_STATE), else `xdg`/headscope (XDG_STATE_HOME, where it is an absolute path), else
/// `home`/.local/state/headscope; empty where all are.
std::filesystem::path state_folder(const std::string& own, const std::string& xdg, const std::string& home);

/// Gives a damaged file the first free name of FILE.damaged-1, FILE.damaged-2 …; none is overwritten. Errors:
/// file.unwritable.
core::Result<std::filesystem::path> set_aside(const std::filesystem::path& file);

/// One window's place in the folder. The first window has last.headscope, one beside it 2/last.headscope, and
/// so on; a lock that ends with its process tells which are taken.
class Autosave {
 public:
  /// Seconds from a change to the writing of it: a drag is one change.
  static constexpr double kDelay = 3;

  /// What becomes of a session that another window left there, once this one is written.
  enum class Earlier : std::uint8_t {
    replaced,  // it was taken up
    kept       // among those that were left, if somebody had set anything in it
  };

  /// Errors: those of make_folder() and FolderLock::take(); autosave.many (all places are taken).
  static core::Result<Autosave> open(const std::filesystem::path& folder);
  Autosave(Autosave&&) noexcept;
  Autosave& operator=(Autosave&&) noexcept;
  /// Waits until what was handed over is written.
  ~Autosave();

  const std::filesystem::path& file() const;
  /// Where the sessions lie that any window left: list_kept() finds them.
  const std::filesystem::path& kept_folder() const { return kept_folder_; }
  /// The same in a state's folder.
  static std::filesystem::path kept_folder_in(const std::filesystem::path& folder) { return folder / "left"; }
  void set_earlier(Earlier earlier);

  /// Call after each frame and now and then, with a clock in seconds. Hands a copy over to be written when
  /// `kDelay` has passed since the first change that was not.
  void look(const AppState& state, double time);
  /// Hands sessions over to be written at once, before the state that took their place.
  void keep(std::vector<std::shared_ptr<const LeftSession>> left);
  /// Seconds until look() has something to do; none while nothing has changed.
  std::optional<double> due_within(double time) const;
  /// Writes what was not yet, and waits for it. Errors: those of write_session(), keep_session() and
  /// keep_file(); autosave.memory.
  core::Result<void> finish(const AppState& state);
  /// The last writing's failure, told once.
  std::optional<core::Error> take_error();

 private:
  class Writer;
  Autosave(std::filesystem::path file, std::filesystem::path kept_folder, core::FolderLock lock);

  core::FolderLock lock_;
  std::filesystem::path kept_folder_;
  std::unique_ptr<Writer> writer_;
  std::optional<std::uint64_t> saved_revision_ = {};  // of the state that was handed over last
  std::optional<double> changed_since_ = {};
};

}  // namespace headscope::simulator
